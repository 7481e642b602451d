"""Which GPU is nearest to each RDMA device: what turns "mlx5_3 is slow" into "rank 3 is slow"."""

from collections.abc import Iterable
from typing import Any

from exporters.catalog.family import Sample
from exporters.catalog.rdma import NEAREST_GPU
from exporters.nvml.reading import NodeReading
from exporters.pci import Topology, address_of, nearest
from exporters.subject import Key, Moment, Reading

SERIES_MAX = 512


class NearestGpu:
    """Joins the places of devices with the names of GPUs. Both are kept until something newer is known: cards stay."""

    def __init__(self) -> None:
        self._topology = Topology()
        self._topology_key: Key | None = None
        self._uuids: dict[str, str] = {}  # by PCI address
        self._samples: tuple[Sample, ...] | None = None

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:  # noqa: ARG002  places have no time
        match reading.value:
            case Topology() as topology if topology != self._topology:
                self._topology, self._topology_key, self._samples = topology, key, None
            case NodeReading(gpus=gpus):
                uuids = {address_of(gpu.pci_address): gpu.uuid for gpu in gpus}
                if uuids != self._uuids:
                    self._uuids, self._samples = uuids, None
            case _:
                pass

    def forget(self, key: Key) -> None:
        if key == self._topology_key:
            self._topology, self._topology_key, self._samples = Topology(), None, None

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  as above
        if self._samples is None:
            self._samples = tuple(
                Sample(NEAREST_GPU, (seat.name, self._uuids.get(gpu.address, ""), gpu.address, how.value), 1.0)
                for seat in self._topology.rdma
                for gpu, how in nearest(seat.place, self._topology.gpus)
            )[:SERIES_MAX]
        return self._samples
