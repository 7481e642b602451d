"""What a healthy node of eight Hopper GPUs answers: the starting point of most tests, and of the demonstration.

Figures are those of public captures of H100 and H200 cards where there are some.
"""

import ctypes
from collections.abc import Mapping
from types import MappingProxyType

import pynvml  # type: ignore[import-untyped]  # the package brings no types

from tests.exporters.fake_nvml.fake import FakeNvml

LINKS = 18
TOTAL_BYTES = 150_754_820_096
RESERVED_BYTES = 643_825_664
USED_BYTES = 33_934_016_512
EVENTS = 0x1FF9F
"""Event types that the card supports: errors of memory, XID, clocks, MIG configuration, recovery action."""

_NUMBERS: Mapping[str, object] = MappingProxyType(
    {
        "nvmlDeviceGetName": "NVIDIA H200",
        "nvmlDeviceGetVbiosVersion": "96.00.A5.00.03",
        "nvmlDeviceGetNumaNodeId": 0,
        "nvmlDeviceGetArchitecture": 9,
        "nvmlDeviceGetCudaComputeCapability": (9, 0),
        "nvmlDeviceGetMemoryBusWidth": 6144,
        "nvmlDeviceGetPowerUsage": 627_400,
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        "nvmlDeviceGetTotalEnergyConsumption": 123_456_789,
        "nvmlDeviceGetPerformanceState": 0,
        "nvmlDeviceGetPersistenceMode": 1,
        "nvmlDeviceGetEccMode": (1, 1),
        "nvmlDeviceGetMigMode": (0, 0),
        "nvmlDeviceIsMigDeviceHandle": 0,
        "nvmlDeviceGetMaxMigDeviceCount": 7,
        "nvmlDeviceGetPcieReplayCounter": 3,
        "nvmlDeviceGetCurrPcieLinkGeneration": 5,
        "nvmlDeviceGetCurrPcieLinkWidth": 16,
        "nvmlDeviceGetMaxPcieLinkGeneration": 5,
        "nvmlDeviceGetMaxPcieLinkWidth": 16,
        "nvmlDeviceGetEncoderUtilization": (0, 167_000),
        "nvmlDeviceGetDecoderUtilization": (12, 167_000),
        "nvmlDeviceGetJpgUtilization": (0, 167_000),
        "nvmlDeviceGetOfaUtilization": (0, 167_000),
        "nvmlDeviceGetCurrentClocksEventReasons": 4,
        "nvmlDeviceGetSupportedClocksEventReasons": 0x1FF,
        "nvmlDeviceGetSupportedEventTypes": EVENTS,
        "nvmlDeviceGetRemappedRows": (1, 0, 0, 0),
        "nvmlDeviceGetUtilizationRates": pynvml.c_nvmlUtilization_t(100, 7),
        "nvmlDeviceGetMemoryInfo": pynvml.c_nvmlMemory_t(
            TOTAL_BYTES, TOTAL_BYTES - USED_BYTES - RESERVED_BYTES, USED_BYTES + RESERVED_BYTES
        ),
        "nvmlDeviceGetRowRemapperHistogram": pynvml.c_nvmlRowRemapperHistogramValues(3072, 0, 0, 0, 0),
    }
)
_CHOSEN: Mapping[tuple[str, tuple[int, ...]], int] = MappingProxyType(
    {
        **{("nvmlDeviceGetClockInfo", (clock,)): mhz for clock, mhz in ((0, 1980), (1, 1980), (2, 3201), (3, 1545))},
        **{("nvmlDeviceGetMaxClockInfo", (clock,)): mhz for clock, mhz in ((0, 1980), (1, 1980), (2, 3201), (3, 1545))},
        ("nvmlDeviceGetTemperature", (0,)): 61,
        **{("nvmlDeviceGetTotalEccErrors", (kind, life)): 0 for kind in (0, 1) for life in (0, 1)},
    }
)
_FIELDS: Mapping[int, float] = MappingProxyType(
    {
        74: 2_500_000_000,
        76: 0,
        82: 70,
        94: 3,
        185: 610_000,
        186: 627_400,
        197: 5_000_000_000,
        198: 7_000_000_000,
        230: 0,
        269: 0,
        270: 0,
        271: 0,
    }
)
GPM: Mapping[int, float] = MappingProxyType(
    {1: 97.0, 2: 85.0, 3: 43.0, 4: 11.0, 5: 55.0, 6: 0.0, 7: 54.0, 8: 0.0, 9: 1.0, 10: 38.0, 11: 0.0, 12: 12.0, 13: 4.0}
)
"""Percentages of the metrics 1 to 13 under a training load."""
_LINK_FIELDS: Mapping[int, int] = MappingProxyType({161: 0, 162: 0, 163: 0, 164: 26_562, 165: 1})


