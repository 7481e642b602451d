"""Any call may fail in any way at any time: the page always parses, and says nothing that the driver did not."""

import math
from random import Random

import pytest

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import ANY, FakeNvml
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

CODES = (1, 2, 3, 4, 6, 7, 9, 10, 13, 15, 16, 17, 18, 20, 21, 25, 26, 27, 28, 999, 4242)
SYSTEM = (
    "nvmlInitWithFlags",
    "nvmlShutdown",
    "nvmlDeviceGetCount_v2",
    "nvmlEventSetWait_v2",
    "nvmlEventSetCreate",
    "nvmlGpmSampleAlloc",
    "nvmlSystemGetDriverVersion",
)
OF_A_DEVICE = (
    "*",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetRemappedRows",
    "nvmlGpmQueryDeviceSupport",
    "nvmlGpmSampleGet",
    "nvmlGpmMetricsGet",
    "nvmlDeviceRegisterEvents",
)
FIELDS = (74, 82, 91, 138, 139, 161, 164, 165, 197, 230)
CARDS = 3


def hurt(fake: FakeNvml, random: Random) -> None:
    """Do one thing to the driver."""
    slot = random.randrange(CARDS)
    code = random.choice(CODES)
    match random.randrange(6):
        case 0:
            fake.fail(ANY, random.choice(SYSTEM), code, times=random.randint(1, 4))
        case 1:
            fake.fail(slot, random.choice(OF_A_DEVICE), code, times=random.randint(1, 9))
        case 2:
            fake.field_fails(slot, random.choice(FIELDS), code, scope=random.choice((-1, 0, 3, 0xFFFFFFFF)))
        case 3:
            rubbish = random.choice((-1.0, math.nan, math.inf, 2.0**63, 1e300, 300.0))
            fake.gpm(slot, random.choice((1, 2, 5, 10)), rubbish, code=random.choice((0, 0, code)))
        case 4:
            fake.event(slot, random.choice((0x8, 0x1, 0x100, 0x8000)), random.choice((13, 31, 79, 119)))
        case _:
            fake.show(*random.sample(range(CARDS), random.randint(0, CARDS)))


@pytest.mark.parametrize("seed", range(8))
def test_nothing_breaks_and_nothing_is_made_up(fake_nvml: FakeNvml, seed: int) -> None:
    random = Random(seed)  # noqa: S311  numbers for a test
    hopper.node(fake_nvml, CARDS)
    rig = Rig(fake_nvml)
    rig.run(20)
    healthy = rig.page()
    for _ in range(20):
        for _ in range(random.randrange(3)):
            hurt(fake_nvml, random)
        rig.run(random.choice((1, 7, 10, 25)))
        page = rig.page()
        assert all(math.isfinite(value) for value in page.values())
        for name, value in page_values(page):
            if name.endswith("_ratio"):
                assert 0 <= value <= 1
            assert value in healthy_values(healthy, name) or name not in STEADY, f"{name} {value} was never said"
    broken = [name for name, _ in rig.page() if name == "knotwatch_exporter_broken_total"]
    assert not broken, "a part of the exporter raised"
    assert fake_nvml.samples_held() <= 2 * CARDS


STEADY = frozenset(
    {
        "knotwatch_gpu_power_watts",
        "knotwatch_gpu_memory_used_bytes",
        "knotwatch_gpu_temperature_celsius",
        "knotwatch_gpu_energy_joules_total",
        "knotwatch_gpu_nvlink_transmit_bytes_total",
        "knotwatch_gpu_pcie_replays_total",
        "knotwatch_gpu_remapped_rows_total",
        "knotwatch_gpu_process_memory_bytes",
    }
)
"""Families whose values the driver does not change in this test: whatever is said of them is one of these values."""

Page = dict[tuple[str, frozenset[tuple[str, str]]], float]


def page_values(page: Page) -> list[tuple[str, float]]:
    return [(name, value) for (name, _labels), value in page.items()]


def healthy_values(healthy: Page, name: str) -> set[float]:
    return {value for (other, _labels), value in healthy.items() if other == name}
