"""Objects that are given to a queue of Kueue, as a hypothesis: the Workload that would be made, and what it gets.

If the quota that it asks for is free, it is admitted at once, as nobody else is asked about: then its pods are there.
If not, it waits for quota, suspended and without pods.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.candidates import HardTaint, NodeFacts, admits, constraints_of
from analyzer.sources.kubernetes.custom_fields import at, parts, text
from analyzer.sources.kubernetes.decoding import kind_of_object
from analyzer.sources.kubernetes.kueue import GROUP, Kueue
from analyzer.sources.kubernetes.kueue_quota import Ask, Group, QueueFacts
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts, workload_of
from analyzer.sources.kubernetes.making import QUEUE_LABEL, Maker
from analyzer.sources.kubernetes.objects import (
    Custom,
    Deployment,
    Job,
    KubeObject,
    Metadata,
    OwnerReference,
    Pod,
    PodSpec,
    Toleration,
)
from analyzer.sources.kubernetes.objects.pod import SchedulingGate

_API = f"{GROUP}/v1beta2"


class _Flavor(Struct, frozen=True):
    """What a flavour adds to the pods that get it."""

    labels: Mapping[str, str]
    tolerations: tuple[Toleration, ...]


def queued(maker: Maker, kueue: Kueue, made: Sequence[KubeObject]) -> list[KubeObject]:
    """The same objects with the Workloads that Kueue would make of them, and only those pods that it would let run.

    A Deployment hands its queue on to its pods, each of which is a Workload for itself.
    """
    top = made[0]
    pods = [one for one in made if isinstance(one, Pod)]
    name = top.metadata.labels.get(QUEUE_LABEL, "")
    if name and not isinstance(top, Deployment | Pod):
        others = [one for one in made if not isinstance(one, Pod)]
        workload, admitted = _workload(maker, kueue, name, top, pods)
        if admitted is None:
            others = [
                replace(one, spec=replace(one.spec, suspend=True)) if isinstance(one, Job) else one for one in others
            ]
        return [*others, workload, *(admitted or ())]
    found: list[KubeObject] = [one for one in made if not isinstance(one, Pod)]
    for pod in pods:
        name = pod.metadata.labels.get(QUEUE_LABEL, "") or top.metadata.labels.get(QUEUE_LABEL, "")
        if not name:
            found.append(pod)
            continue
        workload, admitted = _workload(maker, kueue, name, pod, (pod,))
        found += [workload, *(admitted if admitted is not None else (_gated(pod),))]
        kueue.take(workload, (0, 0), gone=False)
    return found


def _gated(pod: Pod) -> Pod:
    """The pod as Kueue keeps it from the scheduler."""
    gates = (*pod.spec.scheduling_gates, SchedulingGate(f"{GROUP}/admission"))
    waiting = tuple(replace(one, reason="SchedulingGated") for one in pod.status.conditions)
    return replace(pod, spec=replace(pod.spec, scheduling_gates=gates), status=replace(pod.status, conditions=waiting))


def _workload(
    maker: Maker, kueue: Kueue, queue: str, owner: KubeObject, pods: Sequence[Pod]
) -> tuple[Custom, list[Pod] | None]:
    """The Workload; and the pods as they would be let run, None if they are not."""
    about, kind = owner.metadata, kind_of_object(owner)
    sets = _pod_sets(pods)
    spec = {
        "queueName": queue,
        "priority": max((pod.spec.priority or 0 for pod in pods), default=0),
        "podSets": [
            {"name": name, "count": len(members), "template": {"spec": _plain(members[0].spec)}}
            for name, members in sets.items()
        ],
    }
    made = Custom(
        api_version=_API,
        kind="Workload",
        metadata=Metadata(
            name=f"{kind.lower()}-{about.name}-whatif",
            namespace=about.namespace,
            uid=f"whatif/Workload/{about.namespace}/{kind}/{about.name}",
            creation_timestamp=maker.now,
            owner_references=(OwnerReference(kind=kind, name=about.name, uid=about.uid, controller=True),),
        ),
        spec=spec,
        status={"conditions": [_condition(maker.now, "QuotaReserved", "False", "Pending", "")]},
    )
    facts = workload_of(made, (0, 0))
    found, stopped = kueue.queue(facts)
    if found is None or stopped or found.inactive is not None:
        return made, None
    missing = sorted({kind for ask in facts.asks for kind, n in ask.amounts if n and not _covers(found, kind)})
    given = None if missing else _flavors(kueue, found, facts)
    if given is None:
        said = f"resource {missing[0]} unavailable in ClusterQueue" if missing else ""
        status = {"conditions": [_condition(maker.now, "QuotaReserved", "False", "Pending", said)]}
        return replace(made, status=status), None
    assignments = [
        {
            "name": ask.name,
            "count": len(sets[ask.name]),
            "flavors": given[ask.name],
            "resourceUsage": _quantities(ask, given[ask.name]),
        }
        for ask in facts.asks
    ]
    admission = {"clusterQueue": found.name, "podSetAssignments": assignments}
    held = [_condition(maker.now, one, "True", one, "") for one in ("QuotaReserved", "Admitted")]
    admitted = [_with(pod, _flavor(kueue, given[name].values())) for name, members in sets.items() for pod in members]
    return replace(made, status={"conditions": held, "admission": admission}), admitted


def _pod_sets(pods: Sequence[Pod]) -> dict[str, list[Pod]]:
    """Pods of one template together, as the controllers of Kueue make their pod sets."""
    by_spec: list[tuple[PodSpec, list[Pod]]] = []
    for pod in pods:
        alike = next((members for spec, members in by_spec if spec == pod.spec), None)
        if alike is None:
            by_spec.append((pod.spec, [pod]))
        else:
            alike.append(pod)
    if len(by_spec) == 1:
        return {"main": by_spec[0][1]}
    return {f"set-{number}": members for number, (_, members) in enumerate(by_spec)}


def _covers(queue: QueueFacts, kind: str) -> bool:
    """Whether the queue has quota of this resource at all; pods are only counted where it has."""
    return kind == "pods" or any(kind in group.resources for group in queue.groups)


def _flavors(kueue: Kueue, queue: QueueFacts, facts: WorkloadFacts) -> dict[str, dict[str, str]] | None:
    """By pod set, the flavour of each resource: the first that is free for all of a group; None if there is none."""
    free = {resource: units for resource, (units, _) in kueue.tree.capacities().items()}
    for one in kueue.holders():
        holder, _ = kueue.queue(one)
        for granted in one.given if holder is not None else ():
            _take(free, kueue.tree.takes(one.cluster_queue, granted.flavor, granted.resource, granted.units))
    chosen: dict[str, dict[str, str]] = {}
    for ask, part in zip(facts.asks, facts.parts, strict=True):
        mine = chosen[ask.name] = {}
        for group in queue.groups:
            kinds = [(kind, n) for kind, n in ask.amounts if n and kind in group.resources]
            flavor = _first(kueue, queue, group, kinds, part.spec, free) if kinds else ""
            if flavor is None:
                return None
            for kind, n in kinds:
                mine[kind] = flavor
                _take(free, kueue.tree.takes(queue.name, flavor, kind, n))
    return chosen


def _first(
    kueue: Kueue,
    queue: QueueFacts,
    group: Group,
    kinds: Sequence[tuple[str, int]],
    spec: PodSpec,
    free: Mapping[ResourceId, int],
) -> str | None:
    keys = {key for name in group.flavors for key in _labels(_spec(kueue, name))}
    for name in group.flavors:
        if not _suits(kueue, name, spec, keys):
            continue
        takes = [taken for kind, n in kinds for taken in kueue.tree.takes(queue.name, name, kind, n)]
        if all(free.get(resource, 0) >= units for resource, units in takes):
            return name
    return None


def _take(free: dict[ResourceId, int], takes: Iterable[tuple[ResourceId, int]]) -> None:
    for resource, units in takes:
        free[resource] = free.get(resource, 0) - units


# --- flavours ---------------------------------------------------------------------------------------------------------


def _spec(kueue: Kueue, flavor: str) -> object:
    found = kueue.flavors.get(flavor)
    return None if found is None else found.spec


def _labels(about: object) -> dict[str, str]:
    found = at(about, "nodeLabels")
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, Mapping) else {}


def _suits(kueue: Kueue, flavor: str, spec: PodSpec, keys: set[str]) -> bool:
    """Whether pods may have the flavour: by its taints, and by those labels that flavours of the group differ in."""
    about = _spec(kueue, flavor)
    if about is None:
        return True
    taints = tuple(
        HardTaint(text(one, "key"), text(one, "value"), text(one, "effect"))
        for one in parts(about, "nodeTaints")
        if text(one, "effect") in {"NoSchedule", "NoExecute"}
    )
    node = NodeFacts(
        name="",
        labels=_labels(about),
        taints=taints,
        cordoned=False,
        cordoned_since_ns=0,
        away_since_ns=None,
        units=(),
    )
    selector = {key: value for key, value in spec.node_selector.items() if key in keys}
    tolerations = (*spec.tolerations, *_flavor(kueue, (flavor,)).tolerations)
    asked = replace(spec, node_selector=selector, affinity=None, tolerations=tolerations)
    return admits(constraints_of(asked), node)


def _flavor(kueue: Kueue, names: Iterable[str]) -> _Flavor:
    """What these flavours add together."""
    labels: dict[str, str] = {}
    tolerations: list[Toleration] = []
    for name in dict.fromkeys(names):
        about = _spec(kueue, name)
        labels |= _labels(about)
        tolerations += [
            Toleration(
                key=text(one, "key"),
                operator=text(one, "operator"),
                value=text(one, "value"),
                effect=text(one, "effect"),
            )
            for one in parts(about, "tolerations")
        ]
    return _Flavor(labels, tuple(tolerations))


def _with(pod: Pod, flavor: _Flavor) -> Pod:
    spec = pod.spec
    selector = {**spec.node_selector, **flavor.labels}
    return replace(
        pod, spec=replace(spec, node_selector=selector, tolerations=(*spec.tolerations, *flavor.tolerations))
    )


# --- as the API has it ------------------------------------------------------------------------------------------------


def _quantities(ask: Ask, flavors: Mapping[str, str]) -> dict[str, str]:
    return {kind: f"{n}m" if kind == "cpu" else str(n) for kind, n in ask.amounts if kind in flavors}


def _plain(spec: PodSpec) -> Any:
    """The spec as it stands in an object."""
    return msgspec.to_builtins(spec, enc_hook=dict)


def _condition(now: str, kind: str, status: str, reason: str, message: str) -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
