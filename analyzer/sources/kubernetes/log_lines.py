"""The lines of a log that matter, as they are read: of those that say the same again and again the first and the last.

A scheduler tries a pod that does not fit every few seconds, for days. Of a run of equal statements about one pod the
first and the last say all there is to say, unless there is a history in which the time of each has a place of its own.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from msgspec import Struct

_SAYINGS_MAX = 100_000
"""Texts that are remembered: a log that never says the same twice must not fill the memory."""


class Stamp(Struct, frozen=True, order=True, gc=False):
    """Month, day, nanoseconds of the day; `turn` counts the New Years since the first line."""

    turn: int
    month: int
    day: int
    of_day_ns: int


class KlogLine(Struct, frozen=True):
    """A line that matters: its record (the line from 0), its stamp, its message, its key and value pairs.

    `times`: how many lines it stands for, itself and those like it since the one before.
    """

    record: int
    stamp: Stamp
    message: str
    values: dict[str, str]
    times: int = 1


class Saying(Struct, frozen=True):
    """What a line says but for its time. `run`: the run that it may be part of, else ""; `ends`: runs that it ends."""

    message: str
    values: dict[str, str]
    run: str
    ends: tuple[str, ...]


class _Run(Struct):
    saying: Saying
    record: int
    moment: Any
    times: int


class LogLines:
    """Takes lines in their order; a moment is anything that grows with time, and `stamp` makes a stamp of it.

    `repeated` names the messages that make runs, each with the kind of its run: a message of another kind in between
    does not end it, one that makes no runs does. A clock that goes back ends a run as well.
    """

    def __init__(self, repeated: Mapping[str, str], stamp: Callable[[Any], Stamp]) -> None:
        self._repeated = repeated
        self._kinds = tuple(sorted(set(repeated.values())))
        self._stamp = stamp
        self._sayings: dict[bytes, Saying] = {}
        self._runs: dict[str, _Run] = {}
        self._lines: list[KlogLine] = []
        self.known = self._sayings.get
        """What these bytes of a line say, None if they were not met before."""
        self.taken = 0
        """Lines that mattered, kept or not."""

    def learn(self, text: bytes, message: str, values: dict[str, str]) -> Saying:
        """Remember what these bytes of a line say."""
        kind, pod = self._repeated.get(message), values.get("pod", "")
        about = {values.get(key, "") for key in ("pod", "victim", "preemptor")} - {""}
        saying = Saying(
            message,
            values,
            f"{kind} {pod}" if kind is not None and pod else "",
            tuple(f"{one} {name}" for one in self._kinds for name in sorted(about)),
        )
        if len(self._sayings) >= _SAYINGS_MAX:
            self._sayings.clear()
        self._sayings[text] = saying
        return saying

    def take(self, saying: Saying, record: int, moment: Any) -> None:
        """The next line that matters. O(1)."""
        self.taken += 1
        name = saying.run
        if not name:
            for ended in saying.ends:
                self._end(ended)
            self._keep(saying, record, moment, 1)
            return
        run = self._runs.get(name)
        if run is not None and (run.saying is saying or run.saying == saying) and moment >= run.moment:
            run.record, run.moment, run.times = record, moment, run.times + 1
            return
        self._end(name)
        self._runs[name] = _Run(saying, record, moment, 0)
        self._keep(saying, record, moment, 1)

    def all(self) -> list[KlogLine]:
        """What was kept, in the order of the log; to be asked once, at its end."""
        for name in list(self._runs):
            self._end(name)
        self._lines.sort(key=attrgetter("record"))
        return self._lines

    def _end(self, name: str) -> None:
        run = self._runs.pop(name, None)
        if run is not None and run.times:
            self._keep(run.saying, run.record, run.moment, run.times)

    def _keep(self, saying: Saying, record: int, moment: Any, times: int) -> None:
        self._lines.append(KlogLine(record, self._stamp(moment), saying.message, saying.values, times))
