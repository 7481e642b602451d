"""Locks and slots of Argo Workflows (mechanism E1): rings over them, and locks that nobody gives back.

A workflow is an actor by itself, `workflow/NAMESPACE/NAME`: it holds what its status says that it holds, and waits if
no step of it runs and some wait for a lock. Its pods are actors of their own; a workflow whose pods all look for a
place waits for one of them, and the daemons of a workflow that waits go on until it ends. Who has a lock by the
controller's word, and has ended or does not exist any more, is an orphan.

A lock: `lock/KEY` with the controller's key (`argo/Mutex/database`). Slots: `workflow-slots/NAMESPACE/NAME`, as many as
the workflow's `parallelism`; stated only where its daemons have them all.
"""

from collections.abc import Iterable, Mapping

from analyzer.model.events import (
    ActorObserved,
    Certainty,
    Citation,
    Excuse,
    ExcuseKind,
    Lifetime,
    Remarked,
    RemarkKind,
    Wait,
)
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, Never, Request, Units, all_of, any_of
from analyzer.sources.kubernetes.actors import Built, actor_of, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.mechanisms.argo_workflows import KIND, Holder, WorkflowFacts, workflow_of
from analyzer.sources.kubernetes.objects import Custom, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.singles import remark_of
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

RELEASE_NS = 300 * SECOND_NS
"""The controller gives back what an ended step or workflow had at once, and looks every minute for workflows that are
gone: a lock that it still has after five minutes it has forgotten."""
IDLE_NS = 300 * SECOND_NS
"""So long nothing of a workflow moves before its daemons are taken to be all that will ever run: the controller looks
at a workflow with a free slot every few seconds."""
_GONE_MAX = 20_000
"""Deleted workflows of which it is remembered when they went: the latest."""


