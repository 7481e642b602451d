"""Who holds the GPUs, by process: numbers as the host sees them."""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU

PROCESSES = Family(
    name="knotwatch_gpu_processes",
    kind=Kind.GAUGE,
    group=Group.PROCESSES,
    text="Processes that hold the GPU, as the driver lists them.",
    source="nvmlDeviceGetComputeRunningProcesses_v3, Graphics..., MPSCompute...",
    labels=GPU,
)
PROCESS_MEMORY = Family(
    name="knotwatch_gpu_process_memory_bytes",
    kind=Kind.GAUGE,
    group=Group.PROCESSES,
    text="Memory that one process holds on the GPU, or in one GPU instance; at most 256 of them.",
    source="usedGpuMemory of the same lists",
    labels=(*GPU, "pid", "gpu_instance"),
)
PROCESS_RESIDENT = Family(
    name="knotwatch_gpu_process_kernel_resident_ratio",
    kind=Kind.GAUGE,
    group=Group.PROCESSES,
    text="Share of the last sample period in which a kernel of the process was resident; samples of the last minute.",
    source="nvmlDeviceGetProcessUtilization smUtil / 100",
    labels=(*GPU, "pid"),
)
PROCESS_INFO = Family(
    name="knotwatch_gpu_process_info",
    kind=Kind.IDENTITY,
    group=Group.PROCESSES,
    text="Whose a process on the GPU is. Empty labels: nobody's of that sort; known=0: it could not be told.",
    source="/proc/PID/stat, status and cgroup",
    labels=(
        *GPU,
        "pid",
        "command",
        "user_id",
        "pod_uid",
        "container_id",
        "runtime",
        "slurm_job",
        "slurm_step",
        "known",
    ),
)
