"""Cohorts as a tree: how much quota there is at each place of it, and at which places a queue takes from it.

| in Kueue | resource |
|---|---|
| quota of a ClusterQueue without a cohort | `quota/cluster-queue/QUEUE/FLAVOR/RESOURCE` |
| what all queues under one root cohort share | `quota/cohort/ROOT/FLAVOR/RESOURCE` |
| a ClusterQueue, or a cohort below the root, with a limit on borrowing or lending | the same by its name |

A place has its own quota and what its children lend it. Of what it has, `lendingLimit` keeps the rest for itself; with
`borrowingLimit` it may use no more than its own and that. The units at a place are what it could use at most if nobody
else used anything, as Kueue reckons "maximum capacity".

A workload takes from its queue first, and what it needs beyond the part that is kept there, from the cohort above, and
so on. Each is reckoned as if that part were its own alone; so where several share it, fewer units are asked of the
cohort than Kueue would, which makes us more silent.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.custom_fields import amount, parts, text
from analyzer.sources.kubernetes.objects import Custom

Place = tuple[str, str]
"""`cluster-queue` or `cohort`, and the name."""

Kind = tuple[str, str]
"""Flavour and resource."""


class Offer(Struct, frozen=True):
    """Quota of one resource in one flavour. `borrowing`, `lending` None: as much as there is."""

    flavor: str
    resource: str
    nominal: int
    borrowing: int | None
    lending: int | None = None


class Branch(Struct, frozen=True):
    """A place in the tree: the cohort above it ("" for none), and its own quota."""

    above: str
    offers: tuple[Offer, ...]
    citations: tuple[Citation, ...] = ()


def offers_of(spec: object) -> tuple[Offer, ...]:
    """The quota in the spec of a ClusterQueue or a Cohort."""
    return tuple(
        Offer(
            text(flavor, "name"),
            text(one, "name"),
            amount(text(one, "name"), one, "nominalQuota") or 0,
            amount(text(one, "name"), one, "borrowingLimit"),
            amount(text(one, "name"), one, "lendingLimit"),
        )
        for group in parts(spec, "resourceGroups")
        for flavor in parts(group, "flavors")
        for one in parts(flavor, "resources")
    )


def cohort_of(thing: Custom) -> Branch:
    """A Cohort (v1alpha1 `parent`, later `parentName`)."""
    return Branch(text(thing.spec, "parentName") or text(thing.spec, "parent"), offers_of(thing.spec))


class Tree:
    """All queues and cohorts at a moment. Sums are made when first asked for; O(queues + cohorts) for each kind."""

    def __init__(self, queues: Mapping[str, Branch], cohorts: Mapping[str, Branch]) -> None:
        self._at: dict[Place, Branch] = {("cohort", name): cohorts[name] for name in sorted(cohorts)}
        self._at |= {("cluster-queue", name): queues[name] for name in sorted(queues)}
        self._below: dict[str, list[Place]] = {}
        for place, branch in self._at.items():
            if branch.above:
                self._below.setdefault(branch.above, []).append(place)
        for name in self._below:  # a cohort need not be an object
            self._at.setdefault(("cohort", name), Branch("", ()))
        self._offers = {
            place: {(offer.flavor, offer.resource): offer for offer in branch.offers}
            for place, branch in self._at.items()
        }
        self._sums: dict[tuple[Place, Kind], int] = {}
        self._paths: dict[Place, tuple[Place, ...]] = {}
        self._ringed: frozenset[Place] = frozenset()
        self.rings = self._in_rings()

    def path(self, queue: str) -> tuple[Place, ...]:
        """The queue and the cohorts above it, up to the root. A cohort in a ring of parents ends it."""
        start = ("cluster-queue", queue)
        found = self._paths.get(start)
        if found is None:
            steps = [start]
            while (above := self._at[steps[-1]].above) and above not in self.rings:
                steps.append(("cohort", above))
            found = self._paths[start] = tuple(steps)
        return found

    def takes(self, queue: str, flavor: str, resource: str, units: int) -> Iterator[tuple[ResourceId, int]]:
        """What of which resources somebody in this queue takes for so many units of the flavour."""
        kind, path = (flavor, resource), self.path(queue)
        for place in path:
            if units <= 0:
                return
            kept = self._kept(place, kind)
            if place == path[-1] or kept or self._limit(place, kind) is not None:
                yield _resource(place, kind), units
            units -= kept

    def most(self, queue: str, flavor: str, resource: str) -> int:
        """Units that the queue could use at most: Kueue's maximum capacity."""
        return self._most(self.path(queue), (flavor, resource))

    def capacities(self) -> dict[ResourceId, tuple[int, tuple[Citation, ...]]]:
        """How many units there are of every resource that anybody can take from, and where the quota is written."""
        found: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
        for place in self._at:
            if place[0] != "cluster-queue":
                continue
            path = self.path(place[1])
            for kind in self._offers[place]:
                for at, step in enumerate(path):
                    if at == len(path) - 1 or self._kept(step, kind) or self._limit(step, kind) is not None:
                        resource = _resource(step, kind)
                        _, cited = found.get(resource, (0, ()))
                        citations = dict.fromkeys((*cited, *self._at[place].citations))
                        found[resource] = (self._most(path[at:], kind), tuple(citations))
        return found

    def _most(self, path: tuple[Place, ...], kind: Kind) -> int:
        place = path[0]
        if len(path) == 1:
            return self._sum(place, kind)
        most, limit = self._kept(place, kind) + self._most(path[1:], kind), self._limit(place, kind)
        return most if limit is None else min(most, self._sum(place, kind) + limit)

    def _sum(self, place: Place, kind: Kind) -> int:
        """Its own quota, and what its children lend it."""
        known = self._sums.get((place, kind))
        if known is None:
            offer = self._offers[place].get(kind)
            known = 0 if offer is None else offer.nominal
            for child in self._below.get(place[1], ()) if place[0] == "cohort" else ():
                if child not in self._ringed:
                    known += self._sum(child, kind) - self._kept(child, kind)
            self._sums[place, kind] = known
        return known

    def _kept(self, place: Place, kind: Kind) -> int:
        """What of it never leaves it: beyond its limit on lending."""
        offer = self._offers[place].get(kind)
        if offer is None or offer.lending is None or not self._at[place].above:
            return 0
        return max(0, self._sum(place, kind) - offer.lending)

    def _limit(self, place: Place, kind: Kind) -> int | None:
        offer = self._offers[place].get(kind)
        return None if offer is None or not self._at[place].above else offer.borrowing

    def _in_rings(self) -> frozenset[str]:
        """Cohorts whose parents lead back to themselves. Kueue leaves such trees alone."""
        found: set[str] = set()
        for kind, start in self._at:
            seen: list[str] = []
            name = start if kind == "cohort" else ""
            while name and name not in seen and ("cohort", name) in self._at:
                seen.append(name)
                name = self._at["cohort", name].above
            if name in seen:
                found.update(seen[seen.index(name) :])
        self._ringed = frozenset(("cohort", name) for name in found)
        return frozenset(found)


def _resource(place: Place, kind: Kind) -> ResourceId:
    return ResourceId(f"quota/{place[0]}/{place[1]}/{kind[0]}/{kind[1]}")


def quota_named(names: Iterable[str]) -> tuple[ResourceId, ...]:
    """Queues as resources, where of their quota nothing but the name of the queue is known."""
    return tuple(sorted(ResourceId(f"quota/cluster-queue/{name}") for name in names if name))
