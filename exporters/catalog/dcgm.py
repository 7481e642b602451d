"""The names of DCGM's exporter, for dashboards and alerts that ask for them: old values in new clothes, if asked for.

Names, units and labels are what board 12239 and common alerts rely on. What DCGM counts without `_total` in its name is
published without a type, since a counter of that name cannot be printed.
"""

import re

from msgspec import Struct

from exporters.catalog import gpm, gpu
from exporters.catalog.family import Family, Group, Kind

EVERY = (
    *("gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "hostname", "DCGM_FI_DRIVER_VERSION"),
    *("GPU_I_ID", "GPU_I_PROFILE", "pod", "namespace", "container"),
)
"""Labels of every series; one that is empty is as good as absent. `Hostname` and `hostname` are one thing in the
spellings of two versions."""

_NAME = re.compile(r"DCGM_FI_(?:DEV|PROF)_[A-Z0-9_]+")


class DcgmFamily(Family, frozen=True, kw_only=True):
    """A family under a name that is not ours: none of our rules of names and labels hold for it."""

    def __post_init__(self) -> None:
        """Raises ValueError for a name that is not DCGM's either."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name}: no name of DCGM")


def _dcgm(name: str, text: str, source: str, *labels: str, kind: Kind = Kind.GAUGE) -> Family:
    return DcgmFamily(
        name=f"DCGM_FI_{name}", kind=kind, group=Group.DCGM, text=text, source=source, labels=(*EVERY, *labels)
    )


class Alias(Struct, frozen=True, kw_only=True):
    """A value of ours and what DCGM calls it.

    `value`: our family, with the values of its labels after UUID and index in `labels`. `scale`: ours times this is
    DCGM's. `newer`: its name since DCGM 4.6, where the unit is the same.
    """

    value: Family
    labels: tuple[str, ...] = ()
    scale: float = 1.0
    family: Family
    newer: Family | None = None


def _alias(
    name: str,
    text: str,
    value: Family,
    *labels: str,
    scale: float = 1.0,
    newer: str = "",
    kind: Kind = Kind.GAUGE,
) -> Alias:
    source = f"`{value.name}`" + (f" x {scale:g}" if scale != 1 else "")
    return Alias(
        value=value,
        labels=labels,
        scale=scale,
        family=_dcgm(name, text, source, kind=kind),
        newer=_dcgm(newer, text, source, kind=kind) if newer else None,
    )


_PERCENT, _MEGA, _MILLI = 100.0, 1e-6, 1e3

ALIASES: tuple[Alias, ...] = (
    _alias("DEV_SM_CLOCK", "Clock of the multiprocessors, MHz.", gpu.CLOCK, "sm", scale=_MEGA),
    _alias("DEV_MEM_CLOCK", "Clock of the memory, MHz.", gpu.CLOCK, "memory", scale=_MEGA),
    _alias("DEV_GPU_TEMP", "Temperature of the chip, C.", gpu.TEMPERATURE, newer="DEV_GPU_TEMP_CELSIUS"),
    _alias("DEV_MEMORY_TEMP", "Temperature of the memory, C.", gpu.MEMORY_TEMPERATURE, newer="DEV_MEMORY_TEMP_CELSIUS"),
    _alias("DEV_POWER_USAGE", "Power, W.", gpu.POWER, newer="DEV_BOARD_POWER_WATTS"),
    _alias(
        "DEV_TOTAL_ENERGY_CONSUMPTION",
        "Energy since the driver was loaded, mJ.",
        gpu.ENERGY,
        scale=_MILLI,
        kind=Kind.UNTYPED,
    ),
    _alias("DEV_GPU_UTIL", "Share of time with a kernel, percent.", gpu.KERNEL_RESIDENT, scale=_PERCENT),
    _alias("DEV_MEM_COPY_UTIL", "Share of time with memory in use, percent.", gpu.MEMORY_BUSY, scale=_PERCENT),
    _alias("DEV_ENC_UTIL", "Encoder, percent.", gpu.ENGINE_BUSY, "encoder", scale=_PERCENT),
    _alias("DEV_DEC_UTIL", "Decoder, percent.", gpu.ENGINE_BUSY, "decoder", scale=_PERCENT),
    _alias(
        "DEV_PCIE_REPLAY_COUNTER",
        "Retries on PCIe.",
        gpu.PCIE_REPLAYS,
        kind=Kind.UNTYPED,
        newer="DEV_PCIE_REPLAY_TOTAL",
    ),
    _alias(
        "DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "Rows remapped for uncorrectable errors.",
        gpu.REMAPPED_ROWS,
        "uncorrectable",
        kind=Kind.UNTYPED,
        newer="DEV_ROW_REMAP_UNCORRECTABLE_TOTAL",
    ),
    _alias(
        "DEV_CORRECTABLE_REMAPPED_ROWS",
        "Rows remapped for correctable errors.",
        gpu.REMAPPED_ROWS,
        "correctable",
        kind=Kind.UNTYPED,
    ),
    _alias("DEV_ROW_REMAP_FAILURE", "Whether a row could not be remapped.", gpu.REMAP_FAILED),
)
"""What a whole GPU says."""

ACTIVITIES: dict[int, Alias] = {
    metric: _alias(f"PROF_{name}_ACTIVE", text, value, newer=f"PROF_{newer}" if newer else "")
    for metric, name, text, value, newer in (
        (1, "GR_ENGINE", "Share of cycles with an engine busy.", gpm.GRAPHICS_ACTIVE, "GR_ENGINE_UTIL_RATIO"),
        (2, "SM", "Share of multiprocessors with a warp.", gpm.SM_ACTIVE, "SM_UTIL_RATIO"),
        (5, "PIPE_TENSOR", "Share of cycles with tensor cores busy.", gpm.TENSOR_ACTIVE, "TENSOR_UTIL_RATIO"),
        (10, "DRAM", "Share of cycles in which memory moved.", gpm.DRAM_ACTIVE, "DRAM_UTIL_RATIO"),
        (11, "PIPE_FP64", "Share of cycles with FP64 units busy.", gpm.FP64_ACTIVE, ""),
        (12, "PIPE_FP32", "Share of cycles with FP32 units busy.", gpm.FP32_ACTIVE, ""),
        (13, "PIPE_FP16", "Share of cycles with FP16 units busy.", gpm.FP16_ACTIVE, ""),
    )
} | {
    3: _alias(
        "PROF_SM_OCCUPANCY",
        "Resident warps as share of the most that fit.",
        gpm.SM_OCCUPANCY,
        newer="PROF_SM_OCCUPANCY_RATIO",
    )
}
"""By GPM metric: what a GPU, or an instance of a divided one, is busy with."""

RATES: dict[int, Family] = {
    metric: _dcgm(f"PROF_{name}_BYTES", f"{text}, bytes per second.", f"GPM metric {metric} x 1048576")
    for metric, name, text in (
        (20, "PCIE_TX", "Sent over PCIe"),
        (21, "PCIE_RX", "Received over PCIe"),
        (61, "NVLINK_TX", "Sent over NVLink"),
        (60, "NVLINK_RX", "Received over NVLink"),
    )
}
"""By GPM metric. Rates, whatever the names say; ours are counters."""

FB_USED, FB_FREE, FB_RESERVED = (
    _dcgm(f"DEV_FB_{part.upper()}", f"Memory {part}, MiB.", f"`knotwatch_gpu_memory_{part}_bytes` // 1048576")
    for part in ("used", "free", "reserved")
)
XID = _dcgm(
    "DEV_XID_ERRORS",
    "The last XID error since this exporter began, 0 if there was none.",
    "events of NVML and lines of /dev/kmsg",
    "err_code",
    "err_msg",
)
XID_NEWER = _dcgm("DEV_XID_ERROR", XID.text, XID.source, "err_code", "err_msg")
NVLINK = _dcgm(
    "DEV_NVLINK_BANDWIDTH_TOTAL",
    "Sent and received over all links between the last two looks, KiB/s over 1000: a rate, whatever it is called.",
    "`knotwatch_gpu_nvlink_transmit_bytes_total` and `..._receive_bytes_total`",
)
NVLINK_NEWER = _dcgm("DEV_NVLINK_THROUGHPUT_TOTAL", NVLINK.text, NVLINK.source)
