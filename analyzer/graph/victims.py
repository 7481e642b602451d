"""Whom to stop so that others go on: the same question, asked without one of them."""

from collections.abc import Iterable, Iterator, Set
from itertools import combinations, islice

from msgspec import Struct

from analyzer.graph.situation import Situation
from analyzer.graph.system import System
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits


class Release(Struct, frozen=True):
    """Without `actor`, its units are free and these stuck actors go on. `then_runs` is never empty.

    `together_with`: it takes these as well (no single actor helps); `then_runs` is what all of them start.
    """

    actor: ActorId
    frees: tuple[tuple[ResourceId, int], ...]
    then_runs: tuple[ActorId, ...]
    together_with: tuple[ActorId, ...] = ()


class WhatIf:
    """Answers for one situation; make it once and ask for each core. Each question costs what it would wake."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    def releases(self, members: Iterable[ActorId], *, among_stuck: Iterable[ActorId]) -> tuple[Release, ...]:
        """See `releases`."""
        among = set(among_stuck)
        candidates = self._cheapest(members)
        woken_max = self._situation.limits.victims_woken_max
        found: list[Release] = []
        for name in candidates:
            tried = self._try((name,), among)
            found += tried
            woken_max -= sum(len(release.then_runs) for release in tried)
            if woken_max < 0:
                break
        if not found:
            for pair in islice(combinations(candidates, 2), self._situation.limits.victims_max):
                found = self._try(pair, among)
                if found:
                    break
        return tuple(sorted(found, key=lambda release: release.actor))

    def starting(
        self, actor: ActorId, candidates: Iterable[ActorId], *, among_stuck: Set[ActorId]
    ) -> Iterator[tuple[ActorId, ...]]:
        """Candidates (stuck or endless) whose eviction lets the actor go on: each alone, then in pairs, in their order.

        At most `limits.victims_max` are tried, and as many pairs.
        """
        tried = list(islice(candidates, self._situation.limits.victims_max))
        pairs = islice(combinations(tried, 2), self._situation.limits.victims_max)
        for victims in (*((one,) for one in tried), *pairs):
            if actor in self._situation.fixpoint.probe(victims, among_stuck):
                yield victims

    def _cheapest(self, members: Iterable[ActorId]) -> list[ActorId]:
        """As many members as may be tried: least important first, then those with the fewest cards."""
        actors = self._situation.actors
        names = sorted(name for name in members if name in actors)
        names.sort(key=lambda name: (actors[name].priority, actors[name].gpus))
        return names[: self._situation.limits.victims_max]

    def _try(self, victims: tuple[ActorId, ...], among: Set[ActorId]) -> list[Release]:
        then_runs = tuple(self._situation.fixpoint.probe(victims, among))
        if not then_runs:
            return []
        actors = self._situation.actors
        return [
            Release(name, actors[name].holds, then_runs, tuple(other for other in victims if other != name))
            for name in victims
        ]


def releases(
    system: System, limits: Limits, members: Iterable[ActorId], *, among_stuck: Iterable[ActorId]
) -> tuple[Release, ...]:
    """Members whose eviction lets at least one other of `among_stuck` go on, sorted by name.

    The evicted have ended, but not arrived. Members may be a core, or an unsatisfiable actor in whose way others are.
    If no single one helps, both members of the first pair that does. At most `limits.victims_max` are tried. Judges the
    whole system first; to ask for many cores, make one `WhatIf`.
    """
    return WhatIf(Situation(system, limits)).releases(members, among_stuck=among_stuck)
