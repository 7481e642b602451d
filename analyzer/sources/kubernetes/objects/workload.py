"""Built-in controllers: what they want, and how far they are."""

from msgspec import Struct

from analyzer.sources.kubernetes.objects.metadata import Condition, LabelSelector, Metadata
from analyzer.sources.kubernetes.objects.pod import PodTemplate


class JobSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """Pods that run to their end. `parallelism` None: 1; `completions` None: as many as succeed."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    suspend: bool = False
    pod_replacement_policy: str = ""
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class JobStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods are under way and how many are done."""

    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[Condition, ...] = ()


class Job(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Job"):
    """A batch/v1 Job."""

    api_version: str = "batch/v1"
    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobTemplate(Struct, frozen=True, kw_only=True):
    """What a CronJob makes its jobs from."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()


class CronJobSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """When jobs are made, and whether one may start beside another."""

    schedule: str = ""
    concurrency_policy: str = "Allow"
    suspend: bool = False
    job_template: JobTemplate = JobTemplate()


class CronJob(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="CronJob"):
    """A Job at set times."""

    api_version: str = "batch/v1"
    metadata: Metadata = Metadata()
    spec: CronJobSpec = CronJobSpec()


class RollingUpdate(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods may be missing, or too many, while a roll-out is under way: a number or a percentage."""

    max_unavailable: int | str | None = None
    max_surge: int | str | None = None
    partition: int | None = None


class Strategy(Struct, frozen=True, kw_only=True, rename="camel"):
    """RollingUpdate, Recreate or OnDelete."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class ReplicatedSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """So many equal pods. `replicas` None: 1. A ReplicaSet has no strategy, a Deployment no pod management policy."""

    replicas: int | None = None
    paused: bool = False
    strategy: Strategy | None = None
    update_strategy: Strategy | None = None
    pod_management_policy: str = ""
    service_name: str = ""
    min_ready_seconds: int = 0
    progress_deadline_seconds: int | None = None
    template: PodTemplate = PodTemplate()


class SelectedSpec(ReplicatedSpec, frozen=True, kw_only=True, rename="camel"):
    """The same, with a selector of the apps/v1 form."""

    selector: LabelSelector | None = None


class ReplicatedStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods there are, of which template, and how many are ready."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    updated_replicas: int = 0
    current_replicas: int = 0
    terminating_replicas: int | None = None
    current_revision: str = ""
    update_revision: str = ""
    conditions: tuple[Condition, ...] = ()


class Deployment(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Deployment"):
    """Pods that stay, replaced by roll-outs."""

    api_version: str = "apps/v1"
    metadata: Metadata = Metadata()
    spec: SelectedSpec = SelectedSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class ReplicaSet(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ReplicaSet"):
    """The pods of one template of a Deployment."""

    api_version: str = "apps/v1"
    metadata: Metadata = Metadata()
    spec: SelectedSpec = SelectedSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class ReplicationController(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ReplicationController"
):
    """The elder form of a ReplicaSet; its selector is not kept."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: ReplicatedSpec = ReplicatedSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class StatefulSet(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="StatefulSet"):
    """Pods that stay, with names and an order."""

    api_version: str = "apps/v1"
    metadata: Metadata = Metadata()
    spec: SelectedSpec = SelectedSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class DaemonSetStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many nodes should have a pod, and how many have."""

    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0
    number_ready: int = 0
    updated_number_scheduled: int = 0
    observed_generation: int = 0


class DaemonSet(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="DaemonSet"):
    """A pod on every node that fits."""

    api_version: str = "apps/v1"
    metadata: Metadata = Metadata()
    spec: SelectedSpec = SelectedSpec()
    status: DaemonSetStatus = DaemonSetStatus()
