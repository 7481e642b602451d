"""From paths to documents: walk folders, read bytes, say what cannot be read, let sources recognise their own.

The result depends on what the paths hold, not on their order or on how often a file is named: documents are sorted
by the name that reports show (a file in a folder that was handed over shows that folder's own name first), and one
file is read once. An archive counts as the folder that it was made from. Large files are mapped, not read, so that a
gigabyte of recording does not land in memory; such a file must not be cut short while it is read.
"""

import codecs
import mmap
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from analyzer.errors import UsageError
from analyzer.sources.archive import is_archive, unpack
from analyzer.sources.mapped import line_ends
from analyzer.sources.recording import Complaint, Document, FileNote, Source

STANDARD_INPUT = "-"
NOT_UNDERSTOOD = "not understood"

_MAPPED_FROM_BYTES = 1 << 20
_PEEK_BYTES = 1 << 16

_JOURNAL_EXPORT = b"__CURSOR="
"""journald writes lengths as bytes there, and what is no UTF-8 between them."""
_ZSTD = b"\x28\xb5\x2f\xfd"
_PDF = b"%PDF-"


class Opened(Struct, frozen=True):
    """All inputs of one run: `documents` that can be read as text, and a note for each that cannot be.

    `paths` holds the shown name of every input; `Document.index` and `FileNote.index` count in it. `archives` are
    notes of those inputs that only hold others.
    """

    paths: tuple[str, ...]
    documents: tuple[Document, ...]
    unread: tuple[FileNote, ...]
    archives: tuple[FileNote, ...] = ()


class Sorted(Struct, frozen=True):
    """Documents by the source that knows them, in the order of the sources, and a note for each that nobody knows."""

    by_source: tuple[tuple[Source, tuple[Document, ...]], ...]
    unknown: tuple[FileNote, ...]


def open_documents(paths: Sequence[str], tell: Callable[[str], None] | None = None) -> Opened:
    """Every file under the paths, sorted by the name shown; `-` is standard input.

    A path that does not exist raises UsageError: somebody meant it. A file that cannot be read becomes a note.
    `tell` hears of what may take long: which archive is being unpacked.
    """
    found: dict[str, tuple[str, str]] = {}
    for path in paths:
        for shown, full in _files_of(path):
            identity = STANDARD_INPUT if full == STANDARD_INPUT else os.path.realpath(full)
            # The same file by two ways keeps one name whatever the order: the longest, then the first by spelling.
            best = min((shown, full), found.get(identity, (shown, full)), key=lambda name: (-len(name[0]), name))
            found[identity] = best
    ordered = sorted(found.values())
    return _opened(_entries(_distinct(ordered), [full for _, full in ordered], tell or _silent))


def sort_out(documents: Iterable[Document], sources: Sequence[Source]) -> Sorted:
    """Ask each source in turn whether a document is its own; the first that says so gets it."""
    taken: list[list[Document]] = [[] for _ in sources]
    unknown: list[FileNote] = []
    for document in documents:
        for place, source in enumerate(sources):
            if source.recognises(document) is not None:
                taken[place].append(document)
                break
        else:
            unknown.append(_note(document.index, ()))
    pairs = tuple((source, tuple(mine)) for source, mine in zip(sources, taken, strict=True) if mine)
    return Sorted(pairs, tuple(unknown))


def line_at(content: bytes | memoryview, offset: int) -> int:
    """The line, from 1, in which the byte at `offset` stands. Looks at all bytes before it, in pieces."""
    line = 1
    for start in range(0, offset, _MAPPED_FROM_BYTES):
        line += line_ends(bytes(content[start : min(start + _MAPPED_FROM_BYTES, offset)]))
    return line


def unreadable_because(content: bytes | memoryview) -> str | None:
    """Why these bytes are no text that could be looked at, in words that follow the file's name; None if they are."""
    head = bytes(content[:_PEEK_BYTES])
    if not head.strip():
        return "is empty"
    if head.startswith(_ZSTD):
        return "is compressed with zstd: unpack it first (unzstd)"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    if head.startswith(_JOURNAL_EXPORT):
        return None
    if b"\0" in head or head.startswith(_PDF):
        return "is binary, not text"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(content) <= _PEEK_BYTES)
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (line {line_at(head, error.start)}): save it as UTF-8"
    return None


