"""From the bytes of one object, or of a whole list, to typed objects.

The fast way is one pass of the decoder over everything. Whatever it refuses (an unknown kind, a null, a wrong type)
goes the slow way, object by object, where nulls count as absent and only the broken object is lost.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.objects import (
    BuiltIn,
    CronJob,
    Custom,
    DaemonSet,
    Deployment,
    EndpointSlice,
    Event,
    Job,
    KubeObject,
    Lease,
    MutatingWebhookConfiguration,
    Namespace,
    Node,
    Other,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Service,
    StatefulSet,
    StorageClass,
    ValidatingWebhookConfiguration,
)

Buffer = bytes | memoryview

REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What the decoder raises about text that is broken, of another type, nested too deeply, or no UTF-8."""

BUILT_IN: dict[str, tuple[type[BuiltIn], tuple[str, ...]]] = {
    "Pod": (Pod, ("",)),
    "Node": (Node, ("",)),
    "Event": (Event, ("", "events.k8s.io")),
    "Namespace": (Namespace, ("",)),
    "ResourceQuota": (ResourceQuota, ("",)),
    "PersistentVolume": (PersistentVolume, ("",)),
    "PersistentVolumeClaim": (PersistentVolumeClaim, ("",)),
    "ReplicationController": (ReplicationController, ("",)),
    "Job": (Job, ("batch",)),
    "CronJob": (CronJob, ("batch",)),
    "Deployment": (Deployment, ("apps", "extensions")),
    "ReplicaSet": (ReplicaSet, ("apps", "extensions")),
    "DaemonSet": (DaemonSet, ("apps", "extensions")),
    "StatefulSet": (StatefulSet, ("apps",)),
    "StorageClass": (StorageClass, ("storage.k8s.io",)),
    "PriorityClass": (PriorityClass, ("scheduling.k8s.io",)),
    "PodDisruptionBudget": (PodDisruptionBudget, ("policy",)),
    "Lease": (Lease, ("coordination.k8s.io",)),
    "Service": (Service, ("",)),
    "EndpointSlice": (EndpointSlice, ("discovery.k8s.io",)),
    "ValidatingWebhookConfiguration": (ValidatingWebhookConfiguration, ("admissionregistration.k8s.io",)),
    "MutatingWebhookConfiguration": (MutatingWebhookConfiguration, ("admissionregistration.k8s.io",)),
}
"""Kinds with a struct of their own, and the API groups in which the kind has this meaning (Volcano has a Job too)."""

DECIDING_GROUPS = ("scheduling.k8s.io", "resource.k8s.io", "storage.k8s.io")
"""Groups ending in `.k8s.io` (the project's own) whose objects are kept whole; of the rest only the names."""


