"""Which GPUs there are, by UUID: once seen, a GPU is known until the exporter ends, whatever its index becomes."""

from collections.abc import Callable
from threading import Lock
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from exporters.nvml.library import Handle, Library, Refusal
from exporters.nvml.plausible import instance, number, pci_address, text, uuid_in
from exporters.nvml.quarantine import Quarantine
from exporters.nvml.reading import GpuIdentity, MigDevice, NodeReading
from exporters.subject import Moment, ReadError, Reading, Reason

RESTART_CODES = frozenset({"1", "9", "18", "999"})
"""Refusals of the count that a new start may cure."""

LOST_RESTART_FIRST_S = 60.0
LOST_RESTART_MAX_S = 900.0
"""A GPU that was reset may answer only after a new start of the library; the others lose one window by it."""

RELOOK_S = 300.0
GPUS_MAX = 64
MIG_MAX = 8
"""MIG devices of one GPU at most."""


class Known(Struct, frozen=True, kw_only=True):
    """A GPU and how to ask it. `handle` None: it is not among those that the driver names now, for `reason`."""

    identity: GpuIdentity
    handle: Handle | None
    reason: Reason = Reason.NONE


class Devices:
    """All GPUs of the node. `look` is called by those who list them, one after the other; the rest by all."""

    def __init__(
        self,
        library: Library,
        quarantine: Quarantine,
        *,
        expected: int = 0,
        on_pci: Callable[[], int | None] = lambda: None,
    ) -> None:
        self.library = library
        self.quarantine = quarantine
        self._expected = expected
        self._on_pci = on_pci
        self.looked = False
        self._looking = Lock()
        self._lock = Lock()
        self._known: dict[str, Known] = {}
        self._troubled: set[str] = set()
        self._looked_start = 0
        self._looked_at_s = float("-inf")
        self._counted: int | None = None
        self._again = False
        self._most = 0
        self._restart_at_s = 0.0
        self._restart_after_s = LOST_RESTART_FIRST_S
        self._versions = ("", "", "")

    def known(self) -> tuple[Known, ...]:
        """All GPUs ever seen, by UUID."""
        with self._lock:
            return tuple(self._known[uuid] for uuid in sorted(self._known))

    def find(self, uuid: str) -> Known | None:
        return self._known.get(uuid)

    def trouble(self, uuid: str, *, yes: bool) -> None:
        """A GPU's own worker says whether it answers."""
        with self._lock:
            (self._troubled.add if yes else self._troubled.discard)(uuid)

    def look_again(self, uuid: str = "") -> None:
        """Something has changed (MIG, a GPU is gone): the next look enumerates anew."""
        self._again = True
        if uuid:
            self.library.forget(uuid)

    def look(self, now: Moment) -> Reading[NodeReading]:
        """Start the library if need be, and bring the list in line with it."""
        with self._looking:
            self.looked = True
            return self._look(now)

    def _look(self, now: Moment) -> Reading[NodeReading]:
        errors: list[ReadError] = []
        down = self.library.ensure(now.mono_s)
        counted: Any = down or self.library.ask("nvmlDeviceGetCount")
        if not isinstance(counted, int):
            errors.append(ReadError("nvmlInit" if down else "nvmlDeviceGetCount", counted.code))
            if not down and counted.code in RESTART_CODES:
                self.library.stop(counted, now.mono_s)
            self._lose_all(counted.reason)
            return self._said(None, counted.reason, errors)
        self.library.settled()
        old = now.mono_s - self._looked_at_s >= RELOOK_S and self.quarantine.empty
        if old or self._again or counted != self._counted or self.library.start != self._looked_start:
            self._enumerate(counted, now, errors)
        if self._restarted_for_the_lost(now):
            self._enumerate(counted, now, errors)
        self._most = max(self._most, counted, len(self._known))
        return self._said(counted, Reason.NONE, errors)

    def _restarted_for_the_lost(self, now: Moment) -> bool:
        """A GPU after a reset may need a new start; never while one may hang whoever touches it."""
        with self._lock:
            lost = bool(self._troubled) or any(each.handle is None for each in self._known.values())
        if not lost:
            self._restart_at_s, self._restart_after_s = 0.0, LOST_RESTART_FIRST_S
        elif not self._restart_at_s:
            self._restart_at_s = now.mono_s + self._restart_after_s
        elif now.mono_s >= self._restart_at_s and self.quarantine.empty:
            self._restart_after_s = min(2 * self._restart_after_s, LOST_RESTART_MAX_S)
            self._restart_at_s = now.mono_s + self._restart_after_s
            stopped = self.library.stop(Refusal("15"), now.mono_s, retry_s=0.0)
            return stopped and self.library.ensure(now.mono_s) is None
        return False

    def _enumerate(self, count: int, now: Moment, errors: list[ReadError]) -> None:
        """Bring the list in line with what the driver shows."""
        self._again = False
        if self.library.start != self._looked_start:
            self._versions = (
                self.library.version,
                text(_or_none(self.library.ask("nvmlSystemGetNVMLVersion"))),
                _cuda(_or_none(self.library.ask("nvmlSystemGetCudaDriverVersion_v2"))),
            )
        seen: dict[str, Known] = {}
        nameless = False
        for index in range(min(count, GPUS_MAX)):
            raw = self.library.ask("nvmlDeviceGetHandleByIndex", None, index)
            handle = None if isinstance(raw, Refusal) else self.library.handle(raw)
            said = raw if handle is None else self.library.ask("nvmlDeviceGetUUID", handle)
            shown = uuid_in(said)
            if handle is None or not shown:
                nameless = True
                code = said.code if isinstance(said, Refusal) else "0"
                errors.append(ReadError("nvmlDeviceGetUUID" if handle else "nvmlDeviceGetHandleByIndex", code))
                continue
            seen[shown] = Known(identity=self._identity(shown, index, handle), handle=handle)
        self._settle(seen, nameless=nameless)
        self._looked_at_s, self._looked_start, self._counted = now.mono_s, self.library.start, count
        # One without a name may have it soon; but none is asked for it that may hang.
        self._again = self._again or (nameless and self.quarantine.empty)

    def _settle(self, seen: dict[str, Known], *, nameless: bool) -> None:
        """Those not seen keep their identity. Where the driver shows one without a name, they may still be asked."""
        with self._lock:
            for uuid, old in self._known.items():
                if uuid not in seen:
                    usable = old.handle if nameless and old.handle and old.handle.start == self.library.start else None
                    reason = Reason.LOST if nameless else Reason.NOT_FOUND
                    self._known[uuid] = replace(old, handle=usable, reason=reason)
            self._known.update(seen)

    def _lose_all(self, reason: Reason) -> None:
        with self._lock:
            self._known = {uuid: replace(each, handle=None, reason=reason) for uuid, each in self._known.items()}
        self._counted = None

    def _identity(self, uuid: str, index: int, handle: Handle) -> GpuIdentity:
        """What does not change while the library runs is asked once for each start."""
        old = self._known.get(uuid)
        if old is not None and old.identity.name and self.library.start == self._looked_start:
            return replace(old.identity, index=index)

        def ask(call: str) -> Any:
            return _or_none(self.library.ask(call, handle))

        minor = number(ask("nvmlDeviceGetMinorNumber"), 0, 4096)
        return GpuIdentity(
            uuid=uuid,
            index=index,
            minor=None if minor is None else int(minor),
            name=text(ask("nvmlDeviceGetName")),
            pci_address=pci_address(ask("nvmlDeviceGetPciInfo_v3")),
            serial=text(ask("nvmlDeviceGetSerial")),
            vbios=text(ask("nvmlDeviceGetVbiosVersion")),
            driver=text(self.library.version),
        )

    def _said(self, counted: int | None, reason: Reason, errors: list[ReadError]) -> Reading[NodeReading]:
        on_pci = self._on_pci()
        self._most = max(self._most, on_pci or 0)
        known = self.known()
        with self._lock:
            visible = tuple(
                each.identity.uuid
                for each in known
                if each.handle is not None
                and each.identity.uuid not in self._troubled
                and not self.quarantine.holds(each.identity.uuid)
            )
        driver, nvml, cuda = self._versions
        value = NodeReading(
            gpus=tuple(each.identity for each in known),
            counted=counted,
            visible=visible,
            expected=self._expected or self._most,
            on_pci=on_pci,
            up=counted is not None,
            starts=self.library.starts,
            failures=self.library.failures,
            driver=driver,
            nvml=nvml,
            cuda=cuda,
        )
        return Reading(value=value, up=counted is not None, reason=reason, errors=tuple(errors))


