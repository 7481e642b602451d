"""How long each GPU has been idle, how long while somebody held it, and how much it did.

The idea, its assumptions and what it does not find are in exporters/followers/README.md.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from exporters.catalog import gpm, gpu
from exporters.catalog import idleness as catalog
from exporters.catalog.family import Family, Sample
from exporters.collectors.gpu_holders import Holders, Names, holders_of
from exporters.config import Settings
from exporters.nvml.reading import GpuReading, MigInstance
from exporters.subject import Key, Moment, Reading

SM_METRIC = 2
GAP_INTERVALS = 3


class Families(Struct, frozen=True, kw_only=True):
    """What a machine publishes: of a whole GPU, or of an instance."""

    idle: Family
    allocated_idle: Family
    busy: Family
    observed: Family


GPU_FAMILIES = Families(
    idle=catalog.IDLE, allocated_idle=catalog.ALLOCATED_IDLE, busy=catalog.BUSY, observed=catalog.OBSERVED
)
MIG_FAMILIES = Families(
    idle=catalog.MIG_IDLE,
    allocated_idle=catalog.MIG_ALLOCATED_IDLE,
    busy=catalog.MIG_BUSY,
    observed=catalog.MIG_OBSERVED,
)


class Look(Struct, frozen=True, kw_only=True):
    """One look at a GPU or an instance. `active` None: not known. `sm`: mean SM activity of the last `window_s`.

    `window_s` None: the length is not told; it is not less than the time since the look before.
    """

    active: bool | None
    sm: float | None
    window_s: float | None
    holders: Names | None


class Idler:
    """The machine of one GPU or instance. Times are monotonic seconds."""

    def __init__(self, gap_s: float) -> None:
        self.busy_s = 0.0
        self.observed_s: float | None = None
        self._gap_s = gap_s
        self._last_s: float | None = None
        self._last_sm_s: float | None = None
        self._idle_since_s: float | None = None
        self._holders: Names | None = None
        self._held_known = False
        self._held_since_s = 0.0

    def note(self, look: Look, at_s: float) -> None:
        """One look more. One that is not later than the last changes nothing. O(1)."""
        if self._last_s is not None and at_s <= self._last_s:
            return
        self._integrate(look, at_s)
        self._hold(look.holders, at_s)
        if look.active is None:
            return
        since_last_s = float("inf") if self._last_s is None else at_s - self._last_s
        window_s = (look.window_s or 0.0) if look.sm is not None else 0.0
        if look.active:
            self._idle_since_s = None
        elif self._idle_since_s is None or since_last_s > max(self._gap_s, window_s):
            # The window's mean is below the floor, so the window is idle from its beginning.
            self._idle_since_s = at_s - (min(window_s, since_last_s) if self._last_s is not None else 0.0)
        self._last_s = at_s

    def lose(self) -> None:
        """The GPU does not answer: what is now is not known, and a look after it begins anew."""
        self._last_s = self._last_sm_s = self._idle_since_s = None
        self._held_known = False

    def _integrate(self, look: Look, at_s: float) -> None:
        if look.sm is None:
            return
        self.observed_s = self.observed_s or 0.0
        if self._last_sm_s is not None:
            span_s = at_s - self._last_sm_s
            if look.window_s is not None:
                covered_s = min(look.window_s, span_s)
            else:
                covered_s = span_s if span_s <= self._gap_s else 0.0
            self.busy_s += min(max(look.sm, 0.0), 1.0) * covered_s
            self.observed_s += covered_s
        self._last_sm_s = at_s

    def _hold(self, holders: Names | None, at_s: float) -> None:
        self._held_known = holders is not None
        if holders is None:
            return
        if holders and (not self._holders or self._holders.isdisjoint(holders)):
            self._held_since_s = at_s
        self._holders = holders

    def idle_s(self, now_s: float) -> float | None:
        """How long it was idle at the last look; None while that is not known."""
        if self._last_s is None or now_s - self._last_s > self._gap_s:
            return None
        return 0.0 if self._idle_since_s is None else self._last_s - self._idle_since_s

    def allocated_idle_s(self, now_s: float) -> float | None:
        """The same while the same holder has held it; 0 if nobody does; None while either is not known."""
        idle_s = self.idle_s(now_s)
        if idle_s is None or self._last_s is None or not self._held_known:
            return None
        return min(idle_s, max(self._last_s - self._held_since_s, 0.0)) if self._holders else 0.0


class Device:
    """A GPU's machines: its own, and that of each of its instances by the UUIDs in it."""

    def __init__(self, gap_s: float) -> None:
        self.index = 0
        self.whole = Idler(gap_s)
        self.instances: dict[int, tuple[str, Idler]] = {}


