"""The report for somebody tired: one sentence first, then each finding, then who merely waits, then what is unsure.

Each finding answers in this order: what is the matter, who holds what, what to do and what that costs, what it has cost
so far, why we say so, where it is written. Nothing here decides anything: it shows the rows of a report.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from analyzer.codec.report import NO_ACTORS, FindingRow, RemarkRow, Report, SourceRow, WaitingRow
from analyzer.explain.words import held, principal, span
from analyzer.model.events import ExcuseKind
from analyzer.model.findings import ChangeKind, Verdict
from analyzer.model.ids import ResourceId, kind_of
from analyzer.sinks.console import TextFormat, drawn, harmless, indented, item, verbatim
from analyzer.sinks.phrases import (
    LINES_MAX,
    NAMES_MAX,
    ROWS_MAX,
    WAYS_MAX,
    action_text,
    clock,
    commands,
    gpus,
    joined,
    more,
    names,
    plural,
    span_between,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

_GAP = "  "
_WHOLE_MAX = 5
"""Findings told at length: those with most idle GPUs come first."""

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


def report_text(report: Report, form: TextFormat) -> str:
    """The report as text, ending with one line end. The same report and format give the same text."""
    return drawn(list(_parts(harmless(report), form.width)), form)


def _parts(report: Report, width: int) -> Iterator["RenderableType"]:
    yield _headline(report)
    still_open = [row for row in report.findings if row.state == "open"]
    for finding in still_open[:_WHOLE_MAX]:
        yield ""
        yield from _finding(finding, report, width)
    yield from _also(still_open[_WHOLE_MAX:])
    resolved = [row for row in report.findings if row.state == "resolved"]
    for finding in resolved[-WAYS_MAX:]:
        yield ""
        yield from _finding(finding, report, width)
    yield from _history(report)
    yield from _waiting(report)
    yield from _remarks(report)
    yield from _unread(report.sources)


def _headline(report: Report) -> "RenderableType":
    from rich.text import Text

    still_open = [row for row in report.findings if row.state == "open"]
    when = "" if report.as_of is None else f" at {clock(report.as_of)}"
    if still_open:
        counts = Counter(_NOUNS[row.verdict] for row in still_open)
        what = ", ".join(f"{count} {plural(noun, count)}" for noun, count in counts.items())
        stuck = len({actor for row in still_open for actor in (*row.members, *row.blocked_behind)})
        idle = sum(row.idle_gpus for row in still_open)
        behind = f", and {gpus(idle)} {'idles' if idle == 1 else 'idle'} with them" if idle else ""
        loops = all(row.verdict is Verdict.LIVELOCK for row in still_open)
        fate = ("gets nowhere" if stuck == 1 else "get nowhere") if loops else "cannot go on"
        unjudged = sum(row.excuse in _NOT_JUDGED for row in report.waiting)
        others = f" {unjudged} {plural('other', unjudged)} could not be judged." if unjudged else ""
        return Text(f"{what}{when}: {stuck} {plural('actor', stuck)} {fate}{behind}.{others}", "bold red")
    if any(remark.subject == NO_ACTORS for remark in report.remarks):
        return Text(f"Nothing can be said{when}: nobody is in this input.", "bold yellow")
    passed = " What was stuck on the way has resolved." if report.findings else ""
    unjudged = any(row.excuse in _NOT_JUDGED for row in report.waiting)
    proven, color = (" proven", "yellow") if unjudged else ("", "green")
    return Text(f"Nothing is{proven} stuck{when}. {_prospects(report.waiting)}{passed}", f"bold {color}")


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


def _finding(row: FindingRow, report: Report, width: int) -> Iterator["RenderableType"]:
    from rich.rule import Rule
    from rich.text import Text

    color = "red" if row.state == "open" else "green"
    yield Rule(Text(_title(row), f"bold {color}"), align="left", characters="-", style=color)
    yield Text(row.summary, "bold")
    yield Text(_standing(row, report), "dim")
    if row.state == "resolved":
        return
    for heading, lines in (
        ("Who holds what", _holding(row, width)),
        ("What to do, best first", _doing(row, report)),
        ("What it has cost so far", _cost(row, report)),
        ("Blocked behind", [indented(names(row.blocked_behind, ROWS_MAX))] if row.blocked_behind else []),
        ("Cleared", [indented(names(row.cleared, ROWS_MAX))] if row.cleared else []),
        ("Why", [item("-", detail) for detail in row.details if not detail.startswith(_TOLD_ELSEWHERE)]),
        ("Where it is written", _evidence(row)),
    ):
        if lines:
            yield ""
            yield Text(heading, "bold cyan")
            yield from lines


def _also(rows: Sequence[FindingRow]) -> Iterator["RenderableType"]:
    """Those that come after the first few: one sentence each."""
    from rich.text import Text

    if rows:
        yield ""
        yield Text("Also stuck", "bold cyan")
        for row in rows[:ROWS_MAX]:
            yield item("-", f"{_title(row)} {row.id}\n{row.summary}")
        yield from more(len(rows), "(--format json lists all)")


def _title(row: FindingRow) -> str:
    doubt = "" if row.certainty == "proven" else ", suspected"
    soft = ", will dissolve by itself" if row.strength == "soft" else ""
    state = " (resolved)" if row.state == "resolved" else ""
    return f"{row.verdict.replace('_', ' ')}{doubt}{soft}{state}"


def _standing(row: FindingRow, report: Report) -> str:
    """Since when, for how long, and under which name it can be found again."""
    end = row.resolved_at or report.as_of
    lasting = span_between(row.since, end)
    lasts = f" ({span(lasting)})" if lasting is not None else ""
    until = f" until {clock(row.resolved_at)}" if row.resolved_at else ""
    dissolves = f", dissolves by {clock(row.dissolves_at)}" if row.dissolves_at else ""
    if report.as_of is None:
        return f"Since when is not known: the input tells no time{dissolves}. {row.id}"
    return f"Since {clock(row.since)}{until}{lasts}{dissolves}. {row.id}"


def _holding(row: FindingRow, width: int) -> "list[RenderableType]":
    """Who holds what the others need, those with most first: side by side where it fits, else below each other."""
    from rich.table import Table

    by_holder: dict[str, dict[ResourceId, int]] = {}
    for edge in row.edges:
        if edge.resource is not None:
            by_holder.setdefault(edge.holder, {})[ResourceId(edge.resource)] = edge.amount
    lacked = {kind_of(resource) for holds in by_holder.values() for resource in holds}
    first = principal(lacked)
    # Who loops loses all it has each time: then only its cards tell.
    kinds = () if row.verdict is Verdict.LIVELOCK else lacked
    most = sorted(by_holder, key=lambda holder: (-_sum_of(first, by_holder[holder]), holder))
    rows = []
    for holder in most[:ROWS_MAX]:
        holds = sorted(by_holder[holder].items())
        rows.append((holder, held(holds, kinds)))
    longest = max((len(word) for _, text in rows for word in text.split()), default=0)
    widest = max((len(holder) for holder, _ in rows), default=0)
    if len(_GAP) + widest + len(_GAP) + max(longest, width // 3) > width:
        return [
            *(item("-", f"{holder}\nholds {text}") for holder, text in rows),
            *more(len(most), "who hold some of it"),
        ]
    grid = Table.grid(padding=(0, len(_GAP), 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for holder, text in rows:
        grid.add_row(holder, text)
    return [*([indented(grid)] if rows else []), *more(len(most), "who hold some of it")]


def _sum_of(kind: str | None, holds: Mapping[ResourceId, int]) -> int:
    return sum(amount for resource, amount in holds.items() if kind_of(resource) == kind)


def _doing(row: FindingRow, report: Report) -> "list[RenderableType]":
    lines: list[RenderableType] = []
    needed = {kind_of(ResourceId(edge.resource)) for edge in row.edges if edge.resource is not None}
    orphan = row.verdict is Verdict.ORPHANED_HOLD
    # Deleting what was deleted already and hangs does nothing, so an orphan gets no command.
    has_pods = not orphan and any(source.kind.startswith("kubernetes") for source in report.sources)
    actions = joined(row.actions)
    for number, action in enumerate(actions[:WAYS_MAX], 1):
        lines.append(item(f"{number}.", action_text(action, needed, orphan=orphan)))
        if has_pods:
            lines += [verbatim(f"     $ {command}") for command in commands(action)]
    return [*lines, *more(len(actions), "(--format json lists all)", WAYS_MAX)]


def _cost(row: FindingRow, report: Report) -> "list[RenderableType]":
    told = [detail.removeprefix(_COST) for detail in row.details if detail.startswith(_COST)]
    lasting = span_between(row.since, report.as_of)
    if not told and row.idle_gpus and lasting:
        told = [f"{gpus(row.idle_gpus)} idle for {span(lasting)}."]
    return [indented(text) for text in told]


def _evidence(row: FindingRow) -> "list[RenderableType]":
    """File and lines, each file once."""
    by_path: dict[str, list[int]] = {}
    for citation in row.citations:
        by_path.setdefault(citation.path, []).extend([] if citation.line is None else [citation.line])
    return [indented(_places(path, by_path[path])) for path in sorted(by_path)]


def _places(path: str, lines: Sequence[int]) -> str:
    rest = f" and {len(lines) - LINES_MAX:,} more" if len(lines) > LINES_MAX else ""
    return f"{path}:{', '.join(map(str, lines[:LINES_MAX]))}{rest}" if lines else path


def _history(report: Report) -> Iterator["RenderableType"]:
    """When findings opened and resolved, if any has resolved: else the findings themselves say it all."""
    from rich.text import Text

    told = [change for change in report.history if change.change is not ChangeKind.UPDATED]
    if all(change.change is ChangeKind.OPENED for change in told):
        return
    members = {row.id: row.members for row in report.findings}
    yield ""
    yield Text("How it went", "bold cyan")
    if len(told) > ROWS_MAX:
        yield indented(f"{len(told) - ROWS_MAX:,} earlier changes (--format json lists all)")
    for change in told[-ROWS_MAX:]:
        what = change.verdict.replace("_", " ").lower()
        who = names(members.get(change.id, ()), WAYS_MAX)
        yield item("-", f"{clock(change.at)} {change.change.value}: {what} of {who}")


def _waiting(report: Report) -> Iterator["RenderableType"]:
    """Those first of whom least is known; among them whoever has waited longest: a reader is likely to ask about it."""
    from rich.text import Text

    for outlook, heading in (
        (2, "Waiting, and could not be judged"),
        (1, "Waiting, while somebody is acting"),
        (0, "Waiting, and will go on"),
    ):
        rows = [row for row in report.waiting if _outlook(row) == outlook]
        alike: dict[tuple[str, str], list[WaitingRow]] = {}
        for row in sorted(rows, key=lambda row: (row.since, row.actor)):
            alike.setdefault((row.needs, _next(row)), []).append(row)
        shown = list(alike.items())[:ROWS_MAX]
        if rows:
            yield ""
            yield Text(heading, "bold cyan")
        for (needs, then), same in shown:
            asked = "" if needs == "nothing" and outlook else f"needs {needs}; "  # its wait was not understood
            yield item("-", f"{_waited(same, report)}\n{asked}{then}")
        rest = len(rows) - sum(len(same) for _, same in shown)
        yield from more(rest, "who have waited less long (--format json lists all)", 0)


def _next(row: WaitingRow) -> str:
    """What has to happen first."""
    if row.note or not row.first_to_finish:
        return row.note or "nobody stands in its way"
    return f"first to finish: {names(row.first_to_finish, NAMES_MAX)}"


def _waited(rows: Sequence[WaitingRow], report: Report) -> str:
    """Those who wait for the same, and for how long the first of them has."""
    lasting = span_between(rows[0].since, report.as_of)
    waited = "" if lasting is None else f" (for {'up to ' if len(rows) > 1 else ''}{span(lasting)})"
    return f"{names([row.actor for row in rows], NAMES_MAX)}{waited}"


def _remarks(report: Report) -> Iterator["RenderableType"]:
    """What has to be said beside the rest, but for what has been said of those who wait."""
    from rich.text import Text

    told = {(row.actor, row.note) for row in report.waiting}
    for kind, heading in (
        ("disagreement", "Where the objects and the scheduler disagree, so nothing is claimed"),
        ("inconsistency", "Where the input contradicts itself"),
        ("blind_spot", "What could not be known"),
        ("assumption", "What was taken for granted"),
    ):
        of_kind = (remark for remark in report.remarks if remark.kind == kind)
        mine = [remark for remark in of_kind if (remark.subject, remark.text) not in told]
        if mine:
            yield ""
            yield Text(heading, "bold cyan")
            for remark in mine[:ROWS_MAX]:
                yield item("-", _remark(remark))
            yield from more(len(mine), "")


def _remark(remark: RemarkRow) -> str:
    place = remark.citations[0] if remark.citations else None
    where = "" if place is None else f" ({place.path}{'' if place.line is None else f':{place.line}'})"
    subject = "" if remark.subject in remark.text else f"{remark.subject}: "
    return f"{subject}{remark.text}{where}"


def _unread(sources: Sequence[SourceRow]) -> Iterator["RenderableType"]:
    """Files that nobody knew, and entries that were skipped; each sentence stands on standard error as well."""
    from rich.text import Text

    mute = [row.path for row in sources if row.kind == _NOT_UNDERSTOOD and not row.notes]
    lines = [f"{row.path} {row.notes[0].text}" for row in sources if row.kind == _NOT_UNDERSTOOD and row.notes]
    if len(mute) == 1:
        lines.append(f"{mute[0]} is of no kind that is known here")
    elif mute:
        others = len(mute) - 1
        lines.append(f"{mute[0]} and {others} more {plural('file', others)} are of no kind that is known here")
    lines += [f"{row.path}: {row.skipped} of {row.records + row.skipped} records" for row in sources if row.skipped]
    if lines:
        yield ""
        yield Text("Not understood or not used", "bold cyan")
        yield from (indented(line) for line in lines[:ROWS_MAX])
        yield from more(len(lines), "files")
