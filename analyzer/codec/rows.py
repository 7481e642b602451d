"""Values of the core to rows of the report: times become text, citations become file and line."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from analyzer.codec.report import (
    ActionRow,
    ChangeRow,
    CitationRow,
    CostRow,
    EdgeRow,
    FindingRow,
    Note,
    RemarkRow,
    SourceRow,
    WaitingRow,
    WindowRow,
)
from analyzer.codec.times import format_time
from analyzer.model.events import Citation, Remarked
from analyzer.model.findings import Action, ChangeKind, Edge, Finding, FindingChange, Waiting

Locate = Callable[[Citation], CitationRow]
"""Finds file and line of a record; asked only for what a report shows."""


def finding_row(finding: Finding, opened_ns: int, resolved_ns: int | None, locate: Locate) -> FindingRow:
    """The finding as the report shows it; open if it was not resolved."""
    return FindingRow(
        id=finding.id,
        rule=finding.rule,
        verdict=finding.verdict,
        strength=finding.strength,
        certainty=finding.certainty,
        state="open" if resolved_ns is None else "resolved",
        opened_at=format_time(opened_ns),
        since=format_time(finding.since_ns),
        resolved_at=None if resolved_ns is None else format_time(resolved_ns),
        layers=finding.layers,
        members=finding.members,
        blocked_behind=finding.blocked_behind,
        cleared=finding.cleared,
        root=finding.root,
        edges=tuple(_edge_row(edge) for edge in finding.edges),
        idle_gpus=finding.idle_gpus,
        summary=finding.summary,
        actions=tuple(_action_row(action) for action in finding.actions),
        citations=_citation_rows(finding.citations, locate),
        cycle=finding.cycle,
        dissolves_at=None if finding.dissolves_ns is None else format_time(finding.dissolves_ns),
        method=finding.method,
        details=finding.details,
    )


def waiting_row(waiting: Waiting) -> WaitingRow:
    """Somebody who waits and is not stuck."""
    return WaitingRow(
        actor=waiting.actor,
        since=format_time(waiting.since_ns),
        needs=waiting.needs,
        first_to_finish=waiting.first_to_finish,
        note=waiting.note,
        excuse=waiting.excuse,
    )


def change_row(change: FindingChange) -> ChangeRow:
    """One line of the history."""
    finding = change.finding
    return ChangeRow(
        at=format_time(change.at_ns),
        change=change.kind,
        id=finding.id,
        verdict=finding.verdict,
        summary=finding.summary,
        stuck=len(finding.members) + len(finding.blocked_behind),
        idle_gpus=finding.idle_gpus,
    )


def window_row(from_ns: int, to_ns: int, open_before: Iterable[FindingChange]) -> WindowRow:
    """The window, with what was open at its start, earliest first."""
    earliest = sorted(open_before, key=lambda change: (change.opened_ns, change.finding.id))
    rows = (replace(change_row(one), at=format_time(one.opened_ns), change=ChangeKind.OPENED) for one in earliest)
    return WindowRow(start=format_time(from_ns), end=format_time(to_ns), open_before=tuple(rows))


def remark_row(remark: Remarked, locate: Locate) -> RemarkRow:
    """One remark."""
    return RemarkRow(
        kind=remark.kind,
        subject=remark.subject,
        text=remark.text,
        citations=_citation_rows(remark.citations, locate),
    )


def source_row(
    path: str,
    kind: str,
    counts: tuple[int, int],
    times: tuple[int | None, int | None],
    notes: Iterable[tuple[int, str]],
) -> SourceRow:
    """One input file; `counts` are records understood and skipped, a note's line 0 means the whole file."""
    first, last = (None if time is None else format_time(time) for time in times)
    return SourceRow(
        path=path,
        kind=kind,
        records=counts[0],
        skipped=counts[1],
        first=first,
        last=last,
        notes=tuple(Note(line or None, text) for line, text in notes),
    )


def _edge_row(edge: Edge) -> EdgeRow:
    return EdgeRow(
        waiter=edge.waiter,
        holder=edge.holder,
        resource=edge.resource,
        amount=edge.amount,
        hardness=edge.hardness,
        since=format_time(edge.since_ns),
        assumption=edge.assumption,
    )


def _action_row(action: Action) -> ActionRow:
    price = action.cost
    return ActionRow(
        kind=action.kind,
        actor=action.actor,
        frees=dict(action.frees),
        then_runs=action.then_runs,
        cost=CostRow(
            gpu_hours_lost=None if price.gpu_hours_lost is None else round(price.gpu_hours_lost, 3),
            gpus=price.gpus,
            priority=price.priority,
            useless=price.useless,
        ),
        together_with=action.together_with,
    )


def _citation_rows(citations: Iterable[Citation], locate: Locate) -> tuple[CitationRow, ...]:
    """Each place once, by path and line."""
    rows = {(row.path, row.line or 0): row for row in map(locate, citations)}
    return tuple(rows[key] for key in sorted(rows))