class Idleness:
    """All GPUs. `gap_s`: what is longer between two looks is not covered by the second."""

    def __init__(self, holders: Holders, *, floor: float, gap_s: float) -> None:
        self._holders = holders
        self._floor = floor
        self._gap_s = gap_s
        self._devices: dict[str, Device] = {}

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        self._holders.note(key, reading, at)
        if isinstance(reading.value, GpuReading):
            self._look(reading.value, at)
        elif key.kind == "gpu" and not reading.up and key.name in self._devices:
            device = self._devices[key.name]
            device.whole.lose()
            for _, idler in device.instances.values():
                idler.lose()

    def _look(self, value: GpuReading, at: Moment) -> None:
        device = self._devices.setdefault(value.uuid, Device(self._gap_s))
        device.index = value.index
        window_s = value.number(gpm.GPM_WINDOW)
        sm = value.number(gpm.SM_ACTIVE)
        whole = Look(active=self._active(value, sm), sm=sm, window_s=window_s, holders=self._holders.of(value.uuid, at))
        device.whole.note(whole, at.mono_s)
        present = {one.gpu_instance for one in value.instances}
        for gone in sorted(device.instances.keys() - present):
            del device.instances[gone]
        for one in value.instances:
            self._instance(device, value, one, at)

    def _instance(self, device: Device, value: GpuReading, one: MigInstance, at: Moment) -> None:
        number = one.gpu_instance
        name = " ".join(sorted(each.uuid for each in value.mig if each.gpu_instance == number))
        if number not in device.instances or device.instances[number][0] != name:
            device.instances[number] = name, Idler(self._gap_s)
        sm = one.activity.get(SM_METRIC)
        look = Look(
            active=None if sm is None else sm > self._floor,
            sm=sm,
            window_s=None,
            holders=self._holders.of(value.uuid, at, number),
        )
        device.instances[number][1].note(look, at.mono_s)

    def _active(self, value: GpuReading, sm: float | None) -> bool | None:
        """Whether anything in the GPU is above the floor; None if nothing is, and not all that could be is known."""
        whole = [share for share in (sm, value.number(gpu.KERNEL_RESIDENT)) if share is not None]
        parts = [one.activity.get(SM_METRIC) for one in value.instances]
        if any(share is not None and share > self._floor for share in (*whole, *parts)):
            return True
        if whole or (parts and None not in parts):
            return False
        return None

    def forget(self, key: Key) -> None:
        self._holders.forget(key)
        if key.kind == "gpu":
            self._devices.pop(key.name, None)

    def samples(self, now: Moment) -> Iterable[Sample]:
        for uuid, device in sorted(self._devices.items()):
            labels = (uuid, str(device.index))
            yield from _samples(GPU_FAMILIES, labels, device.whole, now.mono_s)
            for number, (_, idler) in sorted(device.instances.items()):
                yield from _samples(MIG_FAMILIES, (*labels, str(number)), idler, now.mono_s)


def _samples(families: Families, labels: tuple[str, ...], idler: Idler, now_s: float) -> Iterator[Sample]:
    for family, value in (
        (families.idle, idler.idle_s(now_s)),
        (families.allocated_idle, idler.allocated_idle_s(now_s)),
        (families.busy, None if idler.observed_s is None else idler.busy_s),
        (families.observed, idler.observed_s),
    ):
        if value is not None:
            yield Sample(family, labels, value)


def idleness(settings: Settings) -> Idleness:
    """The follower, as the settings want it."""
    return Idleness(
        holders_of(settings),
        floor=settings.idle.floor_ratio,
        gap_s=GAP_INTERVALS * settings.collect.interval_s,
    )
