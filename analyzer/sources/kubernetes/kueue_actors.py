"""Workloads of Kueue as actors: they wait for quota of their queue, or hold it and wait for their own pods.

An admitted Workload gives its quota back when it ends, and it ends only if its pods can go on. A Job that waits for
quota is suspended and has no pods, so its Workload is all that speaks for it.
"""

from collections.abc import Iterator, Mapping

from analyzer.model.events import ActorObserved, Certainty, Excuse, ExcuseKind, Lifetime, Losses, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Never, Request, all_of
from analyzer.sources.kubernetes.actors import Built, actor_of, cited, lifetime_of
from analyzer.sources.kubernetes.candidates import constraints_of
from analyzer.sources.kubernetes.controllers import standing_refusal
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.kueue_pods import pods_of
from analyzer.sources.kubernetes.kueue_quota import QueueFacts, beyond_all, quota_in, request_of
from analyzer.sources.kubernetes.kueue_refusals import never_fits, others_turn, refused_for_good
from analyzer.sources.kubernetes.kueue_tree import quota_named
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.placing import place
from analyzer.sources.kubernetes.pod_requests import shape_of
from analyzer.sources.kubernetes.singles import Context, remark_of
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

STARTING_NS = 60 * SECOND_NS
"""A Workload that Kueue has said nothing about yet, or has evicted a moment ago, may be looked at any time."""

ROUNDS_MIN = 3
"""Evicted less often than this, a back-off is an ordinary delay (as `livelock_rounds_min` has it)."""

Stated = Mapping[ActorId, ActorObserved]
NOTHING: Request = all_of(())


def _refused(store: Store, one: WorkloadFacts) -> set[ActorId]:
    """Controllers of the Workload whose pods another quota refuses."""
    found = set()
    for owner in one.owners:
        for uid in sorted(store.owners.below(reference_key(owner, one.namespace))):
            maker = store.owners.by_uid(uid)
            if maker is not None and standing_refusal(store, maker) is not None:
                found.add(controller_actor(maker.namespace, maker.name))
    return found


def _holds(store: Store, one: WorkloadFacts) -> dict[ResourceId, int]:
    queue, _ = store.kueue.queue(one)
    held: dict[ResourceId, int] = {}
    if queue is not None:
        for granted in one.given:
            for resource, units in store.kueue.tree.takes(queue.name, granted.flavor, granted.resource, granted.units):
                held[resource] = held.get(resource, 0) + units
    return held


def _running(context: Context, one: WorkloadFacts, stated: Stated) -> Wait | None:
    """An admitted Workload waits for those of its pods that wait, and for controllers that cannot make them.

    Before, with quota alone, it waits for its admission checks.
    """
    store = context.store
    if not one.admitted and one.checks and not one.evicted.holds:
        queue, _ = store.kueue.queue(one)
        never, doubt = refused_for_good(one, queue), others_turn(one, queue, stopped=False)
        if never or doubt is not None:
            request = Never(never) if never else NOTHING
            return Wait(request=request, since_ns=one.said.since_ns, excuse=None if never else doubt)
    records = pods_of(store, one)
    peers = {actor_of(store, record.key) for record in records} | _refused(store, one)
    waiting = sorted(peer for peer in peers if peer in stated and stated[peer].wait is not None)
    if not waiting:
        return None
    since_ns = min(wait.since_ns for peer in waiting if (wait := stated[peer].wait) is not None)
    return Wait(request=Arrivals(tuple(waiting), len(waiting)), since_ns=max(since_ns, one.said.since_ns))


def _placed(store: Store, one: WorkloadFacts) -> list[Request]:
    """Places for all of its pods at once, as Kueue demands of a Workload that must be ready in time.

    Nothing is asked for where a node may come back, or where devices by claim are needed.
    """
    found: list[Request] = []
    for part in one.parts if store.candidates.nodes else ():
        choice = store.candidates.choose(constraints_of(part.spec))
        if not part.spec.containers or part.spec.resource_claims or choice.away or choice.cordoned:
            return []
        found.append(place(shape_of(part.spec), choice.among, part.fewest))
    return found


