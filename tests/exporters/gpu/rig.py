"""A node with a fake driver library, read by the real crew through the real pynvml, in a time of its own."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from exporters.collectors.gpu import GpuOptions
from exporters.collectors.gpu_roster import subjects
from exporters.followers.gpu_roster import GpuRoster
from exporters.followers.xid_counts import XidCounts
from exporters.nvml.devices import Devices
from exporters.nvml.driver import Driver, Pynvml
from exporters.nvml.library import Library
from exporters.nvml.quarantine import Quarantine
from exporters.nvml.reading import GpuReading, XidReading, XidSeen
from exporters.subject import Follower, Key, Moment, Reading, Subject
from exporters.working.page import Form, Print
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.working.toys import VirtualTime

INTERVAL_S = 10.0


class Kmsg:
    """A reader of the kernel's log that says what the test gives it."""

    key = Key("kernel_log")
    interval_s = 1.0
    deadline_s = 5.0

    def __init__(self) -> None:
        self.ahead: list[XidSeen] = []

    def read(self, now: Moment) -> Reading[XidReading]:  # noqa: ARG002  the protocol gives the time
        heard, self.ahead = tuple(self.ahead), []
        return Reading(value=XidReading(xids=heard))

    def samples(self, value: XidReading) -> Iterable[Any]:  # noqa: ARG002  followers tell it
        return ()


class Rig:
    """The exporter's GPU part over one fake. `on_pci`: what the kernel sees; changed by the test at will.

    `followers`: more of them than the part's own.
    """

    def __init__(
        self,
        fake: FakeNvml,
        *,
        driver: Driver | None = None,
        expected: int = 0,
        each_link: bool = False,
        paused: Callable[[], bool] = lambda: False,
        followers: Iterable[Follower] = (),
    ) -> None:
        self.fake = fake
        self.on_pci: int | None = None
        self.time = VirtualTime()
        self.kmsg = Kmsg()
        self.devices = Devices(Library(driver or Pynvml()), Quarantine(), expected=expected, on_pci=lambda: self.on_pci)
        options = GpuOptions(interval_s=INTERVAL_S, each_link=each_link, paused=paused)
        self.listed = subjects(self.devices, options, self.time.moment)
        self.office = self.time.office(
            {"gpu": self.listed, "kmsg": lambda: [self.kmsg]},
            [GpuRoster(), XidCounts(lambda uuid, mono_s: self.devices.quarantine.put(uuid, mono_s)), *followers],
        )

    def run(self, span_s: float = INTERVAL_S) -> None:
        """Let so much time go by."""
        self.time.run(self.office, span_s)

    def subject(self, uuid: str) -> Subject[Any]:
        """One GPU's subject, to be read by the test itself."""
        return next(each for each in self.listed() if each.key == Key("gpu", uuid))

    def reading(self, uuid: str) -> Reading[GpuReading]:
        """What one GPU's subject says now, asked by the test itself."""
        found: Reading[GpuReading] = self.subject(uuid).read(self.time.moment())
        return found

    def page(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """Every series of the page as Prometheus' own parser reads it; none twice."""
        copy = self.office.page.copy(Print(Form.TEXT), self.time.moment())
        assert copy is not None
        found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
        for name, labels, value in _series(copy.decode()):
            assert (name, labels) not in found, f"{name} {sorted(labels)} twice"
            found[name, labels] = value
        return found

    def values(self, name: str, /, **labels: str) -> dict[str, float]:
        """The values of a family whose labels are these, by the labels that are not given."""
        wanted = set(labels.items())
        return {
            ",".join(f"{key}={value}" for key, value in sorted(found - wanted)): number
            for (family, found), number in self.page().items()
            if family == f"knotwatch_{name}" and wanted <= found
        }

    def value(self, name: str, uuid: str = "", /, **labels: str) -> float | None:
        """The value of the one series with these labels (beside the index); None if there is none."""
        given = {**labels, **({"uuid": uuid} if uuid else {})}
        found = self.values(name, **given)
        assert len(found) <= 1, f"{name} {given}: {found}"
        return next(iter(found.values()), None)

    def names(self, uuid: str) -> set[str]:
        """The families that say something of a GPU."""
        return {name.removeprefix("knotwatch_") for name, labels in self.page() if ("uuid", uuid) in labels}


def _series(page: str) -> Iterator[tuple[str, frozenset[tuple[str, str]], float]]:
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            yield sample.name, frozenset(sample.labels.items()), sample.value
