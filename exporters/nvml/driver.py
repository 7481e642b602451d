"""Who answers: the driver library of this machine through pynvml, or anything that gives the same plain answers.

Answers are numbers, texts and tuples of them, never structures of the library, so that they can be written down and
given again. Handles and samples are opaque: whoever answers makes them and gets them back.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, Protocol

MISMATCH = "mismatch"
"""Code of a function that this driver does not have in the version that pynvml knows."""

FIELD_VALUES = "nvmlDeviceGetFieldValues"
NO_INSTANCE = 0xFFFFFFFF
"""What NVML writes for an instance that there is not."""


class Fault(Exception):  # noqa: N818  it is NVML's word on one call, not a failure of ours
    """The call was refused. `code`: NVML's number as text, or a word for what cannot have one."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Driver(Protocol):
    """Whoever answers. `ask` and the others raise Fault and nothing else, and may block for ever."""

    def open(self) -> None: ...

    def close(self) -> None: ...

    def ask(self, call: str, handle: object | None, *keys: Any) -> Any:
        """The answer of an NVML function, as a plain value. `handle` None: the call is about the whole machine."""
        ...


def _memory(nvml: Any, handle: object) -> tuple[int, int, int, int]:
    """Total, used, free, reserved."""
    found = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    return found.total, found.used, found.free, found.reserved


def _memory_old(nvml: Any, handle: object) -> tuple[int, int, int]:
    """Total, used (what is reserved included), free."""
    found = nvml.nvmlDeviceGetMemoryInfo(handle)
    return found.total, found.used, found.free


def _utilization(nvml: Any, handle: object) -> tuple[int, int]:
    found = nvml.nvmlDeviceGetUtilizationRates(handle)
    return found.gpu, found.memory


def _pci(nvml: Any, handle: object) -> str:
    return str(nvml.nvmlDeviceGetPciInfo_v3(handle).busId)


def _sram(nvml: Any, handle: object) -> tuple[int, int]:
    """Uncorrectable errors in the life of the card, and whether that is beyond the threshold."""
    found = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, nvml.byref(found))
    return found.aggregateUncParity + found.aggregateUncSecDed, found.bThresholdExceeded


def _fabric(nvml: Any, handle: object) -> tuple[int, int, int, int]:
    """State, status, health mask, health summary."""
    found = nvml.c_nvmlGpuFabricInfo_v3_t()
    try:
        nvml.nvmlDeviceGetGpuFabricInfoV(handle, nvml.byref(found))
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
            raise
        found = nvml.c_nvmlGpuFabricInfo_v2_t()
        nvml.nvmlDeviceGetGpuFabricInfoV(handle, nvml.byref(found))
        return found.state, found.status, found.healthMask, 0
    return found.state, found.status, found.healthMask, found.healthSummary


def _processes(function: str) -> Callable[..., tuple[tuple[int, int | None, int, int], ...]]:
    """Pid, bytes, GPU instance, compute instance of each process."""

    def ask(nvml: Any, handle: object) -> tuple[tuple[int, int | None, int, int], ...]:
        found = getattr(nvml, function)(handle)
        return tuple((each.pid, each.usedGpuMemory, each.gpuInstanceId, each.computeInstanceId) for each in found)

    return ask


def _usage(nvml: Any, handle: object, since_us: int) -> tuple[tuple[int, int, int], ...]:
    """Pid, time in microseconds, percent of the time with a kernel. None since then: pynvml raises success, or 6."""
    try:
        found = nvml.nvmlDeviceGetProcessUtilization(handle, since_us)
    except nvml.NVMLError as error:
        if error.value in (nvml.NVML_SUCCESS, nvml.NVML_ERROR_NOT_FOUND):
            return ()
        raise
    return tuple((each.pid, each.timeStamp, each.smUtil) for each in found)


_VALUE_KINDS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


def _fields(nvml: Any, handle: object, *asked: tuple[int, int]) -> tuple[tuple[int, float], ...]:
    """Of each (field, scope) its own code, and its value if that is 0."""
    found = nvml.nvmlDeviceGetFieldValues(handle, list(asked))
    return tuple(
        (each.nvmlReturn, getattr(each.value, _VALUE_KINDS[each.valueType]) if not each.nvmlReturn else 0)
        if each.valueType < len(_VALUE_KINDS)
        else (nvml.NVML_ERROR_UNKNOWN, 0)
        for each in found
    )


def _is_mig(nvml: Any, handle: object) -> int:
    return int(nvml.nvmlDeviceIsMigDeviceHandle(handle).value)


