"""The chain of reasons as an indented tree."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analyzer.explain import Progress, Reason, Why
from analyzer.hypothesis import SmallestChange
from analyzer.sinks.console import TextFormat, drawn, harmless
from analyzer.sinks.phrases import NAMES_MAX, names
from analyzer.sinks.whatif_text import fate_in_words, verdict

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.tree import Tree

_COLORS = {Progress.STUCK: "bold red", Progress.WAITS: "bold yellow", Progress.RUNS: "bold green"}


def why_text(answer: Why, change: SmallestChange | None, form: TextFormat) -> str:
    """The answer, the reasons below it, what would start the actor and the proof; ends with one line end."""
    return drawn([*_parts(harmless(answer)), *(() if change is None else _change(change))], form)


def _parts(answer: Why) -> Iterator["RenderableType"]:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(answer.answer, _COLORS.get(answer.progress, "bold")), guide_style="dim")
    for reason in answer.reasons:
        _grow(tree, reason)
    yield tree


def _change(change: SmallestChange) -> Iterator["RenderableType"]:
    """What to do, and what the question "what if?" answers to it."""
    from rich.text import Text

    then = change.outlook
    waits = f": {names(then.waits_for, NAMES_MAX)} must finish first" if then.waits_for else ""
    note = f" ({then.note})" if then.note else ""
    proof = f"After that {then.actor} {fate_in_words(then.fate)}{waits}{note}. {verdict(change.safety)}"
    yield ""
    yield Text("The smallest change that starts it", "bold cyan")
    for told in (change.text, proof):
        yield Text(harmless(Reason(told)).text)


def _grow(tree: "Tree", reason: Reason) -> None:
    from rich.text import Text

    branch = tree.add(Text(reason.text))
    for deeper in reason.because:
        _grow(branch, deeper)
