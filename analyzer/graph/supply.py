"""How many units can be had, and how many pods fit on each node, kept up to date as holders give back.

A supply stands on the system or on another supply that no longer changes, and records only what differs. So the
hypothetical ones ("all others gave back", "this one is gone") cost what they change, not the size of the cluster.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from analyzer.graph.atlas import Atlas, Layout
from analyzer.graph.packing import Packing
from analyzer.model.events import ActorObserved, Holds
from analyzer.model.ids import ResourceId
from analyzer.model.requests import Pods

UNBOUNDED = 1 << 60
"""Pods that fit on a node where nothing bounds them: above any count, and sums of it stay integers."""

PoolKey = tuple[tuple[tuple[str, int], ...], int, int | None, int]


class Levels:
    """Whose units a preempting waiter may take: level n reaches the n least important preemptible priorities.

    Level 0 takes from nobody. Waiters of equal level see the same supply, so they share placements.
    """

    def __init__(self, preemptible: Iterable[ActorObserved]) -> None:
        self._priorities = sorted({actor.priority for actor in preemptible})

    @property
    def count(self) -> int:
        return len(self._priorities)

    def reach(self, waiter: ActorObserved) -> int:
        """The level of a waiter."""
        if not self._priorities or waiter.wait is None or not waiter.wait.preempts:
            return 0
        return bisect_left(self._priorities, waiter.priority)

    def first_above(self, holder: ActorObserved) -> int:
        """The lowest level that reaches this preemptible holder."""
        return bisect_left(self._priorities, holder.priority) + 1


class Pool:
    """How many identical pods fit on each node of a layout, and in all, within one supply."""

    __slots__ = (
        "_changed",
        "_counts",
        "_needs",
        "_parent",
        "_per_node_max",
        "key",
        "layout",
        "level",
        "sample",
        "total",
    )

    def __init__(
        self, key: PoolKey, layout: Layout, counts: list[int] | None, parent: "Pool | None", sample: Pods
    ) -> None:
        self.key = key
        self.sample = sample
        self.layout = layout
        self.level = key[3]
        self._counts = counts
        self._parent = parent
        self._changed: dict[int, int] = {}
        self._per_node_max = UNBOUNDED if sample.per_node_max is None else max(0, sample.per_node_max)
        self._needs = tuple((kind, need) for kind, need in key[0] if need > 0)
        self.total: int = sum(counts) if counts is not None else parent.total if parent is not None else 0

    def counts(self) -> list[int]:
        """How many fit on each node, as a list of one's own."""
        if self._counts is not None:
            return list(self._counts)
        return [self.at(position) for position in range(len(self.layout.nodes))]

    def at(self, position: int) -> int:
        """How many fit on the node at this position."""
        if self._counts is not None:
            return self._counts[position]
        found = self._changed.get(position)
        if found is None:
            return self._parent.at(position) if self._parent is not None else 0
        return found

    def recount(self, position: int, free: Mapping[str, int]) -> None:
        """Count the node anew, which has this much free of each kind."""
        fits = self._per_node_max
        for kind, need in self._needs:
            most = free[kind] // need
            if most < fits:
                fits = most
        before = self.at(position)
        if fits != before:
            if self._counts is not None:
                self._counts[position] = fits
            else:
                self._changed[position] = fits
            self.total += fits - before


