"""Who holds a GPU: lists that are checked before they are believed."""

import ctypes

import pynvml  # type: ignore[import-untyped]  # the package brings no types
import pytest

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import NONE
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

UUID = hopper.uuid(0)
COMPUTE = "nvmlDeviceGetComputeRunningProcesses_v3"
LISTS = (COMPUTE, "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v3")
GIB = 2**30


def held(rig: Rig) -> dict[str, float]:
    """Bytes by pid."""
    return {
        dict(labels)["pid"]: value
        for (name, labels), value in rig.page().items()
        if name == "knotwatch_gpu_process_memory_bytes"
    }


def test_processes_and_what_they_hold(rig: Rig) -> None:
    rig.fake.processes(0, COMPUTE, [(100, GIB, NONE, NONE), (200, 2 * GIB, NONE, NONE)])
    rig.run()
    assert held(rig) == {"100": GIB, "200": 2 * GIB}
    assert rig.value("gpu_processes", UUID) == 2
    rig.fake.processes(0, COMPUTE, [(200, 3 * GIB, NONE, NONE)])
    rig.run()
    assert held(rig) == {"200": 3 * GIB}, "one that has ended leaves no series"


def test_a_process_in_two_lists_is_one(rig: Rig) -> None:
    for call in LISTS:
        rig.fake.processes(0, call, [(100, GIB, NONE, NONE)])
    rig.run()
    assert held(rig) == {"100": GIB}
    assert rig.value("gpu_processes", UUID) == 1


def test_bytes_that_are_not_told_are_absent_and_the_process_counts(rig: Rig) -> None:
    """XuehaiPan/nvitop#79, netdata#4892: a missing size became the value."""
    rig.fake.processes(0, COMPUTE, [(100, None, NONE, NONE)])
    rig.run()
    assert held(rig) == {}
    assert rig.value("gpu_processes", UUID) == 1


def test_a_pid_that_cannot_be_is_none(rig: Rig) -> None:
    """gpuopenanalytics/pynvml#50, XuehaiPan/nvitop#88: a driver's structure had pid and memory exchanged."""
    rows = [(4026531840, GIB, NONE, NONE), (0, GIB, NONE, NONE), (100, hopper.TOTAL_BYTES * 4, NONE, NONE)]
    rig.fake.processes(0, COMPUTE, rows)
    rig.run()
    assert held(rig) == {}
    assert rig.value("gpu_processes", UUID) == 1, "the third is one, though not what it holds"


def test_a_list_that_grew_between_two_calls_is_asked_again(rig: Rig) -> None:
    rig.fake.fail(0, COMPUTE, 7, times=1, skip=1)
    rig.run()
    assert held(rig) == {"4000": hopper.USED_BYTES}
    assert not rig.values("exporter_read_errors_total", call="nvmlDeviceGetComputeRunningProcesses")


def test_a_list_that_always_grows_is_an_error_once_a_look(rig: Rig) -> None:
    rig.fake.fail(0, COMPUTE, 7)
    rig.run(9)
    assert rig.value("gpu_up", UUID) == 1
    counted = rig.value("exporter_read_errors_total", call="nvmlDeviceGetComputeRunningProcesses", code="7")
    assert counted == 1


@pytest.mark.parametrize("code", [3, 13, 999])
def test_no_list_is_not_an_empty_list(rig: Rig, code: int) -> None:
    for call in LISTS:
        rig.fake.fail(0, call, code)
    rig.run()
    value = rig.reading(UUID).value
    assert value is not None
    assert value.processes is None
    assert rig.value("gpu_processes", UUID) is None


def test_a_function_that_the_driver_lacks_is_no_crash(rig: Rig) -> None:
    """wookayin/gpustat, XuehaiPan/nvitop#152: a mismatch that is no NVMLError ended the program."""
    rig.fake.fail(0, COMPUTE, 13)
    rig.run(30)
    assert rig.value("gpu_up", UUID) == 1
    assert rig.value("gpu_processes", UUID) == 0
    assert rig.fake.calls(COMPUTE) == 1


def test_processes_are_bounded(rig: Rig) -> None:
    rig.fake.processes(0, COMPUTE, [(pid, GIB, NONE, NONE) for pid in range(1, 257)])
    rig.fake.processes(0, LISTS[1], [(pid, GIB, NONE, NONE) for pid in range(1000, 1100)])
    rig.run()
    assert len(held(rig)) == 256


def usage(rig: Rig) -> dict[str, float]:
    return {
        dict(labels)["pid"]: value
        for (name, labels), value in rig.page().items()
        if name == "knotwatch_gpu_process_kernel_resident_ratio"
    }


def test_use_by_a_process_is_of_the_last_minute_and_at_most_the_whole(rig: Rig) -> None:
    """Project-HAMi/HAMi#1565, #555: samples above 100, and old ones that make an idle GPU busy."""
    now_us = int(rig.time.moment().wall_s * 1e6)
    rows = [
        (1, now_us, 130),
        (2, now_us - 600_000_000, 90),
        (3, now_us, 40),
        (3, now_us - 5_000_000, 99),
        (4, now_us, 900),
    ]
    rig.fake.usage(0, rows)
    rig.run(5)
    assert usage(rig) == {"1": 1.0, "3": 0.4}


@pytest.mark.parametrize("answer", ["none", "not found"])
def test_no_samples_of_use_is_no_error(rig: Rig, answer: str) -> None:
    """Where there are none, pynvml raises success, or 6."""
    if answer == "none":
        rig.fake.usage(0, [])
    else:
        rig.fake.fail(0, "nvmlDeviceGetProcessUtilization", 6)
    rig.run(40)
    assert usage(rig) == {}
    assert not rig.values("exporter_read_errors_total")
    assert rig.fake.calls("nvmlDeviceGetProcessUtilization") > 2


def test_times_do_not_fill_the_memory_of_what_is_supported(rig: Rig) -> None:
    rig.fake.fail(0, "nvmlDeviceGetProcessUtilization", 3)
    rig.run(300)
    assert rig.fake.calls("nvmlDeviceGetProcessUtilization") == 1


def test_rows_are_as_the_driver_lays_them_out() -> None:
    assert ctypes.sizeof(pynvml.c_nvmlProcessInfo_v3_t) == 24
    assert ctypes.sizeof(pynvml.c_nvmlFieldValue_t) == 40
    assert ctypes.sizeof(pynvml.c_nvmlGpmMetric_t) == 40
