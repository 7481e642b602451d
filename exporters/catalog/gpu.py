"""What each GPU says of itself: memory, power, clocks, heat, health. Labels: its UUID, and its index at present."""

from exporters.catalog.family import Family, Group, Kind

GPU = ("uuid", "gpu")
"""The labels of every series of a device. Who it is (model, address, driver) is in `knotwatch_gpu_info`."""


def _family(kind: Kind, name: str, text: str, source: str, *labels: str) -> Family:
    return Family(
        name=f"knotwatch_gpu_{name}", kind=kind, group=Group.GPU, text=text, source=source, labels=(*GPU, *labels)
    )


def _gauge(name: str, text: str, source: str, *labels: str) -> Family:
    return _family(Kind.GAUGE, name, text, source, *labels)


def _counter(name: str, text: str, source: str, *labels: str) -> Family:
    return _family(Kind.COUNTER, f"{name}_total", text, source, *labels)


IDENTITY = _family(
    Kind.IDENTITY,
    "info",
    "Which GPU this is; kept while the GPU is lost.",
    "name, PCI address, minor number, serial number, VBIOS and driver version",
    "name",
    "pci_address",
    "minor",
    "serial",
    "vbios",
    "driver",
)
MEMORY_TOTAL = _gauge(
    "memory_total_bytes", "Memory of the device: used, reserved and free together.", "nvmlDeviceGetMemoryInfo_v2"
)
MEMORY_USED = _gauge(
    "memory_used_bytes",
    "Memory that processes hold, without what the driver keeps; with it where memory_reserved_bytes is absent.",
    "nvmlDeviceGetMemoryInfo_v2",
)
MEMORY_RESERVED = _gauge(
    "memory_reserved_bytes", "Memory that driver and firmware keep for themselves.", "nvmlDeviceGetMemoryInfo_v2"
)
MEMORY_FREE = _gauge("memory_free_bytes", "Memory that nobody holds.", "nvmlDeviceGetMemoryInfo_v2")
MEMORY_PEAK_RATE = _gauge(
    "memory_bandwidth_peak_bytes_per_second",
    "What the memory can move at its highest clock, by bus width; a product sheet may say a little less.",
    "nvmlDeviceGetMemoryBusWidth / 8 x 2 x nvmlDeviceGetMaxClockInfo(memory)",
)
KERNEL_RESIDENT = _gauge(
    "kernel_resident_ratio",
    "Share of the last sample period in which any kernel was resident, on however few multiprocessors: a process that "
    "only waits in a collective shows 1. See sm_active_ratio for work.",
    "nvmlDeviceGetUtilizationRates gpu / 100, values above 100 count as 100",
)
MEMORY_BUSY = _gauge(
    "memory_busy_ratio",
    "Share of the last sample period in which memory was read or written at all; not bandwidth.",
    "nvmlDeviceGetUtilizationRates memory / 100",
)
ENGINE_BUSY = _gauge(
    "engine_busy_ratio",
    "Share of the last sample period in which a media engine worked.",
    "nvmlDeviceGetEncoder-, Decoder-, Jpg-, OfaUtilization / 100",
    "engine",
)
POWER = _gauge("power_watts", "Power that the board draws.", "nvmlDeviceGetPowerUsage / 1000")
POWER_AVERAGE = _gauge("power_average_watts", "Power, mean of the last second.", "field 185 / 1000")
POWER_INSTANT = _gauge("power_instant_watts", "Power at the moment.", "field 186 / 1000")
POWER_LIMIT = _gauge(
    "power_limit_watts", "Power that the board may draw now.", "nvmlDeviceGetEnforcedPowerLimit / 1000"
)
ENERGY = _counter(
    "energy_joules", "Energy since the driver was loaded.", "nvmlDeviceGetTotalEnergyConsumption, else field 83, / 1000"
)
TEMPERATURE = _gauge(
    "temperature_celsius", "Temperature of the chip.", "nvmlDeviceGetTemperatureV(gpu), else the older"
)
MEMORY_TEMPERATURE = _gauge("memory_temperature_celsius", "Temperature of the memory.", "field 82")
TEMPERATURE_MARGIN = _gauge(
    "temperature_margin_celsius", "Degrees left until the chip slows down.", "nvmlDeviceGetMarginTemperature"
)
CLOCK = _gauge("clock_hertz", "Clock at the moment.", "nvmlDeviceGetClockInfo x 1e6", "clock")
CLOCK_MAX = _gauge("clock_max_hertz", "Highest clock of the card.", "nvmlDeviceGetMaxClockInfo x 1e6", "clock")
PERFORMANCE_STATE = _gauge("performance_state", "P-state: 0 fastest, 15 slowest.", "nvmlDeviceGetPerformanceState")
THROTTLED = _gauge(
    "throttled",
    "Whether clocks are held down for the reason now (1) or not (0).",
    "bits of nvmlDeviceGetCurrentClocksEventReasons",
    "reason",
)
THROTTLED_SECONDS = _counter(
    "throttled_seconds",
    "Time for which clocks were held down for the reason.",
    "fields 74, 76, 269-271 / 1e9",
    "reason",
)
PCIE_TRANSMIT = _counter("pcie_transmit_bytes", "Bytes sent over PCIe.", "field 197")
PCIE_RECEIVE = _counter("pcie_receive_bytes", "Bytes received over PCIe.", "field 198")
PCIE_REPLAYS = _counter("pcie_replays", "Retries on PCIe.", "nvmlDeviceGetPcieReplayCounter, else field 94")
PCIE_ERRORS = _counter("pcie_errors", "Errors on PCIe by kind.", "fields 173-183", "kind")
PCIE_GENERATION = _gauge(
    "pcie_link_generation", "PCIe generation at the moment.", "nvmlDeviceGetCurrPcieLinkGeneration"
)
PCIE_WIDTH = _gauge("pcie_link_lanes", "PCIe lanes at the moment.", "nvmlDeviceGetCurrPcieLinkWidth")
PCIE_GENERATION_MAX = _gauge(
    "pcie_link_generation_max", "Highest PCIe generation of card and slot.", "nvmlDeviceGetMaxPcieLinkGeneration"
)
PCIE_WIDTH_MAX = _gauge("pcie_link_lanes_max", "Most PCIe lanes of card and slot.", "nvmlDeviceGetMaxPcieLinkWidth")
ECC_ERRORS = _counter(
    "ecc_errors",
    "Memory errors: `volatile` since the driver was loaded, `aggregate` in the life of the card.",
    "nvmlDeviceGetTotalEccErrors",
    "kind",
    "life",
)
ECC_ENABLED = _gauge("ecc_enabled", "Whether memory errors are corrected (1) or not (0).", "nvmlDeviceGetEccMode")
SRAM_UNCORRECTED = _counter(
    "sram_uncorrected_errors", "Uncorrectable SRAM errors in the life of the card.", "nvmlDeviceGetSramEccErrorStatus"
)
SRAM_THRESHOLD = _gauge(
    "sram_threshold_exceeded",
    "Whether the card counts as worn out by SRAM errors (1) or not (0).",
    "nvmlDeviceGetSramEccErrorStatus bThresholdExceeded",
)
REMAPPED_ROWS = _counter(
    "remapped_rows",
    "Memory rows replaced by spare ones, by the kind of error that led to it.",
    "nvmlDeviceGetRemappedRows, else fields 142, 143",
    "kind",
)
REMAP_PENDING = _gauge(
    "row_remap_pending", "Whether rows wait for a reset to be replaced.", "nvmlDeviceGetRemappedRows, else field 144"
)
REMAP_FAILED = _gauge(
    "row_remap_failed", "Whether a row could not be replaced.", "nvmlDeviceGetRemappedRows, else field 145"
)
RECOVERY_ACTION = _gauge(
    "recovery_action",
    "What the driver asks for: 0 nothing, 1 reset the GPU, 2 reboot, 3 drain peers, 4 drain and reset, "
    "5 recover the IMEX domain, 6 reset the bus, 7 reboot the system; others as they come.",
    "field 230",
)
FABRIC_STATE = _gauge(
    "fabric_state",
    "Registration with the NVLink fabric: 0 not supported, 1 not started, 2 in progress, 3 completed.",
    "nvmlDeviceGetGpuFabricInfoV state",
)
FABRIC_STATUS = _gauge(
    "fabric_status", "NVML's code for how the registration ended; 0 is success.", "nvmlDeviceGetGpuFabricInfoV status"
)
FABRIC_HEALTH = _gauge(
    "fabric_health", "Summary: 1 healthy, 2 unhealthy, 3 limited capacity.", "nvmlDeviceGetGpuFabricInfoV healthSummary"
)
FABRIC_FAULT = _gauge(
    "fabric_fault",
    "Whether the fabric reports the fault for this GPU (1) or rules it out (0).",
    "two-bit groups of nvmlDeviceGetGpuFabricInfoV healthMask; absent where it says not supported",
    "fault",
)
FABRIC_MISCONFIGURED = _gauge(
    "fabric_misconfigured",
    "Code of a wrong fabric configuration: 1 none, 2 system GUID, 3 chassis, 4 no partition, 5 too few links, "
    "6 firmware, 7 location, 8 GPU state.",
    "bits 8-11 of nvmlDeviceGetGpuFabricInfoV healthMask",
)
MIG_ENABLED = _gauge("mig_enabled", "Whether the GPU is divided into instances (1) or not (0).", "nvmlDeviceGetMigMode")
MIG_INFO = _family(
    Kind.IDENTITY,
    "mig_info",
    "One MIG device: a compute instance of a GPU instance.",
    "nvmlDeviceGetMigDeviceHandleByIndex, GetUUID, GetGpuInstanceId, GetComputeInstanceId, GetName",
    "mig_uuid",
    "gpu_instance",
    "compute_instance",
    "profile",
)
MIG_MEMORY_TOTAL = _gauge(
    "mig_memory_total_bytes",
    "Memory of a GPU instance.",
    "nvmlDeviceGetMemoryInfo_v2 of the MIG device",
    "gpu_instance",
)
MIG_MEMORY_USED = _gauge(
    "mig_memory_used_bytes",
    "Memory held in a GPU instance.",
    "nvmlDeviceGetMemoryInfo_v2 of the MIG device",
    "gpu_instance",
)
MIG_MEMORY_RESERVED = _gauge(
    "mig_memory_reserved_bytes",
    "Memory of a GPU instance that driver and firmware keep.",
    "nvmlDeviceGetMemoryInfo_v2 of the MIG device",
    "gpu_instance",
)
MIG_MEMORY_FREE = _gauge(
    "mig_memory_free_bytes",
    "Memory of a GPU instance that nobody holds.",
    "nvmlDeviceGetMemoryInfo_v2 of the MIG device",
    "gpu_instance",
)


