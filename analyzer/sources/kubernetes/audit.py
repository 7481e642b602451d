"""Audit logs of the API server: objects out of requests and answers, each with the server's own clock.

Needs a policy that logs answers (level RequestResponse) for the kinds that matter; entries of the lower levels only
count. Only the struct of the object is kept, and of kinds that decide nothing only the name, so no secret is.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from analyzer.sources.kubernetes.decoding import BUILT_IN, REFUSED, BrokenObjectError, Buffer, decode_object, struct_for
from analyzer.sources.kubernetes.json_records import json_records
from analyzer.sources.kubernetes.moments import was_removed
from analyzer.sources.kubernetes.objects import Custom, Event, KubeObject, Metadata, Other, OwnerReference
from analyzer.sources.kubernetes.objects.metadata import LocalReference
from analyzer.sources.kubernetes.reading import Binding, Change, Reading
from analyzer.sources.kubernetes.times import parse_ns

AUDIT = "kubernetes audit log"

_WRITES = frozenset(("create", "update", "patch", "delete"))
_READS = frozenset(("get",))
_REFUSED = 400
_TOO_MANY = 429
EVICTION_REFUSED = "EvictionRefused"
"""The reason of the event that stands here for an eviction which a disruption budget did not allow."""
_REFUSALS = ("exceeded quota", "failed calling webhook")
"""Words of the server when it is not the pod's own fault that it is not made."""
_REFUSED_POD = re.compile(r'pods "([^"]+)"')
_LINE = re.compile(rb"[^\n]+")


class _Reference(Struct, rename="camel"):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""
    api_version: str = ""


class _Cause(Struct):
    message: str = ""


class _Details(Struct):
    causes: tuple[_Cause, ...] = ()


class _Answer(Struct):
    code: int = 0
    message: str = ""
    details: _Details | None = None


class _Entry(Struct, rename="camel"):
    stage: str = ""
    verb: str = ""
    object_ref: _Reference | None = None
    response_status: _Answer | None = None
    request_object: Raw = Raw()
    response_object: Raw = Raw()
    stage_timestamp: str | None = None
    request_received_timestamp: str | None = None


class _Kind(Struct):
    kind: str = ""


class _Target(Struct, frozen=True):
    name: str = ""


class _RefusedMetadata(Struct, frozen=True, rename="camel"):
    owner_references: tuple[OwnerReference, ...] = ()


class _RefusedPod(Struct, frozen=True):
    metadata: _RefusedMetadata = _RefusedMetadata()


class _BindingRequest(Struct):
    target: _Target = _Target()


_ENTRY = msgspec.json.Decoder(_Entry)
_KIND = msgspec.json.Decoder(_Kind)
_PLURALS = {f"{kind.lower()}s": kind for kind in BUILT_IN} | {
    "storageclasses": "StorageClass",
    "priorityclasses": "PriorityClass",
}


def read_audit(document: int, content: Buffer) -> Reading:
    """Read the whole log, one entry a line or as a list. A broken entry costs a complaint with its line."""
    reading = Reading(document=document, kind=AUDIT)
    view = memoryview(content)
    for number, (start, end) in enumerate(audit_records(content)):
        reading.records = number + 1
        try:
            _read_entry(reading, _ENTRY.decode(view[start:end]), number)
        except REFUSED:
            reading.skipped += 1
            reading.complain_at(content, start, "this is no whole audit entry.")
        except BrokenObjectError as error:
            reading.skipped += 1
            reading.complain_at(content, start, f"{error}.")
    return reading


def audit_records(content: Buffer) -> Iterator[tuple[int, int]]:
    """(start, end) of every entry: one a line, else as any JSON document has them."""
    head = bytes(content[:400])
    if b'"EventList"' in head or not head.lstrip().startswith(b"{"):
        for record in json_records(content):
            yield record.start, record.end
        return
    for line in _LINE.finditer(content):
        if line[0].strip():
            yield line.start(), line.end()


