"""Looks at GPUs of our making, and a node on which jobs behave as a test says.

node = Node(gpus=8)
node.run(600, TRAINING)
node.run(600, HUNG)
node.seconds("stalled_seconds", 3)
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from exporters.catalog import gpm, gpu, nvlink
from exporters.catalog.family import Family, Sample
from exporters.catalog.rdma import COUNTERS
from exporters.collectors.gpu_holders import Names
from exporters.collectors.link_rates import LinkRates
from exporters.collectors.rdma import Identity, RdmaReading
from exporters.collectors.rdma_port import Port, State
from exporters.config import Stall
from exporters.followers.idleness import Idleness
from exporters.followers.stalls import Stalls
from exporters.nvml.reading import GpuIdentity, GpuProcess, GpuReading, MigDevice, MigInstance, NodeReading, Point
from exporters.pci import Place, Seat, Topology
from exporters.subject import Follower, Key, Moment, Reading, Reason
from exporters.working.sheet import laid_out, part_of

INTERVAL_S = 10.0
GAP_S = 30.0
LIMIT_W = 700.0
GIGABYTE = 1e9


class Acts(Struct, frozen=True, kw_only=True):
    """What a GPU does for a while. None: it does not say. Rates in bytes a second."""

    resident: float | None = 0.0
    sm: float | None = 0.0
    tensor: float | None = 0.0
    dram: float | None = 0.0
    power: float | None = 90.0
    limit: float | None = LIMIT_W
    nvlink: float | None = 0.0
    rdma: float | None = 0.0
    pids: tuple[int, ...] | None = ()


IDLE = Acts()
TRAINING = Acts(
    resident=1.0, sm=0.8, tensor=0.4, dram=0.5, power=640.0, nvlink=50 * GIGABYTE, rdma=20 * GIGABYTE, pids=(1,)
)
HUNG = replace(TRAINING, sm=0.15, tensor=0.0, dram=0.004, power=130.0, nvlink=4_000.0, rdma=60_000.0)
"""Every rank waits in a collective that lacks one: kernels poll."""
CHECKPOINT = Acts(pids=(1,), power=110.0)
EVALUATION = replace(TRAINING, sm=0.5, tensor=0.2, dram=0.3, nvlink=0.0, rdma=0.0)
STARVED = replace(HUNG, resident=0.3, sm=0.05)
DEBUGGED = Acts(resident=1.0, sm=0.0076, tensor=0.0, dram=0.001, power=120.0, pids=(77,))
"""One kernel on one of 132 multiprocessors."""


def uuid(number: int) -> str:
    return f"GPU-{number:08d}-0000-0000-0000-000000000000"


def at(mono_s: float) -> Moment:
    return Moment(1_800_000_000.0 + mono_s, mono_s)


class Books:
    """Holders as the test says; by default nothing is known of them. By number of the GPU, and of an instance."""

    def __init__(self) -> None:
        self.names: dict[tuple[int, int | None], Names | None] = {}

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        """Nothing to learn."""

    def forget(self, key: Key) -> None:
        """Nothing to forget."""

    def of(self, uuid: str, now: Moment, gpu_instance: int | None = None) -> Names | None:  # noqa: ARG002  the protocol's
        return self.names.get((int(uuid[4:12]), gpu_instance))


def points_of(acts: Acts, *, window_s: float | None, moved: float) -> tuple[Point, ...]:
    """What a GPU says of itself."""
    said: list[tuple[Family, float | None]] = [
        (gpu.KERNEL_RESIDENT, acts.resident),
        (gpm.SM_ACTIVE, acts.sm),
        (gpm.TENSOR_ACTIVE, acts.tensor),
        (gpm.DRAM_ACTIVE, acts.dram),
        (gpm.GPM_WINDOW, window_s if acts.sm is not None else None),
        (gpu.POWER, acts.power),
        (gpu.POWER_LIMIT, acts.limit),
        (nvlink.TRANSMIT, None if acts.nvlink is None else moved),
        (nvlink.RECEIVE, None if acts.nvlink is None else moved),
    ]
    return tuple(Point(family, value) for family, value in said if value is not None)


def reading_of(
    number: int,
    acts: Acts,
    *,
    window_s: float | None = INTERVAL_S,
    moved: float = 0.0,
    instances: Mapping[int, float | None] | None = None,
    born: str = "a",
) -> GpuReading:
    """A look at a GPU. `instances`: SM activity by number, of a divided one. `born` tells them apart."""
    parts = instances or {}
    return GpuReading(
        uuid=uuid(number),
        index=number,
        minor=number,
        points=points_of(acts, window_s=window_s, moved=moved),
        memory=None,
        processes=None
        if acts.pids is None
        else tuple(GpuProcess(pid=pid, used_bytes=1 << 30, kind="compute") for pid in acts.pids),
        mig=tuple(
            MigDevice(uuid=f"MIG-{born}-{part}", gpu_instance=part, compute_instance=0, profile="3g.40gb")
            for part in parts
        ),
        instances=tuple(
            MigInstance(gpu_instance=part, memory=None, activity={} if sm is None else {2: sm})
            for part, sm in parts.items()
        ),
        divided=bool(parts),
    )


class Node:
    """Some GPUs, each with an RDMA device nearest to it, and the two followers that watch them."""

    def __init__(self, gpus: int = 1, *, wanted: Stall | None = None, follow: bool = True) -> None:
        self.now_s = 1000.0
        self.books = Books()
        self.numbers = tuple(range(gpus))
        self.wanted = wanted or Stall()
        self._moved: dict[str, float] = dict.fromkeys(
            [f"{kind}{number}" for kind in ("gpu", "mlx5_") for number in self.numbers], 0.0
        )
        self.followers: tuple[Follower, ...] = ()
        if follow:
            self.restart()

    def restart(self) -> None:
        """The exporter begins anew; the node goes on."""
        self.followers = (
            Idleness(self.books, floor=0.01, gap_s=GAP_S),
            Stalls(self.books, LinkRates(INTERVAL_S, self.wanted.link_floor_bytes), self.wanted, gap_s=GAP_S),
        )
        self.tell(Key("nvml"), Reading(value=_roster(self.numbers)))
        self.tell(Key("topology"), Reading(value=_topology(self.numbers)))

    def tell(self, key: Key, reading: Reading[Any]) -> None:
        """All followers are told of a reading now."""
        for follower in self.followers:
            follower.note(key, reading, at(self.now_s))

    def run(self, span_s: float, *acts: Acts | Callable[[int], Acts | Reason]) -> None:
        """Let time go by. `acts`: one for all GPUs, one for each, or a function of the GPU's number.

        A reason in place of acts: the GPU is down.
        """
        until_s = self.now_s + span_s
        while self.now_s < until_s:
            self.now_s += INTERVAL_S
            for number in self.numbers:
                act = acts[number % len(acts)]
                now = act(number) if callable(act) else act
                if isinstance(now, Reason):
                    self.tell(Key("gpu", uuid(number)), Reading(value=None, up=False, reason=now))
                else:
                    self._look(number, now)

    def _look(self, number: int, acts: Acts) -> None:
        if acts.rdma is not None:
            self._moved[f"mlx5_{number}"] += acts.rdma * INTERVAL_S
            self.tell(Key("rdma", f"mlx5_{number}"), Reading(value=_rdma(number, self._moved[f"mlx5_{number}"])))
        self._moved[f"gpu{number}"] += (acts.nvlink or 0.0) * INTERVAL_S
        value = reading_of(number, acts, moved=self._moved[f"gpu{number}"])
        self.tell(Key("gpu", uuid(number)), Reading(value=value))

    def driver_loaded(self, number: int) -> None:
        """The GPU's counters begin at 0 again."""
        self._moved[f"gpu{number}"] = 0.0

    def seconds(self, name: str, number: int = 0, *more: str) -> float | None:
        """The value of a family of that GPU now; None if it is absent."""
        return self.series().get((name, uuid(number), str(number), *more))

    def series(self) -> dict[tuple[str, ...], float]:
        """All that would be on a page now."""
        found = [sample for follower in self.followers for sample in follower.samples(at(self.now_s))]
        return series_of(found)


