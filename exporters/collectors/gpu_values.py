"""What a GPU says of itself call by call: a table of what is asked, and how each answer becomes values."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from exporters.catalog import gpu
from exporters.catalog.family import Family
from exporters.nvml.asking import Asking
from exporters.nvml.plausible import number, ratio
from exporters.nvml.reading import Memory, Point

WHOLE = 0
"""The scope of a field that has none."""


class Row(Struct, frozen=True, kw_only=True):
    """One value of one call. `calls`: the first that the device has at all is asked, always the same one.

    `place`: which of several numbers of the answer. `scale`: to the base unit. `low`, `high`: bounds of the raw number.
    """

    family: Family
    calls: tuple[str, ...]
    keys: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    place: int | None = None
    scale: float = 1.0
    low: float = 0.0
    high: float = 1e19


class FieldRow(Struct, frozen=True, kw_only=True):
    """One field value. `only_without`: used where the device lacks that call, and never in turn with it."""

    family: Family
    field: int
    labels: tuple[str, ...] = ()
    scale: float = 1.0
    low: float = 0.0
    high: float = 1e19
    only_without: str = ""


_MILLI = 1e-3
_MEGA = 1e6
_NANO = 1e-9
_MILLIWATTS_MAX = 20_000_000
_MEGAHERTZ_MAX = 100_000
_CELSIUS_LOW, _CELSIUS_HIGH = -50, 200
_CLOCKS = ((0, "graphics"), (1, "sm"), (2, "memory"), (3, "video"))
_ECC = ((0, "corrected"), (1, "uncorrected"))
_LIVES = ((0, "volatile"), (1, "aggregate"))
_REMAP = "nvmlDeviceGetRemappedRows"

ROWS: tuple[Row, ...] = (
    Row(family=gpu.POWER, calls=("nvmlDeviceGetPowerUsage",), scale=_MILLI, high=_MILLIWATTS_MAX),
    Row(family=gpu.POWER_LIMIT, calls=("nvmlDeviceGetEnforcedPowerLimit",), scale=_MILLI, high=_MILLIWATTS_MAX),
    Row(family=gpu.ENERGY, calls=("nvmlDeviceGetTotalEnergyConsumption",), scale=_MILLI),
    Row(
        family=gpu.TEMPERATURE,
        calls=("nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"),
        keys=(0,),
        low=_CELSIUS_LOW,
        high=_CELSIUS_HIGH,
    ),
    Row(
        family=gpu.TEMPERATURE_MARGIN, calls=("nvmlDeviceGetMarginTemperature",), low=-_CELSIUS_HIGH, high=_CELSIUS_HIGH
    ),
    *(
        Row(
            family=family,
            calls=(call,),
            keys=(clock,),
            labels=(name,),
            scale=_MEGA,
            high=_MEGAHERTZ_MAX,
        )
        for family, call in ((gpu.CLOCK, "nvmlDeviceGetClockInfo"), (gpu.CLOCK_MAX, "nvmlDeviceGetMaxClockInfo"))
        for clock, name in _CLOCKS
    ),
    Row(family=gpu.PERFORMANCE_STATE, calls=("nvmlDeviceGetPerformanceState",), high=15),
    Row(family=gpu.PCIE_REPLAYS, calls=("nvmlDeviceGetPcieReplayCounter",)),
    Row(family=gpu.PCIE_GENERATION, calls=("nvmlDeviceGetCurrPcieLinkGeneration",), high=16),
    Row(family=gpu.PCIE_WIDTH, calls=("nvmlDeviceGetCurrPcieLinkWidth",), high=64),
    Row(family=gpu.PCIE_GENERATION_MAX, calls=("nvmlDeviceGetMaxPcieLinkGeneration",), high=16),
    Row(family=gpu.PCIE_WIDTH_MAX, calls=("nvmlDeviceGetMaxPcieLinkWidth",), high=64),
    Row(family=gpu.ECC_ENABLED, calls=("nvmlDeviceGetEccMode",), place=0, high=1),
    Row(family=gpu.MIG_ENABLED, calls=("nvmlDeviceGetMigMode",), place=0, high=1),
    *(
        Row(
            family=gpu.ECC_ERRORS,
            calls=("nvmlDeviceGetTotalEccErrors",),
            keys=(kind, life),
            labels=(kind_name, life_name),
        )
        for kind, kind_name in _ECC
        for life, life_name in _LIVES
    ),
    Row(family=gpu.SRAM_UNCORRECTED, calls=("nvmlDeviceGetSramEccErrorStatus",), place=0),
    Row(family=gpu.SRAM_THRESHOLD, calls=("nvmlDeviceGetSramEccErrorStatus",), place=1, high=1),
    Row(family=gpu.REMAPPED_ROWS, calls=(_REMAP,), place=0, labels=("correctable",)),
    Row(family=gpu.REMAPPED_ROWS, calls=(_REMAP,), place=1, labels=("uncorrectable",)),
    Row(family=gpu.REMAP_PENDING, calls=(_REMAP,), place=2, high=1),
    Row(family=gpu.REMAP_FAILED, calls=(_REMAP,), place=3, high=1),
)

FIELD_ROWS: tuple[FieldRow, ...] = (
    FieldRow(family=gpu.ENERGY, field=83, scale=_MILLI, only_without="nvmlDeviceGetTotalEnergyConsumption"),
    FieldRow(family=gpu.MEMORY_TEMPERATURE, field=82, low=_CELSIUS_LOW, high=_CELSIUS_HIGH),
    FieldRow(family=gpu.POWER_AVERAGE, field=185, scale=_MILLI, high=_MILLIWATTS_MAX),
    FieldRow(family=gpu.POWER_INSTANT, field=186, scale=_MILLI, high=_MILLIWATTS_MAX),
    FieldRow(family=gpu.PCIE_REPLAYS, field=94, only_without="nvmlDeviceGetPcieReplayCounter"),
    FieldRow(family=gpu.PCIE_TRANSMIT, field=197),
    FieldRow(family=gpu.PCIE_RECEIVE, field=198),
    *(
        FieldRow(family=gpu.PCIE_ERRORS, field=field, labels=(kind,))
        for field, kind in (
            (173, "correctable"),
            (174, "naks_received"),
            (175, "receiver"),
            (176, "bad_tlp"),
            (177, "naks_sent"),
            (178, "bad_dllp"),
            (179, "non_fatal"),
            (180, "fatal"),
            (181, "unsupported_request"),
            (182, "lcrc"),
            (183, "lane"),
        )
    ),
    FieldRow(family=gpu.REMAPPED_ROWS, field=142, labels=("correctable",), only_without=_REMAP),
    FieldRow(family=gpu.REMAPPED_ROWS, field=143, labels=("uncorrectable",), only_without=_REMAP),
    FieldRow(family=gpu.REMAP_PENDING, field=144, high=1, only_without=_REMAP),
    FieldRow(family=gpu.REMAP_FAILED, field=145, high=1, only_without=_REMAP),
    FieldRow(family=gpu.RECOVERY_ACTION, field=230),
    *(
        FieldRow(family=gpu.THROTTLED_SECONDS, field=field, labels=(reason,), scale=_NANO)
        for field, reason in (
            (74, "sw_power_cap"),
            (76, "sync_boost"),
            (269, "sw_thermal_slowdown"),
            (270, "hw_thermal_slowdown"),
            (271, "hw_power_brake_slowdown"),
        )
    ),
)

THROTTLE_BITS: Mapping[int, str] = MappingProxyType(
    {
        1: "gpu_idle",
        2: "application_clocks",
        4: "sw_power_cap",
        8: "hw_slowdown",
        16: "sync_boost",
        32: "sw_thermal_slowdown",
        64: "hw_thermal_slowdown",
        128: "hw_power_brake_slowdown",
        256: "display_clock",
        512: "board_limit",
        1024: "reliability",
    }
)
"""NVML's bits for why clocks are not as high as they could be."""

