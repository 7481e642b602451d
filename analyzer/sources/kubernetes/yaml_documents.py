"""YAML of the API, one document or many: each is read for itself, so that a broken one costs only itself."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.decoding import BrokenObjectError, decode_object, list_meta
from analyzer.sources.kubernetes.gathering import Gathered
from analyzer.sources.kubernetes.reading import OBJECTS, Reading
from analyzer.sources.mapped import Buffer, line_ends

NODES_MAX = 20_000_000
"""Values that one document may hold once its aliases are written out: a few kilobytes of aliases can stand for more
memory than there is."""

_DIVIDER = re.compile(rb"^(?:---|\.\.\.)(?=\s|$)[^\n]*\n?", re.MULTILINE)
_MERGE = "tag:yaml.org,2002:merge"
_COMMENTS_ONLY = re.compile(rb"(?:\s|#[^\n]*)*")


class _Loader(yaml.CSafeLoader):
    """Safe, and without dates: times stay the texts that they are in JSON."""

    yaml_implicit_resolvers = {  # noqa: RUF012  the library's own attribute
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: bytes) -> None:
        super().__init__(text)
        self.doubled: list[tuple[int, str]] = []
        """Line from 0, and key: what stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  the library's signature
        met: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                if key.value in met:
                    self.doubled.append((key.start_mark.line, key.value))
                met.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(document: int, content: Buffer) -> Reading:
    """Read all documents of the file. What cannot be understood costs a complaint with its line, nothing else."""
    reading = Reading(document=document, kind=OBJECTS)
    gathered = Gathered()
    for line, text in _parts(content):
        _read_part(reading, gathered, text, line - 1)
    gathered.into(reading)
    return reading


def yaml_lines(content: Buffer) -> list[int]:
    """The line of every record, in the order of `read_yaml`."""
    lines: list[int] = []
    for first, text in _parts(content):
        lines.extend(first + line for line in _record_lines(text))
    return lines


def _parts(content: Buffer) -> Iterator[tuple[int, bytes]]:
    """(line of its beginning from 1, text) of each document with something in it."""
    whole = bytes(content)
    start, line = 0, 1
    for end, following in [*((found.start(), found.end()) for found in _DIVIDER.finditer(whole)), (len(whole), 0)]:
        text = whole[start:end]
        blank = _COMMENTS_ONLY.match(text)
        if blank is None or blank.end() < len(text):
            yield line, text
        line += line_ends(whole[start:following])
        start = following


def _read_part(reading: Reading, gathered: Gathered, text: bytes, lines_before: int) -> None:
    first = reading.records
    loader = _Loader(text)
    try:
        value = loader.get_single_data()
        _bounded(value)
    except (yaml.YAMLError, RecursionError, BrokenObjectError, ValueError) as error:
        reading.records += 1
        reading.skipped += 1
        mark = getattr(error, "problem_mark", None)
        line = min(mark.line, text.rstrip().count(b"\n")) if mark is not None else 0
        reading.complain(lines_before + line + 1, f"{_yaml_reason(error)}.")
        return
    finally:
        loader.dispose()
    for line, key in loader.doubled:
        reading.complain(lines_before + line + 1, f'the key "{key}" stands twice in one place: the last one counts.')
    entries, around = _entries(value)
    lines: list[int] | None = None
    for place, entry in enumerate(entries):
        reading.records += 1
        try:
            found = decode_object(_as_json(entry), *(around.own if around is not None else ("", "")))
        except BrokenObjectError as error:
            reading.skipped += 1
            lines = _record_lines(text) if lines is None else lines
            reading.complain(lines_before + 1 + (lines[place] if place < len(lines) else 0), f"{error}.")
            continue
        if around is None:
            gathered.alone(found, first + place)
        else:
            gathered.listed(first, found, first + place, whole=around.whole, version=around.version)


class _Around(msgspec.Struct, frozen=True):
    """The list around the entries of one document."""

    own: tuple[str, str]
    whole: bool
    version: int | None


def _entries(value: Any) -> tuple[list[Any], _Around | None]:
    """The records of a document, and the list around them (None: it is one object)."""
    if isinstance(value, list):
        return value, _Around(("", ""), whole=False, version=None)
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return [value], None
    meta = list_meta(msgspec.Raw(_as_json(value.get("metadata") or {})))
    kind = value.get("kind")
    typed = isinstance(kind, str) and kind.endswith("List") and kind != "List"
    own = (str(kind)[: -len("List")], str(value.get("apiVersion") or "")) if typed else ("", "")
    version = meta.resource_version or ""
    whole = not meta.continue_token and not meta.remaining_item_count
    return value["items"], _Around(own, whole, int(version) if is_whole(version) else None)


def _as_json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        raise BrokenObjectError(f"this is no Kubernetes object ({error})") from None


def _record_lines(text: bytes) -> list[int]:
    """Lines from 0 of the records in one document; needs its node tree, so only where a line is asked for."""
    try:
        root = yaml.compose(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return [mark.line if mark is not None else 0]
    if isinstance(root, yaml.SequenceNode):
        return [node.start_mark.line for node in root.value]
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "items" and isinstance(value, yaml.SequenceNode):
                return [node.start_mark.line for node in value.value]
    return [root.start_mark.line if root is not None else 0]


def _bounded(value: Any) -> None:
    """Refuse what would grow beyond all bounds when its aliases are written out. Each shared value is counted once."""
    sizes: dict[int, int] = {}
    if _size(value, sizes, 0) > NODES_MAX:
        raise BrokenObjectError("its aliases stand for more values than any cluster has")


def _size(value: Any, sizes: dict[int, int], depth: int) -> int:
    if not isinstance(value, dict | list):
        return 1
    known = sizes.get(id(value))
    if known is not None:
        if known < 0:
            raise BrokenObjectError("an alias stands inside the value that it names")
        return known
    sizes[id(value)] = -1
    children = value.values() if isinstance(value, dict) else value
    total = 1 + sum(_size(child, sizes, depth + 1) for child in children)
    sizes[id(value)] = total
    return total


def _yaml_reason(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        words = " ".join(word for word in (error.context, error.problem) if word)
        return f"this is no valid YAML ({words})"
    if isinstance(error, RecursionError):
        return "this YAML is nested too deeply"
    return str(error)