class ListMeta(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a list says about itself. A `continue` token: there is more that was not fetched."""

    resource_version: str | None = None
    continue_token: str | None = msgspec.field(default=None, name="continue")
    remaining_item_count: int | None = None


class Envelope(Struct, frozen=True, kw_only=True, rename="camel"):
    """The outside of any document: a list, an entry of a watch, or an object. What is absent is empty."""

    api_version: str | None = None
    kind: str | None = None
    type: Raw = Raw()
    object: Raw = Raw()
    items: list[Raw] | None = None
    metadata: Raw = Raw()


class _MixedList(Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str | None = None
    kind: str | None = None
    metadata: ListMeta | None = None
    items: list[BuiltIn] | None = None


class _Head(Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


class _NamedHead(Struct, frozen=True, kw_only=True, rename="camel"):
    kind: str | None = None
    metadata: dict[str, Any] | None = None


class DecodedList(Struct, frozen=True):
    """All objects of a list, in order, and whether the list is whole."""

    objects: list[BuiltIn]
    resource_version: int | None
    whole: bool


class Outline(Struct, frozen=True):
    """Of a list: the namespaces in which it has pods, and the newest resource version of all its objects."""

    namespaces: frozenset[str]
    newest_version: int

    def __or__(self, other: "Outline") -> "Outline":
        return Outline(self.namespaces | other.namespaces, max(self.newest_version, other.newest_version))


class _Named(Struct, frozen=True, kw_only=True, rename="camel"):
    namespace: str = ""
    resource_version: str = ""

    @property
    def version(self) -> int:
        return int(self.resource_version) if is_whole(self.resource_version) else 0


class _OutlineItem(Struct, frozen=True, kw_only=True):
    kind: str = ""
    metadata: _Named = _Named()


class _OutlineList(Struct, frozen=True, kw_only=True):
    kind: str | None = None
    items: list[_OutlineItem]


class BrokenObjectError(ValueError):
    """The object cannot be used; the text is one clause that says what it is and why."""


_ENVELOPE = msgspec.json.Decoder(Envelope)
_LIST_META = msgspec.json.Decoder(ListMeta)
_HEAD = msgspec.json.Decoder(_Head)
_OUTLINE = msgspec.json.Decoder(_OutlineList)
_MIXED = msgspec.json.Decoder(_MixedList)
_ARRAY = msgspec.json.Decoder(list[BuiltIn])
_BY_TYPE: dict[type[KubeObject], msgspec.json.Decoder[Any]] = {
    one: msgspec.json.Decoder(one) for one in (*(kind for kind, _ in BUILT_IN.values()), Custom, Other)
}
_TYPED_LISTS: dict[type[BuiltIn], msgspec.json.Decoder[Any]] = {}
_LIST_KIND = re.compile(rb'"kind"\s*:\s*"([A-Z]\w*)List"')
_HEAD_BYTES = 400


def decode_envelope(content: Buffer) -> Envelope:
    """The outside of a JSON document. Raises `msgspec.DecodeError` if it is no JSON object, or another thing."""
    return _ENVELOPE.decode(content)


def list_meta(raw: Raw) -> ListMeta:
    """What the list says about itself; the plain default where it says nothing or something odd."""
    try:
        return _LIST_META.decode(raw) if memoryview(raw) else ListMeta()
    except REFUSED:
        return ListMeta()


def decode_list(content: Buffer) -> DecodedList | None:
    """A whole list (or JSON array) of objects with structs of their own, in one pass; None if it is not that.

    Costs one pass of the decoder, so 100,000 pods take about a second.
    """
    head = bytes(content[:_HEAD_BYTES])
    try:
        if head.lstrip().startswith(b"["):
            return _checked(_ARRAY.decode(content), None)
        kind = _LIST_KIND.search(head)
        typed = BUILT_IN.get(kind[1].decode()) if kind else None
        decoded = (_typed_list(typed[0]) if typed else _MIXED).decode(content)
    except REFUSED:
        return None
    if decoded.items is None:
        return None
    if typed and decoded.api_version and group_of(decoded.api_version) not in typed[1]:
        return None
    return _checked(decoded.items, decoded.metadata)


def decode_outline(content: Buffer) -> Outline | None:
    """The outline of a whole list; None where it is no sound list. Costs a third of decoding it."""
    try:
        decoded = _OUTLINE.decode(content)
    except REFUSED:
        return None
    of_pods = decoded.kind == "PodList"
    namespaces = {one.metadata.namespace for one in decoded.items if one.kind == "Pod" or (of_pods and not one.kind)}
    return Outline(frozenset(namespaces), max((one.metadata.version for one in decoded.items), default=0))


def decode_object(content: Buffer, kind: str = "", api_version: str = "") -> KubeObject:
    """One object. `kind` and `api_version` are those of its list, used where it has none of its own.

    Raises BrokenObjectError.
    """
    try:
        head = _HEAD.decode(content)
    except REFUSED as error:
        raise BrokenObjectError(f"this is no Kubernetes object ({_reason(error)})") from None
    kind, api_version = head.kind or kind, head.api_version or api_version
    if not kind:
        raise BrokenObjectError("an object without a kind")
    chosen = struct_for(kind, api_version)
    decoder = _BY_TYPE[chosen]
    try:
        found: KubeObject = decoder.decode(content)
    except REFUSED:
        found = _decode_leniently(content, decoder, kind)
    if isinstance(found, Custom | Other) and not (found.kind and found.api_version):
        return msgspec.structs.replace(found, kind=kind, api_version=api_version)
    return found


def struct_for(kind: str, api_version: str) -> type[KubeObject]:
    """The struct for objects of this kind: its own, else whole (`Custom`), else the name alone (`Other`)."""
    group = group_of(api_version)
    known = BUILT_IN.get(kind)
    if known is not None and (group in known[1] or not api_version):
        return known[0]
    if group in DECIDING_GROUPS:
        return Custom
    of_the_project = "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))
    return Other if of_the_project else Custom


def is_list_kind(kind: str) -> bool:
    """Whether this is the kind of a list: `List`, or that of the API for one of our kinds, `PodList`."""
    return kind == "List" or (kind.endswith("List") and kind.removesuffix("List") in BUILT_IN)


def group_of(api_version: str) -> str:
    """`apps` of `apps/v1`; empty for the core's `v1`."""
    return api_version.rpartition("/")[0]


def _typed_list(item: type[BuiltIn]) -> msgspec.json.Decoder[Any]:
    decoder = _TYPED_LISTS.get(item)
    if decoder is None:
        fields = [
            ("api_version", str | None, None),
            ("kind", str | None, None),
            ("metadata", ListMeta | None, None),
            ("items", list[item] | None, None),  # type: ignore[valid-type]  # the type is made here, for the decoder
        ]
        made = msgspec.defstruct(f"{item.__name__}List", fields, frozen=True, kw_only=True, rename="camel")
        decoder = _TYPED_LISTS[item] = msgspec.json.Decoder(made)
    return decoder


def _checked(objects: list[BuiltIn], meta: ListMeta | None) -> DecodedList | None:
    """None if a kind was taken for another of the same name."""
    versions = {(type(one), one.api_version) for one in objects}
    for struct, version in versions:
        if group_of(version) not in BUILT_IN[struct.__name__][1]:
            return None
    meta = meta or ListMeta()
    version_text = meta.resource_version or ""
    whole = not meta.continue_token and not meta.remaining_item_count
    return DecodedList(objects, int(version_text) if is_whole(version_text) else None, whole)


def _decode_leniently(content: Buffer, decoder: msgspec.json.Decoder[Any], kind: str) -> KubeObject:
    """With nulls left out: kubectl and handwritten files print them where a thing is absent."""
    try:
        found: KubeObject = decoder.decode(msgspec.json.encode(_without_nulls(msgspec.json.decode(content))))
    except REFUSED as error:
        raise BrokenObjectError(f"{kind} {_name_in(content)}: {_reason(error)}") from None
    return found


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value if inner is not None]
    return value


def _name_in(content: Buffer) -> str:
    try:
        metadata = msgspec.json.decode(content, type=_NamedHead).metadata or {}
    except REFUSED:
        return "(without a readable name)"
    name, namespace = metadata.get("name"), metadata.get("namespace")
    return f"{namespace}/{name}" if namespace else f"{name or '(without a name)'}"


def _reason(error: Exception) -> str:
    """The decoder's words, with the place first: `spec.priority: expected int, got str`."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    what, _, where = str(error).partition(" - at `$.")
    what = (what[:1].lower() + what[1:]).replace("`", "").replace(" | null", "")
    return f"{where.rstrip('`')}: {what}" if where else what


def kind_of_object(found: KubeObject) -> str:
    """The kind's name: `Pod`."""
    return found.kind if isinstance(found, Custom | Other) else type(found).__name__
