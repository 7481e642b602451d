"""When a finding opens, changes and resolves."""

from msgspec.structs import replace

from analyzer.model.events import Certainty, Tick
from analyzer.model.findings import ChangeKind, Finding, Hardness, Verdict
from analyzer.model.ids import ActorId
from analyzer.model.limits import SECOND_NS, Limits
from analyzer.tracker import Tracked, opens_ns, track

LIMITS = Limits(hold_ns=60 * SECOND_NS)
Before = dict[str, Tracked] | None


def finding(*members: str, since_s: int = 0, verdict: Verdict = Verdict.DEADLOCK) -> Finding:
    return Finding(
        id="k-" + "".join(members),
        rule=verdict.lower(),
        verdict=verdict,
        strength=Hardness.HARD,
        certainty=Certainty.PROVEN,
        since_ns=since_s * SECOND_NS,
        members=tuple(ActorId(member) for member in members),
        blocked_behind=(),
        cleared=(),
        root=None,
        edges=(),
        cycle=(),
        idle_gpus=0,
        summary="",
        actions=(),
        citations=(),
    )


def look(before: Before, found: list[Finding], at_s: int, *, files_end: bool = False) -> tuple[Before, list[str]]:
    tracking, changes = track(before, found, Tick(at_ns=at_s * SECOND_NS, open_ended=files_end), LIMITS)
    return tracking, [f"{change.kind} {change.finding.id}" for change in changes]


def test_the_first_look_counts_from_the_closing_edge_alone() -> None:
    assert look(None, [finding("a", since_s=0)], 60)[1] == ["opened k-a"]
    assert look(None, [finding("a", since_s=1)], 60)[1] == []


def test_later_looks_count_from_the_first_sight() -> None:
    before, _ = look(None, [], 0)
    before, told = look(before, [finding("a", since_s=0)], 100)
    assert told == []
    before, told = look(before, [finding("a", since_s=0)], 159)
    assert told == []
    before, told = look(before, [finding("a", since_s=0)], 160)
    assert told == ["opened k-a"]
    assert look(before, [finding("a", since_s=0)], 161)[1] == []


def test_it_resolves_at_the_first_look_without_it_and_is_timed_anew() -> None:
    before, _ = look(None, [finding("a")], 60)
    before, told = look(before, [], 61)
    assert told == ["resolved k-a"]
    before, told = look(before, [finding("a")], 62)
    assert told == []


def test_what_never_opened_does_not_resolve() -> None:
    before, _ = look(None, [finding("a", since_s=50)], 60)
    assert look(before, [], 61)[1] == []


def test_files_that_end_need_no_hold_time() -> None:
    assert look(None, [finding("a", since_s=59)], 60, files_end=True)[1] == ["opened k-a"]


def test_only_what_an_operator_sees_is_an_update() -> None:
    before, _ = look(None, [finding("a")], 60)
    before, told = look(before, [replace(finding("a"), summary="later", citations=((0, 1),))], 61)
    assert told == []
    assert look(before, [replace(finding("a"), blocked_behind=(ActorId("b"),))], 62)[1] == ["updated k-a"]


def test_a_core_that_grows_or_shrinks_does_not_pause() -> None:
    before, _ = look(None, [finding("a", "b")], 60)
    before, told = look(before, [finding("a", "b", "c", since_s=70)], 70)
    assert told == ["resolved k-ab", "opened k-abc"]
    assert look(before, [finding("b", "c", since_s=70)], 71)[1] == ["resolved k-abc", "opened k-bc"]


def test_a_core_that_only_overlaps_is_timed_anew() -> None:
    before, _ = look(None, [finding("a", "b")], 60)
    assert look(before, [finding("b", "c", since_s=70)], 70)[1] == ["resolved k-ab"]


def test_rounds_of_a_livelock_span_the_hold_time() -> None:
    before, _ = look(None, [], 0)
    assert look(before, [finding("a", since_s=10, verdict=Verdict.LIVELOCK)], 90)[1] == ["opened k-a"]


def test_changes_come_resolved_first_then_opened_then_updated() -> None:
    before, _ = look(None, [finding("a"), finding("m")], 60)
    found = [replace(finding("m"), idle_gpus=1), finding("z")]
    tracking, changes = track(before, found, Tick(at_ns=200 * SECOND_NS, open_ended=True), LIMITS)
    assert [change.kind for change in changes] == [ChangeKind.RESOLVED, ChangeKind.OPENED, ChangeKind.UPDATED]
    assert list(tracking) == ["k-m", "k-z"]


def test_it_is_known_when_a_pending_finding_falls_due() -> None:
    tracked = Tracked(finding("a", since_s=30), first_seen_ns=10 * SECOND_NS, opened_ns=None)
    assert opens_ns(tracked, LIMITS) == 90 * SECOND_NS
    late = Tracked(finding("a", since_s=30), first_seen_ns=50 * SECOND_NS, opened_ns=None)
    assert opens_ns(late, LIMITS) == 110 * SECOND_NS
