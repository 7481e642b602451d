"""Pods that belong to no gang: one actor each."""

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct

from analyzer.model.events import (
    ActorObserved,
    Certainty,
    Excuse,
    ExcuseKind,
    Holds,
    Lifetime,
    Remarked,
    RemarkKind,
    Wait,
)
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Never, Units, all_of, any_of
from analyzer.sources.kubernetes.actors import (
    GRACE_NS,
    Built,
    HoldsCache,
    actor_of,
    booked,
    cited,
    lifetime_of,
    lineage_of,
    merged,
    overdue,
    owner_label,
)
from analyzer.sources.kubernetes.company import Company
from analyzer.sources.kubernetes.gangs import COSCHEDULING_PERMIT_NS
from analyzer.sources.kubernetes.lone_needs import LoneNeeds
from analyzer.sources.kubernetes.mechanism import UNBURDENED, Burden
from analyzer.sources.kubernetes.names import pod_actor
from analyzer.sources.kubernetes.records import BOUND, PENDING, SUCCEEDED, PodRecord
from analyzer.sources.kubernetes.rollouts import NO_PLAN, Plan
from analyzer.sources.kubernetes.rooms import Class
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.volumes import ClaimFacts
from analyzer.sources.kubernetes.waits import UNTRIED, Need, foremost


class Context(Struct, frozen=True):
    """What a single look at the cluster shares: the store, the time, and what other pods imply for this one.

    `plans`: roll-out by pod. `contested`: per claim that somebody cannot attach, the pods that have it attached.
    `burdens`: what mechanisms lay on pods, by pod. `stopped`: controllers that by a mechanism make no pods now.
    """

    store: Store
    now_ns: int
    needs: LoneNeeds
    holds: HoldsCache
    plans: Mapping[str, Plan]
    contested: Mapping[str, tuple[str, ...]]
    burdens: Mapping[str, Burden]
    stopped: Set[ActorId] = frozenset()


def remark_of(actor: ActorId, excuse: Excuse | None, now_ns: int, need: Need | None) -> tuple[Remarked, ...]:
    """What the report should say beside the findings about an actor whose excuse is a doubt of ours."""
    kind = None
    if excuse is not None and excuse.kind is ExcuseKind.DISPUTED:
        kind = RemarkKind.DISAGREEMENT
    elif excuse is not None and excuse.kind is ExcuseKind.BLIND:
        kind = RemarkKind.BLIND_SPOT
    if kind is None or excuse is None:
        return ()
    citations = cited(need.citations) if need is not None else ()
    return (Remarked(at_ns=now_ns, kind=kind, subject=actor, text=excuse.text, citations=citations),)


def volume_holds(context: Context, record: PodRecord) -> Holds:
    """The volumes that a bound pod keeps others from: its own alone, and those that somebody elsewhere waits for."""
    if not record.claims:
        return ()
    claims = context.store.volumes.claims(record.namespace, record.claims)
    return tuple(
        sorted(
            {
                (claim.resource, 1)
                for claim in claims
                if claim.alone or record.key in context.contested.get(claim.key, ())
            }
        )
    )


def holds_of(context: Context, record: PodRecord) -> Holds:
    """All that the pod holds: units of its node (or of the node kept for it), quota, volumes."""
    kept = context.store.reservations.get(record.key) if record.stage is PENDING else None
    node = record.node if record.stage is BOUND else (kept.node if kept is not None else "")
    plain = context.holds.on(node, record.shape, booked(context.store, record, context.now_ns))
    volumes = volume_holds(context, record) if record.claims and record.stage is BOUND else ()
    burdened = context.burdens[record.key].holds if record.key in context.burdens else ()
    return merged((plain, volumes, burdened)) if volumes or burdened else plain


def unattached(store: Store, record: PodRecord) -> tuple[ClaimFacts, ...]:
    """The claims that a bound pod cannot attach, since they are attached to another node (Multi-Attach)."""
    if record.stage is not BOUND or record.running or record.leaving is not None or not record.claims:
        return ()
    activity = store.activity.pod(record.key, record.uid)
    said = activity.attach if activity is not None else None
    if said is None:
        return ()
    claims = [claim for claim in store.volumes.claims(record.namespace, record.claims) if claim.one_node]
    named = [claim for claim in claims if claim.volume and f'"{claim.volume}"' in said.text]
    return tuple(named or claims)


