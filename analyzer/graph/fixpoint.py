"""The least fixed point in worklist form: only waiters that lack what was just given back are looked at again.

A waiter that is not met leaves *watches*: a set of thresholds such that its request cannot become met before one of
them is reached. Of an AND one unmet part is enough to watch; of k-of-n, as many unmet parts as make it impossible
to do without them. README.md, note 3, has the proof.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Set
from heapq import heappop, heappush
from typing import assert_never

from analyzer.graph.atlas import leaves
from analyzer.graph.judge import Judge
from analyzer.graph.supply import PoolKey, Supply
from analyzer.model.events import ActorObserved, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units

Heap = list[tuple[int, ActorId]]


class Fixpoint:
    """Who of `pending` can go on with this supply, and the supply once they have.

    Those that go on leave `pending` for `rounds` and give back to the supply, if finite or in `gone`: there they are
    cleared. Afterwards the rest can be woken by further gifts (`resume`), or asked what a gift would start without
    changing anything (`probe`). `evicted`, `gone`: see `Judge`. `inexact`: those let through by a search given up.
    """

    def __init__(
        self,
        actors: Mapping[ActorId, ActorObserved],
        supply: Supply,
        pending: Iterable[ActorId],
        limits: Limits,
        gone: Container[ActorId] = (),
        *,
        evicted: Container[ActorId] = (),
    ) -> None:
        self.actors = actors
        self.supply = supply
        self.pending = set(pending)
        self.rounds: list[list[ActorId]] = []
        self._limits = limits
        self._gone = gone
        self.inexact: set[ActorId] = set()
        self.judge = Judge(actors, supply, self.pending, limits, gone, evicted=evicted)
        self._by_resource: list[dict[ResourceId, Heap]] = [{} for _ in range(supply.levels.count + 1)]
        self._by_pool: dict[PoolKey, Heap] = {}
        self._stirred_by_pool: dict[PoolKey, list[ActorId]] = {}
        self._by_peer: dict[ActorId, list[ActorId]] = {}
        self._watched: dict[ActorId, set[object]] = {}

    def run(self, among: Iterable[ActorId] | None = None) -> "Fixpoint":
        """Let everybody (or these of them) go on who can. O((waiters + watches) log waiters) beside placements."""
        supply = self.supply
        supply.settle()
        supply.touched, supply.stirred = {}, {}
        self._proceed(self._try(sorted(self.pending if among is None else among)))
        return self

    def add(self, name: ActorId) -> bool:
        """One more waiter, which holds nothing and is nobody's peer; true if it can go on (and so changes nothing)."""
        self.pending.add(name)
        return bool(self._try([name]))

    def drop(self, name: ActorId) -> None:
        """The actor waits no more, or for something else. Watches it left may still wake it, which does no harm."""
        self.pending.discard(name)
        self._watched.pop(name, None)

    def resume(self, arrived: Iterable[ActorId]) -> list[ActorId]:
        """Go on after the supply was given more, or these peers ended or arrived; returns who can go on now."""
        before = len(self.rounds)
        self._proceed(self._try(self._woken(arrived)))
        return [name for ready in self.rounds[before:] for name in ready]

    def _proceed(self, ready: list[ActorId]) -> None:
        while ready:
            self.rounds.append(ready)
            for name in ready:
                actor = self.actors[name]
                if actor.holds and (actor.lifetime is not Lifetime.ENDLESS or name in self._gone):
                    self.supply.give(actor)
            ready = self._try(self._woken(ready))

    def _try(self, names: Iterable[ActorId]) -> list[ActorId]:
        """Those of the names whose request is met, taken out of `pending` together; the rest is watched."""
        judge, reach = self.judge, self.supply.levels.reach
        ready: list[ActorId] = []
        for name in names:
            actor = self.actors[name]
            if actor.wait is None:
                continue
            level = reach(actor)
            judge.exact = True
            if judge.met(actor.wait.request, level):
                ready.append(name)
                if not judge.exact:
                    self.inexact.add(name)
            else:
                self._watch(name, actor.wait.request, level)
        for name in ready:
            self.pending.discard(name)
            self._watched.pop(name, None)
        return ready

    def _watch(self, name: ActorId, request: Request, level: int) -> None:
        if self.supply.atlas.shares(request):
            self._watch_all(name, request, level)
            return
        todo = [request]
        while todo:
            part = todo.pop()
            if isinstance(part, KOutOfN):
                unmet = [each for each in part.parts if not self.judge.met_alone(each, level)]
                lacking = part.k - (len(part.parts) - len(unmet))
                todo.extend(unmet[: max(0, len(unmet) - lacking + 1)] if lacking <= len(unmet) else ())
            else:
                self._watch_leaf(name, part, level)

    def _watch_leaf(self, name: ActorId, leaf: Units | Pods | Done | Arrivals | Never, level: int) -> None:
        match leaf:
            case Units():
                self._watch_units(name, leaf.resource, leaf.count, level)
            case Pods():
                self._watch_pool(name, self.supply.key(leaf, level), leaf.count)
            case Done():
                self._watch_peers(name, (leaf.actor,))  # also an endless one: after a later event it may end
            case Arrivals():
                missing = [peer for peer in leaf.peers if peer in self.pending]
                lacking = self.judge.missing(leaf)
                if lacking <= len(missing):
                    self._watch_peers(name, missing[: len(missing) - lacking + 1])
            case Never():
                pass
            case _:
                assert_never(leaf)

    def _watch_all(self, name: ActorId, request: Request, level: int) -> None:
        """Parts compete: whatever any of them could use may be what was lacking."""
        for leaf in leaves(request):
            match leaf:
                case Units():
                    free = self.supply.free(leaf.resource, level)
                    self._watch_units(name, leaf.resource, leaf.count if free < leaf.count else free + 1, level)
                case Pods():
                    pool = self.supply.pool(leaf, level)
                    if pool.total < leaf.count:
                        self._watch_pool(name, pool.key, leaf.count)
                    elif self._is_first(name, pool.key):
                        self._stirred_by_pool.setdefault(pool.key, []).append(name)
                case Done() | Never():
                    self._watch_leaf(name, leaf, level)
                case Arrivals():
                    self._watch_peers(name, [peer for peer in leaf.peers if peer in self.pending])
                case _:
                    assert_never(leaf)

    def _is_first(self, name: ActorId, watch: object) -> bool:
        """Whether this watch is new for the actor; it is not left twice."""
        watched = self._watched.setdefault(name, set())
        if watch in watched:
            return False
        watched.add(watch)
        return True

    def _watch_units(self, name: ActorId, resource: ResourceId, count: int, level: int) -> None:
        if self._is_first(name, (resource, level, count)):
            heappush(self._by_resource[level].setdefault(resource, []), (count, name))

    def _watch_pool(self, name: ActorId, key: PoolKey, count: int) -> None:
        if self._is_first(name, (key, count)):
            heappush(self._by_pool.setdefault(key, []), (count, name))

    def _watch_peers(self, name: ActorId, peers: Iterable[ActorId]) -> None:
        for peer in peers:
            if self._is_first(name, peer):
                self._by_peer.setdefault(peer, []).append(name)

    def _woken(self, arrived: Iterable[ActorId]) -> list[ActorId]:
        """Who watches what was touched or who arrived since the last time, sorted; their watches are taken away."""
        supply, pending, watched = self.supply, self.pending, self._watched
        supply.settle()
        woken: set[ActorId] = set()

        def wake(name: ActorId, watch: object) -> None:
            if name in pending:
                woken.add(name)
                watched.get(name, set()).discard(watch)

        for resource in supply.touched:
            for level, heaps in enumerate(self._by_resource):
                heap = heaps.get(resource)
                if heap and heap[0][0] <= (free := supply.free(resource, level)):
                    while heap and heap[0][0] <= free:
                        count, name = heappop(heap)
                        wake(name, (resource, level, count))
        for key in supply.stirred:
            heap = self._by_pool.get(key)
            if heap:
                total = supply.pool_of(key).total
                while heap and heap[0][0] <= total:
                    count, name = heappop(heap)
                    wake(name, (key, count))
            for name in self._stirred_by_pool.pop(key, ()):
                wake(name, key)
        for peer in arrived:
            for name in self._by_peer.pop(peer, ()):
                wake(name, peer)
        supply.touched, supply.stirred = {}, {}
        return sorted(woken)

    def probe(self, removed: Iterable[ActorId], among: Set[ActorId]) -> list[ActorId]:
        """Who of `among` would go on if these were evicted, sorted; changes nothing. O(what that would wake)."""
        gone = set(removed)
        candidates = len((among & self.pending) - gone)
        supply = self.supply.child()
        absent = Except(self.pending, gone)
        judge = Judge(self.actors, supply, absent, self._limits, self._gone, evicted=gone)
        arrived = sorted(gone)
        retry: set[ActorId] = set()
        freed: list[ActorId] = []
        while arrived and len(freed) < candidates:
            for name in arrived:
                actor = self.actors[name]
                if actor.holds and (name in gone or actor.lifetime is not Lifetime.ENDLESS):
                    supply.give(actor)
            retry |= self._would_wake(supply, arrived, absent, among)
            supply.touched, supply.stirred = {}, {}
            arrived = []
            for name in sorted(retry):
                actor = self.actors[name]
                if actor.wait is not None and judge.met(actor.wait.request, supply.levels.reach(actor)):
                    arrived.append(name)
            retry.difference_update(arrived)
            absent.removed.update(arrived)
            freed.extend(arrived)
        return sorted(freed)

    def _would_wake(
        self, supply: Supply, arrived: Iterable[ActorId], absent: "Except", among: Container[ActorId]
    ) -> set[ActorId]:
        found: set[ActorId] = set()

        def wake(name: ActorId) -> None:
            if name in absent and name in among:
                found.add(name)

        for resource in supply.touched:
            for level, heaps in enumerate(self._by_resource):
                heap = heaps.get(resource)
                if heap:
                    _each_reached(heap, supply.free(resource, level), wake)
        nodes = dict.fromkeys(supply.atlas.split(resource)[1] for resource in supply.touched)
        for pool in dict.fromkeys(pool for node in nodes for pool in self.supply.pools_on(node)):
            heap = self._by_pool.get(pool.key)
            if heap:
                _each_reached(heap, supply.pool_like(pool).total, wake)
            for name in self._stirred_by_pool.get(pool.key, ()):
                wake(name)
        for peer in arrived:
            for name in self._by_peer.get(peer, ()):
                wake(name)
        return found


def _each_reached(heap: Heap, reached: int, wake: Callable[[ActorId], None]) -> None:
    """Everybody in the heap whose threshold is reached, without taking the heap apart."""
    todo = [0]
    while todo:
        at = todo.pop()
        if at < len(heap) and heap[at][0] <= reached:
            wake(heap[at][1])
            todo += (2 * at + 1, 2 * at + 2)


class Except:
    """A set without some of its members."""

    def __init__(self, whole: Container[ActorId], removed: set[ActorId]) -> None:
        self._whole = whole
        self.removed = set(removed)

    def __contains__(self, name: object) -> bool:
        return name in self._whole and name not in self.removed
