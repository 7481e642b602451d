"""How busy a GPU's links are, against the busiest minute of its last hour: NVLink, and RDMA devices nearest to it.

State, fed with readings. Rates are deltas of counters; one that goes back, or steps up by more than any link moves,
tells nothing. What is the hour of a GPU, and when it stands still, is in exporters/followers/README.md.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from exporters.catalog import nvlink
from exporters.catalog.rdma import COUNTERS
from exporters.collectors.rdma import RDMA, RdmaReading
from exporters.nvml.reading import GpuReading, NodeReading
from exporters.pci import Topology, address_of, nearest
from exporters.subject import Key, Reading, Reason

HOUR_S = 3600.0
MINUTE_S = 60.0
RATE_MAX = 1e14
"""Bytes a second; no link of any card comes near."""

STALE_SPANS = 3
"""A rate that was not found anew for so many of its spans is not known."""

NVLINK = "nvlink"
RDMA_FILES = ("port_xmit_data", "port_rcv_data")
RDMA_FAMILIES = frozenset(COUNTERS[file].family.name for file in RDMA_FILES)


class Rate(Struct, frozen=True):
    """Bytes a second, the mean between two times."""

    value: float
    from_s: float
    to_s: float


class Meter:
    """The rate of one counter: the mean over at least `span_s`."""

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._first: tuple[float, float] | None = None
        self._rate: Rate | None = None

    def note(self, count: float, mono_s: float) -> None:
        """The counter's value at a time. One that went back begins anew."""
        first = self._first
        if first is None or count < first[0] or mono_s < first[1]:
            self._first, self._rate = (count, mono_s), None
            return
        if mono_s == first[1] or mono_s - first[1] < self._span_s:
            return
        value = (count - first[0]) / (mono_s - first[1])
        self._first = (count, mono_s)
        self._rate = Rate(value, first[1], mono_s) if value <= RATE_MAX else None

    def stop(self, mono_s: float) -> None:
        """What it counted for is gone, and moves nothing."""
        self._first, self._rate = None, Rate(0.0, mono_s, mono_s)

    def rate(self, mono_s: float, stale_s: float) -> Rate | None:
        """The latest rate; None if not known, or not known any more."""
        return self._rate if self._rate is not None and mono_s - self._rate.to_s <= stale_s else None


