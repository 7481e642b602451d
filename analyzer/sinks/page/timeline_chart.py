"""The timeline as a chart of fixed measures: rows of bars over one axis, for a template to draw."""

from collections.abc import Iterator
from math import ceil

from msgspec import Struct

from analyzer.codec.times import SECOND_NS, format_time
from analyzer.explain.words import span
from analyzer.model.findings import Verdict
from analyzer.sinks.graph_svg import shortened
from analyzer.sinks.phrases import names
from analyzer.sinks.sentences import verdict_words
from analyzer.sinks.timeline import Axis, Step, Timeline, latest

BARS_MAX = 40
STEPS_MAX = 300

_WIDTH, _LEFT, _RIGHT = 1000.0, 330.0, 16.0
_HEAD, _ROW = 30.0, 26.0
_NARROWEST = 3.0
_TICKS_MAX = 7
_TICK_APART = 70.0
_STEPS_S = (1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800)
_NAME_MAX = 44


class Span(Struct, frozen=True):
    """A bar from one place to another, and what its title says."""

    x: float
    width: float
    title: str


class Row(Struct, frozen=True, kw_only=True):
    """One finding."""

    y: float
    id: str
    verdict: Verdict
    name: str
    whole: str
    spans: tuple[Span, ...]
    open_at_end: bool
    open_before: bool


class Tick(Struct, frozen=True):
    """A time on the axis; `day` where it is the first of its day on the axis."""

    x: float
    text: str


class Chart(Struct, frozen=True, kw_only=True):
    """The whole chart. `folds`: from where to where time is drawn shorter, and how long it was."""

    width: float
    height: float
    left: float
    right: float
    ticks: tuple[Tick, ...]
    folds: tuple[Span, ...]
    rows: tuple[Row, ...]
    more_rows: int


class StepShown(Struct, frozen=True, kw_only=True):
    """One row of the table below the chart."""

    at: str
    until: str
    change: str
    verdict: Verdict
    id: str
    members: tuple[str, ...]
    effect: str
    told: str
    pause: str


def chart_of(whole_story: Timeline) -> Chart:
    """The chart of a timeline, with its latest bars if there are too many."""
    timeline, more_rows = latest(whole_story, BARS_MAX)
    rows = []
    for place, bar in enumerate(timeline.bars):
        whole = f"{verdict_words(bar.verdict)} {bar.id}: {names(bar.members, 12)}"
        rows.append(
            Row(
                y=_HEAD + _ROW * place,
                id=bar.id,
                verdict=bar.verdict,
                name=shortened(names(bar.members, 1) or bar.id, _NAME_MAX),
                whole=whole,
                spans=tuple(_span(begin, end, timeline.axis, whole) for begin, end in bar.spans),
                open_at_end=bar.open_at_end,
                open_before=bar.open_before,
            )
        )
    return Chart(
        width=_WIDTH,
        height=_HEAD + _ROW * len(rows) + 6,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        ticks=tuple(_ticks(timeline)),
        folds=tuple(
            _span(begin, end, timeline.axis, f"no change for {span(end - begin)}") for begin, end in timeline.axis.folds
        ),
        rows=tuple(rows),
        more_rows=more_rows,
    )


def steps_of(timeline: Timeline) -> list[StepShown]:
    """What was open before, and the last changes."""
    before = [_step(step, "before") for step in timeline.open_before[:BARS_MAX]]
    return [*before, *(_step(step, step.change.value) for step in timeline.steps[-STEPS_MAX:])]


def _step(step: Step, change: str) -> StepShown:
    return StepShown(
        at=_brief(step.at_ns),
        until=_brief(step.last_ns) if step.count > 1 else "",
        change=f"{change} {step.count:,} times" if step.count > 1 else change,
        verdict=step.verdict,
        id=step.id,
        members=step.members,
        effect=step.effect,
        told=step.told,
        pause="" if step.pause_ns is None else span(step.pause_ns),
    )


def _x(at_ns: int, axis: Axis) -> float:
    return round(_LEFT + (_WIDTH - _RIGHT - _LEFT) * axis.position(at_ns), 1)


def _span(begin_ns: int, end_ns: int, axis: Axis, title: str) -> Span:
    begin, end = _x(begin_ns, axis), _x(end_ns, axis)
    wide = max(end - begin, _NARROWEST)
    times = f"{_brief(begin_ns)} to {_brief(end_ns)} UTC ({span(end_ns - begin_ns)})"
    return Span(min(begin, _WIDTH - _RIGHT - wide), round(wide, 1), f"{title}\n{times}")


def _ticks(timeline: Timeline) -> Iterator[Tick]:
    """Round times where time runs straight, far enough apart to be read; the first of a day says which day it is."""
    folds = timeline.axis.folds
    straight_ns = timeline.end_ns - timeline.begin_ns - sum(end - begin for begin, end in folds)
    step_ns = next((each * SECOND_NS for each in _STEPS_S if straight_ns <= _TICKS_MAX * each * SECOND_NS), 0)
    step_ns = step_ns or ceil(straight_ns / _TICKS_MAX / (86_400 * SECOND_NS)) * 86_400 * SECOND_NS
    edges = [timeline.begin_ns, *(at for fold in folds for at in fold), timeline.end_ns]
    last_x, day = float("-inf"), ""
    for begin_ns, end_ns in zip(edges[::2], edges[1::2], strict=True):
        for at_ns in (begin_ns, *range(-(-begin_ns // step_ns) * step_ns, end_ns + 1, step_ns)):
            x = _x(at_ns, timeline.axis)
            if x - last_x >= _TICK_APART and x <= _WIDTH - _RIGHT - 20:
                text = _brief(at_ns)
                clock = text[11:16] if step_ns >= 60 * SECOND_NS else text[11:]
                yield Tick(x, clock if text[:10] == day else f"{text[5:10]} {clock}")
                last_x, day = x, text[:10]


def _brief(at_ns: int) -> str:
    return format_time(at_ns)[:19].replace("T", " ")
