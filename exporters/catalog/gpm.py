"""How busy the parts of a GPU are, from its own performance counters: Hopper and later."""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU

_WINDOW = "mean over the time between the last two looks; counts cycles, so a lower clock changes it"


def _activity(name: str, text: str, metric: int) -> Family:
    return Family(
        name=f"knotwatch_gpu_{name}_ratio",
        kind=Kind.GAUGE,
        group=Group.GPM,
        text=f"{text}; {_WINDOW}.",
        source=f"GPM metric {metric} / 100",
        labels=GPU,
    )


def _instance(family: Family) -> Family:
    return Family(
        name=family.name.replace("knotwatch_gpu_", "knotwatch_gpu_mig_"),
        kind=family.kind,
        group=family.group,
        text=f"As {family.name}, of one GPU instance and relative to that instance alone.",
        source=f"{family.source}, sample of the GPU instance",
        labels=(*GPU, "gpu_instance"),
    )


GRAPHICS_ACTIVE = _activity("graphics_active", "Share of cycles in which any compute or graphics engine was busy", 1)
SM_ACTIVE = _activity("sm_active", "Share of multiprocessors that had a warp, mean over cycles", 2)
SM_OCCUPANCY = _activity("sm_occupancy", "Resident warps as share of the most that fit", 3)
INTEGER_ACTIVE = _activity("integer_active", "Share of cycles in which integer units worked", 4)
TENSOR_ACTIVE = _activity("tensor_active", "Share of cycles in which tensor cores worked", 5)
DRAM_ACTIVE = _activity("dram_active", "Share of cycles in which memory moved", 10)
FP64_ACTIVE = _activity("fp64_active", "Share of cycles in which FP64 units worked", 11)
FP32_ACTIVE = _activity("fp32_active", "Share of cycles in which FP32 units worked", 12)
FP16_ACTIVE = _activity("fp16_active", "Share of cycles in which FP16 units worked", 13)

ACTIVITIES: tuple[tuple[int, Family, Family], ...] = tuple(
    (metric, family, _instance(family))
    for metric, family in (
        (1, GRAPHICS_ACTIVE),
        (2, SM_ACTIVE),
        (3, SM_OCCUPANCY),
        (4, INTEGER_ACTIVE),
        (5, TENSOR_ACTIVE),
        (10, DRAM_ACTIVE),
        (11, FP64_ACTIVE),
        (12, FP32_ACTIVE),
        (13, FP16_ACTIVE),
    )
)
"""NVML's metric, its family for a whole GPU, and for one instance of a divided one."""

DRAM_RATE = Family(
    name="knotwatch_gpu_memory_bandwidth_bytes_per_second",
    kind=Kind.GAUGE,
    group=Group.GPM,
    text="What the memory moves: the share of busy cycles times its peak.",
    source="GPM metric 10 x knotwatch_gpu_memory_bandwidth_peak_bytes_per_second",
    labels=GPU,
)
GPM_SUPPORTED = Family(
    name="knotwatch_gpu_gpm_supported",
    kind=Kind.GAUGE,
    group=Group.GPM,
    text="Whether the card has these counters (1) or not (0): without them only kernel_resident_ratio tells of work.",
    source="nvmlGpmQueryDeviceSupport",
    labels=GPU,
)
GPM_WINDOW = Family(
    name="knotwatch_gpu_gpm_window_seconds",
    kind=Kind.GAUGE,
    group=Group.GPM,
    text="Time that the activity ratios are the mean of.",
    source="time between two GPM samples",
    labels=GPU,
)
GPM_PAUSED = Family(
    name="knotwatch_gpu_gpm_paused",
    kind=Kind.GAUGE,
    group=Group.GPM,
    text="Whether the reading of performance counters is paused, to leave them to a profiler (1), or not (0).",
    source="the file that the setting names",
    labels=GPU,
)
