"""Lines without a table: the controller's log, and what a job's own output says of steps and submissions.

Of the controller's log: that a job was submitted, started, ended. No line is written when one becomes stuck. The log
comes as the controller writes it, from syslog or from the journal (their stamps carry no year).
"""

import re

from msgspec import Struct

from analyzer.sources.slurm.hostlists import expand
from analyzer.sources.slurm.records import LogRecord, OutputRecord, Reading
from analyzer.sources.slurm.times import moment_ns

LOG, OUTPUT = "slurmctld log", "job output"

STAMPED = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)\] ?(.*)")
FORWARDED = re.compile(
    r"(?:(\d{4}-\d\d-\d\d[T ]\S+) |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d )\S+ slurmctld(?:\[\d+\])?: (.*)"
)
SRUN = re.compile(r"srun: (?:Job|Step|job|step)\b")
SUBMITTED = re.compile(r"(?:sbatch: )?Submitted batch job (\d{1,10})(?: on cluster (\S+))?")

_JOB = r"JobId=(\d{1,10}(?:_\d{1,9}|\+\d{1,6})?)(?:\((\d{1,10})\))?"
_SUBMIT = re.compile(
    rf"_slurm_rpc_(?:submit_batch_job|allocate_resources|submit_batch_het_job|allocate_het_job): {_JOB}"
)
_START = re.compile(
    rf"(?:sched: (?:_slurm_rpc_\w+ )?(?:Allocate|allocate) {_JOB} NodeList=(\S+)"
    rf"|sched/backfill: _start_job: Started {_JOB} in \S+ on (\S+))"
)
_END = re.compile(rf"(?:_job_complete: {_JOB} done|Time limit exhausted for {_JOB}|REQUEST_KILL_JOB {_JOB})")
_AGAIN = re.compile(rf"Requeuing {_JOB}")  # once for each, whatever the cause, when the job has left its nodes
_CLUSTER = re.compile(r"slurmctld version (\S+) started on cluster (\S+)")
_WAITING = re.compile(
    r"srun: Job (\d{1,10})(?:\+\d+)? step creation (temporarily|still) disabled, retrying(?: \((.*)\))?"
)
_CREATED = re.compile(r"srun: Step created for (?:job |StepId=|JobId=)(\d{1,10})")


class Line(Struct, frozen=True):
    """A statement of the log: when (None: the stamp has no year), and what."""

    at_ns: int | None
    text: str


def log_line(line: str) -> Line | None:
    """The statement of a line of the controller's log, None if it is no such line."""
    found = STAMPED.match(line)
    if found is not None:
        return Line(moment_ns(found[1]), found[2])
    found = FORWARDED.match(line)
    return None if found is None else Line(moment_ns(found[1] or ""), found[2])


def take_log_line(reading: Reading, number: int, line: Line) -> None:
    """Keep what the statement says of a job, and its time."""
    if line.at_ns is not None:
        reading.passed(line.at_ns)
    reading.count(LOG)
    for what, pattern in (("submitted", _SUBMIT), ("started", _START), ("ended", _END), ("requeued", _AGAIN)):
        found = pattern.search(line.text)
        if found is None:
            continue
        said = [group for group in found.groups() if group is not None]
        nodes = expand(said.pop()) if what == "started" and len(said) > 1 else ()
        name = said[0]
        raw = said[1] if len(said) > 1 else ""
        job = name if "_" in name or "+" in name or not raw else raw
        reading.log.append(LogRecord(line.at_ns, what, job, nodes, (reading.document, number)))
        return
    cluster = _CLUSTER.search(line.text)
    if cluster is not None:
        reading.clusters.add(cluster[2])


def is_output_line(line: str) -> bool:
    """Whether a job's output says something here that we understand."""
    return (line.startswith("srun: ") and SRUN.match(line) is not None) or SUBMITTED.match(line) is not None


def take_output_line(reading: Reading, number: int, text: str) -> None:
    """Count steps that wait and steps that were made; keep who was submitted."""
    if not reading.outputs:
        reading.outputs.append(OutputRecord(path=reading.path))
    output = reading.outputs[0]
    waiting = _WAITING.match(text)
    created = _CREATED.match(text)
    submitted = SUBMITTED.match(text)
    if waiting is not None:
        job = waiting[1]
        output.waiting[job] = output.waiting.get(job, 0) + (waiting[2] == "temporarily")
        output.last_waits[job] = True
        output.lines[job] = (reading.document, number)
    elif created is not None:
        job = created[1]
        output.waiting[job] = max(output.waiting.get(job, 0) - 1, 0)
        output.last_waits[job] = False
    elif submitted is not None:
        output.submitted.append(submitted[1])
        output.lines.setdefault(submitted[1], (reading.document, number))
    else:
        return
    reading.count(OUTPUT)
