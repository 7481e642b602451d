"""Workloads of Kueue as actors: they wait for quota of their queue, or hold it and wait for their own pods.

An admitted Workload gives its quota back when it ends, and it ends only if its pods can go on. A Job that waits for
quota is suspended and has no pods, so its Workload is all that speaks for it.
"""

from collections.abc import Iterator, Mapping

from analyzer.model.events import ActorObserved, Excuse, ExcuseKind, Lifetime, Losses, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Never, Request, all_of
from analyzer.sources.kubernetes.actors import Built, actor_of, cited, lifetime_of
from analyzer.sources.kubernetes.candidates import constraints_of
from analyzer.sources.kubernetes.controllers import standing_refusal
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.kueue_pods import pods_of
from analyzer.sources.kubernetes.kueue_quota import QueueFacts, quota_in, request_of, resources_of
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.pod_requests import shape_of
from analyzer.sources.kubernetes.singles import Context, remark_of
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import place

SECOND_NS = 1_000_000_000
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
        root = store.kueue.root(queue)
        for granted in one.given:
            for resource in resources_of(queue, root, granted.flavor, granted.resource):
                held[resource] = held.get(resource, 0) + granted.units
    return held


def _running(context: Context, one: WorkloadFacts, stated: Stated) -> Wait | None:
    """An admitted Workload waits for those of its pods that wait, and for controllers that cannot make them."""
    store = context.store
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
    if not one.said.since_ns and now_ns - one.created_ns < STARTING_NS:
        return Excuse(ExcuseKind.STARTING, "Kueue has not looked at it yet"), one.created_ns + STARTING_NS
    if one.evicted.holds and (one.rounds is None or one.rounds.count < ROUNDS_MIN):
        again_ns = max(one.retry_ns or 0, one.evicted.since_ns + STARTING_NS)
        if now_ns < again_ns:
            return Excuse(ExcuseKind.STARTING, f"it was evicted ({one.evicted.reason}) and is tried anew"), again_ns
    if "Pending the preemption" in one.said.message:
        return Excuse(ExcuseKind.PREEMPTING, "Kueue preempts other workloads for it"), None
    if store.kueue.lends(queue):
        return Excuse(ExcuseKind.PREEMPTING, "Kueue may take back quota of its queue that others have borrowed"), None
    return None, None


def _queued(context: Context, one: WorkloadFacts) -> tuple[Wait, int | None]:
    """What a Workload without quota waits for."""
    store = context.store
    queue, stopped = store.kueue.queue(one)
    since_ns = one.said.since_ns or one.created_ns
    if queue is None:
        excuse = Excuse(ExcuseKind.BLIND, f"the queue {one.queue} or its ClusterQueue is not in the input")
        return Wait(request=NOTHING, since_ns=since_ns, excuse=excuse, said=one.said.message), None
    needed = [request_of(queue, store.kueue.root(queue), one.asks, one.barred)]
    if "unavailable in ClusterQueue" in one.said.message:
        needed.append(Never(f"its queue has no such resource: {one.said.message}"))
    if one.said.reason == "Waiting":
        unready = sorted(store.kueue.actor(store.kueue.workloads[key]) for key in store.kueue.unready)
        needed.append(Arrivals(tuple(unready), len(unready)))
    # Before, an autoscaler may still be making room for them.
    if one.evicted.reason == "PodsReadyTimeout" and one.rounds is not None and one.rounds.count >= ROUNDS_MIN:
        needed.extend(_placed(store, one))
    if store.kueue.root(queue) and store.kueue.partial():
        excuse = Excuse(ExcuseKind.BLIND, f"other queues, which may lend to {queue.name}, are not in the input")
        return Wait(request=all_of(needed), since_ns=since_ns, excuse=excuse, said=one.said.message), None
    doubt, again_ns = _excuse(store, one, queue, context.now_ns)
    if stopped:
        doubt, again_ns = Excuse(ExcuseKind.GATED, f"a person has stopped its queue {queue.name}"), None
    return (
        Wait(
            request=all_of(needed),
            since_ns=since_ns,
            preempts=queue.preempts,
            excuse=doubt,
            said=one.said.message,
        ),
        again_ns,
    )


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


def _losses(one: WorkloadFacts, held: Mapping[ResourceId, int], wait: Wait | None) -> Losses | None:
    """The rounds that its status tells of, unless its pods have got ready since, or the latest is not over yet."""
    told = one.rounds
    if told is None or one.ready or wait is None or (one.reserved and one.evicted.holds):
        return None
    return Losses(told.count, told.first_ns, told.last_ns, tuple(sorted(held)) or quota_in(wait.request))


def build_workload(context: Context, one: WorkloadFacts, stated: Stated) -> Built | None:
    """The Workload's actor; None if it has ended, was deactivated, or neither holds nor waits."""
    store = context.store
    if one.over or not (one.reserved or one.active):
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
            losses=_losses(one, held, wait),
            owner=label,
            citations=cited(
                (one.citation, *(maker.citation for maker in makers), *(() if queue is None else (queue.citation,)))
            ),
        ),
        remarks=remark_of(actor, wait.excuse if wait is not None else None, context.now_ns, None),
        recheck_ns=again_ns,
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
    keys, kueue.dirty, kueue.left = sorted(kueue.dirty), set(), []
    for key in keys:
        one = kueue.workloads.get(key)
        if one is not None:
            kueue.know_pods(one, (record.key for record in pods_of(store, one)))
        built = build_workload(context, one, stated) if one is not None else None
        yield key, [] if built is None else [built]
