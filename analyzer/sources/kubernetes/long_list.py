"""A long list with pods in it, read and handed on piece by piece: a hundred thousand never stand in memory at once.

The separator between two items is known from the first one: in a pretty document it is a line of its own that no
inner object can have, in a compact one it is followed by the first keys of every item. Pieces end at a separator near
a fixed size. A piece that the decoder refuses (and the end of the document) is read in the ordinary way, item by item.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from analyzer.sources.digits import is_whole
from analyzer.sources.document import line_at
from analyzer.sources.kubernetes.decoding import Outline, decode_list, decode_outline
from analyzer.sources.kubernetes.json_documents import read_json
from analyzer.sources.kubernetes.json_records import LIST_HEAD, is_sound, json_records, value_end
from analyzer.sources.kubernetes.objects import KubeObject, Pod
from analyzer.sources.kubernetes.reading import OBJECTS, Listing, Reading
from analyzer.sources.mapped import finder, let_go, line_ends
from analyzer.sources.recording import Document

LONG_BYTES = 1 << 20
"""From this size on a list is read in pieces."""

PIECE_BYTES = 256 << 10
"""A piece and the objects made of it fit into a processor's second cache: larger pieces take half as long again."""

_FIRST_KEYS_BYTES = 16
_HEAD_BYTES = 1 << 20
_BETWEEN = re.compile(rb"\s*,\s*(?=\{)")
_POD = re.compile(rb'\{\s*"apiVersion"\s*:\s*"v1"\s*,\s*"kind"\s*:\s*"Pod"')
_FURTHER_CUTS = 4
_PROBES = 64
_PROBE_BYTES = 64 << 10


class _Piece(Struct, frozen=True):
    """Where a piece begins: its first record, and the offset of that. `in_lines`: there may be line ends in it."""

    record: int
    start: int
    in_lines: bool


