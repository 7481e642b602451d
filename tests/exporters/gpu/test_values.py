"""Values: units, sentinels, and what one call that fails costs."""

import ctypes
from collections.abc import Callable

import pynvml  # type: ignore[import-untyped]  # the package brings no types
import pytest

from exporters.catalog import gpu
from tests.exporters.fake_nvml import hopper
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

UUID = hopper.uuid(0)
BLANKS = (0x7FFFFFFFFFFFFFF0, 0x7FFFFFFFFFFFFFF5, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 2**63 - 1)


def test_values_are_in_base_units(rig: Rig) -> None:
    rig.run()
    expected = {
        "gpu_power_watts": 627.4,
        "gpu_power_limit_watts": 700.0,
        "gpu_energy_joules_total": 123456.789,
        "gpu_temperature_celsius": 61.0,
        "gpu_memory_temperature_celsius": 70.0,
        "gpu_kernel_resident_ratio": 1.0,
        "gpu_memory_busy_ratio": 0.07,
        "gpu_pcie_transmit_bytes_total": 5e9,
        "gpu_pcie_replays_total": 3.0,
        "gpu_recovery_action": 0.0,
    }
    assert {name: rig.value(name, UUID) for name in expected} == expected
    assert rig.values("gpu_clock_hertz", uuid=UUID, clock="sm") == {"gpu=0": 1.98e9}
    assert rig.value("gpu_engine_busy_ratio", UUID, engine="decoder") == 0.12


def test_peak_of_the_memory_is_bus_width_times_twice_its_clock(rig: Rig) -> None:
    rig.fake.set(0, "nvmlDeviceGetMemoryBusWidth", 5120)
    rig.fake.set(0, "nvmlDeviceGetMaxClockInfo", 2619, (2,))
    rig.run(20)
    peak = rig.value("gpu_memory_bandwidth_peak_bytes_per_second", UUID)
    assert peak == pytest.approx(3.352e12, rel=1e-3), "an H100 SXM"
    assert rig.value("gpu_memory_bandwidth_bytes_per_second", UUID) == pytest.approx(0.38 * (peak or 0))


def test_memory_parts_sum_to_the_total(rig: Rig) -> None:
    """NVIDIA/dcgm-exporter#271, #83, #136: used and free did not make the total, since reserved was hidden."""
    rig.run()
    parts = {part: rig.value(f"gpu_memory_{part}_bytes", UUID) for part in ("total", "used", "free", "reserved")}
    assert parts["used"] == 33_934_016_512
    assert parts["reserved"] == 643_825_664
    assert parts["total"] == sum(parts[part] or 0 for part in ("used", "free", "reserved")) == 150_754_820_096


@pytest.mark.parametrize("code", [3, 13, 25])
def test_memory_of_an_old_driver_has_no_reserved_part(rig: Rig, code: int) -> None:
    rig.fake.fail(0, "nvmlDeviceGetMemoryInfo_v2", code)
    rig.run()
    assert rig.value("gpu_memory_used_bytes", UUID) == 33_934_016_512 + 643_825_664
    assert "gpu_memory_reserved_bytes" not in rig.names(UUID)


@pytest.mark.parametrize("free", [2**64 - 10 * 2**20, 80 * 2**30 + 1])
def test_more_used_than_there_is_makes_no_huge_free(rig: Rig, free: int) -> None:
    """Project-HAMi/HAMi#1181: a subtraction below zero was published as 17592186044134 MiB."""
    total = 80 * 2**30
    memory = pynvml.c_nvmlMemory_v2_t(pynvml.nvmlMemory_v2, total, 0, free, total + 10 * 2**20)
    rig.fake.set(0, "nvmlDeviceGetMemoryInfo_v2", memory)
    rig.run()
    assert rig.value("gpu_memory_total_bytes", UUID) == total
    assert rig.value("gpu_memory_free_bytes", UUID) is None


