"""The fake library, asked by pynvml alone: what tests rest on."""

import threading
from collections.abc import Iterator

import pynvml  # type: ignore[import-untyped]  # the package brings no types
import pytest

from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.fake_nvml.hopper import hopper, memory

pytestmark = pytest.mark.needs("c-compiler")

POWER = "nvmlDeviceGetPowerUsage"
WITHIN_S = 20.0


@pytest.fixture
def started(fake_nvml: FakeNvml) -> Iterator[FakeNvml]:
    hopper(fake_nvml, 0)
    hopper(fake_nvml, 1)
    pynvml.nvmlInit()
    yield fake_nvml
    pynvml.nvmlShutdown()


def handle(index: int) -> object:
    found: object = pynvml.nvmlDeviceGetHandleByIndex(index)
    return found


def code_of(call: str, *given: object) -> int:
    with pytest.raises(pynvml.NVMLError) as raised:
        getattr(pynvml, call)(*given)
    value: int = raised.value.value
    return value


def test_nothing_answers_before_it_is_started(fake_nvml: FakeNvml) -> None:
    fake_nvml.add("GPU-a")
    assert code_of("nvmlDeviceGetCount") == pynvml.NVML_ERROR_UNINITIALIZED


def test_what_was_not_set_is_not_supported(started: FakeNvml) -> None:
    slot = started.add("GPU-bare")
    assert pynvml.nvmlDeviceGetUUID(handle(2)) == "GPU-bare"
    assert code_of(POWER, handle(2)) == pynvml.NVML_ERROR_NOT_SUPPORTED
    started.set(slot, POWER, 5)
    assert pynvml.nvmlDeviceGetPowerUsage(handle(2)) == 5


def test_a_passing_answer_gives_way_to_the_lasting_one(started: FakeNvml) -> None:
    started.fail(0, POWER, 999, times=2, skip=1)
    lasting = 627_400
    assert pynvml.nvmlDeviceGetPowerUsage(handle(0)) == lasting
    assert [code_of(POWER, handle(0)) for _ in range(2)] == [999, 999]
    assert pynvml.nvmlDeviceGetPowerUsage(handle(0)) == lasting


def test_a_structure_of_another_version_is_refused(started: FakeNvml) -> None:
    started.set(0, "nvmlDeviceGetMemoryInfo_v2", b"\x01\x00\x00\x00" + bytes(36))
    given = (handle(0), pynvml.nvmlMemory_v2)
    assert code_of("nvmlDeviceGetMemoryInfo", *given) == pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    started.set(0, "nvmlDeviceGetMemoryInfo_v2", memory(100, 60, 10))
    assert pynvml.nvmlDeviceGetMemoryInfo(*given).free == 30


def test_a_blocked_call_blocks_its_caller_alone(started: FakeNvml) -> None:
    started.block(0, POWER)
    answers: list[int] = []
    caller = threading.Thread(target=lambda: answers.append(pynvml.nvmlDeviceGetPowerUsage(handle(0))), daemon=True)
    caller.start()
    pause = threading.Event()
    while not started.waiting() and caller.is_alive():
        pause.wait(0.001)
    assert pynvml.nvmlDeviceGetPowerUsage(handle(1)) == 627_400
    assert answers == []
    started.set(0, POWER, 7)
    caller.join(WITHIN_S)
    assert answers == [7]


def test_a_handle_of_an_earlier_start_is_an_invalid_argument(started: FakeNvml) -> None:
    old = handle(0)
    pynvml.nvmlShutdown()
    pynvml.nvmlInit()
    assert code_of(POWER, old) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    assert pynvml.nvmlDeviceGetPowerUsage(handle(0)) == 627_400
    assert started.calls("nvmlShutdown") == 1


def test_samples_in_the_wrong_order_are_refused(started: FakeNvml) -> None:
    first, second = pynvml.nvmlGpmSampleAlloc(), pynvml.nvmlGpmSampleAlloc()
    assert started.samples_held() == 2
    for sample in (first, second):
        pynvml.nvmlGpmSampleGet(handle(0), sample)
    request = pynvml.c_nvmlGpmMetricsGet_t()
    request.version, request.numMetrics, request.metrics[0].metricId = 1, 1, 2
    request.sample1, request.sample2 = second, first
    assert code_of("nvmlGpmMetricsGet", request) == pynvml.NVML_ERROR_INVALID_ARGUMENT
    request.sample1, request.sample2 = first, second
    pynvml.nvmlGpmMetricsGet(request)
    assert request.metrics[0].value == 85.0
    for sample in (first, second):
        pynvml.nvmlGpmSampleFree(sample)
    assert started.samples_held() == 0


def test_a_registration_for_too_much_is_refused_whole(started: FakeNvml) -> None:
    started.set(0, "nvmlDeviceGetSupportedEventTypes", 8)
    events = pynvml.nvmlEventSetCreate()
    assert code_of("nvmlDeviceRegisterEvents", handle(0), 8 | 1, events) == pynvml.NVML_ERROR_NOT_SUPPORTED
    pynvml.nvmlDeviceRegisterEvents(handle(0), 8, events)
    started.event(1, 8, 31)
    started.event(0, 8, 79)
    assert pynvml.nvmlEventSetWait_v2(events, 0).eventData == 79, "the other GPU is not registered"
    assert code_of("nvmlEventSetWait_v2", events, 0) == pynvml.NVML_ERROR_TIMEOUT


def test_answers_without_end_do_not_fill_it(started: FakeNvml) -> None:
    for number in range(40_000):
        started.set(0, POWER, number)
        if number % 10 == 0:
            started.fail(0, "nvmlDeviceGetTemperature", 999, (number,), times=1)
            started.withdraw(0, "nvmlDeviceGetTemperature", (number,))
    assert pynvml.nvmlDeviceGetPowerUsage(handle(0)) == 39_999
