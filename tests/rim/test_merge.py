"""Many recordings to one order of events with ticks."""

from collections.abc import Iterator, Sequence

from analyzer.model.events import ActorGone, Event, Tick
from analyzer.model.ids import ActorId
from analyzer.sources.merge import Timeline
from analyzer.sources.recording import Batch, FileNote

S = 1_000_000_000


class Recorded:
    """A recording of actors that leave, one at each time."""

    def __init__(self, name: str, *times_ns: int, as_of_ns: int | None = None, clock: bool = False) -> None:
        self._name = name
        self._times_ns = times_ns
        self._as_of_ns = as_of_ns if as_of_ns is not None else max(times_ns, default=None)
        self._clock = clock
        self._read = False

    @property
    def batches(self) -> Iterator[Batch]:
        for at_ns in self._times_ns:
            yield Batch(at_ns, [ActorGone(at_ns=at_ns, actor=ActorId(self._name))])
        self._read = True

    @property
    def notes(self) -> Sequence[FileNote]:
        return ()

    @property
    def as_of_ns(self) -> int | None:
        return self._as_of_ns if self._read else None

    @property
    def has_clock(self) -> bool:
        return self._clock

    def line_of(self, document: int, record: int) -> int | None:
        del document, record
        return None


def told(*recorded: Recorded, at_ns: int | None = None) -> list[str]:
    return [short(event) for event in Timeline(recorded, at_ns)]


def short(event: Event) -> str:
    match event:
        case ActorGone():
            return f"{event.actor}{event.at_ns / S:g}"
        case Tick():
            return f"tick{event.at_ns / S:g}{'+' if event.open_ended else ''}"
        case _:
            raise AssertionError(event)


def test_a_tick_follows_each_time_and_the_last_is_open_ended() -> None:
    assert told(Recorded("a", S, 3 * S), Recorded("b", 2 * S, 3 * S)) == [
        "a1", "tick1", "b2", "tick2", "a3", "b3", "tick3+",
    ]  # fmt: skip


def test_a_clock_closes_the_last_tick() -> None:
    assert told(Recorded("a", S, as_of_ns=9 * S, clock=True)) == ["a1", "tick1", "tick9"]
    assert told(Recorded("a", S, as_of_ns=S, clock=True)) == ["a1", "tick1"]


def test_a_clock_that_another_recording_outlives_vouches_for_nothing() -> None:
    assert told(Recorded("a", S, clock=True), Recorded("b", 2 * S))[-1] == "tick2+"


def test_what_is_finer_than_a_second_is_looked_at_once_a_second() -> None:
    assert told(Recorded("a", S, S + 1, S + S // 2, 2 * S)) == ["a1", "a1", "a1.5", "tick1.5", "a2", "tick2+"]


def test_a_moment_asked_for_leaves_out_what_is_later_and_is_a_clock() -> None:
    assert told(Recorded("a", S, 2 * S, 3 * S), at_ns=2 * S) == ["a1", "tick1", "a2", "tick2"]
    assert told(Recorded("a", S), at_ns=5 * S) == ["a1", "tick1", "tick5"]
    timeline = Timeline([Recorded("a", S)], at_ns=0)
    assert [short(event) for event in timeline] == ["tick0"]
    assert (timeline.events, timeline.first_ns) == (0, S)


def test_no_time_at_all_ends_with_one_look() -> None:
    assert told() == ["tick0+"]


def test_what_falls_due_between_two_times_is_looked_at_then() -> None:
    due = iter([3 * S, 7 * S, None, 12 * S, None])
    timeline = Timeline([Recorded("a", S, 9 * S, as_of_ns=20 * S, clock=True)], due_ns=lambda: next(due))
    assert [short(event) for event in timeline] == [
        "a1", "tick1", "tick3", "tick7", "a9", "tick9", "tick12", "tick20",
    ]  # fmt: skip


def test_what_falls_due_later_than_the_next_time_or_earlier_than_now_adds_no_look() -> None:
    for due_ns in (0, S, 9 * S, 10 * S):
        timeline = Timeline([Recorded("a", S, 9 * S)], due_ns=lambda due_ns=due_ns: due_ns)  # type: ignore[misc]  # bound early
        assert [short(event) for event in timeline] == ["a1", "tick1", "a9", "tick9+"]


def test_it_is_known_whether_anybody_was_told_of() -> None:
    for recorded, peopled in ((Recorded("a", S), True), (Recorded("a"), False)):
        timeline = Timeline([recorded])
        list(timeline)
        assert timeline.peopled is peopled