def _excuse(store: Store, one: WorkloadFacts, queue: QueueFacts, now_ns: int) -> tuple[Excuse | None, int | None]:
    """Why a Workload without quota is no ground for a verdict now, and when to ask again."""
    looked_at = one.said.since_ns or store.kueue.lines.ahead(one.key)  # of a strict queue only the head is
    if not looked_at and now_ns - one.created_ns < STARTING_NS:
        return Excuse(ExcuseKind.STARTING, "Kueue has not looked at it yet"), one.created_ns + STARTING_NS
    if one.evicted.holds and (one.rounds is None or one.rounds.count < ROUNDS_MIN):
        again_ns = max(one.retry_ns or 0, one.evicted.since_ns + STARTING_NS)
        if now_ns < again_ns:
            return Excuse(ExcuseKind.STARTING, f"it was evicted ({one.evicted.reason}) and is tried anew"), again_ns
    if queue.cohort and store.kueue.partial():
        return Excuse(ExcuseKind.BLIND, f"other queues, which may lend to {queue.name}, are not in the input"), None
    if store.kueue.ringed(queue):
        return Excuse(ExcuseKind.BLIND, f"the cohorts above {queue.name} are each other's parents"), None
    if beyond_all(store.kueue.tree, queue, one.asks, one.barred):
        return None, None  # whoever gives way, it is never enough
    if "Pending the preemption" in one.said.message:
        return Excuse(ExcuseKind.PREEMPTING, "Kueue preempts other workloads for it"), None
    if store.kueue.may_reclaim(queue, one.priority):
        return Excuse(ExcuseKind.PREEMPTING, "Kueue may take back quota of its queue that others have borrowed"), None
    if store.kueue.may_displace(queue, one):
        return Excuse(ExcuseKind.PREEMPTING, "Kueue may preempt others of its priority that came later"), None
    return None, None


def _queued(context: Context, one: WorkloadFacts) -> tuple[Wait, int | None]:
    """What a Workload without quota waits for."""
    store, kueue = context.store, context.store.kueue
    queue, stopped = kueue.queue(one)
    since_ns = one.said.since_ns or one.created_ns
    ringed = queue is not None and kueue.ringed(queue)
    never, doubt = refused_for_good(one, queue, ringed=ringed), others_turn(one, queue, stopped=stopped)
    again_ns: int | None = None
    if not never and never_fits(one) and (queue is None or (queue.cohort and kueue.partial())):
        never = f"Kueue has no flavour with that much: {one.said.message}"  # it knows all queues, and we do not
    if never:
        return Wait(request=Never(never), since_ns=since_ns, said=one.said.message), None
    if queue is None:
        excuse = doubt or Excuse(ExcuseKind.BLIND, f"the queue {one.queue} or its ClusterQueue is not in the input")
        return Wait(request=NOTHING, since_ns=since_ns, excuse=excuse, said=one.said.message), None
    if doubt is None:
        doubt, again_ns = _excuse(store, one, queue, context.now_ns)
    wait = Wait(
        request=all_of(_needed(store, one, queue)),
        since_ns=since_ns,
        preempts=bool(queue.within),
        excuse=doubt,
        said=one.said.message,
    )
    return wait, again_ns


def _needed(store: Store, one: WorkloadFacts, queue: QueueFacts) -> Iterator[Request]:
    """Quota; whom it stands behind; and what else Kueue demands before it admits anybody."""
    kueue = store.kueue
    yield request_of(kueue.tree, queue, one.asks, one.barred)
    ahead = kueue.workloads.get(kueue.lines.ahead(one.key))
    if ahead is not None:
        yield Arrivals((kueue.actor(ahead),), 1, order=True)
    if one.said.reason == "Waiting":
        unready = sorted(kueue.actor(kueue.workloads[key]) for key in kueue.unready)
        yield Arrivals(tuple(unready), len(unready))
    # Before, an autoscaler may still be making room for them.
    if one.evicted.reason == "PodsReadyTimeout" and one.rounds is not None and one.rounds.count >= ROUNDS_MIN:
        yield from _placed(store, one)


def _lifetime(store: Store, one: WorkloadFacts) -> tuple[Lifetime, int | None]:
    lifetime, until_ns = Lifetime.UNKNOWN, None
    if one.owner is not None and one.owner.kind == "Pod":
        record = store.pods.get(f"{one.namespace}/{one.owner.name}")
        if record is not None:
            lifetime, until_ns, _ = lifetime_of(store, record)
    elif one.owner is not None:
        line = store.owners.line(one.owner, one.namespace)
        lifetime, until_ns = line.lifetime, line.until_ns
    if one.limit_s is not None and one.reserved and lifetime is not Lifetime.ENDLESS:
        own_ns = one.said.since_ns + one.limit_s * SECOND_NS
        lifetime, until_ns = Lifetime.DATED, own_ns if until_ns is None else min(own_ns, until_ns)
    return lifetime, until_ns


