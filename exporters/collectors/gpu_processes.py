"""Who holds a GPU, as the driver lists it: process numbers and bytes, each checked before it is believed."""

from collections.abc import Iterator

from exporters.catalog import processes as catalog
from exporters.nvml.asking import Asking
from exporters.nvml.plausible import instance, number, ratio
from exporters.nvml.reading import GpuProcess, Point

LISTS = (
    ("compute", "nvmlDeviceGetComputeRunningProcesses"),
    ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
    ("mps", "nvmlDeviceGetMPSComputeRunningProcesses"),
)
PID_MAX = 2**22
"""Linux gives no higher number (PID_MAX_LIMIT); drivers have put bytes there (pynvml's structures of R535)."""

PROCESSES_MAX = 256
USAGE_AGE_MAX_S = 60.0
SIZE_RACE = "7"
"""The list has grown between the two calls that pynvml makes; the next try will do."""

TRIES = 3


def processes(asking: Asking, total_bytes: int | None) -> tuple[GpuProcess, ...] | None:
    """All processes, by number; None if no list could be read. One that is in two lists counts once. Raises Gone."""
    found: dict[tuple[int, int | None, int | None], GpuProcess] = {}
    read = False
    for kind, call in LISTS:
        answer = _listed(asking, call)
        read = read or answer is not None
        for pid, used, gpu_instance, compute_instance in answer or ():
            if not 0 < pid < PID_MAX:
                continue
            size = number(used, 0, total_bytes or 2.0**50)
            one = GpuProcess(
                pid=pid,
                used_bytes=None if size is None else int(size),
                kind=kind,
                gpu_instance=instance(gpu_instance),
                compute_instance=instance(compute_instance),
            )
            found.setdefault((pid, one.gpu_instance, one.compute_instance), one)
    return tuple(found[key] for key in sorted(found, key=str))[:PROCESSES_MAX] if read else None


def _listed(asking: Asking, call: str) -> tuple[tuple[int, int | None, int, int], ...] | None:
    for _ in range(TRIES):
        errors = len(asking.errors)
        answer = asking.get(call)
        if answer is not None or not any(error.code == SIZE_RACE for error in asking.errors[errors:]):
            return answer if isinstance(answer, tuple) else None
        raced = asking.errors.pop()
    asking.errors.append(raced)
    return None


def points(found: tuple[GpuProcess, ...]) -> Iterator[Point]:
    """How many there are, and what each holds."""
    yield Point(catalog.PROCESSES, float(len({one.pid for one in found})))
    sizes: dict[tuple[int, str], int] = {}
    for one in found:
        if one.used_bytes is not None:
            place = (one.pid, "" if one.gpu_instance is None else str(one.gpu_instance))
            sizes[place] = max(sizes.get(place, 0), one.used_bytes)
    for (pid, gpu_instance), size in sizes.items():
        yield Point(catalog.PROCESS_MEMORY, float(size), (str(pid), gpu_instance))


def usage(asking: Asking, wall_s: float) -> Iterator[Point]:
    """The latest share of time with a kernel of each process; none that is older than a minute. Raises Gone."""
    since_s = wall_s - USAGE_AGE_MAX_S
    latest: dict[int, tuple[int, float]] = {}
    for pid, at_us, percent in asking.get("nvmlDeviceGetProcessUtilization", max(0, int(since_s * 1e6))) or ():
        share = ratio(percent)
        if 0 < pid < PID_MAX and since_s * 1e6 <= at_us <= (wall_s + 1) * 1e6 and share is not None:
            latest[pid] = max(latest.get(pid, (0, 0.0)), (at_us, share))
    for pid in sorted(latest)[:PROCESSES_MAX]:
        yield Point(catalog.PROCESS_RESIDENT, latest[pid][1], (str(pid),))
