"""Quota of Kueue: cluster queues, cohorts, flavours, and what a workload asks of them.

| in Kueue | resource |
|---|---|
| nominal quota of a ClusterQueue without a cohort | `quota/cluster-queue/QUEUE/FLAVOR/RESOURCE` |
| all nominal quota under one root cohort | `quota/cohort/COHORT/FLAVOR/RESOURCE` |
| the most that a ClusterQueue may use if it may not borrow all (`borrowingLimit`) | `quota/cluster-queue/...` as well |

Limits on lending are left aside, and so is fair sharing: without them there is more to be had, so we are more silent.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.model.ids import ResourceId
from analyzer.model.requests import KOutOfN, Never, Request, Units, all_of, any_of
from analyzer.sources.kubernetes.custom_fields import Amounts, amount, parts, text
from analyzer.sources.kubernetes.objects import Custom

_COHORTS_MAX = 16
"""Longer chains of cohorts do not occur; a ring of parents would be one."""


class Offer(Struct, frozen=True):
    """Quota of one resource in one flavour. `borrowing` None: as much as the cohort has."""

    flavor: str
    resource: str
    nominal: int
    borrowing: int | None


class Group(Struct, frozen=True):
    """Resources that a pod set gets from one flavour together; the flavours in the order in which they are tried."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


class QueueFacts(Struct, frozen=True, kw_only=True):
    """A ClusterQueue. `stopped`: a person holds it. `preempts`, `reclaims`: within itself, within the cohort."""

    name: str
    cohort: str
    groups: tuple[Group, ...]
    offers: tuple[Offer, ...]
    stopped: bool
    preempts: bool
    reclaims: bool
    citation: Citation


class Ask(Struct, frozen=True):
    """What one pod set asks for in total."""

    name: str
    amounts: Amounts


def _offers(spec: object) -> tuple[Offer, ...]:
    return tuple(
        Offer(
            text(flavor, "name"),
            text(one, "name"),
            amount(text(one, "name"), one, "nominalQuota") or 0,
            amount(text(one, "name"), one, "borrowingLimit"),
        )
        for group in parts(spec, "resourceGroups")
        for flavor in parts(group, "flavors")
        for one in parts(flavor, "resources")
    )


def queue_of(thing: Custom, citation: Citation) -> QueueFacts:
    """The record of a ClusterQueue, of v1beta1 (`cohort`) or v1beta2 (`cohortName`)."""
    spec = thing.spec
    groups = tuple(
        Group(
            tuple(str(one) for one in parts(group, "coveredResources")),
            tuple(text(flavor, "name") for flavor in parts(group, "flavors")),
        )
        for group in parts(spec, "resourceGroups")
    )
    return QueueFacts(
        name=thing.metadata.name,
        cohort=text(spec, "cohortName") or text(spec, "cohort"),
        groups=groups,
        offers=_offers(spec),
        stopped=text(spec, "stopPolicy") not in {"", "None"},
        preempts=text(spec, "preemption", "withinClusterQueue") not in {"", "Never"},
        reclaims=text(spec, "preemption", "reclaimWithinCohort") not in {"", "Never"},
        citation=citation,
    )


class Cohorts:
    """Which cohort lies under which, and the quota that cohorts have of their own."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self.offers: dict[str, tuple[Offer, ...]] = {}

    def put(self, thing: Custom) -> None:
        """Take a Cohort as it is now (v1alpha1 `parent`, later `parentName`)."""
        name = thing.metadata.name
        self._parents[name] = text(thing.spec, "parentName") or text(thing.spec, "parent")
        self.offers[name] = _offers(thing.spec)

    def drop(self, name: str) -> None:
        self._parents.pop(name, None)
        self.offers.pop(name, None)

    def root(self, name: str) -> str:
        """The cohort above all others; "" for none."""
        for _ in range(_COHORTS_MAX):
            above = self._parents.get(name, "")
            if not above:
                break
            name = above
        return name


def resources_of(queue: QueueFacts, root: str, flavor: str, resource: str) -> tuple[ResourceId, ...]:
    """The resources out of which this queue takes units of the flavour."""
    own = ResourceId(f"quota/cluster-queue/{queue.name}/{flavor}/{resource}")
    if not root:
        return (own,)
    pool = ResourceId(f"quota/cohort/{root}/{flavor}/{resource}")
    bounded = any(
        offer.flavor == flavor and offer.resource == resource and offer.borrowing is not None for offer in queue.offers
    )
    return (own, pool) if bounded else (pool,)


def capacities(queues: Iterable[QueueFacts], cohorts: Cohorts) -> dict[ResourceId, tuple[int, tuple[Citation, ...]]]:
    """How many units there are of every quota, and where it is written."""
    found: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
    for queue in queues:
        root = cohorts.root(queue.cohort)
        for offer in queue.offers:
            for resource in resources_of(queue, root, offer.flavor, offer.resource):
                own = resource.startswith("quota/cluster-queue/")
                units = offer.nominal + (offer.borrowing or 0 if own and root else 0)
                before, cited = found.get(resource, (0, ()))
                found[resource] = (before + units, (*cited, queue.citation))
    for name in sorted(cohorts.offers):
        for offer in cohorts.offers[name]:
            pool = ResourceId(f"quota/cohort/{cohorts.root(name)}/{offer.flavor}/{offer.resource}")
            before, cited = found.get(pool, (0, ()))
            found[pool] = (before + offer.nominal, cited)
    return found


def request_of(queue: QueueFacts, root: str, asks: Iterable[Ask], barred: frozenset[str]) -> Request:
    """What the pod sets need together: for each group of resources one of its flavours.

    `barred`: flavours that Kueue itself rules out. A resource that the queue does not cover is not asked for.
    """
    needed: list[Request] = []
    for ask in asks:
        wanted = dict(ask.amounts)
        for group in queue.groups:
            mine = [(kind, wanted[kind]) for kind in group.resources if wanted.get(kind)]
            if not mine:
                continue
            ways = [
                all_of(Units(resource, n) for kind, n in mine for resource in resources_of(queue, root, flavor, kind))
                for flavor in group.flavors
                if flavor not in barred
            ]
            needed.append(
                any_of(ways) if ways else Never(f"Kueue rules out every flavour of {queue.name} for pod set {ask.name}")
            )
    return all_of(needed)


def nominal_of(queue: QueueFacts) -> Mapping[str, int]:
    """The queue's own quota by resource, over all flavours."""
    total: dict[str, int] = {}
    for offer in queue.offers:
        total[offer.resource] = total.get(offer.resource, 0) + offer.nominal
    return total


def quota_in(request: Request) -> tuple[ResourceId, ...]:
    """The quota that a request is about, sorted."""
    match request:
        case Units():
            return (request.resource,)
        case KOutOfN():
            return tuple(sorted({resource for part in request.parts for resource in quota_in(part)}))
        case _:
            return ()
