"""What is kept of a pod once it has been read: the few things that decide, interned where pods are alike.

A hundred thousand pods pass through here, so the object itself is not kept, and an ordinary bound pod costs a few
dictionary look-ups.
"""

from collections.abc import Mapping
from enum import IntEnum
from sys import intern

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.candidates import Constraints, constraints_of
from analyzer.sources.kubernetes.forgetful import Forgetful
from analyzer.sources.kubernetes.objects import Condition, OwnerReference, Pod, PodSpec
from analyzer.sources.kubernetes.objects.metadata import Metadata
from analyzer.sources.kubernetes.objects.pod import PodAffinityTerm, TopologySpread
from analyzer.sources.kubernetes.pod_requests import Shape, Shapes
from analyzer.sources.kubernetes.times import parse_ns


class Stage(IntEnum):
    """How far a pod is, as far as holding and waiting go."""

    PENDING = 0
    BOUND = 1
    SUCCEEDED = 2
    FAILED = 3


# Names of the members: looking them up in the class costs more than all else that is done with them.
PENDING, BOUND, SUCCEEDED, FAILED = Stage.PENDING, Stage.BOUND, Stage.SUCCEEDED, Stage.FAILED


class Try(IntEnum):
    """What the scheduler has done about a pending pod."""

    UNTRIED = 0
    REFUSED = 1  # it looked and found no place: only this is a wait
    GATED = 2


class Pending(Struct, frozen=True, kw_only=True):
    """Of a pod without a node: what the scheduler did, since when, its words, and where the pod may go.

    `near`, `spread`: which other pods it must be near to, and how it must lie with its like.
    """

    tried: Try
    since_ns: int
    said: str
    nominated: str
    never_preempts: bool
    constraints: Constraints
    gates: tuple[str, ...] = ()
    near: tuple[PodAffinityTerm, ...] = ()
    spread: tuple[TopologySpread, ...] = ()


class Leaving(Struct, frozen=True, kw_only=True):
    """Of a pod being deleted: when it was to be gone at the latest, who still holds on to it, and why it must go."""

    due_ns: int
    finalizers: tuple[str, ...]
    disruption: str


class PodRecord(Struct, frozen=True):
    """One pod; `key` is `namespace/name`. Made by position, not by name: that is what a hundred thousand of them cost.

    `ended_ns`: when a finished one ended, as far as it says. `parent`: the pod that owns it. `marks`: the labels and
    annotations that group pods, None for most. `launches`: it starts one part of a collective run (torchrun and the
    like). `evicted`: it failed because it was made to go. `plain`: bound, running, and nothing about it that other pods
    or a clock could change. `labels`: pods of one controller share them where they are equal. `apart`: the pods that it
    must not be beside.
    """

    key: str
    namespace: str
    uid: str
    node: str
    stage: Stage
    shape: Shape
    owner: OwnerReference | None
    parent: str
    marks: dict[str, str] | None
    launches: bool
    claims: tuple[str, ...]
    priority: int
    priority_class: str
    restarts: str
    started_ns: int | None
    created_ns: int
    ended_ns: int | None
    deadline_s: int | None
    ready: bool
    evicted: bool
    running: bool
    plain: bool
    pending: Pending | None
    leaving: Leaving | None
    labels: Mapping[str, str]
    apart: tuple[PodAffinityTerm, ...]
    citation: Citation

    @property
    def name(self) -> str:
        """Its name within the namespace."""
        return self.key.partition("/")[2]


MARK_LABELS = frozenset(
    {
        "knotwatch.dev/gang",
        "scheduling.x-k8s.io/pod-group",
        "pod-group.scheduling.sigs.k8s.io",
        "pod-group.scheduling.sigs.k8s.io/name",
        "pod-group.scheduling.sigs.k8s.io/min-available",
        "kueue.x-k8s.io/pod-group-name",
        "jobset.sigs.k8s.io/jobset-name",
        "leaderworkerset.sigs.k8s.io/name",
        "leaderworkerset.sigs.k8s.io/group-index",
        "training.kubeflow.org/job-name",
        "training.kubeflow.org/replica-type",
        "mpi-job-name",
        "ray.io/cluster",
        "volcano.sh/job-name",
        "spark-role",
        "spark-app-selector",
    }
)
MARK_ANNOTATIONS = frozenset(
    {
        "knotwatch.dev/min-available",
        "scheduling.k8s.io/group-name",
        "pod-group-name",
        "gang.scheduling.koordinator.sh/name",
        "gang.scheduling.koordinator.sh/min-available",
        "kueue.x-k8s.io/pod-group-total-count",
        "leaderworkerset.sigs.k8s.io/size",
        "kubernetes.io/config.mirror",
    }
)
NAME_LABELS = ("app", "app.kubernetes.io/name", "app.kubernetes.io/instance")
IN_TREE_GROUP = "scheduling.k8s.io/pod-group"
"""The mark under which the in-tree group of a pod (a field of its spec, not a label) is kept."""

