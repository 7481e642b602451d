"""What people paste instead of objects: described objects and tables. It fills gaps, and never speaks against objects.

A described object is used where no object of its kind and namespace was handed over as JSON, YAML, watch or audit
log; a row of a table, where there is no described one either. Their ages count back from the end of the recording.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeGuard

import msgspec

from analyzer.sources.kubernetes.decoding import Buffer, kind_of_object
from analyzer.sources.kubernetes.describe_nodes import is_node, node_of
from analyzer.sources.kubernetes.describe_pods import OwnerUid, is_pod, pod_of
from analyzer.sources.kubernetes.describe_text import blocks, date_text, fields_of, indent_of
from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.long_list import LongList
from analyzer.sources.kubernetes.objects import Event, KubeObject, Node, Pod
from analyzer.sources.kubernetes.reading import Listing, Reading
from analyzer.sources.kubernetes.spans import Spans
from analyzer.sources.kubernetes.tables import read_table
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.recording import Document

WEAK = (Form.DESCRIBED, Form.TABLE)
"""The forms, the one that says more first."""

Place = tuple[str, str]

_NUMBERED = re.compile(r"-\d+$")
_EVENTS_KEPT_NS = 3600 * SECOND_NS
_QUOTA = "exceeded quota"


def read_weak(
    documents: Sequence[Document], strong: Sequence[Reading], long_lists: Sequence[LongList]
) -> list[Reading]:
    """Readings of documents of weak forms, with what the others leave open.

    Read more than once: first to hear what time it is at least, then to see whether that is too early, then in truth.
    """
    owner_uid = _owners(strong)
    first = [_read(document, None, owner_uid) for document in documents]
    # Complaints about clocks belong to the readings that stay, so copies are asked.
    copies = [msgspec.structs.replace(one, complaints=list(one.complaints)) for one in (*strong, *first)]
    now_ns = Spans(copies, long_lists).as_of(copies)
    if now_ns is not None:
        now_ns += _too_early_ns([_read(document, now_ns, owner_uid) for document in documents], strong)
    known = set(_places(strong))
    outlines = [one.outline() for one in long_lists]
    known |= {("Pod", namespace) for outline in outlines for namespace in outline.namespaces}
    out: list[Reading] = []
    for form in WEAK:
        readings = [_read(one, now_ns, owner_uid) for one in documents if form_of(one.content) is form]
        found = set(_places(readings))
        if form is Form.TABLE:
            _keep_harmless(readings, [*strong, *out])
        for reading in readings:
            reading.listings = [kept for listing in reading.listings if (kept := _without(listing, known)) is not None]
        known |= {place for place in found if place[0] != "Event"}  # those of a pod are not all of its namespace
        out.extend(readings)
    if _lacks_nodes((*strong, *out)):
        for reading in out:
            reading.listings = [_doubted(listing) for listing in reading.listings]
    return out


def _too_early_ns(weak: Sequence[Reading], strong: Sequence[Reading]) -> int:
    """By how much a time counted back from now lies before the creation of what it is about: so much later is now.

    Pods that are numbered may have had predecessors of the same name, so nothing follows from what was said of them.
    """
    created: dict[tuple[str, str, str], int] = {}
    for found in _objects((*strong, *weak)):
        created_ns = parse_ns(found.metadata.creation_timestamp)
        if created_ns is not None and not isinstance(found, Event) and not _NUMBERED.search(found.metadata.name):
            created.setdefault((kind_of_object(found), found.metadata.namespace, found.metadata.name), created_ns)
    early_ns = 0
    for found in _objects(weak):
        if not isinstance(found, Event):
            continue
        about, first_ns = found.regarding, parse_ns(found.first_time)
        namespace = "" if about.kind == "Node" else about.namespace
        created_ns = created.get((about.kind, namespace, about.name))
        if created_ns is not None and first_ns is not None and created_ns - first_ns <= _EVENTS_KEPT_NS:
            early_ns = max(early_ns, created_ns - first_ns)
    return early_ns


def _lacks_nodes(readings: Sequence[Reading]) -> bool:
    """Whether a pod is on a node that is not in the input, as where somebody pasted one node of many."""
    nodes = {found.metadata.name for found in _objects(readings) if isinstance(found, Node)}
    return any(found.spec.node_name not in nodes for found in _objects(readings) if _is_bound(found))


def _is_bound(found: KubeObject) -> TypeGuard[Pod]:
    return isinstance(found, Pod) and bool(found.spec.node_name)


def _doubted(listing: Listing) -> Listing:
    """Without refusals that only follow from a pod having no place: nobody said on how many nodes it was refused."""
    objects = [
        msgspec.structs.replace(
            found,
            status=msgspec.structs.replace(
                found.status,
                conditions=tuple(
                    msgspec.structs.replace(one, reason="") if not one.message else one
                    for one in found.status.conditions
                ),
            ),
        )
        if isinstance(found, Pod)
        else found
        for found in listing.objects
    ]
    return Listing(objects=objects, records=listing.records, whole=False)


def _keep_harmless(tables: Sequence[Reading], others: Sequence[Reading]) -> None:
    """Take out pods of which a table says too little to be set against what else is known.

    Their requests are not in it: beside nodes they would seem to leave all room free, beside a quota to book nothing.
    So only pods without a node are kept, where there are no nodes and no refusals by quota.
    """
    has_nodes = any(isinstance(found, Node) for found in _objects(others))
    refused = {
        found.regarding.namespace
        for found in _objects((*others, *tables))
        if isinstance(found, Event) and _QUOTA in found.message
    }
    for reading in tables:
        for number, listing in enumerate(reading.listings):
            kept = [
                (found, record)
                for found, record in zip(listing.objects, listing.records, strict=True)
                if not isinstance(found, Pod)
                or not (has_nodes or found.spec.node_name or found.metadata.namespace in refused)
            ]
            reading.listings[number] = _listing(kept)


def _read(document: Document, now_ns: int | None, owner_uid: OwnerUid) -> Reading:
    if form_of(document.content) is Form.TABLE:
        return read_table(document.index, document.content, now_ns)
    return read_described(document.index, document.content, now_ns, owner_uid)


def read_described(document: int, content: Buffer, now_ns: int | None, owner_uid: OwnerUid) -> Reading:
    """All pods and nodes in the text; other kinds are counted, and not used."""
    reading = Reading(document=document, kind="kubectl describe")
    objects: list[KubeObject] = []
    records: list[int] = []
    for block in blocks(content):
        reading.records += 1
        if is_pod(block):
            pod, events = pod_of(block, now_ns, owner_uid)
            objects += [pod, *events]
            records += [block.line] * (1 + len(events))
        elif is_node(block):
            objects.append(node_of(block))
            records.append(block.line)
            lease = block.below("Lease")
            renewed = {field.key: field.value for field in fields_of(lease, indent_of(lease))}.get("RenewTime", "")
            renewed_ns = parse_ns(date_text(renewed))
            if renewed_ns is not None:
                reading.times.append(renewed_ns)
        else:
            reading.skipped += 1
            if reading.records == 1 or not reading.complaints:
                reading.complain(
                    block.line + 1, f"{block.name} is neither a whole pod nor a whole node: it is not used."
                )
    if objects:
        reading.listings.append(Listing(objects=objects, records=records, whole=False))
    return reading


def _owners(readings: Iterable[Reading]) -> OwnerUid:
    """Uids by kind, namespace and name, as far as objects were handed over."""
    uids: dict[tuple[str, str, str], str] = {}
    for found in _objects(readings):
        metadata = found.metadata
        uids.setdefault((kind_of_object(found), metadata.namespace, metadata.name), metadata.uid)
    return lambda kind, namespace, name: uids.get((kind, namespace, name), "")


def _objects(readings: Iterable[Reading]) -> Iterable[KubeObject]:
    for reading in readings:
        for listing in reading.listings:
            yield from listing.objects
        yield from (change.object for change in reading.changes)


def _places(readings: Iterable[Reading]) -> Iterable[Place]:
    return ((kind_of_object(found), found.metadata.namespace) for found in _objects(readings))


def _without(listing: Listing, known: set[Place]) -> Listing | None:
    kept: list[tuple[KubeObject, int]] = []
    for found, record in zip(listing.objects, listing.records, strict=True):
        kind = kind_of_object(found)
        if (kind, found.metadata.namespace) not in known:
            kept.append((found, record))
    return _listing(kept) if kept else None


def _listing(pairs: Sequence[tuple[KubeObject, int]]) -> Listing:
    return Listing(objects=[found for found, _ in pairs], records=[record for _, record in pairs], whole=False)
