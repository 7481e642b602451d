"""The only loop: documents to events, events through the engine, and the report at the end.

paths -> documents -> sources -> one order of events with ticks -> engine -> changes, and the state at the end
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from analyzer.codec.report import NO_ACTORS, CitationRow, RemarkRow, Report
from analyzer.codec.rows import change_row, finding_row, remark_row, source_row, waiting_row, window_row
from analyzer.codec.times import format_time
from analyzer.engine import Engine
from analyzer.errors import UnreadableError, UsageError
from analyzer.model.events import Citation, RemarkKind, Tick
from analyzer.model.findings import ChangeKind, FindingChange
from analyzer.model.limits import Limits
from analyzer.sources.all import SOURCES
from analyzer.sources.document import open_documents, sort_out
from analyzer.sources.merge import Timeline
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document, FileNote, Source

_EVENTS_PER_NEWS = 2000
_REASONS_MAX = 3
_FROZEN_FROM = 100_000

_NOBODY = RemarkRow(
    kind=RemarkKind.BLIND_SPOT,
    subject=NO_ACTORS,
    text="there is not one pod or other actor in the input: hand over `kubectl get pods -A -o json` too, "
    "or facts with actors",
    citations=(),
)

Progress = Callable[[str, int], None]
"""Told now and then what is being done and how many events are through: for a bar on a terminal."""


class Options(Struct, frozen=True, kw_only=True):
    """What a person may ask of a replay. `at_ns`: stop there, as if nothing later were known.

    `from_ns`, or `last_ns` before the end: the history and what has resolved are told from there on. All that lies
    before is taken in all the same, so that the state is right.
    """

    at_ns: int | None = None
    from_ns: int | None = None
    last_ns: int | None = None
    limits: Limits = Limits()
    read: ReadOptions = ReadOptions()


class Replay(Struct, frozen=True):
    """A replay that has come to its end: the report, and the engine and what was read for further questions."""

    report: Report
    engine: Engine
    by_source: tuple[tuple[Source, tuple[Document, ...]], ...] = ()


def replay(paths: Sequence[str], options: Options | None = None, progress: Progress | None = None) -> Replay:
    """Read everything under the paths and say what is stuck.

    Raises UsageError for a path or a moment that is not there, UnreadableError if no file of it was understood.
    """
    with _collector_off():
        return _replayed(paths, options or Options(), progress or _silent)


@contextmanager
def _collector_off() -> Iterator[None]:
    """No garbage collection while an incident is read: all of it stays, and walking it costs half as much again.

    What a large one leaves behind is taken out of the collector's sight, else the first pass would walk it after all.
    """
    if not gc.isenabled():
        yield  # somebody further out has decided
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _FROZEN_FROM:
            gc.freeze()
        gc.enable()


def _replayed(paths: Sequence[str], options: Options, tell: Progress) -> Replay:
    tell("reading", 0)
    opened = open_documents(paths, lambda stage: tell(stage, 0))
    tell("reading", 0)
    sorted_out = sort_out(opened.documents, SOURCES)
    if not sorted_out.by_source:
        broken = [note for note in opened.archives if note.complaints]
        raise UnreadableError(_nothing_understood(paths, opened.paths, [*broken, *opened.unread, *sorted_out.unknown]))
    recordings = [source.read(mine, options=options.read) for source, mine in sorted_out.by_source]
    owners = {
        document.index: recording
        for recording, (_, mine) in zip(recordings, sorted_out.by_source, strict=True)
        for document in mine
    }
    engine = Engine(options.limits)
    timeline = Timeline(recordings, options.at_ns, engine.due_ns)
    changes = _fold(engine, timeline, tell)
    if options.at_ns is not None and not timeline.events and timeline.first_ns is not None:
        raise UsageError(
            f"Nothing is known as early as {format_time(options.at_ns)}: the first moment in this input is "
            f"{format_time(timeline.first_ns)}."
        )
    read = [note for recording in recordings for note in recording.notes]
    notes = [*opened.archives, *opened.unread, *sorted_out.unknown, *read]
    if not any(note.records for note in read) and any(note.skipped for note in read):
        raise UnreadableError(_nothing_understood(paths, opened.paths, notes))

    begin_ns = _begin_ns(options, timeline)

    def locate(citation: Citation) -> CitationRow:
        owner = owners.get(citation[0])
        line = None if owner is None else owner.line_of(*citation)
        return CitationRow(opened.paths[citation[0]], line)

    tell("explaining", timeline.events)
    told = _Told(changes, begin_ns)
    return Replay(_report(engine, timeline, told, (opened.paths, notes), locate), engine, sorted_out.by_source)


def _begin_ns(options: Options, timeline: Timeline) -> int | None:
    """Where the window begins; None if all of the history was asked for."""
    if options.from_ns is None and options.last_ns is None:
        return None
    end_ns = timeline.as_of_ns
    if end_ns is None:
        raise UsageError("This input tells no time, so there is no part of its history to choose.")
    begin_ns = options.from_ns if options.from_ns is not None else max(0, end_ns - (options.last_ns or 0))
    if begin_ns > end_ns:
        raise UsageError(
            f"There is nothing from {format_time(begin_ns)} on: the last moment that is taken in is "
            f"{format_time(end_ns)}."
        )
    return begin_ns


class _Told:
    """The changes of a replay, split at the begin of the window: what lies in it, and what was open before."""

    def __init__(self, changes: Sequence[FindingChange], begin_ns: int | None) -> None:
        self.begin_ns = begin_ns
        self.within = [change for change in changes if begin_ns is None or change.at_ns >= begin_ns]
        open_then: dict[str, FindingChange] = {}
        for change in changes[: len(changes) - len(self.within)]:
            if change.kind is ChangeKind.RESOLVED:
                del open_then[change.finding.id]
            else:
                open_then[change.finding.id] = change
        self.open_before = tuple(open_then.values())


def _fold(engine: Engine, timeline: Timeline, tell: Progress) -> list[FindingChange]:
    changes: list[FindingChange] = []
    told = 0
    for at_one_time in timeline.turns():
        if isinstance(at_one_time, Tick):
            changes.extend(engine.step(at_one_time))
        else:
            engine.take(at_one_time)
        if timeline.events >= told:
            tell("replaying", timeline.events)
            told = timeline.events + _EVENTS_PER_NEWS
    return changes


def _report(
    engine: Engine,
    timeline: Timeline,
    told: _Told,
    files: tuple[Sequence[str], Sequence[FileNote]],
    locate: Callable[[Citation], CitationRow],
) -> Report:
    open_now = engine.findings()
    still_open = {one.finding.id for one in open_now}
    # Whoever loops can go on each time it is looked at; it must not be said in one report that it will.
    stated = {actor for one in open_now for actor in (*one.finding.members, *one.finding.blocked_behind)}
    resolved: dict[str, FindingChange] = {}
    for change in told.within:
        if change.kind is ChangeKind.RESOLVED and change.finding.id not in still_open:
            resolved[change.finding.id] = change  # of several episodes, the last
    closed = sorted(resolved.values(), key=lambda change: (change.at_ns, change.finding.id))
    paths, notes = files
    return Report(
        as_of=None if timeline.as_of_ns is None else format_time(timeline.as_of_ns),
        sources=tuple(
            source_row(
                paths[note.index],
                note.kind,
                (note.records, note.skipped),
                (note.first_ns, note.last_ns),
                ((complaint.line, complaint.text) for complaint in note.complaints),
            )
            for note in sorted(notes, key=lambda note: note.index)
        ),
        findings=(
            *(finding_row(one.finding, one.opened_ns, None, locate) for one in open_now),
            *(finding_row(change.finding, change.opened_ns, change.at_ns, locate) for change in closed),
        ),
        waiting=tuple(waiting_row(waiting) for waiting in engine.waiting() if waiting.actor not in stated),
        history=tuple(change_row(change) for change in told.within),
        remarks=(
            *(() if timeline.peopled else (_NOBODY,)),
            *(remark_row(remark, locate) for remark in engine.remarks),
        ),
        window=None
        if told.begin_ns is None
        else window_row(told.begin_ns, timeline.as_of_ns or told.begin_ns, told.open_before),
    )


def _nothing_understood(arguments: Sequence[str], paths: Sequence[str], notes: Sequence[FileNote]) -> str:
    """One sentence about what was handed over, and one about what to hand over instead."""
    hint = (
        "Hand over the output of `kubectl get nodes,pods,events -A -o json`, of `scontrol show job` and "
        "`scontrol show node`, a folder of such files, or facts (schema: knotwatch.facts/v1)."
    )
    if not paths:
        return f"{' '.join(arguments)}: there is no file in it. {hint}"
    reasons = [reason for note in sorted(notes, key=lambda note: note.index) for reason in _reasons(paths, note)]
    rest = f"; and {len(reasons) - _REASONS_MAX} more" if len(reasons) > _REASONS_MAX else ""
    return f"Nothing in the input was understood: {'; '.join(reasons[:_REASONS_MAX])}{rest}. {hint}"


def _reasons(paths: Sequence[str], note: FileNote) -> Sequence[str]:
    path = paths[note.index]
    if not note.complaints:
        return [f"{path} is of no kind that is known here"]
    places = ((f"{path}:{one.line}:" if one.line else path, one.text.rstrip(".")) for one in note.complaints)
    return [f"{place} {text}" for place, text in places]


def _silent(_stage: str, _events: int) -> None:
    return
