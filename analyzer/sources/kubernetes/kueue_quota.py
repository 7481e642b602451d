"""Queues of Kueue, and what a workload asks of them: for each group of resources, one of its flavours.

Fair sharing is left aside: without it there is more to be had, so we are more silent.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.model.ids import ResourceId
from analyzer.model.requests import KOutOfN, Never, Request, Units, all_of, any_of
from analyzer.sources.kubernetes.custom_fields import Amounts, Stated, at, conditions, parts, text
from analyzer.sources.kubernetes.kueue_tree import Branch, Offer, Tree, offers_of
from analyzer.sources.kubernetes.objects import Custom


class Group(Struct, frozen=True):
    """Resources that a pod set gets from one flavour together; the flavours in the order in which they are tried."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


class QueueFacts(Struct, frozen=True, kw_only=True):
    """A ClusterQueue. `stopped`: a person holds it. `within`, `reclaims`: whom it may preempt, "" for nobody.

    `strict`: it serves one after the other (StrictFIFO), in an order that is known. `inactive`: why Kueue does not use
    it, as it says itself.
    """

    name: str
    cohort: str
    groups: tuple[Group, ...]
    offers: tuple[Offer, ...]
    stopped: bool
    strict: bool
    within: str
    reclaims: str
    inactive: Stated | None
    citation: Citation

    @property
    def branch(self) -> Branch:
        """Its place among the cohorts."""
        return Branch(self.cohort, self.offers, (self.citation,))


class Ask(Struct, frozen=True):
    """What one pod set asks for in total."""

    name: str
    amounts: Amounts


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
    active = conditions(thing.status).get("Active")
    return QueueFacts(
        name=thing.metadata.name,
        cohort=text(spec, "cohortName") or text(spec, "cohort"),
        groups=groups,
        offers=offers_of(spec),
        stopped=text(spec, "stopPolicy") not in {"", "None"},
        # With usage-based admission the order depends on what every LocalQueue has used.
        strict=text(spec, "queueingStrategy") == "StrictFIFO" and at(spec, "admissionScope") is None,
        within=_policy(spec, "withinClusterQueue"),
        reclaims=_policy(spec, "reclaimWithinCohort"),
        inactive=None if active is None or active.holds else active,
        citation=citation,
    )


def _policy(spec: object, name: str) -> str:
    found = text(spec, "preemption", name)
    return "" if found == "Never" else found


def request_of(tree: Tree, queue: QueueFacts, asks: Iterable[Ask], barred: frozenset[str]) -> Request:
    """What the pod sets need together: for each group of resources one of its flavours.

    `barred`: flavours that Kueue itself rules out. A resource that the queue does not cover is not asked for.
    """
    needed: list[Request] = []
    for ask, group in ((ask, group) for ask in asks for group in queue.groups):
        mine = _mine(ask, group)
        if not mine:
            continue
        ways = [
            all_of(
                Units(resource, units)
                for kind, n in mine
                for resource, units in tree.takes(queue.name, flavor, kind, n)
            )
            for flavor in group.flavors
            if flavor not in barred
        ]
        needed.append(
            any_of(ways) if ways else Never(f"Kueue rules out every flavour of {queue.name} for pod set {ask.name}")
        )
    return all_of(needed)


def beyond_all(tree: Tree, queue: QueueFacts, asks: Iterable[Ask], barred: frozenset[str]) -> bool:
    """Whether some pod set asks for more than the queue could ever use, in every flavour that it may have."""
    return any(
        bool(mine := _mine(ask, group))
        and all(
            any(n > tree.most(queue.name, flavor, kind) for kind, n in mine)
            for flavor in group.flavors
            if flavor not in barred
        )
        for ask in asks
        for group in queue.groups
    )


def _mine(ask: Ask, group: Group) -> list[tuple[str, int]]:
    wanted = dict(ask.amounts)
    return [(kind, wanted[kind]) for kind in group.resources if wanted.get(kind)]


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