class Supply(ABC):
    """Units by resource and level: what it stands on, plus what was given here, minus what was taken."""

    def __init__(self, atlas: Atlas, levels: Levels) -> None:
        self.atlas = atlas
        self.levels = levels
        self._delta: dict[ResourceId, int] = {}
        self._bonus: list[dict[ResourceId, int]] = [{} for _ in range(levels.count + 1)]
        self._nodes: dict[str, None] = {}
        self._uncounted: dict[str, None] = {}
        self._pools: dict[PoolKey, Pool] = {}
        self._pools_by_layout: dict[int, tuple[Layout, list[Pool]]] = {}
        self.touched: dict[ResourceId, None] = {}
        self.stirred: dict[PoolKey, None] = {}
        self.packings: dict[object, Packing] = {}

    def child(self) -> "Supply":
        """A supply that begins as this one, which must not change any more."""
        return ChildSupply(self)

    @abstractmethod
    def raw(self, resource: ResourceId, level: int) -> int:
        """Units that can be had, below 0 where more is held than exists."""

    def free(self, resource: ResourceId, level: int) -> int:
        """Units that can be had, at least 0."""
        count = self.raw(resource, level)
        return count if count > 0 else 0

    def give(self, actor: ActorObserved) -> None:
        """The actor's units come back. For those who could take them by preemption, nothing changes."""
        self.shift(actor.holds, 1)
        if actor.preemptible and self.levels.count:
            self._shift_bonus(actor, -1)

    def take(self, actor: ActorObserved) -> None:
        """The reverse of `give`."""
        self.shift(actor.holds, -1)
        if actor.preemptible and self.levels.count:
            self._shift_bonus(actor, 1)

    def shift(self, holds: Holds, sign: int) -> None:
        """Add (or with -1 remove) these units."""
        delta = self._delta
        for resource, count in holds:
            delta[resource] = delta.get(resource, 0) + sign * count
            self._touch(resource)

    def _shift_bonus(self, actor: ActorObserved, sign: int) -> None:
        for level in range(self.levels.first_above(actor), self.levels.count + 1):
            bonus = self._bonus[level]
            for resource, count in actor.holds:
                bonus[resource] = bonus.get(resource, 0) + sign * count
        for resource, _ in actor.holds:
            self._touch(resource)

    def offer(self, actor: ActorObserved) -> None:
        """A preemptible actor keeps its units, but more important waiters may take them."""
        self._shift_bonus(actor, 1)

    def _touch(self, resource: ResourceId) -> None:
        self.touched[resource] = None
        if self.packings:
            self.packings = {}
        self._uncounted[self.atlas.split(resource)[1]] = None

    def settle(self) -> None:
        """Bring the pools up to date. Put off until somebody asks, since an actor gives many kinds on one node."""
        uncounted, self._uncounted = self._uncounted, {}
        self._nodes.update(uncounted)
        for layout, pools in self._pools_by_layout.values():
            if self._recount(layout, pools, uncounted):
                for pool in pools:
                    self.stirred[pool.key] = None

    def _recount(self, layout: Layout, pools: Sequence[Pool], nodes: Iterable[str]) -> bool:
        """Count these nodes anew, if they are in the layout; true if any is."""
        positions = layout.positions
        found = [node for node in nodes if node in positions]
        if not found:
            return False
        wanted = sorted({(kind, pool.level) for pool in pools for kind, need in pool.key[0] if need > 0})
        levels = sorted({pool.level for pool in pools})
        for node in found:
            position = positions[node]
            free: dict[int, dict[str, int]] = {level: {} for level in levels}
            for kind, level in wanted:
                free[level][kind] = self.free(layout.resources(kind)[position], level)
            for pool in pools:
                pool.recount(position, free[pool.level])
        return True

    def key(self, pods: Pods, level: int) -> PoolKey:
        """What requests have in common that look at the same placement."""
        return (pods.each, id(self.atlas.layout(pods.among)), pods.per_node_max, level)

    def pool(self, pods: Pods, level: int) -> Pool:
        """Where pods of this shape fit; its `count` plays no part."""
        if self._uncounted:
            self.settle()
        layout = self.atlas.layout(pods.among)
        key = (pods.each, id(layout), pods.per_node_max, level)
        found = self._pools.get(key)
        if found is None:
            found = self._pools[key] = self._build(key, pods)
            self._recount(layout, (found,), self._nodes)
            self._pools_by_layout.setdefault(id(layout), (layout, []))[1].append(found)
        return found

    def pool_like(self, pool: Pool) -> Pool:
        """The same placement within this supply."""
        return self.pool(pool.sample, pool.level)

    def pool_of(self, key: PoolKey) -> Pool:
        """A pool that was asked for before."""
        if self._uncounted:
            self.settle()
        return self._pools[key]

    def pools_on(self, node: str) -> Iterator[Pool]:
        """The pools asked for so far that have this node."""
        for layout, pools in self._pools_by_layout.values():
            if node in layout.positions:
                yield from pools

    @abstractmethod
    def _build(self, key: PoolKey, pods: Pods) -> Pool: ...


class ChildSupply(Supply):
    """A supply that stands on another."""

    def __init__(self, parent: Supply) -> None:
        super().__init__(parent.atlas, parent.levels)
        self._parent = parent

    def raw(self, resource: ResourceId, level: int) -> int:
        count = self._parent.raw(resource, level) + self._delta.get(resource, 0)
        return count + self._bonus[level].get(resource, 0) if level else count

    def _build(self, key: PoolKey, pods: Pods) -> Pool:
        return Pool(key, self.atlas.layout(pods.among), None, self._parent.pool(pods, key[3]), pods)


class RootSupply(Supply):
    """The supply that stands on the system itself: capacity without what is kept."""

    def __init__(
        self, capacity: Mapping[ResourceId, int], kept: Mapping[ResourceId, int], atlas: Atlas, levels: Levels
    ) -> None:
        super().__init__(atlas, levels)
        self._twin: RootSupply | None = None
        self._capacity = capacity
        self._kept = kept
        self._columns: dict[tuple[int, str], list[int]] = {}

    def raw(self, resource: ResourceId, level: int) -> int:
        count = self._capacity.get(resource, 0) - self._kept.get(resource, 0) + self._delta.get(resource, 0)
        return count + self._bonus[level].get(resource, 0) if level else count

    def copy(self) -> "RootSupply":
        """A supply that begins as this one and then goes its own way.

        It borrows the counts of nodes that neither has touched since, so what `reread` is told must be told to both,
        and a node that one gives to or takes from must be reread in the other.
        """
        twin = RootSupply(self._capacity, self._kept, self.atlas, self.levels)
        twin._delta = dict(self._delta)
        twin._bonus = [dict(bonus) for bonus in self._bonus]
        twin._nodes = {**self._nodes, **self._uncounted}
        twin._twin = self
        return twin

    def reread(self, resources: Iterable[ResourceId]) -> None:
        """The system itself has changed here."""
        self._columns = {}
        for resource in resources:
            self._touch(resource)

    def _build(self, key: PoolKey, pods: Pods) -> Pool:
        layout = self.atlas.layout(pods.among)
        if self._twin is not None:
            return Pool(key, layout, self._twin.pool(pods, key[3]).counts(), None, pods)
        bound = UNBOUNDED if pods.per_node_max is None else max(0, pods.per_node_max)
        counts = [bound] * len(layout.nodes)
        for kind, need in pods.each:
            if need > 0:
                counts = list(map(min, counts, [units // need for units in self._column(layout, kind)]))
        return Pool(key, layout, [count if count > 0 else 0 for count in counts], None, pods)

    def _column(self, layout: Layout, kind: str) -> list[int]:
        """Units of this kind on each node before anything was given here; many shapes share it."""
        found = self._columns.get((id(layout), kind))
        if found is None:
            capacity, kept = self._capacity.get, self._kept.get
            found = [capacity(resource, 0) - kept(resource, 0) for resource in layout.resources(kind)]
            self._columns[id(layout), kind] = found
        return found