def series_of(samples: list[Sample]) -> dict[tuple[str, ...], float]:
    """(name without the prefix, labels...) to the value; none twice, none that a page would not take."""
    sheet = laid_out([part_of(samples, 256, 100_000)], 100_000)
    assert (sheet.duplicates, sheet.rejected) == (0, 0)
    return {(each.family.name.removeprefix("knotwatch_gpu_"), *each.labels): each.value for each in samples}


def _address(number: int, bus: int) -> str:
    return f"0000:{0x10 * (number + 1) + bus:02x}:00.0"


def _roster(numbers: tuple[int, ...]) -> NodeReading:
    return NodeReading(
        gpus=tuple(
            GpuIdentity(
                uuid=uuid(number),
                index=number,
                minor=number,
                name="H100",
                pci_address=f"0000{_address(number, 5)}",
                serial="",
                vbios="",
                driver="",
            )
            for number in numbers
        ),
        counted=len(numbers),
        visible=tuple(map(uuid, numbers)),
        expected=len(numbers),
        on_pci=len(numbers),
        up=True,
        starts=1,
        failures=0,
    )


def _topology(numbers: tuple[int, ...]) -> Topology:
    def place(number: int, bus: int) -> Place:
        way = (f"pci0000:{number}", *(_address(number, step) for step in (1, 2, 2 + bus, bus)))
        return Place(address=_address(number, bus), way=way, numa_node=number // 4)

    return Topology(
        gpus=tuple(place(number, 5) for number in numbers),
        rdma=tuple(Seat(f"mlx5_{number}", place(number, 6)) for number in numbers),
    )


def _rdma(number: int, moved: float) -> RdmaReading:
    counts = tuple((COUNTERS[file].family, moved) for file in ("port_xmit_data", "port_rcv_data"))
    port = Port(number="1", link_layer="InfiniBand", counts=counts)
    return RdmaReading(
        name=f"mlx5_{number}", identity=Identity(), numa_node=None, ports=(port,), states=(State(4),), changes=(0,)
    )
