r"""The kernel's log as a subject: /dev/kmsg, one record a read, from where the exporter began.

A record is `priority,sequence,microseconds,flags;text`, lines of a dictionary after it, bytes that cannot be printed as
`\x0a`. EPIPE says that records were overwritten before they were read: the next read goes on behind the gap. Source:
Documentation/ABI/testing/dev-kmsg of the kernel.
"""

import errno
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from exporters.catalog.family import Sample
from exporters.collectors.kernel_lines import Lines, Record, SxidLine, XidLine
from exporters.config import Settings
from exporters.nvml.reading import XidSeen
from exporters.subject import Key, Moment, ReadError, Reading, Source

KIND = "kernel_log"
SOURCE = "kmsg"
INTERVAL_S = 1.0
DEADLINE_S = 5.0
REOPEN_S = 30.0
"""How often opening is tried again."""
RECORD_BYTES_MAX = 16_384
RECORDS_MAX = 5_000
"""Records read in one look; the rest waits in the kernel for the next."""
FACILITY_SHIFT = 3
"""Above the three bits of the level. 0 is the kernel; it never lets a program write as that."""

HEAD = re.compile(rb"(?P<priority>\d{1,6}),(?P<sequence>\d{1,20}),(?P<microseconds>\d{1,20}),[^;\n]*;")
ESCAPED = re.compile(rb"\\x(?P<hex>[0-9a-fA-F]{2})")
GONE = frozenset({"ENOENT", "ENXIO", "ENODEV", "ENOTDIR"})


class LogReading(Struct, frozen=True, kw_only=True):
    """What was heard since the look before. `lost`: records that were overwritten before they could be read.

    `available` False: there is no log, or we may not read it. That is no trouble of the node's, so the subject is up.
    """

    available: bool = True
    xids: tuple[XidSeen, ...] = ()
    sxids: tuple[SxidLine, ...] = ()
    lost: int = 0


class Log(Struct, frozen=True, kw_only=True):
    """An open log. `next`: one record; None: there is none yet. Raises OSError (EPIPE: records were overwritten)."""

    next: Callable[[], bytes | None]
    close: Callable[[], None]


def open_log(path: str, *, at_end: bool) -> Log:
    """The log at its end, so that only what comes is read, or at its oldest record. Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if at_end:
        try:
            os.lseek(file, 0, os.SEEK_END)
        except OSError:
            os.close(file)
            raise

    def following() -> bytes | None:
        try:
            return os.read(file, RECORD_BYTES_MAX) or None
        except BlockingIOError:
            return None

    return Log(next=following, close=lambda: os.close(file))


class KernelLog:
    """The subject. `open_at`: opens the log at its end (True) or at its oldest record. Raises OSError."""

    key = Key(KIND)
    interval_s = INTERVAL_S
    deadline_s = DEADLINE_S

    def __init__(self, open_at: Callable[[bool], Log]) -> None:
        self._open_at = open_at
        self._log: Log | None = None
        self._lines = Lines()
        self._sequence: int | None = None
        self._retry_s = float("-inf")

    def read(self, now: Moment) -> Reading[LogReading]:
        if self._log is None and (down := self._open(now)) is not None:
            return down
        try:
            records, lost = self._records()
        except OSError as error:
            self._shut(now)
            return Reading(value=LogReading(available=False), errors=(ReadError(SOURCE, _code(error)),))
        told = tuple(self._lines.take(records))
        xids = tuple(
            XidSeen(device=one.address, xid=one.xid, source=SOURCE, wall_s=now.wall_s, gpu_instance=one.gpu_instance)
            for one in told
            if isinstance(one, XidLine)
        )
        sxids = tuple(one for one in told if isinstance(one, SxidLine))
        return Reading(value=LogReading(xids=xids, sxids=sxids, lost=lost))

    def samples(self, value: LogReading) -> Iterable[Sample]:  # noqa: ARG002  what one look heard, followers count
        return ()

    def _open(self, now: Moment) -> Reading[LogReading] | None:
        """Open the log if it is time to; what to say if it is not open."""
        errors: tuple[ReadError, ...] = ()
        if now.mono_s >= self._retry_s:
            try:
                # Once it has been read, opening it again goes on behind what was read, by its numbers.
                self._log = self._open_at(self._sequence is None)
            except OSError as error:
                code = _code(error)
                errors = () if code in GONE else (ReadError(SOURCE, code),)
                self._retry_s = now.mono_s + REOPEN_S
            else:
                return None
        return Reading(value=LogReading(available=False), errors=errors)

    def _shut(self, now: Moment) -> None:
        if self._log is not None:
            with suppress(OSError):
                self._log.close()
        self._log, self._retry_s = None, now.mono_s + REOPEN_S

    def _records(self) -> tuple[list[Record], int]:
        """The kernel's own records that have come, and how many are lost. Raises OSError. O(records)."""
        found: list[Record] = []
        lost = 0
        for _ in range(RECORDS_MAX):
            try:
                raw = self._log.next() if self._log is not None else None
            except OSError as error:
                # EPIPE: overwritten, the next read goes on behind the gap. EINVAL: a record too long for us.
                if error.errno in {errno.EPIPE, errno.EINVAL, errno.EINTR}:
                    continue
                raise
            if raw is None:
                break
            if (head := HEAD.match(raw)) is None:
                continue
            sequence = int(head["sequence"])
            if self._sequence is not None:
                if sequence <= self._sequence:
                    continue
                lost += sequence - self._sequence - 1
            self._sequence = sequence
            if int(head["priority"]) >> FACILITY_SHIFT == 0:
                text = raw[head.end() :].partition(b"\n")[0]
                found.append(Record(at_s=int(head["microseconds"]) / 1_000_000, text=unescaped(text)))
        return found, lost


def unescaped(text: bytes) -> str:
    """The text with the bytes that the kernel could not print. Pure."""
    return ESCAPED.sub(lambda match: bytes((int(match["hex"], 16),)), text).decode("utf-8", "replace")


def _code(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EIO")


def kernel_log_source(settings: Settings) -> Source:
    """The node's log, where it may be read."""
    path = str(Path(settings.path.rootfs) / "dev/kmsg")
    subject = KernelLog(lambda at_end: open_log(path, at_end=at_end))
    return lambda: (subject,)
