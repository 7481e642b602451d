"""Tables of squeue, sinfo, sacct, sacctmgr, ps: divided by a sign, or by width.

Widths are not written down anywhere. A line of dashes under the heading gives them (sacct, sacctmgr); else columns end
where their headings end (squeue aligns to the right) or begin where they begin (sinfo aligns to the left), whichever
cuts fewer values. A row that is cut all the same is divided by blanks.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

_WORD = re.compile(r"\S+")
_HEADING = re.compile(r"|[A-Z][\w()/:%+\-]*(?: [A-Z]\w*)?")
_DASHES = re.compile(r"-+(?:[ ]-+)*\s*")


class Row(Struct, frozen=True):
    """A row: its line in the document, and the value under each heading (headings in capitals).

    A heading that comes twice (`squeue -o %all`) keeps all its values in `every`; `cells` has the first.
    """

    line: int
    cells: dict[str, str]
    every: tuple[tuple[str, str], ...]


class Table(Struct, frozen=True):
    """All rows that fit, and the lines of those that do not."""

    rows: tuple[Row, ...]
    misfits: tuple[int, ...]


def headings(line: str) -> list[str]:
    """The headings of a line, in capitals; divided by `|` if there is one, else by blanks. None for prose.

    Slurm writes them in capitals, or each with a capital first (`JobID`, `Def QOS`).
    """
    parts = [part.strip() for part in (line.rstrip("\r\n").split("|") if "|" in line else line.split())]
    return [part.upper() for part in parts] if all(_HEADING.fullmatch(part) for part in parts) else []


def read_table(lines: Sequence[tuple[int, str]]) -> Table:
    """The table whose heading is the first of these numbered lines."""
    heading = lines[0][1]
    body = [(number, text) for number, text in lines[1:] if text.strip()]
    if "|" in heading:
        return _divided(headings(heading), body)
    if body and _DASHES.fullmatch(body[0][1]):
        cuts = [(mark.start(), mark.end()) for mark in re.finditer(r"-+", body[0][1])]
        names = [heading[start:end].strip().upper() for start, end in cuts]
        return _sliced(names, cuts, body[1:])
    names = headings(heading)
    places = [(mark.start(), mark.end()) for mark in _WORD.finditer(heading)]
    fitting = [(cuts, [_uncut(text, cuts) for _, text in body]) for cuts in (_ends(places), _starts(places))]
    cuts, fits = max(fitting, key=lambda one: sum(one[1]))
    straight = _sliced(names, cuts, [row for row, fit in zip(body, fits, strict=True) if fit])
    crooked = _by_blanks(names, [row for row, fit in zip(body, fits, strict=True) if not fit])
    rows = sorted((*straight.rows, *crooked.rows), key=lambda row: row.line)
    return Table(tuple(rows), tuple(sorted((*straight.misfits, *crooked.misfits))))


def _divided(names: Sequence[str], body: Sequence[tuple[int, str]]) -> Table:
    rows, misfits = [], []
    for number, text in body:
        values = text.rstrip("\r\n").split("|")
        if len(values) == len(names) + 1 and not values[-1]:
            values.pop()  # --parsable ends every line with the sign, and the heading as well
        if len(values) != len(names):
            misfits.append(number)
        else:
            rows.append(_row(number, names, values))
    return Table(tuple(rows), tuple(misfits))


def _sliced(names: Sequence[str], cuts: Sequence[tuple[int, int]], body: Sequence[tuple[int, str]]) -> Table:
    rows, misfits = [], []
    last = len(cuts) - 1
    for number, text in body:
        values = [text[start : None if place == last else end].strip() for place, (start, end) in enumerate(cuts)]
        if len(values) != len(names) or (not values[0] and not any(values[1:])):
            misfits.append(number)
        else:
            rows.append(_row(number, names, values))
    return Table(tuple(rows), tuple(misfits))


def _by_blanks(names: Sequence[str], body: Sequence[tuple[int, str]]) -> Table:
    """The last column takes the rest of the line, so blanks in it do no harm."""
    rows, misfits = [], []
    for number, text in body:
        values = text.split(None, len(names) - 1)
        if len(values) != len(names):
            misfits.append(number)
        else:
            rows.append(_row(number, names, [value.strip() for value in values]))
    return Table(tuple(rows), tuple(misfits))


def _row(number: int, names: Sequence[str], values: Sequence[str]) -> Row:
    cells: dict[str, str] = {}
    for name, value in zip(names, values, strict=True):
        cells.setdefault(name, value.strip())
    return Row(number, cells, tuple(zip(names, (value.strip() for value in values), strict=True)))


def _ends(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    starts = [0, *(end for _, end in places[:-1])]
    return [(start, end) for start, (_, end) in zip(starts, places, strict=True)]


def _starts(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    ends = [*(start for start, _ in places[1:]), 1 << 20]
    return [(0 if not at else start, end) for at, ((start, _), end) in enumerate(zip(places, ends, strict=True))]


def _uncut(text: str, cuts: Sequence[tuple[int, int]]) -> bool:
    """Whether no cut goes through a word, and no column but the last is without a value."""
    for start, end in cuts[:-1]:
        if len(text) <= start or not text[start:end].strip():
            return False
        if end < len(text) and text[end - 1 : end].strip() and text[end : end + 1].strip():
            return False
    return True
