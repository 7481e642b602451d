"""The answer of `knotwatch whatif` for a tired reader: safe or not, then each actor that was asked about."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from analyzer.codec.whatif import ActorRow, AskedRow, SafetyRow, TurnRow, WhatIf
from analyzer.explain import words
from analyzer.graph.safety import Safety
from analyzer.hypothesis import Fate, Turn
from analyzer.model.ids import ResourceId
from analyzer.sinks.console import TextFormat, drawn, harmless, indented
from analyzer.sinks.phrases import NAMES_MAX, ROWS_MAX, clock, more, names

if TYPE_CHECKING:
    from rich.console import RenderableType

ORDER_MAX = 8
"""Names of the order that are shown; JSON has all."""

_COLORS = {
    Fate.STARTS_NOW: "bold green",
    Fate.RUNS: "bold green",
    Fate.WAITS: "bold yellow",
    Fate.NOT_JUDGED: "bold yellow",
    Fate.NEVER: "bold red",
    Fate.EVICTED: "bold",
}
_TURNS = {Turn.OPENS: "This would open", Turn.REMAINS: "This would remain", Turn.RESOLVES: "This would resolve"}


def whatif_text(answer: WhatIf, form: TextFormat) -> str:
    """The question, the verdict, the actors, the findings, what was taken for granted; ends with one line end."""
    return drawn(list(_parts(harmless(answer))), form)


def _parts(answer: WhatIf) -> Iterator["RenderableType"]:
    from rich.text import Text

    yield Text(f"What if, at {clock(answer.as_of)}: {'; '.join(map(_asked, answer.asked))}?")
    yield ""
    yield Text(verdict(answer.safety), "bold green" if answer.safe else "bold red")
    yield from (Text(text, "bold yellow") for text in answer.unfinished[:ROWS_MAX])
    yield from more(len(answer.unfinished), "pods that stay")
    for row in answer.actors[:ROWS_MAX]:
        yield ""
        yield from _actor(row)
    yield from more(len(answer.actors), "actors")
    for turn in Turn:
        yield from _findings(_TURNS[turn], [row for row in answer.findings if row.turn is turn])
    yield from _listed("They were stuck and could go on", answer.go_on)
    yield from _listed("They could go on and would be stuck", answer.get_stuck)
    yield from _order(answer)
    if answer.not_asked:
        loops = [f"{row.verdict} {row.id}: {names(row.members, NAMES_MAX)}" for row in answer.not_asked]
        yield from _told("Not asked, since it is a matter of history", loops)
    yield from _told("Taken for granted", answer.notes)


def _asked(row: AskedRow) -> str:
    match row.do:
        case "evict":
            return f"{row.subject} is evicted"
        case "submit":
            return f"{row.subject} is submitted"
        case "drain":
            return f"{row.subject} is drained"
        case "add-node":
            return f"{row.subject} is added"
        case "priority":
            return f"{row.subject} has priority {row.value}"
        case _:
            assert_never(row.do)


def verdict(safety: Safety | SafetyRow) -> str:
    """Safe or not, in one sentence, and who is left out."""
    if not safety.stuck and not safety.left_over:
        believed = "" if safety.exact else " (a placement was too large to search, and was believed)"
        return f"Safe: all who wait can be served in one order, and those that end can end{believed}."
    told = []
    if safety.stuck:
        told.append(f"{words.counted(len(safety.stuck), 'actor')} could never go on")
    if safety.left_over:
        found = "there is no order" if safety.exact else "no order was found"
        told.append(f"{found} that serves {names(safety.left_over, NAMES_MAX)} beside the others")
    return f"Not safe: {', and '.join(told)}."


def _actor(row: ActorRow) -> Iterator["RenderableType"]:
    from rich.text import Text

    held = [(ResourceId(resource), count) for resource, count in row.units.items()]
    line = Text(row.actor)
    line.append(f"  {fate_in_words(row.fate)}", _COLORS[row.fate])
    yield line
    match row.fate:
        case Fate.EVICTED:
            told = [f"frees {words.held(held)}"]
        case Fate.STARTS_NOW:
            told = [f"needs {row.needs}, and finds it free" if row.needs else f"takes {words.held(held)}"]
        case Fate.RUNS:
            told = [f"holds {words.held(held)}"]
        case Fate.WAITS:
            first = [f"{names(row.waits_for, NAMES_MAX)} must finish first"] if row.waits_for else []
            told = [f"needs {row.needs}", *first]
        case Fate.NEVER | Fate.NOT_JUDGED:
            told = [f"needs {row.needs}", *row.reasons]
        case _:
            assert_never(row.fate)
    if row.note:
        told.append(row.note)
    if row.change:
        told.append(f"what would start it: {row.change}")
    for text in told:
        yield indented(Text(text))


def fate_in_words(fate: Fate) -> str:
    """Such as "could start now"."""
    match fate:
        case Fate.STARTS_NOW:
            return "could start now"
        case Fate.RUNS:
            return "runs"
        case Fate.WAITS:
            return "waits, and will go on"
        case Fate.NEVER:
            return "never goes on"
        case Fate.NOT_JUDGED:
            return "cannot be judged"
        case Fate.EVICTED:
            return "evicted"
        case _:
            assert_never(fate)


def _findings(head: str, rows: Sequence[TurnRow]) -> Iterator["RenderableType"]:
    texts = [
        f"{row.verdict} {row.id}: {names(row.members, NAMES_MAX) if row.turn is Turn.RESOLVES else row.summary}"
        for row in rows
    ]
    yield from _told(head, texts)


def _listed(head: str, actors: Sequence[str]) -> Iterator["RenderableType"]:
    yield from _told(head, actors)


def _order(answer: WhatIf) -> Iterator["RenderableType"]:
    order = answer.safety.order
    if order:
        shown = ", ".join(order[:ORDER_MAX])
        rest = f", and {len(order) - ORDER_MAX:,} more" if len(order) > ORDER_MAX else ""
        yield from _told("Those who wait can be served in this order", [shown + rest])


def _told(head: str, texts: Sequence[str]) -> Iterator["RenderableType"]:
    from rich.text import Text

    if texts:
        yield ""
        yield Text(head, "bold cyan")
        for text in texts[:ROWS_MAX]:
            yield indented(Text(text))
        yield from more(len(texts), "")
