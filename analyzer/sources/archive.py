"""Archives opened in place: tar, zip, and files packed with gzip, bzip2 or xz, also one inside the other.

Nothing is written to where a member's name points: members become slices of the archive, or of an unnamed temporary
file where they had to be unpacked. So a name cannot lead anywhere, no link is followed, and a gigabyte does not land
in memory. What an archive may become is bounded by number, by size, and by how much larger than itself it may grow.
"""

import io
import lzma
import mmap
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from analyzer.sources.packing import Buffer, inflated, packing_of

MEMBERS_MAX = 100_000
UNPACKED_MAX_BYTES = 8 << 30
UNPACKED_FREE_BYTES = 64 << 20
"""A small file may become as large as this, whatever the ratio."""
RATIO_MAX = 200
"""gzip makes at most one byte of a thousand; lists of pods as like as twins reach sixty."""
DEPTH_MAX = 4
COMPLAINTS_MAX = 20

_CHUNK_BYTES = 1 << 18
_SPOOLED_FROM_BYTES = 1 << 20
_TAR_MAGIC_AT = 257
_TAR_BLOCK_BYTES = 512
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
_BROKEN = (
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the readers of the standard library raise for input that is not as it should be."""


class Archive(Struct, frozen=True):
    """One archive by the name shown: what it is ("tar archive in gzip"), and sentences about what was left out."""

    name: str
    kind: str
    complaints: tuple[str, ...] = ()


class Unpacked(Struct):
    """The files in an archive with the names to show, sorted, and a note for it and for each archive inside."""

    files: list[tuple[str, Buffer]] = field(default_factory=list)
    archives: list[Archive] = field(default_factory=list)


def is_archive(content: Buffer) -> bool:
    """Whether these bytes begin like an archive that can be opened here."""
    return packing_of(content) is not None or _is_tar(content) or _is_zip(content)


def unpack(name: str, content: Buffer) -> Unpacked:
    """Everything inside. Never raises for bad input: what cannot be had is named in the note of its archive."""
    unpacked = Unpacked()
    _Opener(unpacked).open(name, content, DEPTH_MAX)
    unpacked.files.sort(key=lambda file: file[0])
    return unpacked


class _RefusedError(Exception):
    """A part of an archive that is left out; the text is a clause that follows its name."""


class _Complaints:
    def __init__(self) -> None:
        self._texts: list[str] = []
        self._more = 0

    def add(self, text: str) -> None:
        if len(self._texts) < COMPLAINTS_MAX:
            self._texts.append(text)
        else:
            self._more += 1

    def add_all(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.add(text)

    @property
    def all(self) -> tuple[str, ...]:
        return (*self._texts, f"and {self._more} more like these") if self._more else tuple(self._texts)


class _Opener:
    """Opens one archive and those inside it; all share one allowance of bytes and members."""

    def __init__(self, unpacked: Unpacked) -> None:
        self._unpacked = unpacked
        self._left_bytes = UNPACKED_MAX_BYTES
        self._left_members = MEMBERS_MAX

    def open(self, name: str, content: Buffer, depth: int) -> None:
        """Add what is in `content`, which may be an archive or a plain file; `depth` more may lie inside each other."""
        complaints = _Complaints()
        kinds: list[str] = []
        problems: list[str] = []
        while (packing := packing_of(content)) is not None and len(kinds) < depth:
            kinds.append(packing)
            try:
                content, problem = self._inflate(inflated(content, packing), len(content))
            except _RefusedError as refused:
                self._unpacked.archives.append(Archive(name, f"{packing} file", (str(refused),)))
                return
            problems += [problem] if problem else []
        depth -= len(kinds)
        within = " in ".join(["", *reversed(kinds)])
        if depth > 0 and (_is_tar(content) or _is_zip(content)):
            is_tar = _is_tar(content)
            members = self._tar_members(content, complaints) if is_tar else self._zip_members(content, complaints)
            if not complaints.all:  # else what is wrong inside says the same more precisely
                complaints.add_all(problems)
            at = len(self._unpacked.archives)
            for member, inside in members.items():
                self.open(f"{name}/{member}", inside, depth - 1)
            self._unpacked.archives.insert(
                at, Archive(name, f"{'tar' if is_tar else 'zip'} archive{within}", complaints.all)
            )
            return
        complaints.add_all(problems)
        if is_archive(content):
            complaints.add("holds too many archives inside one another: unpack it first")
        else:
            self._unpacked.files.append((name, content))
        if complaints.all:
            self._unpacked.archives.append(Archive(name, f"{kinds[-1] if kinds else 'packed'} file", complaints.all))

    def _tar_members(self, content: Buffer, complaints: _Complaints) -> dict[str, Buffer]:
        view = memoryview(content)
        members: dict[str, Buffer] = {}
        try:
            with tarfile.open(fileobj=_ViewFile(view), mode="r:") as tar:
                while (member := tar.next()) is not None:
                    if member.isdir() or not self._wanted(member.name):
                        continue
                    name = _shown(member.name)
                    try:
                        self._count(name)
                        _refuse_special(member)
                    except _RefusedError as refused:
                        complaints.add(f"holds {name}, which {refused}")
                        if self._left_members <= 0:
                            break
                        continue
                    members[name] = view[member.offset_data : member.offset_data + member.size]
                    if len(members[name]) < member.size:
                        complaints.add(f"is cut off inside {name}")
                rest = view[tar.offset : tar.offset + _TAR_BLOCK_BYTES]
                if self._left_members > 0 and any(rest):
                    complaints.add("is broken or cut off: what follows is left out")
        except _BROKEN:
            if not any("cut off" in text for text in complaints.all):
                complaints.add("is broken or cut off: what follows is left out")
        return members

    def _zip_members(self, content: Buffer, complaints: _Complaints) -> dict[str, Buffer]:
        members: dict[str, Buffer] = {}
        try:
            with zipfile.ZipFile(_ViewFile(memoryview(content))) as archive:
                for member in archive.infolist():
                    if member.is_dir() or not self._wanted(member.filename):
                        continue
                    name = _shown(member.filename)
                    try:
                        self._count(name)
                        if stat.S_ISLNK(member.external_attr >> 16):
                            raise _RefusedError("is a link: it is left out")
                        if member.flag_bits & 1:
                            raise _RefusedError("is encrypted: it is left out")
                        members[name], problem = self._inflate(_zipped(archive, member), len(content))
                        if problem:
                            complaints.add(f"holds {name}, which {problem}")
                    except _RefusedError as refused:
                        complaints.add(f"holds {name}, which {refused}")
                        if self._left_members <= 0:
                            break
        except _BROKEN:
            complaints.add("is broken or cut off: it cannot be opened")
        return members

    def _inflate(self, pieces: Iterator[bytes], packed_bytes: int) -> tuple[Buffer, str]:
        """(the bytes, a clause if they are not all). Raises _RefusedError if they grow beyond what is allowed."""
        allowed = min(self._left_bytes, max(UNPACKED_FREE_BYTES, RATIO_MAX * packed_bytes))
        start = bytearray()
        size, problem = 0, ""
        spooled: io.BufferedRandom | None = None
        try:
            for piece in _until_broken(pieces):
                if isinstance(piece, str):
                    problem = piece
                    break
                size += len(piece)
                if size > allowed:
                    raise _RefusedError(f"unpacks to more than {allowed >> 20} MiB, as a bomb would: it is left out")
                if spooled is None and size > _SPOOLED_FROM_BYTES:
                    spooled = tempfile.TemporaryFile()  # noqa: SIM115  it is closed below, and lives on as its map
                    spooled.write(start)
                if spooled is None:
                    start += piece
                else:
                    spooled.write(piece)
            self._left_bytes -= size
            if spooled is None:
                return bytes(start), problem
            spooled.flush()
            return memoryview(mmap.mmap(spooled.fileno(), 0, access=mmap.ACCESS_READ)), problem
        except OSError as error:
            raise _RefusedError(f"cannot be unpacked: {error.strerror or error}") from error
        finally:
            if spooled is not None:
                spooled.close()

    def _wanted(self, name: str) -> bool:
        """Hidden files, and what macOS puts beside each file, are no part of an incident."""
        parts = [part for part in name.split("/") if part not in (".", "..", "")]
        return bool(parts) and parts[0] != "__MACOSX" and not any(part[0] == "." != part[1:2] for part in parts)

    def _count(self, name: str) -> None:
        self._left_members -= 1
        if self._left_members <= 0:
            raise _RefusedError(f"is left out with all that follows: more than {MEMBERS_MAX} files are not opened")
        if name.startswith("/") or ".." in name.replace("\\", "/").split("/") or name[1:3] == ":\\":
            raise _RefusedError("has a name that leads out of the archive: it is left out")


def _is_tar(content: Buffer) -> bool:
    return bytes(content[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5]) == b"ustar"


def _is_zip(content: Buffer) -> bool:
    return bytes(content[:4]) in _ZIPS


def _refuse_special(member: tarfile.TarInfo) -> None:
    if member.issym() or member.islnk():
        raise _RefusedError("is a link: it is left out")
    if member.issparse() or not member.isreg():
        raise _RefusedError("is not a regular file: it is left out")


def _shown(name: str) -> str:
    """The member's name as a report may print it: without `./`, without control characters."""
    while name.startswith("./"):
        name = name[2:]
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _zipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(member) as file:
        while piece := file.read(_CHUNK_BYTES):
            yield piece


def _until_broken(pieces: Iterator[bytes]) -> Iterator[bytes | str]:
    """The pieces; where they break off, a clause that says so comes last."""
    try:
        yield from pieces
    except EOFError:
        yield "is cut off: the rest is missing"
    except _BROKEN:
        yield "is broken: what follows is left out"


class _ViewFile(io.RawIOBase):
    """A file over bytes that are there already: nothing is copied but what is asked for."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence]
        if start + offset < 0:
            raise ValueError("before the beginning")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: "Buffer | bytearray") -> int:  # type: ignore[override]  # typeshed names a wider type
        piece = self._view[self._at : self._at + len(buffer)]
        memoryview(buffer)[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
