"""What every source offers: which documents are its own, and the events in them by time.

A *document* is one file's bytes with the name that reports show. All documents of one source are read together,
since a folder of mixed files is one incident. Adding a source is one sub-package with a `SOURCE`, and its line in
`analyzer/sources/all.py`.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import force_setattr

from analyzer.model.events import Event
from analyzer.sources.options import ReadOptions

_SENTENCE_MAX_LETTERS = 300
"""Of a complaint: what it quotes from the input may be a word of a megabyte."""


class Document(Struct, frozen=True):
    """One input: `index` is its place in the run's sorted list and the first half of every citation into it."""

    index: int
    path: str
    content: bytes | memoryview


class Complaint(Struct, frozen=True):
    """One sentence about a place in a document that could not be understood. `line` 0: the document as a whole.

    Whatever the text quotes, it is one printable line of bounded length.
    """

    line: int
    text: str

    def __post_init__(self) -> None:
        text = self.text
        if text.isprintable() and len(text) <= _SENTENCE_MAX_LETTERS:
            return
        if len(text) > _SENTENCE_MAX_LETTERS:
            half = _SENTENCE_MAX_LETTERS // 2
            text = f"{text[:half]} ... {text[-half:]}"
        text = "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))
        force_setattr(self, "text", text)


class FileNote(Struct, frozen=True, kw_only=True):
    """What a source made of one document, for `sources` in the report. Times are event times, None if it has none."""

    index: int
    kind: str
    records: int
    skipped: int
    first_ns: int | None
    last_ns: int | None
    complaints: tuple[Complaint, ...] = ()


class Batch(Struct, frozen=True):
    """All that changed at one event time, in a fixed order. The runner adds a Tick after each time."""

    at_ns: int
    events: Sequence[Event]


class Recording(Protocol):
    """Some documents, read. `batches` are in order of time; read them once, before `notes`."""

    @property
    def batches(self) -> Iterator[Batch]: ...
    @property
    def notes(self) -> Sequence[FileNote]:
        """One per document, complete once `batches` has been read to its end."""
        ...

    @property
    def as_of_ns(self) -> int | None:
        """The latest time in the documents, None if there is no time at all; known after `batches`."""
        ...

    @property
    def has_clock(self) -> bool:
        """Whether `as_of_ns` is a moment somebody vouches for, not merely the latest change that was seen."""
        ...

    def line_of(self, document: int, record: int) -> int | None:
        """The line (from 1) where that record begins; found on demand, since few records are ever cited."""
        ...


class Source(Protocol):
    """A kind of input."""

    @property
    def name(self) -> str: ...
    def recognises(self, document: Document) -> str | None:
        """The kind of this document ("kubernetes objects", "facts") if it is one of ours, judged by content alone.

        Cheap: looks at the beginning only, except where that cannot decide.
        """
        ...

    def read(self, documents: Sequence[Document], *, options: ReadOptions) -> Recording:
        """Read all documents that are ours, as one incident."""
        ...
