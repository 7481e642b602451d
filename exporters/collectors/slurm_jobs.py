"""Which jobs hold which GPUs, by the scheduler's side: files that a prolog writes, and what cgroups of jobs allow.

A job that holds GPUs and runs nothing on them is the worst waste there is, and no list of processes shows it. So what
was given is read here, and never concluded from what runs.

Files: one for each GPU, in a folder; the name says which (an index or minor number, `nvidia2`, a UUID, a MIG UUID, or
`0.2` for an instance of a GPU), each line a job, and after a blank the number of its user. An empty file, or none, is a
GPU that is free.

Cgroups: version 1 lists the devices that a job may use, unless everything is allowed but what was denied, which its
file does not show (and so slurmd does it, by default). Version 2 has a program in place of a list, and nothing can be
read of it. Where both are silent and no prolog writes, only processes tell of jobs.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct

from exporters.catalog.family import Sample
from exporters.collectors.device_names import By, DeviceName, device_name
from exporters.collectors.kubelet import beneath
from exporters.config import Settings
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Key, Moment, ReadError, Reading, Reason, Source, Subject

KIND = "slurm"
FILES_MAX = 1024
FILE_BYTES_MAX = 65_536
JOBS_MAX = 1024
"""Of one GPU, and of one node."""
NVIDIA_MAJOR = 195
MINOR_MAX = 253
"""254 and 255 are the mode setting and the control device."""

_JOB_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.+\[\]-]{0,63}")
_DEVICE = re.compile(r"c (?P<major>[0-9]+):(?P<minor>[0-9]+|\*) [rwm]+")
_CAPABILITY = re.compile(r"gpu(?P<gpu>[0-9]+)/gi(?P<gi>[0-9]+)(?:/ci(?P<ci>[0-9]+))?/access (?P<minor>[0-9]+)")


class Way(StrEnum):
    """How it is known that a job holds a GPU; the first of these is told."""

    PROLOG = "prolog"
    CGROUP = "cgroup"
    PROCESS = "process"  # a process of the job is on the GPU: true, but not all that it holds


class JobHeld(Struct, frozen=True, order=True, kw_only=True):
    """One GPU, or part of one, and one job. `device` None: nobody knows what `spelled` means."""

    job: str
    user_id: str
    spelled: str
    device: DeviceName | None
    way: Way


class JobReading(Struct, frozen=True, kw_only=True):
    """What one way says now. `complete`: it would show every GPU that a job holds."""

    held: tuple[JobHeld, ...]
    complete: bool


class JobFiles:
    """One folder with a file for each GPU as a subject."""

    def __init__(self, root: Folder, path: str, *, interval_s: float, deadline_s: float) -> None:
        self.key = Key(KIND, path)
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._root = root

    def read(self, now: Moment) -> Reading[JobReading]:  # noqa: ARG002  what is, is read
        folder = self._root.folder(self.key.name.strip("/"))
        listed = folder.names(at_most=FILES_MAX) if folder is not None else Failed("ENOENT")
        if folder is None or isinstance(listed, Failed):
            code = listed.code if isinstance(listed, Failed) else "ENOENT"
            reason = Reason.PERMISSION if code in {"EACCES", "EPERM"} else Reason.NOT_FOUND
            return Reading(value=None, up=False, reason=reason, errors=(ReadError("job_folder", code),))
        held: set[JobHeld] = set()
        errors = set()
        for name in listed:
            match folder.text(name, FILE_BYTES_MAX):
                case Failed() as failed:
                    # Taken away while we looked: the job has ended.
                    if not failed.absent:
                        errors.add(ReadError("job_file", failed.code))
                case str(text):
                    held |= set(jobs_in(name, text))
        return Reading(
            value=JobReading(held=tuple(sorted(held, key=_order)), complete=not errors), errors=tuple(sorted(errors))
        )

    def samples(self, value: JobReading) -> Iterable[Sample]:  # noqa: ARG002  followers/allocation.py joins it
        return ()


def jobs_in(name: str, text: str) -> list[JobHeld]:
    """The jobs that a GPU's file names, each once. Lines that begin with no job's number are passed over. O(lines)."""
    device = device_name(name)
    found: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0] != "0" and _JOB_ID.fullmatch(words[0]) and len(found) < JOBS_MAX:
            user = words[1] if len(words) > 1 and words[1].isascii() and words[1].isdigit() else ""
            found.setdefault(words[0], user[:10])
    return [
        JobHeld(job=job, user_id=user, spelled=name[:64], device=device, way=Way.PROLOG)
        for job, user in sorted(found.items())
    ]


class JobCgroups:
    """The device cgroups (version 1) of jobs as a subject."""

    key = Key(KIND, "cgroup")

    def __init__(self, sysfs: Folder, procfs: Folder, *, interval_s: float, deadline_s: float) -> None:
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._sysfs = sysfs
        self._procfs = procfs

    def read(self, now: Moment) -> Reading[JobReading]:  # noqa: ARG002  what is, is read
        held: list[JobHeld] = []
        errors = set()
        complete = True
        capabilities = capabilities_in(self._procfs)
        for job, user, folder in job_folders(self._sysfs):
            match folder.text("devices.list"):
                case Failed() as failed:
                    complete = complete and failed.absent
                    if not failed.absent:
                        errors.add(ReadError("devices_list", failed.code))
                case str(text):
                    devices = devices_in(text, capabilities)
                    complete = complete and devices is not None
                    held += [
                        JobHeld(job=job, user_id=user, spelled=f"nvidia{one.name}", device=one, way=Way.CGROUP)
                        for one in devices or ()
                    ]
        value = JobReading(held=tuple(sorted(held, key=_order)), complete=complete)
        return Reading(value=value, errors=tuple(sorted(errors)))

    def samples(self, value: JobReading) -> Iterable[Sample]:  # noqa: ARG002  followers/allocation.py joins it
        return ()


DEVICES = "fs/cgroup/devices"


def job_folders(sysfs: Folder) -> list[tuple[str, str, Folder]]:
    """Job, user and cgroup of every job on the node that has a device cgroup of version 1. O(jobs)."""
    found: list[tuple[str, str, Folder]] = []
    devices = sysfs.folder(DEVICES)
    for top in devices.folders() if devices is not None else ():
        if devices is None or top.partition("_")[0] != "slurm":
            continue
        for user in devices.folders(top):
            for job in devices.folders(f"{top}/{user}") if user.startswith("uid_") else ():
                folder = devices.folder(f"{top}/{user}/{job}")
                number = job.removeprefix("job_")
                if folder is not None and job.startswith("job_") and number.isdigit() and len(found) < JOBS_MAX:
                    found.append((number, user.removeprefix("uid_")[:10], folder))
    return found


def devices_in(text: str, capabilities: dict[int, DeviceName]) -> tuple[DeviceName, ...] | None:
    """GPUs that a devices.list allows, parts in place of the whole where it has them; None if it allows everything.

    `capabilities`: by minor number of the capability devices, the part of a GPU that each opens.
    """
    whole: set[int] = set()
    parts: set[DeviceName] = set()
    for line in text.splitlines():
        found = _DEVICE.fullmatch(line.strip())
        if found is None:
            if line.startswith("a "):
                return None
            continue
        if int(found["major"]) == NVIDIA_MAJOR:
            if found["minor"] == "*":
                return None
            if int(found["minor"]) <= MINOR_MAX:
                whole.add(int(found["minor"]))
        elif found["minor"] != "*" and (part := capabilities.get(int(found["major"]) << 20 | int(found["minor"]))):
            parts.add(part)
    # To open a part, its GPU must be open, too: that alone does not make the whole of it the job's.
    divided = {int(part.name) for part in parts}
    computing = {part for part in parts if part.compute_instance is not None}
    return tuple(
        sorted(
            (
                *(DeviceName(by=By.MINOR, name=str(minor)) for minor in whole - divided),
                *(part for part in computing if int(part.name) in whole),
            ),
            key=str,
        )
    )


def capabilities_in(procfs: Folder) -> dict[int, DeviceName]:
    """Parts of GPUs by the device (major and minor in one number) that opens them; empty without MIG."""
    devices, minors = procfs.text("devices"), procfs.text("driver/nvidia-caps/mig-minors")
    if isinstance(devices, Failed) or isinstance(minors, Failed):
        return {}
    majors = [line.split()[0] for line in devices.splitlines() if line.split()[1:] == ["nvidia-caps"]]
    if not majors or not majors[0].isdigit():
        return {}
    return {
        int(majors[0]) << 20 | int(found["minor"]): DeviceName(
            by=By.MINOR,
            name=found["gpu"],
            gpu_instance=int(found["gi"]),
            compute_instance=None if found["ci"] is None else int(found["ci"]),
        )
        for line in minors.splitlines()
        if (found := _CAPABILITY.fullmatch(line.strip()))
    }


def _order(held: JobHeld) -> tuple[str, ...]:
    return held.spelled, held.job, held.user_id, str(held.device)


def slurm_source(settings: Settings) -> Source:
    """The folders that are there, and the device cgroups where jobs have any."""
    paces: dict[str, Any] = {"interval_s": settings.collect.interval_s, "deadline_s": settings.collect.deadline_s}
    rootfs, sysfs = settings.path.rootfs, tree_at(settings.path.sysfs)
    cgroups = JobCgroups(sysfs, tree_at(settings.path.procfs), **paces)
    folders = {path: JobFiles(tree_at(rootfs), path, **paces) for path in settings.allocation.job_folders}
    seen: set[str] = set()

    def present() -> tuple[Subject[JobReading], ...]:
        seen.update(path for path in folders if Path(beneath(rootfs, path)).is_dir())
        there: tuple[Subject[JobReading], ...] = tuple(folders[path] for path in sorted(seen))
        return (*there, cgroups) if job_folders(sysfs) else there

    return present
