"""Pods that wait, before they start, for others to serve or to end (mechanism C2).

An init container loops until a Service answers, a Job is done, a pod is ready (`declared_needs.py` reads its command);
its pod holds its GPUs all the while. If the pods behind that Service wait in turn, be it for a node that this one holds
or in an init container of their own, neither ever starts.

A need counts as unmet only if everybody who could meet it is known, and none of them does.
"""

from collections.abc import Iterator

from msgspec import Struct

from analyzer.model.events import Certainty, Citation, Excuse, ExcuseKind, Wait
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Done, Never, Request, all_of
from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.actors import actor_of
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.mechanisms.declared_needs import (
    ANNOTATION,
    Need,
    Sort,
    declared,
    is_conditional,
    needs_of,
)
from analyzer.sources.kubernetes.objects import Job, Pod, Service
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.owners import Owner
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.services import KINDS, Services, maker_of
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

STARTING_NS = 60 * SECOND_NS
"""Whoever waits for less than this has only just begun: names and connections take their time."""

MISSING_NS = 1800 * SECOND_NS
"""A Service that nobody stands behind, or a Job that has failed, may be put right by a person or an installer. After
this it is named (suspected): Kueue gives pods as long to get ready (`waitForPodsReady.timeout`, 30 min)."""

_CONTROLLERS = ("Deployment", "StatefulSet", "DaemonSet")


class Waiting(Struct, frozen=True):
    """A bound pod that waits: for what, and since when. `certainty`: whether it really needs all of this."""

    record: PodRecord
    needs: tuple[Need, ...]
    since_ns: int
    certainty: Certainty = Certainty.PROVEN


class Unmet(Struct, frozen=True):
    """What one need comes to: who could meet it. `citations` prove who can."""

    request: Request
    certainty: Certainty = Certainty.PROVEN
    citations: tuple[Citation, ...] = ()


class InitWaits(Mechanism):
    """Bound pods with needs, and the Services and controllers that could meet them."""

    kinds = KINDS

    def __init__(self) -> None:
        self._services = Services()
        self._waiting: dict[str, Waiting] = {}

    @property
    def awake(self) -> bool:
        return bool(self._waiting)

    def take(self, seen: Seen) -> None:
        """A Service, endpoints or a controller."""
        self._services.take(seen)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod out of the ordinary: its labels, and its needs if it has its node and is not ready."""
        self._services.see(pod, record, gone=gone)
        found = None if gone or record.ready or record.stage is not BOUND or record.leaving else _waiting(pod, record)
        if found is None:
            self._waiting.pop(record.key, None)
        else:
            self._waiting[record.key] = found

    def look(self, store: Store, now_ns: int) -> Look:
        """The pods whose needs nobody meets."""
        self._services.begin()
        burdens: dict[str, Burden] = {}
        for key, one in sorted(self._waiting.items()):
            unmet = [found for need in one.needs if (found := self._unmet(store, one, need, now_ns)) is not None]
            unmet = [found for found in unmet if not _is_oneself(store, key, found.request)]
            if not unmet:
                continue
            excuse = None
            if now_ns - one.since_ns < STARTING_NS:
                excuse = Excuse(ExcuseKind.STARTING, "it has only just begun to wait for others")
            burdens[key] = Burden(
                wait=Wait(request=all_of(found.request for found in unmet), since_ns=one.since_ns, excuse=excuse),
                certainty=max((one.certainty, *(found.certainty for found in unmet)), key=lambda sure: sure.value),
                citations=tuple(citation for found in unmet for citation in found.citations),
            )
        return Look(burdens=burdens) if burdens else NOTHING

    # --- one need ---------------------------------------------------------------------------------------------------

    def _unmet(self, store: Store, one: Waiting, need: Need, now_ns: int) -> Unmet | None:
        """None if the need is met, or nobody can know."""
        namespace = need.namespace or one.record.namespace
        late = now_ns - one.since_ns >= MISSING_NS
        match need.sort:
            case Sort.NAME | Sort.CONNECTION:
                return self._host(store, one, need, late=late)
            case Sort.SERVICE:
                return self._service(store, namespace, need.name, late=late)
            case Sort.POD:
                return _pod(store, namespace, need.name)
            case Sort.PODS:
                return self._pods(store, namespace, need.name)
            case Sort.JOB:
                return _job(store, namespace, need.name, late=late)
            case Sort.READY:
                return _controllers_pods(store, namespace, need.name)

    def _host(self, store: Store, one: Waiting, need: Need, *, late: bool) -> Unmet | None:
        """A host of the cluster: `db`, `db.team`, `db.team.svc...`, `db-0.db`, `db-0.db.team.svc...`."""
        own = one.record.namespace
        parts = need.name.split(".svc", 1)[0].split(".")
        inside = ".svc" in need.name or len(parts) == 1
        name, rest = parts[0], parts[1:]
        if len(rest) <= 1:
            namespace = rest[0] if rest else own
            found = self._services.find(namespace, name)
            if found is not None and need.sort is Sort.NAME:
                return self._name(store, found[0], late=late)
            if found is not None or (inside and self._services.any_in(namespace)):
                return self._service(store, namespace, name, late=late)
        if rest and len(rest) <= 2:
            namespace = rest[1] if len(rest) == 2 else own
            if self._services.find(namespace, rest[0]) is not None:
                return _pod(store, namespace, name)
        return None

    def _name(self, store: Store, service: Service, *, late: bool) -> Unmet | None:
        """A name is there as soon as the Service is, unless it stands for the ready pods and nothing else."""
        if service.spec.cluster_ip != "None" or service.spec.publish_not_ready_addresses:
            return None
        return self._service(store, service.metadata.namespace or "default", service.metadata.name, late=late)

    def _service(self, store: Store, namespace: str, name: str, *, late: bool) -> Unmet | None:
        found = self._services.find(namespace, name)
        if found is None:
            if not late or not self._services.any_in(namespace):
                return None
            return Unmet(Never(f"there is no Service {namespace}/{name}"), Certainty.SUSPECTED)
        service, citation = found
        backing = self._services.answering(store, service)
        if backing.ready or not backing.known:
            return None
        if service.spec.publish_not_ready_addresses and _one_runs(store, backing.peers):
            return None  # it is asked before it is ready, and may answer
        cited = (citation, *backing.citations)
        if backing.peers:
            return Unmet(Arrivals(backing.peers, 1), Certainty.PROVEN, cited)
        if not late:
            return None
        why = f"no pod stands behind the Service {namespace}/{name}, and nobody makes one"
        return Unmet(Never(why), Certainty.SUSPECTED, cited)

    def _pods(self, store: Store, namespace: str, labels: str) -> Unmet | None:
        selector = dict(pair.split("=", 1) for pair in labels.split(","))
        backing = self._services.selected(store, namespace, selector)
        if not backing.known or not backing.peers:
            return None
        return Unmet(Arrivals(backing.peers, len(backing.peers)))


def _is_oneself(store: Store, key: str, request: Request) -> bool:
    """Whether nobody but the pod itself could meet the need: then we have not understood what it waits for."""
    return isinstance(request, Arrivals) and request.peers == (actor_of(store, key),)


def _waiting(pod: Pod, record: PodRecord) -> Waiting | None:
    """What the pod waits for: its first init container that has not ended, else what its annotation says."""
    since_ns = record.started_ns or record.created_ns
    annotated = declared(pod.metadata.annotations.get(ANNOTATION, "")) if pod.metadata.annotations else ()
    containers = {one.name: one for one in pod.spec.init_containers}
    for status in pod.status.init_container_statuses:
        container, state = containers.get(status.name), status.state
        if container is None or container.restart_policy == "Always":
            continue
        if state is not None and state.terminated is not None and state.terminated.exit_code == 0:
            continue
        if state is not None and state.running is not None:
            since_ns = parse_ns(state.running.started_at) or since_ns
        begun = state is not None and (state.running is not None or status.restart_count > 0)
        needs = needs_of(container) if begun else ()
        if not needs and not annotated:
            return None
        certainty = Certainty.SUSPECTED if needs and is_conditional(container) else Certainty.PROVEN
        return Waiting(record, tuple(sorted({*needs, *annotated})), since_ns, certainty)
    return Waiting(record, annotated, since_ns) if annotated else None


def _one_runs(store: Store, peers: tuple[ActorId, ...]) -> bool:
    keys = (peer.removeprefix("pod/") for peer in peers)
    return any((record := store.pods.get(key)) is not None and record.running for key in keys)


def _pod(store: Store, namespace: str, name: str) -> Unmet | None:
    """One pod by its name; one that is not there yet is its StatefulSet's to make."""
    key = f"{namespace}/{name}"
    record = store.pods.get(key)
    if record is not None:
        if record.ready or record.stage not in {BOUND, PENDING}:
            return None
        return Unmet(Arrivals((actor_of(store, key),), 1), Certainty.PROVEN, (record.citation,))
    owner = store.owners.named("StatefulSet", namespace, name.rpartition("-")[0])
    ordinal = name.rpartition("-")[2]
    if owner is None or owner.over or not is_whole(ordinal) or int(ordinal) >= (owner.wants or 0):
        return None
    return Unmet(Arrivals((maker_of(store, owner),), 1), Certainty.PROVEN, (owner.citation,))