class ArgoLocks:
    """Workflows that have to do with locks, and the names of all others."""

    kinds = frozenset({KIND})

    def __init__(self) -> None:
        self._facts: dict[str, WorkflowFacts] = {}
        self._namespaces: set[str] = set()
        self._gone_ns: dict[str, int] = {}

    @property
    def awake(self) -> bool:
        return bool(self._facts)

    def take(self, seen: Seen) -> None:
        thing = seen.object
        if not isinstance(thing, Custom):
            return
        key = f"{thing.metadata.namespace or 'default'}/{thing.metadata.name}"
        if seen.gone:
            self._facts.pop(key, None)
            self._gone_ns.pop(key, None)
            self._gone_ns[key] = seen.at_ns
            if len(self._gone_ns) > _GONE_MAX:
                del self._gone_ns[next(iter(self._gone_ns))]
            return
        self._gone_ns.pop(key, None)
        self._namespaces.add(key.partition("/")[0])
        facts = workflow_of(thing, seen.citation)
        if facts is None:
            self._facts.pop(key, None)
        else:
            self._facts[key] = facts

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """Pods are found by their owner when they matter."""

    def hear(self, said: LogStatement) -> None:
        """The scheduler's log says nothing about locks."""

    def look(self, store: Store, now_ns: int) -> Look:
        if not self._facts:
            return NOTHING
        orphans, doubts = self._orphans(now_ns)
        actors: list[Built] = []
        burdens: dict[str, Burden] = {}
        for key in sorted(self._facts):
            facts = self._facts[key]
            if facts.over:
                continue
            built = self._workflow(store, facts, doubts.get(key), now_ns)
            if built is not None:
                actors.append(built)
                if built.actor.wait is not None:
                    burdens.update(_daemon_burdens(store, facts, built.actor))
        actors.extend(orphans)
        return Look(actors=tuple(actors), burdens=burdens, units=self._units(actors), remarks=self._remarks(now_ns))

    def _workflow(self, store: Store, facts: WorkflowFacts, doubt: Excuse | None, now_ns: int) -> Built | None:
        held = [_lock(lock) for lock, holder in facts.holds if holder.step not in facts.ended_ns]
        wait, recheck_ns = self._wait(store, facts, doubt, now_ns)
        if wait is not None and _slots(facts) in _resources(wait.request):
            held.extend([_slots(facts)] * len(facts.daemons))
        if not held and wait is None:
            return None
        deadline = facts.deadline_s is not None
        actor = ActorId(f"workflow/{facts.key}")
        return Built(
            actor=ActorObserved(
                at_ns=now_ns,
                actor=actor,
                holds=_summed(held),
                wait=wait,
                lifetime=Lifetime.DATED if deadline else Lifetime.FINITE,
                until_ns=facts.started_ns + (facts.deadline_s or 0) * SECOND_NS if deadline else None,
                priority=facts.priority,
                citations=(facts.citation,),
            ),
            remarks=remark_of(actor, wait.excuse, now_ns, None) if wait is not None else (),
            recheck_ns=recheck_ns,
        )

    def _wait(
        self, store: Store, facts: WorkflowFacts, doubt: Excuse | None, now_ns: int
    ) -> tuple[Wait | None, int | None]:
        """What the workflow waits for, if no step of it gets on, and when that may be different."""
        pending, running = _pods(store, facts)
        if running or (facts.busy is None and not pending):
            return None, None
        if facts.busy and facts.busy > (facts.pods if pending else 0):
            return None, None
        wanted: list[Request] = [Units(_lock(lock), 1) for lock, _ in facts.waits]
        # One that has not begun takes all its locks at once; of one under way any step that gets on is progress.
        request = all_of(wanted) if facts.phase in {"", "Pending"} else any_of(wanted)
        peers = tuple(sorted({actor_of(store, record.key) for record in pending}))
        if peers:
            request = any_of((*wanted, Arrivals(peers, 1)))
        excuse = doubt
        if facts.awaits_person:
            excuse = Excuse(ExcuseKind.GATED, f"a person has to resume it ({facts.awaits_person})")
        recheck_ns = None
        if not wanted and not peers:
            if facts.stopped and facts.holds:
                if now_ns - facts.moved_ns <= RELEASE_NS:
                    return None, facts.moved_ns + RELEASE_NS + 1
                request, excuse = (
                    Never("the workflow was told to stop, nothing of it runs, and it keeps its lock"),
                    None,
                )
            elif facts.awaits_person and facts.holds:
                request = Never("a person has to resume it")
            elif facts.parallelism and facts.phase == "Running" and len(facts.daemons) >= facts.parallelism:
                if now_ns - facts.moved_ns <= IDLE_NS:
                    return None, facts.moved_ns + IDLE_NS + 1
                request = Units(_slots(facts), 1)
            else:
                return None, None
        since_ns = facts.moved_ns if facts.phase == "Running" else facts.created_ns
        return Wait(request=request, since_ns=since_ns, excuse=excuse, said=facts.said), recheck_ns

    def _orphans(self, now_ns: int) -> tuple[list[Built], dict[str, Excuse]]:
        """Holders by the controller's word that have no step left, and why we cannot judge some waiters."""
        held: dict[Holder, dict[str, list[WorkflowFacts]]] = {}
        for key in sorted(self._facts):
            facts = self._facts[key]
            for lock, holders in facts.waits if not facts.over else ():
                if self._passed_on(lock, holders):
                    continue
                for holder in holders:
                    held.setdefault(holder, {}).setdefault(lock, []).append(facts)
        built: list[Built] = []
        doubts: dict[str, Excuse] = {}
        for holder in sorted(held):
            waiters = [facts for each in held[holder].values() for facts in each]
            end = self._end_of(holder, waiters)
            if end is None:
                for facts in waiters if not self._is_known(holder) else ():
                    text = f"the workflow {holder.workflow}, which has the lock, is not in the input"
                    doubts[facts.key] = Excuse(ExcuseKind.BLIND, text)
                continue
            built.append(_orphan(holder, sorted(held[holder]), end, waiters, self._facts.get(holder.workflow), now_ns))
        return built, doubts

    def _passed_on(self, lock: str, named: tuple[Holder, ...]) -> bool:
        """Whether as many others say themselves that they have the lock: what a waiter was told is out of date."""
        live = [facts for facts in self._facts.values() if not facts.over]
        others = sum(key == lock and holder not in named for facts in live for key, holder in facts.holds)
        return others >= max(1, len(named))

    def _is_known(self, holder: Holder) -> bool:
        return holder.workflow in self._facts or holder.workflow in self._gone_ns

    def _end_of(self, holder: Holder, waiters: Iterable[WorkflowFacts]) -> tuple[int, str, Certainty] | None:
        """When the holder came to its end, in what way, and whether that was seen; None if it may go on."""
        facts = self._facts.get(holder.workflow)
        if facts is not None:
            if facts.over and facts.over_ns is not None:
                return facts.over_ns, f"the workflow has ended ({facts.phase}) and keeps its lock", Certainty.PROVEN
            ended_ns = facts.ended_ns.get(holder.step) if holder.step else None
            if ended_ns:
                return ended_ns, f"the step {holder.step} has ended and keeps its lock", Certainty.PROVEN
            return None
        gone_ns = self._gone_ns.get(holder.workflow)
        if gone_ns is not None:
            return gone_ns, "the workflow was deleted and keeps its lock", Certainty.PROVEN
        if holder.workflow.partition("/")[0] not in self._namespaces:
            return None
        # Nobody saw it go. It may have gone as late as a moment ago, so its waiters' age is all there is to go by.
        newest_ns = max(facts.created_ns for facts in waiters)
        return newest_ns, "the workflow does not exist (any more) and keeps its lock", Certainty.SUSPECTED

    def _units(self, actors: Iterable[Built]) -> Mapping[ResourceId, tuple[int, tuple[Citation, ...]]]:
        """How many there are of each lock and slot: what is said, else as many as are held."""
        held: dict[ResourceId, int] = {}
        for built in actors:
            for resource, units in built.actor.holds:
                held[resource] = held.get(resource, 0) + units
        found: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
        for key in sorted(self._facts):
            facts = self._facts[key]
            limits = dict(facts.limits)
            for lock in (lock for lock, _ in (*facts.holds, *facts.waits)) if not facts.over else ():
                resource = _lock(lock)
                said = 1 if lock in facts.mutexes else limits.get(lock, 1)
                before, citations = found.get(resource, (0, ()))
                found[resource] = (max(before, said, held.get(resource, 0)), cited((*citations, facts.citation)))
            slots = held.get(_slots(facts), 0)
            if slots:
                found[_slots(facts)] = (slots, (facts.citation,))
        return found

    def _remarks(self, now_ns: int) -> tuple[Remarked, ...]:
        """Locks of unknown size: as many as there are holders is what we go by."""
        found: list[Remarked] = []
        known = {lock for facts in self._facts.values() for lock, _ in facts.limits}
        for key in sorted(self._facts):
            facts = self._facts[key]
            for lock, holders in facts.waits if not facts.over else ():
                if lock not in known and lock not in facts.mutexes and lock not in {one.subject for one in found}:
                    text = (
                        "how many may have this lock is not in the input; "
                        f"it is taken to be as many as have it ({len(holders)})"
                    )
                    found.append(
                        Remarked(
                            at_ns=now_ns,
                            kind=RemarkKind.ASSUMPTION,
                            subject=lock,
                            text=text,
                            citations=(facts.citation,),
                        )
                    )
        return tuple(found)