_LAUNCHERS = (
    "torchrun",
    "torch.distributed.run",
    "torch.distributed.launch",
    "mpirun",
    "mpiexec",
    "deepspeed",
    "accelerate launch",
)
_COLLECTIVE_ENV = frozenset({"WORLD_SIZE", "MASTER_ADDR", "NNODES"})


def marks_of(metadata: Metadata, spec: PodSpec) -> dict[str, str] | None:
    """Labels and annotations that group pods, of a pod or of a template; None if there are none."""
    labels, annotations = metadata.labels, metadata.annotations
    grouped = spec.scheduling_group is not None or spec.workload_ref is not None
    if not (
        grouped
        or (labels and not MARK_LABELS.isdisjoint(labels))
        or (annotations and not MARK_ANNOTATIONS.isdisjoint(annotations))
    ):
        return None
    marks = {key: value for key, value in labels.items() if key in MARK_LABELS or key in NAME_LABELS}
    marks.update({key: value for key, value in annotations.items() if key in MARK_ANNOTATIONS})
    if spec.scheduling_group is not None and spec.scheduling_group.pod_group_name:
        marks[IN_TREE_GROUP] = spec.scheduling_group.pod_group_name
    elif spec.workload_ref is not None and spec.workload_ref.name:
        reference = spec.workload_ref
        marks[IN_TREE_GROUP] = "-".join(
            filter(None, (reference.name, reference.pod_group, reference.pod_group_replica_key))
        )
    return marks


def launches_collective(spec: PodSpec) -> bool:
    """Whether a container starts one part of a run that needs all its parts: by its command line or environment."""
    for container in spec.containers:
        if any(variable.name in _COLLECTIVE_ENV for variable in container.env):
            return True
        words = " ".join((*container.command, *container.args))
        if any(launcher in words for launcher in _LAUNCHERS):
            return True
    return False


def controller_of(references: tuple[OwnerReference, ...]) -> OwnerReference | None:
    """The owner that makes the object anew; a sole owner counts even if it does not say that it controls."""
    for reference in references:
        if reference.controller:
            return reference
    return references[0] if len(references) == 1 else None


def _condition(pod: Pod, kind: str) -> Condition | None:
    for condition in pod.status.conditions:
        if condition.type == kind:
            return condition
    return None


def pending_of(pod: Pod, created_ns: int, constraints: Constraints) -> Pending:
    """What is known of a pod without a node, beside where it may go."""
    spec, status, affinity = pod.spec, pod.status, pod.spec.affinity
    scheduled = _condition(pod, "PodScheduled")
    tried, since_ns, said = Try.UNTRIED, created_ns, ""
    if spec.scheduling_gates:
        tried = Try.GATED
    elif scheduled is not None and scheduled.status == "False":
        since_ns = parse_ns(scheduled.last_transition_time) or created_ns
        said = scheduled.message
        # While gates are being taken off, the condition still speaks of them for a moment.
        tried = Try.REFUSED if scheduled.reason == "Unschedulable" else Try.UNTRIED
    return Pending(
        tried=tried,
        since_ns=since_ns,
        said=said,
        nominated=status.nominated_node_name,
        never_preempts=spec.preemption_policy == "Never",
        constraints=constraints,
        gates=tuple(gate.name for gate in spec.scheduling_gates),
        near=affinity.pod_affinity.required if affinity is not None and affinity.pod_affinity is not None else (),
        spread=tuple(one for one in spec.topology_spread_constraints if one.when_unsatisfiable == "DoNotSchedule"),
    )


def _leaving_of(pod: Pod, created_ns: int) -> Leaving:
    disruption = _condition(pod, "DisruptionTarget")
    return Leaving(
        due_ns=parse_ns(pod.metadata.deletion_timestamp) or created_ns,
        finalizers=pod.metadata.finalizers,
        disruption=disruption.reason if disruption is not None and disruption.status == "True" else "",
    )


_EVICTIONS = frozenset({"Evicted", "Preempting", "NodeLost", "NodeShutdown", "Terminated", "UnexpectedAdmissionError"})


def _was_evicted(pod: Pod) -> bool:
    """Whether a failed pod was made to end, rather than failing by itself."""
    disruption = _condition(pod, "DisruptionTarget")
    return pod.status.reason in _EVICTIONS or (disruption is not None and disruption.status == "True")


def _ended_ns(pod: Pod) -> int | None:
    """When the last container ended, or the pod turned unready for good."""
    states = (status.state for status in pod.status.container_statuses)
    texts = [state.terminated.finished_at for state in states if state is not None and state.terminated is not None]
    ready = _condition(pod, "Ready")
    if ready is not None and ready.status == "False":
        texts.append(ready.last_transition_time)
    return max((moment for text in texts if (moment := parse_ns(text)) is not None), default=None)


