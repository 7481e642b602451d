"""Log text in blocks of lines, whatever wraps it, with the places in the document that the lines come from."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from analyzer.sources.mapped import Buffer, line_blocks, line_ends

HEAD_BYTES = 1 << 16

Line = tuple[int, int | None, bytes]
"""The line of the document where it begins (from 0), when its wrapper took it down, and its text without an end."""


class Block(Struct, frozen=True):
    """Whole lines, each ended but perhaps the last. `records`: where in the document each begins (its line from 0).

    `times_ns`: when a wrapper took each down, None where it does not say; empty where nothing wraps them.
    """

    text: bytes
    records: Sequence[int] = ()
    times_ns: Sequence[int | None] = ()


class LogText(Protocol):
    """One log. `records` (lines of the document) is known once all blocks were asked for."""

    @property
    def head(self) -> Block:
        """The first lines, all of them, from 64 KiB of the document."""
        ...

    @property
    def records(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    def blocks(self) -> Iterator[Block]:
        """All lines that may matter, in order; others may be left out."""
        ...

    def start(self, size_bytes: int) -> bytes:
        """The first bytes, as they are in the document; of a wrapped log its head alone."""
        ...

    def end(self, size_bytes: int) -> Block:
        """The last lines, all of them, from so many bytes of the document; the first may be cut."""
        ...


class PlainLog:
    """A document that is a log as it is."""

    def __init__(self, content: Buffer) -> None:
        self._content = content
        self.head = Block(bytes(content[:HEAD_BYTES]))
        self.records = 0
        self.size_bytes = len(content)

    def blocks(self) -> Iterator[Block]:
        for lines in line_blocks(self._content):
            self.records = lines.number + line_ends(lines.text) + (not lines.text.endswith(b"\n"))
            yield Block(lines.text, range(lines.number, self.records))

    def start(self, size_bytes: int) -> bytes:
        return bytes(self._content[:size_bytes])

    def end(self, size_bytes: int) -> Block:
        return Block(bytes(self._content[max(0, self.size_bytes - size_bytes) :]))


def joined(lines: Iterable[Line]) -> Block:
    """A block of unwrapped lines; a text of several lines is as many."""
    texts: list[bytes] = []
    records: list[int] = []
    times_ns: list[int | None] = []
    for record, at_ns, text in lines:
        for part in text.split(b"\n"):
            texts.append(part)
            records.append(record)
            times_ns.append(at_ns)
    texts.append(b"")
    return Block(b"\n".join(texts), records, times_ns)
