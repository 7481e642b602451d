"""The banker's question: whether there is one order in which everybody who waits is served.

`liveness` asks it of each waiter for itself, which is exact as long as those who are served give back what they take.
An endless one does not, so two of them may each find a place and not both. Here what they take is gone.
`docs/whatif.md` has the definition, why it is right, and what it leaves out.
"""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.graph.fixpoint import Fixpoint
from analyzer.graph.liveness import give_back, liveness, root_supply, split_waiting
from analyzer.graph.system import System
from analyzer.graph.ways import Way, ways
from analyzer.model.events import Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits

ENDLESS_SEARCHED_MAX = 64
"""Endless waiters among whom all orders and places are searched; of more, one order is tried."""


class Safety(Struct, frozen=True, kw_only=True):
    """The best order that was found, and who is left out of it.

    `order`: who goes on, one after the other; the finite ones then end. `stuck` (sorted): those who would go on in no
    order even if endless ones took nothing. `left_over` (sorted): the others that this order leaves out; it serves as
    many as any that was tried, finite ones before endless ones. `exact`: no order was left untried and no placement
    unsearched; else `left_over` may be too long, and a placement may have been believed.
    """

    order: tuple[ActorId, ...]
    stuck: tuple[ActorId, ...]
    left_over: tuple[ActorId, ...]
    exact: bool

    @property
    def safe(self) -> bool:
        """Whether all who wait can be served, and the finite ones among them end."""
        return not self.stuck and not self.left_over


def safety(system: System, limits: Limits) -> Safety:
    """Whether everybody who waits can be served in one order, endless ones keeping what they take.

    Finite ones are served first, which costs as much as `liveness`. What is left to endless ones is searched within
    `limits.placement_steps_max` steps.
    """
    possible = liveness(system, limits)
    supply = root_supply(system)
    ready, pending = split_waiting(system)
    give_back(supply, system, ready)
    fixpoint = Fixpoint(system.actors, supply, pending, limits)
    able = [name for name in pending if name in possible.live]
    fixpoint.run(name for name in able if system.actors[name].lifetime is not Lifetime.ENDLESS)
    served = [name for group in (ready, *fixpoint.rounds) for name in group]
    left = [name for name in able if name in fixpoint.pending]
    search = _Search(fixpoint, left, limits)
    search.run()
    return Safety(
        order=(*served, *search.order),
        stuck=tuple(sorted(name for name in pending if name not in possible.live)),
        left_over=search.left_over,
        exact=possible.exact and search.exact,
    )


class _Search:
    """Serves endless waiters in every order and place, and finite ones as soon as they can be, since that never hurts.

    Works on the fixed point's own supply and pending actors, and puts back what it tried in vain.
    """

    def __init__(self, fixpoint: Fixpoint, left: Iterable[ActorId], limits: Limits) -> None:
        self._actors = fixpoint.actors
        self._supply = fixpoint.supply
        self._pending = fixpoint.pending
        self._judge = fixpoint.judge
        self._finite: set[ActorId] = set()
        self._endless: set[ActorId] = set()
        for name in left:
            (self._endless if self._actors[name].lifetime is Lifetime.ENDLESS else self._finite).add(name)
        self._steps = limits.placement_steps_max
        self._taken: dict[ResourceId, int] = {}
        self._served: list[ActorId] = []
        self._seen: set[object] = set()
        self.order: list[ActorId] = []
        self.left_over = tuple(sorted((*self._finite, *self._endless)))
        self._best = (len(self._finite), len(self._endless))
        self.exact = True

    def run(self) -> None:
        """Find the best order. Afterwards `order`, `left_over` and `exact` have the answer."""
        if len(self._endless) > ENDLESS_SEARCHED_MAX:
            self._one_order()
            self.exact = self.exact and not self.left_over
        else:
            self._all_orders()

    def _one_order(self) -> None:
        progress = True
        while progress:
            progress = bool(self._finish())
            for name in sorted(self._endless):
                way = self._first_way(name)
                if way is not None:
                    self._take(name, way)
                    progress = True
        self._note()

    def _first_way(self, name: ActorId) -> Way | None:
        wait = self._actors[name].wait
        if wait is None:
            return None
        level = self._supply.levels.reach(self._actors[name])
        return next(ways(self._judge, wait.request, level), None) if self._judge.met(wait.request, level) else None

    def _all_orders(self) -> bool:
        """True once all are served. Else everything is as it was, and the best try is noted."""
        ended = self._finish()
        if self._note():
            return True
        taken = tuple(sorted(item for item in self._taken.items() if item[1]))
        key = (frozenset(self._finite), frozenset(self._endless), taken)
        if key not in self._seen:
            self._seen.add(key)
            for name in sorted(self._endless):
                if self._serve(name):
                    return True
        for name in reversed(ended):
            self._supply.take(self._actors[name])
            self._pending.add(name)
            self._finite.add(name)
            self._served.pop()
        return False

    def _serve(self, name: ActorId) -> bool:
        actor = self._actors[name]
        level = self._supply.levels.reach(actor)
        self._judge.exact = True
        if actor.wait is None or not self._judge.met(actor.wait.request, level):
            return False
        self.exact = self.exact and self._judge.exact
        for way in ways(self._judge, actor.wait.request, level):
            self._steps -= 1
            if self._steps < 0:
                self.exact = False
                return False
            self._take(name, way)
            if self._all_orders():
                return True
            self._put_back(name, way)
        return False

    def _finish(self) -> list[ActorId]:
        """Serve every finite waiter that can be served, until none can; they end and give back."""
        ended: list[ActorId] = []
        ready = True
        while ready and self._finite:
            ready = False
            for name in sorted(self._finite):
                actor = self._actors[name]
                if actor.wait and self._judge.met(actor.wait.request, self._supply.levels.reach(actor)):
                    self._supply.give(actor)
                    self._pending.discard(name)
                    self._finite.discard(name)
                    self._served.append(name)
                    ended.append(name)
                    ready = True
        return ended

    def _take(self, name: ActorId, way: Way) -> None:
        self._supply.shift(way, -1)
        for resource, count in way:
            self._taken[resource] = self._taken.get(resource, 0) + count
        self._pending.discard(name)
        self._endless.discard(name)
        self._served.append(name)

    def _put_back(self, name: ActorId, way: Way) -> None:
        self._supply.shift(way, 1)
        for resource, count in way:
            self._taken[resource] -= count
        self._pending.add(name)
        self._endless.add(name)
        self._served.pop()

    def _note(self) -> bool:
        """Keep this order if it is the best so far; true if nobody is left."""
        left = (len(self._finite), len(self._endless))
        if left < self._best:
            self._best = left
            self.order = list(self._served)
            self.left_over = tuple(sorted((*self._finite, *self._endless)))
        return left == (0, 0)
