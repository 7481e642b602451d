"""The capture as a file: one JSON document, packed by gzip if its name says so. Whatever is wrong is one sentence."""

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from exporters.config import ConfigError

SCHEMA = "knotwatch.capture/v1"
FILE_BYTES_MAX = 64 * 1024 * 1024
"""Packed or not: a capture of a large node has some megabytes."""
GZIP = b"\x1f\x8b"
LEVELS = 3
"""Of the document that have a line for each part: the whole, a tree, its files."""


class CaptureError(ConfigError):
    """The file cannot be used. Its text is one sentence with the file's name."""


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was answered, `times` in a row: a value, a refusal by its `code`, or nothing ever (`blocks`)."""

    value: Any = None
    code: str = ""
    blocks: bool = False
    times: int = 1


class Exchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question to the driver library and its answers in order. `device`: which handle it was about, as `d0`."""

    call: str
    device: str = ""
    keys: tuple[int | str | None, ...] = ()
    answers: tuple[Answer, ...] = ()


class Tree(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Files beneath one root, by path. `refused`: the system's error code of those that could not be read.

    `links`: where each leads, as text. `folders`: those that hold nothing else that is here.
    """

    files: dict[str, str] = {}
    refused: dict[str, str] = {}
    links: dict[str, str] = {}
    folders: tuple[str, ...] = ()


class Capture(Struct, frozen=True, kw_only=True):
    """The whole. `masked`: what was disguised. `left_out`: what is not in it and why, in sentences."""

    schema: str
    made_by: str
    taken_at_s: float
    masked: tuple[str, ...]
    nvml: tuple[Exchange, ...]
    sysfs: Tree
    procfs: Tree
    left_out: tuple[str, ...] = ()

    def told(self) -> str:
        """What is in it, in some words."""
        devices = {each.device for each in self.nvml if each.device}
        files = sum(len(tree.files) + len(tree.refused) for tree in (self.sysfs, self.procfs))
        return f"{len(self.nvml)} answers of the driver library on {len(devices)} devices, {files} files"


class _Head(Struct):
    schema: str = ""


def written(capture: Capture, *, packed: bool) -> bytes:
    """The document: one question and one file a line, so that a person can read it before it is handed on."""
    text = _lines(msgspec.to_builtins(capture), LEVELS) + b"\n"
    # Without a time in the packed file the same capture gives the same bytes.
    return gzip.compress(text, mtime=0) if packed else text


def _lines(value: Any, levels: int) -> bytes:
    """The value as JSON, so many levels of it with a line for each part."""
    if not value or not levels or not isinstance(value, dict | list | tuple):
        return msgspec.json.encode(value)
    if isinstance(value, dict):
        parts = [msgspec.json.encode(key) + b": " + _lines(value[key], levels - 1) for key in value]
        return b"{\n" + b",\n".join(parts) + b"\n}"
    return b"[\n" + b",\n".join(_lines(each, 0) for each in value) + b"\n]"


def write_capture(path: Path, capture: Capture) -> int:
    """Write the file, whole or not at all; returns its size in bytes. Raises CaptureError."""
    content = written(capture, packed=path.name.endswith(".gz"))
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise CaptureError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return len(content)


def read_capture(path: Path) -> Capture:
    """The capture in a file. Raises CaptureError."""
    try:
        with path.open("rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise CaptureError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    try:
        return captured(_unpacked(raw))
    except CaptureError as error:
        raise CaptureError(f"{path} {error}") from None


def captured(content: bytes) -> Capture:
    """The capture in a document. Raises CaptureError, whose text lacks the file's name."""
    try:
        head = msgspec.json.decode(content, type=_Head)
        if not head.schema.startswith(SCHEMA.partition("/")[0]):
            raise CaptureError(f"is no capture: its schema is not {SCHEMA}.")
        if head.schema != SCHEMA:
            raise CaptureError(f"is a capture of another version ({head.schema[:64]}); this program reads {SCHEMA}.")
        return msgspec.json.decode(content, type=Capture)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise CaptureError(f"is no capture, or a damaged one: {str(error)[:200]}.") from None


def _unpacked(raw: bytes) -> bytes:
    if raw.startswith(GZIP):
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            content = unpacking.decompress(raw, FILE_BYTES_MAX + 1)
        except zlib.error as error:
            raise CaptureError(f"is damaged: {error}.") from None
        if len(content) <= FILE_BYTES_MAX and not unpacking.eof:
            raise CaptureError("is damaged: it breaks off.")
    else:
        content = raw
    if len(content) > FILE_BYTES_MAX:
        raise CaptureError(f"is too large: more than {FILE_BYTES_MAX // 2**20} MiB.")
    return content
