"""What a node says of RDMA as a whole: how many devices, whether GPUs can be reached, which port is management's."""

import re
from collections.abc import Callable

from msgspec import Struct

from exporters.catalog import rdma as catalog
from exporters.catalog.family import Sample
from exporters.collectors.netdevs import default_routes, netdev_of
from exporters.collectors.rdma import CLASS, RDMA
from exporters.collectors.rdma_port import ETHERNET
from exporters.rooted import Failed, Folder
from exporters.subject import Key, Moment, ReadError, Reading

PEER_MEMORY = ("nvidia_peermem", "nv_peer_mem")
MODULES_BYTES_MAX = 1_048_576
RELEASE = re.compile(r"(\d{1,3})\.(\d{1,4})")
DMA_BUF_SINCE = (5, 12)
"""The kernel in which RDMA could register memory as dma-buf for the first time."""
OPEN_MODULE = "Open Kernel Module"
"""In the driver's version: only that flavour of it gives memory away as dma-buf."""


class RdmaNodeReading(Struct, frozen=True, kw_only=True):
    """`ways`: means of reaching GPU memory, and whether each is there. `routed`: (device, port, default route)."""

    devices: int
    ways: tuple[tuple[str, bool], ...]
    routed: tuple[tuple[str, str, bool], ...]


class RdmaNode:
    """The node's RDMA as a subject. A node without any is up, and has 0 devices."""

    key = Key(RDMA)

    def __init__(
        self,
        sysfs: Folder,
        procfs: Folder,
        devices: Callable[[], tuple[str, ...] | Failed],
        interval_s: float,
        deadline_s: float,
    ) -> None:
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._sysfs = sysfs
        self._procfs = procfs
        self._devices = devices

    def read(self, now: Moment) -> Reading[RdmaNodeReading]:  # noqa: ARG002  the protocol gives the time
        devices = self._devices()
        if isinstance(devices, Failed):
            return Reading(value=None, errors=(ReadError("rdma/devices", devices.code),))
        return Reading(
            value=RdmaNodeReading(
                devices=len(devices),
                ways=tuple(
                    (means, there)
                    for means, there in (
                        ("nvidia_peermem", peer_memory(self._procfs)),
                        ("dma_buf", dma_buf(self._procfs)),
                    )
                    if there is not None
                ),
                routed=routed(self._sysfs, self._procfs, devices),
            )
        )

    def samples(self, value: RdmaNodeReading) -> list[Sample]:
        return [
            Sample(catalog.DEVICES, (), float(value.devices)),
            *(Sample(catalog.GPUDIRECT, (means,), float(there)) for means, there in value.ways),
            *(Sample(catalog.DEFAULT_ROUTE, (device, port), float(is_so)) for device, port, is_so in value.routed),
        ]


def peer_memory(procfs: Folder) -> bool | None:
    """Whether the module is loaded through which RDMA reaches GPUs; None if modules cannot be listed."""
    modules = procfs.text("modules", MODULES_BYTES_MAX)
    if isinstance(modules, Failed):
        return None
    return any(line.partition(" ")[0] in PEER_MEMORY for line in modules.splitlines())


def dma_buf(procfs: Folder) -> bool | None:
    """Whether kernel and driver are of a kind that can share GPU memory as dma-buf; None if that cannot be told."""
    release, driver = procfs.text("sys/kernel/osrelease"), procfs.text("driver/nvidia/version")
    found = RELEASE.match(release) if isinstance(release, str) else None
    if found is None or (isinstance(driver, Failed) and not driver.absent):
        return None
    return isinstance(driver, str) and OPEN_MODULE in driver and (int(found[1]), int(found[2])) >= DMA_BUF_SINCE


def routed(sysfs: Folder, procfs: Folder, devices: tuple[str, ...]) -> tuple[tuple[str, str, bool], ...]:
    """For each Ethernet port with an interface: whether a default route goes through it. Nothing if none is known."""
    through = default_routes(sysfs, procfs)
    found = []
    for name in devices if through is not None else ():
        device = sysfs.folder(f"{CLASS}/{name}")
        for number in device.folders("ports") if device else ():
            port = device.folder(f"ports/{number}") if device else None
            if device is None or port is None or port.text("link_layer") != ETHERNET:
                continue
            if (netdev := netdev_of(device, port, ethernet=True)) and through is not None:
                found.append((name, number, netdev in through))
    return tuple(found)
