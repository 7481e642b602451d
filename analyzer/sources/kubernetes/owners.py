"""Who makes a pod, whether such pods end by themselves, and how many of them there will be.

| owner | its pods end? |
|---|---|
| Deployment, ReplicaSet, StatefulSet, DaemonSet, Rollout, Notebook, InferenceService, ... | no (`ENDLESS`) |
| Job, CronJob, Workflow, JobSet, training jobs, RayJob, SparkApplication, ... | yes (`FINITE`) |
| a Node (mirror pods) | no |
| a kind that is in neither list | not known (`UNKNOWN`: counts as ending, and the text says so) |
| none, restartPolicy Never or OnFailure | yes |
| none, restartPolicy Always | not known |
"""

from collections.abc import Iterator

from msgspec import Struct

from analyzer.model.events import Citation, Lifetime
from analyzer.sources.kubernetes.objects import (
    Custom,
    DaemonSet,
    Deployment,
    Job,
    OwnerReference,
    PodTemplate,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from analyzer.sources.kubernetes.records import controller_of, launches_collective, marks_of
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

ENDLESS_KINDS = frozenset(
    {
        "Deployment",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
        "DaemonSet",
        "Node",
        "Rollout",
        "CloneSet",
        "Notebook",
        "InferenceService",
        "LLMInferenceService",
        "Revision",
        "Service",
        "Configuration",
        "DeploymentConfig",
        "LeaderWorkerSet",
        "RayService",
        "ModelServer",
        "SeldonDeployment",
        "DynamoGraphDeployment",
        "PodCliqueSet",
        "Tensorboard",
    }
)
FINITE_KINDS = frozenset(
    {
        "Job",
        "CronJob",
        "Workflow",
        "CronWorkflow",
        "TaskRun",
        "PipelineRun",
        "JobSet",
        "PyTorchJob",
        "TFJob",
        "MPIJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
        "TrainJob",
        "RayJob",
        "SparkApplication",
        "ScheduledSparkApplication",
        "AppWrapper",
        "Experiment",
        "Trial",
        "DaskJob",
        "FlyteWorkflow",
        "Build",
    }
)
RECREATING_KINDS = frozenset(
    {
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
        "DaemonSet",
        "CloneSet",
        "Node",
        "Rollout",
    }
)

_TIMERS = frozenset({"CronJob", "CronWorkflow", "ScheduledSparkApplication"})
"""They start one run after the other: people ask about the run."""

BACKOFF_LIMIT = 6
"""Failures that a Job allows if it does not say (`spec.backoffLimit`)."""

_CHAIN_MAX = 8
"""Longer chains of owners do not occur; a ring of references would be one."""

Controller = Job | Deployment | ReplicaSet | ReplicationController | StatefulSet | DaemonSet | Custom


class Owner(Struct, frozen=True, kw_only=True):
    """A controller.

    `wants`: how many pods it will have at one time (None: not known). `ordered`: it makes its next pod only when those
    before are ready. `over`: it has finished, or is told to make nothing.
    """

    uid: str
    kind: str
    namespace: str
    name: str
    parent: OwnerReference | None
    wants: int | None
    completions: int | None
    indexed: bool
    ordered: bool
    over: bool
    template: PodTemplate | None
    marks: dict[str, str] | None
    launches: bool
    created_ns: int
    deadline_ns: int | None
    until_ns: int | None
    object: Controller
    citation: Citation

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class Line(Struct, frozen=True, kw_only=True):
    """What follows from a chain of owners: the name that people know the pods by, and how long they live.

    `label`: whom to ask about the pods (`Job team-red/pretrain`), the top of the chain.
    """

    kind: str
    name: str
    label: str
    lifetime: Lifetime
    until_ns: int | None
    recreated: bool
    over: bool
    owners: tuple[Owner, ...]


def reference_key(reference: OwnerReference, namespace: str) -> str:
    """The identity of an owner: its uid, or its place and name where a handwritten file has no uid."""
    return reference.uid or f"{namespace}/{reference.kind}/{reference.name}"


def _job_over(job: Job) -> bool:
    ended = any(c.type in {"Complete", "Failed"} and c.status == "True" for c in job.status.conditions)
    return ended or job.spec.suspend


def _wants(thing: Controller) -> tuple[int | None, int | None]:
    """How many pods at a time, and how many that must succeed."""
    match thing:
        case Job():
            at_once = 1 if thing.spec.parallelism is None else thing.spec.parallelism
            completions = thing.spec.completions
            return (at_once if completions is None else min(at_once, completions)), completions
        case Deployment() | ReplicaSet() | ReplicationController() | StatefulSet():
            return (1 if thing.spec.replicas is None else thing.spec.replicas), None
        case _:
            return None, None


def owner_of(thing: Controller, citation: Citation) -> Owner:
    """The record of a controller."""
    metadata = thing.metadata
    kind = thing.kind if isinstance(thing, Custom) else type(thing).__name__
    namespace = metadata.namespace or "default"
    wants, completions = _wants(thing)
    template = None if isinstance(thing, Custom) else thing.spec.template
    deadline_ns = until_ns = None
    if isinstance(thing, Job) and thing.spec.active_deadline_seconds is not None:
        deadline_ns = thing.spec.active_deadline_seconds * SECOND_NS
        started_ns = parse_ns(thing.status.start_time)
        until_ns = None if started_ns is None else started_ns + deadline_ns
    return Owner(
        uid=metadata.uid or f"{namespace}/{kind}/{metadata.name}",
        kind=kind,
        namespace=namespace,
        name=metadata.name,
        parent=controller_of(metadata.owner_references),
        wants=wants,
        completions=completions,
        indexed=isinstance(thing, Job) and thing.spec.completion_mode == "Indexed",
        ordered=isinstance(thing, StatefulSet) and thing.spec.pod_management_policy != "Parallel",
        over=metadata.deletion_timestamp is not None or (isinstance(thing, Job) and _job_over(thing)),
        template=template,
        marks=None if template is None else marks_of(template.metadata, template.spec),
        launches=template is not None and isinstance(thing, Job) and launches_collective(template.spec),
        created_ns=parse_ns(metadata.creation_timestamp) or 0,
        deadline_ns=deadline_ns,
        until_ns=until_ns,
        object=thing,
        citation=citation,
    )


class Owners:
    """All controllers, by uid and by name, with what follows from each chain (cached until a controller changes).

    `names_changed` counts how often a name has come or gone.
    """

    def __init__(self) -> None:
        self.names_changed = 0
        self._by_uid: dict[str, Owner] = {}
        self._by_name: dict[tuple[str, str, str], Owner] = {}
        self._children: dict[str, set[str]] = {}
        self._lines: dict[str, Line] = {}

    def put(self, owner: Owner) -> None:
        """Take the controller as it is now."""
        self._lines.clear()
        self._by_uid[owner.uid] = owner
        name = (owner.kind, owner.namespace, owner.name)
        self.names_changed += name not in self._by_name
        self._by_name[name] = owner
        if owner.parent is not None:
            self._children.setdefault(reference_key(owner.parent, owner.namespace), set()).add(owner.uid)

    def drop(self, uid: str) -> Owner | None:
        """The controller is gone."""
        owner = self._by_uid.pop(uid, None)
        if owner is not None:
            self._lines.clear()
            if self._by_name.get((owner.kind, owner.namespace, owner.name)) is owner:
                del self._by_name[owner.kind, owner.namespace, owner.name]
                self.names_changed += 1
            if owner.parent is not None:
                parent = reference_key(owner.parent, owner.namespace)
                children = self._children.get(parent, set())
                children.discard(uid)
                if not children:
                    self._children.pop(parent, None)
        return owner

    def get(self, reference: OwnerReference | None, namespace: str) -> Owner | None:
        """The controller that a reference means; by name where it carries no uid."""
        return None if reference is None else self._by_uid.get(reference_key(reference, namespace))

    def by_uid(self, uid: str) -> Owner | None:
        """The controller with this identity (`reference_key`)."""
        return self._by_uid.get(uid)

    def knows(self, kind: str, namespace: str) -> bool:
        """Whether any controller of the kind is known in the namespace: if so, one that is not there is gone."""
        return any(known == kind and place == namespace for known, place, _ in self._by_name)

    def named(self, kind: str, namespace: str, name: str) -> Owner | None:
        """The controller of this kind and name."""
        return self._by_name.get((kind, namespace, name))

    def all(self) -> Iterator[Owner]:
        """Every controller, sorted by namespace, name and kind."""
        return iter(
            sorted(self._by_uid.values(), key=lambda owner: (owner.namespace, owner.name, owner.kind, owner.uid))
        )

    def children(self, uid: str) -> tuple[Owner, ...]:
        """The controllers that this one owns directly, sorted by name."""
        found = (self._by_uid.get(child) for child in self._children.get(uid, ()))
        return tuple(sorted((owner for owner in found if owner is not None), key=lambda owner: (owner.name, owner.uid)))

    def below(self, uid: str) -> set[str]:
        """The uid itself and those of all controllers under it."""
        seen, left = {uid}, [uid]
        while left:
            for child in self._children.get(left.pop(), ()):
                if child not in seen:
                    seen.add(child)
                    left.append(child)
        return seen

    def line(self, reference: OwnerReference, namespace: str) -> Line:
        """What follows for a pod with this owner. O(1) after the first pod of the owner."""
        key = reference_key(reference, namespace)
        found = self._lines.get(key)
        if found is None:
            found = self._lines[key] = self._trace(reference, namespace)
        return found

    def _trace(self, reference: OwnerReference, namespace: str) -> Line:
        chain: list[Owner] = []
        kinds = [reference.kind]
        name = reference.name
        top = reference
        step: OwnerReference | None = reference
        while step is not None and len(kinds) < _CHAIN_MAX:
            owner = self.get(step, namespace)
            if owner is None:
                break
            chain.append(owner)
            step = owner.parent
            if step is not None:
                kinds.append(step.kind)
                top = top if step.kind in _TIMERS else step
        if reference.kind == "ReplicaSet" and len(kinds) > 1:
            # People know the Deployment; the ReplicaSet's name is its name and a hash.
            name = chain[0].parent.name if chain and chain[0].parent is not None else name
        lifetime = _lifetime(kinds)
        until_ns = min((owner.until_ns for owner in chain if owner.until_ns is not None), default=None)
        if until_ns is not None and lifetime is not Lifetime.ENDLESS:
            lifetime = Lifetime.DATED
        if _going_down(chain):
            lifetime = Lifetime.FINITE
        return Line(
            kind=kinds[-1],
            name=name,
            label=f"{top.kind} {top.name}" if top.kind == "Node" else f"{top.kind} {namespace}/{top.name}",
            lifetime=lifetime,
            until_ns=until_ns if lifetime is Lifetime.DATED else None,
            recreated=(reference.kind in RECREATING_KINDS or _tries_again(chain)) and not _going_down(chain),
            over=any(owner.over for owner in chain),
            owners=tuple(chain),
        )


def _lifetime(kinds: list[str]) -> Lifetime:
    """The outermost owner of a known kind decides: a RayCluster of a RayJob ends with it."""
    for kind in reversed(kinds):
        if kind in FINITE_KINDS:
            return Lifetime.FINITE
        if kind in ENDLESS_KINDS:
            return Lifetime.ENDLESS
    return Lifetime.UNKNOWN


def _tries_again(chain: list[Owner]) -> bool:
    """Whether a Job makes another pod when one of its pods is deleted: until its limit of failures is reached."""
    if not chain or not isinstance(chain[0].object, Job) or chain[0].over:
        return False
    job = chain[0].object
    limit = BACKOFF_LIMIT if job.spec.backoff_limit is None else job.spec.backoff_limit
    return job.status.failed < limit


def _going_down(chain: list[Owner]) -> bool:
    """Whether a controller in the chain wants no pods, or is being deleted: its pods will go by themselves."""
    return any(owner.wants == 0 or owner.object.metadata.deletion_timestamp is not None for owner in chain)


def decides_otherwise(before: Owner, now: Owner) -> bool:
    """Whether pods of the controller may fare differently: its status alone changes often and decides little."""
    return (
        before.wants != now.wants
        or before.over != now.over
        or before.parent != now.parent
        or before.marks != now.marks
        or before.launches != now.launches
        or before.until_ns != now.until_ns
        or before.indexed != now.indexed
    )