_EVER = (1 << 11) - 1

_FABRIC_FAULTS = (("degraded_bandwidth", 0), ("route_recovery", 2), ("route_unhealthy", 4), ("access_timeout", 6))
"""Groups of two bits of the health mask: 1 it is so, 2 it is not, 0 not supported."""

_FABRIC_CONFIGURATION_SHIFT = 8


def values(asking: Asking) -> Iterator[Point]:
    """All values of one device. Raises Gone."""
    answers: dict[tuple[tuple[str, ...], tuple[int, ...]], Any] = {}
    for row in ROWS:
        place = (row.calls, row.keys)
        if place not in answers:
            answers[place] = _first(asking, row.calls, row.keys)
        answer = answers[place]
        raw = answer[row.place] if row.place is not None and isinstance(answer, tuple | list) else answer
        found = number(raw, row.low, row.high)
        if found is not None:
            yield Point(row.family, found * row.scale, row.labels)
    yield from chain(_fields(asking), _utilization(asking), _engines(asking), _throttled(asking), _fabric(asking))
    yield from _peak(asking)


def _first(asking: Asking, calls: tuple[str, ...], keys: tuple[int, ...]) -> Any | None:
    """Always of the same call while the driver is the same: counts of two calls may differ."""
    for call in calls:
        if asking.supports(call, *keys):
            answer = asking.get(call, *keys)
            if asking.supports(call, *keys):
                return answer
    return None