def _claims_of(pod: Pod) -> tuple[str, ...]:
    claims: list[str] = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            claims.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            claims.append(f"{pod.metadata.name}-{volume.name}")
    return tuple(claims)


def apart_of(spec: PodSpec) -> tuple[PodAffinityTerm, ...]:
    """The pods that a pod or a template must not be beside: required terms alone."""
    affinity = spec.affinity
    return () if affinity is None or affinity.pod_anti_affinity is None else affinity.pod_anti_affinity.required


_STAGES = {"Succeeded": SUCCEEDED, "Failed": FAILED}


class Records:
    """Makes records, sharing what pods have in common. Remembers owners and shapes, never pods."""

    def __init__(self) -> None:
        self.shapes = Shapes()
        self._owners: Forgetful[str, OwnerReference] = Forgetful()
        self._launches: Forgetful[str, bool] = Forgetful()
        self._constraints: Forgetful[Constraints, Constraints] = Forgetful()
        self._latest: Forgetful[str, tuple[object, Constraints]] = Forgetful()
        self._labels: Forgetful[str, Mapping[str, str]] = Forgetful()

    def _constraints_of(self, spec: PodSpec, owner: str) -> Constraints:
        """One object for all that are equal; a pod is first compared with the latest of its owner."""
        asked = (spec.node_selector, spec.affinity, spec.tolerations)
        latest = self._latest.get(owner)
        if latest is not None and latest[0] == asked:
            return latest[1]
        made = constraints_of(spec)
        made = self._constraints.shared(made, made)
        self._latest[owner] = (asked, made)
        return made

    def _labels_of(self, metadata: Metadata, owner: str) -> Mapping[str, str]:
        """One mapping for pods of an owner that follow each other and have the same labels."""
        labels = metadata.labels
        latest = self._labels.get(owner)
        if latest is not None and latest == labels:
            return latest
        self._labels[owner] = labels
        return labels

    def _launch(self, owner: OwnerReference, spec: PodSpec) -> bool:
        """Whether the Job's pods start a collective: asked once per owner, and per pod where owners have no uid."""
        if not owner.uid:
            return launches_collective(spec)
        found = self._launches.get(owner.uid)
        if found is None:
            found = self._launches[owner.uid] = launches_collective(spec)
        return found

    def of(self, pod: Pod, citation: Citation) -> PodRecord:
        """The record of this pod. O(1) for a plain bound pod, O(its spec) for one that waits."""
        metadata, spec, status = pod.metadata, pod.spec, pod.status
        node, phase, references = spec.node_name, status.phase, metadata.owner_references
        created_ns = parse_ns(metadata.creation_timestamp) or 0
        stage = _STAGES.get(phase) or (BOUND if node else PENDING)
        owner, parent = None, ""
        if references:
            owner = references[0] if len(references) == 1 else controller_of(references)
            if owner is not None:
                owner = self._owners.shared(owner.uid, owner) if owner.uid else owner
            for reference in references:
                if reference.kind == "Pod":
                    parent = reference.name
        ready = False
        for condition in status.conditions:
            if condition.type == "Ready":
                ready = condition.status == "True"
                break
        marks = marks_of(metadata, spec)
        launches = owner is not None and owner.kind == "Job" and self._launch(owner, spec)
        claims = _claims_of(pod) if spec.volumes else ()
        uid = owner.uid if owner is not None else ""
        shape = self.shapes.of(spec, uid)
        running = phase == "Running"
        leaving = _leaving_of(pod, created_ns) if metadata.deletion_timestamp else None
        deadline_s = spec.active_deadline_seconds
        namespace = intern(metadata.namespace or "default")
        return PodRecord(
            f"{namespace}/{metadata.name}",
            namespace,
            metadata.uid,
            intern(node),
            stage,
            shape,
            owner,
            parent,
            marks,
            launches,
            claims,
            spec.priority or 0,
            spec.priority_class_name and intern(spec.priority_class_name),
            intern(spec.restart_policy),
            parse_ns(status.start_time),
            created_ns,
            _ended_ns(pod) if stage is SUCCEEDED or stage is FAILED else None,
            deadline_s,
            ready,
            stage is FAILED and _was_evicted(pod),
            running,
            running
            and stage is BOUND
            and marks is None
            and leaving is None
            and deadline_s is None
            and not (launches or claims or parent or shape.ports),
            pending_of(pod, created_ns, self._constraints_of(spec, uid)) if stage is PENDING else None,
            leaving,
            self._labels_of(metadata, uid),
            apart_of(spec) if spec.affinity is not None else (),
            citation,
        )
