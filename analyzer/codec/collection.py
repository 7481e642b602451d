"""The manifest of what `knotwatch collect` gathered: `manifest.json` in every archive that it writes.

It says which commands were run, when, how each ended and which file it became, so that whoever reads the archive knows
what is missing and why. Fields may be added, never renamed or removed.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

SCHEMA: Final = "knotwatch.collection/v1"

_PEEK_BYTES = 256


class CollectedRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One command. `file` is absent if nothing came of it; then `complaint` says why, and beside a file what it lacks.

    `exit_status` is absent if the command did not end by itself. `records` are objects, or lines.
    """

    command: str
    file: str | None = None
    exit_status: int | None = None
    seconds: float = 0.0
    records: int = 0
    bytes: int = 0
    complaint: str | None = None


class Manifest(Struct, frozen=True, kw_only=True):
    """What was gathered from where. Times are RFC 3339 in UTC, by the clock of the machine that gathered."""

    schema: str = SCHEMA
    knotwatch: str
    sources: tuple[str, ...]
    started: str
    ended: str
    versions: Mapping[str, str]
    commands: tuple[CollectedRow, ...]


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as indented JSON, for people to read."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def decode_manifest(content: bytes | memoryview) -> Manifest:
    """The manifest in these bytes. Raises msgspec.MsgspecError if it is none."""
    return msgspec.json.decode(content, type=Manifest)


def is_manifest(content: bytes | memoryview) -> bool:
    """Whether the bytes begin as a manifest does."""
    head = bytes(content[:_PEEK_BYTES])
    return head.lstrip().startswith(b"{") and SCHEMA.encode() in head
