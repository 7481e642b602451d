"""One evaluation as detectors and sentences see it: read-only."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from analyzer.graph.cores import Diagnosis
from analyzer.graph.situation import Situation
from analyzer.graph.system import System
from analyzer.graph.victims import WhatIf
from analyzer.graph.waitfor import WaitFor
from analyzer.model.events import Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.state.earlier import Earlier
from analyzer.state.history import History

_WAITER = attrgetter("waiter")


class View:
    """The state at a moment, who can go on in it, and what happened before.

    `diagnosis` belongs to `system` as it is: a view is used up before the next event is applied. Indexes are made
    on first use, since an evaluation with nothing stuck needs none.
    """

    def __init__(
        self,
        system: System,
        diagnosis: Diagnosis,
        history: History,
        limits: Limits,
        now_ns: int,
        situation: Situation | None = None,
        earlier: Earlier | None = None,
    ) -> None:
        self.system = system
        self.diagnosis = diagnosis
        self.history = history
        self.limits = limits
        self.now_ns = now_ns
        self.earlier = earlier or Earlier()
        self._situation = situation

    @cached_property
    def stuck(self) -> frozenset[ActorId]:
        """Everybody who cannot go on, for membership tests."""
        return frozenset(self.diagnosis.stuck)

    def edges_from(self, waiter: ActorId) -> Sequence[WaitFor]:
        """Its wait-for edges among the stuck, in the order of the diagnosis (sorted). O(log edges)."""
        edges = self.diagnosis.edges
        first = bisect_left(edges, waiter, key=_WAITER)
        return edges[first : bisect_right(edges, waiter, lo=first, key=_WAITER)]

    @cached_property
    def what_if(self) -> WhatIf:
        """Answers to "who goes on without these?", from the working parts of the diagnosis if they are at hand."""
        return WhatIf(self._situation or Situation(self.system, self.limits))

    def endless_held(self, resource: ResourceId) -> int:
        """Units that never come back by themselves: held by endless actors that run or can go on.

        A stuck endless actor is part of what is wrong, and stopping it would give its units back.
        """
        return self.system.kept.get(resource, 0) - self._held_by_waiting.get(resource, 0)

    @cached_property
    def _held_by_waiting(self) -> Mapping[ResourceId, int]:
        """What waiting actors hold, but for endless ones that can go on: `kept` has all of both. O(their holds)."""
        held: dict[ResourceId, int] = {}
        for actor in self.system.waiting.values():
            if actor.lifetime is not Lifetime.ENDLESS or actor.actor in self.stuck:
                for resource, units in actor.holds:
                    held[resource] = held.get(resource, 0) + units
        return held