class LongList:
    """One document that is such a list. `reading` is filled while `pieces` is gone through; it keeps no pods."""

    def __init__(self, document: Document, first: int, separator: bytes) -> None:
        self._content = memoryview(document.content)
        self._head = bytes(self._content[:first])
        self._find = finder(document.content)
        self._separator = separator
        self._brace_at = separator.index(b"{")
        self._closed_at = separator.index(b"}") + 1
        self.reading = Reading(document=document.index, kind=OBJECTS)
        self._marks: list[_Piece] = []
        self._line_ends = [self._head.count(b"\n")]  # before each piece, as far as they have been counted
        self._lines: tuple[int, Sequence[int]] = (-1, ())
        self._outline: Outline | None = None
        self._whole = False  # what the list says about itself stands at its end
        self._version: int | None = None

    def has_pods(self) -> bool:
        """Whether the first items can be read and there are pods, at the beginning or where kubectl put them."""
        first = len(self._head)
        cut = self._find(self._separator, first, min(len(self._content), first + _HEAD_BYTES))
        decoded = decode_list(self._piece(first, cut + self._brace_at)) if cut >= 0 else None
        if decoded is None:
            return False
        return any(isinstance(found, Pod) for found in decoded.objects) or self._has_pods_inside()

    def _has_pods_inside(self) -> bool:
        """Whether one of some items that lie far apart is a pod: kubectl writes one kind after the other."""
        first, size = len(self._head), len(self._content)
        for at in range(first, size, max(1, (size - first) // _PROBES)):
            cut = self._find(self._separator, at, min(size, at + _PROBE_BYTES))
            if cut >= 0 and _POD.match(self._content, cut + self._brace_at) is not None:
                return True
        return False

    def pieces(self) -> Iterator[tuple[Sequence[KubeObject], Sequence[int]]]:
        """(objects, their records) in the order of the document. What cannot be understood becomes a complaint."""
        start, last, pretty = len(self._head), self._last_item(), b"\n" in self._separator
        while start < last:
            end = self._cut(start, last)
            piece = self._piece(start, end)
            decoded = decode_list(piece)
            if decoded is None:
                end = self._whole_piece(start, end, last)
                yield from self._ordinary(self._piece(start, end), start)
            else:
                record = self.reading.records
                self._marks.append(_Piece(record, start, pretty or b"\n" in piece))
                self.reading.records += len(decoded.objects)
                yield decoded.objects, range(record, self.reading.records)
            del decoded, piece
            let_go(self._content, start, end)
            start = end
        yield from self._ordinary(self._from(start), start)

    def outline(self) -> Outline:
        """Namespaces of the pods, and the newest version of all objects, as far as they can be understood.

        Goes through the whole document once, in a third of the time that reading it takes.
        """
        if self._outline is None:
            out, start, last = Outline(frozenset(), 0), len(self._head), self._last_item()
            while start < last:
                end = self._cut(start, last)
                found = decode_outline(self._piece(start, end))
                if found is None:
                    end = self._whole_piece(start, end, last)
                    found = _outline_by_item(self._piece(start, end))
                out |= found
                let_go(self._content, start, end)
                start = end
            rest = self._from(start)
            self._outline = out | (decode_outline(rest) or _outline_by_item(rest))
        return self._outline

    def keep(self, objects: Sequence[KubeObject], records: Sequence[int]) -> None:
        """Once all has been gone through: leave these of its objects to be put in order with other documents."""
        self.reading.listings.append(
            Listing(objects=objects, records=records, whole=self._whole, resource_version=self._version)
        )

    def line_of(self, record: int) -> int | None:
        """The line, from 1, once all has been gone through; looks only at the piece that the record stands in."""
        place = bisect_right(self._marks, record, key=lambda mark: mark.record) - 1
        if place < 0 or record >= self.reading.records:
            return None
        before = self._line_ends_before(place)
        if not self._marks[place].in_lines:
            return before + 1
        if self._lines[0] != place:
            self._lines = (place, self._lines_in(place, before))
        return self._lines[1][record - self._marks[place].record]

    def _line_ends_before(self, place: int) -> int:
        """Counted up to that piece when first asked for: most recordings have nothing to cite."""
        counted, marks = self._line_ends, self._marks
        while len(counted) <= place:
            piece, end = marks[len(counted) - 1], marks[len(counted)].start
            inside = 0
            if piece.in_lines:
                inside = line_ends(bytes(self._content[piece.start : end]))
                let_go(self._content, piece.start, end)
            counted.append(counted[-1] + inside)
        return counted[place]

    def _lines_in(self, place: int, before: int) -> Sequence[int]:
        """The lines of all records of the piece, with so many line ends before it."""
        start, is_last = self._marks[place].start, place + 1 == len(self._marks)
        end = len(self._content) if is_last else self._marks[place + 1].start
        text = self._from(start) if is_last else self._piece(start, end)
        lines: list[int] = []
        line, at = before + 1, len(self._head)
        for record in json_records(text):
            line += line_ends(text[at : record.start])
            at = record.start
            lines.append(line)
        let_go(self._content, start, end)
        return lines

    def _cut(self, start: int, last: int) -> int:
        """The end of the piece that begins at this brace: a brace again. `last`: that of the last item, in no piece."""
        cut = self._find(self._separator, min(start + PIECE_BYTES, last), last + len(self._separator))
        return last if cut < 0 else cut + self._brace_at

    def _whole_piece(self, start: int, end: int, last: int) -> int:
        """The end of a piece that was refused: further off if it was cut inside an item that has such keys as well."""
        further = end
        for _ in range(_FURTHER_CUTS):
            if is_sound(self._piece(start, further)):
                return further
            if further >= last:
                break
            further = self._cut(further, last)
        return end  # something in it is broken

    def _piece(self, start: int, end: int) -> bytes:
        """The items from the brace at `start` to before that at `end`, as a list with the same head."""
        return b"".join((self._head, self._content[start : end - self._brace_at + self._closed_at], b"]}"))

    def _from(self, start: int) -> bytes:
        """All from the brace at `start` on, as a list with the same head."""
        return b"".join((self._head, self._content[start:]))

    def _last_item(self) -> int:
        """Where the last item begins; the first, if there is only one. Looks only at the end of the document."""
        first, size = len(self._head), 1 << 16
        while True:
            start = max(first, len(self._content) - size)
            cut = bytes(self._content[start:]).rfind(self._separator)
            if cut >= 0:
                return start + cut + self._brace_at
            if start == first:
                return first
            size *= 8

    def _ordinary(self, text: bytes, start: int) -> Iterator[tuple[Sequence[KubeObject], Sequence[int]]]:
        """Items from this offset on, in a list with the same head, each by itself."""
        read = read_json(self.reading.document, text)
        before = self.reading.records
        self._marks.append(_Piece(before, start, in_lines=True))
        lines_before = line_at(self._content, start) - line_at(self._head, len(self._head)) if read.complaints else 0
        for complaint in read.complaints:
            self.reading.complain(complaint.line + lines_before, complaint.text)
        self.reading.complaints_left_out += read.complaints_left_out
        self.reading.records += read.records
        self.reading.skipped += read.skipped
        for listing in read.listings:
            self._whole, self._version = listing.whole, listing.resource_version
            yield listing.objects, [before + record for record in listing.records]
        for change in read.changes:
            yield (change.object,), (before + change.record,)


def _outline_by_item(text: bytes) -> Outline:
    """Of a list of which something cannot be understood: that of the rest."""
    read = read_json(0, text)
    found = [one for listing in read.listings for one in listing.objects] + [change.object for change in read.changes]
    namespaces = frozenset(one.metadata.namespace for one in found if isinstance(one, Pod))
    versions = (one.metadata.resource_version for one in found)
    return Outline(namespaces, max((int(one) for one in versions if is_whole(one)), default=0))


def long_list(document: Document) -> LongList | None:
    """The document as a long list with pods; None if it is short, or anything else."""
    content = document.content
    if len(content) < LONG_BYTES:
        return None
    head = bytes(content[:_HEAD_BYTES])
    opening = LIST_HEAD.match(head)
    first = head.find(b"{", opening.end()) if opening is not None else -1
    if opening is None or first < 0 or head[opening.end() : first].strip():
        return None
    end = value_end(head, first, len(head))
    between = _BETWEEN.match(head, end) if end is not None else None
    if between is None:
        return None
    indent, first_keys = head[opening.end() : first], head[first : first + _FIRST_KEYS_BYTES]
    pretty = b"\n" in indent
    separator = b"".join((indent if pretty else b"", b"}", between[0], b"{" if pretty else first_keys))
    found = LongList(document, first, separator)
    return found if found.has_pods() else None
