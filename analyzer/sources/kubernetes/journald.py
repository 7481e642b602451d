"""Logs wrapped by somebody else, unwrapped: journald's JSON and export forms, and container logs with partial lines.

What comes out is plain log text with, for each line of it, the line of the document that it comes from and the time
at which the wrapper took it down. Forms that only put something before each line need no unwrapping: the readers of
lines look behind it.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from analyzer.sources.kubernetes.decoding import REFUSED, Buffer
from analyzer.sources.kubernetes.digits import is_whole
from analyzer.sources.kubernetes.times import parse_ns

_PEEK_BYTES = 1 << 16
_JOURNAL_JSON = re.compile(rb'\s*\x1e?\{(?=[^\n]*"__REALTIME_TIMESTAMP"\s*:)[^\n]*"MESSAGE"\s*:')
_JOURNAL_EXPORT = re.compile(rb"(?:[A-Z_][A-Z0-9_]*=[^\n]*\n)*?__REALTIME_TIMESTAMP=\d+\n")
_CONTAINER = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(?:Z|[+-]\d\d:?\d\d) (?:stdout|stderr) "
_PARTIAL = re.compile(rb"^" + _CONTAINER + rb"P(?::[^ \n]*)? ", re.MULTILINE)
_CONTAINER_FULL = re.compile(rb"^" + _CONTAINER + rb"[PF](?::[^ \n]*)? ", re.MULTILINE)
_KUBE_UNIT = re.compile(rb"^[A-Z\d][\w:+-]+(?: +\d+ [\d:]+)? \S+ kube[\w-]*\[\d+\]: ", re.MULTILINE)
_CONTAINER_LINE = re.compile(rb"^(\S+) (stdout|stderr) ([PF])(?::[^ \n]*)? ?([^\r\n]*)\r?$", re.MULTILINE)
_MICROSECOND_NS = 1000


class Unwrapped(Struct, frozen=True):
    """`text` is plain log text. Its line number `n` begins in line `records[n]` of the document, both from 0.

    `times_ns` are those of the wrapper, None where it did not say.
    """

    text: bytes
    records: list[int]
    times_ns: list[int | None]


_Line = tuple[int, int | None, bytes]


def unwrap(content: Buffer) -> Unwrapped | None:
    """The log inside; None if these bytes are a log as it is."""
    head = bytes(content[:_PEEK_BYTES])
    if _JOURNAL_JSON.match(head) is not None:
        lines = _of_json(content)
    elif is_journal_export(head):
        lines = _of_export(content)
    elif _CONTAINER_FULL.search(head) is not None and _PARTIAL.search(content) is not None:
        lines = _of_container(content)
    else:
        return None
    texts: list[bytes] = []
    records: list[int] = []
    times_ns: list[int | None] = []
    for record, at_ns, text in lines:
        for part in text.split(b"\n"):
            texts.append(part)
            records.append(record)
            times_ns.append(at_ns)
    texts.append(b"")
    return Unwrapped(b"\n".join(texts), records, times_ns)


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


class _Entry(Struct, frozen=True):
    """`message` is a list of bytes where it is no text."""

    message: str | list[int] | None = msgspec.field(name="MESSAGE", default=None)
    at_us: str | int | None = msgspec.field(name="__REALTIME_TIMESTAMP", default=None)


def _of_json(content: Buffer) -> Iterator[_Line]:
    decode = msgspec.json.Decoder(_Entry).decode
    for record, line in enumerate(bytes(content).split(b"\n")):
        try:
            entry = decode(line.strip(b"\x1e \t\r"))
        except REFUSED:
            continue
        message = entry.message
        if isinstance(message, list):
            text = bytes(byte for byte in message if 0 <= byte < 256)
        else:
            text = (message or "").encode("utf-8", "replace")
        yield record, _microseconds_ns(entry.at_us), text


def _of_export(content: Buffer) -> Iterator[_Line]:
    """Fields are `NAME=value`, or the name alone, eight bytes of length, and as many bytes and a line end."""
    whole = bytes(content)
    at, record = 0, 0
    message: _Line | None = None
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


def _of_container(content: Buffer) -> Iterator[_Line]:
    """Partial lines (P) belong to the next lines of the same stream up to a full one (F)."""
    begun: dict[bytes, tuple[int, int | None, list[bytes]]] = {}
    for record, line in enumerate(bytes(content).split(b"\n")):
        found = _CONTAINER_LINE.match(line)
        if found is None:
            if line:
                yield record, None, line
            continue
        stream = found[2]
        if stream not in begun:
            begun[stream] = (record, parse_ns(found[1].decode("ascii", "replace")), [])
        start, at_ns, parts = begun[stream]
        parts.append(found[4])
        if found[3] == b"F":
            del begun[stream]
            yield start, at_ns, b"".join(parts)
    for start, at_ns, parts in sorted(begun.values(), key=lambda one: one[0]):
        yield start, at_ns, b"".join(parts)


def _microseconds_ns(text: str | int | None) -> int | None:
    if isinstance(text, str):
        return int(text) * _MICROSECOND_NS if is_whole(text) else None
    return None if text is None else text * _MICROSECOND_NS
