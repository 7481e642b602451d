"""Pods as `kubectl describe pods` shows them.

It leaves out affinity, gates, restart policy, overhead and deadlines. A pod read from it has more places to go to and
nothing that makes it end by a date, which keeps us silent; and a pod that the scheduler has not placed is taken to be
refused, as it is unless it is gated: Kueue's pods are taken to be gated unless an event says that there was no place.
"""

import re
from collections.abc import Callable, Sequence

from analyzer.sources.kubernetes.describe_nodes import pairs
from analyzer.sources.kubernetes.describe_text import Block, Field, age_s, ago, date_text, fields_of, indent_of, rows
from analyzer.sources.kubernetes.described_events import events_of
from analyzer.sources.kubernetes.objects import Event, Metadata, OwnerReference, Pod
from analyzer.sources.kubernetes.objects.metadata import Condition, LocalReference
from analyzer.sources.kubernetes.objects.pod import (
    ClaimVolume,
    Container,
    ContainerPort,
    ContainerState,
    ContainerStatus,
    EnvVar,
    PodSpec,
    PodStatus,
    Resources,
    Running,
    SchedulingGate,
    SchedulingGroup,
    Terminated,
    Toleration,
    Volume,
    WaitingContainer,
)

OwnerUid = Callable[[str, str, str], str]
"""The uid of a controller by kind, namespace and name, empty if nothing else in the input tells it."""

_JOB_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
_KUEUE = "kueue.x-k8s.io/"
_GATED = "scheduling gates"
_TERMINATING = re.compile(r"Terminating(?: \(lasts (\S+)\))?")
_TOLERATION = re.compile(r"(?:(?!op=)([^=:\s]+)(?:=([^:\s]*))?)?(?::(\w+))?(?: ?op=(\w+))?(?: for (\d+)s)?")
_PHASES = frozenset({"Pending", "Running", "Succeeded", "Failed", "Unknown"})
_PORT = re.compile(r"(\d+)/(\w+)")


def is_pod(block: Block) -> bool:
    """Whether the block is a pod, and whole as far as its requests."""
    return {"Namespace", "Node", "Status", "Containers"} <= block.fields.keys()


def pod_of(block: Block, now_ns: int | None, owner_uid: OwnerUid) -> tuple[Pod, list[Event]]:
    """The pod and its events. Ages count back from `now_ns`."""
    namespace = block.text("Namespace")
    about = LocalReference(kind="Pod", namespace=namespace, name=block.name)
    events = events_of(block.below("Events"), about, now_ns)
    node = block.text("Node").partition("/")[0]
    labels = pairs(block, "Labels", "=")
    started = date_text(block.text("Start Time"))
    first_said = min((event.first_timestamp for event in events if event.first_timestamp), default=None)
    leaving = _TERMINATING.match(block.text("Status"))
    containers, statuses = _containers(block, "Containers")
    inits, init_statuses = _containers(block, "Init Containers")
    gated = not node and _is_gated(labels, events)
    pod = Pod(
        metadata=Metadata(
            name=block.name,
            namespace=namespace,
            creation_timestamp=started or first_said or ago(now_ns, 0),
            deletion_timestamp=ago(now_ns, age_s(leaving[1] or "") or 0) if leaving is not None else None,
            labels=labels,
            annotations=pairs(block, "Annotations", ": "),
            owner_references=_owners(block, namespace, labels, owner_uid),
        ),
        spec=PodSpec(
            node_name=node,
            containers=containers,
            init_containers=inits,
            node_selector=pairs(block, "Node-Selectors", "="),
            tolerations=tuple(_toleration(text) for text in block.texts("Tolerations")),
            priority=int(block.text("Priority")) if re.fullmatch(r"-?\d{1,10}", block.text("Priority")) else None,
            priority_class_name=block.text("Priority Class Name"),
            scheduling_gates=(SchedulingGate("not shown"),) if gated else (),
            scheduling_group=_group(block),
            volumes=tuple(_volume(field) for field in _entries(block, "Volumes")),
        ),
        status=PodStatus(
            phase=_phase(block, node, statuses),
            reason=block.text("Reason"),
            message=block.text("Message"),
            conditions=tuple(_conditions(block, events, gated=gated)),
            container_statuses=statuses,
            init_container_statuses=init_statuses,
            nominated_node_name=block.text("NominatedNodeName"),
            start_time=started,
        ),
    )
    return pod, events


def _owners(block: Block, namespace: str, labels: dict[str, str], owner_uid: OwnerUid) -> tuple[OwnerReference, ...]:
    kind, sign, name = block.text("Controlled By").partition("/")
    if not sign:
        return ()
    by_label = next((labels[label] for label in _JOB_UID_LABELS if label in labels), "") if kind == "Job" else ""
    uid = by_label or owner_uid(kind, namespace, name) or f"{namespace}/{kind}/{name}"
    return (OwnerReference(kind=kind, name=name, uid=uid, controller=True),)


def _is_gated(labels: dict[str, str], events: Sequence[Event]) -> bool:
    if any(_GATED in event.message for event in events):
        return True
    refused = any(event.reason == "FailedScheduling" for event in events)
    return not refused and any(label.startswith(_KUEUE) for label in labels)


