"""Small Kubernetes objects for tables: only what a case is about is said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from analyzer.model.events import ActorGone, ActorObserved, Event, ExcuseKind, Remarked, ResourceObserved
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.objects import (
    Custom,
    Deployment,
    Job,
    KubeObject,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    ResourceQuota,
    StatefulSet,
)
from analyzer.sources.kubernetes.objects import Event as KubeEvent
from analyzer.sources.kubernetes.observations import Observation, Seen

START = "2026-01-02T03:00:00Z"
START_NS = 1_767_322_800 * 10**9
MINUTE_NS = 60 * 10**9
NO_ROOM = (
    "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. "
    "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
)

KINDS: dict[str, type[KubeObject]] = {
    "Namespace": Namespace,
    "Node": Node,
    "Pod": Pod,
    "Job": Job,
    "Deployment": Deployment,
    "ReplicaSet": ReplicaSet,
    "StatefulSet": StatefulSet,
    "ResourceQuota": ResourceQuota,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "PersistentVolume": PersistentVolume,
    "Event": KubeEvent,
}


def time(after_s: int) -> str:
    """So many seconds after the start of the story."""
    return f"2026-01-02T03:{after_s // 60:02d}:{after_s % 60:02d}Z"


def read(kind: str, fields: Mapping[str, Any]) -> KubeObject:
    """The object as the reading half would hand it over."""
    known = KINDS.get(kind)
    if known is None:
        return msgspec.convert({"kind": kind, **fields}, Custom)
    return msgspec.convert({"kind": kind, **fields}, known)


def meta(name: str, namespace: str = "team", *, owner: str = "", uid: str = "", **more: Any) -> dict[str, Any]:
    """Metadata; `owner` is `Kind/name`, its uid the same text."""
    made: dict[str, Any] = {"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": START, **more}
    if owner:
        kind, _, owner_name = owner.partition("/")
        made["ownerReferences"] = [{"kind": kind, "name": owner_name, "uid": owner, "controller": True}]
    return made


def node(name: str, *, gpu: int = 8, labels: Mapping[str, str] | None = None, **spec: Any) -> KubeObject:
    allocatable = {"nvidia.com/gpu": str(gpu), "cpu": "32", "memory": "256Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": START}
    return read(
        "Node",
        {
            "metadata": {"name": name, "labels": labels or {}},
            "spec": spec,
            "status": {"allocatable": allocatable, "conditions": [ready]},
        },
    )


def pod(
    name: str,
    *,
    on: str = "",
    gpu: int = 8,
    says: str = "",
    phase: str = "",
    ready: bool = True,
    restart: str = "Never",
    claims: Iterable[str] = (),
    spec: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> KubeObject:
    """A pod: bound with `on`, refused by the scheduler with `says`, else not tried yet."""
    conditions: list[dict[str, str]] = []
    if says:
        conditions.append(
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": says,
                "lastTransitionTime": START,
            }
        )
    if on:
        conditions.append({"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": START})
    resources = {"requests": {"cpu": "4", "nvidia.com/gpu": str(gpu)}} if gpu else {"requests": {"cpu": "4"}}
    made: dict[str, Any] = {
        "containers": [{"name": "main", "resources": resources}],
        "restartPolicy": restart,
        "volumes": [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims],
        **(spec or {}),
    }
    if on:
        made["nodeName"] = on
    metadata.setdefault("uid", f"uid-{name}")
    return read(
        "Pod",
        {
            "metadata": meta(name, **metadata),
            "spec": made,
            "status": {
                "phase": phase or ("Running" if on else "Pending"),
                "conditions": conditions,
                "startTime": START if on else None,
                **(status or {}),
            },
        },
    )


NODES = (node("n-0"), node("n-1"))
EACH = (("millicpu", 4000), ("nvidia.com/gpu", 8), ("pods", 1))


def job(name: str = "a", *, pods: int = 1, annotations: dict[str, str] | None = None, **spec: Any) -> KubeObject:
    container = {"name": "m", "resources": {"requests": {"nvidia.com/gpu": "8"}}, **spec.pop("container", {})}
    template = {"metadata": {"annotations": annotations or {}}, "spec": {"containers": [container]}}
    return read(
        "Job",
        {
            "metadata": meta(name, uid=f"Job/{name}"),
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "completionMode": "Indexed",
                "template": template,
                **spec,
            },
            "status": {"startTime": time(0)},
        },
    )


def event(reason: str, name: str = "a", last_s: int = 300, message: str = "x", kind: str = "Pod") -> KubeObject:
    return read(
        "Event",
        {
            "metadata": meta(f"{name}.{reason}"),
            "reason": reason,
            "message": message,
            "involvedObject": {"kind": kind, "name": name, "namespace": "team"},
            "firstTimestamp": time(0),
            "lastTimestamp": time(last_s),
        },
    )


FULL = (pod("b", on="n-0"), pod("c", on="n-1"))


def seen(things: Iterable[KubeObject | Observation], at_ns: int = START_NS) -> list[Observation]:
    """Objects as observations, cited one after the other; observations as they are."""
    return [
        Seen(at_ns, thing, False, (0, number)) if isinstance(thing, KubeObject) else thing  # noqa: FBT003 - not gone
        for number, thing in enumerate(things)
    ]


class World:
    """What a reader of the events knows: the last statement about each actor, resource and remark."""

    def __init__(self) -> None:
        self.actors: dict[str, ActorObserved] = {}
        self.units: dict[str, int] = {}
        self.remarks: dict[tuple[str, str], str] = {}

    def take(self, events: Iterable[Event]) -> "World":
        for event in events:
            match event:
                case ActorObserved():
                    self.actors[event.actor] = event
                case ActorGone():
                    del self.actors[event.actor]
                case ResourceObserved():
                    self.units[event.resource] = event.units
                case Remarked():
                    if event.text:
                        self.remarks[event.kind, event.subject] = event.text
                    else:
                        del self.remarks[event.kind, event.subject]
                case _:
                    raise AssertionError(event)
        return self


def world(*things: KubeObject | Observation, at_s: int = 600) -> World:
    """What is stated of these objects, so many seconds after the start of the story."""
    cluster = Cluster()
    for observation in seen(things):
        cluster.apply(observation)
    return World().take(cluster.restate(START_NS + at_s * 10**9))


def excuse_of(told: World, actor: str) -> ExcuseKind | None:
    wait = told.actors[actor].wait
    assert wait is not None
    return None if wait.excuse is None else wait.excuse.kind


def known_in_the_end(cuts: Sequence[Sequence[Observation]], step_s: int) -> object:
    """What a reader knows, citations and times aside, who is told of each cut by one restatement.

    The cuts are `step_s` apart, and the last is always ten minutes after the start of the story.
    """
    end_ns = START_NS + 600 * 10**9
    cluster, reader = Cluster(), World()
    for number, part in enumerate(cuts):
        for observation in part:
            cluster.apply(observation)
        reader.take(cluster.restate(end_ns - (len(cuts) - 1 - number) * step_s * 10**9))
    actors = {name: replace(actor, at_ns=0, citations=()) for name, actor in reader.actors.items()}
    return actors, {name: units for name, units in reader.units.items() if units}, reader.remarks
