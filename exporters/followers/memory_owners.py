"""Memory of GPUs that nobody holds: what the driver says is in use, against who is alive.

For each GPU a few conditions, each with a clock of its own. A condition has to hold at every look for a minute before
anything is said, and one look at which it does not, or at which it cannot be told, sets its clock back: what is not
known is not counted. An owner that lives and does nothing is no leak.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from exporters.catalog import memory_owners as catalog
from exporters.catalog.family import Sample
from exporters.catalog.processes import PROCESS_INFO
from exporters.collectors.process_owners import Process, ProcessReading
from exporters.config import Settings
from exporters.nvml.reading import GpuReading
from exporters.subject import Key, Moment, Reading

AGE_MAX_S = 60.0
AGE_INTERVALS_MAX = 3
PROCESSES_MAX = 256
"""Of one GPU, as many as the driver's list gives."""

WATCHERS = frozenset(
    {
        "nvidia-persiste",  # persistenced; a command's name has 15 letters
        "nvidia-smi",
        "nv-hostengine",
        "dcgm-exporter",
        "nv-fabricmanage",
        "nvidia-imex",
        "nvidia_gpu_expo",
        "gpud",
        "nvitop",
        "nvtop",
        "knotwatch-expor",
    }
)
"""Programs that have devices open and hold no memory there."""


class Trouble(StrEnum):
    """What can be wrong with who holds a GPU's memory."""

    NO_PROCESS = "no_process"
    UNSEEN = "unseen"
    PID_GONE = "pid_gone"
    ZOMBIE = "zombie"
    UNLISTED_OWNER = "unlisted_owner"
    UNINTERRUPTIBLE = "uninterruptible"


ORPHANED = (Trouble.NO_PROCESS, Trouble.UNSEEN, Trouble.PID_GONE, Trouble.ZOMBIE)


Found = Mapping[tuple[int, ...], int | None]
"""One trouble at one look: who has it (so that a new one is not taken for the old one), and how many bytes each."""

NOBODY: tuple[int, ...] = ()
"""Who has a trouble that is nobody's."""


class Since(Struct, frozen=True):
    """A trouble that has been there at every look since a moment (monotonic).

    `looks`: how many readings of the GPU and of the processes there had been when it began.
    """

    found: Found
    since_s: float
    looks: tuple[int, int]


class Account:
    """What is remembered of one GPU."""

    def __init__(self) -> None:
        self.reading: GpuReading | None = None
        self.at_s = float("-inf")
        self.looks = 0
        self.baseline_bytes: int | None = None
        self.troubles: dict[Trouble, Since] = {}


