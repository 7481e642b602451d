"""When the entries hold: snapshots, histories, several files, and entries that compete."""

import itertools
import json

from analyzer.codec.times import format_time
from analyzer.model.events import ActorGone, ActorObserved, ResourceObserved
from tests.facts.reading import DECLARED, actor, complaints, events, recording

Entry = dict[str, object]

HISTORY: list[Entry] = [
    {"schema": "knotwatch.facts/v1"},
    {"at": "2026-01-14T08:00:00Z", "resource": "lock/a", "units": 1},
    {"at": "2026-01-14T08:00:01Z", "actor": "a", "holds": {"lock/a": 1}},
    {"at": "2026-01-14T08:00:02Z", "actor": "b", "waits": {"needs": {"units": "lock/a", "count": 1}}},
    {"at": "2026-01-14T08:00:05Z", "actors": {"b": {"waits": {"needs": {"done": "a"}}}}, "resources": {"lock/c": 2}},
    {"at": "2026-01-14T08:00:09Z", "actor": "a", "ended": True},
]


def lines(entries: list[Entry]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def timed(*texts: str) -> list[tuple[str, str, str]]:
    told: list[tuple[str, str, str]] = []
    for event in events(*texts):
        match event:
            case ResourceObserved():
                told.append((format_time(event.at_ns)[11:], event.resource, str(event.units)))
            case ActorObserved():
                told.append((format_time(event.at_ns)[11:], event.actor, "waits" if event.wait else "runs"))
            case ActorGone():
                told.append((format_time(event.at_ns)[11:], event.actor, "gone"))
            case _:
                raise AssertionError(event)
    return told


def bare(text: str) -> list[object]:
    from msgspec import structs

    return [structs.replace(event, citations=()) for event in events(text) if not hasattr(event, "open_ended")]


def test_a_snapshot_holds_at_its_own_moment() -> None:
    assert timed(DECLARED + "actors: {a: {}}") == [
        ("09:00:00Z", "gpu/n1", "8"),
        ("09:00:00Z", "gpu/n2", "8"),
        ("09:00:00Z", "lock/a", "1"),
        ("09:00:00Z", "a", "runs"),
    ]


def test_only_a_stated_moment_is_a_clock() -> None:
    with_clock = recording(DECLARED)
    assert with_clock.has_clock
    assert format_time(with_clock.as_of_ns or 0) == "2026-01-14T09:00:00Z"
    without = recording(
        "schema: knotwatch.facts/v1\nactors: {a: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: b}}}}"
    )
    assert not without.has_clock
    assert format_time(without.as_of_ns or 0) == "2026-01-14T08:00:00Z"
    timeless = recording("schema: knotwatch.facts/v1\nactors: {a: {}}")
    assert (timeless.as_of_ns, timeless.has_clock) == (None, False)


def test_a_state_whose_wait_names_no_beginning_vouches_for_no_duration() -> None:
    """The wait is placed at the moment of the file, and is judged: a finding needs no hold time then."""
    text = DECLARED + "actors: {a: {waits: {needs: {units: gpu/n1, count: 9}}}}"
    assert not recording(text).has_clock
    wait = actor(text).wait
    assert wait is not None
    assert format_time(wait.since_ns) == "2026-01-14T09:00:00Z"
    assert wait.excuse is None


def test_a_deadline_in_the_future_is_not_the_moment_of_the_file() -> None:
    text = """schema: knotwatch.facts/v1
actors: {a: {lifetime: {until: 2030-01-01T00:00:00Z}, waits: {since: 2026-01-14T08:00:00Z, needs: {done: b}}}}
"""
    assert format_time(recording(text).as_of_ns or 0) == "2026-01-14T08:00:00Z"


def test_a_history_is_in_the_order_of_time() -> None:
    assert timed(lines(HISTORY)) == [
        ("08:00:00Z", "lock/a", "1"),
        ("08:00:01Z", "a", "runs"),
        ("08:00:02Z", "b", "waits"),
        ("08:00:05Z", "lock/c", "2"),
        ("08:00:05Z", "b", "waits"),
        ("08:00:09Z", "a", "gone"),
    ]


def test_a_wait_without_a_beginning_began_when_the_actor_began_to_wait() -> None:
    waits = [event.wait for event in events(lines(HISTORY)) if isinstance(event, ActorObserved) and event.wait]
    assert [format_time(wait.since_ns)[11:] for wait in waits] == ["08:00:02Z", "08:00:02Z"]


def test_order_and_repetition_of_lines_do_not_matter() -> None:
    expected = bare(lines(HISTORY))
    for shuffled in itertools.islice(itertools.permutations(HISTORY[1:]), 0, 120, 7):
        assert bare(lines([HISTORY[0], *shuffled, *shuffled[:2]])) == expected


def test_a_history_stands_in_a_document_as_well() -> None:
    whole = json.dumps({"schema": "knotwatch.facts/v1", "history": HISTORY[1:]})
    assert bare(whole) == bare(lines(HISTORY))


def test_what_stands_beside_a_history_holds_before_it() -> None:
    text = json.dumps(
        {
            "schema": "knotwatch.facts/v1",
            "as_of": "2026-01-14T09:00:00Z",
            "resources": {"gpu/n1": 8},
            "actors": {"a": {"holds": {"gpu/n1": 8}}},
            "history": [{"at": "2026-01-14T08:00:00Z", "actor": "b"}],
        }
    )
    assert timed(text) == [("08:00:00Z", "gpu/n1", "8"), ("08:00:00Z", "a", "runs"), ("08:00:00Z", "b", "runs")]


def test_units_of_a_later_snapshot_count_from_the_start_and_a_change_of_them_from_then() -> None:
    early = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T08:00:00Z\nactors: {a: {}}\n"
    middle = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\nresources: {gpu/n1: 8}\n"
    late = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T10:00:00Z\nresources: {gpu/n1: 16}\n"
    expected = [("08:00:00Z", "gpu/n1", "8"), ("08:00:00Z", "a", "runs"), ("10:00:00Z", "gpu/n1", "16")]
    assert timed(early, middle, late) == expected
    assert timed(late, early, middle) == expected


def test_of_two_files_the_later_moment_wins_for_an_actor() -> None:
    early = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T08:00:00Z\nactors: {a: {gpus: 1}}\n"
    late = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\nactors: {a: {gpus: 2}}\n"
    for texts in ((early, late), (late, early)):
        found = [event for event in events(*texts) if isinstance(event, ActorObserved)]
        assert [event.gpus for event in found] == [1, 2]


def test_of_entries_at_one_time_the_more_silent_one_wins_wherever_it_stands() -> None:
    at = "2026-01-14T08:00:00Z"
    waits: Entry = {"at": at, "actor": "a", "waits": {"needs": {"done": "b"}}}
    runs: Entry = {"at": at, "actor": "a"}
    gone: Entry = {"at": at, "actor": "a", "gone": True}
    for entries, left in (([waits, runs], "runs"), ([waits, gone, runs], "gone"), ([waits, waits], "waits")):
        for order in itertools.permutations(entries):
            assert timed(lines(list(order))) == [("08:00:00Z", "a", left)]


def test_seq_orders_entries_of_one_time() -> None:
    at = "2026-01-14T08:00:00Z"
    runs: Entry = {"at": at, "seq": 1, "actor": "a"}
    waits: Entry = {"at": at, "seq": 2, "actor": "a", "waits": {"needs": {"done": "b"}}}
    for order in ([runs, waits], [waits, runs]):
        assert timed(lines(order)) == [("08:00:00Z", "a", "waits")]


def test_a_broken_line_costs_itself() -> None:
    text = lines(HISTORY[:3]) + '{"at": "2026-01-14T08:00:03Z", "actor": "x"\nnonsense\n[1]\n' + lines(HISTORY[3:])
    text += '{"at": "2026-01-14T08:00:03Z"}\n{"actor": "y"}\n{"at": "2026-01-14T08:00:04Z", "actor": "z", "holdz": {}}'
    told = complaints(text)
    assert [complaint.line for complaint in told] == [4, 5, 6, 11, 12]
    assert [event for event in bare(text) if getattr(event, "actor", "") != "z"] == bare(lines(HISTORY))
    assert "breaks off" in told[0].text
    assert '"at"' in told[3].text


def test_what_has_ended_is_gone_whatever_else_the_entry_says() -> None:
    entry: Entry = {"at": "2026-01-14T08:00:09Z", "actor": "a", "ended": True, "holds": {"lock/a": 1}}
    assert timed(lines([*HISTORY[:3], entry]))[-1] == ("08:00:09Z", "a", "gone")


def test_every_line_may_carry_the_schema() -> None:
    assert bare(lines([{"schema": "knotwatch.facts/v1", **entry} for entry in HISTORY[1:]])) == bare(lines(HISTORY))
    told = complaints(lines([*HISTORY, {"schema": "knotwatch.facts/v2", "at": "2026-01-14T08:00:09Z", "actor": "c"}]))
    assert [complaint.line for complaint in told] == [7]


def test_a_line_that_changes_nothing_moves_the_end() -> None:
    found = recording(lines([*HISTORY, {"at": "2026-01-14T09:30:00Z"}]))
    assert format_time(found.as_of_ns or 0) == "2026-01-14T09:30:00Z"


def test_documents_of_a_stream_may_be_entries() -> None:
    text = "\n---\n".join(
        json.dumps(entry) if number else "schema: knotwatch.facts/v1" for number, entry in enumerate(HISTORY)
    )
    assert bare(text) == bare(lines(HISTORY))


def test_a_wait_that_began_after_the_stated_moment_is_a_clock_ahead() -> None:
    found = recording(DECLARED + "actors: {a: {waits: {since: 2026-01-14T09:00:30Z, needs: {done: b}}}}")
    assert (found.has_clock, format_time(found.as_of_ns or 0)) == (True, "2026-01-14T09:00:00Z")
    late = recording(lines([{"schema": "knotwatch.facts/v1", "as_of": "2026-01-14T08:00:00Z"}, *HISTORY[1:]]))
    assert (late.has_clock, format_time(late.as_of_ns or 0)) == (False, "2026-01-14T08:00:09Z")


def test_lines_without_a_schema_are_known_by_their_first_entry() -> None:
    assert timed(lines(HISTORY[1:])) == timed(lines(HISTORY))


def test_a_record_cites_its_line() -> None:
    found = recording(lines(HISTORY))
    cited = [
        found.line_of(*event.citations[0])
        for batch in found.batches
        for event in batch.events
        if not hasattr(event, "open_ended")
    ]
    assert cited == [2, 3, 4, 5, 5, 6]
