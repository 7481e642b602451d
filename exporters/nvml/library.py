"""The driver library for all who ask it: started once, started again with patience, and never under a call.

Every answer is a value or a Refusal. Handles and samples carry the start that they are of: after another start they
are refused here, since the library would take them for anything.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Condition
from typing import Any

from msgspec import Struct

from exporters.nvml.driver import MISMATCH, Driver, Fault
from exporters.subject import Reason

RETRY_FIRST_S = 1.0
RETRY_MAX_S = 60.0
QUIET_WAIT_S = 1.0
"""How long a new start waits for calls in flight to end. A call that hangs is not shut down under."""

STALE = "stale"
UNSUPPORTED = frozenset({"3", "13", "25", "26", MISMATCH})
"""Codes that will not change before the driver does."""

REASONS: dict[str, Reason] = {
    "1": Reason.DRIVER,
    "9": Reason.DRIVER,
    "18": Reason.DRIVER,
    "12": Reason.LIBRARY,
    "13": Reason.LIBRARY,
    MISMATCH: Reason.LIBRARY,
    "4": Reason.PERMISSION,
    "15": Reason.LOST,
    "16": Reason.RESET_REQUIRED,
    "28": Reason.NOT_FOUND,
}
"""What a code says of the whole, where it is about the whole."""


class Refusal(Struct, frozen=True):
    """A call that gave nothing. `code`: NVML's number, or a word."""

    code: str

    @property
    def reason(self) -> Reason:
        return REASONS.get(self.code, Reason.ERRORS)


class Handle(Struct, frozen=True):
    """A device or a sample as the library knows it since its `start`-th start."""

    raw: Any
    start: int


class Library:
    """One driver library. Safe to be asked by many threads; started and stopped by the inventory's alone."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._gate = Condition()
        self._in_flight = 0
        self._closing = False
        self._start = 0
        self._open = False
        self._before_stop: list[Callable[[], None]] = []
        self._retry_at_s = 0.0
        self._retry_after_s = RETRY_FIRST_S
        self._refused = Refusal("1")
        self._unsupported: set[tuple[str, str, tuple[Any, ...]]] = set()
        self.starts = 0
        self.failures = 0
        self.version = ""

    @property
    def start(self) -> int:
        """Which start this is; handles of another one are stale."""
        return self._start

    @property
    def down(self) -> Refusal | None:
        """Why the library does not answer at all; None if it does."""
        return None if self._open else self._refused

    def before_stop(self, call: Callable[[], None]) -> None:
        """Something to be done before the library is stopped: what was taken from it is given back."""
        self._before_stop.append(call)

    def ensure(self, mono_s: float) -> Refusal | None:
        """Start the library if it is not, and it is time to try. None: it answers."""
        if self._open:
            return None
        if mono_s < self._retry_at_s:
            return self._refused
        try:
            self._driver.open()
        except Fault as fault:
            self.failures += 1
            self._give_up(Refusal(fault.code), mono_s)
            return self._refused
        with self._gate:
            self._start += 1
            self._open = True
        self.starts += 1
        self._note_version()
        return None

    def settled(self) -> None:
        """The library has answered since its start: the next trouble is a new one."""
        self._retry_after_s = RETRY_FIRST_S

    def stop(self, because: Refusal, mono_s: float, retry_s: float | None = None) -> bool:
        """Stop the library, to be started anew after `retry_s`, or with growing patience if that is None.

        False: a call is in flight and does not end, so it was not stopped.
        """
        if not self._quiet():
            return False
        try:
            for call in self._before_stop:
                call()
            with suppress(Fault):  # it may be gone already; what matters is the next start
                self._driver.close()
        finally:
            with self._gate:
                self._open, self._closing = False, False
        if retry_s is None:
            self._give_up(because, mono_s)
        else:
            self._refused, self._retry_at_s = because, mono_s + retry_s
        return True

    def _quiet(self) -> bool:
        until_s = time.monotonic() + QUIET_WAIT_S
        with self._gate:
            self._closing = True
            while self._in_flight:
                left_s = until_s - time.monotonic()
                if left_s <= 0:
                    self._closing = False
                    return False
                self._gate.wait(left_s)
        return True

    def _give_up(self, refused: Refusal, mono_s: float) -> None:
        self._refused = refused
        self._retry_at_s = mono_s + self._retry_after_s
        self._retry_after_s = min(2 * self._retry_after_s, RETRY_MAX_S)

    def _note_version(self) -> None:
        version = self.ask("nvmlSystemGetDriverVersion")
        if isinstance(version, str) and version != self.version:
            self.version = version
            self._unsupported.clear()

    def ask(self, call: str, handle: Handle | None = None, *keys: Any) -> Any | Refusal:
        """The answer, or why there is none. `keys` may hold handles too."""
        handles = [each for each in (handle, *keys) if isinstance(each, Handle)]
        with self._gate:
            if not self._open:
                return self._refused
            # Nobody waits for a stop: it may hang like everything else.
            if self._closing or any(each.start != self._start for each in handles):
                return Refusal(STALE)
            self._in_flight += 1
        try:
            return self._driver.ask(call, handle and handle.raw, *(_raw(key) for key in keys))
        except Fault as fault:
            return Refusal(fault.code)
        finally:
            with self._gate:
                self._in_flight -= 1
                self._gate.notify_all()

    def give_back(self, call: str, handle: Handle) -> None:
        """Free something, also while the library is being stopped: then it is the last that is asked of it."""
        if handle.start == self._start and self._open:
            try:
                self._driver.ask(call, None, handle.raw)
            except Fault:  # nothing that could be done about it
                return

    def handle(self, raw: Any) -> Handle:
        """What the library has just given, marked with the present start."""
        return Handle(raw, self._start)

    def supports(self, device: str, call: str, keys: tuple[Any, ...] = ()) -> bool:
        """Whether the call may still give something on this device: it has not been refused for good."""
        return (device, call, keys) not in self._unsupported

    def mark_unsupported(self, device: str, call: str, keys: tuple[Any, ...] = ()) -> None:
        """The device does not have it: it is not asked again before the driver changes."""
        self._unsupported.add((device, call, keys))

    def forget(self, device: str) -> None:
        """The device has changed (divided, put together again): everything may be supported now."""
        self._unsupported = {each for each in self._unsupported if each[0] != device}


def _raw(key: Any) -> Any:
    return key.raw if isinstance(key, Handle) else key
