"""srun inside srun: a step that waits for processors which the step it was started from holds.

Slurm shows the waiting step as `5101.TDB` (sic), pending. Ordinary packing looks alike: a batch script starts more
steps than fit, and they go one after the other. What tells them apart is where the waiting srun runs. `scontrol
listpids` (or a process list, by the slurmstepd above it) says to which step its process belongs: under the batch step
it is packing; under a step that itself holds the processors it waits for its own parent. Steps become actors only in
jobs in which one waits inside another.

Steps that overlap report the same processors twice; so what is reported beyond the job's own size is taken from those
that no waiting step runs in, which is the more silent.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.records import StepRecord

_UNNUMBERED = frozenset(("TDB", "TBD"))
_WITHOUT_UNITS = frozenset(("batch", "extern", "interactive"))


class WaitingStep(Struct, frozen=True):
    """A step that waits. `inside`: the number of the step its srun runs in. `name` is that of the actor."""

    name: str
    inside: str
    cpus: int
    pid: int
    citations: tuple[Citation, ...]


class StepKnot(Struct, frozen=True):
    """A job in which a step waits inside another.

    `held`: processors of each running step, of `cpus` in all. `runs_in`: steps whose srun runs inside another step.
    `from_batch`: steps that the batch script started.
    """

    job: Job
    cpus: int
    held: Mapping[str, int]
    runs_in: Mapping[str, str]
    from_batch: tuple[str, ...]
    waiting: tuple[WaitingStep, ...]
    citations: Mapping[str, Citation]

    def around(self, step: WaitingStep) -> frozenset[str]:
        """The steps in which this one waits, directly or further out."""
        return frozenset(_ancestors((step,), self.runs_in))


def knots(picture: Picture) -> tuple[StepKnot, ...]:
    """Every running job with a step that waits inside another step, by id."""
    by_job: dict[str, list[StepRecord]] = {}
    for step in picture.steps:
        job = picture.job(step.job)
        if job is not None and job.running and not job.completing:
            by_job.setdefault(job.key, []).append(step)
    found = (_knot(picture, picture.jobs[key], steps) for key, steps in sorted(by_job.items()))
    return tuple(knot for knot in found if knot is not None)


def _knot(picture: Picture, job: Job, steps: Sequence[StepRecord]) -> StepKnot | None:
    if _over(picture, job):
        return None
    where = _steps_of_pids(picture, job, [step.pid for step in steps if step.pid])
    running = {step.step: step for step in steps if step.state == "RUNNING"}
    made = {step.pid for step in running.values() if step.pid}
    waiting: dict[int, WaitingStep] = {}
    for step in steps:
        if step.state != "PENDING" or step.step not in _UNNUMBERED or step.pid in made:
            continue  # a retry leaves entries behind: of one srun, one counts, and none once its step is made
        inside = where.get(step.pid)
        if inside is None or inside in _WITHOUT_UNITS or inside not in running:
            continue
        name = f"{job.key}.{step.step}" + (f"-{step.pid}" if waiting else "")
        waiting.setdefault(
            step.pid, WaitingStep(name, inside, step.cpus, step.pid, (step.citation, running[inside].citation))
        )
    if not waiting:
        return None
    runs_in = {
        number: where[step.pid]
        for number, step in running.items()
        if step.pid in where and where[step.pid] not in _WITHOUT_UNITS and where[step.pid] != number
    }
    cpus = job.said.cpus or (job.said.allocated or {}).get("cpu", 0)
    numbered = {number: step.cpus for number, step in sorted(running.items()) if number not in _WITHOUT_UNITS}
    return StepKnot(
        job=job,
        cpus=cpus,
        held=_fitted(numbered, cpus, _ancestors(waiting.values(), runs_in)),
        runs_in=runs_in,
        from_batch=tuple(number for number, step in sorted(running.items()) if where.get(step.pid) == "batch"),
        waiting=tuple(waiting[pid] for pid in sorted(waiting)),
        citations={number: step.citation for number, step in running.items()},
    )


def _steps_of_pids(picture: Picture, job: Job, pids: Sequence[int]) -> dict[int, str]:
    """The step of each process of this job: process numbers are one node's own, so other jobs' do not count."""
    raw = str(job.said.raw_id) if job.said.raw_id is not None else job.key
    found: dict[int, str] = {}
    for pid in picture.pids:
        if pid.job == raw:
            found.setdefault(pid.pid, pid.step)
    for number in pids:
        owner = picture.owner(number) if number not in found else None
        if owner is not None and owner[0] == raw:
            found[number] = owner[1]
    return found


def _ancestors(waiting: Iterable[WaitingStep], runs_in: Mapping[str, str]) -> set[str]:
    """Steps in which a waiting step runs, directly or further out."""
    found: set[str] = set()
    for step in waiting:
        inside: str | None = step.inside
        while inside is not None and inside not in found:
            found.add(inside)
            inside = runs_in.get(inside)
    return found


def _fitted(held: Mapping[str, int], cpus: int, ancestors: set[str]) -> dict[str, int]:
    """Processors of each step, so that they are no more than the job has."""
    fitted = {number: min(units, cpus) for number, units in held.items()}
    # The later of two that overlap is the one that was told to.
    for group in (fitted.keys() - ancestors, fitted.keys() & ancestors):
        for number in sorted(group, key=_later_first):
            beyond = sum(fitted.values()) - cpus
            fitted[number] -= min(max(beyond, 0), fitted[number])
    return fitted


def _later_first(number: str) -> tuple[int, str]:
    return (-int(number) if is_whole(number) and len(number) < 12 else 0, number)


def _over(picture: Picture, job: Job) -> bool:
    """Whether the job's own output says that every step it waited for was made in the end."""
    raw = str(job.said.raw_id) if job.said.raw_id is not None else job.key
    told = [output for output in picture.outputs if raw in output.last_waits]
    return bool(told) and all(not output.last_waits[raw] and not output.waiting.get(raw, 0) for output in told)
