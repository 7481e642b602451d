"""From one manifest to all that would be there: the object as it is stored, and what its controller makes of it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from analyzer.sources.kubernetes.candidates import Candidates, admits, constraints_of
from analyzer.sources.kubernetes.custom_fields import at, parts, text
from analyzer.sources.kubernetes.decoding import DECIDING_GROUPS, kind_of_object
from analyzer.sources.kubernetes.gangs import TRAINING_KINDS, whole
from analyzer.sources.kubernetes.making import RUNTIMES, CannotMakeError, Maker
from analyzer.sources.kubernetes.objects import (
    CronJob,
    Custom,
    DaemonSet,
    Deployment,
    Job,
    KubeObject,
    Metadata,
    Pod,
    PodTemplate,
    ReplicaSet,
    ReplicationController,
    Requirement,
    StatefulSet,
    Toleration,
)
from analyzer.sources.kubernetes.objects.pod import Affinity, NodeAffinity, NodeSelector, NodeSelectorTerm
from analyzer.sources.kubernetes.objects.workload import JobSpec

Read = TypeVar("Read", bound=Struct)

_PODLESS = frozenset(
    {
        "PodGroup",
        "PodGroupTemplate",
        "Queue",
        "Workload",
        "LocalQueue",
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "Topology",
        "AdmissionCheck",
        "ProvisioningRequestConfig",
        "WorkloadPriorityClass",
        "ElasticQuota",
        *RUNTIMES,
    }
)
"""Kinds with a group of their own that describe, and of which no pods come."""

_DAEMON_TOLERATIONS = tuple(
    Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
"""What the controller of DaemonSets lets its pods put up with."""


def unfolded(maker: Maker, found: KubeObject, nodes: Candidates) -> Iterator[KubeObject]:
    """The object as the API server would store it, and all that its controllers would make. Pods come last.

    Raises CannotMakeError for a kind of which it is not known here which pods come of it.
    """
    kind = kind_of_object(found)
    metadata = maker.stored(found.metadata, kind)
    match found:
        case Pod():
            yield maker.pod(metadata, found.metadata.owner_references, found.spec)
        case Job():
            yield from maker.job(metadata, found.spec)
        case CronJob():
            maker.note(f"Of CronJob {metadata.name} one run is submitted.")
            template = PodTemplate(metadata=found.spec.job_template.metadata)
            yield from maker.job(
                maker.owned(f"{metadata.name}-whatif", metadata, kind, template), found.spec.job_template.spec
            )
        case Deployment():
            yield replace(found, metadata=metadata)
            name, spec = f"{metadata.name}-whatif", found.spec
            copies = ReplicaSet(metadata=maker.owned(name, metadata, kind, spec.template))
            yield from maker.replicas(
                replace(copies, spec=replace(copies.spec, replicas=spec.replicas, template=spec.template))
            )
        case ReplicaSet() | ReplicationController() | StatefulSet():
            yield from maker.replicas(replace(found, metadata=metadata))
        case DaemonSet():
            yield replace(found, metadata=metadata)
            yield from _daemons(maker, metadata, found.spec.template, nodes)
        case Custom() if kind in OPERATORS:
            yield replace(found, metadata=metadata)
            yield from OPERATORS[kind](maker, metadata, found)
        case Custom() if kind not in _PODLESS and found.group not in DECIDING_GROUPS:
            raise CannotMakeError(
                f"which pods a {kind} makes is not known here: submit its pods or its jobs, or facts about them"
            )
        case _:
            yield replace(found, metadata=metadata)


# --- built-in controllers ---------------------------------------------------------------------------------------------


def _daemons(maker: Maker, metadata: Metadata, template: PodTemplate, nodes: Candidates) -> Iterator[Pod]:
    """One pod for each node that it may run on, bound to that node by its affinity."""
    spec = replace(template.spec, tolerations=(*template.spec.tolerations, *_DAEMON_TOLERATIONS))
    constraints = constraints_of(spec)
    chosen = [name for name, node in sorted(nodes.nodes.items()) if admits(constraints, node)]
    if not chosen:
        maker.note(f"DaemonSet {metadata.name} has no node to run on.")
    for name in chosen:
        here = NodeSelectorTerm(match_fields=(Requirement(key="metadata.name", operator="In", values=(name,)),))
        required = NodeAffinity(required=NodeSelector(node_selector_terms=(here,)))
        affinity = replace(spec.affinity or Affinity(), node_affinity=required)
        made = maker.owned(f"{metadata.name}-{name}", metadata, "DaemonSet", template)
        yield maker.pod(made, made.owner_references, replace(spec, affinity=affinity))


# --- operators --------------------------------------------------------------------------------------------------------


def _job_set(maker: Maker, metadata: Metadata, found: Custom) -> Iterator[KubeObject]:
    maker.let_go(found.kind, metadata, suspended=at(found.spec, "suspend") is True)
    for part in _entries(found.spec, "replicatedJobs"):
        job = _typed(at(part, "template", "spec") or {}, JobSpec, "replicatedJobs")
        replicas = _count(part, "replicas")
        for number in range(1 if replicas is None else replicas):
            name = f"{metadata.name}-{text(part, 'name') or 'job'}-{number}"
            owned = maker.owned(name, metadata, "JobSet", job.template)
            yield from maker.job(
                owned, replace(job, suspend=False), **{"jobset.sigs.k8s.io/jobset-name": metadata.name}
            )


def _training_job(maker: Maker, metadata: Metadata, found: Custom) -> Iterator[KubeObject]:
    maker.let_go(found.kind, metadata, suspended=at(found.spec, "runPolicy", "suspend") is True)
    roles = [
        (str(role), part)
        for field in sorted(found.spec)
        if field.endswith("ReplicaSpecs") and isinstance(found.spec[field], Mapping)
        for role, part in sorted(found.spec[field].items())
        if isinstance(part, Mapping)
    ]
    if not roles:
        raise CannotMakeError(f"{found.kind} {metadata.name} names no replicas that are known here")
    for role, part in roles:
        template = _typed(part.get("template") or {}, PodTemplate, role)
        replicas = _count(part, "replicas")
        marks = {"training.kubeflow.org/job-name": metadata.name}
        stem = f"{metadata.name}-{role.lower()}"
        yield from maker.template(metadata, found.kind, 1 if replicas is None else replicas, template, stem, **marks)


def _train_job(maker: Maker, metadata: Metadata, found: Custom) -> Iterator[KubeObject]:
    """A JobSet as its runtime says, with the nodes and units that the TrainJob asks for."""
    maker.let_go(found.kind, metadata, suspended=at(found.spec, "suspend") is True)
    kind, name = text(found.spec, "runtimeRef", "kind") or RUNTIMES[1], text(found.spec, "runtimeRef", "name")
    runtime = maker.runtime(kind, metadata.namespace, name)
    if runtime is None:
        raise CannotMakeError(
            f"TrainJob {metadata.name} is made as {kind} {name} says, which is not in the input: put it into the file"
        )
    nodes = _count(found.spec, "trainer", "numNodes") or _count(runtime.spec, "mlPolicy", "numNodes") or 1
    asks = at(found.spec, "trainer", "resourcesPerNode")
    jobs = [_trained(part, nodes, asks) for part in _entries(runtime.spec, "template", "spec", "replicatedJobs")]
    job_set = Custom(
        api_version="jobset.x-k8s.io/v1alpha2",
        kind="JobSet",
        metadata=maker.owned(metadata.name, metadata, found.kind, PodTemplate()),
        spec={"replicatedJobs": jobs},
    )
    yield job_set
    yield from _job_set(maker, job_set.metadata, job_set)


def _trained(part: Mapping[str, Any], nodes: int, asks: object) -> dict[str, Any]:
    """The replicated job; that of the training nodes with so many pods, each asking for that."""
    template = at(part, "template") or {}
    step = at(template, "metadata", "labels", "trainer.kubeflow.org/trainjob-ancestor-step")
    if step != "trainer" and text(part, "name") != "node":
        return dict(part)
    job = dict(at(template, "spec") or {})
    pod = dict(at(job, "template") or {})
    spec = dict(at(pod, "spec") or {})
    if isinstance(asks, Mapping):
        spec["containers"] = [
            {**one, "resources": asks}
            if text(one, "name") in {"node", "trainer"} or len(_entries(spec, "containers")) == 1
            else one
            for one in _entries(spec, "containers")
        ]
    job |= {"parallelism": nodes, "completions": nodes, "template": {**pod, "spec": spec}}
    return {**part, "template": {**template, "spec": job}}


def _ray_cluster(maker: Maker, metadata: Metadata, found: Custom) -> Iterator[KubeObject]:
    maker.let_go(found.kind, metadata, suspended=at(found.spec, "suspend") is True)
    marks = {"ray.io/cluster": metadata.name}
    head = _typed(at(found.spec, "headGroupSpec", "template") or {}, PodTemplate, "headGroupSpec")
    yield from maker.template(metadata, found.kind, 1, head, f"{metadata.name}-head", **marks)
    for group in _entries(found.spec, "workerGroupSpecs"):
        template = _typed(at(group, "template") or {}, PodTemplate, "workerGroupSpecs")
        replicas = _count(group, "replicas")
        least = _count(group, "minReplicas") or 0
        many = (least if replicas is None else max(least, replicas)) * (_count(group, "numOfHosts") or 1)
        if at(group, "suspend") is not True:
            stem = f"{metadata.name}-{text(group, 'groupName') or 'worker'}"
            yield from maker.template(metadata, found.kind, many, template, stem, **marks)


def _ray_job(maker: Maker, metadata: Metadata, found: Custom) -> Iterator[KubeObject]:
    """Its cluster, which ends with it. The pod that hands the job in runs beside it and is left aside."""
    maker.let_go(found.kind, metadata, suspended=at(found.spec, "suspend") is True)
    inner = at(found.spec, "rayClusterSpec")
    if not isinstance(inner, Mapping):
        raise CannotMakeError(f"RayJob {metadata.name} runs on a cluster that is there already: no pods come of it")
    maker.note(f"The pod that submits RayJob {metadata.name} to its cluster is left aside.")
    cluster = Custom(
        api_version=found.api_version,
        kind="RayCluster",
        metadata=maker.owned(metadata.name, metadata, found.kind, PodTemplate()),
        spec=inner,
    )
    yield cluster
    yield from _ray_cluster(maker, cluster.metadata, cluster)


def _leader_worker_set(maker: Maker, metadata: Metadata, found: Custom) -> Iterator[KubeObject]:
    groups, size = _count(found.spec, "replicas"), _count(found.spec, "leaderWorkerTemplate", "size")
    worker = _typed(at(found.spec, "leaderWorkerTemplate", "workerTemplate") or {}, PodTemplate, "workerTemplate")
    leader = at(found.spec, "leaderWorkerTemplate", "leaderTemplate")
    first = worker if leader is None else _typed(leader, PodTemplate, "leaderTemplate")
    for number in range(1 if groups is None else groups):
        marks = {
            "leaderworkerset.sigs.k8s.io/name": metadata.name,
            "leaderworkerset.sigs.k8s.io/group-index": str(number),
        }
        stem = f"{metadata.name}-{number}"
        yield from maker.template(metadata, found.kind, 1, first, f"{stem}-leader", **marks)
        yield from maker.template(metadata, found.kind, (1 if size is None else size) - 1, worker, stem, **marks)


def _count(thing: object, *path: str) -> int | None:
    return whole(at(thing, *path))


def _entries(thing: object, *path: str) -> list[Mapping[str, Any]]:
    return [one for one in parts(thing, *path) if isinstance(one, Mapping)]


def _typed(value: object, kind: type[Read], where: str) -> Read:
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise CannotMakeError(f"{where}: {error}") from None


OPERATORS: Mapping[str, Callable[[Maker, Metadata, Custom], Iterator[KubeObject]]] = {
    "JobSet": _job_set,
    "TrainJob": _train_job,
    "RayCluster": _ray_cluster,
    "RayJob": _ray_job,
    "LeaderWorkerSet": _leader_worker_set,
    **dict.fromkeys(sorted(TRAINING_KINDS), _training_job),
}
"""Kinds of operators whose pods are made here."""
