"""Files packed with gzip, bzip2 or xz, unpacked piece by piece: what they say of their size need not be believed."""

import bz2
import lzma
import zlib
from collections.abc import Iterator

Buffer = bytes | memoryview

_CHUNK_BYTES = 1 << 18
_XZ_MEMORY_MAX_BYTES = 256 << 20
_MAGIC = ((b"\x1f\x8b\x08", "gzip"), (b"\xfd7zXZ\x00", "xz"))
_BZIP2_MAGIC = b"BZh"
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")


def packing_of(content: Buffer) -> str | None:
    """`gzip`, `bzip2` or `xz` by the first bytes; None if it is none of them."""
    head = bytes(content[:10])
    if head.startswith(_BZIP2_MAGIC) and head[4:] in _BZIP2_BLOCKS:
        return "bzip2"
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def inflated(content: Buffer, packing: str) -> Iterator[bytes]:
    """The unpacked bytes in pieces of bounded size; several packed streams may follow each other.

    Raises EOFError where they are cut off, and what the unpacker raises where they are broken.
    """
    view = memoryview(content)
    at = 0
    while at < len(view):
        if at and packing_of(view[at:]) != packing:
            return  # padding, as tapes and some tools leave it behind
        one = _unpacker(packing)
        while not one.eof:
            packed = b""
            if one.needs_input:
                packed = bytes(view[at : at + _CHUNK_BYTES])
                at += len(packed)
                if not packed:
                    raise EOFError
            piece = one.decompress(packed, _CHUNK_BYTES)
            if piece:
                yield piece
        at -= len(one.unused_data)


class _Gunzip:
    """zlib with the calls that the unpackers of bz2 and lzma have."""

    def __init__(self) -> None:
        self._one = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._one.eof

    @property
    def unused_data(self) -> bytes:
        return self._one.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._one.unconsumed_tail and not self._full

    def decompress(self, packed: bytes, max_length: int) -> bytes:
        piece = self._one.decompress(self._one.unconsumed_tail + packed, max_length)
        self._full = len(piece) == max_length
        return piece


def _unpacker(packing: str) -> "_Gunzip | bz2.BZ2Decompressor | lzma.LZMADecompressor":
    if packing == "gzip":
        return _Gunzip()
    return bz2.BZ2Decompressor() if packing == "bzip2" else lzma.LZMADecompressor(memlimit=_XZ_MEMORY_MAX_BYTES)
