"""The processes of the node, as far as they may have to do with GPUs: whose each is, how it is, what it has open.

A process is looked into when it is first seen and once more, and its open files again every few turns, since a program
opens the devices long after it has begun. Whoever has a device open, or is a pod's, a container's or a job's, is looked
at every time. Of all others only the number is kept. One that has gone, and one that took its number, are told apart by
when they began.
"""

from collections.abc import Iterable

from msgspec import Struct

from exporters.catalog.family import Sample
from exporters.collectors.cgroup_paths import NOBODY, Owner, owner_in
from exporters.collectors.cgroup_tree import paths_by_process
from exporters.config import Settings
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Key, Moment, ReadError, Reading, Reason, Source

KIND = "processes"
INTERVAL_S = 15.0
FILES_TURNS = 4
"""Open files of a process that had no device open are listed again every so many looks."""
DETAILED_MAX = 16_384
"""Processes looked at; a node has some thousands. The rest is counted as unseen."""
FILES_MAX = 65_536
THREADS_MAX = 1024

NVIDIA = "/dev/nvidia"
UVM = "/dev/nvidia-uvm"
"""Whoever computes has it open; whoever only asks the driver has not."""

KTHREADD = 2
"""The number of the parent of all kernel threads, in the first PID namespace of a machine and in no other."""


class Stuck(Struct, frozen=True, order=True):
    """A thread in uninterruptible sleep, and how often it has ever gone to sleep: the same count is the same sleep."""

    tid: int
    sleeps: int


class Process(Struct, frozen=True, kw_only=True):
    """One process. `state`: the letter of /proc/PID/stat. `owner` None: cannot be told.

    `minors`: GPUs whose device file it has open, None if we may not know. `computes`: it has the device file of
    unified memory open. `threads`: how many live. `stuck`: of a process with a device, its threads in state D.
    """

    pid: int
    began: int
    state: str
    command: str
    threads: int
    owner: Owner | None
    user_id: str = ""
    minors: tuple[int, ...] | None = ()
    computes: bool = False
    stuck: tuple[Stuck, ...] = ()


class ProcessReading(Struct, frozen=True, kw_only=True):
    """All processes now. `alive`: the numbers of all. `of_host`: they are the machine's numbers, as the driver's are.

    `files_seen`: every process's open files could be looked at.
    """

    alive: frozenset[int]
    processes: dict[int, Process]
    of_host: bool
    files_seen: bool

    def find(self, pid: int) -> Process | None:
        """The process of that number, if it was looked at."""
        return self.processes.get(pid)


class Stat(Struct, frozen=True, kw_only=True):
    """What /proc/PID/stat says, as far as it is used."""

    command: str
    state: str
    parent: int
    threads: int
    began: int


def stat_in(text: str) -> Stat | None:
    """The line taken apart; the command may hold blanks and parentheses. None if it is none."""
    head, closing, tail = text.rpartition(")")
    fields = tail.split()
    if not closing or len(fields) < 20 or not all(fields[at].lstrip("-").isdigit() for at in (1, 17, 19)):
        return None
    command = "".join(letter for letter in head.partition("(")[2] if letter.isprintable())
    return Stat(
        command=command[:64], state=fields[0][:1], parent=int(fields[1]), threads=int(fields[17]), began=int(fields[19])
    )


