"""The timeline as text: a bar per finding over one axis, then a row per change, readable at three in the morning."""

from collections.abc import Iterator
from textwrap import shorten
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.codec.report import Report
from analyzer.codec.times import SECOND_NS, format_time
from analyzer.explain.words import span
from analyzer.model.findings import ChangeKind
from analyzer.sinks.console import TextFormat, indented
from analyzer.sinks.phrases import ROWS_MAX, WAYS_MAX, names, plural
from analyzer.sinks.sentences import verdict_words
from analyzer.sinks.timeline import Axis, Bar, Step, Timeline, latest, timeline_of

if TYPE_CHECKING:
    from rich.console import RenderableType

_STEPS_MAX = 24
"""Changes shown, the last ones: a window (--from, --to) shows others."""

_SENTENCE_MAX = 180
"""Characters of a sentence: three lines."""

_DAY_NS = 86_400 * SECOND_NS
_BAR_MIN, _BAR_MAX = 14, 44


class _Ink(Struct, frozen=True):
    """The signs of a bar: open, not open, a stretch of time that is drawn shorter, goes on at the edge."""

    open: str
    closed: str
    fold: str
    before: str
    after: str


_PLAIN = _Ink("#", ".", "~", "<", ">")
_BLOCKS = _Ink("█", "·", "≈", "◀", "▶")

_COLORS = {ChangeKind.OPENED: "red", ChangeKind.UPDATED: "yellow", ChangeKind.RESOLVED: "green"}


def timeline_parts(report: Report, form: TextFormat, told: frozenset[str] = frozenset()) -> Iterator["RenderableType"]:
    """The timeline, if there is one; of findings in `told` the sentence stands elsewhere on the same paper."""
    from rich.text import Text

    timeline = timeline_of(report)
    if timeline is None:
        return
    yield ""
    yield Text("How it went", "bold cyan")
    yield from _bars(timeline, form)
    yield ""
    yield from _steps(timeline, told)


def _bars(whole: Timeline, form: TextFormat) -> Iterator["RenderableType"]:
    from rich.table import Table
    from rich.text import Text

    timeline, rest = latest(whole, ROWS_MAX)

    columns = min(max(form.width * 2 // 5, _BAR_MIN), _BAR_MAX)
    ink = _BLOCKS if form.blocks else _PLAIN
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=columns, no_wrap=True)
    grid.add_column(overflow="fold")
    begin, end = _brief(timeline.begin_ns), _brief(timeline.end_ns)
    shorter = slice(11, 19) if begin[:10] == end[:10] else slice(5, 16)
    begin, end = begin[shorter], end[shorter]
    grid.add_row(begin + end.rjust(columns - len(begin)), "")
    for bar in timeline.bars:
        row = Text(_drawn(bar, timeline.axis, ink, columns), "red" if bar.open_at_end else "green")
        grid.add_row(row, _about(bar))
    yield indented(grid)
    if rest:
        yield indented(f"and {rest:,} more {plural('finding', rest)}, resolved earlier")
    if timeline.axis.folds:
        yield indented(f"{ink.fold} a long time without a change, drawn short")


def _drawn(bar: Bar, axis: Axis, ink: _Ink, columns: int) -> str:
    cells = [ink.closed] * columns
    for begin_ns, end_ns in axis.folds:
        middle = (axis.position(begin_ns) + axis.position(end_ns)) / 2
        cells[min(int(middle * columns), columns - 1)] = ink.fold
    for begin_ns, end_ns in bar.spans:
        begin = min(int(axis.position(begin_ns) * columns), columns - 1)
        end = max(round(axis.position(end_ns) * columns), begin + 1)
        cells[begin:end] = [ink.fold if cell == ink.fold else ink.open for cell in cells[begin:end]]
    if bar.open_before:
        cells[0] = ink.before
    if bar.open_at_end:
        cells[-1] = ink.after
    return "".join(cells)


def _steps(timeline: Timeline, told: frozenset[str]) -> Iterator["RenderableType"]:
    from rich.table import Table
    from rich.text import Text

    earlier = len(timeline.steps) - _STEPS_MAX
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for step in timeline.open_before[:ROWS_MAX]:
        grid.add_row("before", "open", f"{_about(step)} since {_brief(step.at_ns)}{_sentence(step, told)}")
    hidden = len(timeline.open_before) - ROWS_MAX
    if hidden > 0:
        grid.add_row("before", "open", f"{hidden:,} more {plural('finding', hidden)}")
    if earlier > 0:
        grid.add_row("...", "", f"{earlier:,} earlier changes (--format json lists all; --from and --to choose a part)")
    day: int | None = None
    for step in timeline.steps[-_STEPS_MAX:]:
        if step.pause_ns is not None:
            grid.add_row("...", "", f"no change for {span(step.pause_ns)}")
        if step.at_ns // _DAY_NS != day:
            day = step.at_ns // _DAY_NS
            grid.add_row(_brief(step.at_ns)[:10], "", "UTC")
        times = f", {step.count:,} times until {_brief(step.last_ns)[11:]}" if step.count > 1 else ""
        grid.add_row(
            _brief(step.at_ns)[11:],
            Text(step.change.value, _COLORS[step.change]),
            f"{_about(step)}{times}: {step.effect}{_sentence(step, told)}",
        )
    yield indented(grid)


def _about(shown: Bar | Step) -> str:
    """Verdict and who; under its id where the report has no row of it."""
    return f"{verdict_words(shown.verdict).lower()} of {names(shown.members, WAYS_MAX) or shown.id}"


def _sentence(step: Step, told: frozenset[str]) -> str:
    return f"\n{shorten(step.told, _SENTENCE_MAX, placeholder=' ...')}" if step.told and step.id not in told else ""


def _brief(at_ns: int) -> str:
    """2026-01-14 08:01:00, in UTC."""
    return format_time(at_ns)[:19].replace("T", " ")
