"""Which NUMA node each GPU is at: places on PCI joined with UUIDs."""

from collections.abc import Iterable
from typing import Any

from exporters.catalog.family import Sample
from exporters.catalog.node import GPU_NUMA_NODE
from exporters.nvml.reading import GpuIdentity, NodeReading
from exporters.pci import Topology, address_of
from exporters.subject import Key, Moment, Reading


class GpuNuma:
    """Both halves are kept until something newer is known: cards stay where they are."""

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}  # by PCI address
        self._topology_key: Key | None = None
        self._gpus: tuple[GpuIdentity, ...] = ()

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:  # noqa: ARG002  places have no time
        match reading.value:
            case Topology(gpus=places):
                self._topology_key = key
                self._nodes = {place.address: place.numa_node for place in places if place.numa_node is not None}
            case NodeReading(gpus=gpus):
                self._gpus = gpus
            case _:
                pass

    def forget(self, key: Key) -> None:
        if key == self._topology_key:
            self._nodes = {}

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  as above
        for gpu in self._gpus:
            if (node := self._nodes.get(address_of(gpu.pci_address))) is not None:
                yield Sample(GPU_NUMA_NODE, (gpu.uuid, str(gpu.index)), float(node))
