"""The node's memory, from /proc/meminfo, and how often it ran out, from /proc/vmstat."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from exporters.catalog import node as catalog
from exporters.catalog.family import Sample
from exporters.rooted import Failed, Folder
from exporters.subject import ReadError, Reading

KIBIBYTE = 1024
LINE = re.compile(r"(?:Node +\d+ +)?(?P<key>[A-Za-z0-9_()]+): +(?P<number>\d{1,18})(?P<unit> kB)?")
"""Of /proc/meminfo, and of the file of the same name of a NUMA node."""

HUGE_PAGES = {"HugePages_Total": "total", "HugePages_Free": "free", "HugePages_Rsvd": "reserved"}
OUT_OF_MEMORY = "oom_kill"


class MemoryReading(Struct, frozen=True, kw_only=True):
    """`lines`: by key, in bytes where the file has a unit. `kills`: None if this kernel does not count them."""

    lines: Mapping[str, int]
    kills: int | None


class MemoryFiles:
    """Reads both files; the second may be missing."""

    def __init__(self, procfs: Folder) -> None:
        self._procfs = procfs

    def look(self) -> Reading[MemoryReading]:
        """One look. Each file costs its own values."""
        errors = []
        text, counts = self._procfs.text("meminfo"), self._procfs.text("vmstat")
        for call, found in (("node/meminfo", text), ("node/vmstat", counts)):
            if isinstance(found, Failed) and not (found.absent and call == "node/vmstat"):
                errors.append(ReadError(call, found.code))
        lines = parsed(text) if isinstance(text, str) else {}
        kills = kills_in(counts) if isinstance(counts, str) else None
        if not lines and isinstance(text, str):
            errors.append(ReadError("node/meminfo", "EBADMSG"))
        value = MemoryReading(lines=lines, kills=kills) if lines or kills is not None else None
        return Reading(value=value, errors=tuple(errors))


def parsed(text: str) -> dict[str, int]:
    """Every line that has the shape, in bytes where it says kB. Pure. O(lines)."""
    found = {}
    for line in text.splitlines():
        if match := LINE.match(line):
            found[match["key"]] = int(match["number"]) * (KIBIBYTE if match["unit"] else 1)
    return found


def kills_in(text: str) -> int | None:
    """How many processes /proc/vmstat says were killed for want of memory. Pure."""
    for line in text.splitlines():
        key, _, number = line.partition(" ")
        if key == OUT_OF_MEMORY and number.isascii() and number.isdigit():
            return int(number)
    return None


def samples(value: MemoryReading) -> Iterable[Sample]:
    """What a look says."""
    for key, family in catalog.MEMORY.items():
        if key in value.lines:
            yield Sample(family, (), value.lines[key])
    for key, state in HUGE_PAGES.items():
        if key in value.lines:
            yield Sample(catalog.HUGE_PAGES, (state,), value.lines[key])
    if "Hugepagesize" in value.lines:
        yield Sample(catalog.HUGE_PAGE_SIZE, (), value.lines["Hugepagesize"])
    if value.kills is not None:
        yield Sample(catalog.OUT_OF_MEMORY_KILLS, (), value.kills)
