"""Idle and stalled GPUs on the page of the whole exporter: through the real crew and pynvml, over the fake driver."""

import pynvml  # type: ignore[import-untyped]  # the package brings no types
import pytest
from msgspec import Struct

from exporters.collectors.nvlink import ALL_LINKS
from exporters.config import Settings
from exporters.followers.idleness import idleness
from exporters.followers.stalls import stalls
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.gpu.rig import INTERVAL_S, Rig

pytestmark = pytest.mark.needs("c-compiler")

UUID = hopper.uuid(0)


class Load(Struct, frozen=True, kw_only=True):
    """What a card says, in the driver's units. `kibibytes`: over NVLink each way in an interval."""

    resident: int
    sm: float
    tensor: float
    dram: float
    milliwatts: int
    kibibytes: int


TRAINING = Load(resident=100, sm=85.0, tensor=55.0, dram=38.0, milliwatts=627_400, kibibytes=400_000_000)
HUNG = Load(resident=100, sm=15.0, tensor=0.0, dram=0.5, milliwatts=140_000, kibibytes=10)
IDLE = Load(resident=0, sm=0.0, tensor=0.0, dram=0.0, milliwatts=75_000, kibibytes=0)


class Cards:
    """Two cards that do as they are told, interval by interval."""

    def __init__(self, fake: FakeNvml) -> None:
        hopper.node(fake, 2)
        self.rig = Rig(fake, followers=(idleness(Settings()), stalls(Settings())))
        self._moved = 0

    def do(self, span_s: float, load: Load) -> None:
        for slot in (0, 1):
            self.rig.fake.set(slot, "nvmlDeviceGetUtilizationRates", pynvml.c_nvmlUtilization_t(load.resident, 7))
            self.rig.fake.set(slot, "nvmlDeviceGetPowerUsage", load.milliwatts)
            for metric, percent in ((2, load.sm), (5, load.tensor), (10, load.dram)):
                self.rig.fake.gpm(slot, metric, percent)
        for _ in range(int(span_s / INTERVAL_S)):
            self._moved += load.kibibytes
            for slot in (0, 1):
                for field in (138, 139):
                    self.rig.fake.field(slot, field, self._moved, scope=ALL_LINKS)
            self.rig.run(INTERVAL_S)

    def value(self, name: str) -> float | None:
        return self.rig.value(f"gpu_{name}", UUID)


@pytest.fixture
def cards(fake_nvml: FakeNvml) -> Cards:
    return Cards(fake_nvml)


def test_a_hung_collective_is_seen_where_every_other_number_says_busy(cards: Cards) -> None:
    cards.do(300, TRAINING)
    assert cards.value("stalled_seconds") == 0
    busy = cards.value("busy_seconds_total")
    assert busy == pytest.approx(0.85 * (cards.value("observed_seconds_total") or 0), rel=1e-6)
    cards.do(300, HUNG)
    assert cards.value("kernel_resident_ratio") == 1
    assert cards.value("idle_seconds") == 0
    assert 250 <= (cards.value("stalled_seconds") or 0) <= 300
    cards.do(300, IDLE)
    assert cards.value("stalled_seconds") == 0
    assert 280 <= (cards.value("idle_seconds") or 0) <= 300


def test_a_lost_gpu_is_neither_idle_nor_stalled(cards: Cards) -> None:
    cards.do(300, TRAINING)
    cards.do(300, HUNG)
    cards.rig.fake.lose(0)
    cards.rig.run(20)
    assert cards.value("up") == 0
    assert cards.value("stalled_seconds") is None
    assert cards.value("idle_seconds") is None
    assert cards.rig.value("gpu_stalled_seconds", hopper.uuid(1)) is not None


def test_a_card_without_counters_is_unknown_not_stalled(cards: Cards) -> None:
    for slot in (0, 1):
        cards.rig.fake.set(
            slot, "nvmlGpmQueryDeviceSupport", pynvml.c_nvmlGpmSupport_t(pynvml.NVML_GPM_SUPPORT_VERSION, 0)
        )
    cards.do(200, TRAINING)
    cards.do(300, HUNG)
    assert cards.value("stalled_seconds") is None
    assert cards.value("stall_detection_supported") == 0
    assert cards.value("busy_seconds_total") is None
    assert cards.value("idle_seconds") == 0
