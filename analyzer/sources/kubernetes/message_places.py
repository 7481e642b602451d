"""Where the messages that matter stand in the text of a log, found quickly: nearly all lines say something else.

A pattern is quick if it begins with a rare letter, since the bytes before it are passed over without looking at each.
A message stands behind a quote or a tab in every form, and in most forms behind something rarer.
"""

import re
from collections.abc import Iterable, Iterator

from analyzer.sources.mapped import line_ends

_NO_OBJECT = re.compile(rb"\n[^{\n]")
"""A line that begins otherwise."""


def one_of(messages: Iterable[str]) -> bytes:
    """A pattern of these texts, the longest first, so that none hides another."""
    return b"|".join(re.escape(one.encode()) for one in sorted(messages, key=lambda text: (-len(text), text)))


class MessagePlaces:
    """Finds messages in whole lines of plain log text."""

    def __init__(self, messages: Iterable[str]) -> None:
        texts = one_of(messages)
        self._as_value = re.compile(rb'"m(?:sg|essage)"\s*:\s*"(?:' + texts + rb")")
        self._quoted = re.compile(rb'"(?:' + texts + rb")")
        self._any = re.compile(rb'["\t](?:' + texts + rb")")

    def of(self, text: bytes) -> list[int]:
        """Offsets near the messages, in order, at least one in each line that has one; others may be among them."""
        pattern = self._quoted
        if _is_all_json(text):
            pattern = self._as_value
        elif b"\t" in text:
            pattern = self._any
        return [found.start() for found in pattern.finditer(text)]


def lines_at(text: bytes, places: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """(its number in the text from 0, start, end without the line end) of each line with one of these places."""
    number = counted_to = done = 0
    for at in places:
        if at < done:
            continue
        start = text.rfind(b"\n", done, at) + 1 or done
        end = text.find(b"\n", at)
        done = end if end >= 0 else len(text)
        number += line_ends(text[counted_to:start])
        counted_to = start
        yield number, start, done


def _is_all_json(text: bytes) -> bool:
    """Whether each line is an object, perhaps behind the stamp of a container runtime."""
    if text.startswith(b"{"):
        return _NO_OBJECT.search(text) is None
    return text.count(b" F {") == line_ends(text) + (not text.endswith(b"\n"))