class MemoryOwners:
    """Joins each GPU's reading with the latest reading of processes."""

    def __init__(
        self,
        *,
        threshold_bytes: int,
        baseline_max_bytes: int,
        hold_s: float = 60.0,
        age_max_s: float = AGE_MAX_S,
        own_pid: int = 0,
    ) -> None:
        """`threshold_bytes`: what is less is noise. `baseline_max_bytes`: what is more is no baseline.

        `hold_s`: how long before anything is said. `age_max_s`: of what is older nothing is said. `own_pid`: ours; we
        watch, too.
        """
        self._threshold_bytes = threshold_bytes
        self._baseline_max_bytes = baseline_max_bytes
        self._hold_s = hold_s
        self._age_max_s = age_max_s
        self._own_pid = own_pid
        self._accounts: dict[str, Account] = {}
        self._processes: ProcessReading | None = None
        self._processes_at_s = float("-inf")
        self._looks = 0

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        match reading.value:
            case ProcessReading():
                self._processes, self._processes_at_s = reading.value, at.mono_s
                self._looks += 1
                for account in self._accounts.values():
                    self._step(account, at)
            case GpuReading(uuid=uuid):
                account = self._accounts.setdefault(uuid, Account())
                account.reading, account.at_s = reading.value, at.mono_s
                account.looks += 1
                self._step(account, at)
            case _ if key.kind == "gpu" and not reading.up and key.name in self._accounts:
                account = self._accounts[key.name]
                account.reading, account.troubles = None, {}
            case _:
                pass

    def forget(self, key: Key) -> None:
        if key.kind == "gpu":
            self._accounts.pop(key.name, None)

    def samples(self, now: Moment) -> Iterable[Sample]:
        processes = self._seen(now)
        if self._processes is not None:
            yield Sample(catalog.SUPPORTED, (), processes is not None)
        if processes is None:
            return
        for uuid in sorted(self._accounts):
            account = self._accounts[uuid]
            if account.reading is not None and now.mono_s - account.at_s <= self._age_max_s:
                yield from self._of_gpu(account, account.reading, processes, now)

    def _of_gpu(self, account: Account, gpu: GpuReading, processes: ProcessReading, now: Moment) -> Iterator[Sample]:
        labels = (gpu.uuid, str(gpu.index))
        unattributed = unattributed_bytes(gpu)
        if unattributed is not None:
            yield Sample(catalog.UNATTRIBUTED, labels, unattributed)
        if account.baseline_bytes is not None:
            yield Sample(catalog.BASELINE, labels, account.baseline_bytes)
        if processes.files_seen and gpu.minor is not None:
            yield Sample(catalog.OPEN_PROCESSES, labels, len(_openers(gpu, processes)))
        for trouble, since in sorted(account.troubles.items()):
            held_s = now.mono_s - since.since_s
            # Both sides must have been read anew: of one stale list nothing can be said, however long it is stale.
            again = account.looks > since.looks[0] and self._looks > since.looks[1]
            if held_s < self._hold_s or not again:
                continue
            orphaned = trouble in ORPHANED
            family = catalog.ORPHANED_SECONDS if orphaned else catalog.STUCK_SECONDS
            yield Sample(family, (*labels, trouble.value), held_s)
            if orphaned and (size := _total(since.found.values())) is not None:
                yield Sample(catalog.ORPHANED_BYTES, (*labels, trouble.value), size)
        for pid in sorted({one.pid for one in gpu.processes or ()})[:PROCESSES_MAX]:
            if (process := processes.find(pid)) is not None:
                yield _process_sample(labels, process)

    def _seen(self, now: Moment) -> ProcessReading | None:
        """The processes, if they are the driver's and not too old."""
        found = self._processes
        fresh = found is not None and now.mono_s - self._processes_at_s <= self._age_max_s
        return found if found is not None and found.of_host and fresh else None

    def _step(self, account: Account, at: Moment) -> None:
        """Every condition of a GPU anew, with what is known at this look. O(its processes)."""
        gpu, processes = account.reading, self._seen(at)
        if gpu is None or processes is None or at.mono_s - account.at_s > self._age_max_s:
            account.troubles = {}
            return
        self._learn_baseline(account, gpu, processes)
        looks = account.looks, self._looks
        account.troubles = {
            trouble: _since(account.troubles.get(trouble), found, at.mono_s, looks)
            for trouble, found in self._troubles(account, gpu, processes)
        }

    def _learn_baseline(self, account: Account, gpu: GpuReading, processes: ProcessReading) -> None:
        """The least in use while nobody was there. More than the bound is no baseline but a leak from before us."""
        used = gpu.memory.used_bytes if gpu.memory is not None else None
        if used is None or gpu.processes is None or gpu.processes or used > self._baseline_max_bytes:
            return
        if not any(self._may_hold(each) for each in _openers(gpu, processes)):
            account.baseline_bytes = used if account.baseline_bytes is None else min(used, account.baseline_bytes)

    def _troubles(
        self, account: Account, gpu: GpuReading, processes: ProcessReading
    ) -> Iterator[tuple[Trouble, Found]]:
        if gpu.processes is None:
            return
        sizes: dict[int, int | None] = {}
        for one in gpu.processes:
            sizes[one.pid] = one.used_bytes if one.used_bytes is not None else sizes.get(one.pid)
        if not sizes:
            yield from self._of_nobody(account, gpu, processes)
            return
        gone = {pid for pid in sizes if pid not in processes.alive}
        listed = {pid: process for pid in sizes if (process := processes.find(pid)) is not None}
        zombies = {pid for pid, process in listed.items() if process.state in {"Z", "X"} and process.threads <= 1}
        stuck = {(pid, one.tid, one.sleeps) for pid, each in listed.items() for one in each.stuck if one.sleeps >= 0}
        for trouble, pids in ((Trouble.PID_GONE, gone), (Trouble.ZOMBIE, zombies)):
            # One that holds nothing is no trouble; bytes that are not told may be many.
            found: Found = {(pid,): sizes[pid] for pid in sorted(pids) if sizes[pid] != 0}
            if found:
                yield trouble, found
        if stuck:
            yield Trouble.UNINTERRUPTIBLE, dict.fromkeys(sorted(stuck))

    def _of_nobody(
        self, account: Account, gpu: GpuReading, processes: ProcessReading
    ) -> Iterator[tuple[Trouble, Found]]:
        """Memory in use, and no process in the driver's list."""
        used = gpu.memory.used_bytes if gpu.memory is not None else None
        if used is None:
            return
        # Before anything is known of a baseline, all that may be one is taken for it.
        beyond = used - (self._baseline_max_bytes if account.baseline_bytes is None else account.baseline_bytes)
        if beyond <= self._threshold_bytes:
            return
        openers = [each for each in _openers(gpu, processes) if self._may_hold(each)]
        if openers:
            yield Trouble.UNLISTED_OWNER, {(each.pid, each.began): None for each in openers}
        elif not processes.files_seen or gpu.minor is None:
            # Of a divided GPU, whoever may not look into files may not see the whole list either.
            if not gpu.divided:
                yield Trouble.UNSEEN, {NOBODY: beyond}
        else:
            yield Trouble.NO_PROCESS, {NOBODY: beyond}

    def _may_hold(self, process: Process) -> bool:
        """Whether it may have memory there: it computes, or is nobody known who only watches."""
        if process.pid == self._own_pid:
            return False
        return process.computes or process.command not in WATCHERS


