"""The figures as text, as JSON, and as the table in README.md."""

import platform
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from benchmarks.rows import Figure, Row

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- figures: written by `python -m benchmarks --write` -->", "<!-- end of figures -->"
Measured = tuple[Row, Sequence[Figure]]


def line(figure: Figure) -> str:
    """One figure for a terminal: what, how much, the spread, the bar, and whether it is met."""
    words = [f"  {figure.case}: {value_text(figure)}"]
    if figure.low is not None and figure.high is not None:
        words.append(f"({figure.low:.3g} to {figure.high:.3g}; {figure.subject} against {figure.yardstick})")
    if figure.bar is not None:
        words.append(f"bar {_number(figure.bar, figure.unit)}: {figure.verdict}")
    return " ".join(words)


def value_text(figure: Figure) -> str:
    """`1.62x`, `412 MB`."""
    return _number(figure.value, figure.unit)


def as_json(measured: Sequence[Measured]) -> str:
    """All figures as one document, for other programs."""
    rows = [
        {
            "row": row.command,
            "what": row.what,
            "yardstick": row.yardstick,
            "figures": [msgspec.to_builtins(figure) | {"verdict": figure.verdict} for figure in figures],
        }
        for row, figures in measured
    ]
    return msgspec.json.format(msgspec.json.encode({"machine": machine(), "rows": rows}), indent=2).decode()


def machine() -> str:
    """What the figures were taken on."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("msgspec", "networkx"))
    return f"{platform.machine()}, CPython {platform.python_version()}, {versions}"


def markdown(measured: Sequence[Measured]) -> str:
    """The table of README.md."""
    lines = [f"Taken on {machine()}.", "", "| row | case | figure | spread | subject | yardstick | bar | |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for row, figures in measured:
        for one in figures:
            spread = f"{one.low:.3g} - {one.high:.3g}" if one.low is not None and one.high is not None else ""
            bar = "" if one.bar is None else _number(one.bar, one.unit)
            cells = [
                f"`{row.command}`",
                one.case,
                value_text(one),
                spread,
                one.subject,
                one.yardstick,
                bar,
                one.verdict,
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write(measured: Sequence[Measured], path: Path = README) -> None:
    """Puts the table between its two marks in README.md; the rest stays."""
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    path.write_text(pattern.sub(lambda _: f"{BEGIN}\n\n{markdown(measured)}\n\n{END}", text), encoding="utf-8")


def _number(value: float, unit: str) -> str:
    return f"{value:.3g}x" if unit == "x" else f"{value:,.0f} {unit}"
