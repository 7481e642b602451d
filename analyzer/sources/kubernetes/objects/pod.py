"""Pods, and the templates that controllers make them from."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from analyzer.sources.kubernetes.objects.metadata import (
    NOTHING,
    Condition,
    LabelSelector,
    Metadata,
    Quantity,
    Requirement,
)

Quantities = Mapping[str, Quantity]


class ResourceClaimName(Struct, frozen=True, rename="camel", gc=False):
    """A claim that the container or pod-level resources refer to, by its name in the pod."""

    name: str = ""
    request: str = ""


class Resources(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is asked for and what is the most it may take."""

    requests: Quantities = NOTHING
    limits: Quantities = NOTHING
    claims: tuple[ResourceClaimName, ...] = ()


class EnvVar(Struct, frozen=True, gc=False):
    """An environment variable; `value` is empty where it comes from elsewhere."""

    name: str = ""
    value: str = ""


class ContainerPort(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A port; only `host_port` (0: none) takes anything from the node."""

    host_port: int = 0
    container_port: int = 0
    protocol: str = "TCP"
    host_ip: str = field(default="", name="hostIP")


class Container(Struct, frozen=True, kw_only=True, rename="camel"):
    """A container or init container; an init container with `restart_policy` Always is a sidecar."""

    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    ports: tuple[ContainerPort, ...] = ()
    resources: Resources | None = None
    restart_policy: str = ""


class NodeSelectorTerm(Struct, frozen=True, kw_only=True, rename="camel"):
    """All expressions and all fields must match."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(Struct, frozen=True, kw_only=True, rename="camel"):
    """One of the terms must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class NodeAffinity(Struct, frozen=True, kw_only=True):
    """Nodes that the pod may run on; preferences are not kept."""

    required: NodeSelector | None = field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class PodAffinityTerm(Struct, frozen=True, kw_only=True, rename="camel"):
    """Pods to be near to, or apart from, within one value of the topology key.

    `match_label_keys` and `mismatch_label_keys` narrow the selector down by the pod's own labels.
    """

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class PodAffinity(Struct, frozen=True, kw_only=True):
    """Required terms only."""

    required: tuple[PodAffinityTerm, ...] = field(default=(), name="requiredDuringSchedulingIgnoredDuringExecution")


class Affinity(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the pod must, or must not, be placed."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A taint that the pod puts up with. No key with operator Exists: all of them."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpread(Struct, frozen=True, kw_only=True, rename="camel"):
    """How unevenly pods may lie over the values of a node label. Absent policies: `Honor` affinity, `Ignore` taints."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()


class ClaimVolume(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A volume by its claim."""

    claim_name: str = ""
    read_only: bool = False


class Volume(Struct, frozen=True, kw_only=True, rename="camel"):
    """A volume of the pod; only those with a claim matter. `ephemeral` is not None for a claim made with the pod."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: dict[str, Any] | None = None


class SchedulingGate(Struct, frozen=True, gc=False):
    """As long as one is there, the scheduler does not look at the pod."""

    name: str = ""


class SchedulingGroup(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The pod's group (`scheduling.k8s.io/v1alpha2` and later)."""

    pod_group_name: str = ""


class WorkloadReference(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The pod's group in the older form: a Workload and a group of pods in it."""

    name: str = ""
    pod_group: str = ""
    pod_group_replica_key: str = ""


class PodResourceClaim(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A claim for devices: an existing one or one made from a template."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the pod needs and where it may go; `node_name` is set once it is bound."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities = NOTHING
    resources: Resources | None = None
    node_selector: Mapping[str, str] = NOTHING
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpread, ...] = ()
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    scheduler_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    scheduling_group: SchedulingGroup | None = None
    workload_ref: WorkloadReference | None = None
    volumes: tuple[Volume, ...] = ()
    host_network: bool = False
    restart_policy: str = ""
    active_deadline_seconds: int | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    termination_grace_period_seconds: int | None = None


class Running(Struct, frozen=True, rename="camel", gc=False):
    """Since when a container runs."""

    started_at: str | None = None


class WaitingContainer(Struct, frozen=True, rename="camel", gc=False):
    """Why a container does not run."""

    reason: str = ""
    message: str = ""


class Terminated(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """How a container ended."""

    exit_code: int = 0
    reason: str = ""
    started_at: str | None = None
    finished_at: str | None = None


class ContainerState(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One of the three, or none."""

    running: Running | None = None
    waiting: WaitingContainer | None = None
    terminated: Terminated | None = None


class ContainerStatus(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What the node says about a container."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerState | None = None


class PodClaimStatus(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Which claim was made for the pod from a template; no name: none is needed."""

    name: str = ""
    resource_claim_name: str = ""


class PodStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is said about the pod; `nominated_node_name` is where preemption makes room for it."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    resource_claim_statuses: tuple[PodClaimStatus, ...] = ()


class Pod(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Pod"):
    """A pod, bound to a node or waiting for one."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodTemplate(Struct, frozen=True, kw_only=True):
    """What a controller makes its pods from."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
