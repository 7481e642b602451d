"""The chain of reasons as an indented tree."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analyzer.explain import Progress, Reason, Why
from analyzer.sinks.console import TextFormat, drawn, harmless

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.tree import Tree

_COLORS = {Progress.STUCK: "bold red", Progress.WAITS: "bold yellow", Progress.RUNS: "bold green"}


def why_text(answer: Why, form: TextFormat) -> str:
    """The answer, the reasons below it, and what would start the actor; ends with one line end."""
    return drawn(list(_parts(harmless(answer))), form)


def _parts(answer: Why) -> Iterator["RenderableType"]:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(answer.answer, _COLORS.get(answer.progress, "bold")), guide_style="dim")
    for reason in answer.reasons:
        _grow(tree, reason)
    yield tree
    if answer.change:
        yield ""
        yield Text("The smallest change that starts it", "bold cyan")
        yield Text(answer.change)


def _grow(tree: "Tree", reason: Reason) -> None:
    from rich.text import Text

    branch = tree.add(Text(reason.text))
    for deeper in reason.because:
        _grow(branch, deeper)
