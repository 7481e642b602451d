"""Locks that HAMi writes on nodes while it gives out devices (mechanism E2), left by pods that are gone.

HAMi locks a node (annotation `hami.io/mutex.lock`: a time, since version 2.5 also the pod) when it binds a pod there,
and its device plugin takes the lock off when the pod's devices are given out, within a second. A pod that vanishes in
between leaves it, and nobody else is bound to that node until it expires: soft, five minutes unless configured
otherwise, and it comes back with the next such pod (Project-HAMi/HAMi#1130, #1271, #1368).

Here: actor `lock/node/NODE` holds the one unit of `node-lock/NODE`; who was refused because of it needs that unit, or a
place elsewhere. A lock without a pod's name, or beyond its time, is nobody's.
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from analyzer.model.events import ActorObserved, Citation, Lifetime, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Never, Units, any_of
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.objects import Event, Node, Pod
from analyzer.sources.kubernetes.observations import LogStatement, PodUnschedulable, Seen
from analyzer.sources.kubernetes.placing import place
from analyzer.sources.kubernetes.records import FAILED, PENDING, SUCCEEDED, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.kubernetes.waits import constraints_for

LOCK = "hami.io/mutex.lock"
EXPIRES_NS = 300 * SECOND_NS
"""HAMi's own limit (`HAMI_NODELOCK_EXPIRE`): after it, whoever comes next takes the lock over."""
BINDING_NS = 60 * SECOND_NS
"""Binding and giving out devices take a second; a scheduler that was restarted in between sorts itself out by then."""

_WORDS = "has been locked within"
_REFUSED = re.compile(rf"node (\S+) {_WORDS}")


class NodeLock(Struct, frozen=True, kw_only=True):
    """The lock on one node. `pod` is `namespace/name`, "" where the annotation has only a time."""

    at_ns: int
    pod: str
    citation: Citation


class Refused(Struct, frozen=True):
    """A pod that was not bound since its node was locked."""

    node: str
    at_ns: int
    citation: Citation


class NodeLocks:
    """Locked nodes, and pods that were refused for a lock."""

    kinds = frozenset({"Node", "Event"})

    def __init__(self) -> None:
        self._locks: dict[str, NodeLock] = {}
        self._refused: dict[str, Refused] = {}

    @property
    def awake(self) -> bool:
        return bool(self._locks)

    def take(self, seen: Seen) -> None:
        match seen.object:
            case Node(metadata=metadata):
                lock = None if seen.gone else lock_of(metadata.annotations, seen.citation)
                if lock is None:
                    self._locks.pop(metadata.name, None)
                else:
                    self._locks[metadata.name] = lock
            case Event() as event if _WORDS in event.message and event.regarding.kind == "Pod":
                about = event.regarding
                pod = f"{event.namespace}/{about.name}"
                self._note(pod, event.message, parse_ns(event.last_time) or seen.at_ns, seen.citation)
            case _:
                pass

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:  # noqa: ARG002  the contract's signature
        if gone or record.stage is not PENDING:
            self._refused.pop(record.key, None)
        elif record.pending is not None:
            self._note(record.key, record.pending.said, record.pending.since_ns, record.citation)

    def hear(self, said: LogStatement) -> None:
        if isinstance(said, PodUnschedulable):
            self._note(said.pod, said.message, said.at_ns, said.citation)

    def _note(self, pod: str, text: str, at_ns: int, citation: Citation) -> None:
        match = _REFUSED.search(text)
        known = self._refused.get(pod)
        if match is not None and (known is None or known.at_ns <= at_ns):
            self._refused[pod] = Refused(match[1], at_ns, citation)

    def look(self, store: Store, now_ns: int) -> Look:
        if not self._locks:
            return NOTHING
        actors = []
        burdens = {}
        units: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
        for node in sorted(self._locks):
            lock = self._locks[node]
            waiters = dict(self._waiters(store, node, lock))
            last_ns = max((self._refused[key].at_ns for key in waiters), default=0)
            # Whoever is refused for a lock after its time meets one that lasts longer: the limit can be configured.
            lasting = last_ns > lock.at_ns + EXPIRES_NS
            if not waiters or now_ns - (last_ns if lasting else lock.at_ns) > EXPIRES_NS:
                continue
            units[_resource(node)] = (1, (lock.citation,))
            actors.append(_holder(store, node, lock, now_ns, lasting=lasting))
            burdens.update(waiters)
        return Look(actors=tuple(actors), burdens=burdens, units=units)

    def _waiters(self, store: Store, node: str, lock: NodeLock) -> Iterator[tuple[str, Burden]]:
        for key in sorted(self._refused):
            refused, record = self._refused[key], store.pods.get(key)
            if refused.node != node or refused.at_ns < lock.at_ns or key == lock.pod:
                continue
            if record is None or record.pending is None:
                continue
            among = store.candidates.choose(constraints_for(store, record, record.pending)).among
            elsewhere = tuple(name for name in among if name not in self._locks)
            if any(store.rooms.has_room(name, record.shape) for name in elsewhere):
                continue  # its next try goes there
            needs = any_of((Units(_resource(node), 1), place(record.shape, elsewhere, 1)))
            yield key, Burden(needs=needs, citations=(refused.citation,))


def lock_of(annotations: Mapping[str, str], citation: Citation) -> NodeLock | None:
    """The lock that the annotations tell of; None if there is none, or it is of another form."""
    written = annotations.get(LOCK)
    if not written:
        return None
    moment, *pod = written.split(",")
    at_ns = parse_ns(moment)
    if at_ns is None:
        return None
    return NodeLock(at_ns=at_ns, pod="/".join(pod) if len(pod) == 2 else "", citation=citation)


def _resource(node: str) -> ResourceId:
    return ResourceId(f"node-lock/{node}")


def _holder(store: Store, node: str, lock: NodeLock, now_ns: int, *, lasting: bool) -> Built:
    """The actor that has the lock. It waits for nothing as long as its pod may still be bound."""
    why, citations = _lost(store, lock)
    overdue = bool(why) and now_ns - lock.at_ns > BINDING_NS
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=ActorId(f"lock/node/{node}"),
            holds=((_resource(node), 1),),
            wait=Wait(request=Never(why), since_ns=lock.at_ns) if overdue else None,
            lifetime=Lifetime.FINITE if lasting else Lifetime.DATED,
            until_ns=None if lasting else lock.at_ns + EXPIRES_NS,
            citations=cited((lock.citation, *citations)),
        ),
        recheck_ns=lock.at_ns + (EXPIRES_NS if overdue or not why else BINDING_NS) + 1,
    )


def _lost(store: Store, lock: NodeLock) -> tuple[str, tuple[Citation, ...]]:
    """What became of the pod that has the lock; "" if it may still be bound, or nobody can know."""
    if not lock.pod:
        return "", ()
    record = store.pods.get(lock.pod)
    if record is None:
        known = store.index.by_namespace.get(lock.pod.partition("/")[0])
        return (f"the pod {lock.pod}, which has locked the node, does not exist" if known else ""), ()
    if record.stage in {SUCCEEDED, FAILED}:
        return f"the pod {lock.pod}, which has locked the node, has ended", (record.citation,)
    return "", ()
