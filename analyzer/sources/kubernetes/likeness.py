"""The fast lane for pods: one that is like an earlier pod of its controller is read by a few comparisons.

Contract: what `Likeness.record` gives is equal to what `Records.of` gives, and is plain; or it gives None, and nothing
is said about the pod. It never guesses: whatever of a pod decides is compared with the model, or read from the pod.
"""

from sys import intern

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.forgetful import Forgetful
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.pod_requests import Shapes
from analyzer.sources.kubernetes.records import MARK_ANNOTATIONS, MARK_LABELS, PodRecord, apart_of
from analyzer.sources.kubernetes.times import parse_ns


class Likeness:
    """For each controller (by uid) the latest of its plain pods, as the model of those to come."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._models: Forgetful[str, PodRecord] = Forgetful()

    def learn(self, record: PodRecord) -> None:
        """Take a pod that came by the slow road as a model, if it is plain; it must not be in a gang."""
        if record.plain and record.owner is not None and record.owner.uid:
            self._models[record.owner.uid] = record

    def forget(self, uid: str) -> None:
        """The controller is different: its pods may be in a gang from now on."""
        self._models.pop(uid, None)

    def record(self, pod: Pod, citation: Citation) -> PodRecord | None:
        """The record of a plain pod with a model; None for any other. O(its labels, volumes and conditions)."""
        metadata, spec, status = pod.metadata, pod.spec, pod.status
        labels = metadata.labels
        references, node = metadata.owner_references, spec.node_name
        if status.phase != "Running" or not node or len(references) != 1:
            return None
        uid = references[0].uid
        model = self._models.get(uid)
        if (
            model is None
            or metadata.namespace != model.namespace
            or spec.restart_policy != model.restarts
            or spec.priority_class_name != model.priority_class
            or references[0].kind == "Pod"
            or metadata.deletion_timestamp
            or spec.active_deadline_seconds is not None
            or spec.scheduling_group is not None
            or spec.workload_ref is not None
            or spec.resource_claims
            or not MARK_ANNOTATIONS.isdisjoint(metadata.annotations)
            or ((model.apart or spec.affinity is not None) and apart_of(spec) != model.apart)
        ):
            return None
        if labels == model.labels:
            labels = model.labels
        elif not MARK_LABELS.isdisjoint(labels):
            return None
        for volume in spec.volumes:
            if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
                return None
        shape = self._shapes.of(spec, uid)
        if shape.ports:
            return None
        ready = False
        for condition in status.conditions:
            if condition.type == "Ready":
                ready = condition.status == "True"
                break
        created, started = metadata.creation_timestamp, status.start_time
        created_ns = parse_ns(created)
        return PodRecord(
            f"{model.namespace}/{metadata.name}",
            model.namespace,
            metadata.uid,
            intern(node),
            model.stage,
            shape,
            model.owner,
            model.parent,
            model.marks,
            model.launches,
            model.claims,
            spec.priority or 0,
            model.priority_class,
            model.restarts,
            created_ns if started == created else parse_ns(started),
            created_ns or 0,
            model.ended_ns,
            model.deadline_s,
            ready,
            model.evicted,
            model.running,
            model.plain,
            model.pending,
            model.leaving,
            labels,
            model.apart,
            citation,
        )
