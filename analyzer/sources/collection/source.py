"""The manifest in an archive of `knotwatch collect`: it tells nothing about the cluster, and is no stranger either.

It states no events and gives no records, so an archive in which nothing else is understood is still not understood.
"""

from collections.abc import Iterator, Sequence

import msgspec

from analyzer.codec.collection import decode_manifest, is_manifest
from analyzer.codec.times import parse_time
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Batch, Complaint, Document, FileNote, Recording

KIND = "collection manifest"

_DEFAULT_OPTIONS = ReadOptions()


class CollectionSource:
    """Recognises manifests by their schema."""

    @property
    def name(self) -> str:
        return KIND

    def recognises(self, document: Document) -> str | None:
        return KIND if is_manifest(document.content) else None

    def read(self, documents: Sequence[Document], *, options: ReadOptions = _DEFAULT_OPTIONS) -> Recording:
        del options  # a manifest carries full times
        return CollectionRecording(documents)


class CollectionRecording:
    """No events: a manifest speaks of files."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.notes: Sequence[FileNote] = [_note(document) for document in documents]

    @property
    def batches(self) -> Iterator[Batch]:
        return iter(())

    @property
    def as_of_ns(self) -> int | None:
        """None: the clock of the machine that collected is not that of the cluster."""
        return None

    @property
    def has_clock(self) -> bool:
        return False

    def line_of(self, document: int, record: int) -> int | None:  # noqa: ARG002  nothing is ever cited from here
        return None


def _note(document: Document) -> FileNote:
    try:
        manifest = decode_manifest(document.content)
    except msgspec.MsgspecError as error:
        complaint = Complaint(0, f"is no whole manifest of a collection: {error}")
        return FileNote(
            index=document.index, kind=KIND, records=0, skipped=1, first_ns=None, last_ns=None, complaints=(complaint,)
        )
    return FileNote(
        index=document.index,
        kind=KIND,
        records=0,
        skipped=0,
        first_ns=parse_time(manifest.started),
        last_ns=parse_time(manifest.ended),
    )


SOURCE = CollectionSource()
