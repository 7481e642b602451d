"""Where the records of a JSON document begin and end, in the same order whether it is sound or broken.

A document is one value or many, one after the other: a list, an array, single objects, entries of a watch; pretty,
compact or one a line. The items of a list or array are records, and so is any other value. Values that are cut off
or broken are records too, with a `problem`, so that numbers stay the same; their neighbours survive: a new value is
looked for at the next line that begins like one.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.decoding import REFUSED, Buffer, Envelope, decode_envelope, is_list_kind, list_meta

_VALUE_AT_LINE_START = re.compile(rb"^[{\[]", re.MULTILINE)
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)
_GAP = re.compile(rb"[\s,]*")
_BLANK = re.compile(rb"[\s\x1e]*")
_ITEMS = re.compile(rb'"items"\s*:\s*\[')
_OBJECT = re.compile(rb'"object"\s*:\s*')
_INDENT = re.compile(rb"\n[ \t]*$")
LIST_HEAD = re.compile(rb'\s*\{(?:[^{}\[\]]|\{[^{}\[\]]*\})*?"items"\s*:\s*\[')
"""The beginning of a list, up to its first item; what stands before `items` is flat, as the API writes it."""
_FIRST_KEYS_BYTES = 16
_LONG_VALUES_MAX = 3
"""How often a value that spans lines without indentation is searched for in vain: no squares for broken documents."""


class JsonRecord(Struct, frozen=True, kw_only=True):
    """Bytes `start` to `end`, and the list around them (None: it stands alone).

    `change` is the type of a watch entry, whose object the bytes are; `problem` a clause, or empty.
    """

    start: int
    end: int
    change: str = ""
    within: "JsonList | None" = None
    problem: str = ""


class JsonList(Struct, frozen=True, kw_only=True):
    """The list around a record: kind and API version for items that have none, and whether it is whole."""

    start: int
    kind: str = ""
    api_version: str = ""
    whole: bool = True
    resource_version: int | None = None


def json_records(content: Buffer) -> Iterator[JsonRecord]:
    """All records in order. One skipping pass of the decoder where the document is sound."""
    blank = _BLANK.match(content)
    first = blank.end() if blank is not None else 0
    begins_at_once = first < len(content) and content[first] in b"{["
    if begins_at_once:
        end = _stripped_end(content, first, len(content))
        whole = _sound(content, first, end)
        if whole is not None:
            yield from _of_envelope(content, first, end, whole)
            return
    done = 0
    long_values = 0
    starts = [found.start() for found in _VALUE_AT_LINE_START.finditer(content)]
    if begins_at_once and (not starts or starts[0] != first):
        starts.insert(0, first)
    for index, start in enumerate(starts):
        if start < done:
            continue
        limit = starts[index + 1] if index + 1 < len(starts) else len(content)
        end = _stripped_end(content, start, limit)
        envelope = _sound(content, start, end)
        if envelope is not None:
            yield from _of_envelope(content, start, end, envelope)
            done = end
            continue
        if limit < len(content) and long_values < _LONG_VALUES_MAX and not _is_indented(content, start):
            closing = value_end(content, start, len(content))
            if closing is not None and closing > limit and (envelope := _sound(content, start, closing)) is not None:
                yield from _of_envelope(content, start, closing, envelope)
                done = closing
                continue
            long_values += 1
        yield from _of_broken(content, start, end)
        done = end


def value_end(content: Buffer, start: int, limit: int) -> int | None:
    """The end of the object or array that begins at `start`; None if it is not closed before `limit`."""
    depth = 0
    for token in _TOKEN.finditer(content, start, limit):
        letter = content[token.start()]
        if letter in b"{[":
            depth += 1
        elif letter in b"}]":
            depth -= 1
            if depth <= 0:
                return token.end()
    return None


def is_sound(content: bytes) -> bool:
    """Whether this is one JSON value."""
    try:
        msgspec.json.decode(content, type=msgspec.Raw)
    except REFUSED:
        return False
    return True


def _sound(content: Buffer, start: int, end: int) -> Envelope | None:
    view = memoryview(content)[start:end]
    try:
        if content[start] == ord("["):
            return Envelope(items=msgspec.json.decode(view, type=list[msgspec.Raw]), kind="List")
        return decode_envelope(view)
    except msgspec.ValidationError:
        pass  # perhaps JSON of another shape: then the reader of the record says what is wrong with it
    except REFUSED:
        return None
    try:
        msgspec.json.decode(view, type=msgspec.Raw)
    except REFUSED:
        return None
    return Envelope()


def _of_envelope(content: Buffer, start: int, end: int, envelope: Envelope) -> Iterator[JsonRecord]:
    """The records of one sound value."""
    if envelope.items is not None:
        yield from _of_items(content, start, envelope)
    elif envelope.kind is not None and is_list_kind(envelope.kind):
        return  # its items are null: there are none
    elif _is_entry(envelope):
        inner = memoryview(envelope.object)
        at = _object_start(content, inner, start)
        try:
            change = msgspec.json.decode(envelope.type, type=str)
        except REFUSED:
            change = "?"
        yield JsonRecord(start=at, end=at + len(inner), change=change)
    else:
        yield JsonRecord(start=start, end=end)


def _is_entry(envelope: Envelope) -> bool:
    return envelope.kind is None and bool(memoryview(envelope.object)) and bool(memoryview(envelope.type))


def _of_items(content: Buffer, start: int, envelope: Envelope) -> Iterator[JsonRecord]:
    around = _list_of(start, envelope)
    opening = _ITEMS.search(content, start)
    at = opening.end() if opening is not None and content[start] == ord("{") else start + 1
    for raw in envelope.items or ():
        gap = _GAP.match(content, at)
        at = gap.end() if gap is not None else at
        size = len(memoryview(raw))
        inner = _sound(content, at, at + size) if content[start] == ord("[") else None
        if inner is not None and (inner.items is not None or _is_entry(inner)):
            yield from _of_envelope(content, at, at + size, inner)  # an array of lists, as `jq -s` makes it
        else:
            yield JsonRecord(start=at, end=at + size, within=around)
        at += size


def _list_of(start: int, envelope: Envelope) -> JsonList:
    meta = list_meta(envelope.metadata)
    kind = envelope.kind or ""
    version = meta.resource_version or ""
    return JsonList(
        start=start,
        kind=kind[: -len("List")] if kind.endswith("List") and kind != "List" else "",
        api_version=envelope.api_version or "" if kind not in ("List", "") else "",
        whole=not meta.continue_token and not meta.remaining_item_count,
        resource_version=int(version) if is_whole(version) else None,
    )


def _of_broken(content: Buffer, start: int, limit: int) -> Iterator[JsonRecord]:
    """Values between `start` and `limit`, where at least one is broken, or other text follows."""
    at = start
    while at < limit:
        if content[at] == ord("["):
            yield from _of_broken_items(content, at, at + 1, limit, JsonList(start=at))
            return
        head = LIST_HEAD.match(content, at, limit)
        end = value_end(content, at, limit)
        sound = _sound(content, at, end) if end is not None else None
        if end is not None and sound is not None:
            yield from _of_envelope(content, at, end, sound)
        elif head is not None:
            yield from _of_broken_items(
                content, at, head.end(), limit, _broken_list(bytes(content[at : head.end()]), at)
            )
            return
        elif end is None:
            yield JsonRecord(start=at, end=limit, problem="the text is cut off or broken inside this object")
            return
        else:
            yield JsonRecord(start=at, end=end, problem=_why(content, at, end))
        blank = _BLANK.match(content, end, limit)
        at = blank.end() if blank is not None else limit
        if at < limit and content[at] not in b"{[":
            return  # other text, such as the logs between the lists of a cluster dump


def _of_broken_items(content: Buffer, start: int, first: int, limit: int, around: JsonList) -> Iterator[JsonRecord]:
    """Items one by one. A broken one ends where the next begins as the first did."""
    at, resync = first, None
    while at < limit:
        gap = _GAP.match(content, at, limit)
        at = gap.end() if gap is not None else at
        if at >= limit:
            break
        if content[at] not in b"{[":
            return  # the list is closed, or other text follows
        if resync is None:
            resync = _next_item(content, start, at)
        end = value_end(content, at, limit)
        if end is not None and _sound(content, at, end) is not None:
            yield JsonRecord(start=at, end=end, within=around)
            at = end
            continue
        anew = resync.search(content, at + 1, end if end is not None else limit)
        if anew is not None:
            yield JsonRecord(start=at, end=anew.end(), within=around, problem="this item is broken: it is not closed")
            at = anew.end()
        elif end is None:
            yield JsonRecord(start=at, end=limit, within=around, problem="the text is cut off inside this item")
            return
        else:
            yield JsonRecord(start=at, end=end, within=around, problem=_why(content, at, end))
            at = end
    yield JsonRecord(start=limit, end=limit, within=around, problem="the text is cut off inside this list")


def _next_item(content: Buffer, start: int, first: int) -> re.Pattern[bytes]:
    """How the beginning of an item is known: by the indentation of the first one, else by its first keys."""
    indent = _INDENT.search(bytes(content[max(start, first - 80) : first]))
    if indent is not None:
        return re.compile(re.escape(indent[0]) + rb"(?=\{)")
    first_keys = bytes(content[first : first + _FIRST_KEYS_BYTES])
    return re.compile(rb"\}\s*,\s*(?=" + re.escape(first_keys) + rb")")


def _broken_list(head: bytes, start: int) -> JsonList:
    kind = re.search(rb'"kind"\s*:\s*"([A-Z]\w*)List"', head)
    version = re.search(rb'"apiVersion"\s*:\s*"([^"]*)"', head)
    return JsonList(
        start=start,
        kind=kind[1].decode() if kind is not None else "",
        api_version=version[1].decode() if kind is not None and version is not None else "",
        whole=False,
    )


def _why(content: Buffer, start: int, end: int) -> str:
    try:
        msgspec.json.decode(memoryview(content)[start:end], type=msgspec.Raw)
    except REFUSED as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return f"this is no valid JSON ({reason.removeprefix('JSON is malformed: ')})"
    return "this is no valid JSON"


def _stripped_end(content: Buffer, start: int, limit: int) -> int:
    while limit > start and content[limit - 1] in b" \t\r\n,\x1e\x00":
        limit -= 1
    return limit


def _is_indented(content: Buffer, start: int) -> bool:
    """Whether the value's second line is indented, so that its end stands at the start of a line."""
    return re.compile(rb"[^\n]*\n[ \t]").match(content, start) is not None


def _object_start(content: Buffer, inner: memoryview, start: int) -> int:
    view = memoryview(content)
    for found in _OBJECT.finditer(content, start):
        if view[found.end() : found.end() + len(inner)] == inner:
            return found.end()
    return start
