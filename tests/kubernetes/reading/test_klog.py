"""Scheduler logs: messages, values, years, zones, and lines that are no statement."""

from collections.abc import Sequence

import pytest

from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.observations import (
    Observation,
    PodBound,
    PodNominated,
    PodPreempted,
    PodReleased,
    PodReserved,
    PodUnschedulable,
    SchedulerAttempt,
    Seen,
)
from analyzer.sources.kubernetes.times import parse_ns
from analyzer.sources.options import ReadOptions
from tests.kubernetes.reading.written import compact, complaints, incident, listed, observed, pod, scheduled

BOUND = 'sched.go:9] "Successfully bound pod to node" pod="team-red/a-0" node="node-1" evaluatedNodes=4'


def log(*lines: str, ends: str = "\n") -> bytes:
    """Lines as klog writes them; stamps without the letter and the thread."""
    return (
        ends.join(f"I{line[:20]}       1 {line[21:]}" if line[:4].isdigit() else line for line in lines).encode()
        + ends.encode()
    )


def said(*contents: bytes, options: ReadOptions | None = None) -> list[Observation]:
    return [one for one in observed(*contents, options=options) if not isinstance(one, Seen)]


def times(statements: Sequence[Observation]) -> list[int]:
    return [one.at_ns for one in statements]


def at(text: str) -> int:
    moment = parse_ns(text)
    assert moment is not None
    return moment


NEIGHBOUR = compact(listed([pod("x", at="2026-01-02T03:04:05Z")]))


