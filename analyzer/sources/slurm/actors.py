"""The picture as actors and resources: who holds what, who waits for what, and what excuses a wait."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from analyzer.model.events import (
    ActorObserved,
    Certainty,
    Event,
    Excuse,
    ExcuseKind,
    Holds,
    Lifetime,
    ResourceObserved,
    Wait,
)
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import SECOND_NS
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Request, Units, all_of, any_of
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.dependencies import SINGLETON, Dependency, parse
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.parents import Link, links
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.plans import Plans
from analyzer.sources.slurm.preemption import Preemption
from analyzer.sources.slurm.quotas import Quotas
from analyzer.sources.slurm.reasons import DEPENDENCY_NEVER, ReasonClass, classify
from analyzer.sources.slurm.requeues import rounds
from analyzer.sources.slurm.room import Room
from analyzer.sources.slurm.states import HELD_STATES, OVER, SUCCEEDED
from analyzer.sources.slurm.steps import StepKnot, WaitingStep, knots

_NOTHING = KOutOfN(0, ())
_STEP_TAKES_S = 120
"""A step whose units are free is made within seconds; srun asks again at least once a minute."""

_KINDS = {
    ReasonClass.GATED: ExcuseKind.GATED,
    ReasonClass.STARTING: ExcuseKind.STARTING,
    ReasonClass.DECAYING: ExcuseKind.BLIND,
}


class Outlook(Struct, frozen=True):
    """What a pending job waits for, and what excuses it."""

    request: Request
    excuse: Excuse | None


def events(picture: Picture, at_ns: int) -> list[Event]:
    """Resources, then actors, each sorted by name."""
    return _Translation(picture, at_ns).events()


class _Translation:
    def __init__(self, picture: Picture, at_ns: int) -> None:
        self._picture = picture
        self._at_ns = at_ns
        self._room = Room(picture)
        self._quotas = Quotas(picture)
        self._plans = Plans(picture, self._room)
        self._units = {**self._room.capacity(), **self._plans.capacity}
        self._groups: dict[ActorId, list[Job]] = {}
        self._namesakes: dict[tuple[str | None, str | None], list[Job]] = {}
        self._families: dict[str, list[Job]] = {}
        for job in sorted(picture.jobs.values(), key=lambda one: one.order):
            self._groups.setdefault(self._actor(job.key), []).append(job)
            self._namesakes.setdefault((job.said.name, job.said.user), []).append(job)
            for family in {job.said.array_id, job.said.het_id} - {None}:
                self._families.setdefault(str(family), []).append(job)
        self._preemption = Preemption(picture, self._room)
        self._losses = rounds(picture, self._units)

    def events(self) -> list[Event]:
        waits = self._waits_for_children(links(self._picture))
        steps: list[ActorObserved] = []
        for knot in knots(self._picture):
            steps += self._step_actors(knot)
            waits.setdefault(self._actor(knot.job.key), []).append(self._wait_for_steps(knot))
        actors = [self._observed(name, group, waits) for name, group in self._groups.items()]
        observed = sorted((one for one in (*actors, *steps) if one is not None), key=lambda one: one.actor)
        self._units.update(self._quotas.capacity)
        self._add_array_limits()
        resources = [
            ResourceObserved(at_ns=self._at_ns, resource=resource, units=units)
            for resource, units in sorted(self._units.items())
        ]
        return [*resources, *observed]

    def _actor(self, key: str) -> ActorId:
        """The components of a heterogeneous job are one actor, as they start together or not at all."""
        return ActorId(f"slurm-job/{self._picture.cluster}/{key.partition('+')[0]}")

    def _observed(
        self, name: ActorId, group: Sequence[Job], waits: dict[ActorId, list[tuple[Wait, Certainty]]]
    ) -> ActorObserved | None:
        group = [job for job in group if not job.ended]
        if not group:
            return None
        first = group[0]
        citations = tuple(sorted({citation for job in group for citation in job.citations}))
        if any(job.pending for job in group):
            outlook = self._outlook(group)
            since_ns = first.said.submit_ns if first.said.submit_ns is not None else self._at_ns
            said = first.said.detail or first.said.reason or ""
            wait = Wait(request=outlook.request, since_ns=since_ns, excuse=outlook.excuse, said=said)
            planned = () if isinstance(outlook.request, Never) else self._plans.holds(group)
            return ActorObserved(
                at_ns=self._at_ns,
                actor=name,
                holds=planned,
                wait=wait,
                priority=first.said.priority or 0,
                losses=self._losses.get(first.key),
                citations=citations,
            )
        return self._running(name, group, waits.get(name, []), citations)

    def _running(
        self,
        name: ActorId,
        group: Sequence[Job],
        waits: Sequence[tuple[Wait, Certainty]],
        citations: tuple[tuple[int, int], ...],
    ) -> ActorObserved:
        first = group[0]
        held: dict[ResourceId, int] = {}
        for job in group:
            for amounts in (self._room.holds(job), self._quotas.holds(job), self._quotas.guessed_holds(job)):
                for resource, units in amounts.items():
                    held[resource] = held.get(resource, 0) + units
            if job.said.array_id is not None and job.said.throttle and not job.completing:
                held[self._array_limit(job)] = 1
        wait = None
        if waits:
            request = all_of(each.request for each, _ in waits)
            wait = Wait(request=request, since_ns=max(each.since_ns for each, _ in waits))
        suspected = any(certainty is Certainty.SUSPECTED for _, certainty in waits)
        ends_ns = [job.until_ns for job in group]
        dated = all(end is not None for end in ends_ns)
        return ActorObserved(
            at_ns=self._at_ns,
            actor=name,
            holds=_sorted(held),
            wait=wait,
            lifetime=Lifetime.DATED if dated else Lifetime.UNKNOWN,
            until_ns=min(end for end in ends_ns if end is not None) if dated else None,
            gpus=sum(self._room.gpus(job) for job in group),
            priority=first.said.priority or 0,
            certainty=Certainty.SUSPECTED if suspected else Certainty.PROVEN,
            running_since_ns=first.said.start_ns,
            losses=self._losses.get(first.key),
            citations=citations,
        )

    def _outlook(self, group: Sequence[Job]) -> Outlook:
        """All that must be true for all components to start."""
        excuses = [excuse for job in group if (excuse := self._excuse(job)) is not None]
        parts: list[Request] = []
        preempting: list[Excuse] = []
        for job in group:
            never = self._never(job)
            if never is not None:
                return Outlook(never, None)
            parts += self._dependencies(job)
            placement = self._room.placement(job)
            taken = self._preemption.makes_room(job) if placement.parts and placement.excuse is None else None
            if taken is None or any(isinstance(part, Never) for part in placement.parts):
                parts += placement.parts
            else:
                preempting.append(Excuse(ExcuseKind.PREEMPTING, taken))
            if placement.excuse is not None:
                excuses.append(placement.excuse)
            if job.said.throttle and job.said.array_id is not None:
                parts.append(Units(self._array_limit(job), 1))
        parts += self._quotas.shared_needs(group)
        parts += self._plans.needs(group)
        distinct = list(dict.fromkeys(parts))
        if len(group) > 1:
            distinct = parts
        if not parts:
            excuses += preempting
        if not parts and not excuses:
            excuses.append(Excuse(ExcuseKind.BLIND, "what it waits for stands in none of the files"))
        return Outlook(all_of(distinct) if distinct else _NOTHING, excuses[0] if excuses else None)

    def _excuse(self, job: Job) -> Excuse | None:
        said = job.said
        if job.state in HELD_STATES:
            return Excuse(ExcuseKind.GATED, "it is held after it was queued again")
        if said.eligible_ns is not None and said.eligible_ns > self._at_ns:
            return Excuse(ExcuseKind.GATED, "it begins at a set time")
        reason, text = classify(said.reason or "")
        if reason in _KINDS and said.reason:
            if text == "None":
                text = "Slurm has not tried it yet"
            return Excuse(_KINDS[reason], text)
        return self._quotas.excuse(job)

    def _never(self, job: Job) -> Never | None:
        reason, text = classify(job.said.reason or "")
        if reason is ReasonClass.NEVER and job.said.reason != DEPENDENCY_NEVER:
            return self._quotas.never(job) or Never(text)
        failed = self._failed_dependency(job)
        if job.said.reason == DEPENDENCY_NEVER:
            return failed or Never(text)
        return failed or self._quotas.never(job)

    def _failed_dependency(self, job: Job) -> Never | None:
        """A dependency that can never be fulfilled, in words; None if there is none, or another one is enough."""
        wanted = parse(job.said.dependency or "")
        failed = [each for each in wanted.conditions if self._has_failed(each)]
        if not failed or (wanted.either and len(failed) < len(wanted.conditions)):
            return None
        one = failed[0]
        target = self._picture.job(one.target)
        how = f" ({target.state})" if target is not None and target.ended else ""
        return Never(f"it depends on {one.kind} of job {one.target}{how}, which can no longer be")

    def _has_failed(self, each: Dependency) -> bool:
        if each.state == "failed":
            return True
        target = self._picture.job(f"{each.target}_{each.task}" if is_whole(each.task) else each.target)
        if target is None or not target.ended or (target.said.array_id is not None and not is_whole(each.task)):
            return False
        if each.kind in ("afterok", "aftercorr"):
            return target.state not in (SUCCEEDED, OVER)
        return each.kind == "afternotok" and target.state == SUCCEEDED

    def _dependencies(self, job: Job) -> list[Request]:
        wanted = parse(job.said.dependency or "")
        parts: list[Request] = []
        for each in wanted.conditions:
            if each.state == "fulfilled":
                met: Request | None = None
            else:
                met = self._singleton(job) if each.kind == SINGLETON else self._dependency(job, each)
            if met is not None:
                parts.append(met)
            elif wanted.either:
                return []  # one of several is enough, and this one is fulfilled
        if wanted.either and len(parts) > 1:
            return [any_of(parts)]
        return parts

    def _dependency(self, job: Job, each: Dependency) -> Request | None:
        """What fulfils it; None if it is fulfilled already."""
        targets = self._targets(each)
        known = [target for target in targets if target.key != job.key]
        if not known:
            return None if targets or self._picture.job(each.target) is not None else Done(self._actor(each.target))
        alive = sorted({self._actor(target.key) for target in known if not target.ended})
        if each.kind == "after":
            waiting = tuple(sorted({self._actor(target.key) for target in known if target.pending}))
            return Arrivals(waiting, len(waiting)) if waiting else None
        return all_of(Done(actor) for actor in alive) if alive else None

    def _targets(self, each: Dependency) -> list[Job]:
        """The jobs it speaks of: one, a task of an array (or the rest it is still in), or a whole array."""
        jobs = self._picture.jobs
        if is_whole(each.task):
            task = jobs.get(f"{each.target}_{each.task}") or jobs.get(each.target)
            return [task] if task is not None else []
        family = self._families.get(each.target)
        single = self._picture.job(each.target)
        return family or ([single] if single is not None else [])

    def _singleton(self, job: Job) -> Request | None:
        """All of the same name and user that are older, or run, must end."""
        if job.said.name is None or job.said.user is None:
            return None
        alive = {
            self._actor(one.key)
            for one in self._namesakes[job.said.name, job.said.user]
            if not one.ended and one.key != job.key and (one.running or _number(one) < _number(job))
        }
        return all_of(Done(actor) for actor in sorted(alive)) if alive else None

    def _array_limit(self, job: Job) -> ResourceId:
        return ResourceId(f"array-tasks/{job.said.array_id}")

    def _add_array_limits(self) -> None:
        for job in self._picture.jobs.values():
            if job.said.array_id is not None and job.said.throttle and not job.ended:
                limit = self._array_limit(job)
                self._units[limit] = max(self._units.get(limit, 0), job.said.throttle)

    def _waits_for_children(self, found: Iterable[Link]) -> dict[ActorId, list[tuple[Wait, Certainty]]]:
        waits: dict[ActorId, list[tuple[Wait, Certainty]]] = {}
        for link in found:
            child = self._picture.jobs[link.child]
            since_ns = child.said.submit_ns if child.said.submit_ns is not None else self._at_ns
            wait = Wait(request=Done(self._actor(link.child)), since_ns=since_ns)
            waits.setdefault(self._actor(link.parent), []).append((wait, link.certainty))
        return waits

    def _step(self, name: str) -> ActorId:
        return ActorId(f"slurm-step/{self._picture.cluster}/{name}")

    def _wait_for_steps(self, knot: StepKnot) -> tuple[Wait, Certainty]:
        """The batch script waits for the sruns that it started, those that others wait in above all."""
        inside = {step.inside for step in knot.waiting} | set(knot.runs_in.values())
        outer = sorted(set(knot.from_batch) & inside) or sorted(inside)
        request = all_of(Done(self._step(f"{knot.job.key}.{number}")) for number in outer)
        since_ns = knot.job.said.start_ns if knot.job.said.start_ns is not None else self._at_ns
        return Wait(request=request, since_ns=since_ns), Certainty.PROVEN

    def _step_actors(self, knot: StepKnot) -> Iterator[ActorObserved]:
        said = knot.job.said
        resource = ResourceId(f"step-cpu/{knot.job.key}")
        self._units[resource] = knot.cpus
        until_ns = knot.job.until_ns
        plain = ActorObserved(
            at_ns=self._at_ns,
            actor=self._step(""),
            lifetime=Lifetime.DATED if until_ns is not None else Lifetime.UNKNOWN,
            until_ns=until_ns,
            running_since_ns=said.start_ns,
            citations=knot.job.citations[:1],
        )
        for number, units in knot.held.items():
            inner = [Done(self._step(step.name)) for step in knot.waiting if step.inside == number]
            inner += [
                Done(self._step(f"{knot.job.key}.{one}")) for one, where in knot.runs_in.items() if where == number
            ]
            wait = Wait(request=all_of(inner), since_ns=self._began_ns(knot)) if inner else None
            yield structs.replace(
                plain,
                actor=self._step(f"{knot.job.key}.{number}"),
                holds=((resource, units),) if units else (),
                wait=wait,
                citations=_cited(plain, knot.citations.get(number)),
            )
        for step in knot.waiting:
            yield structs.replace(
                plain,
                actor=self._step(step.name),
                wait=Wait(
                    request=self._step_request(knot, step, resource),
                    since_ns=self._began_ns(knot),
                    said="step creation temporarily disabled (Requested nodes are busy)",
                ),
                citations=tuple(sorted({*plain.citations, *step.citations})),
            )

    def _step_request(self, knot: StepKnot, step: WaitingStep, resource: ResourceId) -> Request:
        """The processors it wants; at least one, at most what the job has.

        Where so many are free and Slurm has long refused all the same, it lacks something else (cards, memory). If
        nobody holds anything but the steps that it runs in, it waits for one of those to end.
        """
        wanted = max(min(step.cpus, knot.cpus), 1)
        around = knot.around(step)
        if wanted > knot.cpus - sum(knot.held.values()) or set(knot.held) - set(around) or not self._refused(step):
            return Units(resource, wanted)
        return any_of(Done(self._step(f"{knot.job.key}.{number}")) for number in sorted(around))

    def _refused(self, step: WaitingStep) -> bool:
        """Whether the step has waited for longer than making one takes."""
        process = self._picture.processes.get(step.pid)
        return process is not None and process.age_s is not None and process.age_s >= _STEP_TAKES_S

    def _began_ns(self, knot: StepKnot) -> int:
        """When the waiting began: by the age of its process where that is known, else not before the job."""
        ages = [self._picture.processes[step.pid].age_s for step in knot.waiting if step.pid in self._picture.processes]
        known = [age for age in ages if age is not None]
        if known:
            return self._at_ns - max(known) * SECOND_NS
        return knot.job.said.start_ns if knot.job.said.start_ns is not None else self._at_ns


def _cited(plain: ActorObserved, citation: tuple[int, int] | None) -> tuple[tuple[int, int], ...]:
    return plain.citations if citation is None else tuple(sorted({*plain.citations, citation}))


def _number(job: Job) -> int:
    return job.said.raw_id if job.said.raw_id is not None else job.order[0]


def _sorted(held: dict[ResourceId, int]) -> Holds:
    return tuple(sorted((resource, units) for resource, units in held.items() if units > 0))
