"""What goes over the node's network interfaces, and how their links are: /proc/net/dev and sysfs.

Counted are the interfaces of the node, not those of the namespace that the exporter happens to be in, where the two
differ and it may see both.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from exporters.catalog import node as catalog
from exporters.catalog.family import Sample
from exporters.pci import numa_of
from exporters.rooted import Failed, Folder
from exporters.subject import ReadError, Reading

DEV_BYTES_MAX = 4_194_304
INTERFACES_MAX = 256
COLUMNS = ("bytes", "packets", "errs", "drop", "fifo", "frame", "compressed", "multicast")
TRANSMIT_COLUMNS = ("bytes", "packets", "errs", "drop", "fifo", "colls", "carrier", "compressed")
ALL_COLUMNS = (*(f"receive {name}" for name in COLUMNS), *(f"transmit {name}" for name in TRANSMIT_COLUMNS))
MEGABIT_BYTES = 1_000_000 / 8
NUMBER = re.compile(r"[0-9]{1,20}")
SPEED_MAX = 100_000_000
"""Megabits; where none is known, drivers write all ones."""

STATES = {"up": True, "down": False, "lowerlayerdown": False, "dormant": False, "notpresent": False}
"""Of operstate; `unknown` says nothing."""


class Interface(Struct, frozen=True, kw_only=True):
    """One interface. `counts` by column. What is not known is None."""

    name: str
    counts: Mapping[str, int]
    speed_megabits: int | None = None
    up: bool | None = None
    carrier_changes: int | None = None
    numa_node: int | None = None


class NetworkReading(Struct, frozen=True, kw_only=True):
    """Interfaces by name, and how many there were beyond the bound."""

    interfaces: tuple[Interface, ...]
    left_out: int


class Interfaces:
    """Reads the interfaces that the settings want."""

    def __init__(self, procfs: Folder, sysfs: Folder, include: str = "", exclude: str = "") -> None:
        """Regular expressions for the whole name; empty: all are included, none is excluded. Raises re.error."""
        self._procfs = procfs
        self._sysfs = sysfs
        self._include = re.compile(include) if include else None
        self._exclude = re.compile(exclude) if exclude else None

    def look(self) -> Reading[NetworkReading]:
        """One look. O(interfaces)."""
        text = self._procfs.text("1/net/dev", DEV_BYTES_MAX)
        if isinstance(text, Failed):
            text = self._procfs.text("net/dev", DEV_BYTES_MAX)
        if isinstance(text, Failed):
            return Reading(value=None, errors=(ReadError("node/net_dev", text.code),))
        wanted = {name: counts for name, counts in sorted(parsed(text).items()) if self._takes(name)}
        kept = list(wanted)[:INTERFACES_MAX]
        return Reading(
            value=NetworkReading(
                interfaces=tuple(self._interface(name, wanted[name]) for name in kept),
                left_out=len(wanted) - len(kept),
            )
        )

    def _takes(self, name: str) -> bool:
        if self._exclude and self._exclude.fullmatch(name):
            return False
        return self._include is None or self._include.fullmatch(name) is not None

    def _interface(self, name: str, counts: Mapping[str, int]) -> Interface:
        folder = None if "/" in name or name.startswith(".") else self._sysfs.folder(f"class/net/{name}")
        if folder is None:
            return Interface(name=name, counts=counts)
        # Of a link that is down, speed refuses to be read: that is its way to say that it has none.
        speed, state = folder.text("speed"), folder.text("operstate")
        changes, numa = folder.text("carrier_changes"), folder.text("device/numa_node")
        megabits = int(speed) if isinstance(speed, str) and NUMBER.fullmatch(speed) else 0
        return Interface(
            name=name,
            counts=counts,
            speed_megabits=megabits if 0 < megabits < SPEED_MAX else None,
            up=STATES.get(state) if isinstance(state, str) else None,
            carrier_changes=int(changes) if isinstance(changes, str) and NUMBER.fullmatch(changes) else None,
            numa_node=numa_of(numa) if isinstance(numa, str) else None,
        )


def parsed(text: str) -> dict[str, dict[str, int]]:
    """/proc/net/dev by interface and column; lines of another shape are left out. Pure. O(lines)."""
    found = {}
    for line in text.splitlines():
        name, colon, rest = line.rpartition(":")
        fields = rest.split()
        if colon and name.strip() and len(fields) == len(ALL_COLUMNS) and all(map(NUMBER.fullmatch, fields)):
            found[name.strip()] = dict(zip(ALL_COLUMNS, map(int, fields), strict=True))
    return found


def samples(value: NetworkReading) -> Iterable[Sample]:
    """What a look says."""
    for one in value.interfaces:
        labels = (one.name,)
        for column, family in catalog.NETWORK.items():
            yield Sample(family, labels, one.counts[column])
        if one.speed_megabits is not None:
            yield Sample(catalog.LINK_SPEED, labels, one.speed_megabits * MEGABIT_BYTES)
        for family, number in (
            (catalog.LINK_UP, one.up),
            (catalog.CARRIER_CHANGES, one.carrier_changes),
            (catalog.INTERFACE_NUMA_NODE, one.numa_node),
        ):
            if number is not None:
                yield Sample(family, labels, float(number))
    yield Sample(catalog.INTERFACES_LEFT_OUT, (), value.left_out)
