"""Ethernet interfaces of RDMA devices, each by a worker of its own: pauses, discards, the state of the cable."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from msgspec import Struct

from exporters.catalog.ethtool import NAMED, Named
from exporters.catalog.family import Family, Sample
from exporters.collectors.ethtool_calls import read_statistics
from exporters.collectors.netdevs import netdev_of, with_lower
from exporters.collectors.rdma import CLASS
from exporters.collectors.rdma_devices import Choice, chosen
from exporters.collectors.rdma_port import ETHERNET
from exporters.collectors.rdma_tally import ALL_ONES
from exporters.config import Settings
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Key, Moment, ReadError, Reading, Reason, Source, Subject

ETHTOOL = "ethtool"
INTERFACES_MAX = 128
CLOUD_DRIVERS = ("ena",)
NAMES_MAX = 8192

Statistics = tuple[tuple[str, int], ...]
Ask = Callable[[str], Statistics | Failed]

Cell = tuple[Family, tuple[str, ...]]


class EthtoolReading(Struct, frozen=True):
    """What an interface counts that is known: family, labels, value in the family's unit."""

    counts: tuple[tuple[Family, tuple[str, ...], float], ...]


class EthtoolInterface:
    """One interface as a subject."""

    def __init__(self, netdev: str, interval_s: float, deadline_s: float, ask: Ask = read_statistics) -> None:
        self.key = Key(ETHTOOL, netdev)
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._ask = ask

    def read(self, now: Moment) -> Reading[EthtoolReading]:  # noqa: ARG002  the protocol gives the time
        match self._ask(self.key.name):
            case Failed(code="ENODEV"):
                return Reading(value=None, up=False, reason=Reason.NOT_FOUND)
            case Failed(code="EPERM" | "EACCES" as code):
                return Reading(value=None, up=False, reason=Reason.PERMISSION, errors=(ReadError(ETHTOOL, code),))
            case Failed(code=code):
                return Reading(value=None, errors=(ReadError(ETHTOOL, code),))
            case statistics:
                return Reading(value=EthtoolReading(understood(self.key.name, statistics)))

    def samples(self, value: EthtoolReading) -> Iterable[Sample]:
        return (Sample(family, labels, count) for family, labels, count in value.counts)


def understood(netdev: str, statistics: Statistics) -> tuple[tuple[Family, tuple[str, ...], float], ...]:
    """The statistics that have a family, in their unit. Of two names for the same the first of the driver's counts.

    O(statistics).
    """
    found: dict[Cell, float] = {}
    for name, value in statistics:
        if value != ALL_ONES and (meant := meaning_of(name)) is not None:
            named, label = meant
            found.setdefault((named.family, (netdev, *label)), value * named.factor)
    return tuple((family, labels, value) for (family, labels), value in found.items())


@lru_cache(NAMES_MAX)
def meaning_of(name: str) -> tuple[Named, tuple[str, ...]] | None:
    """What a statistic of that name is, and its second label if it has one. Drivers have thousands, always the same."""
    for named in NAMED:
        if matched := named.pattern.fullmatch(name):
            return named, tuple(group for group in matched.groups() if group is not None)
    return None


def interfaces(sysfs: Folder, choice: Choice) -> tuple[str, ...]:
    """The Ethernet interfaces of the RDMA devices that are read, with those that a bond of them stands on. Sorted.

    EFA has none; there it is the instance's own interfaces that say what the cloud holds back.
    """
    devices = chosen(sysfs, choice)
    found: set[str] = set()
    for name in () if isinstance(devices, Failed) else devices:
        device = sysfs.folder(f"{CLASS}/{name}")
        for number in device.folders("ports") if device else ():
            port = device.folder(f"ports/{number}") if device else None
            if device and port and port.text("link_layer") == ETHERNET:
                found |= with_lower(sysfs, set(filter(None, [netdev_of(device, port, ethernet=True)])))
    for netdev in sysfs.folders("class/net"):
        driver = sysfs.folder(f"class/net/{netdev}/device/driver")
        if driver is not None and driver.name in CLOUD_DRIVERS:
            found.add(netdev)
    return tuple(sorted(found))[:INTERFACES_MAX]


def ethtool_source(settings: Settings) -> Source:
    """The interfaces beneath the RDMA devices, as subjects."""
    sysfs = tree_at(settings.path.sysfs)
    choice = Choice(settings.rdma.include, settings.rdma.exclude)

    def listed() -> Iterable[Subject[Any]]:
        return [
            EthtoolInterface(netdev, settings.collect.interval_s, settings.collect.deadline_s)
            for netdev in interfaces(sysfs, choice)
        ]

    return listed
