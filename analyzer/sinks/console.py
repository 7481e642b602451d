"""Rich text to plain strings: the one place that knows rich's console."""

from io import StringIO
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, convert, to_builtins

if TYPE_CHECKING:
    from rich.console import RenderableType


class TextFormat(Struct, frozen=True):
    """Width in columns, whether colours may be used, and whether signs beyond ASCII may, such as blocks."""

    width: int
    colored: bool
    blocks: bool = False


Shown = TypeVar("Shown", bound=Struct)

_CONTROLS = dict.fromkeys((*range(10), *range(11, 32), *range(127, 160)), "�")


def harmless(shown: Shown) -> Shown:
    """The same value without control characters in any text: a recording must not steer its reader's terminal."""
    return convert(_cleaned(to_builtins(shown)), type(shown))


def without_controls(text: str) -> str:
    """The same for a text by itself."""
    return text.translate(_CONTROLS)


def _cleaned(value: object) -> object:
    match value:
        case str():
            return without_controls(value)
        case dict():
            return {key: _cleaned(item) for key, item in value.items()}
        case list() | tuple():
            return [_cleaned(item) for item in value]
        case _:
            return value


def drawn(parts: "list[RenderableType]", form: TextFormat) -> str:
    """The parts below each other, without blanks at line ends; the same text with and without colours."""
    from rich.console import Console
    from rich.text import Text

    paper = StringIO()
    console = Console(
        file=paper,
        width=form.width,
        force_terminal=form.colored,
        color_system="standard" if form.colored else None,
        no_color=not form.colored,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
    return "\n".join(line.rstrip() for line in paper.getvalue().split("\n"))


def verbatim(line: str) -> "RenderableType":
    """One line that stays one line however narrow the paper is: somebody will copy it."""
    from rich.text import Text

    return Text(line, no_wrap=True)


def indented(part: "RenderableType") -> "RenderableType":
    """Two columns to the right, all lines of it."""
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, 2))


def item(marker: str, text: str) -> "RenderableType":
    """An item of a list: the marker, and the text with all its lines below each other."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=len(marker), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(marker, text)
    return indented(grid)


def markdown_text(page: str, form: TextFormat) -> str:
    """A Markdown page as a terminal shows it."""
    from rich.markdown import Markdown

    return drawn([Markdown(page)], form)