@pytest.mark.parametrize(("percent", "share"), [(0, 0.0), (100, 1.0), (130, 1.0), (900, None), (0xFFFFFFFF, None)])
def test_utilisation_above_the_whole_is_the_whole_or_nothing(rig: Rig, percent: int, share: float | None) -> None:
    """Project-HAMi/HAMi#555, #1565: utilisation above 100."""
    rig.fake.set(0, "nvmlDeviceGetUtilizationRates", pynvml.c_nvmlUtilization_t(percent, 7))
    rig.run()
    assert rig.value("gpu_kernel_resident_ratio", UUID) == share


@pytest.mark.parametrize("blank", BLANKS)
def test_what_stands_for_no_value_is_absent(rig: Rig, blank: int) -> None:
    """guilbaults/slurm-job-exporter#52, NVIDIA/DCGM#231: blanks of the driver were published as huge numbers."""
    rig.fake.set(0, "nvmlDeviceGetTotalEnergyConsumption", blank)
    for field in (82, 94, 185, 197, 230, 74):
        rig.fake.field(0, field, blank)
    rig.run()
    gone = {"gpu_energy_joules_total", "gpu_memory_temperature_celsius", "gpu_pcie_transmit_bytes_total"}
    assert not gone & rig.names(UUID)
    assert max(rig.page().values()) < 1e16
    assert rig.value("gpu_power_watts", UUID) == 627.4, "its neighbours stay"


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4, 5, 6])
def test_a_field_is_read_as_the_type_it_says(rig: Rig, kind: int) -> None:
    """NVIDIA/DCGM#516 and its like: the type of a field's value must be honoured."""
    rig.fake.field(0, 230, 4, kind=kind)
    rig.run()
    assert rig.value("gpu_recovery_action", UUID) == 4.0


def test_a_negative_field_is_negative_only_where_it_can_be(rig: Rig) -> None:
    rig.fake.field(0, 82, -5, kind=5)
    rig.fake.field(0, 230, -1, kind=5)
    rig.run()
    assert rig.value("gpu_memory_temperature_celsius", UUID) == -5.0
    assert rig.value("gpu_recovery_action", UUID) is None


CODES_FOR_GOOD = (3, 13, 25, 26)
CODES_FOR_NOW = (4, 10, 17, 20, 21, 27, 999)


@pytest.mark.parametrize("code", [*CODES_FOR_GOOD, *CODES_FOR_NOW])
def test_a_call_that_fails_costs_its_own_series(make_rig: Callable[[int], Rig], code: int) -> None:
    """NVIDIA/dcgm-exporter (one entity's error was HTTP 500 for all), e7d/docker-prometheus-nvidiasmi#4."""
    rig = make_rig(2)
    rig.run()
    whole = rig.names(UUID)
    rig.fake.fail(0, "nvmlDeviceGetPowerUsage", code)
    rig.fake.fail(0, "nvmlDeviceGetPerformanceState", code)
    rig.run(40)
    assert whole - rig.names(UUID) == {"gpu_power_watts", "gpu_performance_state"}
    assert rig.value("gpu_up", UUID) == 1
    counted = rig.value("exporter_read_errors_total", call="nvmlDeviceGetPowerUsage", code=str(code))
    assert (counted is not None) == (code in CODES_FOR_NOW)


@pytest.mark.parametrize("code", CODES_FOR_GOOD)
def test_what_is_not_supported_is_asked_once(rig: Rig, code: int) -> None:
    rig.fake.fail(0, "nvmlDeviceGetPowerUsage", code)
    rig.fake.field_fails(0, 82, code)
    rig.run(100)
    assert rig.fake.calls("nvmlDeviceGetPowerUsage") == 1


def test_what_is_not_supported_is_asked_again_by_a_new_driver(rig: Rig) -> None:
    rig.fake.fail(0, "nvmlDeviceGetPowerUsage", 3)
    rig.run(30)
    rig.fake.set(-1, "nvmlSystemGetDriverVersion", "595.10.01")
    rig.fake.set(0, "nvmlDeviceGetPowerUsage", 300_000)
    rig.fake.fail(-1, "nvmlDeviceGetCount_v2", 18, times=1)
    rig.run(60)
    assert rig.value("gpu_power_watts", UUID) == 300.0


