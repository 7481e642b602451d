"""Logs wrapped by somebody else, unwrapped: journald's JSON and export forms, and container logs with partial lines.

What comes out is plain log text with, for each line of it, the line of the document that it comes from and the time
at which the wrapper took it down. Forms that only put something before each line need no unwrapping: the readers of
lines look behind it.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.decoding import REFUSED
from analyzer.sources.kubernetes.log_text import HEAD_BYTES, Block, Line, LogText, joined
from analyzer.sources.kubernetes.message_places import lines_at, one_of
from analyzer.sources.mapped import LINE_MAX_BYTES, Buffer, Lines, finder, line_blocks, line_ends

_PEEK_BYTES = 1 << 16
_JOURNAL_JSON = re.compile(rb'\s*\x1e?\{(?=[^\n]*"__REALTIME_TIMESTAMP"\s*:)[^\n]*"MESSAGE"\s*:')
_JOURNAL_EXPORT = re.compile(rb"(?:[A-Z_][A-Z0-9_]*=[^\n]*\n)*?__REALTIME_TIMESTAMP=\d+\n")
_CONTAINER = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(?:Z|[+-]\d\d:?\d\d) (?:stdout|stderr) "
_PARTIAL = re.compile(rb"^" + _CONTAINER + rb"P(?::[^ \n]*)? ", re.MULTILINE)
_CONTAINER_FULL = re.compile(rb"^" + _CONTAINER + rb"[PF](?::[^ \n]*)? ", re.MULTILINE)
_KUBE_UNIT = re.compile(rb"^[A-Z\d][\w:+-]+(?: +\d+ [\d:]+)? \S+ kube[\w-]*\[\d+\]: ", re.MULTILINE)
_CONTAINER_LINE = re.compile(rb"(\S+) (stdout|stderr) ([PF])(?::[^ \n]*)? ?([^\r\n]*)\r?(?:\n|$)")
_PARTIAL_MARK = re.compile(rb" P[ :]")
_STAMP_MAX_BYTES = 80
_MESSAGE_OF_NUMBERS = re.compile(rb'E"\s*:\s*\[')
_MICROSECOND_NS = 1000


def unwrapped(content: Buffer, messages: Iterable[str]) -> LogText | None:
    """The log inside, of which the lines with one of these messages matter; None if it is a log as it is."""
    head = bytes(content[:_PEEK_BYTES])
    if _JOURNAL_JSON.match(head) is not None:
        return _Journal(content, messages)
    if is_journal_export(head):
        return _AtOnce(joined(_of_export(bytes(content))), len(content))
    if _CONTAINER_FULL.search(head) is not None and _has_partial_lines(content):
        return _Container(content)
    return None


def is_journal_export(head: bytes) -> bool:
    """Whether this is the export form of journald: fields one a line, entries apart by an empty line."""
    return _JOURNAL_EXPORT.match(head) is not None


def is_wrapped(head: bytes) -> bool:
    """Whether something else took these lines down: a container runtime, or journald; either may be Slurm's."""
    if _KUBE_UNIT.search(head) is not None:
        return True
    wrapped = (
        is_journal_export(head) or _JOURNAL_JSON.match(head) is not None or _CONTAINER_FULL.search(head) is not None
    )
    return wrapped and (b"slurm" not in head or b"kube" in head)


class _AtOnce:
    """A wrapped log that was unwrapped as a whole."""

    def __init__(self, block: Block, size_bytes: int) -> None:
        self._block = block
        self.head = Block(block.text[:HEAD_BYTES], block.records, block.times_ns)
        self.records = len(block.records)
        self.size_bytes = size_bytes

    def blocks(self) -> Iterator[Block]:
        yield self._block

    def start(self, size_bytes: int) -> bytes:
        return self._block.text[:size_bytes]

    def end(self, size_bytes: int) -> Block:  # noqa: ARG002  it is all there: nothing is saved by cutting it
        return self._block


def _whole_lines(head: bytes, size: int) -> Lines:
    """Without the last line if it goes on behind."""
    return Lines(0, head if len(head) == size else head[: head.rfind(b"\n") + 1] or head)


class _Entry(Struct, frozen=True):
    """`message` is a list of bytes where it is no text."""

    message: str | list[int] | None = msgspec.field(name="MESSAGE", default=None)
    at_us: str | int | None = msgspec.field(name="__REALTIME_TIMESTAMP", default=None)


class _Journal:
    """journald's JSON: an object a line. Inside of it quotes and tabs before a message stand behind a backslash."""

    def __init__(self, content: Buffer, messages: Iterable[str]) -> None:
        self._content = content
        self._wanted = re.compile(rb'\\(?:"|t)(?:' + one_of(messages) + rb")")
        self._decode = msgspec.json.Decoder(_Entry).decode
        self.head = self._all(_whole_lines(bytes(content[:HEAD_BYTES]), len(content)))
        self.records = 0
        self.size_bytes = len(content)

    def blocks(self) -> Iterator[Block]:
        for lines in line_blocks(self._content):
            text = lines.text
            self.records = lines.number + line_ends(text) + (not text.endswith(b"\n"))
            if b"[" in text and _MESSAGE_OF_NUMBERS.search(text) is not None:
                yield self._all(lines)
                continue
            places = (found.start() for found in self._wanted.finditer(text))
            found = ((lines.number + at, text[start:end]) for at, start, end in lines_at(text, places))
            yield joined(line for number, raw in found for line in self._line(number, raw))

    def start(self, size_bytes: int) -> bytes:
        return self.head.text[:size_bytes]

    def end(self, size_bytes: int) -> Block:
        return self._all(Lines(0, bytes(self._content[max(0, self.size_bytes - size_bytes) :])))

    def _all(self, lines: Lines) -> Block:
        numbered = enumerate(lines.text.split(b"\n"), lines.number)
        return joined(line for number, raw in numbered for line in self._line(number, raw))

    def _line(self, number: int, line: bytes) -> Iterator[Line]:
        try:
            entry = self._decode(line.strip(b"\x1e \t\r"))
        except REFUSED:
            return
        message = entry.message
        if isinstance(message, list):
            text = bytes(byte for byte in message if 0 <= byte < 256)
        else:
            text = (message or "").encode("utf-8", "replace")
        yield number, _microseconds_ns(entry.at_us), text


