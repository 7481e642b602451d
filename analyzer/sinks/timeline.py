"""What became of findings over time, made ready to be drawn: an axis, a bar per finding, and a row per change.

README.md says how long stretches without a change are folded and how rows are joined. Text and page show the same
timeline; neither decides anything.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from analyzer.codec.report import ChangeRow, FindingRow, Report
from analyzer.codec.times import parse_time
from analyzer.explain.words import span
from analyzer.model.findings import ChangeKind, Verdict
from analyzer.sinks.phrases import gpus

_FOLDED_FROM = 4
"""Stretches that an axis must have before one of them can stand out as long."""

_FOLDED_TIMES = 8
"""A stretch is folded if it is longer than so many median ones; it is drawn as long as two of them."""


class Bar(Struct, frozen=True, kw_only=True):
    """One finding and the times during which it was open; of the last, whether it is open at the end."""

    id: str
    verdict: Verdict
    members: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    open_before: bool
    open_at_end: bool


class Step(Struct, frozen=True, kw_only=True):
    """One row: a change, or several updates of one finding in a row (`count`, the last of them at `last_ns`).

    `effect` says what it meant in few words; `told` is the sentence of the finding, where it begins. `pause_ns`: for so
    long nothing had changed before, where that was remarkably long.
    """

    at_ns: int
    last_ns: int
    change: ChangeKind
    count: int
    id: str
    verdict: Verdict
    members: tuple[str, ...]
    effect: str
    told: str
    pause_ns: int | None


class Axis(Struct, frozen=True):
    """Time to a position between 0 and 1: straight between the moments, in which something changed."""

    moments_ns: tuple[int, ...]
    positions: tuple[float, ...]
    folds: tuple[tuple[int, int], ...]
    """Stretches that are drawn shorter than they were."""

    def position(self, at_ns: int) -> float:
        """Where a moment stands; those outside stand at the nearer end."""
        after = bisect_right(self.moments_ns, at_ns)
        if after == 0:
            return 0.0
        if after == len(self.moments_ns):
            return 1.0
        begin_ns, end_ns = self.moments_ns[after - 1 : after + 1]
        begin, end = self.positions[after - 1 : after + 1]
        return begin + (end - begin) * (at_ns - begin_ns) / (end_ns - begin_ns)


class Timeline(Struct, frozen=True, kw_only=True):
    """A history worth showing. Bars by when they begin, rows by time."""

    axis: Axis
    bars: tuple[Bar, ...]
    steps: tuple[Step, ...]
    open_before: tuple[Step, ...]

    @property
    def begin_ns(self) -> int:
        """The first moment on the axis."""
        return self.axis.moments_ns[0]

    @property
    def end_ns(self) -> int:
        """The last moment on the axis."""
        return self.axis.moments_ns[-1]


def timeline_of(report: Report) -> Timeline | None:
    """The timeline of a report; None where the findings say it all: nothing changed, or everything at one moment."""
    before = () if report.window is None else report.window.open_before
    if report.as_of is None or not (report.history or before):
        return None
    end_ns = _ns(report.as_of)
    moments = sorted({_ns(row.at) for row in report.history})
    if report.window is None and len(moments) < 2:
        return None
    begin_ns = moments[0] if report.window is None else _ns(report.window.start)
    ends = {begin_ns, max(end_ns, begin_ns)}
    milestones = ends | {_ns(row.at) for row in report.history if row.change is not ChangeKind.UPDATED}
    axis = _axis(ends.union(moments), milestones)
    findings = {row.id: row for row in report.findings}
    return Timeline(
        axis=axis,
        bars=tuple(_bars(before, report.history, findings, (begin_ns, end_ns))),
        steps=tuple(_steps(before, report.history, findings, axis)),
        open_before=tuple(_step(row, findings, "", None) for row in before),
    )


def latest(timeline: Timeline, bars_max: int) -> tuple[Timeline, int]:
    """With so many bars at most, over the time since the first of them begins; and how many were left out.

    Those that are open at the end stay first, then those that resolved last.
    """
    if len(timeline.bars) <= bars_max:
        return timeline, 0
    telling = sorted(timeline.bars, key=lambda bar: (not bar.open_at_end, -bar.spans[-1][1]))[:bars_max]
    kept = {bar.id for bar in telling}
    begin_ns = min(bar.spans[0][0] for bar in telling)
    moments = [at_ns for at_ns in timeline.axis.moments_ns if at_ns >= begin_ns]
    milestones = {timeline.end_ns, *(at_ns for bar in telling for stretch in bar.spans for at_ns in stretch)}
    bars = tuple(bar for bar in timeline.bars if bar.id in kept)
    return replace(timeline, axis=_axis(moments, milestones), bars=bars), len(timeline.bars) - len(bars)


def _axis(moments: Iterable[int], milestones: Iterable[int]) -> Axis:
    """The axis over these moments; what is usual is judged by the milestones, since updates come in showers."""
    moments_ns = sorted(moments)
    lengths = [end - begin for begin, end in pairwise(moments_ns)]
    between = [end - begin for begin, end in pairwise(sorted(milestones))]
    usual = median(between) if len(between) >= _FOLDED_FROM else max(lengths, default=0)
    folded = [length > _FOLDED_TIMES * usual for length in lengths]
    drawn = [min(length, 2 * usual) if fold else length for length, fold in zip(lengths, folded, strict=True)]
    whole = sum(drawn) or 1
    positions, far = [0.0], 0.0
    for length in drawn:
        far += length
        positions.append(far / whole)
    folds = [stretch for stretch, fold in zip(pairwise(moments_ns), folded, strict=True) if fold]
    return Axis(tuple(moments_ns), tuple(positions), tuple(folds))


def _bars(
    before: Sequence[ChangeRow], history: Sequence[ChangeRow], findings: dict[str, FindingRow], window: tuple[int, int]
) -> Iterator[Bar]:
    begin_ns, end_ns = window
    opened: dict[str, int] = {row.id: begin_ns for row in before}
    spans: dict[str, list[tuple[int, int]]] = {row.id: [] for row in (*before, *history)}
    verdicts = {row.id: row.verdict for row in (*before, *history)}
    for row in history:
        match row.change:
            case ChangeKind.OPENED:
                opened[row.id] = _ns(row.at)
            case ChangeKind.RESOLVED:
                spans[row.id].append((opened.pop(row.id, begin_ns), _ns(row.at)))
            case ChangeKind.UPDATED:
                pass
    still_open = set(opened)
    for key, since_ns in opened.items():
        spans[key].append((since_ns, end_ns))
    earlier = {row.id for row in before}
    for key in sorted(spans, key=lambda key: (spans[key][0], key)):
        yield Bar(
            id=key,
            verdict=verdicts[key],
            members=findings[key].members if key in findings else (),
            spans=tuple(spans[key]),
            open_before=key in earlier,
            open_at_end=key in still_open,
        )


def _steps(
    before: Sequence[ChangeRow], history: Sequence[ChangeRow], findings: dict[str, FindingRow], axis: Axis
) -> Iterator[Step]:
    """One row per change; updates of one finding that nothing else comes between are one row."""
    folds = {end: end - begin for begin, end in axis.folds}
    last = {row.id: row for row in before}
    opened = {row.id: _ns(row.at) for row in before}
    number = 0
    while number < len(history):
        row = history[number]
        following = number + 1
        if row.change is ChangeKind.UPDATED:
            while following < len(history) and (history[following].change, history[following].id) == (
                row.change,
                row.id,
            ):
                following += 1
        newest = history[following - 1]
        at_ns = _ns(row.at)
        if row.change is ChangeKind.OPENED:
            opened[row.id] = at_ns
        effect = _effect(newest, last.get(row.id), at_ns - opened.get(row.id, at_ns))
        step = _step(newest, findings, effect, folds.pop(at_ns, None))
        yield Step(
            at_ns=at_ns,
            last_ns=_ns(newest.at),
            change=step.change,
            count=following - number,
            id=step.id,
            verdict=step.verdict,
            members=step.members,
            effect=step.effect,
            told=step.told,
            pause_ns=step.pause_ns,
        )
        last[row.id] = newest
        number = following


def _step(row: ChangeRow, findings: dict[str, FindingRow], effect: str, pause_ns: int | None) -> Step:
    at_ns = _ns(row.at)
    return Step(
        at_ns=at_ns,
        last_ns=at_ns,
        change=row.change,
        count=1,
        id=row.id,
        verdict=row.verdict,
        members=findings[row.id].members if row.id in findings else (),
        effect=effect or _size(row),
        told=row.summary if row.change is ChangeKind.OPENED else "",
        pause_ns=pause_ns,
    )


def _effect(row: ChangeRow, before: ChangeRow | None, open_ns: int) -> str:
    """What the change meant: how large it is, how it grew, or how long it lasted."""
    match row.change:
        case ChangeKind.OPENED:
            return _size(row)
        case ChangeKind.RESOLVED:
            return f"after {span(open_ns)}"
        case ChangeKind.UPDATED:
            if before is None or (before.stuck, before.idle_gpus) == (row.stuck, row.idle_gpus):
                return "who holds how much has changed"
            parts = [_grown(f"{row.stuck:,} stuck", f"{before.stuck:,}", same=before.stuck == row.stuck)]
            if row.idle_gpus or before.idle_gpus:
                same = before.idle_gpus == row.idle_gpus
                parts.append(_grown(f"{gpus(row.idle_gpus)} idle", f"{before.idle_gpus:,}", same=same))
            return f"now {', '.join(parts)}"


def _size(row: ChangeRow) -> str:
    return f"{row.stuck:,} stuck{f', {gpus(row.idle_gpus)} idle' if row.idle_gpus else ''}"


def _grown(now: str, before: str, *, same: bool) -> str:
    return now if same else f"{now} ({before} before)"


def _ns(time: str) -> int:
    """Nanoseconds of a time of a report, which is always one."""
    at_ns = parse_time(time)
    if at_ns is None:
        raise AssertionError(f"a report has RFC 3339 times: {time}")
    return at_ns
