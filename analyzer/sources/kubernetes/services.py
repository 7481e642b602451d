"""Who answers for a Service, as far as it can be known: its endpoints, the pods that it selects, their controllers.

An ordinary ready pod leaves no labels behind (`records.py`), so whether one answers is told by the endpoints, or by the
template of its controller. Where neither is in the input, somebody unseen may answer, and we say so.
"""

import itertools
from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.model.ids import ActorId
from analyzer.sources.kubernetes.actors import actor_of
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.objects import (
    DaemonSet,
    EndpointSlice,
    Job,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.owners import Owner
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.store import Store

KINDS = frozenset(
    {
        "Service",
        "EndpointSlice",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
        "DaemonSet",
        "Job",
    }
)
"""What has to be shown to `Services.take`."""

_SERVICE_LABEL = "kubernetes.io/service-name"
Labels = Mapping[str, str]
T = TypeVar("T")


class Backing(Struct, frozen=True, kw_only=True):
    """Who may answer. `ready`: somebody does. `known`: nobody beside `peers` can.

    `peers`: pods that exist and do not answer yet, and controllers that are short of such pods; sorted.
    """

    ready: bool = False
    known: bool = True
    peers: tuple[ActorId, ...] = ()
    citations: tuple[Citation, ...] = ()


class Services:
    """Services and their endpoints, by `namespace/name`; labels of templates, and of pods out of the ordinary."""

    def __init__(self) -> None:
        self._services: dict[str, tuple[Service, Citation]] = {}
        self._slices: dict[str, dict[str, tuple[EndpointSlice, Citation]]] = {}
        self._templates: dict[str, dict[str, Labels]] = {}
        self._pods: dict[str, dict[str, Labels]] = {}
        self._known: dict[tuple[str, tuple[tuple[str, str], ...]], Backing] = {}
        self._unlabelled_in: dict[str, bool] = {}

    def begin(self) -> None:
        """A new look begins: whoever was found to answer may be another one now."""
        self._known.clear()
        self._unlabelled_in.clear()

    def take(self, seen: Seen) -> None:
        """A Service, endpoints, or a controller as it is now; anything else is left aside."""
        thing, gone = seen.object, seen.gone
        match thing:
            case Service():
                key = _key(thing.metadata.namespace, thing.metadata.name)
                if gone:
                    self._services.pop(key, None)
                else:
                    self._services[key] = (thing, seen.citation)
            case EndpointSlice():
                service = thing.metadata.labels.get(_SERVICE_LABEL, "")
                _put(
                    self._slices,
                    _key(thing.metadata.namespace, service),
                    thing.metadata.name,
                    None if gone else (thing, seen.citation),
                )
            case ReplicaSet() | ReplicationController() | StatefulSet() | DaemonSet() | Job():
                about = thing.metadata
                templates = self._templates.setdefault(about.namespace or "default", {})
                uid = about.uid or f"{about.namespace or 'default'}/{type(thing).__name__}/{about.name}"
                if gone:
                    templates.pop(uid, None)
                else:
                    templates[uid] = thing.spec.template.metadata.labels
            case _:
                pass

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod that is, or was, out of the ordinary: its labels are kept as long as no template can stand for them."""
        ordinary = record.ready and (record.plain or record.owner is not None)
        _put(self._pods, record.namespace, record.key, None if gone or ordinary else pod.metadata.labels)

    def find(self, namespace: str, name: str) -> tuple[Service, Citation] | None:
        """The Service, None if it is not in the input."""
        return self._services.get(_key(namespace, name))

    @property
    def any_at_all(self) -> bool:
        """Whether Services are in the input."""
        return bool(self._services)

    def any_in(self, namespace: str) -> bool:
        """Whether Services of the namespace are in the input: if so, one that is not there does not exist."""
        return any(key.startswith(f"{namespace}/") for key in self._services)

    def answering(self, store: Store, service: Service) -> Backing:
        """Who answers for the Service. Costs its pods, and the controllers of its namespace."""
        namespace = service.metadata.namespace or "default"
        slices = self._slices.get(_key(namespace, service.metadata.name), {})
        cited = tuple(citation for _, (_, citation) in sorted(slices.items()))
        if any(end.conditions.ready for one, _ in slices.values() for end in one.endpoints):
            return Backing(ready=True, citations=cited)
        if not service.spec.selector or service.spec.type == "ExternalName":
            return Backing(known=False, citations=cited)
        found = self.selected(store, namespace, service.spec.selector)
        # Endpoints that name nobody who is ready speak for all pods, be they known or not.
        known = found.known or bool(slices)
        return Backing(ready=found.ready, known=known, peers=found.peers, citations=cited)

    def selected(self, store: Store, namespace: str, selector: Labels) -> Backing:
        """The pods with these labels: whether one is ready, and who else may get so. Looked for once a look."""
        asked = (namespace, tuple(sorted(selector.items())))
        found = self._known.get(asked)
        if found is None:
            found = self._known[asked] = self._selected(store, namespace, selector)
        return found

    def _selected(self, store: Store, namespace: str, selector: Labels) -> Backing:
        def fits(labels: Labels) -> bool:
            return _fits(selector, labels)

        owners = self._owners(store, namespace, fits)
        ready = any(claims_ready(owner) and not store.by_owner.get(owner.uid) for owner in owners)
        keys = {key for owner in owners for key in store.by_owner.get(owner.uid, ())}
        for key, labels in self._pods.get(namespace, {}).items():
            (keys.add if fits(labels) else keys.discard)(key)
        peers = set(self.makers(store, namespace, fits))
        for key in keys:
            record = store.pods.get(key)
            if record is not None and record.leaving is None and record.stage in {BOUND, PENDING}:
                ready = ready or record.ready
                peers.add(actor_of(store, key))
        said = any(said_to_have(store, owner) for owner in owners)
        covered = bool(peers) or namespace in self._templates or bool(_pods_in(store, namespace))
        return Backing(
            ready=ready,
            known=covered and not said and not self._unlabelled(store, namespace),
            peers=tuple(sorted(peers)),
        )

    def _unlabelled(self, store: Store, namespace: str) -> bool:
        """Whether a pod of the namespace has a node, and labels that nobody knows. Looked for once a look."""
        found = self._unlabelled_in.get(namespace)
        if found is None:
            labelled, templates = self._pods.get(namespace, {}), self._templates.get(namespace, {})
            index = store.index
            unknown = (uid for uid in index.owners_in.get(namespace, ()) if uid not in templates)
            keys = itertools.chain(index.bare_in.get(namespace, ()), *(store.by_owner[uid] for uid in unknown))
            records = (store.pods[key] for key in keys if key not in labelled)
            found = any(record.stage is BOUND and record.leaving is None for record in records)
            self._unlabelled_in[namespace] = found
        return found

    def labels_of(self, store: Store, record: PodRecord) -> Labels | None:
        """The labels of a pod: its own while it is out of the ordinary, else those of its template. None: not known."""
        labels = self._pods.get(record.namespace, {}).get(record.key)
        if labels is None:
            owner = store.owners.get(record.owner, record.namespace)
            labels = self._templates.get(record.namespace, {}).get(owner.uid) if owner is not None else None
        return labels

    def makers(self, store: Store, namespace: str, fits: Callable[[Labels], bool]) -> list[ActorId]:
        """The controllers that are short of pods whose labels fit."""
        return [maker for owner in self._owners(store, namespace, fits) for maker in _makers(store, owner)]

    def _owners(self, store: Store, namespace: str, fits: Callable[[Labels], bool]) -> list[Owner]:
        templates = self._templates.get(namespace, {})
        owners = (store.owners.by_uid(uid) for uid, labels in templates.items() if fits(labels))
        return [owner for owner in owners if owner is not None]


def _put(index: dict[str, dict[str, T]], key: str, name: str, thing: T | None) -> None:
    """Keep the thing under key and name; None takes it away, and a key without things is forgotten."""
    found = index.get(key)
    if thing is not None:
        index[key] = found = {} if found is None else found
        found[name] = thing
    elif found is not None:
        found.pop(name, None)
        if not found:
            del index[key]


def _pods_in(store: Store, namespace: str) -> bool:
    return namespace in store.index.owners_in or namespace in store.index.bare_in


def _makers(store: Store, owner: Owner) -> list[ActorId]:
    """The controller, if it is to make pods that are not there."""
    if owner.over or owner.object.metadata.deletion_timestamp is not None:
        return []
    there = sum(
        store.pods[key].stage in {BOUND, PENDING} and store.pods[key].leaving is None
        for key in store.by_owner.get(owner.uid, ())
    )
    wants = 1 if owner.wants is None else owner.wants
    return [maker_of(store, owner)] if (there or said_to_have(store, owner)) < wants else []


def said_to_have(store: Store, owner: Owner) -> int:
    """How many pods the controller says that it has, where none of them was handed over; else 0."""
    if store.by_owner.get(owner.uid):
        return 0
    match owner.object:
        case ReplicaSet() | ReplicationController() | StatefulSet() as thing:
            return thing.status.replicas
        case DaemonSet() as thing:
            return thing.status.current_number_scheduled
        case Job() as thing:
            return thing.status.active
        case _:
            return 0


def claims_ready(owner: Owner) -> bool:
    """Whether the controller says that a pod of its own is ready: where pods were not handed over, its word counts."""
    match owner.object:
        case ReplicaSet() | ReplicationController() | StatefulSet() as thing:
            return thing.status.ready_replicas > 0
        case DaemonSet() as thing:
            return thing.status.number_ready > 0
        case _:
            return False


def maker_of(store: Store, owner: Owner) -> ActorId:
    """The actor that a controller is when it cannot make pods: named as people know it (the Deployment)."""
    reference = OwnerReference(kind=owner.kind, name=owner.name, uid=owner.uid)
    return controller_actor(owner.namespace, store.owners.line(reference, owner.namespace).name)


def _fits(selector: Labels, labels: Labels) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())


def _key(namespace: str, name: str) -> str:
    return f"{namespace or 'default'}/{name}"