def _gpm_support(nvml: Any, handle: object) -> int:
    return int(nvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice)


def _gpm_take(nvml: Any, handle: object, gpu_instance: int | None, sample: object) -> None:
    """Fill a sample from the device, or from one of its GPU instances."""
    if gpu_instance is None:
        nvml.nvmlGpmSampleGet(handle, sample)
    else:
        nvml.nvmlGpmMigSampleGet(handle, gpu_instance, sample)


def _gpm_request(nvml: Any, _handle: None) -> object:
    """Room for one request: tens of kilobytes, so it is made once and used again."""
    return nvml.c_nvmlGpmMetricsGet_t()


def _gpm_metrics(
    nvml: Any, _handle: None, request: Any, older: object, newer: object, metrics: tuple[int, ...]
) -> tuple[tuple[int, float], ...]:
    """Of each metric its own code, and its value between the two samples."""
    request.version, request.numMetrics = nvml.NVML_GPM_METRICS_GET_VERSION, len(metrics)
    request.sample1, request.sample2 = older, newer
    for place, metric in enumerate(metrics):
        request.metrics[place].metricId = metric
        request.metrics[place].nvmlReturn = nvml.NVML_ERROR_NO_DATA
    nvml.nvmlGpmMetricsGet(request)
    return tuple((request.metrics[place].nvmlReturn, request.metrics[place].value) for place in range(len(metrics)))


def _event_wait(nvml: Any, events: object, wait_ms: int) -> tuple[int, int, int, int, int]:
    """Address of the device, type, number, GPU instance, compute instance. Refused with 10 if none comes in time."""
    found = nvml.nvmlEventSetWait_v2(events, wait_ms)
    return _address(nvml, found.device), found.eventType, found.eventData, found.gpuInstanceId, found.computeInstanceId


def _address(nvml: Any, handle: object) -> int:
    """What tells one handle from another without asking the device, which may be lost by then."""
    return int(nvml.cast(handle, nvml.c_void_p).value or 0)


_PROCESS_LISTS = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses")

CALLS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "nvmlDeviceGetMemoryInfo_v2": _memory,
        "nvmlDeviceGetMemoryInfo": _memory_old,
        "nvmlDeviceGetUtilizationRates": _utilization,
        "nvmlDeviceGetPciInfo_v3": _pci,
        "nvmlDeviceGetSramEccErrorStatus": _sram,
        "nvmlDeviceGetGpuFabricInfoV": _fabric,
        **{name: _processes(name) for name in (*_PROCESS_LISTS, "nvmlDeviceGetMPSComputeRunningProcesses")},
        "nvmlDeviceGetProcessUtilization": _usage,
        FIELD_VALUES: _fields,
        "nvmlDeviceIsMigDeviceHandle": _is_mig,
        "nvmlGpmQueryDeviceSupport": _gpm_support,
        "gpm_take": _gpm_take,
        "gpm_request": _gpm_request,
        "gpm_metrics": _gpm_metrics,
        "nvmlEventSetWait_v2": _event_wait,
        "handle_address": _address,
    }
)
"""Calls whose answer is taken apart here. All others are asked as they are named and answer plain values."""


class Pynvml:
    """The driver library of this machine. pynvml is imported when it is opened: it is large, and not always needed."""

    def __init__(self) -> None:
        self._nvml: ModuleType | None = None

    def open(self) -> None:
        try:
            self._nvml = import_module("pynvml")
        except ImportError:
            raise Fault("12") from None
        self.ask("nvmlInit", None)

    def close(self) -> None:
        self.ask("nvmlShutdown", None)

    def ask(self, call: str, handle: object | None, *keys: Any) -> Any:
        nvml = self._nvml
        if nvml is None:
            raise Fault("1")
        try:
            if (taken_apart := CALLS.get(call)) is not None:
                return taken_apart(nvml, handle, *keys)
            return getattr(nvml, call)(*keys) if handle is None else getattr(nvml, call)(handle, *keys)
        except nvml.NVMLError as error:
            raise Fault(str(error.value)) from None
        except nvml.NVMLLibraryMismatchError:
            raise Fault(MISMATCH) from None
        except UnicodeDecodeError as error:
            # pynvml decodes strictly; the bytes are a name all the same.
            return bytes(error.object).split(b"\0")[0].decode("utf-8", errors="replace")
        except Exception as error:  # noqa: BLE001  whatever pynvml makes of rubbish costs this one answer
            raise Fault(type(error).__name__) from None
