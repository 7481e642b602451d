"""Whose each GPU is: pods by the kubelet, jobs by Slurm. A device's values are never copied to those who share it.

Series of a device carry no pod. Where exactly one holds it, `* on(uuid) group_left(namespace, pod)` joins them with
`knotwatch_gpu_allocation_info{sharing="exclusive"}`.
"""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU

PART = (*GPU, "gpu_instance", "compute_instance")
POD = ("namespace", "pod", "pod_uid")


def _family(kind: Kind, name: str, text: str, source: str, *labels: str) -> Family:
    return Family(name=f"knotwatch_{name}", kind=kind, group=Group.ALLOCATION, text=text, source=source, labels=labels)


ALLOCATION = _family(
    Kind.IDENTITY,
    "gpu_allocation_info",
    "A container that holds the GPU, or an instance of it. sharing: exclusive, shared (others may hold it, too, by "
    "time-slicing, MPS or a shared claim: values of the device are not this pod's), mig, mig_shared.",
    "kubelet PodResources List, resolved by UUID at each page; pod_uid from its checkpoint or log folders",
    *PART,
    *POD,
    "container",
    "resource",
    "sharing",
    "replicas",
)
CLAIM = _family(
    Kind.IDENTITY,
    "pod_claim_info",
    "A device that a container has through a resource claim, also where the node cannot tell which GPU that is.",
    "kubelet PodResources List, dynamic_resources",
    "namespace",
    "pod",
    "container",
    "claim_namespace",
    "claim",
    "driver",
    "pool",
    "device",
    "share",
)
JOB = _family(
    Kind.IDENTITY,
    "gpu_job_info",
    "A Slurm job that holds the GPU, or an instance of it, whether a process of it runs there or not. source: prolog "
    "(a file for each GPU), cgroup (devices that it may use), process (one of its processes is on the GPU). key: how "
    "the source names the GPU.",
    "job folders, device cgroups, cgroups of the GPU's processes",
    *PART,
    "slurm_job",
    "user_id",
    "source",
    "key",
)
HOLDERS = _family(
    Kind.GAUGE,
    "gpu_holders",
    "Pods and jobs that hold the GPU or a part of it; 0 if nobody does, absent if that is not known.",
    "the two families of allocations",
    *GPU,
)
POD_MEMORY = _family(
    Kind.GAUGE,
    "gpu_pod_memory_bytes",
    "Memory that a pod's processes hold, where it is exactly known: every process on the GPU has a known owner and "
    "size. Its sum over pods is never above what the device has in use.",
    "process list of the driver, /proc/PID/cgroup",
    *GPU,
    "gpu_instance",
    *POD,
)
JOB_MEMORY = _family(
    Kind.GAUGE,
    "gpu_job_memory_bytes",
    "Memory that a Slurm job's processes hold, where it is exactly known.",
    "process list of the driver, /proc/PID/cgroup",
    *GPU,
    "gpu_instance",
    "slurm_job",
)
UNALLOCATED_MEMORY = _family(
    Kind.GAUGE,
    "gpu_memory_unallocated_bytes",
    "Memory in use on a GPU that no pod and no job holds; absent while it is held, or while that is not known.",
    "memory in use, and the absence of allocations",
    *GPU,
)
POD_MAPPING_UP = _family(
    Kind.GAUGE,
    "pod_mapping_up",
    "Whether the kubelet says whose the GPUs are: 1, or 0 when it does not answer; its last word stands for a while.",
    "the latest call of List",
)
POD_MAPPING_SUCCESS = _family(
    Kind.GAUGE,
    "pod_mapping_last_success_timestamp_seconds",
    "When the kubelet last said whose the GPUs are. Allocations older than allocation.mapping_age_max_s are dropped.",
    "the wall clock when List last came back",
)
POD_UNMAPPED = _family(
    Kind.GAUGE,
    "pod_mapping_unmapped_devices",
    "Devices of containers that lead to no GPU that we know, by reason.",
    "device ids of List: unknown_spelling, unknown_gpu, unknown_instance, ambiguous_number, other_vendor, claim",
    "reason",
)
JOB_UNMAPPED = _family(
    Kind.GAUGE,
    "slurm_mapping_unmapped_devices",
    "Devices that jobs were given and that lead to no GPU that we know, by reason.",
    "names of the files of job folders, as for pods",
    "reason",
)
JOB_MAPPING_COMPLETE = _family(
    Kind.GAUGE,
    "slurm_mapping_complete",
    "Whether one of the sources would show every GPU that a job holds; 0 where only processes tell of jobs.",
    "job folders, device cgroups of version 1",
)
LEFT_OUT = _family(
    Kind.GAUGE,
    "allocations_left_out",
    "Allocations that are not published since there are too many.",
    "this exporter's bounds",
)
