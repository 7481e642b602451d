"""Pods that are deleted and made anew before an autoscaler can see that they find no place (mechanism C6).

An operator takes "unschedulable" for a fault, deletes the pod and makes another one. An autoscaler makes room only for
pods that stay long enough to be counted, so no node ever comes, and the pods go round.

A *round* is a pod that was deleted young, without ever having had a node, and followed by another one of the same
maker. Four rounds within an hour, over three minutes at least, are a loop, unless an autoscaler has reacted, a pod has
got a node, or the rounds become longer, as those of somebody do who tries again with patience.
"""

from collections import deque

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Citation, Lifetime, Losses
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.activity import SCALE_UP_REASONS
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Look, Mechanism
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.objects import Event, OwnerReference, Pod
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import BOUND, PodRecord, Try
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

YOUNG_NS = 120 * SECOND_NS
"""Older than this a pod was there for several looks of any autoscaler (the cluster autoscaler's: every 10 s)."""

WINDOW_NS = 3600 * SECOND_NS
ROUNDS_MIN = 4
SPAN_MIN_NS = 180 * SECOND_NS
"""A loop that has gone on for less than this may be the commotion of a roll-out."""

ROUNDS_KEPT_MAX = 64

PATIENCE = 1.5
"""Rounds that have become this much longer are tried with growing patience: the next may be long enough."""

_OTHERS = frozenset({"Job", "Node", "Pod"})
"""A Job counts its failures and gives up; a pod that owns pods (a Spark driver) takes back those it needs no more."""

Maker = tuple[str, str, str]


class Round(Struct, frozen=True):
    """One pod that was deleted without having had a node: when it was made, and when it went."""

    created_ns: int
    gone_ns: int
    citation: Citation

    @property
    def age_ns(self) -> int:
        return self.gone_ns - self.created_ns


class PrematureDeletions(Mechanism):
    """Rounds by the controller that makes the pods: namespace, kind, name."""

    kinds = frozenset({"Event"})

    def __init__(self) -> None:
        self._rounds: dict[Maker, deque[Round]] = {}
        self._untimed: list[tuple[Maker, PodRecord]] = []
        self._makers: dict[str, tuple[Maker, OwnerReference]] = {}
        self._references: dict[Maker, OwnerReference] = {}

    @property
    def awake(self) -> bool:
        return bool(self._rounds or self._untimed)

    def take(self, seen: Seen) -> None:
        """An autoscaler that makes room for a pod has seen it."""
        if isinstance(seen.object, Event) and seen.object.reason in SCALE_UP_REASONS:
            about = seen.object.regarding
            found = self._makers.get(f"{about.namespace or 'default'}/{about.name}")
            if found is not None:
                self._rounds.pop(found[0], None)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod without a node, and what becomes of it."""
        if record.owner is None or record.owner.kind in _OTHERS:
            return
        maker = (record.namespace, record.owner.kind, record.owner.name)
        if record.stage is BOUND:
            self._rounds.pop(maker, None)
            self._makers.pop(record.key, None)
        elif gone:
            known = self._makers.pop(record.key, None)
            if known is not None and record.pending is not None and record.pending.tried is Try.REFUSED:
                self._references[maker] = record.owner
                self._timed(maker, record, parse_ns(pod.metadata.deletion_timestamp))
        elif record.pending is not None:
            self._makers[record.key] = (maker, record.owner)

    def _timed(self, maker: Maker, record: PodRecord, gone_ns: int | None) -> None:
        if gone_ns is None:
            self._untimed.append((maker, record))
            return
        rounds = self._rounds.setdefault(maker, deque(maxlen=ROUNDS_KEPT_MAX))
        # Several pods that go at the same time are one round: the next one begins with a pod made afterwards.
        if not rounds or record.created_ns >= rounds[-1].gone_ns - SECOND_NS:
            rounds.append(Round(record.created_ns, gone_ns, record.citation))

    def look(self, store: Store, now_ns: int) -> Look:
        """The makers whose pods go round."""
        untimed, self._untimed = self._untimed, []
        for maker, record in untimed:
            self._timed(maker, record, now_ns)
        actors = []
        for maker in sorted(self._rounds):
            rounds = self._rounds[maker]
            while rounds and now_ns - rounds[0].gone_ns > WINDOW_NS:
                rounds.popleft()
            if not rounds:
                del self._rounds[maker]
            elif _is_loop(list(rounds)) and not _scales(store, self._references[maker], maker[0]):
                actors.append(_built(store, maker, self._references[maker], list(rounds), now_ns))
        self._references = {maker: self._references[maker] for maker in self._rounds}
        return Look(actors=tuple(actors)) if actors else NOTHING


def _is_loop(rounds: list[Round]) -> bool:
    young = all(one.age_ns < YOUNG_NS for one in rounds)
    patient = rounds[-1].age_ns > PATIENCE * max(rounds[0].age_ns, SECOND_NS)
    lasting = rounds[-1].gone_ns - rounds[0].created_ns >= SPAN_MIN_NS
    return len(rounds) >= ROUNDS_MIN and young and lasting and not patient


def _scales(store: Store, reference: OwnerReference, namespace: str) -> bool:
    """Whether pods of a ReplicaSet run: then those that go may be those that an autoscaler of pods takes back."""
    keys = store.by_owner.get(reference_key(reference, namespace), ())
    return reference.kind == "ReplicaSet" and any(store.pods[key].stage is BOUND for key in keys)


def _built(store: Store, maker: Maker, reference: OwnerReference, rounds: list[Round], now_ns: int) -> Built:
    namespace = maker[0]
    line = store.owners.line(reference, namespace)
    resource = ResourceId(f"place/{namespace}.{line.name}")
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=ActorId(controller_actor(namespace, line.name)),
            lifetime=Lifetime.ENDLESS,
            certainty=Certainty.SUSPECTED,
            progress=0,
            owner=line.label,
            losses=Losses(
                count=len(rounds), first_ns=rounds[0].gone_ns, last_ns=rounds[-1].gone_ns, resources=(resource,)
            ),
            citations=cited((*(one.citation for one in rounds), *(owner.citation for owner in line.owners))),
        )
    )
