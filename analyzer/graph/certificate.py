"""Proof that the live stay live although there is less: their schedule still works."""

from collections.abc import Iterable

from analyzer.graph.atlas import leaves
from analyzer.graph.fixpoint import Except, Fixpoint
from analyzer.graph.judge import Judge
from analyzer.graph.situation import Situation
from analyzer.graph.supply import PoolKey
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import KOutOfN, Pods, Request, Units

RECHECKED_MAX = 300
"""Actors judged again one by one; with more of them judging everything from scratch costs about as much."""


class Certificate:
    """What the start must have so that all who were live in the first round are so again.

    Per resource and per placement the largest count that one of them asks for; requests with a choice are judged
    again. Those of later rounds are run again over what the first give back. Thresholds are never lowered when
    somebody leaves, which only makes the proof fail more often.
    """

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._units: dict[tuple[ResourceId, int], int] = {}
        self._pods: dict[PoolKey, Pods] = {}
        self._choosy: set[ActorId] = set()
        self.add(sorted(situation.first))

    def add(self, names: Iterable[ActorId]) -> None:
        """These are met at the start alone."""
        supply = self._situation.start
        for name in names:
            actor = self._situation.actors[name]
            if actor.wait is None:
                continue
            self._situation.first.add(name)
            level = supply.levels.reach(actor)
            request = actor.wait.request
            if _has_choice(request) or supply.atlas.shares(request):
                self._choosy.add(name)
                continue
            for leaf in leaves(request):
                if isinstance(leaf, Units):
                    unit = (leaf.resource, level)
                    self._units[unit] = max(self._units.get(unit, 0), leaf.count)
                elif isinstance(leaf, Pods):
                    key = supply.key(leaf, level)
                    known = self._pods.get(key)
                    if known is None or known.count < leaf.count:
                        self._pods[key] = leaf

    def met_at_start(self, actor: ActorObserved) -> bool:
        """Whether this waiter is met before anybody else has gone on."""
        situation = self._situation
        judge = Judge(situation.actors, situation.start, self._pending(), situation.limits)
        return actor.wait is not None and judge.met(actor.wait.request, situation.start.levels.reach(actor))

    def _pending(self) -> Except:
        return Except(self._situation.system.waiting, self._situation.excused)

    def holds(self, shrunk: Iterable[ResourceId]) -> bool:
        """Whether everybody live can still go on although there is less at the start of these."""
        situation = self._situation
        start, levels = situation.start, range(situation.start.levels.count + 1)
        nodes = set()
        for resource in shrunk:
            nodes.add(start.atlas.split(resource)[1])
            if any(start.free(resource, level) < self._units.get((resource, level), 0) for level in levels):
                return False
        for key, pods in self._pods.items():
            positions = start.atlas.layout(pods.among).positions
            if any(node in positions for node in nodes) and start.pool(pods, key[3]).total < pods.count:
                return False
        live = situation.live
        choosy = sorted(self._choosy & situation.first)
        if len(choosy) > RECHECKED_MAX or not all(self.met_at_start(situation.actors[name]) for name in choosy):
            return False
        return self._later_hold(live)

    def _later_hold(self, live: set[ActorId]) -> bool:
        situation = self._situation
        later = live - situation.first - situation.excused
        if not later:
            return True
        givers = [name for name in sorted(situation.first) if situation.gives_back(name)]
        if len(later) + len(givers) > RECHECKED_MAX:
            return False
        supply = situation.start.child()
        for name in givers:
            supply.give(situation.actors[name])
        pending = later.union(situation.region_of)
        again = Fixpoint(situation.actors, supply, pending, situation.limits).run(later)
        return again.pending.isdisjoint(later)


def _has_choice(request: Request) -> bool:
    todo = [request]
    while todo:
        part = todo.pop()
        if isinstance(part, KOutOfN):
            if part.k < len(part.parts):
                return True
            todo.extend(part.parts)
    return False