def as_utf8(content: bytes | memoryview) -> bytes | memoryview:
    """The same text as UTF-8 without a byte order mark. PowerShell's `>` writes UTF-16, so that is common."""
    head = bytes(content[:3])
    if head.startswith(codecs.BOM_UTF8):
        return content[3:]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return str(content, "utf-16", "replace").encode()
    return content


def _files_of(path: str) -> Iterator[tuple[str, str]]:
    """(name shown, path to open) of each file under one argument."""
    if path == STANDARD_INPUT:
        yield STANDARD_INPUT, STANDARD_INPUT
        return
    if not path:
        raise UsageError("One of the paths is empty: name a file or a folder, or . for this one.")
    full = os.path.abspath(path)  # noqa: PTH100  pathlib would resolve links, and the name shown is the one given
    parent = os.path.dirname(full)  # noqa: PTH120  as above
    if not os.path.lexists(full):
        raise UsageError(f"{path}: there is no such file or folder.")
    if not os.path.isdir(full):  # noqa: PTH112  as above
        yield os.path.relpath(full, parent), full
        return
    refused: list[str] = []
    for folder, folders, names in os.walk(full, onerror=lambda error: refused.append(error.filename)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                file = os.path.join(folder, name)  # noqa: PTH118  as above
                yield os.path.relpath(file, parent), file
    for folder in refused:
        yield os.path.relpath(folder, parent), folder


class _Entry(Struct, frozen=True):
    """One input by the name shown: bytes, or words why there are none. `kind` is that of an archive, else empty."""

    name: str
    content: bytes | memoryview | str
    kind: str = ""
    complaints: tuple[str, ...] = ()


def _silent(_stage: str) -> None:
    return


def _entries(names: Sequence[str], fulls: Sequence[str], tell: Callable[[str], None]) -> Iterator[_Entry]:
    """All inputs in order, each archive before what it holds."""
    for name, full in zip(names, fulls, strict=True):
        content = _content_of(full)
        if isinstance(content, str) or not is_archive(content):
            yield _Entry(name, content)
            continue
        tell(f"unpacking {name}")
        unpacked = unpack(name, content)
        inside = [_Entry(one.name, "", one.kind, one.complaints) for one in unpacked.archives]
        inside += [_Entry(inner, packed) for inner, packed in unpacked.files]
        yield from sorted(inside, key=lambda entry: (entry.name, not entry.kind))


def _opened(entries: Iterable[_Entry]) -> Opened:
    names: list[str] = []
    documents: list[Document] = []
    unread: list[FileNote] = []
    archives: list[FileNote] = []
    for index, entry in enumerate(entries):
        names.append(entry.name)
        content = entry.content
        if entry.kind:
            archives.append(_note(index, entry.complaints, entry.kind))
            continue
        reason = content if isinstance(content, str) else unreadable_because(content)
        if reason is None and not isinstance(content, str):
            documents.append(Document(index, entry.name, as_utf8(content)))
        else:
            unread.append(_note(index, (reason or "",)))
    return Opened(tuple(names), tuple(documents), tuple(unread), tuple(archives))


def _content_of(full: str) -> bytes | memoryview | str:
    """The bytes, or words why there are none."""
    if full == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        mode = os.stat(full).st_mode  # noqa: PTH116  as in _files_of
        if not stat.S_ISREG(mode):
            return "is a folder that cannot be listed" if stat.S_ISDIR(mode) else "is not a regular file"
        with open(full, "rb") as file:  # noqa: PTH123  as in _files_of
            if os.fstat(file.fileno()).st_size < _MAPPED_FROM_BYTES:
                return file.read()
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def _distinct(ordered: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Names to show: the short ones, and the full path where two inputs share a short one. Always valid text."""
    times = Counter(name for name, _ in ordered)
    chosen = (full if times[name] > 1 else name for name, full in ordered)
    return tuple(os.fsencode(name).decode("utf-8", "replace") for name in chosen)


def _note(index: int, reasons: Sequence[str], kind: str = NOT_UNDERSTOOD) -> FileNote:
    complaints = tuple(Complaint(0, reason) for reason in reasons)
    return FileNote(index=index, kind=kind, records=0, skipped=0, first_ns=None, last_ns=None, complaints=complaints)