def test_every_message_becomes_its_statement() -> None:
    text = log(
        '0102 03:00:00.000001 a.go:1] "Attempting to schedule pod" pod="r/a"',
        '0102 03:00:01.000001 a.go:1] "Unable to schedule pod; no fit; waiting" pod="r/a" err="0/2: \\"x\\" \\\\ y"',
        '0102 03:00:02.000001 a.go:1] "Pod is waiting to be scheduled to node" pod="r/a" nodeName="node-1"',
        '0102 03:00:03.000001 a:1] "Quorum is not met for a gang. Waiting for another pod to allow" pod="r/b" node="m"',
        '0102 03:00:04.000001 a.go:1] "Pod rejected while waiting on permit" pod="r/a" status="timeout"',
        '0102 03:00:05.000001 a.go:1] "the target node for the preemption is determined" logger="x" pod="r/c" node="n"',
        '0102 03:00:06.000001 a.go:1] "Preemptor Pod preempted victim Pod" preemptor="r/c" victim="b/v" node="n"',
        '0102 03:00:07.000001 a.go:1] "Successfully bound pod to node" pod="r/c" node="n" evaluatedNodes=1',
        '0102 03:00:08.000001 a.go:1] "Something nobody needs" pod="r/c"',
    )
    found = said(text, NEIGHBOUR)
    assert [type(one) for one in found] == [
        SchedulerAttempt,
        PodUnschedulable,
        PodReserved,
        PodReserved,
        PodReleased,
        PodNominated,
        PodPreempted,
        PodBound,
    ]
    refused, preempted = found[1], found[6]
    assert isinstance(refused, PodUnschedulable)
    assert refused.message == '0/2: "x" \\ y'
    assert preempted == PodPreempted(at("2026-01-02T03:00:06.000001Z"), "b/v", "r/c", "n", (0, 6))
    assert found[2] == PodReserved(at("2026-01-02T03:00:02.000001Z"), "r/a", "node-1", None, (0, 2))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n\n", "\x1b[0m\n"])
def test_line_ends_blank_lines_and_colours_change_nothing(ends: str) -> None:
    text = log("0102 03:00:00.000001 a.go:1] FLAG: --x", f"0102 03:00:01.000001 {BOUND}", ends=ends)
    assert [type(one) for one in said(text, NEIGHBOUR)] == [PodBound]
    coloured = b"\x1b[32m" + log(f"0102 03:00:01.000001 {BOUND}")
    (found,) = said(coloured, NEIGHBOUR)
    assert isinstance(found, PodBound)
    assert (found.pod, found.node) == ("team-red/a-0", "node-1")


@pytest.mark.parametrize(
    "before",
    [
        "2026-01-02T03:00:01.000001000Z ",
        "2026-01-02T11:00:01.000001000+08:00 stderr F ",
        "Jan 02 03:00:01 control-1 kube-scheduler[812]: ",
        "[pod/kube-scheduler-control-1/kube-scheduler] ",
    ],
)
def test_what_others_write_before_the_line_is_passed_over(before: str) -> None:
    text = before.encode() + log(f"0102 03:00:01.000001 {BOUND}")
    assert form_of(text) is Form.KLOG
    (found,) = said(text, NEIGHBOUR)
    assert found == PodBound(at("2026-01-02T03:00:01.000001Z"), "team-red/a-0", "node-1", (0, 0))


@pytest.mark.parametrize(
    "line",
    [
        'E.go:1] "Error scheduling pod; retrying" err="rejected due to timeout after waiting 1m0s" pod="r/a"',
        'b.go:1] "Unreserve rejects" pod="r/a" podGroup="r/g"',
        'b.go:1] "Failed waiting on permit for pod" err="context canceled" pod="r/a"',
    ],
)
def test_a_rejection_gives_the_place_up(line: str) -> None:
    assert [type(one) for one in said(log(f"0102 03:00:01.000001 {line}"), NEIGHBOUR)] == [PodReleased]


def test_unknown_lines_are_counted_and_not_complained_about() -> None:
    text = log(
        "0102 03:00:00.000001 a.go:1] FLAG: --x",
        "goroutine 1 [running]:",
        "0102 03:00:01.000001 factory.go:601] Error scheduling ns/pod: 0/1 nodes; retrying",
        f"0102 03:00:02.000001 {BOUND}",
    )
    note = incident(text, NEIGHBOUR).notes[0]
    assert (note.records, note.skipped, note.complaints) == (1, 3, ())
    assert (note.first_ns, note.last_ns) == (at("2026-01-02T03:00:00.000001Z"), at("2026-01-02T03:00:02.000001Z"))


def test_the_year_comes_from_the_neighbours() -> None:
    text = log(f"0102 03:00:00.000001 {BOUND}")
    for year in (2019, 2024, 2031):
        near = compact(listed([pod("x", at=f"{year}-01-02T03:04:05Z")]))
        assert times(said(text, near)) == [at(f"{year}-01-02T03:00:00.000001Z")]


def test_a_log_over_new_year_goes_on_in_the_next_year() -> None:
    text = log(f"1231 23:59:59.000001 {BOUND}", f"0101 00:00:01.000001 {BOUND}", f"1231 23:59:59.900001 {BOUND}")
    near = compact(listed([pod("x", at="2026-01-01T00:00:30Z")]))
    assert times(said(text, near)) == [
        at("2025-12-31T23:59:59.000001Z"),
        at("2025-12-31T23:59:59.900001Z"),  # a late line of the old year
        at("2026-01-01T00:00:01.000001Z"),
    ]


def test_a_log_of_december_beside_a_dump_of_january_is_of_last_year() -> None:
    text = log(f"1230 10:00:00.000001 {BOUND}")
    near = compact(listed([pod("x", at="2026-01-01T00:00:30Z")]))
    assert times(said(text, near)) == [at("2025-12-30T10:00:00.000001Z")]


def test_a_person_may_say_year_and_zone() -> None:
    text = log(f"0102 03:00:00.000001 {BOUND}")
    options = ReadOptions(year=2020, tz_offset_s=3600)
    assert times(said(text, NEIGHBOUR, options=options)) == [at("2020-01-02T02:00:00.000001Z")]


def test_a_log_alone_names_its_year_or_one_is_assumed_and_said() -> None:
    text = log(f"0102 03:00:00.000001 {BOUND}")
    assert times(said(text)) == [at("2000-01-02T03:00:00.000001Z")]
    assert [line for line, _ in complaints(text)] == [1]
    named = log(
        '0102 02:00:00.000001 a.go:1] "Loaded serving cert" cert="(2026-01-02 01:00:00 +0000 UTC to 2027-01-02)"'
    )
    assert times(said(named + text)) == [at("2026-01-02T03:00:00.000001Z")]
    assert complaints(named + text) == []


def test_the_29th_of_february_is_a_day() -> None:
    text = log(f"0229 10:00:00.000001 {BOUND}")
    assert times(said(text)) == [at("2000-02-29T10:00:00.000001Z")]
    near = compact(listed([pod("x", at="2026-03-01T00:00:00Z")]))
    assert times(said(text, near)) == [at("2026-03-01T10:00:00.000001Z")]


@pytest.mark.parametrize(("hours", "minutes"), [(8, 0), (5, 30), (-7, 0), (0, 0)])
def test_the_zone_is_what_the_pods_themselves_say(hours: int, minutes: int) -> None:
    names = [f"a-{index}" for index in range(3)]
    pods = [
        pod(
            name,
            at="2026-01-02T11:59:00Z",
            node="n",
            status={"conditions": [scheduled("True", "2026-01-02T12:00:00Z")]},
        )
        for name in names
    ]
    clock = f"{12 + hours:02d}:{minutes:02d}:00.400000"
    text = log(
        *(f'0102 {clock} a.go:1] "Successfully bound pod to node" pod="team-red/{name}" node="n"' for name in names)
    )
    assert times(said(text, compact(listed(pods)))) == [at("2026-01-02T12:00:00.400000Z")] * 3
