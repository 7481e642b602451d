"""What the controller's log says of jobs after the lists were taken, or where there are no lists."""

from collections.abc import Mapping, Sequence

from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.reasons import BEGIN_TIME
from analyzer.sources.slurm.records import JobRecord, LogRecord
from analyzer.sources.slurm.states import ENDED, OVER


def of_the_log(log: Sequence[LogRecord], forms: set[str]) -> list[JobRecord]:
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


def follow_log(jobs: Mapping[str, Job], log: Sequence[LogRecord], aliases: Mapping[str, str]) -> None:
    """Jobs as the log says that they went on after all that the other outputs know of them. Changes them in place."""
    for line in sorted(log, key=lambda one: (one.at_ns or 0, one.citation)):
        job = jobs.get(aliases.get(line.job, ""))
        if line.at_ns is None or job is None or job.ended or line.at_ns <= _known_until(job):
            continue
        if line.what == "ended":
            job.state, job.said.end_ns = OVER, line.at_ns
        elif line.what == "started" and job.pending and job.said.array_tasks is None:
            job.state, job.said.start_ns, job.said.nodes = "RUNNING", line.at_ns, line.nodes
            job.said.allocated = job.said.requested
        elif line.what == "requeued" and job.running:
            said = job.said
            job.state, said.reason, said.submit_ns, said.start_ns, said.nodes = (
                "PENDING",
                BEGIN_TIME,
                line.at_ns,
                None,
                (),
            )


def _known_until(job: Job) -> int:
    """The latest moment at which the lists speak of the job as it is in them."""
    said = job.said
    moments = [said.submit_ns, said.eligible_ns, said.looked_ns] if job.pending else [said.start_ns]
    return max((moment for moment in moments if moment is not None), default=1 << 62)
