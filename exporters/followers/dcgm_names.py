"""Our values under the names of DCGM's exporter, so that its dashboards and alerts go on working.

What is absent with us is absent here. Pod labels stand on a series only while exactly one container holds what it is
of, and alone: values of a GPU that several share are nobody's. Of a divided GPU, memory and activity are those of its
instances, so that a sum over a node counts nothing twice; what the board alone has (power, heat) stays with the board.
"""

import os
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from exporters.catalog import dcgm as catalog
from exporters.catalog import nvlink
from exporters.catalog.family import Family, Sample
from exporters.collectors.allocations import Allocations, PodHolder, allocations_of
from exporters.config import Settings
from exporters.nvml.plausible import pci_address
from exporters.nvml.reading import GpuIdentity, GpuReading, Memory, NodeReading
from exporters.rooted import tree_at
from exporters.subject import Key, Moment, Reading

AGE_INTERVALS_MAX = 3
"""As on the board: what was not read anew for so long is withdrawn."""

MEBIBYTE = 2**20
HOST_NAME = "sys/kernel/hostname"
XID_TEXTS = MappingProxyType(
    {
        13: "Graphics Engine Exception",
        31: "GPU memory page fault",
        43: "GPU stopped processing",
        45: "Preemptive cleanup, due to previous errors",
        48: "Double Bit ECC Error",
        61: "Internal micro-controller breakpoint/warning",
        62: "Internal micro-controller halt",
        63: "ECC page retirement or row remapping recording event",
        64: "ECC page retirement or row remapper recording failure",
        74: "NVLINK Error",
        79: "GPU has fallen off the bus",
        92: "High single-bit ECC error rate",
        94: "Contained ECC error",
        95: "Uncontained ECC error",
        119: "GSP RPC timeout",
        120: "GSP error",
    }
)
"""What NVIDIA's list of XID errors calls the common ones; others have no text."""


class Seen(Struct, frozen=True, kw_only=True):
    """A GPU's last reading, when it came, and its NVLink rate in bytes a second, where two readings tell it."""

    reading: GpuReading
    at: Moment
    link_rate: float | None


