"""The Slurm source: saved output of its commands, in any form, of one moment or of several.

Every document is read to records (`texts.py`, `json_documents.py`); what was taken at one moment is put together to a
picture of that moment (`snapshots.py`, `picture.py`), and each picture is translated to actors and resources
(`actors.py`), of which what has changed since the one before becomes events (`history.py`).
"""

import heapq
from collections.abc import Iterator, Sequence

from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Batch, Complaint, Document, FileNote, Recording
from analyzer.sources.slurm.forms import JSON, form_of
from analyzer.sources.slurm.history import histories
from analyzer.sources.slurm.json_documents import read_json
from analyzer.sources.slurm.records import Reading
from analyzer.sources.slurm.texts import read_text

_DEFAULT_OPTIONS = ReadOptions()


class SlurmSource:
    """Recognises documents by content, and reads all of them as one incident. Holds no state."""

    @property
    def name(self) -> str:
        return "slurm"

    def recognises(self, document: Document) -> str | None:
        return form_of(document.content)

    def read(self, documents: Sequence[Document], *, options: ReadOptions = _DEFAULT_OPTIONS) -> Recording:
        return SlurmRecording([_read(document) for document in documents], options.tz_offset_s)


class SlurmRecording:
    """All documents of one incident, read and put together. The record of a citation is its line."""

    def __init__(self, readings: Sequence[Reading], offset_s: int | None) -> None:
        self._readings = readings
        self._histories = histories(readings, offset_s)
        self._lines = {reading.document for reading in readings}

    @property
    def batches(self) -> Iterator[Batch]:
        return heapq.merge(*(one.batches() for one in self._histories), key=lambda batch: batch.at_ns)

    @property
    def notes(self) -> Sequence[FileNote]:
        return [_note(reading) for reading in self._readings]

    @property
    def as_of_ns(self) -> int | None:
        return max((one.as_of_ns for one in self._histories if one.as_of_ns is not None), default=None)

    @property
    def has_clock(self) -> bool:
        return False

    def line_of(self, document: int, record: int) -> int | None:
        return record if document in self._lines and record > 0 else None


def _read(document: Document) -> Reading:
    reading = Reading(document=document.index, path=document.path)
    content = str(document.content, "utf-8", "replace")
    if form_of(document.content) == JSON:
        read_json(reading, content)
    else:
        read_text(reading, content)
    return reading


def _note(reading: Reading) -> FileNote:
    complaints = sorted(reading.complaints, key=lambda one: (one.line, one.text))
    if reading.complaints_left_out:
        complaints.append(Complaint(0, f"and {reading.complaints_left_out} more like these."))
    kinds = sorted(reading.kinds, key=lambda kind: (-reading.kinds[kind], kind))
    return FileNote(
        index=reading.document,
        kind="slurm: " + ", ".join(kinds[:3]) if kinds else "slurm",
        records=reading.records,
        skipped=reading.skipped,
        first_ns=reading.first_ns,
        last_ns=reading.last_ns,
        complaints=tuple(complaints),
    )


SOURCE = SlurmSource()
