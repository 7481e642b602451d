"""Objects that are being deleted and do not go (mechanism C5).

A finalizer keeps an object until somebody takes it off. If its owner is gone, the object stays for ever, and with it
what is only cleaned up afterwards: the pods of an operator's job go on holding GPUs, a namespace keeps its name, a
claim keeps the pods from starting that need a new one. Some finalizers stand for a wait of their own: a claim stays
until no pod uses it, an owner deleted in the foreground until what it owns is gone, and such waits may form a ring.

Alone, an object that does not go harms nobody and is left aside, unless it is a namespace.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Citation, Holds, Lifetime, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Done, Never, Request, all_of
from analyzer.sources.kubernetes.actors import ROUTINE_FINALIZERS, Built, actor_of, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.objects import Condition, Custom, Namespace, Node, Other
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.records import BOUND, PENDING
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.kubernetes.witnesses import BEING_DELETED, kind_shown

SLOW_NS = 300 * SECOND_NS
"""What has been deleted for less than this is being cleaned up."""

ORPHANED_NS = 900 * SECOND_NS
"""A finalizer that is not of every cluster may stand for work outside: load balancers and volumes take minutes."""

ROUTINE = ROUTINE_FINALIZERS | {
    "kubernetes",
    "kubernetes.io/pv-protection",
    "external-provisioner.volume.kubernetes.io/finalizer",
    "customresourcecleanup.apiextensions.k8s.io",
}
"""Finalizers that a controller of every cluster takes off, or that stand for a wait which is looked at here."""

_FAILURES = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
)
"""Conditions that keep a namespace whatever becomes of its objects: the server itself cannot list or delete them."""

_REMAINING = "NamespaceFinalizersRemaining"
_COUNTED = re.compile(r"(\S+) in \d+ resource instances")
_WHY_MAX = 300
Key = tuple[str, str, str]


class Going(Struct, frozen=True, kw_only=True):
    """An object that is being deleted: since when, what keeps it, whose it is."""

    kind: str
    namespace: str
    name: str
    uid: str
    due_ns: int
    finalizers: tuple[str, ...]
    owners: tuple[str, ...]
    conditions: tuple[Condition, ...]
    citation: Citation

    @property
    def actor(self) -> ActorId:
        return ActorId(f"deletion/{self.namespace or 'cluster'}/{self.kind.lower()}.{self.name}")

    @property
    def foreign(self) -> tuple[str, ...]:
        """The finalizers that none of the controllers of every cluster takes off."""
        return tuple(name for name in self.finalizers if name not in ROUTINE and not name.startswith("external-"))


class Deletions(Mechanism):
    """All that is being deleted but pods, by kind, namespace and name."""

    kinds = frozenset({BEING_DELETED})

    def __init__(self) -> None:
        self._going: dict[Key, Going] = {}

    @property
    def awake(self) -> bool:
        return bool(self._going)

    def take(self, seen: Seen) -> None:
        """An object that is being deleted, or is gone, or was made anew."""
        thing, metadata = seen.object, seen.object.metadata
        kind = thing.kind if isinstance(thing, Custom | Other) else kind_shown(thing)
        key = (kind_shown(thing), metadata.namespace, metadata.name)
        due_ns = parse_ns(metadata.deletion_timestamp)
        if seen.gone or due_ns is None or isinstance(thing, Node):  # a node goes by a drain (`drains.py`)
            self._going.pop(key, None)
            return
        self._going[key] = Going(
            kind=kind,
            namespace=metadata.namespace,
            name=metadata.name,
            uid=metadata.uid,
            due_ns=due_ns,
            finalizers=metadata.finalizers,
            owners=tuple(reference.uid for reference in metadata.owner_references),
            conditions=thing.status.conditions if isinstance(thing, Namespace) else (),
            citation=seen.citation,
        )

    def look(self, store: Store, now_ns: int) -> Look:
        """Who does not go although somebody waits for that, and who waits."""
        late = [one for _, one in sorted(self._going.items()) if now_ns - one.due_ns >= SLOW_NS]
        kept = {one.actor: (one, parts) for one in late if (parts := tuple(self._keepers(store, one, now_ns)))}
        burdens: dict[str, Burden] = {}
        wanted: set[ActorId] = set()
        for actor, (one, parts) in kept.items():
            if one.kind == "Namespace" or (one.kind != "PersistentVolumeClaim" and any(map(_is_end, parts))):
                wanted.add(actor)
            for key, burden in _burdens(store, one):
                burdens[key] = burden
                wanted.add(actor)
        awaited = [part.actor for actor in sorted(wanted) for part in kept[actor][1] if isinstance(part, Done)]
        while awaited:
            actor = awaited.pop()
            if actor in kept and actor not in wanted:
                wanted.add(actor)
                awaited.extend(part.actor for part in kept[actor][1] if isinstance(part, Done))
        if not wanted:
            return NOTHING
        units: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
        actors = []
        for actor in sorted(wanted):
            one, parts = kept[actor]
            holds = _name_of(one)
            units.update({resource: (count, (one.citation,)) for resource, count in holds})
            actors.append(_built(one, parts, holds, now_ns))
        return Look(actors=tuple(actors), burdens=burdens, units=units)

    # --- what keeps an object ---------------------------------------------------------------------------------------

    def _keepers(self, store: Store, one: Going, now_ns: int) -> Iterator[Request]:
        """All that must happen before the object goes; nothing if somebody sees to it."""
        if one.foreign and now_ns - one.due_ns >= ORPHANED_NS:
            yield Never(f"nobody takes off the finalizer {', '.join(one.foreign)}")
        if one.kind == "Namespace":
            yield from self._contents(store, one, now_ns)
        if "kubernetes.io/pvc-protection" in one.finalizers:
            for key in sorted(store.by_claim.get(f"{one.namespace or 'default'}/{one.name}", ())):
                if store.pods[key].stage is BOUND:
                    yield Done(actor_of(store, key))
        if "foregroundDeletion" in one.finalizers:
            for key in sorted(store.by_owner.get(one.uid, ())):
                if store.pods[key].leaving is not None:
                    yield Done(actor_of(store, key))
            for _, other in sorted(self._going.items()):
                if one.uid and one.uid in other.owners:
                    yield Done(other.actor)

    def _contents(self, store: Store, one: Going, now_ns: int) -> Iterator[Request]:
        """What a namespace still contains, as far as it does not go, and why its contents are not known."""
        stated = {condition.type: condition for condition in one.conditions if condition.status == "True"}
        for kind in _FAILURES:
            condition = stated.get(kind)
            if condition is not None and now_ns - (parse_ns(condition.last_transition_time) or now_ns) >= SLOW_NS:
                yield Never(condition.message[:_WHY_MAX] or kind)
        left: set[str] = set()
        for _, other in sorted(self._going.items()):
            if other.namespace == one.name and other.finalizers:
                left.update(other.finalizers)
                yield Done(other.actor)
        for key in sorted(store.index.by_namespace.get(one.name, ())):
            leaving = store.pods[key].leaving
            if leaving is not None and leaving.finalizers:
                left.update(leaving.finalizers)
                yield Done(actor_of(store, key))
        remaining = stated.get(_REMAINING)
        if remaining is not None and now_ns - one.due_ns >= ORPHANED_NS:
            unseen = [name for name in _COUNTED.findall(remaining.message) if name not in left | ROUTINE]
            if unseen:
                yield Never(f"nobody takes off the finalizer {', '.join(unseen)} of objects in it")


def _is_end(request: Request) -> bool:
    return isinstance(request, Done)


def _name_of(one: Going) -> Holds:
    """What it holds as long as it is there: its own name."""
    return ((ResourceId(f"name/{one.namespace}/{one.kind.lower()}.{one.name}".replace("//", "/")), 1),)


def _burdens(store: Store, one: Going) -> Iterator[tuple[str, Burden]]:
    """The pods that are cleaned up only after the object, and those that need it to be gone and made anew."""
    if one.kind == "PersistentVolumeClaim":
        for key in sorted(store.by_claim.get(f"{one.namespace or 'default'}/{one.name}", ())):
            if store.pods[key].stage is PENDING and store.pods[key].leaving is None:
                yield key, Burden(needs=Done(one.actor), citations=(one.citation,))
        return
    if not one.uid or not one.foreign:
        return
    for uid in sorted(store.owners.below(one.uid)):
        for key in sorted(store.by_owner.get(uid, ())):
            record = store.pods[key]
            if record.stage is BOUND and record.leaving is None:
                wait = Wait(request=Done(one.actor), since_ns=one.due_ns)
                yield key, Burden(wait=wait, certainty=Certainty.SUSPECTED, citations=(one.citation,))


def _built(one: Going, parts: tuple[Request, ...], holds: Holds, now_ns: int) -> Built:
    guessed = any(isinstance(part, Never) and part.why.startswith("nobody") for part in parts)
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=one.actor,
            holds=holds,
            wait=Wait(request=all_of(parts), since_ns=one.due_ns),
            lifetime=Lifetime.FINITE,
            certainty=Certainty.SUSPECTED if guessed else Certainty.PROVEN,
            citations=cited((one.citation,)),
        )
    )
