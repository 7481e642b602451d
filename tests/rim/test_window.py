"""A part of a long history: what is told of it, what was open before, and that the state is the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.codec.report import Report, decode_report, encode_report
from analyzer.codec.times import SECOND_NS, parse_time
from analyzer.errors import UsageError
from analyzer.run import Options, replay

HOUR_NS = 3600 * SECOND_NS


def knots() -> str:
    """Three knots of half an hour each: at 5, 6 and 7; each opens a minute later."""
    lines = ['{"schema": "knotwatch.facts/v1", "as_of": "2026-01-14T09:00:00Z", "resources": {"a": 1, "b": 1}}']
    for hour in (5, 6, 7):
        for who, has, lacks in ((f"job/x/one{hour}", "a", "b"), (f"job/x/two{hour}", "b", "a")):
            wait = {"needs": {"units": lacks, "count": 1}}
            time = f"2026-01-14T0{hour}"
            lines.append(json.dumps({"at": f"{time}:00:00Z", "actor": who, "holds": {has: 1}, "waits": wait}))
            lines.append(json.dumps({"at": f"{time}:30:00Z", "actor": who, "ended": True}))
    return "\n".join(lines)


def part(folder: Path, begin: str | None, end: str | None = None, last_ns: int | None = None) -> Report:
    (folder / "history.jsonl").write_text(knots())
    from_ns, at_ns = (None if time is None else parse_time(f"2026-01-14T{time}Z") for time in (begin, end))
    return replay([str(folder)], Options(from_ns=from_ns, at_ns=at_ns, last_ns=last_ns)).report


def brief(report: Report) -> dict[str, Any]:
    assert report.window is not None
    return {
        "changes": [(row.at[11:16], row.change.value) for row in report.history],
        "before": [row.at[11:16] for row in report.window.open_before],
        "span": (report.window.start[11:16], report.window.end[11:16]),
        "states": [row.state for row in report.findings],
    }


def test_a_window_tells_its_own_part_and_what_was_open_before(tmp_path: Path) -> None:
    assert brief(part(tmp_path, "06:15:00", "07:15:00")) == {
        "changes": [("06:30", "resolved"), ("07:01", "opened")],
        "before": ["06:01"],
        "span": ("06:15", "07:15"),
        "states": ["open", "resolved"],
    }
    to_the_end = brief(part(tmp_path, "06:15:00"))
    assert to_the_end["changes"] == [("06:30", "resolved"), ("07:01", "opened"), ("07:30", "resolved")]
    quiet = brief(part(tmp_path, "08:00:00"))
    assert (quiet["changes"], quiet["before"], quiet["states"]) == ([], [], [])


def test_what_happens_at_the_ends_of_a_window_is_in_it(tmp_path: Path) -> None:
    exact = brief(part(tmp_path, "06:01:00", "06:30:00"))
    assert exact["changes"] == [("06:01", "opened"), ("06:30", "resolved")]
    assert exact["before"] == []
    later = brief(part(tmp_path, "06:01:01", "06:29:59"))
    assert (later["changes"], later["before"], later["states"]) == ([], ["06:01"], ["open"])


def test_a_window_may_begin_so_long_before_the_end(tmp_path: Path) -> None:
    assert brief(part(tmp_path, None, None, 2 * HOUR_NS))["span"] == ("07:00", "09:00")
    assert brief(part(tmp_path, None, "06:10:00", HOUR_NS // 2)) == {
        "changes": [("06:01", "opened")],
        "before": [],
        "span": ("05:40", "06:10"),
        "states": ["open"],
    }
    assert brief(part(tmp_path, None, None, 100 * 365 * 24 * HOUR_NS))["span"][1] == "09:00"


def test_a_window_changes_nothing_of_the_state_at_its_end(tmp_path: Path) -> None:
    whole, windowed = part(tmp_path, None, "07:15:00"), part(tmp_path, "07:10:00", "07:15:00")
    assert whole.window is None
    assert windowed.findings == tuple(row for row in whole.findings if row.state == "open")
    for of_report in ("as_of", "sources", "waiting", "remarks"):
        assert getattr(windowed, of_report) == getattr(whole, of_report)


def test_what_was_open_before_is_told_as_it_was_then(tmp_path: Path) -> None:
    """One gang waits behind a knot at 8, another at 9: whoever looks from half past 8 sees two of them, not three."""
    lines = ['{"schema": "knotwatch.facts/v1", "resources": {"a": 1, "b": 1}}']
    for hour, who, holds, lacks in (
        (7, "one", "a", "b"),
        (7, "two", "b", "a"),
        (8, "three", "", "a"),
        (9, "four", "", "a"),
    ):
        held = {"holds": {holds: 1}} if holds else {}
        wait = {"needs": {"units": lacks, "count": 1}}
        lines.append(json.dumps({"at": f"2026-01-14T0{hour}:00:00Z", "actor": f"job/x/{who}", **held, "waits": wait}))
    (tmp_path / "history.jsonl").write_text("\n".join(lines))
    report = replay([str(tmp_path)], Options(from_ns=parse_time("2026-01-14T08:30:00Z"))).report
    assert report.window is not None
    assert [(row.at[11:16], row.change, row.stuck) for row in report.window.open_before] == [("07:01", "opened", 3)]
    assert [(row.at[11:16], row.change, row.stuck) for row in report.history] == [("09:00", "updated", 4)]


def test_a_report_with_a_window_reads_back(tmp_path: Path) -> None:
    report = part(tmp_path, "06:15:00")
    assert decode_report(encode_report(report)) == report


def test_a_report_from_before_windows_reads_too(tmp_path: Path) -> None:
    made = json.loads(encode_report(part(tmp_path, None)))
    del made["window"]
    for row in made["history"]:
        del row["stuck"], row["idle_gpus"]
    assert decode_report(json.dumps(made).encode()).window is None


def test_a_window_after_the_end_and_an_input_without_time_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing from 2026-01-14T10:00:00Z on: the last .* is 2026-01-14T09:00:00Z"):
        part(tmp_path, "10:00:00")
    (tmp_path / "history.jsonl").write_text('{"schema": "knotwatch.facts/v1", "actors": {"a": {}}}')
    with pytest.raises(UsageError, match="tells no time"):
        replay([str(tmp_path)], Options(last_ns=1))
