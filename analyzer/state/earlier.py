"""What was stated about the stuck at the last look, so that a look states anew only what has changed since."""

from collections.abc import Callable
from operator import is_

from analyzer.graph.cores import Diagnosis
from analyzer.model.findings import Finding
from analyzer.model.ids import ActorId

Key = tuple[str, tuple[ActorId, ...], str]
"""Rule, members, and what else tells findings of one rule apart."""

Parts = tuple[tuple[ActorId, ...], ...]
"""Cores, and who is behind them, as the diagnosis has them: while these are the same objects, so are their edges."""


class Earlier:
    """Findings of the last look with what they rest upon. For one series of looks at one state.

    `restated` collects the actors that wait and were restated since the last look.
    """

    def __init__(self) -> None:
        self.restated: set[ActorId] = set()
        self._diagnosis: Diagnosis | None = None
        self._changed: set[ActorId] = set()
        self._before: dict[Key, tuple[Parts, Finding]] = {}
        self._now: dict[Key, tuple[Parts, Finding]] = {}

    def turn(self, diagnosis: Diagnosis) -> bool:
        """Begin a look; false if everything that was stated of the stuck still holds."""
        last, restated = self._diagnosis, self.restated
        self._diagnosis, self.restated = diagnosis, set()
        if (
            last is not None
            and diagnosis.stuck is last.stuck
            and diagnosis.cores is last.cores
            and diagnosis.edges is last.edges
            and diagnosis.behind is last.behind
            and diagnosis.unsatisfiable is last.unsatisfiable
            and diagnosis.exact == last.exact
            and (not restated or restated.isdisjoint(diagnosis.stuck))
        ):
            return False
        self._before, self._now = self._now, {}
        self._changed = restated
        if last is not None and last.exact != diagnosis.exact:
            self._before = {}
        return True

    def finding(self, key: Key, parts: Parts, state: Callable[[], Finding]) -> Finding:
        """The finding of this rule about these members, as it was stated if it still holds, or stated now."""
        known = self._before.get(key)
        if known is None or not self._still(known[0], key[1], parts):
            known = (parts, state())
        self._now[key] = known
        return known[1]

    def _still(self, known: Parts, members: tuple[ActorId, ...], parts: Parts) -> bool:
        same = len(known) == len(parts) and all(map(is_, known, parts))
        return same and all(map(self._changed.isdisjoint, (members, *parts)))
