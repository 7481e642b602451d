"""The timeline: bars, rows and folds as values, and the text that is drawn from them."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from analyzer.codec.report import ChangeRow, Report, WindowRow
from analyzer.codec.times import format_time
from analyzer.model.findings import ChangeKind, Verdict
from analyzer.run import replay
from analyzer.sinks.console import TextFormat, drawn
from analyzer.sinks.timeline import timeline_of
from analyzer.sinks.timeline_text import timeline_parts
from tests.html.pages import history

MINUTE_NS = 60 * 1_000_000_000
PIPE = TextFormat(width=80, colored=False)
SCREEN = TextFormat(width=100, colored=True, blocks=True)


def change(minute: int, kind: str, key: str = "k-1", stuck: int = 2, idle_gpus: int = 0) -> ChangeRow:
    return ChangeRow(
        at=format_time(minute * MINUTE_NS),
        change=ChangeKind(kind),
        id=key,
        verdict=Verdict.DEADLOCK,
        summary=f"{key} is stuck; stop somebody.",
        stuck=stuck,
        idle_gpus=idle_gpus,
    )


def report(*changes: ChangeRow, end: int = 100, start: int | None = None, before: Sequence[ChangeRow] = ()) -> Report:
    window = None
    if start is not None:
        window = WindowRow(
            start=format_time(start * MINUTE_NS), end=format_time(end * MINUTE_NS), open_before=tuple(before)
        )
    return Report(
        as_of=format_time(end * MINUTE_NS),
        sources=(),
        findings=(),
        waiting=(),
        history=changes,
        remarks=(),
        window=window,
    )


def text(shown: Report, form: TextFormat = PIPE) -> str:
    return drawn(list(timeline_parts(shown, form)), form)


def test_nothing_is_shown_of_what_the_findings_say_anyway() -> None:
    assert timeline_of(report()) is None
    assert timeline_of(report(change(5, "opened"), change(5, "opened", "k-2"))) is None
    assert text(report(change(5, "opened"))) == ""
    assert timeline_of(report(change(5, "opened"), start=0)) is not None, "a window was asked for"
    assert timeline_of(report(start=0)) is None, "in which nothing happened"


def test_bars_are_the_times_at_which_a_finding_was_open() -> None:
    timeline = timeline_of(
        report(
            change(10, "opened"),
            change(20, "resolved"),
            change(30, "opened"),
            change(35, "opened", "k-2"),
            change(40, "resolved"),
        )
    )
    assert timeline is not None
    first, second = timeline.bars
    assert [(begin // MINUTE_NS, end // MINUTE_NS) for begin, end in first.spans] == [(10, 20), (30, 40)]
    assert [(begin // MINUTE_NS, end // MINUTE_NS) for begin, end in second.spans] == [(35, 100)]
    assert (first.open_at_end, second.open_at_end, second.open_before) == (False, True, False)


def test_what_was_open_before_reaches_in_from_the_edge() -> None:
    timeline = timeline_of(report(change(40, "resolved"), start=20, before=[change(5, "opened")]))
    assert timeline is not None
    (bar,) = timeline.bars
    assert [(begin // MINUTE_NS, end // MINUTE_NS) for begin, end in bar.spans] == [(20, 40)]
    assert bar.open_before
    assert [(step.effect, step.at_ns // MINUTE_NS) for step in timeline.open_before] == [("2 stuck", 5)]
    assert [step.effect for step in timeline.steps] == ["after 35 min"], "counted from when it really opened"


def test_updates_in_a_row_are_one_row_with_what_they_came_to() -> None:
    timeline = timeline_of(
        report(
            change(1, "opened", stuck=2, idle_gpus=16),
            change(2, "updated", stuck=3, idle_gpus=16),
            change(3, "updated", stuck=9, idle_gpus=24),
            change(4, "opened", "k-2"),
            change(5, "updated", stuck=9, idle_gpus=24),
            change(6, "updated", stuck=9, idle_gpus=8),
        )
    )
    assert timeline is not None
    assert [(step.change.value, step.count, step.effect) for step in timeline.steps] == [
        ("opened", 1, "2 stuck, 16 GPUs idle"),
        ("updated", 2, "now 9 stuck (2 before), 24 GPUs idle (16 before)"),
        ("opened", 1, "2 stuck"),
        ("updated", 2, "now 9 stuck, 8 GPUs idle (24 before)"),
    ]
    alone = timeline_of(report(change(1, "opened"), change(2, "updated")))
    assert alone is not None
    assert alone.steps[1].effect == "who holds how much has changed"


def test_a_long_pause_is_folded_and_said() -> None:
    changes = [change(0, "opened"), change(10, "resolved"), change(20, "opened"), change(30, "resolved")]
    timeline = timeline_of(report(*changes, change(6000, "opened"), end=6010))
    assert timeline is not None
    assert [(begin // MINUTE_NS, end // MINUTE_NS) for begin, end in timeline.axis.folds] == [(30, 6000)]
    assert [step.pause_ns and step.pause_ns // MINUTE_NS for step in timeline.steps] == [None, None, None, None, 5970]
    places = [timeline.axis.position(minute * MINUTE_NS) for minute in (-5, 0, 10, 30, 6000, 6010, 7000)]
    assert places == sorted(places)
    assert (places[0], places[1], places[-2], places[-1]) == (0, 0, 1, 1)
    assert places[4] - places[3] == pytest.approx(2 * (places[2] - places[1])), "as long as two ordinary stretches"
    shown = text(report(*changes, change(6000, "opened"), end=6010))
    assert "no change for 4.1 days" in shown
    assert "~ a long time without a change, drawn short" in shown
    even = timeline_of(report(*changes, end=40))
    assert even is not None
    assert even.axis.folds == ()


def test_a_pipe_gets_ascii_and_a_screen_gets_blocks() -> None:
    shown = report(change(10, "opened"), change(20, "resolved"), change(60, "opened", "k-2"))
    plain = text(shown)
    assert plain.isascii()
    assert "  ####............................  deadlock of" in plain
    assert "  .................##############>  deadlock of" in plain
    assert "█" in text(shown, SCREEN)
    assert "\x1b[" in text(shown, SCREEN)


def test_rows_say_when_what_and_who(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text(history(3))
    lines = text(replay([str(tmp_path)]).report).split("\n")
    assert lines[1] == "How it went"
    assert "  00:01:00    opened    deadlock of job/a/x0 and job/a/y0: 2 stuck" in lines
    assert "  00:30:00    resolved  deadlock of job/a/x0 and job/a/y0: after 29 min" in lines
    bars = [line for line in lines if re.match(r"  [.#<>~]{20,} ", line)]
    assert [line.count("#") > 0 for line in bars] == [True, True, False]
    assert [">" in line for line in bars] == [False, False, True], "the last opens at the very end"


def test_a_long_history_is_bounded_and_says_how_many_more(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text(history(200))
    shown = text(replay([str(tmp_path)]).report)
    assert "375 earlier changes (--format json lists all; --from and --to choose a part)" in " ".join(shown.split())
    assert "and 188 more findings, resolved earlier" in shown
    bars = re.findall(r"^  ([.#~<>]{20,})  ", shown, re.MULTILINE)
    assert bars[0].startswith("#"), "the axis begins with the first that is shown"
    assert len(shown.split("\n")) < 100


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_it_fits_the_paper(tmp_path: Path, width: int) -> None:
    (tmp_path / "history.jsonl").write_text(history(30))
    shown = text(replay([str(tmp_path)]).report, TextFormat(width=width, colored=False))
    assert max(map(len, shown.split("\n"))) <= width