def test_counts_of_two_calls_are_never_published_in_turn(rig: Rig) -> None:
    rig.fake.field(0, 94, 1_000_000)
    rig.run()
    rig.fake.fail(0, "nvmlDeviceGetPcieReplayCounter", 999)
    rig.run()
    assert rig.value("gpu_pcie_replays_total", UUID) is None
    rig.fake.set(0, "nvmlDeviceGetPcieReplayCounter", 4)
    rig.run()
    assert rig.value("gpu_pcie_replays_total", UUID) == 4


def test_a_field_stands_in_for_a_call_that_the_driver_lacks(rig: Rig) -> None:
    rig.fake.fail(0, "nvmlDeviceGetPcieReplayCounter", 3)
    rig.fake.field(0, 94, 17)
    rig.run()
    assert rig.value("gpu_pcie_replays_total", UUID) == 17


def test_a_counter_that_begins_anew_is_published_as_it_is(rig: Rig) -> None:
    rig.run()
    rig.fake.set(0, "nvmlDeviceGetTotalEnergyConsumption", 5_000)
    rig.run()
    assert rig.value("gpu_energy_joules_total", UUID) == 5.0


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (74, "sw_power_cap"),
        (76, "sync_boost"),
        (269, "sw_thermal_slowdown"),
        (270, "hw_thermal_slowdown"),
        (271, "hw_power_brake_slowdown"),
    ],
)
def test_throttled_time_is_in_nanoseconds(rig: Rig, field: int, reason: str) -> None:
    """NVIDIA/dcgm-exporter#589: documented as microseconds, it is nanoseconds."""
    rig.fake.field(0, field, 2_500_000_000)
    rig.run()
    assert rig.value("gpu_throttled_seconds_total", UUID, reason=reason) == 2.5


def test_each_reason_to_throttle_is_yes_or_no(rig: Rig) -> None:
    rig.fake.set(0, "nvmlDeviceGetCurrentClocksEventReasons", 8 | 64 | 1024)
    rig.run()
    reasons = {name.partition("reason=")[2]: value for name, value in rig.values("gpu_throttled", uuid=UUID).items()}
    assert {name for name, value in reasons.items() if value} == {"hw_slowdown", "hw_thermal_slowdown", "reliability"}
    assert "sw_power_cap" in reasons
    assert "board_limit" not in reasons, "the card does not have it"


def test_an_older_driver_calls_them_throttle_reasons(rig: Rig) -> None:
    rig.fake.fail(0, "nvmlDeviceGetCurrentClocksEventReasons", 13)
    rig.fake.set(0, "nvmlDeviceGetCurrentClocksThrottleReasons", 4)
    rig.run()
    assert rig.value("gpu_throttled", UUID, reason="sw_power_cap") == 1


@pytest.mark.parametrize("action", [0, 1, 7, 9])
def test_a_recovery_action_of_the_future_is_a_number_too(rig: Rig, action: int) -> None:
    """nvidia_gpu_exporter maps 0 to 4 only; drivers say up to 7, and will say more."""
    rig.fake.field(0, 230, action)
    rig.run()
    assert rig.value("gpu_recovery_action", UUID) == action


def test_a_fault_that_the_fabric_cannot_see_is_absent(rig: Rig) -> None:
    mask = 1 << 0 | 2 << 2 | 0 << 4 | 1 << 6 | 5 << 8
    rig.fake.set(0, "nvmlDeviceGetGpuFabricInfoV", hopper.fabric(mask=mask, summary=2))
    rig.run()
    faults = {name.partition("fault=")[2].partition(",")[0]: v for name, v in rig.values("gpu_fabric_fault").items()}
    assert faults == {"degraded_bandwidth": 1, "route_recovery": 0, "access_timeout": 1}
    assert rig.value("gpu_fabric_health", UUID) == 2
    assert rig.value("gpu_fabric_misconfigured", UUID) == 5