def _openers(gpu: GpuReading, processes: ProcessReading) -> list[Process]:
    """Processes that have the GPU's file open, by number."""
    return [
        processes.processes[pid]
        for pid in sorted(processes.processes)
        if gpu.minor is not None and gpu.minor in (processes.processes[pid].minors or ())
    ]


def _since(old: Since | None, found: Found, now_s: float, looks: tuple[int, int]) -> Since:
    """The clock goes on while somebody of those who had the trouble has it still; who joins later has another."""
    stayed = {who: size for who, size in found.items() if old is not None and who in old.found}
    return Since(stayed, old.since_s, old.looks) if old is not None and stayed else Since(found, now_s, looks)


def _total(sizes: Iterable[int | None]) -> int | None:
    known = list(sizes)
    return None if any(size is None for size in known) else sum(size for size in known if size is not None)


def unattributed_bytes(gpu: GpuReading) -> int | None:
    """Memory in use beyond what processes hold; None if a size is not known. Never below 0."""
    used = gpu.memory.used_bytes if gpu.memory is not None else None
    if used is None or gpu.processes is None:
        return None
    sizes: dict[tuple[int, int | None], int] = {}
    for one in gpu.processes:
        if one.used_bytes is None:
            return None
        place = one.pid, one.gpu_instance
        sizes[place] = max(sizes.get(place, 0), one.used_bytes)
    return max(used - sum(sizes.values()), 0)


def _process_sample(labels: tuple[str, ...], process: Process) -> Sample:
    owner = process.owner
    whose = (
        (owner.pod_uid, owner.container_id, owner.runtime, owner.slurm_job, owner.slurm_step)
        if owner is not None
        else ("",) * 5
    )
    user_id = (owner.slurm_user if owner is not None else "") or process.user_id
    return Sample(
        PROCESS_INFO,
        (*labels, str(process.pid), process.command, user_id, *whose, "0" if owner is None else "1"),
        1,
    )


def memory_owners(settings: Settings, own_pid: int) -> MemoryOwners:
    """The follower, as the settings want it."""
    wanted = settings.allocation
    return MemoryOwners(
        threshold_bytes=wanted.leak_threshold_bytes,
        baseline_max_bytes=wanted.leak_baseline_max_bytes,
        age_max_s=max(AGE_MAX_S, AGE_INTERVALS_MAX * settings.collect.interval_s),
        own_pid=own_pid,
    )
