"""Nodes, namespaces, quotas, priorities, budgets, leases."""

from collections.abc import Mapping

from msgspec import Struct, field

from analyzer.sources.kubernetes.objects.metadata import NOTHING, Condition, LabelSelector, Metadata, Quantity


class Taint(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What keeps pods off a node unless they tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """`unschedulable`: cordoned."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = field(default="", name="providerID")


class NodeStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """What pods can have of the node (`allocatable`), and how it fares."""

    allocatable: Mapping[str, Quantity] = NOTHING
    capacity: Mapping[str, Quantity] = NOTHING
    conditions: tuple[Condition, ...] = ()


class Node(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Node"):
    """A node."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How far the deletion of a namespace is, and what keeps it."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Namespace(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Namespace"):
    """A namespace; its labels are what selectors look at."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    status: NamespaceStatus = NamespaceStatus()


class ScopeSelector(Struct, frozen=True, kw_only=True, rename="camel"):
    """All expressions must hold; a `key` of one stands in `scopeName`."""

    match_expressions: tuple["ScopeRequirement", ...] = ()


class ScopeRequirement(Struct, frozen=True, kw_only=True, rename="camel"):
    """A scope of pods, e.g. PriorityClass In [high]."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ResourceQuotaSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """The most a namespace may have, for the pods in its scopes."""

    hard: Mapping[str, Quantity] = NOTHING
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is enforced, and what is booked."""

    hard: Mapping[str, Quantity] = NOTHING
    used: Mapping[str, Quantity] = NOTHING


class ResourceQuota(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ResourceQuota"):
    """A limit on a namespace."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class PriorityClass(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="PriorityClass"):
    """A named priority."""

    api_version: str = "scheduling.k8s.io/v1"
    metadata: Metadata = Metadata()
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


class DisruptionBudgetSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many of the selected pods must stay, or may go."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str = ""


class DisruptionBudgetStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many may go just now."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0


class PodDisruptionBudget(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="PodDisruptionBudget"
):
    """A budget that evictions must respect."""

    api_version: str = "policy/v1"
    metadata: Metadata = Metadata()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()


class LeaseSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who is in charge and when he last said so."""

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    renew_time: str | None = None


class Lease(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Lease"):
    """A lease: heartbeat of a node or of a leader."""

    api_version: str = "coordination.k8s.io/v1"
    metadata: Metadata = Metadata()
    spec: LeaseSpec = LeaseSpec()


__all__ = [
    "Lease",
    "Namespace",
    "Node",
    "PodDisruptionBudget",
    "PriorityClass",
    "ResourceQuota",
    "Taint",
]
