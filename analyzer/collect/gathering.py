"""Run commands side by side, each within its time and size, and keep what may be given away of what they print."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock, Thread, Timer
from typing import IO

from msgspec import Struct

from analyzer.codec.collection import CollectedRow
from analyzer.collect.command import Command, Redaction
from analyzer.collect.redaction import NotAsPromisedError, written
from analyzer.collect.texts import masked

OBJECTS_MAX_BYTES = 2 << 30
"""A list of 200,000 pods as kubectl prints it. More is to be collected by namespace."""
LINES_MAX_BYTES = 64 << 20
"""What a log says beyond that is cut off."""
WITHIN_S = 900
"""A collection ends by then, also from an API server that answers nothing in time: what is there is better than all."""

_SIDE_BY_SIDE = 4
"""As many commands at once: the lists belong together in time, and no API server minds four readers."""
_CHUNK_BYTES = 1 << 16
_COMPLAINT_MAX_CHARS = 300
_STDERR_MAX_BYTES = 1 << 16
_CUT = "it is cut here: there was more"
_WARNINGS = ("W", "I", "Warning:", "Defaulted container")
"""How lines of kubectl begin that are no reason why it failed."""

Tell = Callable[[str, CollectedRow], None]
"""Told of each command when it is done: its file, what became of it. From any thread, but never from two at once."""


class Gathering:
    """Runs commands into files below `folder`. `programs` says what the first word of a command is run as."""

    def __init__(self, folder: Path, programs: Mapping[str, tuple[str, ...]]) -> None:
        self._folder = folder
        self._programs = programs
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._lock = Lock()
        self._number = 0
        self._ends_s = time.monotonic() + WITHIN_S

    def collect(self, commands: Sequence[Command], tell: Tell) -> list[CollectedRow]:
        """Run all of them; what became of each, in the order given. What is interrupted ends its commands first."""
        told = Lock()

        def one(command: Command) -> CollectedRow:
            row = self._collected(command)
            with told:
                tell(command.file, row)
            return row

        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            try:
                return list(pool.map(one, commands))
            except BaseException:  # KeyboardInterrupt among them
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop()
                raise

    def output_of(self, argv: Sequence[str], timeout_s: int) -> tuple[str, str | None]:
        """What a short command prints, which may be something though it fails, and why it failed."""
        raw = self._scratch("raw")
        end = self._run(argv, raw, timeout_s, LINES_MAX_BYTES)
        printed = raw.read_text("utf-8", "replace")
        raw.unlink()
        return printed, end.complaint

    def _collected(self, command: Command) -> CollectedRow:
        started = time.monotonic()
        raw, clean = self._scratch("raw"), self._folder / command.file
        bound = OBJECTS_MAX_BYTES if command.redact is not Redaction.LINES else LINES_MAX_BYTES
        end = self._run(command.argv, raw, command.timeout_s, bound)
        complaint, records, size = end.complaint, 0, 0
        try:
            # A listing that is cut is still a listing; of a failed command the output is not whole either.
            if raw.stat().st_size and (end.complaint is None or command.redact is Redaction.LINES):
                clean.parent.mkdir(parents=True, exist_ok=True)
                records = written(command.redact, raw, clean)
                size = clean.stat().st_size
            elif complaint is None:
                complaint = "it printed nothing"
        except NotAsPromisedError as error:
            complaint = complaint or f"what it printed {error}"
            clean.unlink(missing_ok=True)
        except OSError as error:
            complaint = f"it cannot be written: {error.strerror or error}"
            clean.unlink(missing_ok=True)
        raw.unlink(missing_ok=True)
        return CollectedRow(
            command=shlex.join(command.argv),
            file=command.file if size else None,
            exit_status=end.status,
            seconds=round(time.monotonic() - started, 1),
            records=records,
            bytes=size,
            complaint=complaint,
        )

    def _scratch(self, suffix: str) -> Path:
        with self._lock:
            self._number += 1
            return self._folder / f".{self._number}.{suffix}"

    def _run(self, argv: Sequence[str], raw: Path, timeout_s: int, bound_bytes: int) -> "_End":
        """Run one command, its output into `raw`. It has no terminal and no input, and its children end with it."""
        command = [*self._programs.get(argv[0], (argv[0],)), *argv[1:]]
        raw.touch(mode=0o600)
        timeout_s = min(timeout_s, round(self._ends_s - time.monotonic()))
        if timeout_s <= 0:
            return _End(None, f"it was not asked for: the collection had its {WITHIN_S} s")
        try:
            process = subprocess.Popen(  # noqa: S603  the commands are our own tables
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return _End(None, f"{argv[0]} cannot be run: {error.strerror or error}")
        self._watch(process)
        expired = Event()

        def expire() -> None:
            expired.set()
            _end(process)

        timer = Timer(timeout_s, expire)
        timer.start()
        said: list[bytes] = []
        listener = Thread(target=_listen, args=(process.stderr, said), daemon=True)
        listener.start()
        try:
            whole = _kept(process.stdout, raw, bound_bytes)
            if not whole:
                _end(process)
            status = process.wait()
        finally:
            timer.cancel()
            _end(process)
            process.wait()
            _close(process, listener)
            with self._lock:
                self._running.discard(process)
        if expired.is_set():
            return _End(None, f"it did not end within {timeout_s} s")
        if not whole:
            return _End(None, _CUT if bound_bytes == LINES_MAX_BYTES else f"it is larger than {bound_bytes >> 30} GiB")
        return _End(status, _reason(b"".join(said), status) if status else None)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._running.add(process)
            stopped = self._stopped
        if stopped:
            _end(process)

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _end(process)


class _End(Struct, frozen=True):
    """How a command ended. `status` None: it was ended. `complaint` None: it went well."""

    status: int | None
    complaint: str | None


def _kept(source: IO[bytes] | None, raw: Path, bound_bytes: int) -> bool:
    """Copy to the file; False if there is more than that."""
    left = bound_bytes
    with raw.open("wb") as sink:
        while source is not None and (chunk := source.read1(_CHUNK_BYTES)):  # type: ignore[attr-defined]  # a pipe is buffered
            sink.write(chunk[:left])
            left -= len(chunk)
            if left < 0:
                return False
    return True


def _listen(source: IO[bytes], said: list[bytes]) -> None:
    """Read complaints to their end, so that nobody waits for us; keep the last of them, which tells."""
    while chunk := source.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]  # a pipe is buffered
        said[:] = [b"".join((*said, chunk))[-_STDERR_MAX_BYTES:]]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and whatever it started, unless it has ended: its number may be somebody else's by now."""
    if process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _close(process: subprocess.Popen[bytes], listener: Thread) -> None:
    """Close both pipes, unless a child that left the group still has one."""
    listener.join(1)
    if process.stdout is not None:
        process.stdout.close()
    if process.stderr is not None and not listener.is_alive():
        process.stderr.close()


def _reason(said: bytes, status: int) -> str:
    """The line that tells why, in one sentence."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_WARNINGS)] or lines
    reason = masked(telling[-1]) if telling else f"it ended with status {status} and said nothing"
    reason = reason.removeprefix("Error from server ").removeprefix("error: ")
    reason = reason.replace("(Forbidden): ", "not permitted: ", 1)
    return reason if len(reason) <= _COMPLAINT_MAX_CHARS else reason[:_COMPLAINT_MAX_CHARS] + " ..."
