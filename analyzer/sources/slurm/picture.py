"""All documents together: one picture of the cluster at the latest time in any of them."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from analyzer.sources.slurm.jobs import Job, alias_of, as_of, is_single, key_of, latest_ns, put_together
from analyzer.sources.slurm.limit_texts import merged
from analyzer.sources.slurm.log_events import follow_log, of_the_log
from analyzer.sources.slurm.records import (
    JobRecord,
    LicenceRecord,
    LimitRecord,
    ListedPid,
    LogRecord,
    NodeRecord,
    OutputRecord,
    PartitionRecord,
    ProcessRecord,
    Reading,
    ReservationRecord,
    StepRecord,
)
from analyzer.sources.slurm.states import PASSING, PENDING, UNAVAILABLE
from analyzer.sources.slurm.tres import licences as licences_in

STEPD = re.compile(r"slurmstepd: \[(\d+(?:_\d+)?)\.([\w+]+)\]")
_UNNAMED = "cluster"


class Picture(Struct, kw_only=True):
    """Who is there. `started` and `ended` jobs of the log are already in `jobs`. Times are absolute."""

    cluster: str
    as_of_ns: int | None
    jobs: dict[str, Job]
    aliases: dict[str, str]
    nodes: dict[str, NodeRecord]
    partitions: dict[str, PartitionRecord]
    reservations: dict[str, ReservationRecord]
    licences: dict[str, LicenceRecord]
    limits: dict[tuple[str, str, str], LimitRecord]
    enforced: bool
    steps: tuple[StepRecord, ...]
    pids: tuple[ListedPid, ...]
    listed: dict[int, tuple[str, str]]
    processes: dict[int, ProcessRecord]
    outputs: tuple[OutputRecord, ...]
    select_type: str
    preempt_type: str
    requeued: tuple[LogRecord, ...]

    def owner(self, pid: int) -> tuple[str, str] | None:
        """Job and step of a process: as listpids says, else by the slurmstepd above it in the process list."""
        listed = self.listed.get(pid)
        seen: set[int] = set()
        at: int | None = pid
        while listed is None and at is not None and at not in seen:
            seen.add(at)
            process = self.processes.get(at)
            found = STEPD.search(process.command) if process is not None else None
            if found is not None:
                return found[1], found[2]
            at = process.parent if process is not None else None
        return listed

    def job(self, name: str) -> Job | None:
        """The job that goes by this id in a dependency, a step or a list."""
        key = self.aliases.get(name)
        return None if key is None else self.jobs.get(key)


def picture(readings: Sequence[Reading], until_ns: int | None = None, name: str | None = None) -> Picture:
    """Put everything together, times being absolute. The order of the readings does not matter.

    `until_ns`: what the log and sacct tell of later moments is left out (None: nothing is left out). `name` is the
    cluster's, if it is known.
    """
    ordered = sorted(readings, key=lambda one: one.document)
    records = _current(ordered)
    log = [line for reading in ordered for line in reading.log]
    if until_ns is not None:
        log = [line for line in log if line.at_ns is not None and line.at_ns <= until_ns]
        records = [known for record in records if (known := as_of(record, until_ns)) is not None]
    jobs = put_together([*records, *of_the_log(log, {record.form for record in records})])
    follow_log(jobs, log, alias_of(jobs))
    settings = {key: value for reading in reversed(ordered) for key, value in reading.settings.items()}
    return Picture(
        cluster=name or _UNNAMED,
        as_of_ns=until_ns if until_ns is not None else _as_of(ordered, jobs.values()),
        jobs=jobs,
        aliases=alias_of(jobs),
        nodes=_nodes(record for reading in ordered for record in reading.nodes),
        partitions=_partitions(record for reading in ordered for record in reading.partitions),
        reservations={one.name: one for reading in ordered for one in reading.reservations},
        licences=_licences(ordered, settings.get("Licenses", "")),
        limits=merged(record for reading in ordered for record in reading.limits),
        enforced=_enforced(jobs.values(), settings.get("AccountingStorageEnforce", "")),
        steps=tuple(step for reading in ordered for step in reading.steps),
        pids=tuple(pid for reading in ordered for pid in reading.pids),
        listed={pid.pid: (pid.job, pid.step) for reading in ordered for pid in reading.pids},
        processes={process.pid: process for reading in ordered for process in reading.processes},
        outputs=tuple(output for reading in ordered for output in reading.outputs),
        select_type=settings.get("SelectType", ""),
        preempt_type=settings.get("PreemptType", ""),
        requeued=tuple(line for line in log if line.what == "requeued"),
    )


def _current(readings: Sequence[Reading]) -> list[JobRecord]:
    """Records of jobs, without those of a list that a later list of the same form has taken the place of.

    Two lists are of the same jobs if they share any. Lists that share none (one file for each job) stand side by side,
    and a job that was asked for by its number takes the place of itself alone.
    """
    lists: dict[str, list[tuple[int, Reading, dict[str | None, JobRecord]]]] = {}
    for reading in readings:
        for form in sorted({record.form for record in reading.jobs}):
            mine = {key_of(record): record for record in reading.jobs if record.form == form}
            moment = max((latest_ns(record) or 0 for record in mine.values()), default=0)
            lists.setdefault(form, []).append((max(moment, reading.last_ns or 0), reading, mine))
    found: list[JobRecord] = []
    for form, same in sorted(lists.items()):
        for moment, reading, mine in same:
            later = [theirs for other, _, theirs in same if other > moment and not mine.keys().isdisjoint(theirs)]
            if form.startswith("sacct"):
                later = []
            whole = any(len(mine) == 1 or not is_single(form, theirs) for theirs in later)
            told_anew = {key for theirs in later for key in theirs}
            mine_now = () if whole else (one for one in reading.jobs if one.form == form)
            found += [record for record in mine_now if key_of(record) not in told_anew]
    return found


def _as_of(readings: Sequence[Reading], jobs: Iterable[Job]) -> int | None:
    """The latest moment that is no forecast."""
    moments = [reading.last_ns for reading in readings if reading.last_ns is not None]
    told = (latest_ns(job.said) for job in jobs)
    return max((*moments, *(moment for moment in told if moment is not None)), default=None)


def _nodes(records: Iterable[NodeRecord]) -> dict[str, NodeRecord]:
    """One record for each node. It is unavailable only if every form that gives a state says so: the more silent."""
    found: dict[str, NodeRecord] = {}
    for record in records:
        before = found.get(record.name)
        if before is None:
            found[record.name] = structs.replace(record)
            continue
        for name in ("host", "address", "cpus", "memory_bytes", "gres", "features", "reason", "used"):
            if getattr(before, name) is None:
                setattr(before, name, getattr(record, name))
        if record.states is not None and before.states is not None:
            open_now = [one for one in (before.states, record.states) if not one & UNAVAILABLE]
            before.states = (
                open_now[0] if len(open_now) == 1 else before.states | record.states & (PASSING | UNAVAILABLE)
            )
        else:
            before.states = before.states or record.states
        before.partitions = tuple(sorted({*(before.partitions or ()), *(record.partitions or ())})) or None
    return found


def _partitions(records: Iterable[PartitionRecord]) -> dict[str, PartitionRecord]:
    found: dict[str, PartitionRecord] = {}
    for record in records:
        before = found.get(record.name)
        if before is None:
            found[record.name] = structs.replace(record)
            continue
        if record.nodes is not None or before.nodes is not None:
            before.nodes = tuple(sorted({*(before.nodes or ()), *(record.nodes or ())}))
        before.up = record.up if before.up is None else before.up
        before.exclusive = before.exclusive or record.exclusive
        before.preempts = record.preempts if before.preempts is None else before.preempts
        before.qos = before.qos or record.qos
        before.tier = record.tier if before.tier is None else before.tier
    return found


def _licences(readings: Sequence[Reading], configured: str) -> dict[str, LicenceRecord]:
    found: dict[str, LicenceRecord] = {}
    for record in (record for reading in readings for record in reading.licences):
        before = found.get(record.name)
        if before is None or record.total > before.total:
            found[record.name] = record
    amounts, _ = licences_in(configured)
    for name, total in amounts.items():
        found.setdefault(name, LicenceRecord(name=name, citation=(readings[0].document, 0), total=total))
    return found


def _enforced(jobs: Iterable[Job], setting: str) -> bool:
    """Whether limits count: the configuration says so, or a job waits for one."""
    if setting:
        return any(word in setting for word in ("limits", "qos", "safe", "all"))
    return any((job.said.reason or "").startswith(("QOS", "Assoc")) for job in jobs if job.state in PENDING)
