"""Which files of sysfs and procfs are taken along: those that tell of GPUs, RDMA, the node and who is on it.

A table of paths, so that anybody can see what is taken. Command lines, environments and memory are not in it.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from posixpath import relpath

from exporters.capture.form import Tree
from exporters.rooted import Failed, Folder

FILES_MAX = 50_000
FILE_BYTES_MAX = 1024 * 1024
"""Of one file; the list of modules and the interrupts in `stat` can be long."""
BYTES_MAX = 32 * 1024 * 1024
PROCESSES_MAX = 512
THREADS_MAX = 1024
DEVICE_FILES = "/dev/nvidia"
INIT, KTHREADD = 1, 2
"""Always taken along: they tell in which PID namespace the numbers are."""

_DEVICE = ("vendor", "device", "class", "numa_node", "physfn", "driver", "sriov_totalvfs")
_COUNTS = ("counters", "hw_counters", "counters_ext")

SYSFS: tuple[str, ...] = (
    *(f"class/infiniband/*/{name}" for name in ("board_id", "fw_ver", "hca_type", "node_guid")),
    *(f"class/infiniband/*/device/{name}" for name in (*_DEVICE, "net/*", "infiniband/*")),
    *(f"class/infiniband/*/device/physfn/{name}" for name in ("net/*", "infiniband/*")),
    *(f"class/infiniband/*/ports/*/{name}" for name in ("state", "phys_state", "rate", "link_layer")),
    *(f"class/infiniband/*/ports/*/{folder}/*" for folder in _COUNTS),
    *(f"class/infiniband/*/ports/*/gid_attrs/ndevs/{place}" for place in range(16)),
    "class/infiniband/*/hw_counters/*",
    *(
        f"class/net/*/{name}"
        for name in (
            *("operstate", "carrier_changes", "speed", "mtu", "type", "dev_port", "phys_port_name", "lower_*"),
            *("device", "device/numa_node", "device/driver", "statistics/*"),
        )
    ),
    *(f"bus/pci/devices/*/{name}" for name in _DEVICE),
    *(f"devices/system/node/{name}" for name in ("online", "node*/cpulist", "node*/meminfo", "node*/numastat")),
    "module/nvidia*/version",
)
"""Paths beneath sysfs; `*` stands for any name. Links are taken along, and followed."""

PROCFS: tuple[str, ...] = (
    *("stat", "meminfo", "loadavg", "uptime", "vmstat", "modules", "devices", "pressure/*"),
    *(f"{each}net/{name}" for each in ("", "1/") for name in ("dev", "route", "ipv6_route")),
    *("sys/kernel/osrelease", "sys/kernel/hostname"),
    *("driver/nvidia/version", "driver/nvidia/gpus/*/information", "driver/nvidia-caps/mig-minors"),
)
"""Paths beneath procfs, beside those of processes that are on a GPU."""

OF_PROCESS = ("stat", "status", "cgroup")
OF_THREAD = ("stat", "status")


class Gathering:
    """What was found so far in one tree. It grows while another thread may take `tree()`."""

    def __init__(self, root: Folder) -> None:
        self._root = root
        self._files: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._folders: set[str] = set()
        self._bytes = 0
        self.left_out = 0

    def take(self, patterns: Iterable[str]) -> None:
        """All that the patterns match. O(what is found)."""
        for pattern in patterns:
            self._match(self._root, tuple(pattern.split("/")))

    def take_processes(self, pids: Iterable[int]) -> None:
        """These processes, and all that have a GPU's device file open, as far as we may see that."""
        wanted = set(pids) | {INIT, KTHREADD}
        holders = {pid: links for pid in self._numbers(self._root, "") if (links := _device_links(self._root, pid))}
        for pid in [*sorted(wanted), *sorted(holders.keys() - wanted)][:PROCESSES_MAX]:
            self.take(f"{pid}/{name}" for name in OF_PROCESS)
            if pid in holders:
                self._folders.add(f"{pid}/fd")
                self._links.update({f"{pid}/fd/{name}": target for name, target in holders[pid].items()})
                self._take_threads(pid)

    def tree(self) -> Tree:
        """All of it, sorted."""
        inner = {*self._files, *self._refused, *self._links}
        return Tree(
            files=dict(sorted(self._files.items())),
            refused=dict(sorted(self._refused.items())),
            links=dict(sorted(self._links.items())),
            folders=tuple(sorted(self._folders - _above(inner | self._folders))),
        )

    def _take_threads(self, pid: int) -> None:
        for tid in self._numbers(self._root, f"{pid}/task")[:THREADS_MAX]:
            stat = self._root.text(f"{pid}/task/{tid}/stat")
            if isinstance(stat, str) and stat.rpartition(")")[2].split()[:1] == ["D"]:
                self.take(f"{pid}/task/{tid}/{name}" for name in OF_THREAD)

    @staticmethod
    def _numbers(root: Folder, path: str) -> list[int]:
        listed = root.names(path)
        return [] if isinstance(listed, Failed) else sorted(int(name) for name in listed if name.isdecimal())

    def _match(self, folder: Folder, segments: tuple[str, ...]) -> None:
        wanted, rest = segments[0], segments[1:]
        for name in _matching(folder, wanted):
            path = f"{folder.path}/{name}".lstrip("/")
            link = folder.link(name)
            below = folder.folder(name)
            if isinstance(link, str):
                if below is None:
                    continue
                self._links[path] = relpath(below.path or ".", folder.path or ".")
            if below is None:
                if not rest:
                    self._read(folder, name, path)
            elif rest:
                self._folders.add(below.path)
                self._match(below, rest)
            else:
                self._folders.add(below.path)

    def _read(self, folder: Folder, name: str, path: str) -> None:
        if path in self._files or path in self._refused:
            return
        if len(self._files) + len(self._refused) >= FILES_MAX or self._bytes >= BYTES_MAX:
            found = folder.text(name, 0)
            self.left_out += not (isinstance(found, Failed) and found.absent)
            return
        text = folder.text(name, FILE_BYTES_MAX)
        if isinstance(text, str):
            self._files[path] = text
            self._bytes += len(text)
        elif not text.absent:
            self._refused[path] = text.code


def _matching(folder: Folder, wanted: str) -> tuple[str, ...]:
    if "*" not in wanted:
        return (wanted,)
    listed = folder.names()
    return () if isinstance(listed, Failed) else tuple(name for name in listed if fnmatchcase(name, wanted))


def _device_links(procfs: Folder, pid: int) -> dict[str, str]:
    """Open files of a process that are a GPU's, by number."""
    files = procfs.folder(f"{pid}/fd")
    listed = files.names() if files is not None else ()
    if files is None or isinstance(listed, Failed):
        return {}
    targets = ((name, files.link(name)) for name in listed)
    return {name: target for name, target in targets if isinstance(target, str) and target.startswith(DEVICE_FILES)}


def _above(paths: set[str]) -> set[str]:
    """The folders that some of the paths lie in, directly or not."""
    found = set()
    for path in paths:
        while path := path.rpartition("/")[0]:
            found.add(path)
    return found
