"""Slurm's JSON to elements of its lists, each with its line; one broken element leaves its neighbours.

Slurm writes one object whose keys hold lists (`jobs`, `nodes`...). The text is walked list by list, so that a file that
was cut off gives all that came before the cut, and an element that is damaged costs itself.
"""

import json
import re
from collections.abc import Iterator

from msgspec import Struct

_BLANK = re.compile(r"\s*")
_decode = json.JSONDecoder().raw_decode


class Element(Struct, frozen=True):
    """An element of the list under `key`, or the value itself where it is no list (`listed` false).

    Where a list begins there is an element without a value, so that an empty one is seen.
    """

    key: str
    value: object
    line: int
    listed: bool


class Broken(Struct, frozen=True):
    """The text breaks the rules of JSON here. `lost`: nothing after it could be read."""

    line: int
    text: str
    lost: bool


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._counted_to = 0
        self._line = 1

    def line(self, at: int) -> int:
        """The line of this place; asked in rising order."""
        self._line += self.text.count("\n", self._counted_to, at)
        self._counted_to = max(at, self._counted_to)
        return self._line

    def blank(self) -> str:
        """Skip blanks; the next letter, or nothing at the end."""
        while self.text[self.at : self.at + 1].isspace():
            found = _BLANK.match(self.text, self.at)
            self.at = self.at + 1 if found is None else max(found.end(), self.at + 1)
        return self.text[self.at : self.at + 1]

    def value(self) -> object:
        """The value that begins here."""
        value, self.at = _decode(self.text, self.at)
        return value


def elements(text: str) -> Iterator[Element | Broken]:
    """All elements of all lists of all objects in the text, in order."""
    walk = _Walk(text)
    while True:
        start = text.find("{", walk.at)
        if start < 0:
            return
        walk.at = start + 1
        for each in _object(walk):
            yield each
            if isinstance(each, Broken) and each.lost:
                return


def _object(walk: _Walk) -> Iterator[Element | Broken]:
    while True:
        letter = walk.blank()
        if letter == ",":
            walk.at += 1
            continue
        if letter == "}":
            walk.at += 1
            return
        try:
            key = walk.value() if letter == '"' else None
            if not isinstance(key, str) or walk.blank() != ":":
                raise ValueError
            walk.at += 1
            if walk.blank() == "[":
                walk.at += 1
                yield Element(key, None, walk.line(walk.at), listed=False)
            else:
                line = walk.line(walk.at)
                yield Element(key, walk.value(), line, listed=False)
                continue
        except (ValueError, RecursionError):
            yield Broken(walk.line(walk.at), _words(letter), lost=True)
            return
        for each in _list(walk, key):
            yield each
            if isinstance(each, Broken) and each.lost:
                return


def _list(walk: _Walk, key: str) -> Iterator[Element | Broken]:
    while True:
        letter = walk.blank()
        if letter == ",":
            walk.at += 1
            continue
        if letter == "]":
            walk.at += 1
            return
        start = walk.at
        line = walk.line(start)
        try:
            yield Element(key, walk.value(), line, listed=True)
        except (ValueError, RecursionError):
            resumed = _next_alike(walk.text, start)
            yield Broken(line, _words(walk.text[start : start + 1]), lost=resumed is None)
            if resumed is None:
                return
            walk.at = resumed


def _next_alike(text: str, start: int) -> int | None:
    """Where the next element of this list begins, or the list ends, told by its indentation; None without any."""
    begin = text.rfind("\n", 0, start) + 1
    indent = text[begin:start]
    if not begin or indent.strip() or not indent:
        return None
    found = re.compile(rf"\n(?:{indent}\{{|{indent[: len(indent) // 2]}[ \t]?\])").search(text, start)
    if found is None:
        return None
    return found.end() - 1


def _words(letter: str) -> str:
    return "the JSON breaks off here" if not letter else "this is not valid JSON"
