"""Which GPUs there are, and which there should be: told on while they are lost and while the driver is silent."""

from collections.abc import Iterable
from typing import Any

from exporters.catalog import gpu
from exporters.catalog.family import Sample
from exporters.nvml.reading import NodeReading
from exporters.subject import Key, Moment, Reading


class GpuRoster:
    """The last list, also of a node whose driver does not answer."""

    def __init__(self) -> None:
        self._last: NodeReading | None = None

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:  # noqa: ARG002  the list has no age of its own
        if isinstance(reading.value, NodeReading):
            self._last = reading.value

    def forget(self, key: Key) -> None:
        """The list stays."""

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  as in note
        last = self._last
        if last is None:
            return
        yield Sample(gpu.NVML_UP, (), float(last.up))
        yield Sample(gpu.NVML_INIT_FAILURES, (), float(last.failures))
        yield Sample(gpu.NVML_STARTS, (), float(last.starts))
        yield Sample(gpu.EXPECTED, (), float(last.expected))
        yield Sample(gpu.VISIBLE, (), float(len(last.visible)))
        if last.on_pci is not None:
            yield Sample(gpu.PCI_DEVICES, (), float(last.on_pci))
        if last.driver:
            yield Sample(gpu.DRIVER_INFO, (last.driver, last.nvml, last.cuda), 1.0)
        for one in last.gpus:
            minor = "" if one.minor is None else str(one.minor)
            labels = (one.uuid, str(one.index), one.name, one.pci_address, minor, one.serial, one.vbios, one.driver)
            yield Sample(gpu.IDENTITY, labels, 1.0)