def attached_to(store: Store, claim: ClaimFacts, waiter: PodRecord) -> tuple[str, ...]:
    """The pods on other nodes that have the claim, sorted."""
    users = (store.pods[key] for key in sorted(store.by_claim.get(claim.key, ())))
    return tuple(pod.key for pod in users if pod.stage is BOUND and pod.node != waiter.node and pod.key != waiter.key)


def _attach_wait(context: Context, record: PodRecord) -> Wait | None:
    store = context.store
    claims = unattached(store, record)
    if not claims:
        return None
    activity = store.activity.pod(record.key, record.uid)
    said = activity.attach if activity is not None else None
    parts = [Units(claim.resource, len(context.contested.get(claim.key, ()))) for claim in claims]
    parts = [part for part in parts if part.count]
    if said is None or not parts:
        return None  # nobody who is known has it: it is being detached
    return Wait(request=all_of(parts), since_ns=said.first_ns, said=said.text)


def _children(store: Store, record: PodRecord) -> tuple[list[PodRecord], bool]:
    """The pods that this one has started and needs, and whether that is known rather than guessed."""
    marks = record.marks or {}
    app = marks.get("spark-app-selector")
    if app and marks.get("spark-role") == "driver":
        keys = store.by_app.get(f"{record.namespace}/{app}", set())
        found = [
            store.pods[key] for key in sorted(keys) if (store.pods[key].marks or {}).get("spark-role") == "executor"
        ]
        return found, True
    return [store.pods[key] for key in sorted(store.by_parent.get(record.key, ()))], False


def _parent_wait(store: Store, record: PodRecord) -> tuple[Wait | None, Certainty]:
    """A running pod whose helpers all still look for a place waits for the first of them (mechanism B1)."""
    children, proven = _children(store, record)
    certainty = Certainty.PROVEN if proven else Certainty.SUSPECTED
    children = [child for child in children if child.leaving is None]
    if not record.running or not children or any(child.stage is BOUND for child in children):
        return None, Certainty.PROVEN
    pending = [child for child in children if child.pending is not None]
    if not pending or (not proven and any(child.stage is SUCCEEDED for child in children)):
        return None, Certainty.PROVEN
    peers = tuple(sorted({actor_of(store, child.key) for child in pending} - {actor_of(store, record.key)}))
    if not peers:
        return None, Certainty.PROVEN
    since_ns = min(child.created_ns for child in pending)
    return Wait(request=Arrivals(peers, 1), since_ns=since_ns), certainty


def _rollout_wait(record: PodRecord, plan: Plan) -> Wait | None:
    if record.key not in plan.held:
        return None
    return Wait(request=Arrivals(plan.awaited, 1), since_ns=plan.since_ns)


def build_bound(context: Context, record: PodRecord, actor: ActorId) -> Built:
    """The actor of a pod that has its node."""
    store = context.store
    lifetime, until_ns, recreated = lifetime_of(store, record)
    wait, certainty, recheck_ns = None, Certainty.PROVEN, None
    plan = context.plans.get(record.key, NO_PLAN)
    burden = context.burdens.get(record.key, UNBURDENED)
    if record.leaving is not None or record.key in store.preempted:
        lifetime, until_ns, recreated = Lifetime.FINITE, None, False
        why, recheck_ns = overdue(store, record, context.now_ns)
        if why and record.leaving is not None:
            minor = context.now_ns <= record.leaving.due_ns + GRACE_NS
            wait = Wait(request=Never(why), since_ns=record.leaving.due_ns, minor=minor)
    else:
        if record.key in plan.going or record.key in plan.held:
            lifetime, recreated = Lifetime.FINITE, False
        wait = _attach_wait(context, record) or _rollout_wait(record, plan)
        if wait is None and burden.wait is not None:
            wait, certainty = burden.wait, burden.certainty
        if wait is None:
            wait, certainty = _parent_wait(store, record)
    return Built(
        actor=ActorObserved(
            at_ns=context.now_ns,
            actor=actor,
            holds=holds_of(context, record),
            wait=wait,
            lifetime=lifetime,
            until_ns=until_ns,
            gpus=record.shape.gpus,
            priority=record.priority,
            preemptible=True,
            recreated=recreated and not burden.renewed,
            certainty=certainty,
            lineage=lineage_of(store, record),
            losses=burden.losses,
            owner=owner_label(store, record),
            # An old pod of a roll-out serves while it waits, and so may a pod whose wait is only inferred.
            working=record.key in plan.held or (certainty is Certainty.SUSPECTED and record.running),
            running_since_ns=record.started_ns,
            citations=cited((*_citations(store, record), *burden.citations)),
        ),
        recheck_ns=recheck_ns,
    )


