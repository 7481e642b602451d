"""The latest moment that an object itself testifies to: when something about it last changed, or was last confirmed.

An object in a list carries no time of observation. Its newest own time only says that it was not seen before that.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from analyzer.sources.kubernetes.objects import (
    Condition,
    ContainerStatus,
    Custom,
    DaemonSet,
    Deployment,
    Event,
    Job,
    KubeObject,
    Lease,
    Metadata,
    Node,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

_WITH_CONDITIONS = (Deployment, ReplicaSet, ReplicationController, StatefulSet, PersistentVolumeClaim)
_API_LENGTH = len("2026-01-02T03:04:05Z")


def latest_ns(seen: KubeObject) -> int | None:
    """Nanoseconds since 1970 UTC of the object's newest own time; None if it has none.

    A deletion counts from its request: `deletionTimestamp` lies ahead by the grace period. Texts of one form order
    as times do, so only the last is parsed; a fraction of a second may be lost where texts have different lengths.
    """
    if isinstance(seen, Event):
        return parse_ns(seen.last_time)
    if isinstance(seen, Pod):
        return _or_deletion(_of_pod(seen), seen.metadata)
    newest = seen.metadata.creation_timestamp or ""
    for managed in seen.metadata.managed_fields:
        if managed.time and managed.time > newest:
            newest = managed.time
    if isinstance(seen, Node):
        newest = _of_conditions(seen.status.conditions, newest)
        newest = _newest(newest, (taint.time_added for taint in seen.spec.taints))
    elif isinstance(seen, Job):
        newest = _of_conditions(seen.status.conditions, newest)
        newest = _newest(newest, (seen.status.start_time, seen.status.completion_time))
    elif isinstance(seen, Lease):
        newest = _newest(newest, (seen.spec.renew_time,))
    elif isinstance(seen, Custom):
        newest = _newest(newest, _custom_times(seen.status))
    elif isinstance(seen, DaemonSet):
        pass
    elif isinstance(seen, _WITH_CONDITIONS):
        newest = _of_conditions(seen.status.conditions, newest)
    return _or_deletion(newest, seen.metadata)


def pods_span_ns(pods: Sequence[Pod]) -> tuple[int, int] | None:
    """Earliest and latest of the newest own times of these pods; None if they have to be read one by one.

    Where all texts are of the form that the API writes, only two of them are parsed.
    """
    texts: list[str] = []
    times: list[int] = []
    for pod in pods:
        newest = _of_pod(pod)
        if pod.metadata.deletion_timestamp is not None:
            at_ns = _or_deletion(newest, pod.metadata)
            if at_ns is not None:
                times.append(at_ns)
        elif newest:
            texts.append(newest)
    if set(map(len, texts)) != {_API_LENGTH} or "".join(texts)[_API_LENGTH - 1 :: _API_LENGTH].strip("Z"):
        return None
    first_ns, last_ns = parse_ns(min(texts)), parse_ns(max(texts))
    if first_ns is None or last_ns is None:
        return None
    return min((first_ns, *times)), max((last_ns, *times))


def _of_pod(pod: Pod) -> str:
    metadata, status = pod.metadata, pod.status
    newest = metadata.creation_timestamp or ""
    for managed in metadata.managed_fields:
        if managed.time and managed.time > newest:
            newest = managed.time
    for condition in status.conditions:
        changed = condition.last_transition_time
        if changed and changed > newest:
            newest = changed
    if status.start_time and status.start_time > newest:
        newest = status.start_time
    if status.container_statuses:
        newest = _of_containers(status.container_statuses, newest)
    if status.init_container_statuses:
        newest = _of_containers(status.init_container_statuses, newest)
    return newest


def deletion_asked_ns(metadata: Metadata) -> int | None:
    """When somebody asked for the deletion: the grace period before `deletionTimestamp`. None if nobody did."""
    until = parse_ns(metadata.deletion_timestamp)
    return None if until is None else until - (metadata.deletion_grace_period_seconds or 0) * SECOND_NS


def was_removed(metadata: Metadata) -> bool:
    """Whether this is the last version of an object: its deletion was asked for, and nothing holds it up any more.

    Only true of versions from a stream or a request; an object in a list is still there.
    """
    return (
        metadata.deletion_timestamp is not None
        and not metadata.finalizers
        and metadata.deletion_grace_period_seconds == 0
    )


def _or_deletion(newest: str, metadata: Metadata) -> int | None:
    latest, asked = parse_ns(newest), deletion_asked_ns(metadata)
    return latest if asked is None else max(asked, latest or asked)


def _of_containers(statuses: Sequence[ContainerStatus], newest: str) -> str:
    for status in statuses:
        state = status.state
        if state is None:
            continue
        if state.running is not None and state.running.started_at and state.running.started_at > newest:
            newest = state.running.started_at
        elif state.terminated is not None and state.terminated.finished_at and state.terminated.finished_at > newest:
            newest = state.terminated.finished_at
    return newest


def _of_conditions(conditions: Iterable[Condition], newest: str) -> str:
    for condition in conditions:
        newest = _newest(newest, (condition.last_transition_time, condition.last_heartbeat_time))
    return newest


def _custom_times(status: Any) -> Iterable[str | None]:
    conditions = status.get("conditions")
    if isinstance(conditions, list):
        for condition in conditions:
            if isinstance(condition, dict):
                changed = condition.get("lastTransitionTime")
                yield changed if isinstance(changed, str) else None


def _newest(newest: str, others: Iterable[str | None]) -> str:
    for other in others:
        if other and other > newest:
            newest = other
    return newest
