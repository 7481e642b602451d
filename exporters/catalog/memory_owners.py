"""Memory that nobody holds any more, and owners that will not let go of it."""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU


def _gauge(name: str, text: str, source: str, *labels: str) -> Family:
    return Family(
        name=f"knotwatch_gpu_{name}", kind=Kind.GAUGE, group=Group.ALLOCATION, text=text, source=source, labels=labels
    )


SUPPORTED = _gauge(
    "leak_detection_supported",
    "Whether memory can be told from its owners: 0 where this exporter does not see the machine's own process numbers "
    "(a container without hostPID), or has not read them lately; what depends on it is absent then.",
    "process 2 of procfs is kthreadd, in the machine's own PID namespace alone",
)
UNATTRIBUTED = _gauge(
    "memory_unattributed_bytes",
    "Memory in use that no listed process accounts for, the driver's own included: see memory_baseline_bytes.",
    "memory in use - sum over the process list; absent while a size is not known",
    *GPU,
)
BASELINE = _gauge(
    "memory_baseline_bytes",
    "The least memory in use that was seen while no process was listed and none had the device open to compute, within "
    "a bound. Absent before that was ever so.",
    "memory in use since this exporter began",
    *GPU,
)
ORPHANED_SECONDS = _gauge(
    "memory_orphaned_seconds",
    "How long memory has been held by nobody, from the first minute on. reason: no_process (none is listed, none has "
    "the device open), unseen (none is listed; open files may not be looked at), pid_gone (listed, and it does not "
    "exist), zombie (ended, and its parent has not asked).",
    "process list of the driver and /proc, at two looks or more",
    *GPU,
    "reason",
)
ORPHANED_BYTES = _gauge(
    "memory_orphaned_bytes",
    "How much memory is held by nobody, without the baseline; absent while it is not known.",
    "as memory_orphaned_seconds",
    *GPU,
    "reason",
)
STUCK_SECONDS = _gauge(
    "memory_stuck_owner_seconds",
    "How long memory has had an owner that is no leak and needs a hand, from the first minute on. reason: "
    "unlisted_owner (a process has the device open that the driver does not list, as a forked loader: it can be "
    "killed), uninterruptible (a thread of an owner sleeps in the kernel and cannot be).",
    "/proc/PID/fd, /proc/PID/task/TID",
    *GPU,
    "reason",
)
OPEN_PROCESSES = _gauge(
    "device_open_processes",
    "Processes that have the GPU's device file open, those that only watch it included; absent without the right to "
    "look.",
    "links of /proc/PID/fd to /dev/nvidia<minor>",
    *GPU,
)
