"""A place that is kept for a pod which can no longer use it (mechanism G2).

When the scheduler has made room for a pod by preemption it nominates the pod to that node, and counts the pod there
whenever it looks for places for others that do not rank higher. If the node has been cordoned, tainted or relabelled
since, the pod cannot go there, and the others are refused for room that nobody uses. The nomination is then a hold: of
as much as the pod asks for and the node has free.

Only where that explains a refusal: somebody who does not rank higher was refused although the node has room and is a
candidate; nobody who ranks higher was (the scheduler would not have counted the nomination then); nobody leaves the
node; and the pod has been refused for longer than preemption takes.
"""

from analyzer.model.events import Holds
from analyzer.sources.kubernetes.actors import HoldsCache
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.observations import LogStatement, PodNominated, Seen
from analyzer.sources.kubernetes.records import PENDING, PodRecord, Try
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import PREEMPTION_NS, constraints_for


class Nominations:
    """Pods without a node, as far as nominations make them matter."""

    kinds: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._nominated: dict[str, str] = {}
        self._refused: set[str] = set()
        self._booked: dict[str, tuple[PodRecord, str]] = {}
        self._holds = HoldsCache()

    @property
    def awake(self) -> bool:
        return bool(self._nominated or self._booked)

    def take(self, seen: Seen) -> None:
        """Objects other than pods say nothing about nominations."""

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:  # noqa: ARG002  the contract's signature
        pending = None if gone or record.stage is not PENDING or record.leaving is not None else record.pending
        if pending is None:
            self._nominated.pop(record.key, None)
            self._refused.discard(record.key)
            return
        (self._refused.add if pending.tried is Try.REFUSED else self._refused.discard)(record.key)
        if pending.nominated:
            self._nominated[record.key] = pending.nominated
        else:
            self._nominated.pop(record.key, None)

    def hear(self, said: LogStatement) -> None:
        if isinstance(said, PodNominated):
            self._nominated.setdefault(said.pod, said.node)

    def look(self, store: Store, now_ns: int) -> Look:
        if not self._nominated and not self._booked:
            return NOTHING
        for booked, place in self._booked.values():
            store.rooms.place(place, booked.shape, -1)
        before, self._booked = self._booked, {}
        burdens: dict[str, Burden] = {}
        for key in sorted(self._nominated):
            record, node = store.pods.get(key), self._nominated[key]
            if record is None or not self._is_useless(store, record, node, now_ns):
                continue
            held = self._held(store, record, node)
            if held and self._explains(store, record, node):
                burdens[key] = Burden(holds=held)
                self._booked[key] = (record, node)
        for booked, place in self._booked.values():
            store.rooms.place(place, booked.shape, 1)
        if before.keys() != self._booked.keys():
            store.dirty.waiting = True
        return Look(burdens=burdens)

    def _is_useless(self, store: Store, record: PodRecord, node: str, now_ns: int) -> bool:
        """Whether the pod could not go to the node it is nominated to, and that is not about to change."""
        pending = record.pending
        if pending is None or pending.tried is not Try.REFUSED or now_ns - pending.since_ns < PREEMPTION_NS:
            return False
        if node not in store.candidates.nodes or store.leaving_on.get(node):
            return False
        return node not in store.candidates.choose(constraints_for(store, record, pending)).among

    def _held(self, store: Store, record: PodRecord, node: str) -> Holds:
        """What of the node the nomination keeps from others: as much as the pod asks for, if that is free."""
        if not store.rooms.has_room(node, record.shape):
            return ()
        return self._holds.on(node, record.shape, ())

    def _explains(self, store: Store, record: PodRecord, node: str) -> bool:
        """Whether others were refused for room on the node that only the nomination takes."""
        others = [store.pods[key] for key in sorted(self._refused - {record.key}) if key in store.pods]
        concerned = [other for other in others if _wants(store, other, node)]
        return bool(concerned) and all(other.priority <= record.priority for other in concerned)


def _wants(store: Store, other: PodRecord, node: str) -> bool:
    """Whether this pod would have a place on the node as the objects stand."""
    if other.pending is None or not store.rooms.has_room(node, other.shape):
        return False
    return node in store.candidates.choose(constraints_for(store, other, other.pending)).among