class ProcessOwners:
    """The subject. It keeps what does not change in a process's life."""

    key = Key(KIND)

    def __init__(self, procfs: Folder, sysfs: Folder | None = None, *, interval_s: float, deadline_s: float) -> None:
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._procfs = procfs
        self._sysfs = sysfs
        self._known: dict[int, Process] = {}
        self._young: frozenset[int] = frozenset()
        self._turn = 0

    def read(self, now: Moment) -> Reading[ProcessReading]:  # noqa: ARG002  what is, is read
        listed = self._procfs.names()
        if isinstance(listed, Failed):
            denied = listed.code in {"EACCES", "EPERM"}
            return Reading(
                value=None, up=False, reason=Reason.PERMISSION if denied else Reason.NOT_FOUND,
                errors=(ReadError("proc", listed.code),),
            )  # fmt: skip
        alive = sorted(int(name) for name in listed if name.isascii() and name.isdigit() and len(name) < 10)
        seen: dict[int, Process] = {}
        files_seen = len(alive) <= DETAILED_MAX
        paths: dict[int, str] | None = None
        for pid in alive[:DETAILED_MAX]:
            process, hidden = self._look(pid)
            if process is None:
                continue
            if process.owner is None and hidden and self._sysfs is not None:
                # We are in a cgroup namespace of our own; the tree itself, if it is here, has the whole paths.
                paths = paths_by_process(self._sysfs) if paths is None else paths
                process = _owned(process, paths)
            files_seen = files_seen and process.minors is not None
            seen[pid] = process
        self._young = frozenset(seen.keys() - self._known.keys())
        self._known, self._turn = seen, self._turn + 1
        value = ProcessReading(
            alive=frozenset(alive),
            processes={pid: one for pid, one in seen.items() if of_interest(one)},
            of_host=self._of_host(),
            files_seen=files_seen,
        )
        return Reading(value=value)

    def samples(self, value: ProcessReading) -> Iterable[Sample]:  # noqa: ARG002  followers join it with GPUs
        return ()

    def _look(self, pid: int) -> tuple[Process | None, bool]:
        """The process as it is now, None if it has gone; and whether its cgroup is shown from elsewhere."""
        known = self._known.get(pid)
        # One that was new last time may have been on its way into its container or job.
        due = pid % FILES_TURNS == self._turn % FILES_TURNS or pid in self._young
        if known is not None and not due and not of_interest(known):
            return known, False
        folder = self._procfs.folder(str(pid))
        text = folder.text("stat") if folder is not None else Failed("ENOENT")
        stat = stat_in(text) if isinstance(text, str) else None
        if folder is None or stat is None:
            return None, False
        if known is not None and known.began != stat.began:
            known = None
        hidden = False
        owner, user_id = (known.owner, known.user_id) if known else (None, "")
        if known is None or owner in {None, NOBODY}:
            # Slurm moves a process into its job's cgroup a moment after it has begun, so nobody's is asked again.
            cgroup = folder.text("cgroup")
            if KTHREADD in {pid, stat.parent}:
                owner = NOBODY
            elif isinstance(cgroup, str):
                owner, hidden = owner_in(cgroup), ".." in cgroup
            user_id = _user_of(folder)
        minors, computes = (known.minors, known.computes) if known else ((), False)
        if known is None or due or minors:
            minors, computes = _open_devices(folder)
        return Process(
            pid=pid,
            began=stat.began,
            state=stat.state,
            command=stat.command,
            threads=stat.threads,
            owner=owner,
            user_id=user_id,
            minors=minors,
            computes=computes,
            stuck=_stuck_threads(folder) if minors or computes else (),
        ), hidden

    def _of_host(self) -> bool:
        """Whether these are the processes of the machine's first PID namespace, whose numbers the driver gives."""
        folder = self._procfs.folder(str(KTHREADD))
        text = folder.text("stat") if folder is not None else None
        stat = stat_in(text) if isinstance(text, str) else None
        return stat is not None and stat.command == "kthreadd" and stat.parent == 0


def of_interest(process: Process) -> bool:
    """Whether it may have to do with a GPU."""
    return process.minors != () or process.computes or process.owner != NOBODY


def _owned(process: Process, paths: dict[int, str]) -> Process:
    path = paths.get(process.pid)
    if path is None:
        return process
    fields = {name: getattr(process, name) for name in Process.__struct_fields__}
    return Process(**{**fields, "owner": owner_in(f"0::{path}")})


def _user_of(folder: Folder) -> str:
    text = folder.text("status")
    for line in text.splitlines() if isinstance(text, str) else ():
        name, _, value = line.partition(":")
        if name == "Uid" and value.split():
            return value.split()[0] if value.split()[0].isdigit() else ""
    return ""


def _open_devices(folder: Folder) -> tuple[tuple[int, ...] | None, bool]:
    """Minor numbers of the GPUs whose files it has open, sorted; None if we may not know. And whether it computes."""
    files = folder.folder("fd")
    listed = files.names(at_most=FILES_MAX) if files is not None else folder.names("fd")
    if files is None or isinstance(listed, Failed):
        gone = isinstance(listed, Failed) and listed.absent
        return (() if gone else None), False
    minors, computes, seen = set(), False, True
    for name in listed:
        target = files.link(name)
        if isinstance(target, Failed):
            seen = seen and target.absent
        elif target.startswith(NVIDIA):
            computes = computes or target == UVM
            digits = target.removeprefix(NVIDIA)
            if digits.isascii() and digits.isdigit() and len(digits) < 5:
                minors.add(int(digits))
    return (tuple(sorted(minors)) if seen or minors else None), computes


def _stuck_threads(folder: Folder) -> tuple[Stuck, ...]:
    """Threads in state D, with the number of times that each has gone to sleep."""
    tasks = folder.folder("task")
    listed = tasks.names(at_most=THREADS_MAX) if tasks is not None else Failed("ENOENT")
    found = []
    for name in listed if isinstance(listed, tuple) else ():
        thread = tasks.folder(name) if tasks is not None else None
        text = thread.text("stat") if thread is not None else None
        stat = stat_in(text) if isinstance(text, str) else None
        if thread is not None and stat is not None and stat.state == "D" and name.isdigit():
            found.append(Stuck(int(name), _sleeps(thread)))
    return tuple(sorted(found))


def _sleeps(thread: Folder) -> int:
    """Context switches of both kinds; -1 if they are not told."""
    text, total = thread.text("status"), 0
    if not isinstance(text, str):
        return -1
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.endswith("_ctxt_switches") and value.strip().isdigit():
            total += int(value)
    return total


def process_source(settings: Settings) -> Source:
    """The node's processes."""
    subject = ProcessOwners(
        tree_at(settings.path.procfs),
        tree_at(settings.path.sysfs),
        interval_s=max(INTERVAL_S, settings.collect.interval_s),
        deadline_s=max(INTERVAL_S, settings.collect.deadline_s),
    )
    return lambda: (subject,)
