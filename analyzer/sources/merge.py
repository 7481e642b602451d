"""Many recordings to one order of events, with ticks: the engine looks after every time at which something changed."""

import heapq
from collections.abc import Callable, Iterator, Sequence

from analyzer.model.events import ActorGone, ActorObserved, Event, Tick
from analyzer.model.limits import SECOND_NS
from analyzer.sources.recording import Batch, Recording

_PEOPLE = frozenset({ActorObserved, ActorGone})


class Timeline:
    """All events of an incident in the order of time; read it once.

    Events of one time come in the order of the recordings. A tick follows the last of them; histories finer than a
    second are looked at once a second of event time, since no finding is that quick. The last tick is at `as_of_ns`:
    the moment asked for, else the latest time in any recording, 0 if there is none. It is open-ended unless somebody
    vouches for that moment: the person who asked, or a recording with a clock of its own.

    `due_ns` is asked after each tick for the next moment worth a look of its own (a hold time that runs out between two
    times of the recording), so that a replay looks when somebody live would have looked. None: no such moment.
    """

    def __init__(
        self, recordings: Sequence[Recording], at_ns: int | None = None, due_ns: Callable[[], int | None] | None = None
    ) -> None:
        self._recordings = recordings
        self._at_ns = at_ns
        self._due_ns = due_ns or _nothing_due
        self.first_ns: int | None = None
        """The earliest time seen, also of what was left out for being later than asked."""
        self.events = 0
        """Events handed out, ticks not counted."""
        self.peopled = False
        """Whether any of them was about an actor."""

    @property
    def as_of_ns(self) -> int | None:
        """The moment of the last tick; known once all events were read. None if the input holds no time."""
        if self._at_ns is not None:
            return self._at_ns
        return max((one.as_of_ns for one in self._recordings if one.as_of_ns is not None), default=None)

    def __iter__(self) -> Iterator[Event]:
        for turn in self.turns():
            if isinstance(turn, Tick):
                yield turn
            else:
                yield from turn

    def turns(self) -> Iterator[Sequence[Event] | Tick]:
        """The same in larger steps: all events of one time in one recording together, and the ticks between."""
        last_ns: int | None = None
        for batch in heapq.merge(*(one.batches for one in self._recordings), key=_time_of):
            self.first_ns = batch.at_ns if self.first_ns is None else self.first_ns
            if self._at_ns is not None and batch.at_ns > self._at_ns:
                break
            if last_ns is not None and batch.at_ns // SECOND_NS > last_ns // SECOND_NS:
                yield from self._ticks(last_ns, batch.at_ns)
            last_ns = batch.at_ns
            self.events += len(batch.events)
            self.peopled = self.peopled or not _PEOPLE.isdisjoint(map(type, batch.events))
            yield batch.events
        yield from self._last_ticks(last_ns)

    def _last_ticks(self, last_ns: int | None) -> Iterator[Tick]:
        as_of_ns = self.as_of_ns
        at_ns = max(as_of_ns or 0, last_ns or 0)
        if last_ns is not None and at_ns > last_ns:
            yield from self._ticks(last_ns, at_ns)
        vouched = self._at_ns is not None or any(one.has_clock and one.as_of_ns == as_of_ns for one in self._recordings)
        yield Tick(at_ns=at_ns, open_ended=not vouched)

    def _ticks(self, last_ns: int, next_ns: int) -> Iterator[Tick]:
        """The look after `last_ns`, and those that fall due before the next; few, since each opens something."""
        at_ns: int | None = last_ns
        while at_ns is not None:
            yield Tick(at_ns=at_ns)
            due_ns = self._due_ns()
            at_ns = due_ns if due_ns is not None and at_ns < due_ns < next_ns else None


def _nothing_due() -> None:
    return None


def _time_of(batch: Batch) -> int:
    return batch.at_ns