def _job(store: Store, namespace: str, name: str, *, late: bool) -> Unmet | None:
    """The end of a Job: of all its pods, and of those that are still to be made."""
    owner = store.owners.named("Job", namespace, name)
    if owner is None or not isinstance(owner.object, Job):
        return None
    ended = {one.type for one in owner.object.status.conditions if one.status == "True"}
    if "Complete" in ended or "SuccessCriteriaMet" in ended:
        return None
    if "Failed" in ended:
        never = Never(f"the Job {namespace}/{name} has failed")
        return Unmet(never, Certainty.SUSPECTED, (owner.citation,)) if late else None
    parts: list[Request] = [Done(actor_of(store, key)) for key in _alive(store, owner)]
    if len(parts) < (owner.wants or 0):
        parts.append(Arrivals((maker_of(store, owner),), 1))
    return Unmet(all_of(parts), Certainty.PROVEN, (owner.citation,)) if parts else None


def _controllers_pods(store: Store, namespace: str, name: str) -> Unmet | None:
    """One ready pod of a controller."""
    found = (store.owners.named(kind, namespace, name) for kind in _CONTROLLERS)
    owner = next((one for one in found if one is not None), None)
    if owner is None:
        return None
    keys = [key for one in (owner, *store.owners.children(owner.uid)) for key in _alive(store, one)]
    if any(store.pods[key].ready for key in keys):
        return None
    peers = {actor_of(store, key) for key in keys} | ({maker_of(store, owner)} if not keys else set())
    return Unmet(Arrivals(tuple(sorted(peers)), 1), Certainty.PROVEN, (owner.citation,))


def _alive(store: Store, owner: Owner) -> Iterator[str]:
    for key in sorted(store.by_owner.get(owner.uid, ())):
        record = store.pods[key]
        if record.stage in {BOUND, PENDING} and record.leaving is None:
            yield key
