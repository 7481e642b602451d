"""The fake driver library as Python sees it: what each call on each device answers, changed while it runs.

    fake = FakeNvml(library, folder / "state")     # then pynvml.nvmlInit() in this process finds it
    gpu = fake.add("GPU-1")                        # answers NOT_SUPPORTED to everything but its UUID
    fake.set(gpu, "nvmlDeviceGetPowerUsage", 350_000)
    fake.fail(gpu, "nvmlDeviceGetPowerUsage", 3)   # or block(), for ever; or "*" for every call on the device
    fake.field(gpu, 138, 17, scope=0)              # NVML field values; gpm() for metrics of samples
    fake.event(gpu, 8, 79)                         # what the next wait for events returns

Another process sees the same answers if it starts with `fake.environment()`.
"""

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

ANY = -1
NOT_SUPPORTED = 3
LOST = 15
NONE = 0xFFFFFFFF
"""What NVML writes where there is no instance, no index, no scope."""

_FIELD_TYPES = MappingProxyType({0: "d", 1: "I", 2: "Q", 3: "Q", 4: "q", 5: "i", 6: "H"})
"""NVML's value types, and how struct packs each."""


class FakeNvml:
    """One node's worth of answers. Loading it makes the real pynvml of this process talk to it."""

    def __init__(self, library: Path, state: Path) -> None:
        self.library = library
        self.state = state
        self._c = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self._c.fake_format.restype = ctypes.c_char_p
        self._c.fake_calls.restype = ctypes.c_uint64
        self._c.fake_waiting.restype = ctypes.c_uint64
        self._c.fake_samples_held.restype = ctypes.c_uint64
        if self._c.fake_open(str(state).encode(), 1) != 0:
            raise OSError(f"{state}: cannot be mapped")
        self.uuids: list[str] = []

    def environment(self) -> dict[str, str]:
        """What another process needs in its environment to see the same node."""
        folders = [str(self.library.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return {"LD_LIBRARY_PATH": ":".join(folders), "FAKE_NVML_STATE": str(self.state)}

    def add(self, uuid: str) -> int:
        """One more GPU, visible at the next index. Its number here stays the same whatever its index becomes."""
        return self._add(uuid, ANY, ANY)

    def add_mig(self, parent: int, uuid: str, gpu_instance: int, compute_instance: int, *, index: int) -> int:
        """One MIG device of a GPU: a device of its own, with answers of its own."""
        slot = self._add(uuid, parent, index)
        self.set(slot, "nvmlDeviceIsMigDeviceHandle", 1)
        self.set(slot, "nvmlDeviceGetGpuInstanceId", gpu_instance)
        self.set(slot, "nvmlDeviceGetComputeInstanceId", compute_instance)
        return slot

    def _add(self, uuid: str, parent: int, index: int) -> int:
        slot = int(self._c.fake_add(uuid.encode(), parent, index))
        if slot < 0:
            raise ValueError("no room for another device")
        self.uuids.append(uuid)
        self.set(slot, "nvmlDeviceGetUUID", uuid)
        return slot

    def remove(self, slot: int) -> None:
        """A device that its UUID and its parent no longer lead to (MIG reconfiguration)."""
        self._c.fake_remove(slot)

    def show(self, *slots: int) -> None:
        """Which GPUs are visible from now on, in the order of their indices."""
        self._c.fake_show((ctypes.c_int32 * len(slots))(*slots), len(slots))

    def set(
        self, slot: int, call: str, value: object = None, keys: Sequence[int] = (), *, times: int = 0, delay_ms: int = 0
    ) -> None:
        """What the call answers. `keys`: the sensor, clock or counter. `times`: only so often, then as before."""
        payload = self._packed(call, value)
        self._answer(slot, call, keys, payload, times=times, delay_ms=delay_ms)

    def fail(self, slot: int, call: str, code: int, keys: Sequence[int] = (), *, times: int = 0, skip: int = 0) -> None:
        """The call returns the code; only `times` times after `skip` good ones, if that is given."""
        self._answer(slot, call, keys, code=code, times=times, skip=skip)

    def block(self, slot: int, call: str, keys: Sequence[int] = ()) -> None:
        """The call does not return until another answer is written, or this one withdrawn."""
        self._answer(slot, call, keys, blocks=True)

    def withdraw(self, slot: int, call: str, keys: Sequence[int] = ()) -> None:
        """Forget what was written for exactly these."""
        self._c.fake_withdraw(self._function(call), slot, _three(keys))

    def lose(self, slot: int, code: int = LOST) -> None:
        """Every call on the device returns the code."""
        self.fail(slot, "*", code)

    def field(self, slot: int, field: int, value: float, *, scope: int = ANY, kind: int = 3) -> None:
        """What a field value says. `kind`: NVML's value type."""
        raw = struct.pack(f"={_FIELD_TYPES[kind]}", value).ljust(8, b"\0") + struct.pack("=I", kind)
        self._answer(slot, "field", (field, scope), raw)

    def field_fails(self, slot: int, field: int, code: int, *, scope: int = ANY) -> None:
        """The field has a code of its own, in a call that succeeds."""
        self._answer(slot, "field", (field, scope), code=code)

    def gpm(self, slot: int, metric: int, value: float, *, gpu_instance: int = ANY, code: int = 0) -> None:
        """What one metric between two GPM samples is."""
        self._answer(slot, "gpm", (metric, gpu_instance), struct.pack("=d", value), code=code)

    def processes(self, slot: int, call: str, rows: Sequence[tuple[int, int | None, int, int]]) -> None:
        """The list of processes: pid, bytes (None: not known), GPU instance, compute instance."""
        packed = [struct.pack("@IQII", pid, 2**64 - 1 if size is None else size, gi, ci) for pid, size, gi, ci in rows]
        self._answer(slot, call, (), b"".join(packed))

    def usage(self, slot: int, rows: Sequence[tuple[int, int, int]]) -> None:
        """Samples of process utilisation: pid, time in microseconds, percent of SM."""
        packed = [struct.pack("@IQIIII", pid, at_us, sm, 0, 0, 0) for pid, at_us, sm in rows]
        self._answer(slot, "nvmlDeviceGetProcessUtilization", (), b"".join(packed))

    def event(self, slot: int, kind: int, number: int, gpu_instance: int = NONE, compute_instance: int = NONE) -> None:
        """Something that the next wait for events returns, if it is registered for."""
        self._c.fake_event(
            slot, ctypes.c_uint64(kind), ctypes.c_uint64(number), ctypes.c_uint32(gpu_instance), compute_instance
        )

    def instant(self, *, on: bool = True) -> None:
        """A wait for events returns TIMEOUT at once, so that tests need not wait."""
        self._c.fake_instant(int(on))

    def calls(self, call: str = "*", slot: int = ANY) -> int:
        """How often the call was made so far: on this device, or on all and on none."""
        return int(self._c.fake_calls(self._function(call), slot))

    def waiting(self) -> int:
        """How many calls are blocked now."""
        return int(self._c.fake_waiting())

    def samples_held(self) -> int:
        """GPM samples that were given out and not given back."""
        return int(self._c.fake_samples_held())

    def _function(self, call: str) -> int:
        number = int(self._c.fake_function(call.encode()))
        if number < 0:
            raise ValueError(f"{call}: not in functions.def")
        return number

    def _packed(self, call: str, value: object) -> bytes:
        match value:
            case None:
                return b""
            case str():
                return value.encode()
            case bytes():
                return value
            case ctypes.Structure():
                return bytes(value)
            case tuple():
                return struct.pack(f"={self._format(call)}", *value)
            case _:
                return struct.pack(f"={self._format(call)}", value)

    def _format(self, call: str) -> str:
        return bytes(self._c.fake_format(self._function(call))).decode()

    def _answer(
        self,
        slot: int,
        call: str,
        keys: Sequence[int],
        payload: bytes = b"",
        *,
        code: int = 0,
        times: int = 0,
        skip: int = 0,
        blocks: bool = False,
        delay_ms: int = 0,
    ) -> None:
        place = (self._function(call), slot, _three(keys))
        refused = self._c.fake_answer(*place, skip, times, code, int(blocks), delay_ms, payload, len(payload))
        if refused:
            raise ValueError(f"{call}: an answer of {len(payload)} bytes cannot be kept")


def _three(keys: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * 3)(*keys, *[ANY] * (3 - len(keys)))
