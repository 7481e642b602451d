"""The Slurm source: saved output of its commands, in any form, as one picture of the cluster.

Every document is read to records (`texts.py`, `json_documents.py`), the records are put together to one picture at the
latest time in any of them (`picture.py`), and the picture is translated to actors and resources (`actors.py`).
"""

from collections.abc import Iterator, Sequence

from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Batch, Complaint, Document, FileNote, Recording
from analyzer.sources.slurm.actors import events
from analyzer.sources.slurm.forms import JSON, form_of
from analyzer.sources.slurm.json_documents import read_json
from analyzer.sources.slurm.picture import picture
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
        self._picture = picture(readings, offset_s)
        self._lines = {reading.document for reading in readings}

    @property
    def batches(self) -> Iterator[Batch]:
        at_ns = self._picture.as_of_ns or 0
        found = events(self._picture, at_ns)
        if found:
            yield Batch(at_ns, found)

    @property
    def notes(self) -> Sequence[FileNote]:
        return [_note(reading) for reading in self._readings]

    @property
    def as_of_ns(self) -> int | None:
        return self._picture.as_of_ns

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
        first_ns=min(reading.times, default=None),
        last_ns=max(reading.times, default=None),
        complaints=tuple(complaints),
    )


SOURCE = SlurmSource()
