"""Activity from performance counters: two samples, one window, and no value rather than a wrong one."""

import math
from collections.abc import Callable
from pathlib import Path

import pynvml  # type: ignore[import-untyped]  # the package brings no types
import pytest

from exporters.catalog.gpm import ACTIVITIES
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import ANY
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

MakeRig = Callable[..., Rig]
UUID = hopper.uuid(0)
SM = "gpu_sm_active_ratio"
RATIOS = {family.name.removeprefix("knotwatch_") for _metric, family, _instance in ACTIVITIES}


def test_each_activity_is_its_metric_over_a_hundred(rig: Rig) -> None:
    rig.run(20)
    for metric, family, _instance in ACTIVITIES:
        assert rig.value(family.name.removeprefix("knotwatch_"), UUID) == hopper.GPM[metric] / 100
    assert rig.value("gpu_gpm_window_seconds", UUID) == 10


def test_one_sample_is_no_window(rig: Rig) -> None:
    rig.run(5)
    assert not RATIOS & rig.names(UUID)
    assert rig.value("gpu_gpm_supported", UUID) == 1


def test_two_samples_50_ms_apart_give_no_value(rig: Rig) -> None:
    """NVIDIA/DCGM#310: windows below 100 ms are invalid on Hopper."""
    rig.run(0.01)
    taken = rig.fake.calls("nvmlGpmSampleGet")
    rig.time.now_s += 0.05
    value = rig.reading(UUID).value
    assert value is not None
    assert not [point for point in value.points if point.family.name.endswith("active_ratio")]
    assert rig.fake.calls("nvmlGpmSampleGet") == taken
    assert rig.fake.calls("nvmlGpmMetricsGet") == 0


def test_a_look_that_follows_closely_tells_the_same_window(rig: Rig) -> None:
    """NVIDIA/DCGM#138, #68: the window is that of the last two samples, and nothing else."""
    rig.run(10.5)
    rig.fake.gpm(0, 2, 10.0)
    before = rig.reading(UUID).value
    assert before is not None
    assert [point.value for point in before.points if point.family.name.endswith("sm_active_ratio")] == [0.85]
    rig.run(10)
    assert rig.value(SM, UUID) == 0.10


def test_a_window_over_a_long_silence_is_none(rig: Rig) -> None:
    rig.run(20)
    rig.fake.lose(0)
    rig.run(400)
    rig.fake.withdraw(0, "*")
    rig.run(10)
    assert rig.value("gpu_power_watts", UUID) == 627.4
    rig.run(15)
    assert rig.value(SM, UUID) == 0.85
    assert rig.value("gpu_gpm_window_seconds", UUID) == 10


def test_a_window_over_a_long_pause_is_none(make_rig: MakeRig, tmp_path: Path) -> None:
    pause = tmp_path / "pause"
    rig = make_rig(1, paused=pause.exists)
    rig.run(20)
    pause.touch()
    rig.run(400)
    pause.unlink()
    rig.run(10)
    assert rig.value(SM, UUID) is None, "the mean of seven minutes says nothing of now"
    rig.run(10)
    assert rig.value("gpu_gpm_window_seconds", UUID) == 10


@pytest.mark.parametrize("rubbish", [math.nan, math.inf, -1.0, 2.0**47, 9.22e18, 1e300, 250.0])
def test_a_metric_that_is_none_is_absent_alone(rig: Rig, rubbish: float) -> None:
    rig.fake.gpm(0, 2, rubbish)
    rig.run(20)
    assert rig.value(SM, UUID) is None
    assert rig.value("gpu_tensor_active_ratio", UUID) == 0.55
    assert all(math.isfinite(value) for value in rig.page().values())


@pytest.mark.parametrize("code", [3, 21, 999])
def test_a_metric_with_a_code_of_its_own_is_absent_alone(rig: Rig, code: int) -> None:
    rig.fake.gpm(0, 10, 5.0, code=code)
    rig.run(20)
    assert rig.value("gpu_dram_active_ratio", UUID) is None
    assert rig.value("gpu_memory_bandwidth_bytes_per_second", UUID) is None
    assert rig.value(SM, UUID) == 0.85


def test_a_card_without_counters_says_so_and_takes_no_samples(rig: Rig) -> None:
    """NVIDIA/DCGM#56: before Hopper the counters are exclusive; they are left alone."""
    rig.fake.set(0, "nvmlGpmQueryDeviceSupport", pynvml.c_nvmlGpmSupport_t(pynvml.NVML_GPM_SUPPORT_VERSION, 0))
    rig.run(30)
    assert rig.value("gpu_gpm_supported", UUID) == 0
    assert not RATIOS & rig.names(UUID)
    assert rig.fake.calls("nvmlGpmSampleAlloc") == 0
    assert rig.value("gpu_kernel_resident_ratio", UUID) == 1.0, "marked as what it is"


@pytest.mark.parametrize("code", [3, 13])
def test_a_driver_without_counters_says_so_too(rig: Rig, code: int) -> None:
    rig.fake.fail(0, "nvmlGpmQueryDeviceSupport", code)
    rig.run(30)
    assert rig.value("gpu_gpm_supported", UUID) == 0


def test_counters_are_left_to_a_profiler_while_the_file_is_there(make_rig: MakeRig, tmp_path: Path) -> None:
    """NVIDIA/DCGM#56: users need a pause."""
    pause = tmp_path / "pause"
    rig = make_rig(1, paused=pause.exists)
    rig.run(20)
    pause.touch()
    taken = rig.fake.calls("nvmlGpmSampleGet")
    rig.run(60)
    assert rig.fake.calls("nvmlGpmSampleGet") == taken
    assert rig.value("gpu_gpm_paused", UUID) == 1
    assert not RATIOS & rig.names(UUID)
    pause.unlink()
    rig.run(20)
    assert rig.value(SM, UUID) is not None
    assert rig.value("gpu_gpm_paused", UUID) == 0


@pytest.mark.parametrize("call", ["nvmlGpmSampleAlloc", "nvmlGpmSampleGet", "nvmlGpmMetricsGet"])
@pytest.mark.parametrize("code", [3, 20, 999])
def test_counters_that_fail_cost_activity_alone_and_leak_nothing(rig: Rig, call: str, code: int) -> None:
    slot = ANY if call == "nvmlGpmSampleAlloc" else 0
    rig.run(20)
    rig.fake.fail(slot, call, code)
    rig.run(60)
    assert rig.value("gpu_up", UUID) == 1
    if slot == 0:
        assert not RATIOS & rig.names(UUID)
    assert rig.fake.samples_held() <= 2


def test_an_allocation_that_fails_gives_back_what_it_has(rig: Rig) -> None:
    rig.fake.fail(ANY, "nvmlGpmSampleAlloc", 20, times=1, skip=1)
    rig.run(5)
    assert rig.fake.calls("nvmlGpmSampleFree") == 1
    rig.run(20)
    assert rig.value(SM, UUID) == 0.85


def test_help_says_what_the_ratios_are_the_mean_of() -> None:
    """NVIDIA/open-gpu-kernel-modules#1122: counts cycles, so a lower clock skews it."""
    for _metric, family, instance in ACTIVITIES:
        assert "cycles" in family.text
        assert "instance alone" in instance.text
