"""The NUMA nodes of the machine: which processors and how much memory each has. A part of sysfs."""

import re
from collections.abc import Iterable

from msgspec import Struct

from exporters.catalog import node as catalog
from exporters.catalog.family import Sample
from exporters.collectors.memory import parsed
from exporters.rooted import Failed, Folder
from exporters.subject import ReadError, Reading

NODES = "devices/system/node"
NODE = re.compile(r"node(?P<number>\d{1,4})")
RANGE = re.compile(r"(?P<first>\d{1,6})(?:-(?P<last>\d{1,6}))?")
NODES_MAX = 256


class NumaNode(Struct, frozen=True, order=True, kw_only=True):
    """One NUMA node. What could not be read is None."""

    number: int
    cpus: int | None
    total_bytes: int | None
    free_bytes: int | None


class NumaNodes:
    """Reads all of them; a kernel without NUMA has no such folder."""

    def __init__(self, sysfs: Folder) -> None:
        self._sysfs = sysfs

    def look(self) -> Reading[tuple[NumaNode, ...]]:
        """One look. O(NUMA nodes)."""
        errors = set()
        found = []
        for name in self._sysfs.folders(NODES)[: 4 * NODES_MAX]:
            match = NODE.fullmatch(name)
            folder = self._sysfs.folder(f"{NODES}/{name}") if match else None
            if match is None or folder is None:
                continue
            cpus, memory = folder.text("cpulist"), folder.text("meminfo")
            for file, text in (("cpulist", cpus), ("meminfo", memory)):
                if isinstance(text, Failed) and not text.absent:
                    errors.add(ReadError(f"node/numa_{file}", text.code))
            lines = parsed(memory) if isinstance(memory, str) else {}
            found.append(
                NumaNode(
                    number=int(match["number"]),
                    cpus=cpus_in(cpus) if isinstance(cpus, str) else None,
                    total_bytes=lines.get("MemTotal"),
                    free_bytes=lines.get("MemFree"),
                )
            )
        return Reading(value=tuple(sorted(found, key=_number)[:NODES_MAX]), errors=tuple(sorted(errors)))


def _number(node: NumaNode) -> int:
    return node.number


def cpus_in(text: str) -> int | None:
    """How many processors a list as `0-3,8` names; none of an empty one, None of another text. Pure."""
    total = 0
    for part in filter(None, text.split(",")):
        match = RANGE.fullmatch(part.strip())
        if match is None:
            return None
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if last < first:
            return None
        total += last - first + 1
    return total


def samples(value: tuple[NumaNode, ...]) -> Iterable[Sample]:
    """What a look says."""
    for node in value:
        labels = (str(node.number),)
        for family, number in (
            (catalog.NUMA_CPUS, node.cpus),
            (catalog.NUMA_MEMORY_TOTAL, node.total_bytes),
            (catalog.NUMA_MEMORY_FREE, node.free_bytes),
        ):
            if number is not None:
                yield Sample(family, labels, number)
