"""Objects as the API server would store them, and the pods that built-in controllers would make, in short."""

from collections.abc import Iterator

from msgspec.structs import replace

from analyzer.sources.kubernetes.decoding import kind_of_object
from analyzer.sources.kubernetes.gangs import gang_of, template_member
from analyzer.sources.kubernetes.objects import (
    Condition,
    Custom,
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


QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""The label by which an object is given to a queue of Kueue."""

RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
"""What a TrainJob is made from: of its namespace, of the whole cluster."""


class CannotMakeError(Exception):
    """A manifest of which it is not known here which pods come of it; the text is one sentence."""


class Maker:
    """Makes the objects that would be there once these manifests were applied. `notes`: what was taken for granted."""

    def __init__(self, now: str) -> None:
        self.now = now
        self._classes: dict[str, PriorityClass] = {}
        self._runtimes: dict[tuple[str, str, str], Custom] = {}
        self._left = PODS_MAX
        self.notes: list[str] = []

    def learn(self, found: KubeObject) -> None:
        """Take note of what others refer to: priority classes, and the runtimes of TrainJobs."""
        if isinstance(found, PriorityClass):
            self._classes[found.metadata.name] = found
        elif isinstance(found, Custom) and found.kind in RUNTIMES:
            namespace = (found.metadata.namespace or "default") if found.kind == RUNTIMES[0] else ""
            self._runtimes[found.kind, namespace, found.metadata.name] = found

    def runtime(self, kind: str, namespace: str, name: str) -> Custom | None:
        """The runtime that a TrainJob of this namespace names."""
        return self._runtimes.get((kind, namespace if kind == RUNTIMES[0] else "", name))

    def stored(self, metadata: Metadata, kind: str) -> Metadata:
        """Name, namespace and identity as they would be given."""
        namespace = metadata.namespace or ("" if kind in {"Node", "PriorityClass", "PersistentVolume"} else "default")
        name = metadata.name or (f"{metadata.generate_name}whatif" if metadata.generate_name else "")
        if not name:
            raise CannotMakeError(f"a {kind} without a name is in it")
        uid = f"whatif/{kind}/{namespace}/{name}"
        return replace(metadata, name=name, namespace=namespace, uid=uid, creation_timestamp=self.now)

    def owned(self, name: str, owner: Metadata, kind: str, template: PodTemplate, **labels: str) -> Metadata:
        """What a controller of this kind gives to what it makes of the template."""
        reference = OwnerReference(kind=kind, name=owner.name, uid=owner.uid, controller=True)
        return Metadata(
            name=name,
            namespace=owner.namespace,
            uid=f"whatif/{kind}/{owner.namespace}/{owner.name}/{name}",
            creation_timestamp=self.now,
            labels={**template.metadata.labels, **labels},
            annotations=template.metadata.annotations,
            owner_references=(reference,),
        )

    def pod(self, metadata: Metadata, owners: tuple[OwnerReference, ...], spec: PodSpec) -> Pod:
        """A pod that has just been made. That the scheduler has no place for it yet is for the question to settle."""
        self._left -= 1
        if self._left < 0:
            raise CannotMakeError(f"more than {PODS_MAX:,} pods would come of it")
        waiting = Condition(type="PodScheduled", status="False", reason="Unschedulable", last_transition_time=self.now)
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
                self.note(f"Priority class {name} is not in the input: its pods are taken to have priority 0.")
            return spec
        policy = spec.preemption_policy or found.preemption_policy
        return replace(spec, priority=found.value, preemption_policy=policy)

    def note(self, text: str) -> None:
        """Say once what is taken for granted."""
        if text not in self.notes:
            self.notes.append(text)

    def let_go(self, kind: str, metadata: Metadata, *, suspended: bool) -> None:
        """Say that a suspended one is taken to run; Kueue lets go those that are in one of its queues."""
        if suspended and QUEUE_LABEL not in metadata.labels:
            self.note(f"{kind} {metadata.name} is suspended: it is taken to be let go at once.")

    def template(
        self, metadata: Metadata, kind: str, count: int, template: PodTemplate, stem: str, **labels: str
    ) -> Iterator[Pod]:
        """So many pods of a template, named by the stem and a number."""
        for number in range(count):
            made = self.owned(f"{stem}-{number}", metadata, kind, template, **labels)
            yield self.pod(made, made.owner_references, template.spec)

    def job(self, metadata: Metadata, spec: JobSpec, **labels: str) -> Iterator[KubeObject]:
        """The Job, and the pods that it runs at one time."""
        self.let_go("Job", metadata, suspended=spec.suspend)
        yield Job(metadata=metadata, spec=replace(spec, suspend=False))
        at_once = 1 if spec.parallelism is None else spec.parallelism
        count = at_once if spec.completions is None else min(at_once, spec.completions)
        yield from self.template(metadata, "Job", count, spec.template, metadata.name, **labels)

    def replicas(self, found: ReplicaSet | ReplicationController | StatefulSet) -> Iterator[KubeObject]:
        """The controller, and the pods that it makes before any of them is ready."""
        yield found
        metadata, spec, kind = found.metadata, found.spec, kind_of_object(found)
        count = 1 if spec.replicas is None else spec.replicas
        owner = owner_of(found, (0, 0))
        if owner.ordered and gang_of(template_member(owner)) is not None:
            count = min(count, 1)  # it makes the next pod only once this one is ready
        yield from self.template(metadata, kind, count, spec.template, metadata.name)
