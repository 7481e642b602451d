"""The line on which a record begins, found on demand: few records are ever cited, and a dump has millions of lines."""

from collections.abc import Sequence

from analyzer.sources.kubernetes.audit import audit_records
from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.json_records import json_records
from analyzer.sources.kubernetes.long_list import LongList
from analyzer.sources.kubernetes.yaml_documents import yaml_lines
from analyzer.sources.mapped import Buffer, line_ends
from analyzer.sources.recording import Document

_BLOCK_BYTES = 1 << 16


class RecordLines:
    """Lines of the records of one document, which is gone through once, up to the last record asked for."""

    def __init__(self, document: Document, long: LongList | None = None) -> None:
        """`long`: the document as it was read in pieces, which knows where its records are."""
        content = document.content
        self._long = long
        self._newlines = _Newlines(content)
        self._offsets: Sequence[int] = ()
        self._lines: Sequence[int] | None = None
        if long is not None:
            return
        match form_of(content):
            case Form.KLOG | Form.DESCRIBED | Form.TABLE:
                self._lines = range(1, len(content) + 2)  # a record is a line, and they need not be counted
            case Form.YAML:
                self._lines = yaml_lines(content)
            case Form.AUDIT:
                self._offsets = [start for start, _ in audit_records(content)]
            case _:
                self._offsets = [record.start for record in json_records(content)]

    def line_of(self, record: int) -> int | None:
        """The line, from 1, of the record with this number; None if there is none."""
        if self._long is not None:
            return self._long.line_of(record)
        places = self._offsets if self._lines is None else self._lines
        if not 0 <= record < len(places):
            return None
        return self._newlines.before(places[record]) + 1 if self._lines is None else places[record]


class _Newlines:
    """Counts line ends before an offset; whole blocks are counted once, in order."""

    def __init__(self, content: Buffer) -> None:
        self._content = content
        self._before_block = [0]

    def before(self, offset: int) -> int:
        block, rest = divmod(offset, _BLOCK_BYTES)
        while len(self._before_block) <= block:
            start = (len(self._before_block) - 1) * _BLOCK_BYTES
            self._before_block.append(self._before_block[-1] + self._count(start, start + _BLOCK_BYTES))
        return self._before_block[block] + self._count(offset - rest, offset)

    def _count(self, start: int, end: int) -> int:
        return line_ends(bytes(self._content[start:end]))
