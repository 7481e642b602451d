"""Where devices sit on PCI: addresses, the way up to the root, and how far two of them are from each other."""

import re
from enum import StrEnum

from msgspec import Struct

from exporters.rooted import Failed, Folder

NVIDIA = "0x10de"
GPU_CLASSES = ("0x0300", "0x0302")
"""Display controllers: with and without an output. 0x0680 of the same vendor is an NVSwitch."""

ADDRESS = re.compile(r"(?:(?P<domain>[0-9a-fA-F]{4,8}):)?(?P<rest>[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])")
ROOT_BUS = re.compile(r"pci[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}")

BRIDGES_OF_ONE_SWITCH = 2
"""Bridges that two devices below one switch do not share: the port down to each."""
NUMA_DIGITS_MAX = 5


class Distance(StrEnum):
    """How the way between two devices goes, nearest first. The words are those of `nvidia-smi topo`."""

    PIX = "pix"  # through one switch
    PXB = "pxb"  # through several switches below one root port
    NODE = "node"  # through the processor, within a NUMA node
    SYS = "sys"  # between NUMA nodes, or no more is known


class Place(Struct, frozen=True, order=True, kw_only=True):
    """Where a device sits. `way`: addresses of what lies above it, from the root complex down, itself last.

    `numa_node` None: the machine has one only, or does not say.
    """

    address: str
    way: tuple[str, ...] = ()
    numa_node: int | None = None


class Seat(Struct, frozen=True, order=True):
    """A named device and its place."""

    name: str
    place: Place


class Topology(Struct, frozen=True, kw_only=True):
    """Where the node's GPUs and its RDMA devices (physical functions) sit, sorted."""

    gpus: tuple[Place, ...] = ()
    rdma: tuple[Seat, ...] = ()


def address_of(text: str) -> str:
    """The address as sysfs writes it (`0000:17:00.0`), from that or NVML's (`00000000:17:00.0`); empty if none."""
    found = ADDRESS.fullmatch(text.strip())
    if found is None:
        return ""
    return f"{int(found['domain'] or '0', 16):04x}:{found['rest'].lower()}"


def place_of(function: Folder) -> Place | None:
    """The place of what the folder belongs to: a PCI function, or something below one. None if it is not on PCI."""
    parts = function.path.split("/")
    begin = next((at for at, part in enumerate(parts) if ROOT_BUS.fullmatch(part)), None)
    if begin is None:
        return None
    # A controller may have a bus of its own below it (VMD), with a root in the midst of the way.
    end = begin + 1
    while end < len(parts) and (ADDRESS.fullmatch(parts[end]) or ROOT_BUS.fullmatch(parts[end])):
        end += 1
    way = tuple(parts[begin:end])
    if not ADDRESS.fullmatch(way[-1]):
        return None
    numa = function.root.text(f"{'/'.join(parts[:end])}/numa_node")
    return Place(address=way[-1], way=way, numa_node=None if isinstance(numa, Failed) else numa_of(numa))


def numa_of(text: str) -> int | None:
    """The number of a NUMA node; None for -1, with which the kernel says that there is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < NUMA_DIGITS_MAX else None


def gpus_on_pci(sysfs: Folder) -> tuple[Place, ...] | Failed:
    """Every NVIDIA GPU that the kernel sees on PCI, whether a driver sees it or not. O(functions on the bus).

    A virtual function of one (vGPU) is no GPU of the node's.
    """
    listed = sysfs.names("bus/pci/devices")
    if isinstance(listed, Failed):
        return listed
    found = []
    for name in listed:
        function = sysfs.folder(f"bus/pci/devices/{name}")
        if function is None or function.text("vendor") != NVIDIA or function.folder("physfn") is not None:
            continue
        kind = function.text("class")
        if isinstance(kind, str) and kind.startswith(GPU_CLASSES):
            place = place_of(function)
            found.append(place or Place(address=address_of(name)))
    return tuple(sorted(found))


def distance(one: Place, other: Place) -> Distance:
    """How far two devices are from each other. Symmetric. O(depth).

    Bridges come in pairs (a switch's port up and its port down), so what two devices share tells what lies between
    them: below a switch's upper port it is that switch; below the same root port, several.
    """
    shared = 0
    for a, b in zip(one.way, other.way, strict=False):
        if a != b:
            break
        shared += 1
    # The way is: root complex, root port, then two bridges for each switch, then the device.
    if shared > 1:
        bridges = len(one.way) - 1 - shared + len(other.way) - 1 - shared
        return Distance.PIX if bridges <= BRIDGES_OF_ONE_SWITCH else Distance.PXB
    if one.numa_node is not None and one.numa_node == other.numa_node:
        return Distance.NODE
    return Distance.SYS


def nearest(device: Place, gpus: tuple[Place, ...]) -> list[tuple[Place, Distance]]:
    """The GPUs nearest to a device, all that are equally near, by address. O(GPUs)."""
    order = tuple(Distance)
    ways = [(gpu, distance(device, gpu)) for gpu in sorted(gpus)]
    best = min((order.index(how) for _, how in ways), default=0)
    return [(gpu, how) for gpu, how in ways if order.index(how) == best]