def _fields(asking: Asking) -> Iterator[Point]:
    rows = [row for row in FIELD_ROWS if not row.only_without or not asking.supports(row.only_without)]
    found = asking.fields((row.field, WHOLE) for row in rows)
    for row in rows:
        value = number(found.get((row.field, WHOLE)), row.low, row.high)
        if value is not None:
            yield Point(row.family, value * row.scale, row.labels)


def _utilization(asking: Asking) -> Iterator[Point]:
    for family, percent in zip(
        (gpu.KERNEL_RESIDENT, gpu.MEMORY_BUSY), asking.get("nvmlDeviceGetUtilizationRates") or (), strict=False
    ):
        share = ratio(percent)
        if share is not None:
            yield Point(family, share)


def _engines(asking: Asking) -> Iterator[Point]:
    for engine, name in (("Encoder", "encoder"), ("Decoder", "decoder"), ("Jpg", "jpeg"), ("Ofa", "optical_flow")):
        answer = asking.get(f"nvmlDeviceGet{engine}Utilization")
        share = ratio(answer[0]) if answer else None
        if share is not None:
            yield Point(gpu.ENGINE_BUSY, share, (name,))


def _throttled(asking: Asking) -> Iterator[Point]:
    names = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
    bits = _first(asking, names, ())
    if not isinstance(bits, int) or number(bits) is None:
        return
    supported = asking.get("nvmlDeviceGetSupportedClocksEventReasons")
    possible = supported if isinstance(supported, int) and number(supported) is not None else _EVER
    for bit, reason in THROTTLE_BITS.items():
        if (possible | bits) & bit:
            yield Point(gpu.THROTTLED, float(bool(bits & bit)), (reason,))


def _fabric(asking: Asking) -> Iterator[Point]:
    answer = asking.get("nvmlDeviceGetGpuFabricInfoV")
    if answer is None:
        return
    state, status, mask, summary = answer
    if number(state, 0, 255) is None:
        return
    yield Point(gpu.FABRIC_STATE, float(state))
    if not state or number(mask) is None:
        return
    yield Point(gpu.FABRIC_STATUS, float(status))
    if summary and number(summary, 0, 255) is not None:
        yield Point(gpu.FABRIC_HEALTH, float(summary))
    for fault, shift in _FABRIC_FAULTS:
        said = mask >> shift & 3
        if said in (1, 2):
            yield Point(gpu.FABRIC_FAULT, float(said == 1), (fault,))
    if configuration := mask >> _FABRIC_CONFIGURATION_SHIFT & 0xF:
        yield Point(gpu.FABRIC_MISCONFIGURED, float(configuration))


def _peak(asking: Asking) -> Iterator[Point]:
    width_bits = number(asking.get("nvmlDeviceGetMemoryBusWidth"), 1, 65_536)
    megahertz = number(asking.get("nvmlDeviceGetMaxClockInfo", 2), 1, _MEGAHERTZ_MAX)
    if width_bits and megahertz:
        yield Point(gpu.MEMORY_PEAK_RATE, width_bits / 8 * 2 * megahertz * _MEGA)


def memory(asking: Asking) -> Memory | None:
    """Memory by the second version of the call, which tells reserved from used; else by the first. Raises Gone."""
    answer = asking.get("nvmlDeviceGetMemoryInfo_v2")
    if answer is None and not asking.supports("nvmlDeviceGetMemoryInfo_v2"):
        old = asking.get("nvmlDeviceGetMemoryInfo")
        answer = (*old, None) if old else None
    if answer is None or (total := _bytes(answer[0])) is None:
        return None
    # What is more than all of it comes of a subtraction below zero in the driver; a little more is a race in it.
    used, free, reserved = (_bytes(part, 2 * total) for part in answer[1:])
    return Memory(
        total_bytes=total,
        used_bytes=used,
        free_bytes=free if free is not None and free <= total else None,
        reserved_bytes=reserved if reserved is not None and reserved <= total else None,
    )


def _bytes(value: Any, high: float = 2.0**50) -> int | None:
    return None if number(value, 0, high) is None else int(value)


MEMORY_FAMILIES: tuple[tuple[Callable[[Memory], int | None], Family, Family], ...] = (
    (lambda found: found.total_bytes, gpu.MEMORY_TOTAL, gpu.MIG_MEMORY_TOTAL),
    (lambda found: found.used_bytes, gpu.MEMORY_USED, gpu.MIG_MEMORY_USED),
    (lambda found: found.free_bytes, gpu.MEMORY_FREE, gpu.MIG_MEMORY_FREE),
    (lambda found: found.reserved_bytes, gpu.MEMORY_RESERVED, gpu.MIG_MEMORY_RESERVED),
)
"""Which part of the memory, its family for a whole GPU, and for one instance."""
