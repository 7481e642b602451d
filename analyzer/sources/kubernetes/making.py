"""The pods that controllers would make of a manifest: what the API server and the controllers would add, in short."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from analyzer.sources.kubernetes.decoding import kind_of_object
from analyzer.sources.kubernetes.gangs import TRAINING_KINDS, gang_of, template_member, whole
from analyzer.sources.kubernetes.objects import (
    Condition,
    CronJob,
    Custom,
    DaemonSet,
    Deployment,
    Job,
    KubeObject,
    Metadata,
    OwnerReference,
    Pod,
    PodSpec,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from analyzer.sources.kubernetes.objects.pod import PodStatus
from analyzer.sources.kubernetes.objects.workload import JobSpec
from analyzer.sources.kubernetes.owners import owner_of

_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

PODS_MAX = 10_000
"""Pods made of one file; more would be a slip of the pen."""

UNFOLDED = TRAINING_KINDS | {"JobSet"}
"""Operators' jobs whose pods are made here."""

_MAKERS = frozenset({"DaemonSet", "CronJob", "LeaderWorkerSet", "RayCluster", "RayJob", "SparkApplication", "TrainJob"})

Read = TypeVar("Read", bound=Struct)


class CannotMakeError(Exception):
    """A manifest of which it is not known here which pods come of it; the text is one sentence."""


