"""What a command printed, without what is secret: the one door through which everything goes into the archive.

Objects are taken one by one from a list that may have a gigabyte, so memory holds one of them; each becomes a line of
its own. Text is taken line by line. What is not of the form that was promised is refused, never passed on as it is.
"""

import mmap
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from analyzer.collect.command import Redaction
from analyzer.collect.objects import redacted
from analyzer.collect.texts import MASK, is_credential, masked

Buffer = bytes | memoryview

_LINE_MAX_BYTES = 65_536
"""Longer lines of a log are somebody's file; they are cut."""
_BEGINS, _ENDS = "-----BEGIN ", "-----END "
_KEY_BLOCK_MAX_LINES = 200
"""A block that has not ended by then was no key: what follows is read again."""
_FREE_TEXTS = frozenset({"admin_comment", "comment", "environment", "extra", "script", "system_comment"})
"""Keys of Slurm's JSON under which people write what they like."""
_FREE_TEXT_IN_LINE = re.compile(r"(?P<key>(?<!\S)(?:Admin|System)?Comment=)\S[^=]*?(?=\s+\w+=|\s*$)")
"""The same in `scontrol show job`, up to the next key."""


class NotAsPromisedError(ValueError):
    """The output is not of the form that its command promises; the text says how, after the file's name."""


class _List(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] = {}
    items: list[Raw] | None = None


def written(kind: Redaction, raw: Path, clean: Path) -> int:
    """Write what may be given away of `raw` into `clean`; how many objects or lines that is.

    Raises NotAsPromisedError if it is JSON that breaks off or is none. Linear in the size; memory as said above, but
    for JSON that is no list of objects, which is read whole.
    """
    count = 0
    with raw.open("rb") as source, clean.open("wb") as sink:
        content: Buffer = b""
        if raw.stat().st_size:
            content = memoryview(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ))
        for piece, records in _PIECES[kind](content):
            sink.write(piece)
            count += records
    return count


def _object_pieces(content: Buffer) -> Iterator[tuple[bytes, int]]:
    try:
        whole = msgspec.json.decode(content, type=_List)
        if whole.items is None:
            yield msgspec.json.encode(redacted(msgspec.json.decode(content))) + b"\n", 1
            return
        head = {"apiVersion": whole.api_version, "kind": whole.kind, "metadata": redacted(whole.metadata)}
        yield msgspec.json.encode(head)[:-1] + b',"items":[', 0
        for place, item in enumerate(whole.items):
            yield (b",\n" if place else b"\n") + msgspec.json.encode(redacted(msgspec.json.decode(item))), 1
        yield b"\n]}\n", 0
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NotAsPromisedError(f"is not whole, or not JSON: {error}") from error


def _json_pieces(content: Buffer) -> Iterator[tuple[bytes, int]]:
    try:
        whole = msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NotAsPromisedError(f"is not whole, or not JSON: {error}") from error
    yield msgspec.json.format(msgspec.json.encode(_json(whole)), indent=1) + b"\n", 1


def _json(value: Any) -> Any:
    match value:
        case str():
            return masked(value)
        case list():
            return [_json(each) for each in value]
        case dict():
            return {key: _json_entry(key, each) for key, each in value.items()}
        case _:
            return value


def _json_entry(key: str, value: Any) -> Any:
    if key in _FREE_TEXTS:
        return _without_texts(value)
    return MASK if isinstance(value, str) and value and is_credential(key) else _json(value)


def _without_texts(value: Any) -> Any:
    """Of what people write freely the shape alone: some versions have one comment, others one for each of three."""
    match value:
        case str():
            return MASK if value else value
        case list():
            return []
        case dict():
            return {key: _without_texts(each) for key, each in value.items()}
        case _:
            return value


def _line_pieces(content: Buffer) -> Iterator[tuple[bytes, int]]:
    hidden = 0
    for line in _lines(content):
        if hidden:
            hidden = 0 if _ENDS in line else hidden - 1
            continue
        if _BEGINS in line and _ENDS not in line:
            hidden = _KEY_BLOCK_MAX_LINES
        kept = masked(_FREE_TEXT_IN_LINE.sub(rf"\g<key>{MASK}", line))
        yield (kept if kept.endswith("\n") else kept + "\n").encode(), 1


def _lines(content: Buffer) -> Iterator[str]:
    """Each line as text, cut where it gets too long."""
    lines = BytesIO(content)
    while line := lines.readline(_LINE_MAX_BYTES):
        yield line.decode("utf-8", "replace")
        while line and not line.endswith(b"\n"):
            line = lines.readline(_LINE_MAX_BYTES)


_PIECES = {
    Redaction.OBJECTS: _object_pieces,
    Redaction.JSON: _json_pieces,
    Redaction.LINES: _line_pieces,
}