class DcgmNames:
    """`names`: `old`, `new` or `both`. `interval_s`: how often GPUs are read. `host`: the node's name."""

    def __init__(self, names: str, interval_s: float, host: str, allocations: Allocations) -> None:
        self._old, self._new = names in {"old", "both"}, names in {"new", "both"}
        self._age_max_s = AGE_INTERVALS_MAX * interval_s
        self._host = host
        self._allocations = allocations
        self._identities: dict[str, GpuIdentity] = {}
        self._seen: dict[str, Seen] = {}
        self._link_bytes: dict[str, tuple[float, float]] = {}
        self._xids: dict[str, int] = {}
        self._heard = False

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        self._allocations.note(key, reading, at)
        value = reading.value
        if isinstance(value, NodeReading):
            self._identities.update({gpu.uuid: gpu for gpu in value.gpus})
        elif key.kind == "gpu":
            if isinstance(value, GpuReading) and reading.up:
                self._seen[key.name] = Seen(reading=value, at=at, link_rate=self._link_rate(value, at))
            else:
                self._seen.pop(key.name, None)
        elif key.kind == "xid" and reading.up:
            self._heard = True
        for one in getattr(value, "xids", ()):
            if uuid := self._uuid_of(one.device):
                self._xids[uuid] = one.xid

    def forget(self, key: Key) -> None:
        self._allocations.forget(key)
        if key.kind == "gpu":
            self._seen.pop(key.name, None)

    def samples(self, now: Moment) -> Iterable[Sample]:
        holders: dict[str, list[PodHolder]] = {}
        for holder in self._allocations.pods(now)[0]:
            holders.setdefault(holder.place.uuid, []).append(holder)
        for uuid in sorted(self._identities):
            identity = self._identities[uuid]
            labels = self._labels(identity, holders.get(uuid, []), None)
            seen = self._seen.get(uuid)
            if seen is not None and now.mono_s - seen.at.mono_s <= self._age_max_s:
                yield from self._values(seen, labels)
                yield from self._parts(seen.reading, identity, holders.get(uuid, []))
            if self._heard or uuid in self._xids:
                xid = self._xids.get(uuid, 0)
                code, text = (str(xid), XID_TEXTS.get(xid, "")) if xid else ("", "")
                yield from self._named(catalog.XID, catalog.XID_NEWER, (*labels, code, text), float(xid))

    def _values(self, seen: Seen, labels: tuple[str, ...]) -> Iterator[Sample]:
        """What a whole GPU says."""
        reading = seen.reading
        for alias in (*catalog.ALIASES, *(() if reading.instances else catalog.ACTIVITIES.values())):
            value = reading.number(alias.value, *alias.labels)
            if value is not None:
                yield from self._alias(alias, labels, value)
        for metric, family in catalog.RATES.items():
            if metric in reading.rates:
                yield Sample(family, labels, reading.rates[metric])
        if seen.link_rate is not None:
            yield from self._named(catalog.NVLINK, catalog.NVLINK_NEWER, labels, seen.link_rate / 1024 / 1000)
        if not reading.instances:
            yield from _memory(reading.memory, labels)

    def _parts(self, reading: GpuReading, identity: GpuIdentity, holders: list[PodHolder]) -> Iterator[Sample]:
        """What the instances of a divided GPU say."""
        for part in reading.instances:
            profiles = sorted({one.profile for one in reading.mig if one.gpu_instance == part.gpu_instance})
            labels = self._labels(identity, holders, (part.gpu_instance, profiles))
            yield from _memory(part.memory, labels)
            for metric, alias in catalog.ACTIVITIES.items():
                if metric in part.activity:
                    yield from self._alias(alias, labels, part.activity[metric])

    def _alias(self, alias: catalog.Alias, labels: tuple[str, ...], value: float) -> Iterator[Sample]:
        # What was divided by a thousand or a hundred is whole again, without what binary fractions leave over.
        said = round(value * alias.scale, 9)
        if self._old or alias.newer is None:
            yield Sample(alias.family, labels, said)
        if self._new and alias.newer is not None:
            yield Sample(alias.newer, labels, said)

    def _named(self, old: Family, newer: Family, labels: tuple[str, ...], value: float) -> Iterator[Sample]:
        if self._old:
            yield Sample(old, labels, value)
        if self._new:
            yield Sample(newer, labels, value)

    def _labels(
        self, gpu: GpuIdentity, holders: list[PodHolder], part: tuple[int, list[str]] | None
    ) -> tuple[str, ...]:
        """`part`: the number of a GPU instance and the profiles of what is in it; None for the whole GPU."""
        number = -1 if part is None else part[0]
        instance, profile = (
            ("", "") if part is None else (str(number), part[1][0].rpartition("c.")[2] if part[1] else "")
        )
        domain, _, rest = gpu.pci_address.partition(":")
        address = f"{domain.upper():0>8}:{rest.upper()}" if rest else ""
        device = "" if gpu.minor is None else f"nvidia{gpu.minor}"
        who = (str(gpu.index), gpu.uuid, address, device, gpu.name, self._host, self._host, gpu.driver)
        return (*who, instance, profile, *_pod(holders, number))

    def _link_rate(self, value: GpuReading, at: Moment) -> float | None:
        """Bytes a second both ways since the reading before; None at the first, and where a counter begins anew."""
        sent, received = value.number(nvlink.TRANSMIT), value.number(nvlink.RECEIVE)
        if sent is None or received is None:
            return None
        total, before = sent + received, self._link_bytes.get(value.uuid)
        self._link_bytes[value.uuid] = (total, at.mono_s)
        if before is None or total < before[0] or at.mono_s <= before[1]:
            return None
        return (total - before[0]) / (at.mono_s - before[1])

    def _uuid_of(self, device: str) -> str:
        """The GPU of an XID, which is named by its UUID or by its address."""
        if device in self._identities:
            return device
        address = pci_address(device)
        return next((gpu.uuid for gpu in self._identities.values() if address and gpu.pci_address == address), "")


def _pod(holders: list[PodHolder], gpu_instance: int) -> tuple[str, str, str]:
    """Pod, namespace and container of the only one who holds this; empty if there is none, or more than one."""
    ours = [one for one in holders if one.place.gpu_instance == gpu_instance]
    if len(ours) != 1 or ours[0].shared or (gpu_instance < 0 and len(holders) > 1):
        return "", "", ""
    return ours[0].pod, ours[0].namespace, ours[0].container


def _memory(memory: Memory | None, labels: tuple[str, ...]) -> Iterator[Sample]:
    if memory is None:
        return
    for family, size in (
        (catalog.FB_USED, memory.used_bytes),
        (catalog.FB_FREE, memory.free_bytes),
        (catalog.FB_RESERVED, memory.reserved_bytes),
    ):
        if size is not None:
            yield Sample(family, labels, float(size // MEBIBYTE))


def dcgm_names(settings: Settings) -> DcgmNames | None:
    """The follower, where the settings want these names."""
    if not settings.dcgm.names:
        return None
    told = tree_at(settings.path.procfs).text(HOST_NAME)
    host = settings.dcgm.host or os.environ.get("NODE_NAME", "") or (told if isinstance(told, str) else "")
    return DcgmNames(
        settings.dcgm.names,
        settings.collect.interval_s,
        host,
        allocations_of(settings),
    )
