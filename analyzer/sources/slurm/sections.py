"""One document that holds several lists of jobs, one after the other in time: each list with what stands beside it.

People write `while true; do date; squeue --json; scontrol show node; sleep 60; done >> file`. A *section* is one round
of that. A new one begins with a list of jobs of a form that the section has already, unless the two are single jobs
that differ (`scontrol show job 5; scontrol show job 6`), which stand side by side. What precedes the first list of the
document precedes the list in every section.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from analyzer.sources.slurm.jobs import LIVE_FORMS, key_of
from analyzer.sources.slurm.records import JobList, JobRecord, Reading

_RECORDS = ("jobs", "nodes", "partitions", "reservations", "licences", "limits", "steps", "processes", "pids")


class Listed(Struct, frozen=True):
    """A list of jobs with the jobs in it."""

    head: JobList
    keys: frozenset[str | None]
    last_line: int


def sections(reading: Reading) -> list[Reading]:
    """The reading itself, or one for each section; the log and the output of jobs are in the first."""
    grouped = list(_grouped(_listed(reading)))
    if len(grouped) < 2:
        return [reading]
    cuts = _cuts(reading, grouped)
    found = []
    for number, (first, beyond) in enumerate(zip(cuts, (*cuts[1:], 1 << 62), strict=True)):
        part = Reading(document=reading.document, path=reading.path, local=reading.local, clusters=reading.clusters,
                       offset_s=reading.offset_s, settings=reading.settings)  # fmt: skip
        for name in _RECORDS:
            setattr(part, name, [one for one in getattr(reading, name) if first <= one.citation[1] < beyond])
        part.stamps = [one for one in reading.stamps if first <= one[0] < beyond]
        for _, at_ns in part.stamps:
            part.passed(at_ns)
        part.lists = [one for one in reading.lists if first <= one.line < beyond]
        if not number:
            part.log, part.outputs = reading.log, reading.outputs
        found.append(part)
    return found


def lists_of(reading: Reading) -> dict[str, frozenset[str | None]]:
    """Keys of the jobs in each form that tells of the present; also forms of which there is an empty list."""
    found: dict[str, set[str | None]] = {head.form: set() for head in reading.lists}
    for job in reading.jobs:
        if job.form in LIVE_FORMS:
            found.setdefault(job.form, set()).add(key_of(job))
    return {form: frozenset(keys) for form, keys in sorted(found.items())}


def _listed(reading: Reading) -> list[Listed]:
    if not reading.lists:
        return []
    ends = [*(head.first for head in reading.lists[1:]), len(reading.jobs)]
    found = []
    for head, end in zip(reading.lists, ends, strict=True):
        jobs: Sequence[JobRecord] = [job for job in reading.jobs[head.first : end] if job.form == head.form]
        last = max((job.citation[1] for job in jobs), default=head.line)
        found.append(Listed(head, frozenset(key_of(job) for job in jobs), last))
    return found


def _grouped(lists: Sequence[Listed]) -> Iterator[list[Listed]]:
    section: list[Listed] = []
    for one in lists:
        if any(one.head.form == other.head.form and not _beside(one, other) for other in section):
            yield section
            section = []
        section.append(one)
    if section:
        yield section


def _beside(one: Listed, other: Listed) -> bool:
    """Whether these are two single jobs, each with a list of its own."""
    return len(one.keys) == len(other.keys) == 1 and one.keys != other.keys


def _cuts(reading: Reading, grouped: Sequence[Sequence[Listed]]) -> list[int]:
    """The first line of each section."""
    heads = [section[0].head.line for section in grouped]
    others = [one.citation[1] for name in _RECORDS if name != "jobs" for one in getattr(reading, name)]
    others += [line for line, _ in reading.stamps]
    if min(others, default=heads[0]) < heads[0]:
        return [0, *(max(one.last_line for one in section) + 1 for section in grouped[:-1])]
    return [0, *heads[1:]]