def _read_entry(reading: Reading, entry: _Entry, number: int) -> None:
    at_ns = parse_ns(entry.stage_timestamp or entry.request_received_timestamp)
    if at_ns is None:
        reading.skipped += 1
        return
    reading.times.append(at_ns)
    reference, code = entry.object_ref, entry.response_status.code if entry.response_status is not None else 0
    if reference is None or entry.stage not in ("", "ResponseComplete"):
        return
    if code >= _REFUSED:
        refusal = _refusal(entry, reference) or _refused_eviction(entry, reference, code)
        if refusal is not None:
            reading.changes.append(Change(refusal, gone=False, record=number, at_ns=at_ns))
        return
    if reference.subresource == "binding":
        _read_binding(reading, entry, reference, at_ns, number)
        return
    if reference.subresource not in ("", "status") or entry.verb not in _WRITES | _READS:
        return
    answer = memoryview(entry.response_object)
    kind = _KIND.decode(answer).kind if answer else ""
    if kind and kind != "Status":
        found = decode_object(answer)
        if not isinstance(found, Other):
            gone = was_removed(found.metadata) and entry.verb not in _READS
            reading.changes.append(Change(found, gone, number, at_ns))
    elif entry.verb == "delete" and kind == "Status":
        removed = _named_only(reference)
        if removed is not None:
            reading.changes.append(Change(removed, gone=True, record=number, at_ns=at_ns))


def _refusal(entry: _Entry, reference: _Reference) -> Event | None:
    """A pod that its controller could not make for want of quota or of a webhook, told as the controller's event is."""
    answer, request = entry.response_status, memoryview(entry.request_object)
    if reference.resource != "pods" or reference.subresource or entry.verb != "create" or answer is None or not request:
        return None
    if not any(words in answer.message for words in _REFUSALS):
        return None
    owners = msgspec.json.decode(request, type=_RefusedPod).metadata.owner_references
    owner = next((one for one in owners if one.controller), None)
    if owner is None:
        return None
    about = LocalReference(
        api_version=owner.api_version, kind=owner.kind, namespace=reference.namespace, name=owner.name, uid=owner.uid
    )
    pod = _REFUSED_POD.search(answer.message)
    said = entry.stage_timestamp or entry.request_received_timestamp
    return Event(
        metadata=Metadata(name=pod[1] if pod is not None else owner.name, namespace=reference.namespace),
        type="Warning",
        reason="FailedCreate",
        core_message=f"Error creating: {answer.message}",
        core_regarding=about,
        first_timestamp=said,
        last_timestamp=said,
    )


def _refused_eviction(entry: _Entry, reference: _Reference, code: int) -> Event | None:
    """A pod that its disruption budget keeps, told as an event of the pod: who drains says so nowhere else."""
    answer = entry.response_status
    if reference.resource != "pods" or reference.subresource != "eviction" or code != _TOO_MANY or answer is None:
        return None
    causes = answer.details.causes if answer.details is not None else ()
    said = entry.stage_timestamp or entry.request_received_timestamp
    return Event(
        metadata=Metadata(name=reference.name, namespace=reference.namespace),
        type="Warning",
        reason=EVICTION_REFUSED,
        core_message=" ".join((answer.message, *(cause.message for cause in causes))),
        core_regarding=LocalReference(kind="Pod", namespace=reference.namespace, name=reference.name),
        first_timestamp=said,
        last_timestamp=said,
    )


def _read_binding(reading: Reading, entry: _Entry, reference: _Reference, at_ns: int, number: int) -> None:
    if memoryview(entry.request_object) and reference.name:
        node = msgspec.json.decode(entry.request_object, type=_BindingRequest).target.name
        if node:
            reading.bindings.append(Binding(at_ns, f"{reference.namespace}/{reference.name}", node, number))


def _named_only(reference: _Reference) -> KubeObject | None:
    """An object of which only the name is known: the answer to its deletion says no more."""
    kind = _PLURALS.get(reference.resource)
    if kind is None or not reference.name:
        return None
    api_version = f"{reference.api_group}/{reference.api_version}" if reference.api_group else reference.api_version
    struct = struct_for(kind, api_version)
    metadata = Metadata(name=reference.name, namespace=reference.namespace, uid=reference.uid)
    if struct is Custom or struct is Other:
        return None
    return struct(api_version=api_version, metadata=metadata)
