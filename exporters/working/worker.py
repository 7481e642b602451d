"""One thread that reads one subject at a time. It decides nothing: what to read and when is the crew's business."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol

from msgspec import Struct

from exporters.subject import Key, Moment, Reading, Subject

Clock = Callable[[], Moment]


def system_clock() -> Moment:
    """The time now, on the machine's two clocks."""
    return Moment(time.time(), time.monotonic())


class Look(Struct, frozen=True, kw_only=True):
    """One call of `read` that came back: what it gave, or the name of what it raised."""

    key: Key
    subject: Subject[Any]
    began: Moment
    ended: Moment
    reading: Reading[Any] | None
    raised: str = ""


Tell = Callable[[Look], None]


class Hand(Protocol):
    """Somebody who reads for the crew. At most one `begin` is open at a time; each is told of once, when it returns."""

    def begin(self, subject: Subject[Any]) -> None:
        """Read this subject. Returns at once."""
        ...

    def close(self) -> None:
        """No more; also while a read is open, which is then told of all the same, if it ever returns."""
        ...


Hire = Callable[[str, Tell], Hand]
"""Makes a hand: its name, and whom it tells."""


def look_at(subject: Subject[Any], clock: Clock) -> Look:
    """Read a subject now. Whatever it raises is part of the answer."""
    began = clock()
    reading, raised = None, ""
    try:
        reading = subject.read(began)
    except Exception as error:  # noqa: BLE001  a subject that breaks costs itself, whatever it raises
        raised = type(error).__name__
    return Look(key=subject.key, subject=subject, began=began, ended=clock(), reading=reading, raised=raised)


class Worker:
    """A hand that is a daemon thread, so that a call that never returns does not keep the process alive."""

    def __init__(self, name: str, tell: Tell, clock: Clock = system_clock) -> None:
        self._tell = tell
        self._clock = clock
        self._asked: SimpleQueue[Subject[Any] | None] = SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def begin(self, subject: Subject[Any]) -> None:
        self._asked.put(subject)

    def close(self) -> None:
        self._asked.put(None)

    def _work(self) -> None:
        while (subject := self._asked.get()) is not None:
            self._tell(look_at(subject, self._clock))
