"""Events in the tables that people paste: under a described object, or from `kubectl get events`."""

import re
from collections.abc import Sequence

from analyzer.sources.kubernetes.describe_text import age_s, ago, rows
from analyzer.sources.kubernetes.objects import Event, Metadata
from analyzer.sources.kubernetes.objects.event import EventSource
from analyzer.sources.kubernetes.objects.metadata import LocalReference

_REPEATED = re.compile(r"(\S+) \(x(\d+) over (\S+)\)")
_KINDS = {
    name.lower(): name
    for name in (
        "Pod", "Node", "Job", "ReplicaSet", "StatefulSet", "DaemonSet", "Deployment", "CronJob", "PodGroup",
        "PersistentVolumeClaim", "ReplicationController", "Workload", "ResourceClaim",
    )
}  # fmt: skip


def events_of(table: Sequence[str], about: LocalReference, now_ns: int | None) -> list[Event]:
    """The events under a described object. Their ages count back from `now_ns`; without it they have no time."""
    return [
        _event(about, row.get("Age", ""), now_ns, row, (row.get("Message", ""), row.get("From", "")), number)
        for number, row in enumerate({key.title(): text for key, text in row.items()} for row in rows(table))
        if row.get("Reason")
    ]


def event_in_row(row: dict[str, str], now_ns: int | None, number: int) -> Event | None:
    """One row of `kubectl get events`; None if it does not say what it is about."""
    kind, sign, name = row.get("OBJECT", "").partition("/")
    if not sign or not row.get("REASON"):
        return None
    about = LocalReference(kind=_KINDS.get(kind, kind), namespace=row.get("NAMESPACE") or "default", name=name)
    named = {"Type": row.get("TYPE", ""), "Reason": row["REASON"]}
    return _event(
        about, row.get("LAST SEEN", ""), now_ns, named, (row.get("MESSAGE", ""), row.get("SOURCE", "")), number
    )


def _event(
    about: LocalReference,
    age: str,
    now_ns: int | None,
    row: dict[str, str],
    said: tuple[str, str],
    number: int,
) -> Event:
    repeated = _REPEATED.match(age)
    last, count, first = (repeated[1], int(repeated[2][:6]), repeated[3]) if repeated is not None else (age, 1, age)
    return Event(
        metadata=Metadata(name=f"{about.kind}.{about.name}.{number}", namespace=about.namespace or "default"),
        type=row.get("Type", ""),
        reason=row.get("Reason", ""),
        core_message=said[0],
        core_regarding=about,
        core_count=count,
        core_source=EventSource(component=said[1]),
        first_timestamp=ago(now_ns, age_s(first)),
        last_timestamp=ago(now_ns, age_s(last)),
    )
