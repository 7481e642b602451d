"""Folders of counters, read file by file: what has a family is counted in its unit, the rest kept by name."""

import re

from exporters.catalog.family import Family
from exporters.catalog.rdma import Table
from exporters.collectors.pauses import Pass
from exporters.rooted import Failed, Folder

NUMBER = re.compile(r"[0-9]{1,20}")
ALL_ONES = 2**64 - 1
"""What a register reads when nobody is behind it any more. 2**32 - 1 is a count: classic counters stop there."""
NOT_THERE = "N/A"
"""How older kernels say that a device has no such counter: `N/A (no PMA)`."""

FILES_MAX = 512
"""Files of one folder that are read; no driver has half as many."""
VALUES_MAX = 64
"""Files without a family that are published, of each port or device: the first by name."""

LIFESPAN = "lifespan"
"""A setting beside the counters, and none of them."""

Count = tuple[Family, float]
Value = tuple[str, float]


def number_in(text: str | None) -> int | None:
    """A count as drivers print it; None for any other text, anything negative, and a register of a dead device."""
    if text is None or not NUMBER.fullmatch(text) or (number := int(text)) >= ALL_ONES:
        return None
    return number


class Tally:
    """What the folders of one port, or of one device, count. `beside`: what is counted there already is left out."""

    def __init__(self, beside: "Tally | None" = None) -> None:
        self._counts: dict[str, Count | None] = {}  # by family; None: its file is there, and could not be read
        self._values: dict[str, float] = {}
        self._beside = beside.families if beside else frozenset()

    @property
    def families(self) -> frozenset[str]:
        """Names of the families that there are files for, readable or not."""
        return frozenset(self._counts)

    @property
    def counts(self) -> tuple[Count, ...]:
        """What has a family, in the order in which it was read."""
        return tuple(count for count in self._counts.values() if count is not None)

    @property
    def values(self) -> tuple[Value, ...]:
        """The other files and what they say, by name; not more than VALUES_MAX."""
        return tuple(sorted(self._values.items())[:VALUES_MAX])

    def read(self, look: Pass, folder: Folder | None, table: Table) -> None:
        """Read every file of a folder. O(files).

        What was read before stays. A file that is there and cannot be read gives nothing, and what another folder
        counts under the same family is not taken for it, so that a series does not change its source back and forth.
        """
        listed = folder.names(at_most=FILES_MAX) if folder else ()
        if folder is None or isinstance(listed, Failed):
            return
        for file in listed:
            counted = table.get(file)
            if file == LIFESPAN or (counted and self._known(counted.family.name)):
                continue
            text = look.text(folder, file, f"rdma/{file if counted else folder.name}")
            number = number_in(text)
            if counted is None:
                if number is not None:
                    self._values.setdefault(file, float(number))
            elif text is None or not text.startswith(NOT_THERE):
                count = None if number is None else (counted.family, float(number * counted.factor))
                self._counts[counted.family.name] = count

    def _known(self, family: str) -> bool:
        return family in self._counts or family in self._beside