def memory(total: int, used: int, reserved: int) -> ctypes.Structure:
    """Memory info, version 2: what is neither used nor reserved is free."""
    found = pynvml.c_nvmlMemory_v2_t(pynvml.nvmlMemory_v2, total, reserved, max(0, total - used - reserved), used)
    return _structure(found)


def uuid(number: int) -> str:
    """The UUID of a card of this node."""
    return f"GPU-{number:08x}-0000-0000-0000-{number:012x}"


def hopper(fake: FakeNvml, number: int) -> int:
    """One more healthy card; `number` makes its UUID, serial and address. Returns its slot."""
    slot = fake.add(uuid(number))
    healthy(fake, slot, number)
    return slot


def healthy(fake: FakeNvml, slot: int, number: int) -> None:
    """Every answer of a healthy card, whatever it answered before; calls that may be blocked come last."""
    for field, said in _FIELDS.items():
        fake.field(slot, field, said)
    for metric, percent in GPM.items():
        fake.gpm(slot, metric, percent)
    links(fake, slot)
    for call, value in _NUMBERS.items():
        fake.set(slot, call, value)
    for (call, keys), chosen in _CHOSEN.items():
        fake.set(slot, call, chosen, keys)
    fake.set(slot, "nvmlDeviceGetMinorNumber", number)
    fake.set(slot, "nvmlDeviceGetSerial", f"165402100{number:04d}")
    fake.set(slot, "nvmlDeviceGetPciInfo_v3", pci(number))
    fake.set(slot, "nvmlDeviceGetMemoryInfo_v2", memory(TOTAL_BYTES, USED_BYTES, RESERVED_BYTES))
    fake.set(slot, "nvmlDeviceGetTemperatureV", pynvml.c_nvmlTemperature_v1_t(pynvml.nvmlTemperature_v1, 0, 61), (0,))
    fake.set(slot, "nvmlDeviceGetMarginTemperature", margin(29))
    fake.set(slot, "nvmlDeviceGetSramEccErrorStatus", _structure(pynvml.c_nvmlEccSramErrorStatus_v1_t()))
    fake.set(slot, "nvmlDeviceGetGpuFabricInfoV", fabric())
    fake.set(slot, "nvmlGpmQueryDeviceSupport", pynvml.c_nvmlGpmSupport_t(pynvml.NVML_GPM_SUPPORT_VERSION, 1))
    for call in ("Compute", "Graphics", "MPSCompute"):
        rows = [(4000 + number, USED_BYTES, 0xFFFFFFFF, 0xFFFFFFFF)] if call == "Compute" else []
        fake.processes(slot, f"nvmlDeviceGet{call}RunningProcesses_v3", rows)


def links(fake: FakeNvml, slot: int, count: int = LINKS) -> None:
    """Active links with byte counters of their own (KiB), and their sum under the scope of all ones."""
    fake.field(slot, 91, count, kind=1)
    for field in (138, 139):
        for link in range(count):
            fake.field(slot, field, 1000 + link, scope=link)
        fake.field(slot, field, sum(1000 + link for link in range(count)), scope=0xFFFFFFFF)
    for field, value in _LINK_FIELDS.items():
        for link in range(count):
            fake.field(slot, field, value, scope=link, kind=1)


def node(fake: FakeNvml, count: int = 8) -> list[int]:
    """A node of so many cards, and its driver. Returns the slots."""
    fake.set(-1, "nvmlSystemGetDriverVersion", "570.133.20")
    fake.set(-1, "nvmlSystemGetNVMLVersion", "12.570.133.20")
    fake.set(-1, "nvmlSystemGetCudaDriverVersion_v2", 12080)
    return [hopper(fake, number) for number in range(count)]


def pci(number: int) -> ctypes.Structure:
    """The address of a card: bus 0x1b and on."""
    found = pynvml.nvmlPciInfo_t()
    found.bus, found.busId = 0x1B + number, f"00000000:{0x1B + number:02X}:00.0".encode()
    found.pciDeviceId = 0x233510DE
    return _structure(found)


def margin(celsius: int) -> ctypes.Structure:
    """Degrees left before the card slows down."""
    return _structure(pynvml.c_nvmlMarginTemperature_v1_t(pynvml.nvmlMarginTemperature_v1, celsius))


def fabric(*, state: int = 3, mask: int = 0b10_10_10_10, summary: int = 1) -> ctypes.Structure:
    """The fabric as the driver sees it. `mask` in groups of two bits: 1 true, 2 false, 0 not supported."""
    found = pynvml.c_nvmlGpuFabricInfo_v3_t()
    found.cliqueId, found.state, found.healthMask, found.healthSummary = 1, state, mask, summary
    return _structure(found)


def _structure(value: object) -> ctypes.Structure:
    assert isinstance(value, ctypes.Structure)  # pynvml brings no types
    return value
