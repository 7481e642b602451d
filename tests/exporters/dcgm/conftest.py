"""A node with a fake driver library, whose values are published under the names of DCGM, too."""

from collections.abc import Callable
from typing import Any

import pytest

from exporters.collectors.allocations import Allocations
from exporters.followers.dcgm_names import DcgmNames
from exporters.kubelet.holding import Held, PodReading
from exporters.subject import Key, Reading
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.gpu.rig import INTERVAL_S, Rig

Dcgm = dict[str, dict[str, float]]


class Compatible:
    """The exporter, its follower of these names, and what the page says under them."""

    def __init__(self, fake: FakeNvml, count: int, names: str) -> None:
        hopper.node(fake, count)
        self.fake = fake
        self.rig = Rig(fake)
        self.names = DcgmNames(names, INTERVAL_S, "node-a", Allocations())
        self.rig.office.followers.append(self.names)

    def run(self, span_s: float = 2 * INTERVAL_S) -> None:
        self.rig.run(span_s)

    def held(self, *held: Held) -> None:
        """What the kubelet says now."""
        now = self.rig.time.moment()
        self.names.note(Key("kubelet", "podresources"), Reading(value=PodReading(held=held)), now)

    def series(self, name: str, **wanted: str) -> dict[tuple[str, str], tuple[dict[str, str], float]]:
        """By GPU and instance: the labels and the value of a metric's series that have these labels."""
        found = {}
        for (family, labels), value in self.rig.page().items():
            of = dict(labels)
            if family == f"DCGM_FI_{name}" and wanted.items() <= of.items():
                key = (of["gpu"], of["GPU_I_ID"])
                assert key not in found
                found[key] = (of, value)
        return found

    def value(self, name: str, gpu: int = 0, instance: str = "") -> float | None:
        """The value of one series, if there is one."""
        found = self.series(name).get((str(gpu), instance))
        return None if found is None else found[1]

    def present(self) -> set[str]:
        return {family.removeprefix("DCGM_FI_") for family, _ in self.rig.page() if family.startswith("DCGM_")}


@pytest.fixture
def make(fake_nvml: FakeNvml) -> Callable[..., Compatible]:
    """Makes an exporter over so many cards."""

    def made(count: int = 1, names: str = "old", **_: Any) -> Compatible:
        return Compatible(fake_nvml, count, names)

    return made
