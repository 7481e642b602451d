"""Subjects of our making, and a time in which nothing waits: reads take as long as a test says, and no thread runs."""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from exporters.catalog.family import Family, Group, Kind, Sample
from exporters.config import Settings
from exporters.subject import Follower, Key, Moment, Reading, Source, Subject
from exporters.working.office import Office
from exporters.working.page import Form, Print
from exporters.working.worker import Clock, Look, Tell, look_at

HEAT = Family(
    name="knotwatch_gpu_toy_heat_celsius",
    kind=Kind.GAUGE,
    group=Group.GPU,
    text="A toy.",
    source="none",
    labels=("uuid",),
)
WALL_START_S = 1_800_000_000.0


class Toy:
    """A subject that does at each time what the test says: gives a number, gives a reading, or raises."""

    def __init__(
        self,
        name: str,
        does: Callable[[float], object] = lambda _now_s: 42.0,
        *,
        kind: str = "gpu",
        takes_s: Callable[[float], float] = lambda _now_s: 0.0,
        interval_s: float = 10.0,
        deadline_s: float = 5.0,
    ) -> None:
        self.key = Key(kind, name)
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self.takes_s = takes_s
        self.does = does
        self.reads_s: list[float] = []

    def read(self, now: Moment) -> Reading[Any]:
        self.reads_s.append(now.mono_s)
        found = self.does(now.mono_s)
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, Reading) else Reading(value=found)

    def samples(self, value: float) -> Iterable[Sample]:
        yield Sample(HEAT, (self.key.name,), value)


class VirtualHand:
    """A hand that reads at once and says so when the subject's time is over; never, if that is infinite."""

    def __init__(self, name: str, tell: Tell, time: "VirtualTime") -> None:
        self.name = name
        self.open = False
        self.closed = False
        self._tell = tell
        self._time = time
        time.hands.append(self)

    def begin(self, subject: Subject[Any]) -> None:
        assert not self.open, f"{self.name} is asked twice at the same time"
        assert not self.closed, f"{self.name} is asked after it was sent home"
        self.open = True
        takes_s = getattr(subject, "takes_s", lambda _now_s: 0.0)(self._time.now_s)
        if subject.key.kind != "roster":
            self._time.begun.append((self._time.now_s, subject.key))
        self._time.after(takes_s, lambda: self._return(subject, takes_s))

    def close(self) -> None:
        self.closed = True

    def _return(self, subject: Subject[Any], took_s: float) -> None:
        self.open = False
        began = self._time.moment(self._time.now_s - took_s)
        look = look_at(subject, iter_clock([began, self._time.moment()]))
        self._tell(look)


def iter_clock(moments: list[Moment]) -> Clock:
    """A clock that says these moments, one after the other."""
    following = iter(moments)
    return lambda: next(following)


class VirtualTime:
    """Time that goes on when a test says so, straight from one thing that happens to the next."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.wall_ahead_s = WALL_START_S - 1000.0
        self.hands: list[VirtualHand] = []
        self.begun: list[tuple[float, Key]] = []
        self._ahead: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def moment(self, mono_s: float | None = None) -> Moment:
        mono_s = self.now_s if mono_s is None else mono_s
        return Moment(mono_s + self.wall_ahead_s, mono_s)

    def after(self, span_s: float, what: Callable[[], None]) -> None:
        """Let it happen then; a time that is infinite never comes."""
        if span_s < math.inf:
            heapq.heappush(self._ahead, (self.now_s + span_s, next(self._order), what))

    def hire(self, name: str, tell: Callable[[Look], None]) -> VirtualHand:
        return VirtualHand(name, tell, self)

    def office(
        self, sources: Mapping[str, Source], followers: Iterable[Follower] = (), settings: Settings | None = None
    ) -> Office:
        return Office(settings or Settings(), sources, list(followers), clock=self.moment, hire=self.hire)

    def run(self, office: Office, span_s: float) -> None:
        """Go on for so long: whatever happens happens, the crew steps, pages are made."""
        until_s = self.now_s + span_s
        for _ in range(1_000_000):
            self._happen()
            next_s = min(office.crew.step(self.moment()), office.page.refresh(self.moment()))
            if self._ahead and self._ahead[0][0] <= self.now_s:
                continue
            next_s = min(next_s, self._ahead[0][0] if self._ahead else math.inf)
            if next_s > until_s:
                self.now_s = until_s
                break
            assert next_s > self.now_s, "the crew asks to be called again at once, for ever"
            self.now_s = next_s
        office.page.make(self.moment())

    def _happen(self) -> None:
        while self._ahead and self._ahead[0][0] <= self.now_s:
            heapq.heappop(self._ahead)[2]()


def lines_of(office: Office, form: Form = Form.TEXT) -> dict[str, float]:
    """The page as series and their values, without those of the process itself; comments left out."""
    page = office.page.copy(Print(form), office.clock())
    assert page is not None
    return dict(_lines(page.decode()))


def _lines(page: str) -> Iterator[tuple[str, float]]:
    for line in page.splitlines():
        if line and not line.startswith("#") and not line.startswith("process_"):
            series, _, value = line.rpartition(" ")
            yield series, float(value)