def test_a_card_without_a_fabric_says_only_that(rig: Rig) -> None:
    rig.fake.set(0, "nvmlDeviceGetGpuFabricInfoV", hopper.fabric(state=0, mask=0, summary=0))
    rig.run()
    assert rig.value("gpu_fabric_state", UUID) == 0
    assert not {"gpu_fabric_health", "gpu_fabric_fault", "gpu_fabric_status"} & rig.names(UUID)


def test_a_fabric_of_an_older_driver_is_read_by_its_older_structure(rig: Rig) -> None:
    old = pynvml.c_nvmlGpuFabricInfo_v2_t()
    old.state, old.healthMask = 3, 1
    rig.fake.set(0, "nvmlDeviceGetGpuFabricInfoV", bytes(old))
    rig.run()
    assert rig.value("gpu_fabric_fault", UUID, fault="degraded_bandwidth") == 1
    assert "gpu_fabric_health" not in rig.names(UUID)


def test_rows_are_told_in_the_order_of_the_call(rig: Rig) -> None:
    rig.fake.set(0, "nvmlDeviceGetRemappedRows", (5, 2, 1, 0))
    rig.run()
    assert rig.value("gpu_remapped_rows_total", UUID, kind="correctable") == 5
    assert rig.value("gpu_remapped_rows_total", UUID, kind="uncorrectable") == 2
    assert (rig.value("gpu_row_remap_pending", UUID), rig.value("gpu_row_remap_failed", UUID)) == (1, 0)


def test_a_worn_out_sram_is_told(rig: Rig) -> None:
    status = pynvml.c_nvmlEccSramErrorStatus_v1_t()
    status.aggregateUncParity, status.aggregateUncSecDed, status.bThresholdExceeded = 3, 4, 1
    rig.fake.set(0, "nvmlDeviceGetSramEccErrorStatus", as_structure(status))
    rig.run()
    assert rig.value("gpu_sram_uncorrected_errors_total", UUID) == 7
    assert rig.value("gpu_sram_threshold_exceeded", UUID) == 1


def test_a_name_that_is_no_text_is_replaced_and_bounded(rig: Rig) -> None:
    """Decoded strictly by pynvml, garbage in a name raised UnicodeDecodeError, and with surrogates HTTP 500."""
    rig.fake.set(0, "nvmlDeviceGetName", b'H\xff\xfe"\\\n200' + b"x" * 60)
    rig.run()
    ((labels, _value),) = [(labels, v) for (name, labels), v in rig.page().items() if name == "knotwatch_gpu_info"]
    name = dict(labels)["name"]
    assert name.startswith('H\ufffd\ufffd"\\\ufffd200')
    assert len(name) <= 96


def test_identity_is_in_the_info_series_alone(rig: Rig) -> None:
    rig.run()
    identity = next(dict(labels) for name, labels in rig.page() if name == "knotwatch_gpu_info")
    assert identity["pci_address"] == "0000:1b:00.0", "as sysfs writes it"
    assert (identity["name"], identity["minor"], identity["driver"]) == ("NVIDIA H200", "0", "570.133.20")
    assert rig.value("driver_info", driver="570.133.20", nvml="12.570.133.20", cuda="12.8") == 1
    power = next(labels for name, labels in rig.page() if name == "knotwatch_gpu_power_watts")
    assert {label for label, _ in power} == {"uuid", "gpu"}


def test_a_reading_gives_its_numbers_to_followers(rig: Rig) -> None:
    rig.run()
    value = rig.reading(UUID).value
    assert value is not None
    assert value.number(gpu.POWER) == 627.4
    assert value.number(gpu.ECC_ERRORS, "corrected", "volatile") == 0
    assert value.number(gpu.ECC_ERRORS) is None


def as_structure(value: object) -> ctypes.Structure:
    assert isinstance(value, ctypes.Structure)
    return value
