"""Virtual time with real threads: a call that blocks in the driver library blocks its worker, and no test waits."""

import threading
from collections.abc import Callable
from threading import Condition
from typing import Any

from exporters.subject import Key, Subject
from exporters.working.worker import Look, Tell, Worker
from tests.exporters.working.toys import VirtualHand, VirtualTime

RETURN_WITHIN_S = 20.0
LOOK_AGAIN_S = 0.0005


class ThreadedHand(VirtualHand):
    """A real worker, which is asked in virtual time."""

    def __init__(self, name: str, tell: Tell, time: "ThreadedTime") -> None:
        super().__init__(name, tell, time)
        self._time: ThreadedTime = time
        self._key: Key | None = None
        self._worker = Worker(name, self._told, clock=time.moment)

    def begin(self, subject: Subject[Any]) -> None:
        assert not self.open, f"{self.name} is asked twice at the same time"
        assert not self.closed, f"{self.name} is asked after it was sent home"
        self.open, self._key = True, subject.key
        self._time.after(0.0, lambda: self._go(subject))

    def close(self) -> None:
        super().close()
        self._worker.close()

    def _go(self, subject: Subject[Any]) -> None:
        self._time.reading(1)
        self._worker.begin(subject)
        self._time.settle()

    def _told(self, look: Look) -> None:
        self.open = False
        self._tell(look)
        self._time.reading(-1)


class ThreadedTime(VirtualTime):
    """`blocked` says how many calls of the simulated node do not return at present."""

    def __init__(self, blocked: Callable[[], int]) -> None:
        super().__init__()
        self._blocked = blocked
        self._changed = Condition()
        self._reading = 0
        self._of_others = frozenset(thread.ident for thread in threading.enumerate())

    def hire(self, name: str, tell: Callable[[Look], None]) -> ThreadedHand:
        return ThreadedHand(name, tell, self)

    @property
    def threads(self) -> int:
        """Threads of our hands that are alive; other tests may have left some of the same names."""
        names = {hand.name for hand in self.hands}
        return sum(each.name in names and each.ident not in self._of_others for each in threading.enumerate())

    def reading(self, more: int) -> None:
        """So many reads more are open."""
        with self._changed:
            self._reading += more
            self._changed.notify_all()

    def settle(self, *, none: bool = False) -> None:
        """Wait until every read has returned, or (unless `none`) is blocked in a call."""
        with self._changed:
            came = self._changed.wait_for(lambda: self._settled(none=none), LOOK_AGAIN_S)
            waited_s = 0.0
            while not came:
                assert waited_s < RETURN_WITHIN_S, "a read neither returns nor is blocked by the test"
                came = self._changed.wait_for(lambda: self._settled(none=none), LOOK_AGAIN_S)
                waited_s += LOOK_AGAIN_S

    def _settled(self, *, none: bool) -> bool:
        return self._reading == 0 or (not none and self._reading <= self._blocked())
