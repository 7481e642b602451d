"""What every object has: its name, its owners, its conditions, selectors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""The one empty mapping that absent labels, requests and so on share: a dict each would cost more than the pod."""

Quantity = str | int | float
"""A resource quantity: a text like `500m` or `64Gi` from the API, perhaps a bare number in a handwritten file."""


class OwnerReference(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Who owns the object; the one with `controller` makes it anew."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ManagedField(Struct, frozen=True, rename="camel", gc=False):
    """When somebody last wrote fields of the object: the best clock in a watch entry."""

    time: str | None = None


class Metadata(Struct, frozen=True, kw_only=True, rename="camel"):
    """Name, identity and ties of an object. `resource_version` grows with every write in the whole cluster."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generate_name: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: tuple[ManagedField, ...] = ()


class Condition(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One statement of a controller about an object. `status` is `True`, `False` or `Unknown`."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_heartbeat_time: str | None = None


class Requirement(Struct, frozen=True, kw_only=True):
    """A selector term: key, operator (In, NotIn, Exists, DoesNotExist, Gt, Lt) and values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, kw_only=True, rename="camel"):
    """Labels that must be equal, and expressions that must hold, all of them."""

    match_labels: Mapping[str, str] = NOTHING
    match_expressions: tuple[Requirement, ...] = ()


class LocalReference(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Another object by kind and name, in the same namespace unless it says otherwise."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = field(default="")
    field_path: str = ""