def _of_export(whole: bytes) -> Iterator[Line]:
    """Fields are `NAME=value`, or the name alone, eight bytes of length, and as many bytes and a line end."""
    at, record = 0, 0
    message: Line | None = None
    at_ns: int | None = None
    while at < len(whole):
        end = whole.find(b"\n", at)
        end = len(whole) if end < 0 else end
        name, sign, value = whole[at:end].partition(b"=")
        begun = record
        record += 1
        at = end + 1
        if not name:
            if message is not None:
                yield message[0], at_ns, message[2]
            message, at_ns = None, None
            continue
        if not sign:
            size = int.from_bytes(whole[at : at + 8], "little")
            value = whole[at + 8 : at + 8 + size]
            after = min(at + 8 + size + 1, len(whole))
            record += whole.count(b"\n", at, after)
            at = after
        if name == b"MESSAGE":
            message = (begun, None, value)
        elif name == b"__REALTIME_TIMESTAMP":
            at_ns = _microseconds_ns(value.decode("ascii", "replace"))
    if message is not None:
        yield message[0], at_ns, message[2]


def _has_partial_lines(content: Buffer) -> bool:
    find = finder(content)
    at = find(b" P", 0, len(content))
    while at >= 0:
        near = max(0, at - _STAMP_MAX_BYTES)
        line = near + bytes(content[near:at]).rfind(b"\n") + 1
        if _PARTIAL.match(content, line) is not None:
            return True
        at = find(b" P", at + 1, len(content))
    return False


class _Container:
    """A container's log: partial lines (P) belong to the next lines of the same stream up to a full one (F).

    They come out as one full line; all others stay as they are.
    """

    def __init__(self, content: Buffer) -> None:
        self._content = content
        self.head = self._whole(_whole_lines(bytes(content[:HEAD_BYTES]), len(content)))
        self.records = 0
        self.size_bytes = len(content)

    def blocks(self) -> Iterator[Block]:
        begun: _Begun = {}
        for lines in line_blocks(self._content):
            self.records = lines.number + line_ends(lines.text) + (not lines.text.endswith(b"\n"))
            if begun or b" P" in lines.text:
                yield _put_together(lines, begun)
            else:
                yield Block(lines.text, range(lines.number, self.records))
        yield _unfinished(begun)

    def start(self, size_bytes: int) -> bytes:
        return self._whole(Lines(0, bytes(self._content[:size_bytes]))).text

    def end(self, size_bytes: int) -> Block:
        return self._whole(Lines(0, bytes(self._content[max(0, self.size_bytes - size_bytes) :])))

    def _whole(self, lines: Lines) -> Block:
        begun: _Begun = {}
        found, rest = _put_together(lines, begun), _unfinished(begun)
        return Block(found.text + rest.text, [*found.records, *rest.records])


class _Parts(Struct):
    """Of a line in parts: the line of the document where it began, its time, and the parts so far."""

    record: int
    at: bytes
    parts: list[bytes]
    size_bytes: int = 0

    def add(self, part: bytes) -> None:
        """One more; of a line that is longer than any the rest is left out."""
        if self.size_bytes <= LINE_MAX_BYTES:
            self.parts.append(part)
            self.size_bytes += len(part)

    def as_line(self, stream: bytes) -> bytes:
        return b"%b %b F %b\n" % (self.at, stream, b"".join(self.parts))


_Begun = dict[bytes, _Parts]
"""By stream."""


def _put_together(lines: Lines, begun: _Begun) -> Block:
    """The block with lines for their parts; parts that go on behind it are left in `begun`."""
    text, number, at = lines.text, lines.number, 0
    texts: list[bytes] = []
    records: list[int] = []
    while at < len(text):
        if not begun:
            mark = _PARTIAL_MARK.search(text, at)
            start = text.rfind(b"\n", at, mark.start()) + 1 or at if mark is not None else len(text)
            texts.append(text[at:start])
            count = line_ends(texts[-1]) + (start == len(text) and not text.endswith(b"\n"))
            records.extend(range(number, number + count))
            number, at = number + count, start
            if mark is None:
                break
        end = text.find(b"\n", at) + 1 or len(text)
        found = _CONTAINER_LINE.match(text, at, end)
        if found is None or (found[3] == b"F" and found[2] not in begun):
            texts.append(text[at:end])
            records.append(number)
        else:
            stream = found[2]
            if stream not in begun:
                begun[stream] = _Parts(number, found[1], [])
            begun[stream].add(found[4])
            if found[3] == b"F":
                whole = begun.pop(stream)
                texts.append(whole.as_line(stream))
                records.append(whole.record)
        number, at = number + 1, end
    return Block(b"".join(texts), records)


def _unfinished(begun: _Begun) -> Block:
    """What was never finished, since the log was cut off."""
    found = sorted(begun.items(), key=lambda item: item[1].record)
    return Block(b"".join(whole.as_line(stream) for stream, whole in found), [whole.record for _, whole in found])


def _microseconds_ns(text: str | int | None) -> int | None:
    if isinstance(text, str):
        return int(text) * _MICROSECOND_NS if is_whole(text) else None
    return None if text is None else text * _MICROSECOND_NS
