"""The text of `kubectl describe`, taken apart: one block an object, fields by indentation, tables by their columns."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

from analyzer.sources.kubernetes.decoding import Buffer
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

_BLOCK = re.compile(r"^([ \t]*)Name:[ \t]+(\S+)[ \t]*$")
_SECOND_FIELD = re.compile(r"[ \t]*(?:Namespace|Roles):")
_BLOCK_IN_BYTES = re.compile(rb"^([ \t]*)Name:[ \t]+\S+[ \t]*\r?\n\1(?:Namespace|Roles):", re.MULTILINE)
_OTHER_FIELDS = re.compile(rb"^[ \t]*(?:Labels|Containers|Allocatable|Status):", re.MULTILINE)
_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
_AGE_PART = re.compile(r"(\d+)([smhdy])")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 365 * 86_400}
_NOTHING = frozenset({"", "<none>", "<unset>", "<unknown>"})
_COLUMN = re.compile(r"\S+(?: \S+)*")


class Field(Struct, frozen=True):
    """A field: what follows its colon, and the lines below it that are indented further, as they are."""

    key: str
    value: str
    below: Sequence[str]

    @property
    def texts(self) -> list[str]:
        """All its lines, without indentation; none for `<none>`."""
        return [text for line in (self.value, *self.below) if (text := line.strip()) not in _NOTHING]


class Block(Struct, frozen=True):
    """One object: the line of the document (from 0) where it begins, its name, its fields by key."""

    line: int
    name: str
    fields: dict[str, Field]

    def text(self, key: str) -> str:
        """The value of a field in one line; empty if there is none."""
        field = self.fields.get(key)
        return field.value if field is not None and field.value not in _NOTHING else ""

    def texts(self, key: str) -> list[str]:
        """The lines of a field."""
        field = self.fields.get(key)
        return field.texts if field is not None else []

    def below(self, key: str) -> Sequence[str]:
        """The lines under a field, with their indentation."""
        field = self.fields.get(key)
        return field.below if field is not None else ()


def is_described(head: bytes) -> bool:
    """Whether these first bytes are what `kubectl describe` prints."""
    return _BLOCK_IN_BYTES.search(head) is not None and _OTHER_FIELDS.search(head) is not None


def blocks(content: Buffer) -> Iterator[Block]:
    """All objects in the text. What stands before the first, such as a prompt, is passed over."""
    lines = bytes(content).decode("utf-8", "replace").replace("\r", "").split("\n")
    starts: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines):
        found = _BLOCK.match(line) if "Name:" in line else None
        if found is not None and number + 1 < len(lines) and _SECOND_FIELD.match(lines[number + 1]):
            starts.append((number, len(found[1]), found[2]))
    for index, (number, indent, name) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(lines)
        yield Block(number, name, {field.key: field for field in fields_of(lines[number:end], indent)})


def fields_of(lines: Sequence[str], indent: int) -> list[Field]:
    """The fields that stand at this indentation; what is indented further belongs to the field above it."""
    out: list[Field] = []
    key, value, below = "", "", list[str]()
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if depth == len(line) or depth > indent:
            below.append(line)
            continue
        name, colon, rest = line.strip().partition(":")
        if depth < indent or not colon:
            continue  # other text: a prompt, a line that was wrapped
        if key:
            out.append(Field(key, value, below))
        key, value, below = name, rest.strip(), []
    if key:
        out.append(Field(key, value, below))
    return out


def indent_of(lines: Sequence[str]) -> int:
    """The smallest indentation of a line that is not blank."""
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def rows(lines: Sequence[str]) -> list[dict[str, str]]:
    """A table with a header, as texts by column. Dashes under the header are passed over.

    Columns are cut where the header says. Where a text crosses such an edge, the row is split at wide gaps instead.
    """
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    columns = [(found[0], found.start()) for found in _wide(filled[0])]
    out: list[dict[str, str]] = []
    for line in filled[1:]:
        if not line.strip("- \t"):
            continue
        edges = [start for _, start in columns[1:]]
        if all(edge > len(line) or line[edge - 1] == " " for edge in edges):
            ends = [*edges, len(line)]
            cells = [line[start:end].strip() for (_, start), end in zip(columns, ends, strict=True)]
        else:
            cells = re.split(r"\s{2,}", line.strip(), maxsplit=len(columns) - 1)
        out.append({name: cell for (name, _), cell in zip(columns, cells, strict=False)})
    return out


def _wide(header: str) -> list[re.Match[str]]:
    return list(_COLUMN.finditer(header))


def date_text(text: str) -> str | None:
    """A date as describe writes it (`Mon, 30 Nov 2026 12:59:17 +0000`), as the API writes it; None if it is none."""
    if _DATE.fullmatch(text.strip()) is None:
        return None
    try:
        at_ns = parse_ns(parsedate_to_datetime(text.strip()).isoformat())
    except (ValueError, TypeError):
        return None
    return None if at_ns is None else text_of_ns(at_ns)


def age_s(text: str) -> int | None:
    """Seconds of an age (`5m34s`, `3d2h`); None for `<unknown>`."""
    parts = _AGE_PART.findall(text)
    total = sum(int(number[:9]) * _UNIT_S[unit] for number, unit in parts)
    return min(total, 100 * _UNIT_S["y"]) if parts else None


def ago(now_ns: int | None, seconds: int | None) -> str | None:
    """That long before now, as RFC 3339; None if either is not known."""
    if now_ns is None or seconds is None:
        return None
    return text_of_ns(now_ns - seconds * SECOND_NS)


def text_of_ns(at_ns: int) -> str:
    """Whole seconds, as the API writes times."""
    return datetime.fromtimestamp(at_ns // SECOND_NS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