def mig_devices(library: Library, handle: Handle) -> tuple[tuple[MigDevice, Handle], ...]:
    """The MIG devices of a GPU, as they are now: UUIDs are given anew when it is divided anew."""
    found = []
    for index in range(MIG_MAX):
        raw = library.ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
        if isinstance(raw, Refusal):
            continue
        child = library.handle(raw)
        name = uuid_in(_or_none(library.ask("nvmlDeviceGetUUID", child)))
        gpu_instance = instance(_or_none(library.ask("nvmlDeviceGetGpuInstanceId", child)))
        compute_instance = instance(_or_none(library.ask("nvmlDeviceGetComputeInstanceId", child)))
        if not name or gpu_instance is None or compute_instance is None:
            continue
        profile = text(_or_none(library.ask("nvmlDeviceGetName", child))).rpartition("MIG ")[2]
        device = MigDevice(uuid=name, gpu_instance=gpu_instance, compute_instance=compute_instance, profile=profile)
        found.append((device, child))
    return tuple(found)


def _or_none(answer: Any) -> Any:
    return None if isinstance(answer, Refusal) else answer


def _cuda(version: Any) -> str:
    """`12.8` for 12080."""
    return f"{version // 1000}.{version % 1000 // 10}" if isinstance(version, int) and version > 0 else ""