def _conditions(block: Block, events: Sequence[Event], *, gated: bool) -> list[Condition]:
    said = [event for event in events if event.reason == "FailedScheduling"]
    newest = max(said, key=lambda event: event.last_timestamp or "", default=None)
    out: list[Condition] = []
    for row in rows(block.below("Conditions")):
        kind, status = row.get("Type", ""), row.get("Status", "")
        if kind == "PodScheduled" and status == "False" and not gated:
            message = newest.message if newest is not None else ""
            out.append(Condition(type=kind, status=status, reason="Unschedulable", message=message))
        else:
            out.append(Condition(type=kind, status=status))
    return out


def _phase(block: Block, node: str, statuses: Sequence[ContainerStatus]) -> str:
    """As shown; of a pod that is being deleted, what its containers tell."""
    status = block.text("Status")
    if status in _PHASES:
        return status
    states = [one.state for one in statuses if one.state is not None]
    if states and all(state.terminated is not None for state in states):
        failed = any(state.terminated is not None and state.terminated.exit_code for state in states)
        return "Failed" if failed else "Succeeded"
    return "Running" if node and any(state.running is not None for state in states) else "Pending"


def _group(block: Block) -> SchedulingGroup | None:
    below = block.below("SchedulingGroup")
    names = [field.value for field in fields_of(below, indent_of(below)) if field.key == "PodGroupName"]
    return SchedulingGroup(pod_group_name=names[0]) if names else None


def _entries(block: Block, key: str) -> list[Field]:
    below = block.below(key)
    return fields_of(below, indent_of(below))


def _containers(block: Block, key: str) -> tuple[tuple[Container, ...], tuple[ContainerStatus, ...]]:
    containers: list[Container] = []
    statuses: list[ContainerStatus] = []
    for entry in _entries(block, key):
        fields = {field.key: field for field in fields_of(entry.below, indent_of(entry.below))}
        containers.append(
            Container(
                name=entry.key,
                image=_value(fields, "Image"),
                command=tuple(_texts(fields, "Command")),
                args=tuple(_texts(fields, "Args")),
                env=tuple(EnvVar(name=field.key) for field in _below(fields, "Environment")),
                ports=_ports(fields),
                resources=Resources(requests=_amounts(fields, "Requests"), limits=_amounts(fields, "Limits")),
                restart_policy=_value(fields, "Restart Policy"),
            )
        )
        if "State" in fields:
            statuses.append(
                ContainerStatus(name=entry.key, ready=_value(fields, "Ready") == "True", state=_state(fields["State"]))
            )
    return tuple(containers), tuple(statuses)


def _state(field: Field) -> ContainerState:
    more = {one.key: one.value for one in fields_of(field.below, indent_of(field.below))}
    started, finished = date_text(more.get("Started", "")), date_text(more.get("Finished", ""))
    match field.value:
        case "Running":
            return ContainerState(running=Running(started_at=started))
        case "Terminated":
            code = more.get("Exit Code", "")
            return ContainerState(
                terminated=Terminated(
                    exit_code=int(code) if re.fullmatch(r"-?\d{1,9}", code) else 0,
                    reason=more.get("Reason", ""),
                    started_at=started,
                    finished_at=finished,
                )
            )
        case _:
            return ContainerState(waiting=WaitingContainer(reason=more.get("Reason", "")))


def _ports(fields: dict[str, Field]) -> tuple[ContainerPort, ...]:
    field = fields.get("Host Port") or fields.get("Host Ports")
    found = _PORT.findall(field.value) if field is not None else []
    return tuple(
        ContainerPort(host_port=int(port), protocol=protocol) for port, protocol in found if 0 < int(port) < 65_536
    )


def _volume(field: Field) -> Volume:
    more = {one.key: one.value for one in fields_of(field.below, indent_of(field.below))}
    kind = more.get("Type", "")
    if kind.startswith("PersistentVolumeClaim") and more.get("ClaimName"):
        claim = ClaimVolume(claim_name=more["ClaimName"], read_only=more.get("ReadOnly") == "true")
        return Volume(name=field.key, persistent_volume_claim=claim)
    return Volume(name=field.key, ephemeral={} if kind.startswith("EphemeralVolume") else None)


def _toleration(text: str) -> Toleration:
    found = _TOLERATION.fullmatch(text)
    if found is None:
        return Toleration(operator="Exists")  # not understood: it puts up with everything, so it has more places
    key, value, effect, operator, seconds = found.groups(default="")
    return Toleration(
        key=key,
        operator=operator or "Equal",
        value=value,
        effect=effect,
        toleration_seconds=int(seconds[:9]) if seconds else None,
    )


def _value(fields: dict[str, Field], key: str) -> str:
    return fields[key].value if key in fields and fields[key].value != "<none>" else ""


def _texts(fields: dict[str, Field], key: str) -> list[str]:
    return fields[key].texts if key in fields else []


def _below(fields: dict[str, Field], key: str) -> list[Field]:
    return fields_of(fields[key].below, indent_of(fields[key].below)) if key in fields else []


def _amounts(fields: dict[str, Field], key: str) -> dict[str, str]:
    return {field.key: field.value for field in _below(fields, key) if field.value}
