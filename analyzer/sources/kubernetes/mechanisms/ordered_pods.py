"""StatefulSets whose controller waits for one pod before it does anything else (mechanism C1).

With `podManagementPolicy: OrderedReady` the controller goes through its pods by number and stops at the first that is
not ready or is just going; pods after it are not made, and no pod is replaced. So whoever that pod needs among the
later ones does not come. And a pod of a broken template stays when the template is put right: it would be replaced only
once it is ready (kubernetes/kubernetes#67250, "Forced rollback" in the manual of StatefulSets).

The pod of the second case is said to be stuck only if it can be certain: the controller has seen the present template,
the pod is of another, it would come back of a better one, and what its node says about it is no matter of time.
"""

from collections.abc import Mapping

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Lifetime, Wait
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Done, Never, Request, any_of
from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.actors import Built, actor_of, cited
from analyzer.sources.kubernetes.broken_containers import BROKEN_NS, broken
from analyzer.sources.kubernetes.controllers import standing_refusal
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.objects import Pod, StatefulSet
from analyzer.sources.kubernetes.owners import Owner, reference_key
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord, Try
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

SLOW_NS = 60 * SECOND_NS
"""A pod that is not ready for less than this is starting: nobody need hear that its controller waits for it."""

_REVISION = "controller-revision-hash"


class Odd(Struct, frozen=True):
    """A pod of a StatefulSet that is not plain and ready: its template, and why it cannot start ("": no matter)."""

    record: PodRecord
    revision: str
    broken: str
    certainty: Certainty


class OrderedPods(Mechanism):
    """Pods of StatefulSets that are not ready, by the uid of their set."""

    kinds: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._odd: dict[str, dict[str, Odd]] = {}

    @property
    def awake(self) -> bool:
        return bool(self._odd)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod that is, or was, not ready."""
        owner = record.owner
        if owner is None or owner.kind != "StatefulSet":
            return
        uid = reference_key(owner, record.namespace)
        found = self._odd.setdefault(uid, {})
        if gone or (record.ready and record.leaving is None) or record.stage not in {BOUND, PENDING}:
            found.pop(record.key, None)
            if not found:
                del self._odd[uid]
        else:
            found[record.key] = Odd(record, pod.metadata.labels.get(_REVISION, ""), *broken(pod))

    def look(self, store: Store, now_ns: int) -> Look:
        """Controllers that wait for a pod of theirs, and the pods that wait for their controller in turn."""
        actors: list[Built] = []
        burdens: dict[str, Burden] = {}
        for uid, found in sorted(self._odd.items()):
            owner = store.owners.by_uid(uid)
            if owner is None or not isinstance(owner.object, StatefulSet) or not owner.ordered or owner.over:
                continue
            first = _foremost(store, owner, found)
            if first is None or first.record.key in store.gangs:
                continue
            work = _work_left(store, owner, owner.object)
            if not work or standing_refusal(store, owner) is not None:
                continue
            trapped = _trapped(owner, owner.object, first, now_ns)
            if trapped is not None:
                burdens[first.record.key] = trapped
            elif now_ns - first.record.created_ns < SLOW_NS:
                continue
            actors.append(_controller(store, owner, first, work, now_ns))
        return Look(actors=tuple(actors), burdens=burdens) if actors or burdens else NOTHING


def _foremost(store: Store, owner: Owner, found: Mapping[str, Odd]) -> Odd | None:
    """The pod at which the controller stops: the first by number, unless one before it is still to be made."""
    for ordinal in range(owner.wants or 0):
        key = f"{owner.namespace}/{owner.name}-{ordinal}"
        if key in found:
            return found[key]
        if key not in store.pods:
            return None
    return None


def _controller(store: Store, owner: Owner, first: Odd, work: str, now_ns: int) -> Built:
    """The controller, which does nothing before this pod is ready, or gone."""
    record = first.record
    peer = actor_of(store, record.key)
    request: Request = Done(peer)
    if record.leaving is None:
        request = any_of((Arrivals((peer,), 1), Done(peer)))
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=_actor(owner),
            wait=Wait(
                request=request,
                since_ns=record.created_ns if record.leaving is None else record.leaving.due_ns,
                said=f"StatefulSet is waiting for Pod {record.name} before it {work}",
            ),
            lifetime=Lifetime.ENDLESS,
            citations=cited((owner.citation, record.citation)),
        )
    )


def _trapped(owner: Owner, thing: StatefulSet, first: Odd, now_ns: int) -> Burden | None:
    """What holds up a broken pod of another template than the present one: it is replaced only once it is ready."""
    record, status = first.record, thing.status
    refused = record.pending is not None and record.pending.tried is Try.REFUSED
    if (
        not (first.broken or refused)
        or record.leaving is not None
        or now_ns - record.created_ns < BROKEN_NS
        or not status.update_revision
        or not first.revision
        or status.observed_generation != thing.metadata.generation
        or _comes_back_as(owner, thing, record) in ("", first.revision)
    ):
        return None
    replaced = Arrivals((_actor(owner),), 1)
    if refused:  # a place would do as well
        return Burden(instead=replaced, renewed=True, citations=(owner.citation,))
    never = Never(f"its container cannot run ({first.broken})")
    wait = Wait(request=never, since_ns=record.created_ns, said=first.broken)
    return Burden(wait=wait, instead=replaced, renewed=True, certainty=first.certainty, citations=(owner.citation,))


def _comes_back_as(owner: Owner, thing: StatefulSet, record: PodRecord) -> str:
    """The template of which the pod would be made anew: the present one, unless the update leaves this number out."""
    strategy, ordinal = thing.spec.update_strategy, _ordinal(record, owner)
    if ordinal is None or (strategy is not None and strategy.type == "OnDelete"):
        return ""  # a person replaces these pods anyway
    rolling = strategy.rolling_update if strategy is not None else None
    partition = rolling.partition if rolling is not None else None
    former = thing.status.current_replicas if partition is None else partition
    return thing.status.current_revision if ordinal < former else thing.status.update_revision


def _work_left(store: Store, owner: Owner, thing: StatefulSet) -> str:
    """What the controller has still to do once the pod is ready, "" if nothing."""
    keys = store.by_owner.get(owner.uid, ())
    wants = owner.wants or 0
    if len(keys) < wants:
        return "makes the others"
    if len(keys) > wants:
        return "removes those beyond its number"
    rolling = thing.spec.update_strategy is None or thing.spec.update_strategy.type != "OnDelete"
    if rolling and thing.status.update_revision and thing.status.updated_replicas < wants:
        return "replaces it" if wants == 1 else "replaces any"
    return ""


def _actor(owner: Owner) -> ActorId:
    return controller_actor(owner.namespace, owner.name)


def _ordinal(record: PodRecord, owner: Owner) -> int | None:
    text = record.name.removeprefix(f"{owner.name}-")
    return int(text) if is_whole(text) else None
