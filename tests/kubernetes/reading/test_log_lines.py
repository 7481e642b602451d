"""Of what a scheduler says again and again the first and the last are kept, and that decides the same."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from analyzer.sources import mapped
from analyzer.sources.kubernetes import incident as incidents
from analyzer.sources.kubernetes.klog import NO_RUNS, read_klog
from analyzer.sources.kubernetes.log_forms import read_log
from analyzer.sources.kubernetes.log_text import PlainLog
from analyzer.sources.kubernetes.observations import SchedulerAttempt
from analyzer.sources.kubernetes.scheduler_log import MESSAGES, REPEATED
from tests.kubernetes.reading.test_klog import log, said
from tests.kubernetes.reading.written import compact, listed, pod
from tests.kubernetes.scenarios.incident import Incident
from tests.replay.reports import report_of
from tests.replay.truth import parts_of

NEIGHBOUR = compact(listed([pod("x", at="2026-01-02T05:00:00Z")]))
SCENARIO = Path(__file__).parents[1] / "scenarios" / "a2_permit_stage" / "two_gangs_reserve.scenario"


def refused(second: int, name: str = "r/a", why: str = "0/2") -> str:
    return f'0102 03:00:{second:02}.000001 a.go:1] "Unable to schedule pod; no fit; waiting" pod="{name}" err="{why}"'


def tried(second: int, name: str = "r/a") -> str:
    return f'0102 03:00:{second:02}.000001 a.go:1] "Attempting to schedule pod" pod="{name}"'


def bound(second: int, name: str = "r/a") -> str:
    return f'0102 03:00:{second:02}.000001 a.go:1] "Successfully bound pod to node" pod="{name}" node="n"'


def kept(*lines: str) -> list[int]:
    read = read_klog(PlainLog(log(*lines)), MESSAGES, REPEATED)
    assert read.matching == sum(line.times for line in read.lines) == len(lines)
    return [line.record for line in read.lines]


@pytest.mark.parametrize(
    ("lines", "records"),
    [
        ([refused(1), refused(2), refused(3), refused(4)], [0, 3]),
        ([refused(1), refused(2)], [0, 1]),
        ([refused(1), tried(2), refused(3), tried(4), refused(5)], [0, 1, 3, 4]),
        ([refused(1), refused(2, "r/b"), refused(3), refused(4, "r/b"), refused(5)], [0, 1, 3, 4]),
        ([refused(1), refused(2), refused(3, why="0/3"), refused(4, why="0/3"), refused(5)], [0, 1, 2, 3, 4]),
        ([refused(1), refused(2), refused(3), bound(4), refused(5), refused(6), refused(7)], [0, 2, 3, 4, 6]),
        ([refused(1), refused(5), refused(9), refused(3), refused(4), refused(6)], [0, 2, 3, 5]),
    ],
    ids=[
        "a run",
        "two",
        "other kinds between",
        "other pods between",
        "other words",
        "another fate",
        "a clock set back",
    ],
)
def test_a_run_is_its_first_and_its_last_line(lines: list[str], records: list[int]) -> None:
    assert kept(*lines) == records


def test_attempts_that_are_left_out_are_counted() -> None:
    text = log(*(tried(second) for second in range(1, 8)))
    attempts = [one for one in said(text, NEIGHBOUR) if isinstance(one, SchedulerAttempt)]
    assert [(one.times, one.citation) for one in attempts] == [(1, (0, 0)), (6, (0, 6))]


def test_with_a_history_every_line_has_its_time() -> None:
    watch = b"\n".join(
        json.dumps({"type": kind, "object": pod("x", version=version, at="2026-01-02T02:00:00Z")}).encode()
        for version, kind in enumerate(("ADDED", "MODIFIED"), 1)
    )
    assert len(said(log(*(refused(second) for second in range(1, 8))), watch)) == 7


def _repeated(lines: list[str]) -> list[str]:
    """Each refusal of the log many times over, between other lines."""
    chance = random.Random(5)  # noqa: S311  seeded, and no secret
    stamped = [
        (datetime.strptime(f"2026{line[1:21]}", "%Y%m%d %H:%M:%S.%f").replace(tzinfo=UTC), line) for line in lines
    ]
    out = list(stamped)
    for at, line in stamped:
        if "Unable to schedule" in line:
            out += [(at + timedelta(milliseconds=chance.randint(1, 900)), line) for _ in range(30)]
    return [f"{line[0]}{at:%m%d %H:%M:%S.%f}{line[21:]}" for at, line in sorted(out)]


def test_the_verdict_is_that_of_all_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Incident(parts_of(SCENARIO.read_text("utf-8"))[0])
    folder = told.write(tmp_path / "incident")
    (folder / "scheduler.txt").unlink(missing_ok=True)
    (folder / "scheduler.log").write_text("\n".join(_repeated(told.log)) + "\n", encoding="utf-8")
    short = report_of([folder])
    monkeypatch.setattr(incidents, "REPEATED", NO_RUNS)
    assert short == report_of([folder])
    assert short["findings"]


@pytest.mark.parametrize("form", ["plain", "container", "parted", "journal"])
def test_blocks_of_any_size_give_the_same(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = _WRAPPED[form](log(*(one for n in range(40) for one in (tried(n), refused(n, f"r/{n % 7}"), bound(n)))))
    monkeypatch.setattr(mapped, "BLOCK_BYTES", 1 << 20)
    whole = read_log(content, MESSAGES)
    assert len(whole[0].lines) == 120
    for size in (64, 150, 1000):
        monkeypatch.setattr(mapped, "BLOCK_BYTES", size)
        assert read_log(content, MESSAGES) == whole


def _in_container(content: bytes) -> bytes:
    return b"".join(b"2026-01-02T03:00:00.1Z stderr F " + line + b"\n" for line in content.splitlines())


def _parted(content: bytes) -> bytes:
    before = b"2026-01-02T03:00:00.1Z stderr "
    return b"".join(
        before + b"P " + line[:60] + b"\n" + before + b"F " + line[60:] + b"\n"
        if number % 3
        else before + b"F " + line + b"\n"
        for number, line in enumerate(content.splitlines())
    )


def _in_journal(content: bytes) -> bytes:
    entries = ({"__REALTIME_TIMESTAMP": "1767322800000000", "MESSAGE": line} for line in content.decode().splitlines())
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


_WRAPPED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "container": _in_container,
    "parted": _parted,
    "journal": _in_journal,
}