def _losses(context: Context, one: WorkloadFacts, held: Mapping[ResourceId, int], wait: Wait | None) -> Losses | None:
    """The rounds that its status or events tell of, unless its pods have got ready since, or the latest is not over."""
    heard = context.store.kueue.heard.rounds(one.key)
    told = heard if one.rounds is None or (heard is not None and heard.count >= one.rounds.count) else one.rounds
    if told is None or one.ready or wait is None or (one.reserved and one.evicted.holds):
        return None
    return Losses(told.count, told.first_ns, told.last_ns, tuple(sorted(held)) or quota_in(wait.request))


def build_workload(context: Context, one: WorkloadFacts, stated: Stated) -> Built | None:
    """The Workload's actor; None if it has ended, was deactivated, or neither holds nor waits."""
    store = context.store
    if not (one.waits or (one.reserved and not one.over)):
        return None
    actor = store.kueue.actor(one)
    held: dict[ResourceId, int] = {}
    again_ns: int | None = None
    if one.reserved:
        held = _holds(store, one)
        wait = _running(context, one, stated)
    else:
        wait, again_ns = _queued(context, one)
    if not held and wait is None:
        return None
    lifetime, until_ns = _lifetime(store, one)
    owner = one.owner
    queue, _ = store.kueue.queue(one)
    makers = () if owner is None else store.owners.line(owner, one.namespace).owners
    label = "" if owner is None else store.owners.line(owner, one.namespace).label
    return Built(
        actor=ActorObserved(
            at_ns=context.now_ns,
            actor=actor,
            holds=tuple(sorted(held.items())),
            wait=wait,
            lifetime=lifetime,
            until_ns=until_ns,
            priority=one.priority,
            preemptible=True,
            progress=1 if one.ready else 0 if one.unready and one.rounds is not None else None,
            losses=_losses(context, one, held, wait),
            owner=label,
            citations=cited(
                (one.citation, *(maker.citation for maker in makers), *(() if queue is None else (queue.citation,)))
            ),
        ),
        remarks=remark_of(actor, wait.excuse if wait is not None else None, context.now_ns, None),
        recheck_ns=again_ns,
    )


def build_heard(context: Context, key: str) -> Built | None:
    """A Workload of which nothing but events is in the input: who waits is named, and rounds are counted."""
    heard = context.store.kueue.heard
    latest, rounds = heard.latest.get(key), heard.rounds(key)
    if latest is None or not (latest.waits or latest.evicted):
        return None
    namespace, _, name = key.partition("/")
    actor = ActorId(f"workload/{namespace}/{heard.owners.get(key, name)}")
    excuse = Excuse(ExcuseKind.BLIND, "only events tell of it: its Workload and its queue are not in the input")
    losses = None
    if rounds is not None:
        losses = Losses(rounds.count, rounds.first_ns, rounds.last_ns, quota_named([heard.queues.get(key, "")]))
    return Built(
        actor=ActorObserved(
            at_ns=context.now_ns,
            actor=actor,
            wait=Wait(request=NOTHING, since_ns=latest.at_ns, excuse=excuse, said=latest.message),
            lifetime=Lifetime.UNKNOWN,
            certainty=Certainty.SUSPECTED,
            losses=losses,
            citations=(latest.citation,),
        ),
        remarks=remark_of(actor, excuse, context.now_ns, None),
    )


def look_at_workloads(context: Context, dirty: Dirty, stated: Stated) -> Iterator[tuple[str, list[Built]]]:
    """The Workloads (by key) that fare differently since their pods, their queue or they themselves are different."""
    store, kueue = context.store, context.store.kueue
    if kueue.workloads:
        changed = [dirty.pods, *(store.by_gang.get(gang, ()) for gang in dirty.gangs)]
        arrived = [record.key for records in dirty.arrived.values() for record in records]
        for keys_of_pods in (*changed, arrived):
            kueue.touch(store.owners, store.pods, keys_of_pods)
        kueue.touch_owners(dirty.owners)
        kueue.touch_refused(refusing=bool(store.activity.all_refused()))
    kueue.settle()
    keys, kueue.dirty, kueue.left = sorted(kueue.dirty), set(), []
    for key in keys:
        one = kueue.workloads.get(key)
        if one is not None:
            kueue.know_pods(one, (record.key for record in pods_of(store, one)))
        built = build_workload(context, one, stated) if one is not None else None
        if one is None and not kueue.shown:
            built = build_heard(context, key)
        yield key, [] if built is None else [built]