class Highest:
    """The highest of what was noted within the last hour, kept by the minute."""

    def __init__(self) -> None:
        self._minutes: deque[tuple[int, float]] = deque()

    def note(self, rate: float, clock_s: float) -> None:
        """A rate at a time, which never goes back. O(1) in the long run."""
        minute = int(clock_s // MINUTE_S)
        while self._minutes and self._minutes[-1][1] <= rate:
            self._minutes.pop()
        # What is higher and of the same minute stays as long, so this one would never be asked for.
        if not self._minutes or self._minutes[-1][0] != minute:
            self._minutes.append((minute, rate))

    def value(self, clock_s: float) -> float:
        """The highest; 0 if there was none."""
        while self._minutes and self._minutes[0][0] * MINUTE_S < clock_s - HOUR_S:
            self._minutes.popleft()
        return self._minutes[0][1] if self._minutes else 0.0


class LinkLook(Struct, frozen=True, kw_only=True):
    """A GPU's links now. `known`: whether the rate of any is.

    `talked`: whether one was busy within the hour; None: not as far as was seen, and not all of the hour was. `share`:
    of the links that were busy, the largest rate as share of its highest; None if there is none. `unsure`: whether of
    one that was busy the rate is not known.
    """

    known: bool
    talked: bool | None
    share: float | None
    unsure: bool


class Hour:
    """What one GPU's links did in its last hour, by its own clock, which can stand still.

    `begun_s`: when it began (monotonic). `from_start`: whether it began with the job, and not with us.
    """

    def __init__(self, begun_s: float) -> None:
        self.clock_s = 0.0
        self.last_s = begun_s
        self.begun_s = begun_s
        self.from_start = False
        self.highest: dict[str, Highest] = {}

    @property
    def whole(self) -> bool:
        """Whether all of the hour that there can be was seen."""
        return self.from_start or self.clock_s >= HOUR_S


class LinkRates:
    """The links of all GPUs. `floor`: bytes a second from which a link counts as busy."""

    def __init__(self, interval_s: float, floor: float) -> None:
        self._interval_s = interval_s
        self._floor = floor
        self._rdma_span_s = STALE_SPANS * interval_s
        self._nvlink: dict[str, Meter] = {}
        self._rdma: dict[str, Meter] = {}
        self._topology = Topology()
        self._uuids: dict[str, str] = {}
        self._near: dict[str, tuple[str, ...]] | None = None
        self._hours: dict[str, Hour] = {}

    def note(self, key: Key, reading: Reading[Any], mono_s: float) -> None:
        """Take a reading of any subject. O(the reading)."""
        match reading.value:
            case GpuReading() as gpu:
                counts = [gpu.number(nvlink.TRANSMIT), gpu.number(nvlink.RECEIVE)]
                known = [count for count in counts if count is not None]
                if len(known) == len(counts):
                    self._nvlink.setdefault(gpu.uuid, Meter(0.0)).note(sum(known), mono_s)
            case None if key.kind == RDMA and reading.reason is Reason.NOT_FOUND and key.name in self._rdma:
                self._rdma[key.name].stop(mono_s)
            case RdmaReading() as device:
                if (moved := rdma_bytes(device)) is not None:
                    self._rdma.setdefault(key.name, Meter(self._rdma_span_s)).note(moved, mono_s)
            case Topology() as topology:
                self._topology, self._near = topology, None
            case NodeReading(gpus=gpus):
                self._uuids, self._near = {address_of(gpu.pci_address): gpu.uuid for gpu in gpus}, None
            case _:
                pass

    def forget(self, key: Key) -> None:
        """The subject is no more."""
        if key.kind == RDMA:
            self._rdma.pop(key.name, None)
        if key.kind == "gpu":
            self._nvlink.pop(key.name, None)
            self._hours.pop(key.name, None)

    def begin_anew(self, uuid: str, mono_s: float) -> None:
        """What was known of the GPU's hour was another job's, and so is every rate that began before now."""
        self._hours[uuid] = Hour(mono_s)
        self._hours[uuid].from_start = True

    def look(self, uuid: str, mono_s: float, *, still: bool) -> LinkLook:
        """The GPU's links now. `still`: its hour does not go on. To be asked once for each look at the GPU."""
        hour = self._hours.setdefault(uuid, Hour(mono_s))
        if not still:
            hour.clock_s += max(mono_s - hour.last_s, 0.0)
        hour.last_s = mono_s
        rates = {
            name: rate.value if rate is not None and rate.from_s >= hour.begun_s else None
            for name, rate in self._rates(uuid, mono_s).items()
        }
        for name, value in rates.items():
            if value is not None:
                hour.highest.setdefault(name, Highest()).note(value, hour.clock_s)
        tops = {name: highest.value(hour.clock_s) for name, highest in sorted(hour.highest.items())}
        busy = {name: top for name, top in tops.items() if top >= self._floor}
        shares = [value / busy[name] for name in busy if (value := rates.get(name)) is not None]
        return LinkLook(
            known=any(value is not None for value in rates.values()),
            talked=True if busy else False if hour.whole else None,
            share=max(shares, default=None),
            unsure=len(shares) < len(busy),
        )

    def _rates(self, uuid: str, mono_s: float) -> Mapping[str, Rate | None]:
        found: dict[str, Rate | None] = {}
        if uuid in self._nvlink:
            found[NVLINK] = self._nvlink[uuid].rate(mono_s, STALE_SPANS * self._interval_s)
        for name in self._nearest().get(uuid, ()):
            if name in self._rdma:
                found[name] = self._rdma[name].rate(mono_s, STALE_SPANS * self._rdma_span_s)
        return found

    def _nearest(self) -> Mapping[str, tuple[str, ...]]:
        """By UUID the RDMA devices that the GPU is nearest to."""
        if self._near is None:
            near: dict[str, list[str]] = {}
            for seat in self._topology.rdma:
                for gpu, _how in nearest(seat.place, self._topology.gpus):
                    if uuid := self._uuids.get(gpu.address, ""):
                        near.setdefault(uuid, []).append(seat.name)
            self._near = {uuid: tuple(sorted(names)) for uuid, names in sorted(near.items())}
        return self._near


def rdma_bytes(reading: RdmaReading) -> float | None:
    """Bytes that a device has moved in both directions; None if it does not say."""
    moved = [count for port in reading.ports for family, count in port.counts if family.name in RDMA_FAMILIES]
    moved += [count for family, count in reading.counts if family.name in RDMA_FAMILIES]
    return sum(moved) if moved else None