def _lock(lock: str) -> ResourceId:
    return ResourceId(f"lock/{lock}")


def _slots(facts: WorkflowFacts) -> ResourceId:
    return ResourceId(f"workflow-slots/{facts.key}")


def _resources(request: Request) -> set[ResourceId]:
    return {request.resource} if isinstance(request, Units) else set()


def _summed(held: Iterable[ResourceId]) -> tuple[tuple[ResourceId, int], ...]:
    total: dict[ResourceId, int] = {}
    for resource in held:
        total[resource] = total.get(resource, 0) + 1
    return tuple(sorted(total.items()))


def _pods(store: Store, facts: WorkflowFacts) -> tuple[list[PodRecord], int]:
    """The workflow's pods without a node, and how many others are under way; daemons left aside."""
    records = [store.pods[key] for key in sorted(store.by_owner.get(facts.uid, ()))]
    pending = [record for record in records if record.stage is PENDING and record.leaving is None]
    running = [record for record in records if record.stage is BOUND and not _is_daemon(facts, record)]
    return pending, len(running)


def _is_daemon(facts: WorkflowFacts, record: PodRecord) -> bool:
    """Whether the pod is that of a daemon: it is called like the step, or ends in the step's hash."""
    digest = record.name.rpartition("-")[2]
    return any(step == record.name or step.rpartition("-")[2] == digest for step in facts.daemons)


def _daemon_burdens(store: Store, facts: WorkflowFacts, workflow: ActorObserved) -> Mapping[str, Burden]:
    """The daemons of a workflow that waits end when it ends."""
    if not facts.daemons or workflow.wait is None:
        return {}
    wait = Wait(request=Done(workflow.actor), since_ns=workflow.wait.since_ns)
    keys = sorted(store.by_owner.get(facts.uid, ()))
    daemons = [store.pods[key] for key in keys if _is_daemon(facts, store.pods[key])]
    return {record.key: Burden(wait=wait, citations=(facts.citation,)) for record in daemons if record.stage is BOUND}


def _orphan(
    holder: Holder,
    locks: list[str],
    end: tuple[int, str, Certainty],
    waiters: list[WorkflowFacts],
    facts: WorkflowFacts | None,
    now_ns: int,
) -> Built:
    """The actor that stands for a holder without a step left; until the controller is overdue it does not wait."""
    ended_ns, why, certainty = end
    overdue = now_ns - ended_ns > RELEASE_NS
    name = f"workflow/{holder.workflow}"
    if facts is not None and not facts.over:
        name = f"workflow-step/{facts.namespace}/{holder.step}"
    citations = [facts.citation] if facts is not None else []
    citations.extend(waiter.citation for waiter in waiters)
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=ActorId(name),
            holds=_summed(_lock(lock) for lock in locks),
            wait=Wait(request=Never(why), since_ns=ended_ns) if overdue else None,
            certainty=certainty,
            citations=cited(citations),
        ),
        recheck_ns=None if overdue else ended_ns + RELEASE_NS + 1,
    )
