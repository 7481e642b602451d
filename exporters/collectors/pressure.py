"""For how long tasks stood still for want of processors, memory, disks or interrupts: the kernel's pressure (PSI)."""

import errno
import re
from collections.abc import Iterable

from msgspec import Struct

from exporters.catalog import node as catalog
from exporters.catalog.family import Sample
from exporters.rooted import Failed, Folder
from exporters.subject import ReadError, Reading

RESOURCES = ("cpu", "io", "irq", "memory")
LINE = re.compile(r"(?P<who>some|full) .*\btotal=(?P<total>\d{1,19})\b")
MICROSECONDS = 1_000_000
MEANINGLESS = ("cpu", "full")
"""The kernel prints it, always as 0: of a whole node it is not defined."""

SWITCHED_OFF = errno.errorcode[errno.EOPNOTSUPP]
"""What reading says where the kernel can, but was started with psi=0; no error."""


class Stood(Struct, frozen=True, order=True):
    """A sum: of which resource, for `some` tasks or the `full` lot of them."""

    resource: str
    who: str
    microseconds: int


class PressureFiles:
    """Reads what there is; kernels that do not count have no such files."""

    def __init__(self, procfs: Folder) -> None:
        self._procfs = procfs

    def look(self) -> Reading[tuple[Stood, ...]]:
        """One look. Each file costs its own values."""
        found: list[Stood] = []
        errors = []
        for resource in RESOURCES:
            text = self._procfs.text(f"pressure/{resource}")
            if not isinstance(text, Failed):
                found += parsed(resource, text)
            elif not text.absent and text.code != SWITCHED_OFF:
                errors.append(ReadError(f"node/pressure_{resource}", text.code))
        return Reading(value=tuple(found) if found or not errors else None, errors=tuple(errors))


def parsed(resource: str, text: str) -> list[Stood]:
    """The sums of one file. Pure."""
    matches = (LINE.match(line) for line in text.splitlines())
    return [
        Stood(resource, match["who"], int(match["total"]))
        for match in matches
        if match and (resource, match["who"]) != MEANINGLESS
    ]


def samples(value: tuple[Stood, ...]) -> Iterable[Sample]:
    """What a look says."""
    for one in value:
        yield Sample(catalog.PRESSURE, (one.resource, one.who), one.microseconds / MICROSECONDS)
