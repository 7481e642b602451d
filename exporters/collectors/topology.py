"""Where GPUs and RDMA devices sit on PCI, read seldom: cards do not wander."""

from exporters.catalog.family import Sample
from exporters.collectors.rdma import CLASS
from exporters.collectors.rdma_devices import Choice, chosen
from exporters.config import Settings
from exporters.pci import Seat, Topology, gpus_on_pci, place_of
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Key, Moment, ReadError, Reading, Source

TOPOLOGY = "topology"
TOPOLOGY_INTERVAL_S = 60.0


class TopologySubject:
    """The node's PCI tree as a subject. It publishes nothing itself: what it says, a follower joins with UUIDs."""

    key = Key(TOPOLOGY)
    interval_s = TOPOLOGY_INTERVAL_S

    def __init__(self, sysfs: Folder, choice: Choice, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self._sysfs = sysfs
        self._choice = choice

    def read(self, now: Moment) -> Reading[Topology]:  # noqa: ARG002  the protocol gives the time
        gpus = gpus_on_pci(self._sysfs)
        devices = chosen(self._sysfs, self._choice)
        failed = [
            ReadError(call, each.code)
            for call, each in (("topology/pci", gpus), ("topology/rdma", devices))
            if isinstance(each, Failed) and not each.absent
        ]
        seats = [self._seat(name) for name in devices] if not isinstance(devices, Failed) else []
        value = Topology(
            gpus=() if isinstance(gpus, Failed) else gpus, rdma=tuple(seat for seat in seats if seat is not None)
        )
        return Reading(value=None if failed else value, errors=tuple(failed))

    def samples(self, value: Topology) -> tuple[Sample, ...]:  # noqa: ARG002  see above
        return ()

    def _seat(self, name: str) -> Seat | None:
        """The device's place; None for a virtual function (its physical one speaks for it), or if it has none."""
        function = self._sysfs.folder(f"{CLASS}/{name}/device")
        if function is None or function.folder("physfn") is not None:
            return None
        place = place_of(function)
        return Seat(name, place) if place else None


def topology_source(settings: Settings) -> Source:
    """The PCI tree: one subject, always there."""
    subject = TopologySubject(
        tree_at(settings.path.sysfs),
        Choice(settings.rdma.include, settings.rdma.exclude),
        settings.collect.deadline_s,
    )
    return lambda: (subject,)
