"""Which process is in which cgroup, by the tree under /sys/fs/cgroup instead of /proc.

An exporter in a container mostly has a cgroup namespace of its own, and sees in /proc only ways up and down again. The
machine's cgroup tree, if it was given one, has the whole paths. Only what pods, containers and jobs are in is read.
"""

import re

from exporters.rooted import Failed, Folder

UNIFIED = "fs/cgroup"
BRANCH = re.compile(r"kubepods|slurm|docker|crio|libpod|machine\.slice")
THROUGH = frozenset({"system.slice", "kubelet.slice", "kubelet.service"})
"""Branches of interest may lie below these."""
FILE = re.compile(r"(?:cgroup|cpu|cpuset|memory|io|pids|hugetlb|rdma|misc|irq)\.(?!slice|scope|service)")
"""Files of a cgroup, which have a controller's name before a dot: not worth a look."""
FOLDERS_MAX = 8192
DEPTH_MAX = 12
PROCESSES_MAX = 65_536


def paths_by_process(sysfs: Folder) -> dict[int, str]:
    """For each process in such a cgroup its path from the root of the (version 2) tree. O(cgroups)."""
    found: dict[int, str] = {}
    waiting = [(name, 1) for name in _below(sysfs, "") if BRANCH.search(name) or name in THROUGH]
    looked = 0
    while waiting and looked < FOLDERS_MAX and len(found) < PROCESSES_MAX:
        path, depth = waiting.pop()
        looked += 1
        interesting = BRANCH.search(path) is not None
        if interesting and (folder := sysfs.folder(f"{UNIFIED}/{path}")) is not None:
            text = folder.text("cgroup.procs")
            for pid in text.split() if isinstance(text, str) else ():
                if pid.isascii() and pid.isdigit():
                    found[int(pid)] = f"/{path}"
        if depth < DEPTH_MAX:
            waiting += [
                (f"{path}/{name}", depth + 1)
                for name in _below(sysfs, path)
                if interesting or BRANCH.search(name) or name in THROUGH
            ]
    return found


def _below(sysfs: Folder, path: str) -> tuple[str, ...]:
    folder = sysfs.folder(f"{UNIFIED}/{path}" if path else UNIFIED)
    if folder is None:
        return ()
    listed = folder.names()
    if isinstance(listed, Failed):
        return ()
    return tuple(name for name in listed if not FILE.match(name))
