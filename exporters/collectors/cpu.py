"""What the node's processors spent their time on, all together, from /proc/stat."""

import os
from collections.abc import Iterable, Mapping

from msgspec import Struct

from exporters.catalog import node as catalog
from exporters.catalog.family import Sample
from exporters.rooted import Failed, Folder
from exporters.subject import ReadError, Reading

STAT_BYTES_MAX = 4_194_304
"""The line of interrupts is long on large machines."""

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
STEP_BACK_MAX_S = 3.0
"""For each processor: sums of idle time step back by less when one sleeps, and by more when one was unplugged."""

DIGITS_MAX = 20


class CpuReading(Struct, frozen=True, kw_only=True):
    """`seconds` by mode, of all processors together. What the file does not have is None."""

    seconds: Mapping[str, float]
    cpus: int
    running: int | None = None
    blocked: int | None = None
    boot_s: int | None = None


class CpuTimes:
    """Reads, and holds the small steps back that the kernel's sums take, which would look like a reset."""

    def __init__(self, procfs: Folder, ticks_per_s: int | None = None) -> None:
        self._procfs = procfs
        self._ticks_per_s = ticks_per_s or os.sysconf("SC_CLK_TCK")
        self._held: dict[str, float] = {}

    def look(self) -> Reading[CpuReading]:
        """One look. A file that is no /proc/stat is an error."""
        text = self._procfs.text("stat", STAT_BYTES_MAX)
        if isinstance(text, Failed):
            return Reading(value=None, errors=(ReadError("node/stat", text.code),))
        found = parsed(text, self._ticks_per_s)
        if found is None:
            return Reading(value=None, errors=(ReadError("node/stat", "EBADMSG"),))
        self._held = held(self._held, found.seconds, STEP_BACK_MAX_S * max(found.cpus, 1))
        return Reading(
            value=CpuReading(
                seconds=self._held,
                cpus=found.cpus,
                running=found.running,
                blocked=found.blocked,
                boot_s=found.boot_s,
            )
        )


def parsed(text: str, ticks_per_s: int) -> CpuReading | None:
    """What /proc/stat says; None if it has no line of all processors. Pure. O(lines)."""
    seconds: dict[str, float] = {}
    cpus = 0
    words: dict[str, int] = {}
    for line in text.splitlines():
        name, *fields = line.split()[: len(MODES) + 1] or [""]
        if name == "cpu":
            seconds = {
                mode: int(field) / ticks_per_s for mode, field in zip(MODES, fields, strict=False) if _is_number(field)
            }
        elif name.startswith("cpu") and name[3:].isdigit():
            cpus += 1
        elif name in {"procs_running", "procs_blocked", "btime"} and fields and _is_number(fields[0]):
            words[name] = int(fields[0])
    if not seconds:
        return None
    return CpuReading(
        seconds=seconds,
        cpus=cpus,
        running=words.get("procs_running"),
        blocked=words.get("procs_blocked"),
        boot_s=words.get("btime"),
    )


def held(old: Mapping[str, float], now: Mapping[str, float], step_back_max_s: float) -> dict[str, float]:
    """The sums now, none smaller than it was; all as they are if one fell so far that it began anew. Pure."""
    if any(old.get(mode, 0.0) - value > step_back_max_s for mode, value in now.items()):
        return dict(now)
    return {mode: max(value, old.get(mode, 0.0)) for mode, value in now.items()}


def samples(value: CpuReading) -> Iterable[Sample]:
    """What a look says."""
    for mode, seconds in value.seconds.items():
        yield Sample(catalog.CPU_SECONDS, (mode,), seconds)
    for family, number in (
        (catalog.CPUS, value.cpus or None),
        (catalog.PROCESSES_RUNNING, value.running),
        (catalog.PROCESSES_BLOCKED, value.blocked),
        (catalog.BOOT_TIME, value.boot_s),
    ):
        if number is not None:
            yield Sample(family, (), number)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
