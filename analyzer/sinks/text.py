"""The report for somebody tired: one sentence first, then each finding, then who merely waits, then what is unsure.

Each finding answers in this order: what is the matter, who holds what, what to do and what that costs, what it has cost
so far, why we say so, where it is written. Nothing here decides anything: it shows the rows of a report.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from analyzer.codec.report import FindingRow, Report, SourceRow
from analyzer.model.findings import Verdict
from analyzer.sinks.console import TextFormat, drawn, harmless, indented, item, verbatim
from analyzer.sinks.phrases import NAMES_MAX, ROWS_MAX, WAYS_MAX, action_text, commands, joined, more, names
from analyzer.sinks.sentences import (
    Mood,
    costs,
    has_pods,
    headline,
    holdings,
    needed_kinds,
    next_step,
    places,
    reasons,
    remark_groups,
    standing,
    title,
    unread,
    waited,
    waiting_groups,
    wish,
)
from analyzer.sinks.timeline_text import timeline_parts

if TYPE_CHECKING:
    from rich.console import RenderableType

_GAP = "  "
_WHOLE_MAX = 5
"""Findings told at length: those with most idle GPUs come first."""

_MOODS: dict[Mood, str] = {"bad": "bold red", "unsure": "bold yellow", "good": "bold green"}


def report_text(report: Report, form: TextFormat) -> str:
    """The report as text, ending with one line end. The same report and format give the same text."""
    return drawn(list(_parts(harmless(report), form)), form)


def _parts(report: Report, form: TextFormat) -> Iterator["RenderableType"]:
    from rich.text import Text

    sentence, mood = headline(report)
    yield Text(sentence, _MOODS[mood])
    still_open = [row for row in report.findings if row.state == "open"]
    for finding in still_open[:_WHOLE_MAX]:
        yield ""
        yield from _finding(finding, report, form.width)
    yield from _also(still_open[_WHOLE_MAX:])
    resolved = [row for row in report.findings if row.state == "resolved"]
    for finding in resolved[-WAYS_MAX:]:
        yield ""
        yield from _finding(finding, report, form.width)
    at_length = (*still_open[:_WHOLE_MAX], *resolved[-WAYS_MAX:])
    yield from timeline_parts(report, form, frozenset(row.id for row in at_length))
    yield from _waiting(report)
    yield from _remarks(report)
    yield from _unread(report.sources)


def _finding(row: FindingRow, report: Report, width: int) -> Iterator["RenderableType"]:
    from rich.rule import Rule
    from rich.text import Text

    color = "red" if row.state == "open" else "green"
    yield Rule(Text(title(row), f"bold {color}"), align="left", characters="-", style=color)
    yield Text(row.summary, "bold")
    yield Text(f"{standing(row, report)} {row.id}", "dim")
    if row.state == "resolved":
        return
    for heading, lines in (
        ("Who holds what", _holding(row, width)),
        ("What to do, best first", _doing(row, report)),
        ("What it has cost so far", [indented(text) for text in costs(row, report)]),
        ("Blocked behind", [indented(names(row.blocked_behind, ROWS_MAX))] if row.blocked_behind else []),
        ("Cleared", [indented(names(row.cleared, ROWS_MAX))] if row.cleared else []),
        ("Why", [item("-", reason) for reason in reasons(row)]),
        ("Where it is written", [indented(place) for place in places(row)]),
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
            yield item("-", f"{title(row)} {row.id}\n{row.summary}")
        yield from more(len(rows), "(--format json lists all)")


def _holding(row: FindingRow, width: int) -> "list[RenderableType]":
    """Who holds what the others need: side by side where it fits, else below each other."""
    from rich.table import Table

    held_by = holdings(row)
    rows = held_by[:ROWS_MAX]
    longest = max((len(word) for _, text in rows for word in text.split()), default=0)
    widest = max((len(holder) for holder, _ in rows), default=0)
    if len(_GAP) + widest + len(_GAP) + max(longest, width // 3) > width:
        return [
            *(item("-", f"{holder}\nholds {text}") for holder, text in rows),
            *more(len(held_by), "who hold some of it"),
        ]
    grid = Table.grid(padding=(0, len(_GAP), 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for holder, text in rows:
        grid.add_row(holder, text)
    return [*([indented(grid)] if rows else []), *more(len(held_by), "who hold some of it")]


def _doing(row: FindingRow, report: Report) -> "list[RenderableType]":
    lines: list[RenderableType] = []
    needed = needed_kinds(row)
    orphan = row.verdict is Verdict.ORPHANED_HOLD
    # Deleting what was deleted already and hangs does nothing, so an orphan gets no command.
    typed = not orphan and has_pods(report)
    actions = joined(row.actions)
    for number, action in enumerate(actions[:WAYS_MAX], 1):
        lines.append(item(f"{number}.", action_text(action, needed, orphan=orphan)))
        if typed:
            lines += [verbatim(f"     $ {command}") for command in commands(action)]
    return [*lines, *more(len(actions), "(--format json lists all)", WAYS_MAX)]


def _waiting(report: Report) -> Iterator["RenderableType"]:
    """Those who merely wait, who wait for the same together."""
    from rich.text import Text

    for heading, alike in waiting_groups(report):
        yield ""
        yield Text(heading, "bold cyan")
        for same in alike[:ROWS_MAX]:
            needs = wish(same[0])
            lasting = waited(same, report)
            who = f"{names([row.actor for row in same], NAMES_MAX)}{f' ({lasting})' if lasting else ''}"
            yield item("-", f"{who}\n{f'needs {needs}; ' if needs else ''}{next_step(same[0])}")
        rest = sum(len(same) for same in alike[ROWS_MAX:])
        yield from more(rest, "who have waited less long (--format json lists all)", 0)


def _remarks(report: Report) -> Iterator["RenderableType"]:
    from rich.text import Text

    for heading, lines in remark_groups(report):
        yield ""
        yield Text(heading, "bold cyan")
        yield from (item("-", line) for line in lines[:ROWS_MAX])
        yield from more(len(lines), "")


def _unread(sources: Sequence[SourceRow]) -> Iterator["RenderableType"]:
    """Files that nobody knew, and entries that were skipped; each sentence stands on standard error as well."""
    from rich.text import Text

    lines = unread(sources)
    if lines:
        yield ""
        yield Text("Not understood or not used", "bold cyan")
        yield from (indented(line) for line in lines[:ROWS_MAX])
        yield from more(len(lines), "files")