def _citations(store: Store, record: PodRecord) -> tuple[tuple[int, int], ...]:
    found = [record.citation]
    activity = store.activity.pod(record.key, record.uid)
    if activity is not None:
        found.extend(activity.citations())
    if record.owner is not None:
        found.extend(owner.citation for owner in store.owners.line(record.owner, record.namespace).owners)
    return tuple(found) if len(found) == 1 else cited(found)


def build_pending(context: Context, record: PodRecord, actor: ActorId) -> Built:
    """The actor of a pod without a node: it waits for one, unless a place is kept for it."""
    store, now_ns, burden = context.store, context.now_ns, context.burdens.get(record.key, UNBURDENED)
    lifetime, until_ns, recreated = lifetime_of(store, record)
    kept = store.reservations.get(record.key)
    wait: Wait | None = None
    remarks: tuple[Remarked, ...] = ()
    _, recheck_ns = overdue(store, record, now_ns)
    classes: tuple[Class | Company, ...] = ()
    citations = _citations(store, record)
    if kept is not None:
        timeout_ns = COSCHEDULING_PERMIT_NS if kept.timeout_ns is None else kept.timeout_ns
        lifetime, until_ns = Lifetime.DATED, kept.at_ns + timeout_ns
        citations = cited((*citations, kept.citation))
    elif record.leaving is None:
        need = context.needs.of(record)
        own = None if burden.overdue and need.excuse == UNTRIED else need.excuse
        excuse = foremost((own, burden.excuse))
        if record.key in context.plans.get(record.key, NO_PLAN).paused:
            excuse = Excuse(ExcuseKind.GATED, "its roll-out is paused by a person")
        request = need.request if burden.needs is None else all_of((need.request, burden.needs))
        request = request if burden.instead is None else any_of((request, burden.instead))
        wait = Wait(request=request, since_ns=need.since_ns, preempts=need.preempts, excuse=excuse, said=need.said)
        citations = cited((*citations, *burden.citations)) if burden.citations else citations
        remarks = remark_of(actor, excuse, now_ns, need)
        recheck_ns, classes = need.recheck_ns, need.classes
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=actor,
            holds=holds_of(context, record),
            wait=wait,
            lifetime=lifetime,
            until_ns=until_ns,
            gpus=record.shape.gpus if kept is not None else 0,
            priority=record.priority,
            preemptible=True,
            recreated=recreated and not burden.renewed,
            lineage=lineage_of(store, record),
            losses=burden.losses,
            owner=owner_label(store, record),
            certainty=burden.certainty,
            citations=citations,
        ),
        remarks=remarks,
        recheck_ns=recheck_ns,
        classes=classes,
    )


def build_single(context: Context, record: PodRecord) -> Built | None:
    """The actor of a pod that stands for itself; None once it has finished."""
    if record.stage is BOUND:
        return build_bound(context, record, pod_actor(record.key))
    if record.stage is PENDING:
        return build_pending(context, record, pod_actor(record.key))
    return None


def live(records: Sequence[PodRecord]) -> list[PodRecord]:
    """Those that have not finished."""
    return [record for record in records if record.stage in {BOUND, PENDING}]
