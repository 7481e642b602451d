"""All that is known of the cluster at a time, with the indices that make one change cost what it touches.

`Store.apply` is the only place where any of it changes. It notes what has to be looked at again: pods, gangs, nodes.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from analyzer.model.events import Citation
from analyzer.sources.kubernetes import observations as told
from analyzer.sources.kubernetes.activity import Activity
from analyzer.sources.kubernetes.attachments import Attachments
from analyzer.sources.kubernetes.candidates import Candidates, NodeFacts, node_facts
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.gangs import Groups
from analyzer.sources.kubernetes.kept_places import KeptPlaces
from analyzer.sources.kubernetes.kueue import Kueue
from analyzer.sources.kubernetes.likeness import Likeness
from analyzer.sources.kubernetes.memberships import LONE_KINDS, Memberships
from analyzer.sources.kubernetes.neighbours import Neighbours
from analyzer.sources.kubernetes.objects import (
    Custom,
    DaemonSet,
    Deployment,
    Event,
    Job,
    KubeObject,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    StatefulSet,
    StorageClass,
)
from analyzer.sources.kubernetes.owners import Controller, Owner, Owners, decides_otherwise, owner_of, reference_key
from analyzer.sources.kubernetes.pod_index import PodIndex, application_of, deployment_of
from analyzer.sources.kubernetes.quotas import Quotas, quota_by_refusal, quota_of
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord, Records
from analyzer.sources.kubernetes.resource_claims import Devices
from analyzer.sources.kubernetes.rooms import Rooms
from analyzer.sources.kubernetes.volumes import Volumes
from analyzer.sources.kubernetes.withheld import Withheld
from analyzer.sources.kubernetes.witnesses import Witness, Witnesses


class Store:
    """The cluster as far as it decides. Pods are kept as records, everything else as it came."""

    def __init__(self, witnesses: Iterable[Witness] = ()) -> None:
        self.index = PodIndex()
        self.pods = self.index.pods
        self.owners = Owners()
        self.groups = Groups()
        self.candidates = Candidates()
        self.rooms = Rooms(self.candidates)
        self.quotas = Quotas()
        self.volumes = Volumes()
        self.activity = Activity()
        self.kueue = Kueue()
        self.devices = Devices()
        self.neighbours = Neighbours(self.index)
        self.withheld = Withheld()
        self.attachments = Attachments(self.pods, self.index.by_claim, self.volumes)
        self.nominated: dict[str, str] = {}
        self.preempted: set[str] = set()
        self.evicted: set[str] = set()
        self.renewed: set[str] = set()
        self.node_citations: dict[str, Citation] = {}
        self.memberships = Memberships(self.owners)
        self.gangs = self.memberships.gangs
        self.gang_by_key = self.memberships.gang_by_key
        self.by_gang = self.memberships.by_gang
        self.makers_by_gang = self.memberships.makers_by_gang
        self.by_owner = self.index.by_owner
        self.by_claim = self.index.by_claim
        self.by_parent = self.index.by_parent
        self.by_app = self.index.by_app
        self.leaving_on = self.index.leaving_on
        self.unstarted = self.index.unstarted
        self.ported = self.index.ported
        self.dirty = Dirty()
        self.kept = KeptPlaces(self.pods, self.rooms, (self.memberships, self.groups, self.owners), lambda: self.dirty)
        self.reservations = self.kept.reservations
        self._witnesses = Witnesses(witnesses)
        self._records = Records()
        self._likeness = Likeness(self._records.shapes)

    # --- taking observations ----------------------------------------------------------------------------------------

    def apply(self, observation: told.Observation) -> None:
        """Take one observation. O(1) but for what it makes others look at again."""
        match observation:
            case told.Seen(object=Pod() as pod):
                self._take_pod(pod, observation.citation, gone=observation.gone)
                return
            case told.Seen():
                self._take_object(observation.object, observation.citation, observation.at_ns, gone=observation.gone)
                self._witnesses.take(observation)
                return
            case told.PodUnschedulable():
                self.activity.unplaced(observation.pod, observation.at_ns, observation.message, observation.citation)
                self.kept.end(observation.pod, observation.at_ns)
                self.dirty.pods.add(observation.pod)
            case told.PodReserved():
                self.kept.reserve(observation)
            case told.PodReleased():
                self.kept.end(observation.pod, observation.at_ns)
            case told.PodBound():
                self.kept.end(observation.pod, None)
                self._bind_by_log(observation.pod, observation.node)
            case told.PodNominated():
                self.nominated[observation.pod] = observation.node
                self.dirty.pods.add(observation.pod)
            case told.PodPreempted():
                if observation.pod in self.pods:
                    self.preempted.add(observation.pod)
                    self.dirty.pods.add(observation.pod)
            case told.SchedulerAttempt():
                pass  # that it looks says nothing about the pod; what it finds does
        self._witnesses.hear(observation)

    def _take_object(self, thing: KubeObject, citation: Citation, at_ns: int, *, gone: bool) -> None:
        match thing:
            case Node():
                self._take_node(thing, citation, at_ns, gone=gone)
            case Event():
                if not gone:
                    self._take_event(thing, citation)
            case Job() | Deployment() | ReplicaSet() | ReplicationController() | StatefulSet() | DaemonSet():
                self._take_owner(thing, citation, gone=gone)
            case ResourceQuota():
                self._take_quota(thing, citation, gone=gone)
            case PersistentVolumeClaim() | PersistentVolume() | StorageClass():
                claim = self.volumes.put(thing, gone=gone)
                self.dirty.claims.add(claim)
                self.attachments.touch_claim(claim)
                self.dirty.pods.update(self.by_claim.get(claim, ()))
                self.dirty.waiting = True
            case Custom():
                self._take_custom(thing, citation, gone=gone)
            case Namespace():
                self.dirty.waiting |= self.neighbours.put_namespace(thing, gone=gone)
            case _:
                pass  # decides nothing here

    # --- pods -------------------------------------------------------------------------------------------------------

    def take(self, listed: told.Listed) -> None:
        """The fast lane: of plain pods that nothing was heard of, it suffices to note who they are and where."""
        document, alike = listed.document, self._likeness.record
        add, place, arrive = self.index.add, self.rooms.place, self.dirty.arrive
        for pod, number in zip(listed.pods, listed.records, strict=True):
            citation = (document, number)
            record = alike(pod, citation)
            if record is not None and record.ready and self._is_news(record.key):
                add(record)
                place(record.node, record.shape, 1)
                arrive(record)
            else:
                self._take_pod(pod, citation, gone=False)

    def _take_pod(self, pod: Pod, citation: Citation, *, gone: bool) -> None:
        record = self._records.of(pod, citation)
        self._witnesses.see(pod, record, gone=gone)
        before = self.pods.get(record.key)
        if gone:
            if before is None or not before.uid or not record.uid or before.uid == record.uid:
                if record.stage is BOUND or record.evicted:
                    self.evicted.add(record.key)
                self.devices.see(pod, record, gone=True)
                self._remove(record.key)
                self.activity.forget_pod(record.key)
                self.nominated.pop(record.key, None)
                self.preempted.discard(record.key)
                self.kept.end(record.key, None)
            return
        self.devices.see(pod, record, gone=False)
        if before is not None:
            self._remove(record.key)
            if before.uid != record.uid:
                if before.uid and record.uid:
                    self.renewed.add(record.key)
                self.nominated.pop(record.key, None)
                self.preempted.discard(record.key)
                self.kept.end(record.key, None)
        if record.stage is not PENDING and (
            record.key in self.nominated or self.reservations.get(record.key) is not None
        ):
            self.kept.end(record.key, None)
            self.nominated.pop(record.key, None)
        if record.evicted:
            self.evicted.add(record.key)
        self._insert(record, arrives=record.plain and self._is_news(record.key))
        if record.plain and record.key not in self.gangs:
            self._likeness.learn(record)

    def _is_news(self, key: str) -> bool:
        """Whether nothing has been heard of a pod of this name before, be it by a log, an event or another pod."""
        return not (
            key in self.pods
            or key in self.by_parent
            or key in self.nominated
            or key in self.preempted
            or self.activity.speaks_of(key)
            or self.reservations.get(key) is not None
        )

    def _insert(self, record: PodRecord, *, arrives: bool = False) -> None:
        self.index.add(record)
        self.attachments.touch(record)
        if arrives:
            self.dirty.arrive(record)
        else:
            self.dirty.pods.add(record.key)
        owner = record.owner
        if owner is not None and owner.kind == "ReplicaSet":
            self.dirty.replica_sets.add(reference_key(owner, record.namespace))
        if record.stage is BOUND:
            self.rooms.place(record.node, record.shape, 1)
        elif record.stage is PENDING:
            self.kept.place(record, 1)
        if record.parent:
            self.dirty.pods.add(f"{record.namespace}/{record.parent}")
        if record.marks is not None or (owner is not None and owner.kind not in LONE_KINDS):
            self._join(record)

    def _join(self, record: PodRecord) -> None:
        """Put the pod into its gang, if it has one, and tell its application."""
        gang = self.memberships.join(record)
        if gang is not None:
            self.dirty.gangs.add(gang.key)
            self.dirty.pods.add(record.key)
        self._touch_application(record)

    def _touch_application(self, record: PodRecord) -> None:
        app = application_of(record)
        if app:
            self.dirty.pods.update(self.by_app.get(app, ()))

    def _remove(self, key: str) -> None:
        self.dirty.pods.add(key)
        record = self.index.remove(key)
        if record is None:
            return
        self.attachments.touch(record)
        if record.owner is not None and record.owner.kind == "ReplicaSet":
            self.dirty.replica_sets.add(reference_key(record.owner, record.namespace))
            self.dirty.left_sets[reference_key(record.owner, record.namespace)] = deployment_of(
                record.namespace, record.owner
            )
        if record.stage is BOUND:
            self.rooms.place(record.node, record.shape, -1)
        elif record.stage is PENDING:
            self.kept.place(record, -1)
        if record.parent:
            self.dirty.pods.add(f"{record.namespace}/{record.parent}")
        self._leave_gang(key)
        self._touch_application(record)

    def settle_attachments(self) -> None:
        """Nodes and pods with other numbers of attachments, as they are now."""
        nodes, records = self.attachments.settle(self.candidates.nodes)
        for name in nodes:
            self.put_node(self.candidates.nodes[name])
        for record in records:
            self.refit(record)

    def refit(self, record: PodRecord) -> None:
        """The pod is the same, its request is not."""
        self._remove(record.key)
        self._insert(record)

    def _leave_gang(self, key: str) -> None:
        gang = self.memberships.leave(key)
        if gang is not None:
            self.dirty.gangs.add(gang.key)

    def _rejoin(self, uid: str) -> None:
        """Look again which gang the pods of this controller are in: what decides it has changed."""
        self._likeness.forget(uid)
        self.dirty.owners.add(uid)
        keys = self.by_owner.get(uid)
        if not keys:
            return
        concerned = self.index.odd_by_owner.get(uid, set())
        plain = next((key for key in keys if key not in concerned), None)
        # As it is with one plain pod of the controller, it is with all.
        if plain is not None and self.memberships.gang_of(self.pods[plain]) != self.gangs.get(plain):
            concerned = keys
        for key in concerned:
            self.dirty.pods.add(key)
            self._leave_gang(key)
            self._join(self.pods[key])

    def _bind_by_log(self, key: str, node: str) -> None:
        record = self.pods.get(key)
        if record is None or record.stage is not PENDING or not node:
            return
        self._remove(key)
        self._insert(replace(record, node=node, stage=BOUND, pending=None))

    # --- all else ---------------------------------------------------------------------------------------------------

    def _take_node(self, node: Node, citation: Citation, at_ns: int, *, gone: bool) -> None:
        name = node.metadata.name
        self.dirty.waiting |= self.withheld.see(node, at_ns, gone=gone)
        if not gone:
            self.node_citations[name] = citation
            self.put_node(node_facts(node))
        elif self.candidates.drop(name):
            self.node_citations[name] = citation
            self._spread_node(name)

    def put_node(self, facts: NodeFacts) -> None:
        """Take the node with the devices, and the limits on volumes, that it has by now."""
        if self.candidates.put(self.attachments.on_node(self.devices.on_node(facts))):
            self._spread_node(facts.name)

    def _spread_node(self, name: str) -> None:
        self.dirty.nodes.add(name)
        self.dirty.waiting = True
        self.dirty.pods.update(self.leaving_on.get(name, ()))

    def _take_owner(self, thing: Controller, citation: Citation, *, gone: bool) -> None:
        owner = owner_of(thing, citation)
        before = self.owners.drop(owner.uid)
        if before is not None:
            self.dirty.gangs.update(self.memberships.forget_maker(before))
        if not gone:
            self.owners.put(owner)
            self.dirty.gangs.update(self.memberships.note_maker(owner))
        elif self.owners.named(owner.kind, owner.namespace, owner.name) is None:
            self.activity.forget_controller(owner.kind, owner.namespace, owner.name)
        if before is None or gone or decides_otherwise(before, owner):
            for uid in self.owners.below(owner.uid):
                self._rejoin(uid)
        self.dirty.controllers = True

    def _take_custom(self, thing: Custom, citation: Citation, *, gone: bool) -> None:
        if gone:
            self.groups.drop(thing)
        else:
            self.groups.put(thing)
        self.kueue.take(thing, citation, gone=gone)
        self.devices.take(thing, citation, gone=gone)
        self.attachments.take(thing, gone=gone)
        self.dirty.gangs.update(self.memberships.declared_by(thing))
        self._take_owner(thing, citation, gone=gone)

    def _take_quota(self, thing: ResourceQuota, citation: Citation, *, gone: bool) -> None:
        quota = quota_of(thing, citation)
        self.dirty.quotas.add((quota.namespace, quota.name))
        self.dirty.controllers = True
        if gone:
            self.quotas.drop(quota.namespace, quota.name)
            changed = True
        else:
            changed = self.quotas.put(quota)
        if changed:
            self.dirty.namespaces.add(quota.namespace)
            self.dirty.waiting = True

    def gangs_of(self, owner: Owner) -> set[str]:
        """The gangs of the pods that the controller has."""
        keys = self.by_owner.get(owner.uid, ())
        return {gang.key for key in keys if (gang := self.gangs.get(key)) is not None}

    def _take_event(self, event: Event, citation: Citation) -> None:
        self.kueue.hear(event, citation)
        about = self.activity.take(event, citation)
        if about is None:
            return
        kind, namespace, name = about
        if kind == "Pod":
            self.dirty.pods.add(f"{namespace}/{name}")
            return
        self.dirty.controllers = True
        owner = self.owners.named(kind, namespace, name)
        if owner is not None:
            gang = self.memberships.made_by(owner)
            self.dirty.gangs.update(self.gangs_of(owner) if gang is None else (gang.key,))
        refused = self.activity.refused(kind, namespace, name)
        if refused is None or self.quotas.find(namespace, refused.refusal.quota) is not None:
            return
        # The quota itself was not handed over: the refusal says what it allows and what it counts.
        self.quotas.put(quota_by_refusal(namespace, refused.refusal, citation))
        self.dirty.quotas.add((namespace, refused.refusal.quota))
        self.dirty.namespaces.add(namespace)
