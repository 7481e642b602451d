"""Events of the driver: registered for on every GPU, taken without waiting, and let be for a while after a failure.

A wait that fails on a lost GPU fails again at once, for ever: so the set of events is dropped and made anew later, with
growing patience. Only types that a GPU supports are registered for, since one too many refuses them all.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from exporters.nvml.devices import Devices
from exporters.nvml.library import Handle, Refusal
from exporters.nvml.plausible import instance
from exporters.subject import ReadError

XID = 0x8
MIG = 0x100
KINDS: dict[int, str] = {
    0x1: "single_bit_ecc",
    0x2: "double_bit_ecc",
    MIG: "mig_configuration",
    0x200: "single_bit_ecc_storm",
    0x400: "dram_retirement",
    0x800: "dram_retirement_failure",
    0x1000: "poison",
    0x2000: "fatal_poison",
    0x4000: "gpu_unavailable",
    0x8000: "recovery_action",
}
"""NVML's event types by name; XID apart, which has a number."""

WANTED = XID | sum(KINDS)
TIMEOUT = "10"
WAIT_MS = 200
EVENTS_MAX = 256
"""Taken in one look; the rest stays with the driver until the next."""

RETRY_FIRST_S = 2.0
RETRY_MAX_S = 60.0


class Event(Struct, frozen=True, kw_only=True):
    """One event. `number`: the XID, for those. `uuid`: empty if the device is not known."""

    uuid: str
    kind: int
    number: int
    gpu_instance: int | None


class Listener:
    """The set of events, and who is registered in it. Used by one worker."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._library = devices.library
        self._events: Handle | None = None
        self._addresses: dict[int, str] = {}
        self._registered: set[str] = set()
        self._retry_at_s = 0.0
        self._retry_after_s = RETRY_FIRST_S
        self._refused = Refusal("1")
        self._library.before_stop(self._give_back)

    @property
    def watched(self) -> int:
        """GPUs whose events are heard."""
        return len(self._registered)

    def take(self, mono_s: float, errors: list[ReadError]) -> tuple[Event, ...] | Refusal:
        """What has come since the last time, or why nothing can."""
        if (down := self._library.down) is not None:
            return down
        if mono_s < self._retry_at_s:
            return self._refused
        refused = self._ready(errors)
        taken: list[Event] = []
        if refused is None:
            for event in self._waiting():
                if isinstance(event, Refusal):
                    refused = event
                else:
                    taken.append(event)
        if refused is None:
            self._retry_after_s = RETRY_FIRST_S
        else:
            errors.append(ReadError("nvmlEventSetWait", refused.code))
            self._fail(refused, mono_s)
        return tuple(taken) if taken or refused is None else refused

    def _waiting(self) -> Iterator[Event | Refusal]:
        """Events one by one; a refusal ends it, and having none left is none."""
        for place in range(EVENTS_MAX):
            answer: Any = self._library.ask("nvmlEventSetWait_v2", self._events, 0 if place else WAIT_MS)
            if isinstance(answer, Refusal):
                if answer.code != TIMEOUT:
                    yield answer
                return
            address, kind, number, gpu_instance, _compute_instance = answer
            uuid = self._addresses.get(address, "")
            yield Event(uuid=uuid, kind=kind, number=number, gpu_instance=instance(gpu_instance))

    def _ready(self, errors: list[ReadError]) -> Refusal | None:
        """Have a set of this start, with all GPUs in it that can be."""
        if self._events is None or self._events.start != self._library.start:
            raw = self._library.ask("nvmlEventSetCreate")
            if isinstance(raw, Refusal):
                return raw
            self._events = self._library.handle(raw)
            self._registered, self._addresses = set(), {}
        for known in self._devices.known():
            uuid, handle = known.identity.uuid, known.handle
            if handle is None or uuid in self._registered or self._devices.quarantine.holds(uuid):
                continue
            code = self._register(handle, uuid)
            if code:
                errors.append(ReadError("nvmlDeviceRegisterEvents", code))
        return None

    def _register(self, handle: Handle, uuid: str) -> str:
        """Empty if events of this GPU are heard now, or cannot be; else the code of a failure to be tried again."""
        if not self._library.supports(uuid, "nvmlDeviceRegisterEvents"):
            return ""
        supported = self._library.ask("nvmlDeviceGetSupportedEventTypes", handle)
        types = supported & WANTED if isinstance(supported, int) else 0
        refused: Any = supported
        if types:
            refused = self._library.ask("nvmlDeviceRegisterEvents", handle, types, self._events)
        if types and not isinstance(refused, Refusal):
            address = self._library.ask("handle_address", handle)
            if isinstance(address, int):
                self._addresses[address] = uuid
            self._registered.add(uuid)
            return ""
        code = refused.code if isinstance(refused, Refusal) else "3"
        if code == "3":
            self._library.mark_unsupported(uuid, "nvmlDeviceRegisterEvents")
            return ""
        return code

    def _fail(self, refused: Refusal, mono_s: float) -> None:
        self._refused = refused
        self._retry_at_s = mono_s + self._retry_after_s
        self._retry_after_s = min(2 * self._retry_after_s, RETRY_MAX_S)
        if self._events is not None:
            self._library.ask("nvmlEventSetFree", None, self._events)
        self._events, self._registered, self._addresses = None, set(), {}

    def _give_back(self) -> None:
        """Called while the library is being stopped, with no call in flight."""
        if self._events is not None:
            self._library.give_back("nvmlEventSetFree", self._events)
            self._events, self._registered, self._addresses = None, set(), {}
