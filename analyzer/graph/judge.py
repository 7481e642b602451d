"""Is a request met? Parts that cannot compete are judged one by one, parts that might are met together or not."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import assert_never

from analyzer.graph.atlas import Layout
from analyzer.graph.packing import Packing, Shape, pack
from analyzer.graph.supply import UNBOUNDED, Supply
from analyzer.model.events import ActorObserved, Lifetime
from analyzer.model.ids import ActorId, ResourceId, resource_on
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units

Choice = tuple[Units | Pods, ...]

GROUPS_COMPARED = 8
"""A part is compared with the last few distinct ones only: equal parts stand together, and comparing costs."""


class Judge:
    """Judges requests against a supply and against who is still pending; the rest have ended or arrived.

    Those in `gone` have ended whatever their lifetime was, once they are not pending. The `evicted` ended, and never
    arrive. `own` are units that serve the `Units` parts alone, before any others do. `exact` turns false once a search
    was given up; its necessary conditions then decided, which errs towards "met".
    """

    def __init__(
        self,
        actors: Mapping[ActorId, ActorObserved],
        supply: Supply,
        pending: Container[ActorId],
        limits: Limits,
        gone: Container[ActorId] = (),
        *,
        evicted: Container[ActorId] = (),
        own: Mapping[ResourceId, int] | None = None,
    ) -> None:
        self._actors = actors
        self.supply = supply
        self.pending = pending
        self._limits = limits
        self._gone = gone
        self._evicted = evicted
        self._own = own or {}
        self.exact = True

    def met(self, request: Request, level: int) -> bool:
        """Whether the request is met now. O(parts), unless parts compete for the same units."""
        if self.supply.atlas.shares(request):
            return self._met_jointly(request, level)
        return self.met_alone(request, level)

    def met_alone(self, request: Request, level: int) -> bool:
        """Whether enough parts would be met if no other took anything: necessary, and exact without rivals."""
        match request:
            case Units():
                return self.supply.free(request.resource, level) + self._own.get(request.resource, 0) >= request.count
            case Pods():
                return self.supply.pool(request, level).total >= request.count
            case Done():
                return self.ended(request.actor)
            case Arrivals():
                return self.missing(request) <= 0
            case Never():
                return False
            case KOutOfN():
                lacking = request.k
                for part in request.parts:
                    if lacking <= 0:
                        break
                    if self.met_alone(part, level):
                        lacking -= 1
                return lacking <= 0
            case _:
                assert_never(request)

    def ended(self, name: ActorId) -> bool:
        """Whether this actor ends, or has."""
        if name in self._evicted:
            return True
        if name in self.pending:
            return False
        actor = self._actors.get(name)
        return actor is None or actor.lifetime is not Lifetime.ENDLESS or name in self._gone

    def missing(self, request: Arrivals) -> int:
        """How many more arrivals it takes."""
        pending, evicted = self.pending, self._evicted
        return request.quorum - sum(1 for peer in request.peers if peer not in pending and peer not in evicted)

    def choices(self, request: Request, level: int) -> Iterator[Choice]:
        """Every selection of parts that would meet the request if none competed, as what it takes."""
        return self._choices(request, level)

    def _met_jointly(self, request: Request, level: int) -> bool:
        if not self.met_alone(request, level):
            return False
        steps = 0
        for choice in self._choices(request, level):
            fits, used = self._fits(choice, level, self._limits.placement_steps_max - steps)
            if fits:
                return True
            steps += 1 + used
            if steps > self._limits.placement_steps_max:
                self.exact = False
                return True
        return False

    def _choices(self, request: Request, level: int) -> Iterator[Choice]:
        """Every selection of parts that would do, as what it takes. May list a selection twice, never misses one."""
        match request:
            case Units() | Pods():
                if self.met_alone(request, level):
                    yield (request,)
            case Done() | Arrivals() | Never():
                if self.met_alone(request, level):
                    yield ()
            case KOutOfN():
                if request.k <= 0:
                    yield ()
                    return
                hopeful = [part for part in request.parts if self.met_alone(part, level)]
                for parts in _selections(hopeful, request.k):
                    if not any(isinstance(part, KOutOfN) for part in parts):
                        yield tuple(part for part in parts if isinstance(part, Units | Pods))
                        continue
                    makers = [partial(self._choices, part, level) for part in parts]
                    for combined in _combinations(makers):
                        yield tuple(leaf for choice in combined for leaf in choice)
            case _:
                assert_never(request)

    def _fits(self, choice: Choice, level: int, steps_max: int) -> tuple[bool, int]:
        """Whether all of the choice can be had at once, and how many steps it took to see that."""
        taken: dict[ResourceId, int] = {}
        for leaf in choice:
            if isinstance(leaf, Units) and leaf.count > 0:
                taken[leaf.resource] = taken.get(leaf.resource, 0) + leaf.count
        for resource, count in self._own.items():
            if resource in taken:
                taken[resource] = max(0, taken[resource] - count)
        if any(self.supply.free(resource, level) < count for resource, count in taken.items()):
            return False, 0
        shapes = _merged([leaf for leaf in choice if isinstance(leaf, Pods) and leaf.count > 0], self.supply)
        if not shapes:
            return True, 0
        if len(shapes) == 1:
            return self._identical_fit(shapes[0], level, taken), 0
        return self._mixed_fit(shapes, level, taken, steps_max)

    def _identical_fit(self, pods: Pods, level: int, taken: Mapping[ResourceId, int]) -> bool:
        pool = self.supply.pool(pods, level)
        total = pool.total
        needs = dict(pods.each)
        for position in sorted(self._positions(taken, needs, pool.layout)):
            fits = UNBOUNDED if pods.per_node_max is None else max(0, pods.per_node_max)
            for kind, need in pods.each:
                if need > 0:
                    resource = pool.layout.resources(kind)[position]
                    fits = min(fits, max(0, self.supply.free(resource, level) - taken.get(resource, 0)) // need)
            total += fits - pool.at(position)
        return total >= pods.count

    def _positions(self, taken: Mapping[ResourceId, int], needs: Container[str], layout: Layout) -> set[int]:
        found = set()
        for resource in taken:
            kind, node = self.supply.atlas.split(resource)
            position = layout.positions.get(node)
            if kind in needs and position is not None:
                found.add(position)
        return found

    def _mixed_fit(
        self, several: list[Pods], level: int, taken: Mapping[ResourceId, int], steps_max: int
    ) -> tuple[bool, int]:
        supply = self.supply
        key = (tuple((supply.key(pods, level), pods.count) for pods in several), tuple(sorted(taken.items())))
        packing = supply.packings.get(key)
        if packing is None:
            packing = self._pack(several, level, taken, steps_max)
            supply.packings[key] = packing
        if not packing.exact:
            self.exact = False
        return packing.fits, packing.steps

    def _pack(self, several: list[Pods], level: int, taken: Mapping[ResourceId, int], steps_max: int) -> Packing:
        if self._first_fit(several, level, taken):
            return Packing(fits=True, exact=True, steps=1)
        kinds = sorted({kind for pods in several for kind, _ in pods.each})
        pools = [self.supply.pool(pods, level) for pods in several]
        nodes = sorted({node for pool in pools for position, node in enumerate(pool.layout.nodes) if pool.at(position)})
        resources = [[resource_on(kind, node) for kind in kinds] for node in nodes]
        free = [tuple(self.supply.free(name, level) - taken.get(name, 0) for name in names) for names in resources]
        shapes = []
        for pods, pool in zip(several, pools, strict=True):
            needs = dict(pods.each)
            bound = UNBOUNDED if pods.per_node_max is None else max(0, pods.per_node_max)
            bounds = tuple(bound if node in pool.layout.positions else 0 for node in nodes)
            shapes.append(Shape(pods.count, tuple(needs.get(kind, 0) for kind in kinds), bounds))
        return pack(shapes, free, max(0, steps_max))

    def _first_fit(self, several: list[Pods], level: int, taken: Mapping[ResourceId, int]) -> bool:
        """Place greedily and stop at success, which on a large cluster with room comes after a few nodes."""
        used = dict(taken)
        for pods in sorted(several, key=lambda pods: -sum(need for _, need in pods.each)):
            pool = self.supply.pool(pods, level)
            lacking = pods.count
            for position in range(len(pool.layout.nodes)):
                fits = min(pool.at(position), lacking)
                names = [(pool.layout.resources(kind)[position], need) for kind, need in pods.each if need > 0]
                if fits > 0:
                    for name, need in names:
                        fits = min(fits, max(0, self.supply.free(name, level) - used.get(name, 0)) // need)
                    for name, need in names:
                        used[name] = used.get(name, 0) + fits * need
                    lacking -= fits
                    if not lacking:
                        break
            if lacking:
                return False
        return True


def _combinations(makers: Sequence[Callable[[], Iterator[Choice]]]) -> Iterator[tuple[Choice, ...]]:
    """One choice of each maker, in every combination, without listing them beforehand."""
    stack = [makers[0]()]
    chosen: list[Choice] = []
    while stack:
        choice = next(stack[-1], None)
        if choice is None:
            stack.pop()
            if chosen:
                chosen.pop()
        elif len(stack) == len(makers):
            yield (*chosen, choice)
        else:
            chosen.append(choice)
            stack.append(makers[len(stack)]())


def _selections(parts: list[Request], k: int) -> Iterator[tuple[Request, ...]]:
    """Every way to take k of the parts; equal parts count as one kind, so a gang of equal members has one way."""
    if len(parts) < k:
        return
    if len(parts) == k:
        yield tuple(parts)
        return
    groups: list[list[Request]] = []
    for part in parts:
        for group in groups[-GROUPS_COMPARED:]:
            if group[0] == part:
                group.append(part)
                break
        else:
            groups.append([part])
    after = [0] * (len(groups) + 1)  # how many parts the groups from here on have
    for index in range(len(groups) - 1, -1, -1):
        after[index] = after[index + 1] + len(groups[index])
    counts: list[int] = []  # how many are taken of the first groups
    lacking = k
    while True:
        while len(counts) < len(groups):
            counts.append(min(len(groups[len(counts)]), lacking))
            lacking -= counts[-1]
        yield tuple(part for group, count in zip(groups, counts, strict=True) for part in group[:count])
        while counts:
            taken = counts.pop()
            lacking += taken
            if taken and after[len(counts) + 1] >= lacking - taken + 1:
                counts.append(taken - 1)
                lacking -= taken - 1
                break
        if not counts:
            return


def _merged(several: list[Pods], supply: Supply) -> list[Pods]:
    """Equal shapes as one, where no bound per node keeps them apart."""
    found: dict[object, Pods] = {}
    for index, pods in enumerate(several):
        key = supply.key(pods, 0)
        slot: object = key if pods.per_node_max is None else (index, key)
        known = found.get(slot)
        found[slot] = pods if known is None else Pods(known.count + pods.count, pods.each, pods.among)
    return list(found.values())
