"""All documents together: one picture of the cluster at the latest time in any of them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from analyzer.model.limits import SECOND_NS
from analyzer.sources.slurm.jobs import Job, alias_of, key_of, latest_ns, put_together, shifted
from analyzer.sources.slurm.limit_texts import merged
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
from analyzer.sources.slurm.states import ENDED, OVER, PASSING, PENDING, UNAVAILABLE
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


def picture(readings: Sequence[Reading], offset_s: int | None) -> Picture:
    """Put everything together. The order of the readings does not matter."""
    ordered = sorted(readings, key=lambda one: one.document)
    offset = offset_s if offset_s is not None else _offset(ordered)
    for reading in ordered:
        if reading.local and offset:
            _shift(reading, offset)
    records = _current(ordered)
    log = [line for reading in ordered for line in reading.log]
    jobs = put_together([*records, *_of_the_log(log, {record.form for record in records})])
    _end_by_log(jobs, log, alias_of(jobs))
    settings = {key: value for reading in reversed(ordered) for key, value in reading.settings.items()}
    clusters = Counter(name for reading in ordered for name in reading.clusters)
    clusters.update(job.said.cluster for job in jobs.values() if job.said.cluster)
    named = min(clusters, key=lambda name: (-clusters[name], name), default=settings.get("ClusterName", _UNNAMED))
    return Picture(
        cluster=named,
        as_of_ns=_as_of(ordered, jobs.values()),
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
    )


def _current(readings: Sequence[Reading]) -> list[JobRecord]:
    """Records of jobs, without those of a list that a later list of the same form has taken the place of.

    Two lists are of the same jobs if they share any. Lists that share none (one file for each job) stand side by side.
    """
    lists: dict[str, list[tuple[int, Reading, dict[str | None, JobRecord]]]] = {}
    for reading in readings:
        for form in sorted({record.form for record in reading.jobs}):
            mine = {key_of(record): record for record in reading.jobs if record.form == form}
            moment = max((latest_ns(record) or 0 for record in mine.values()), default=0)
            lists.setdefault(form, []).append(
                (max(moment, *reading.times, 0) if reading.times else moment, reading, mine)
            )
    found: list[JobRecord] = []
    for form, same in sorted(lists.items()):
        for moment, reading, mine in same:
            later = any(other > moment and not mine.keys().isdisjoint(theirs) for other, _, theirs in same)
            if not later or form.startswith("sacct"):
                found += [record for record in reading.jobs if record.form == form]
    return found


def _offset(readings: Sequence[Reading]) -> int:
    """What local time is ahead of UTC: from sdiag, else from jobs that are told in both; 0 where nothing tells."""
    stated = [reading.offset_s for reading in readings if reading.offset_s is not None]
    if stated:
        return _quarter(min(stated))
    absolute = {
        record.raw_id: record.submit_ns
        for reading in readings
        if not reading.local
        for record in reading.jobs
        if record.raw_id is not None and record.submit_ns is not None
    }
    apart = Counter(
        _quarter((record.submit_ns - absolute[record.raw_id]) // SECOND_NS)
        for reading in readings
        if reading.local
        for record in reading.jobs
        if record.raw_id in absolute and record.submit_ns is not None
    )
    return min(apart, key=lambda one: (-apart[one], one), default=0)


def _quarter(seconds: int) -> int:
    return round(seconds / 900) * 900


def _shift(reading: Reading, offset_s: int) -> None:
    away_ns = offset_s * SECOND_NS
    for job in reading.jobs:
        shifted(job, offset_s)
    for each in (*reading.steps, *reading.reservations):
        for name in ("start_ns", "end_ns"):
            moment = getattr(each, name, None)
            if moment is not None:
                setattr(each, name, moment - away_ns)
    reading.times = [moment - away_ns for moment in reading.times]
    reading.log = [
        structs.replace(line, at_ns=None if line.at_ns is None else line.at_ns - away_ns) for line in reading.log
    ]
    reading.local = False


def _as_of(readings: Sequence[Reading], jobs: Iterable[Job]) -> int | None:
    """The latest moment that is no forecast."""
    moments = [moment for reading in readings for moment in reading.times]
    told = (latest_ns(job.said) for job in jobs)
    return max((*moments, *(moment for moment in told if moment is not None)), default=None)


def _of_the_log(log: Sequence[LogRecord], forms: set[str]) -> list[JobRecord]:
    """Jobs that only the log tells of; where other outputs list jobs, what they leave out is over."""
    if forms:
        return []
    found: dict[str, JobRecord] = {}
    for line in log:
        name, plus, offset = line.job.partition("+")
        array, _, task = name.partition("_")
        record = found.setdefault(
            line.job,
            JobRecord(
                form="slurmctld log",
                citation=line.citation,
                raw_id=None if task or plus else int(name),
                array_id=int(array) if task else None,
                array_tasks=task or None,
                het_id=int(name) if plus else None,
                het_offset=int(offset) if plus else None,
                state="PENDING",
            ),
        )
        if line.what == "submitted":
            record.submit_ns = line.at_ns
        elif line.what == "started":
            record.state, record.start_ns, record.nodes = "RUNNING", line.at_ns, line.nodes
        elif record.state not in ENDED:
            record.state, record.end_ns = OVER, line.at_ns
    return [found[job] for job in sorted(found)]


def _end_by_log(jobs: dict[str, Job], log: Sequence[LogRecord], aliases: dict[str, str]) -> None:
    """A job of which the log says that it ended after all that the other outputs know of it has ended."""
    for line in log:
        job = jobs.get(aliases.get(line.job, ""))
        if line.what != "ended" or line.at_ns is None or job is None or job.ended:
            continue
        since = job.said.submit_ns if job.pending else job.said.start_ns
        if since is not None and line.at_ns > since and not ((job.pending and job.said.eligible_ns) or 0) > line.at_ns:
            job.state = OVER
            job.said.end_ns = line.at_ns


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
        before.preempts = before.preempts or record.preempts
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
