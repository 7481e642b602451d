"""How often a job was queued again, and when: rounds that nobody need have watched.

`Restarts` counts them. When they were stands in the controller's log, and in sacct's earlier runs (`sacct -D`). Where
neither is there, the latest is SubmitTime, which Slurm sets anew with each; and the first is not before some job with
a lower number was submitted, since numbers are given out in order. Without such a bound a count says nothing: a job may
have been preempted once a month. The rounds are taken to be as far apart as the bound allows, which is the more silent.
"""

from collections.abc import Iterable, Mapping, Sequence

from analyzer.model.events import Losses
from analyzer.model.ids import ResourceId, resource_on
from analyzer.model.limits import SECOND_NS
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.reasons import BEGIN_TIME, ReasonClass, classify
from analyzer.sources.slurm.states import HELD_STATES

_ONE_ROUND_NS = 2 * SECOND_NS
"""What is this close is one moment, told twice."""


def rounds(picture: Picture, units: Mapping[ResourceId, int]) -> dict[str, Losses]:
    """Of every job that was queued again at least twice, by key. `units`: the resources that exist."""
    logged: dict[str, list[int]] = {}
    for line in picture.requeued:
        key = picture.aliases.get(line.job)
        if key is not None and line.at_ns is not None:
            logged.setdefault(key, []).append(line.at_ns)
    known = _submissions(picture)
    found: dict[str, Losses] = {}
    for key, job in sorted(picture.jobs.items()):
        # Accounting has the end of each run, the log the moment at which it was queued again: one of the two counts.
        told = max(_apart(job.lost_ns), _apart(logged.get(key, ())), key=len)
        losses = None if job.ended or _held(job) else _losses(job, told, known, units)
        if losses is not None:
            found[key] = losses
    return found


def _held(job: Job) -> bool:
    """Whether a person, or Slurm, holds it back: its rounds are over until somebody lets it go."""
    reason = job.said.reason or ""
    return job.state in HELD_STATES or (
        job.pending and reason != BEGIN_TIME and classify(reason)[0] is ReasonClass.GATED
    )


def _losses(
    job: Job, times: Sequence[int], known: Sequence[tuple[int, int]], units: Mapping[ResourceId, int]
) -> Losses | None:
    restarts = job.said.restarts or 0
    if restarts > len(times) and job.said.submit_ns is not None:
        times = _apart((*times, job.said.submit_ns))  # the latest of them
    first_ns = _not_before(job, known) if restarts > len(times) else None
    if first_ns is not None and times and first_ns < times[0]:
        return Losses(restarts, first_ns, times[-1], _lost(job, units))
    return Losses(len(times), times[0], times[-1], _lost(job, units)) if len(times) > 1 else None


def _apart(told: Iterable[int]) -> list[int]:
    """The times in order, each round once."""
    found: list[int] = []
    for at_ns in sorted(told):
        if not found or at_ns - found[-1] > _ONE_ROUND_NS:
            found.append(at_ns)
    return found


def _submissions(picture: Picture) -> list[tuple[int, int]]:
    """Number and time of every job that was queued once only."""
    return sorted(
        (job.said.raw_id, job.said.submit_ns)
        for job in picture.jobs.values()
        if job.said.raw_id is not None and job.said.submit_ns is not None and job.said.restarts == 0
    )


def _not_before(job: Job, known: Sequence[tuple[int, int]]) -> int | None:
    """The latest moment before which the job was certainly not yet there."""
    mine = job.said.raw_id
    return max((submit_ns for number, submit_ns in known if mine is not None and number < mine), default=None)


def _lost(job: Job, units: Mapping[ResourceId, int]) -> tuple[ResourceId, ...]:
    """What it lost, as far as it is known where it ran: cards if the node has any, else processors."""
    found: set[ResourceId] = set()
    for node in job.said.nodes or job.lost_nodes:
        kinds = (resource_on(kind, node) for kind in ("gpu", "cpu"))
        found.update([resource for resource in kinds if resource in units][:1])
    return tuple(sorted(found))
