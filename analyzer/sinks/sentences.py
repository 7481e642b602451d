"""Sentences and lists that text and page have in common: what a report says, without how it looks.

Nothing here decides anything: it words the rows of a report.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from analyzer.codec.report import NO_ACTORS, FindingRow, RemarkRow, Report, SourceRow, WaitingRow
from analyzer.explain.words import held, principal, span
from analyzer.model.events import ExcuseKind
from analyzer.model.findings import Verdict
from analyzer.model.ids import ResourceId, kind_of
from analyzer.sinks.phrases import LINES_MAX, NAMES_MAX, clock, gpus, names, plural, span_between

Mood = Literal["bad", "unsure", "good"]

_NOT_JUDGED = frozenset((ExcuseKind.BLIND, ExcuseKind.DISPUTED))
_NOT_UNDERSTOOD = "not understood"
_COST = "Cost so far: "
_TOLD_ELSEWHERE = (_COST, "Evicting ", "Releasing what is held by ", "Blocked behind,")
"""Details of a finding that stand under a heading of their own; what is not known here is told under Why."""

_NOUNS = {
    Verdict.DEADLOCK: "deadlock",
    Verdict.ORPHANED_HOLD: "orphaned hold",
    Verdict.UNPLACEABLE: "request that can never be met",
    Verdict.LIVELOCK: "livelock",
    Verdict.HANG: "hang",
    Verdict.MISMATCH: "mismatch",
}

_OUTLOOKS = (
    (2, "Waiting, and could not be judged"),
    (1, "Waiting, while somebody is acting"),
    (0, "Waiting, and will go on"),
)
_REMARKS = (
    ("disagreement", "Where the objects and the scheduler disagree, so nothing is claimed"),
    ("inconsistency", "Where the input contradicts itself"),
    ("blind_spot", "What could not be known"),
    ("assumption", "What was taken for granted"),
    ("notice", "Worth knowing"),
)


def headline(report: Report) -> tuple[str, Mood]:
    """The one sentence that comes first, and how good the news is."""
    still_open = [row for row in report.findings if row.state == "open"]
    when = "" if report.as_of is None else f" at {clock(report.as_of)}"
    if still_open:
        counts = Counter(_NOUNS[row.verdict] for row in still_open)
        what = ", ".join(f"{count} {plural(noun, count)}" for noun, count in counts.items())
        stuck = stuck_count(report)
        idle = sum(row.idle_gpus for row in still_open)
        behind = f", and {gpus(idle)} {'idles' if idle == 1 else 'idle'} with them" if idle else ""
        loops = all(row.verdict is Verdict.LIVELOCK for row in still_open)
        fate = ("gets nowhere" if stuck == 1 else "get nowhere") if loops else "cannot go on"
        unjudged = sum(row.excuse in _NOT_JUDGED for row in report.waiting)
        others = f" {unjudged} {plural('other', unjudged)} could not be judged." if unjudged else ""
        return f"{what}{when}: {stuck} {plural('actor', stuck)} {fate}{behind}.{others}", "bad"
    if any(remark.subject == NO_ACTORS for remark in report.remarks):
        return f"Nothing can be said{when}: nobody is in this input.", "unsure"
    passed = " What was stuck on the way has resolved." if report.findings else ""
    unsure = any(row.excuse in _NOT_JUDGED for row in report.waiting)
    proven = " proven" if unsure else ""
    return f"Nothing is{proven} stuck{when}. {_prospects(report.waiting)}{passed}", "unsure" if unsure else "good"


def stuck_count(report: Report) -> int:
    """How many actors cannot go on."""
    still_open = [row for row in report.findings if row.state == "open"]
    return len({actor for row in still_open for actor in (*row.members, *row.blocked_behind)})


def _prospects(rows: Sequence[WaitingRow]) -> str:
    """What is known about those who wait, in one sentence that claims no more than that."""
    waiting = "One actor waits" if len(rows) == 1 else f"{len(rows):,} actors wait"
    go_on, acted_on, unjudged = ([row for row in rows if _outlook(row) == outlook] for outlook in range(3))
    if len(go_on) == len(rows):
        return f"{waiting}, and {'it' if len(rows) == 1 else 'all of them'} will go on." if rows else "Nobody waits."
    parts = (
        f"{len(go_on):,} will go on" if go_on else "",
        f"for {len(acted_on):,} somebody is acting" if acted_on else "",
        f"{len(unjudged):,} could not be judged" if unjudged else "",
    )
    return f"{waiting}: {names([part for part in parts if part], NAMES_MAX)}."


def _outlook(row: WaitingRow) -> int:
    """0: it is proven to go on; 1: somebody is acting; 2: it could not be judged."""
    if row.excuse is None:
        return 0
    return 2 if row.excuse in _NOT_JUDGED else 1


def verdict_words(verdict: Verdict) -> str:
    """`ORPHANED HOLD`."""
    return verdict.replace("_", " ")


def doubts(row: FindingRow) -> tuple[str, ...]:
    """What makes a finding less than an open one that is proven and lasts."""
    return (
        *(() if row.certainty == "proven" else ("suspected",)),
        *(("will dissolve by itself",) if row.strength == "soft" else ()),
    )


def title(row: FindingRow) -> str:
    """Verdict and doubts of a finding in one line."""
    state = " (resolved)" if row.state == "resolved" else ""
    return f"{', '.join((verdict_words(row.verdict), *doubts(row)))}{state}"


def standing(row: FindingRow, report: Report) -> str:
    """Since when, and for how long."""
    end = row.resolved_at or report.as_of
    lasting = span_between(row.since, end)
    lasts = f" ({span(lasting)})" if lasting is not None else ""
    until = f" until {clock(row.resolved_at)}" if row.resolved_at else ""
    dissolves = f", dissolves by {clock(row.dissolves_at)}" if row.dissolves_at else ""
    if report.as_of is None:
        return f"Since when is not known: the input tells no time{dissolves}."
    return f"Since {clock(row.since)}{until}{lasts}{dissolves}."


def holdings(row: FindingRow) -> list[tuple[str, str]]:
    """Who holds what the others need, those with most first."""
    by_holder: dict[str, dict[ResourceId, int]] = {}
    for edge in row.edges:
        if edge.resource is not None:
            by_holder.setdefault(edge.holder, {})[ResourceId(edge.resource)] = edge.amount
    lacked = {kind_of(resource) for holds in by_holder.values() for resource in holds}
    first = principal(lacked)
    # Who loops loses all it has each time: then only its cards tell.
    kinds = () if row.verdict is Verdict.LIVELOCK else lacked
    most = sorted(by_holder, key=lambda holder: (-_sum_of(first, by_holder[holder]), holder))
    return [(holder, held(sorted(by_holder[holder].items()), kinds)) for holder in most]


def _sum_of(kind: str | None, holds: Mapping[ResourceId, int]) -> int:
    return sum(amount for resource, amount in holds.items() if kind_of(resource) == kind)


def needed_kinds(row: FindingRow) -> set[str]:
    """Kinds of resources that somebody waits for."""
    return {kind_of(ResourceId(edge.resource)) for edge in row.edges if edge.resource is not None}


def has_pods(report: Report) -> bool:
    """Whether what is stuck can be reached with kubectl."""
    return any(source.kind.startswith("kubernetes") for source in report.sources)


def costs(row: FindingRow, report: Report) -> list[str]:
    """What the wait has cost so far."""
    told = [detail.removeprefix(_COST) for detail in row.details if detail.startswith(_COST)]
    lasting = span_between(row.since, report.as_of)
    if not told and row.idle_gpus and lasting:
        told = [f"{gpus(row.idle_gpus)} idle for {span(lasting)}."]
    return told


def reasons(row: FindingRow) -> list[str]:
    """Why it is claimed, but for what stands under a heading of its own."""
    return [detail for detail in row.details if not detail.startswith(_TOLD_ELSEWHERE)]


def places(row: FindingRow) -> list[str]:
    """File and lines, each file once."""
    by_path: dict[str, list[int]] = {}
    for citation in row.citations:
        by_path.setdefault(citation.path, []).extend([] if citation.line is None else [citation.line])
    return [_place(path, by_path[path]) for path in sorted(by_path)]


def _place(path: str, lines: Sequence[int]) -> str:
    rest = f" and {len(lines) - LINES_MAX:,} more" if len(lines) > LINES_MAX else ""
    return f"{path}:{', '.join(map(str, lines[:LINES_MAX]))}{rest}" if lines else path


def waiting_groups(report: Report) -> Iterator[tuple[str, list[list[WaitingRow]]]]:
    """Those who wait under a heading each, who wait for the same together.

    First those of whom least is known; among them whoever has waited longest: a reader is likely to ask about it.
    """
    for outlook, heading in _OUTLOOKS:
        rows = [row for row in report.waiting if _outlook(row) == outlook]
        alike: dict[tuple[str, str], list[WaitingRow]] = {}
        for row in sorted(rows, key=lambda row: (row.since, row.actor)):
            alike.setdefault((row.needs, next_step(row)), []).append(row)
        if rows:
            yield heading, list(alike.values())


def wish(row: WaitingRow) -> str:
    """What it needs; empty if its wait was not understood."""
    return "" if row.needs == "nothing" and _outlook(row) else row.needs


def next_step(row: WaitingRow) -> str:
    """What has to happen first."""
    if row.note or not row.first_to_finish:
        return row.note or "nobody stands in its way"
    return f"first to finish: {names(row.first_to_finish, NAMES_MAX)}"


def waited(rows: Sequence[WaitingRow], report: Report) -> str:
    """For how long the first of them has waited; empty if the input tells no time."""
    lasting = span_between(rows[0].since, report.as_of)
    return "" if lasting is None else f"for {'up to ' if len(rows) > 1 else ''}{span(lasting)}"


def remark_groups(report: Report) -> Iterator[tuple[str, list[str]]]:
    """What has to be said beside the rest, but for what has been said of those who wait."""
    told = {(row.actor, row.note) for row in report.waiting}
    for kind, heading in _REMARKS:
        of_kind = (remark for remark in report.remarks if remark.kind == kind)
        mine = [_remark(remark) for remark in of_kind if (remark.subject, remark.text) not in told]
        if mine:
            yield heading, mine


def _remark(remark: RemarkRow) -> str:
    place = remark.citations[0] if remark.citations else None
    where = "" if place is None else f" ({place.path}{'' if place.line is None else f':{place.line}'})"
    subject = "" if remark.subject in remark.text else f"{remark.subject}: "
    return f"{subject}{remark.text}{where}"


def unread(sources: Sequence[SourceRow]) -> list[str]:
    """Files that nobody knew, and entries that were skipped."""
    mute = [row.path for row in sources if row.kind == _NOT_UNDERSTOOD and not row.notes]
    lines = [f"{row.path} {row.notes[0].text}" for row in sources if row.kind == _NOT_UNDERSTOOD and row.notes]
    if len(mute) == 1:
        lines.append(f"{mute[0]} is of no kind that is known here")
    elif mute:
        others = len(mute) - 1
        lines.append(f"{mute[0]} and {others} more {plural('file', others)} are of no kind that is known here")
    return [
        *lines,
        *(f"{row.path}: {row.skipped} of {row.records + row.skipped} records" for row in sources if row.skipped),
    ]