def _node(kind: Kind, name: str, text: str, source: str, *labels: str) -> Family:
    return Family(name=f"knotwatch_{name}", kind=kind, group=Group.GPU, text=text, source=source, labels=labels)


NVML_UP = _node(Kind.GAUGE, "nvml_up", "Whether the driver library answers (1) or not (0).", "nvmlInit")
NVML_INIT_FAILURES = _node(
    Kind.COUNTER, "nvml_init_failures_total", "How often the driver library refused to start.", "nvmlInit"
)
NVML_STARTS = _node(
    Kind.COUNTER,
    "nvml_starts_total",
    "How often the driver library was started: 1 in a life without trouble.",
    "nvmlInit",
)
DRIVER_INFO = _node(
    Kind.IDENTITY,
    "driver_info",
    "Versions of the NVIDIA driver, of its library, and the CUDA version that it supports.",
    "nvmlSystemGetDriverVersion, GetNVMLVersion, GetCudaDriverVersion_v2",
    "driver",
    "nvml",
    "cuda",
)
EXPECTED = _node(
    Kind.GAUGE,
    "gpus_expected",
    "GPUs that should be here: as configured, else the most that PCI or the driver has shown since the start.",
    "setting, sysfs, nvmlDeviceGetCount_v2",
)
VISIBLE = _node(
    Kind.GAUGE, "gpus_visible", "GPUs whose identity the driver tells.", "nvmlDeviceGetCount_v2, nvmlDeviceGetUUID"
)
PCI_DEVICES = _node(
    Kind.GAUGE, "gpus_on_pci", "GPUs that the kernel sees on PCI.", "sysfs: vendor 0x10de, class 0x0300 and 0x0302"
)
