"""Tables of `kubectl get` that people paste: pods, events and nodes. Weak evidence, since little is in them.

A pod in a table has a place and a state, but no requests, so it holds nothing and can lack nothing. A node in a table
says nothing of what it can give; it is known for what it is and not used.
"""

import re
from collections.abc import Iterator

from analyzer.sources.kubernetes.decoding import Buffer
from analyzer.sources.kubernetes.describe_text import age_s, ago, rows
from analyzer.sources.kubernetes.described_events import event_in_row
from analyzer.sources.kubernetes.objects import KubeObject, Metadata, Pod
from analyzer.sources.kubernetes.objects.pod import PodSpec, PodStatus, SchedulingGate
from analyzer.sources.kubernetes.reading import Listing, Reading

_PODS = r"(?:NAMESPACE {2,})?NAME {2,}READY {2,}STATUS {2,}RESTARTS {2,}AGE\b"
_EVENTS = r"(?:NAMESPACE {2,})?LAST SEEN {2,}(?:TYPE {2,})?REASON {2,}OBJECT\b"
_NODES = r"NAME {2,}STATUS {2,}ROLES {2,}AGE {2,}VERSION\b"
_HEADER = re.compile(rf"[ \t]*(?:(?P<pods>{_PODS})|(?P<events>{_EVENTS})|(?P<nodes>{_NODES}))")
_HEADER_IN_BYTES = re.compile(rf"^[ \t]*(?:{_PODS}|{_EVENTS}|{_NODES})".encode(), re.MULTILINE)
_FINISHED = {"Completed": "Succeeded", "Succeeded": "Succeeded", "Failed": "Failed", "Evicted": "Failed"}
_NONE = "<none>"


def is_table(head: bytes) -> bool:
    """Whether a table of pods, events or nodes stands in these first bytes."""
    return _HEADER_IN_BYTES.search(head) is not None


def read_table(document: int, content: Buffer, now_ns: int | None) -> Reading:
    """All tables of the document. Ages count back from `now_ns`; without it they say nothing."""
    reading = Reading(document=document, kind="kubernetes table")
    objects: list[KubeObject] = []
    records: list[int] = []
    kinds: list[str] = []
    for kind, line, row in _rows(content):
        reading.records += 1
        if kind not in kinds:
            kinds.append(kind)
        found: KubeObject | None = None
        if kind == "pods":
            found = _pod(row, now_ns)
        elif kind == "events":
            found = event_in_row(row, now_ns, line)
        if found is None:
            reading.skipped += 1
        else:
            objects.append(found)
            records.append(line)
    if kinds:
        reading.kind = f"kubernetes table of {' and '.join(kinds)}"
    if objects:
        reading.listings.append(Listing(objects=objects, records=records, whole=False))
    return reading


def _rows(content: Buffer) -> Iterator[tuple[str, int, dict[str, str]]]:
    """(which table, the line from 0, the row by column) of every row. A table ends at an empty line."""
    kind, header = "", ""
    for number, line in enumerate(bytes(content).decode("utf-8", "replace").replace("\r", "").split("\n")):
        found = _HEADER.match(line)
        if found is not None:
            kind, header = str(found.lastgroup), line
        elif not line.strip():
            kind = ""
        elif kind:
            yield from ((kind, number, row) for row in rows((header, line)))


def _pod(row: dict[str, str], now_ns: int | None) -> Pod | None:
    name, status, node = row.get("NAME", "").removeprefix("pod/"), row.get("STATUS", ""), row.get("NODE", _NONE)
    if not name or not status or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        return None
    place = "" if node == _NONE else node
    phase = _FINISHED.get(status) or ("Running" if status == "Running" else "Pending")
    created = ago(now_ns, age_s(row.get("AGE", "")))
    return Pod(
        metadata=Metadata(name=name, namespace=row.get("NAMESPACE") or "default", creation_timestamp=created),
        spec=PodSpec(
            node_name=place,
            scheduling_gates=(SchedulingGate("not shown"),) if status == "SchedulingGated" else (),
        ),
        status=PodStatus(
            phase=phase,
            nominated_node_name=row.get("NOMINATED NODE", _NONE).replace(_NONE, ""),
            start_time=created if place else None,
        ),
    )