class Maker:
    """Makes the objects that would be there once these manifests were applied. `notes`: what was taken for granted."""

    def __init__(self, now: str, classes: Mapping[str, PriorityClass]) -> None:
        self._now = now
        self._classes = dict(classes)
        self._left = PODS_MAX
        self.notes: list[str] = []

    def learn(self, found: KubeObject) -> None:
        """Take note of a priority class that comes with the manifests."""
        if isinstance(found, PriorityClass):
            self._classes[found.metadata.name] = found

    def made_of(self, found: KubeObject) -> Iterator[KubeObject]:
        """The object as the API server would store it, and all that its controllers would make. Pods come last."""
        kind = kind_of_object(found)
        if kind in _MAKERS or isinstance(found, DaemonSet | CronJob):
            raise CannotMakeError(
                f"which pods a {kind} makes is not known here: submit its pods or its jobs, or facts about them"
            )
        metadata = self._stored(found.metadata, kind)
        match found:
            case Pod():
                yield self._pod(metadata, found.metadata.owner_references, found.spec)
            case Job():
                yield from self._job(metadata, found.spec)
            case Deployment():
                yield replace(found, metadata=metadata)
                name, spec = f"{metadata.name}-whatif", found.spec
                copies = ReplicaSet(metadata=self._owned(name, metadata, "Deployment", spec.template))
                yield from self._replicas(
                    replace(copies, spec=replace(copies.spec, replicas=spec.replicas, template=spec.template))
                )
            case ReplicaSet() | ReplicationController() | StatefulSet():
                yield from self._replicas(replace(found, metadata=metadata))
            case Custom() if kind == "JobSet":
                yield replace(found, metadata=metadata)
                yield from self._job_set(metadata, found.spec)
            case Custom() if kind in TRAINING_KINDS:
                yield replace(found, metadata=metadata)
                yield from self._training_job(metadata, kind, found.spec)
            case _:
                yield replace(found, metadata=metadata)

    def _stored(self, metadata: Metadata, kind: str) -> Metadata:
        namespace = metadata.namespace or ("" if kind in {"Node", "PriorityClass", "PersistentVolume"} else "default")
        name = metadata.name or (f"{metadata.generate_name}whatif" if metadata.generate_name else "")
        if not name:
            raise CannotMakeError(f"a {kind} without a name is in it")
        uid = f"whatif/{kind}/{namespace}/{name}"
        return replace(metadata, name=name, namespace=namespace, uid=uid, creation_timestamp=self._now)

    def _owned(self, name: str, owner: Metadata, kind: str, template: PodTemplate, **labels: str) -> Metadata:
        reference = OwnerReference(kind=kind, name=owner.name, uid=owner.uid, controller=True)
        return Metadata(
            name=name,
            namespace=owner.namespace,
            uid=f"whatif/{kind}/{owner.namespace}/{owner.name}/{name}",
            creation_timestamp=self._now,
            labels={**template.metadata.labels, **labels},
            annotations=template.metadata.annotations,
            owner_references=(reference,),
        )

    def _pod(self, metadata: Metadata, owners: tuple[OwnerReference, ...], spec: PodSpec) -> Pod:
        """A pod that has just been made. That the scheduler has no place for it yet is for the question to settle."""
        self._left -= 1
        if self._left < 0:
            raise CannotMakeError(f"more than {PODS_MAX:,} pods would come of it")
        waiting = Condition(type="PodScheduled", status="False", reason="Unschedulable", last_transition_time=self._now)
        status = PodStatus(phase="Running") if spec.node_name else PodStatus(phase="Pending", conditions=(waiting,))
        return Pod(metadata=replace(metadata, owner_references=owners), spec=self._with_priority(spec), status=status)

    def _with_priority(self, spec: PodSpec) -> PodSpec:
        name = spec.priority_class_name
        if spec.priority is not None:
            return spec
        if name in _SYSTEM_PRIORITIES:
            return replace(spec, priority=_SYSTEM_PRIORITIES[name])
        found = self._classes.get(name)
        if found is None and not name:
            defaults = sorted((one for one in self._classes.values() if one.global_default), key=lambda one: -one.value)
            found = defaults[0] if defaults else None
        if found is None:
            if name:
                self._note(f"Priority class {name} is not in the input: its pods are taken to have priority 0.")
            return spec
        policy = spec.preemption_policy or found.preemption_policy
        return replace(spec, priority=found.value, preemption_policy=policy)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _job(self, metadata: Metadata, spec: JobSpec, **labels: str) -> Iterator[KubeObject]:
        if spec.suspend:
            self._note(f"Job {metadata.name} is suspended: it is taken to be let go at once.")
        yield Job(metadata=metadata, spec=replace(spec, suspend=False))
        at_once = 1 if spec.parallelism is None else spec.parallelism
        count = at_once if spec.completions is None else min(at_once, spec.completions)
        for number in range(count):
            made = self._owned(f"{metadata.name}-{number}", metadata, "Job", spec.template, **labels)
            yield self._pod(made, made.owner_references, spec.template.spec)

    def _replicas(self, found: ReplicaSet | ReplicationController | StatefulSet) -> Iterator[KubeObject]:
        yield found
        metadata, spec, kind = found.metadata, found.spec, kind_of_object(found)
        count = 1 if spec.replicas is None else spec.replicas
        owner = owner_of(found, (0, 0))
        if owner.ordered and gang_of(template_member(owner)) is not None:
            count = min(count, 1)  # it makes the next pod only once this one is ready
        for number in range(count):
            made = self._owned(f"{metadata.name}-{number}", metadata, kind, spec.template)
            yield self._pod(made, made.owner_references, spec.template.spec)

    def _job_set(self, metadata: Metadata, spec: Mapping[str, Any]) -> Iterator[KubeObject]:
        for part in _entries(spec.get("replicatedJobs")):
            template = part.get("template") or {}
            job = _typed(template.get("spec") or {}, JobSpec, "replicatedJobs")
            replicas = whole(part.get("replicas"))
            for number in range(1 if replicas is None else replicas):
                name = f"{metadata.name}-{part.get('name', 'job')}-{number}"
                owned = self._owned(name, metadata, "JobSet", job.template)
                yield from self._job(owned, job, **{"jobset.sigs.k8s.io/jobset-name": metadata.name})

    def _training_job(self, metadata: Metadata, kind: str, spec: Mapping[str, Any]) -> Iterator[KubeObject]:
        roles = [
            (str(role), part)
            for field in sorted(spec)
            if field.endswith("ReplicaSpecs") and isinstance(spec[field], Mapping)
            for role, part in sorted(spec[field].items())
            if isinstance(part, Mapping)
        ]
        if not roles:
            raise CannotMakeError(f"{kind} {metadata.name} names no replicas that are known here")
        for role, part in roles:
            template = _typed(part.get("template") or {}, PodTemplate, role)
            replicas = whole(part.get("replicas"))
            for number in range(1 if replicas is None else replicas):
                marks = {"training.kubeflow.org/job-name": metadata.name}
                name = f"{metadata.name}-{role.lower()}-{number}"
                made = self._owned(name, metadata, kind, template, **marks)
                yield self._pod(made, made.owner_references, template.spec)


def _entries(value: object) -> Iterator[Mapping[str, Any]]:
    for part in value if isinstance(value, list | tuple) else ():
        if isinstance(part, Mapping):
            yield part


def _typed(value: object, kind: type[Read], where: str) -> Read:
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise CannotMakeError(f"{where}: {error}") from None
