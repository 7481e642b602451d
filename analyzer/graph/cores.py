"""Why the stuck are stuck: unsatisfiable, in a core, or blocked behind one of these."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from analyzer.graph.increment import Increment, Update
from analyzer.graph.situation import Situation
from analyzer.graph.system import Changes, System
from analyzer.graph.waitfor import WaitFor
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits

__all__ = ["Diagnoser", "Diagnosis", "WaitFor", "conclude", "diagnose"]


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All waiting actors sorted into live and stuck, and the stuck by cause. Tuples are sorted by name.

    `unsatisfiable`: stuck even if all others who are stuck were cleared. `cores`: see README.md; one of a single member
    blocks itself. `behind`: for each unsatisfiable actor, and for the first member of each core, who waits
    for it through others; neither members of cores nor unsatisfiable ones. `edges`: who waits for whom among the stuck
    (at most `limits.edges_per_waiter_max` of each; see `edges.py`). `exact`: no placement was too large to search.
    """

    live: frozenset[ActorId]
    stuck: tuple[ActorId, ...]
    unsatisfiable: tuple[ActorId, ...]
    cores: tuple[tuple[ActorId, ...], ...]
    behind: Mapping[ActorId, tuple[ActorId, ...]]
    edges: tuple[WaitFor, ...]
    exact: bool


def diagnose(system: System, limits: Limits) -> Diagnosis:
    """Sort every waiting actor into live, unsatisfiable, core or blocked behind."""
    return conclude(Situation(system, limits))


CHANGES_TAKEN_MAX = 50_000
"""Changes taken in before judging from scratch all the same: what was kept for actors that are gone is then let go, so
that memory stays flat. Finite actors that start and end without having waited leave nothing behind and do not count."""


class Diagnoser:
    """The same answers as `diagnose`, from the last answer and what changed since, where that is cheap and certain."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._situation: Situation | None = None
        self._last: Diagnosis | None = None
        self._changes_taken = 0
        self.from_scratch = 0
        """How often everything was judged anew."""

    @property
    def situation(self) -> Situation | None:
        """The working parts behind the last answer, for `victims.WhatIf`; good until the system changes."""
        return self._situation

    def diagnose(self, system: System, changes: Changes) -> Diagnosis:
        """The diagnosis of the system as it is now; `changes` is what happened since the last call."""
        situation, last = self._situation, self._last
        known = situation is not None and situation.system is system
        if last is not None and known and not (changes.everything or changes.actors or changes.resources):
            return last
        worn = changes.everything or self._changes_taken > CHANGES_TAKEN_MAX
        if situation is None or last is None or not known or worn:
            update = None
        else:
            update = Increment(situation, changes).apply()
        if update is None or situation is None or last is None:
            self.from_scratch += 1
            self._changes_taken = 0
            situation = Situation(system, self._limits)
            last = conclude(situation)
        else:
            self._changes_taken += update.taken
            last = _concluded_again(situation, last, update)
        self._situation, self._last = situation, last
        return last


def conclude(situation: Situation) -> Diagnosis:
    """The situation as a value."""
    region_of = situation.region_of
    stuck = sorted(region_of)
    regions = [situation.regions[number] for number in sorted(situation.regions)]
    edges: list[WaitFor] = []
    for name in stuck:
        edges += situation.regions[region_of[name]].edges.get(name, ())
    return Diagnosis(
        live=frozenset(situation.order),
        stuck=tuple(stuck),
        unsatisfiable=tuple(sorted(name for region in regions for name in region.unsatisfiable)),
        cores=tuple(sorted(core for region in regions for core in region.cores)),
        behind={root: region.behind[root] for region in regions for root in region.behind},
        edges=tuple(edges),
        exact=_exact(situation),
    )


def _concluded_again(situation: Situation, last: Diagnosis, update: Update) -> Diagnosis:
    if update.regions:
        return conclude(situation)
    if not update.live and last.exact == _exact(situation):
        return last
    return replace(last, live=frozenset(situation.order), exact=_exact(situation))


def _exact(situation: Situation) -> bool:
    return not situation.fixpoint.inexact and all(region.exact for region in situation.regions.values())
