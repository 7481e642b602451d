"""A simulated node that lives: GPUs, RDMA, a kubelet and processes whose truth is written down at each change."""

from pathlib import Path
from random import Random

from prometheus_client.parser import text_string_to_metric_families

from exporters.collectors import COLLECTORS, Collector
from exporters.config import Allocation, Paths, Settings
from exporters.followers import FOLLOWERS
from exporters.nvml.driver import Pynvml
from exporters.nvml.node import NODE
from exporters.working.office import Office
from exporters.working.page import Form, Print
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import NONE, FakeNvml
from tests.exporters.faults.threads import ThreadedTime
from tests.exporters.faults.truth import Counters, Page, Place, Truth, place
from tests.exporters.kubelet_server import KubeletServer
from tests.exporters.processes.procfs import Procfs
from tests.exporters.trees import INFINIBAND_CLASS, MELLANOX, Trees, port

READ = ("gpu", "rdma", "topology", "kubelet", "pod_uids", "processes")
"""Collectors that run: all whose sources the test owns."""

KIB = 1024
GIB = 2**30
TOTAL, RESERVED = 80 * GIB, GIB // 2
COMPUTE = "nvmlDeviceGetComputeRunningProcesses_v3"
HCAS = ("mlx5_0", "mlx5_1")


class Card:
    """One GPU as it is. Its numbers are its own, so that none can be taken for another's."""

    def __init__(self, number: int, slot: int) -> None:
        self.number, self.slot, self.uuid = number, slot, hopper.uuid(number)
        self.power_mw = self.celsius = self.percent = 0
        self.energy_mj, self.sent_kib, self.replays = 0, 0, 0
        self.held: dict[int, int] = {}
        self.part: tuple[int, int, str] | None = None

    def live(self, chance: Random) -> None:
        """Some time has passed: counters have gone on, the rest is anything."""
        self.power_mw = 100_000 + 1000 * self.number + chance.randrange(600_000)
        self.celsius = 30 + chance.randrange(50)
        self.percent = chance.randrange(101)
        self.energy_mj += 1 + chance.randrange(10_000_000)
        self.sent_kib += 1 + chance.randrange(2**36)
        self.replays += chance.randrange(2)
        for pid in self.held:
            self.held[pid] = (1 + chance.randrange(30)) * GIB

    def begin_again(self) -> None:
        """After a reset."""
        self.energy_mj = self.sent_kib = self.replays = 0
        self.held.clear()

    @property
    def used(self) -> int:
        return GIB // 4 + sum(self.held.values())


class World:
    """All of it, and the exporter that reads it. `tell` writes what is true where the exporter looks for it."""

    def __init__(self, fake: FakeNvml, folder: Path, chance: Random, *, cards: int = 3) -> None:
        self.fake, self.chance = fake, chance
        self.time = ThreadedTime(fake.waiting)
        self.truth, self.indices, self.holders, self.parts = Truth(), Truth(), Truth(), Truth()
        self.counters = Counters()
        self.cards = [Card(number, slot) for number, slot in enumerate(hopper.node(fake, cards))]
        self.shown = list(self.cards)
        self.xids: dict[tuple[str, int], int] = {}
        self.refused_for_good: set[str] = set()  # cards that said of a call that it will never be there
        self.trees = Trees(folder)
        self.procfs = Procfs(self.trees.procfs)
        self.words = dict.fromkeys(HCAS, 0)
        self.parts_made = 0
        self.pids = 100
        self.kubelet = KubeletServer(folder / "k.sock")
        self.kubelet.start()
        self._build_trees()
        self.live()
        self.office = self._office(folder)

    def close(self) -> None:
        self.kubelet.stop()

    def _build_trees(self) -> None:
        for number, name in enumerate(HCAS):
            way = self.trees.function(
                f"pci0000:{number + 1}0/0000:{number + 1}0:00.0", vendor=MELLANOX, kind=INFINIBAND_CLASS
            )
            self.plug(name, way)
        for card in self.cards:
            self.trees.gpu(f"pci0000:90/0000:{0x1B + card.number:02x}:00.0")

    def plug(self, name: str, function: str = "") -> None:
        """The RDMA device is there, its counters at nothing."""
        self.words[name] = 0
        self.counters.reset(name, self.time.now_s)
        function = function or f"devices/pci0000:{HCAS.index(name) + 1}0/0000:{HCAS.index(name) + 1}0:00.0"
        self.trees.hca(name, function, {1: port(400, link_layer="InfiniBand", first=0)})

    def is_plugged(self, name: str) -> bool:
        return (self.trees.sysfs / "class/infiniband" / name / "ports").is_dir()

    def _office(self, folder: Path) -> Office:
        paths = Paths(rootfs="/", sysfs=str(self.trees.sysfs), procfs=str(self.trees.procfs))
        allocation = Allocation(
            kubelet_socket=str(self.kubelet.socket), kubelet_checkpoint="", pod_folders=str(folder / "pods")
        )
        self.settings = Settings(path=paths, allocation=allocation)
        sources = {each.name: each.source(self.settings) for each in self.collectors()}
        made = (make(self.settings) for make in FOLLOWERS)
        return Office(
            self.settings,
            sources,
            [follower for follower in made if follower is not None],
            clock=self.time.moment,
            hire=self.time.hire,
        )

    @staticmethod
    def collectors() -> list[Collector]:
        """The real ones, over a driver library that nobody has asked before."""
        NODE.answered_by(Pynvml)
        return [each for each in COLLECTORS if each.name in READ]

    def healthy(self, card: Card) -> None:
        """The card answers as on the first day; what it counts and holds stays."""
        hopper.healthy(self.fake, card.slot, card.number)
        self._tell_card(card)
        self.fake.set(card.slot, "nvmlDeviceGetMigMode", (1, 1) if card.part else (0, 0))
        self.fake.set(card.slot, "nvmlDeviceGetUUID", card.uuid)

    def live(self) -> None:
        """Time has passed: everything has a new value, and the truth is written down."""
        for card in self.cards:
            card.live(self.chance)
            self._tell_card(card)
        for name in HCAS:
            self.words[name] += 1 + self.chance.randrange(2**32)
            if self.is_plugged(name):
                self.tell_hca(name)
        self._tell_allocation()

    def _tell_card(self, card: Card) -> None:
        fake, slot, uuid = self.fake, card.slot, card.uuid
        fake.fail(slot, "nvmlDeviceGetMemoryInfo", 3)  # the older call counts what is reserved as used
        fake.set(slot, "nvmlDeviceGetPowerUsage", card.power_mw)
        fake.set(slot, "nvmlDeviceGetTotalEnergyConsumption", card.energy_mj)
        fake.set(slot, "nvmlDeviceGetPcieReplayCounter", card.replays)
        fake.field(slot, 94, card.replays)
        fake.set(slot, "nvmlDeviceGetMemoryInfo_v2", hopper.memory(TOTAL, card.used, RESERVED))
        fake.processes(slot, COMPUTE, [(pid, size, NONE, NONE) for pid, size in sorted(card.held.items())])
        for scope in (*range(hopper.LINKS), NONE):
            fake.field(slot, 138, card.sent_kib * (hopper.LINKS if scope == NONE else 1), scope=scope)
        fake.gpm(slot, 2, card.percent)
        now_s = self.time.now_s
        told = {
            "gpu_power_watts": card.power_mw / 1000,
            "gpu_energy_joules_total": card.energy_mj / 1000,
            "gpu_pcie_replays_total": card.replays,
            "gpu_memory_used_bytes": card.used,
            "gpu_memory_total_bytes": TOTAL,
            "gpu_nvlink_transmit_bytes_total": card.sent_kib * hopper.LINKS * KIB,
            "gpu_sm_active_ratio": card.percent / 100,
        }
        for family, value in told.items():
            self.truth.is_now(place(family, uuid=uuid), value, now_s)
        if card in self.shown:
            for index in range(len(self.cards)):
                is_it = 1.0 if index == self.shown.index(card) else None
                self.indices.is_now(place("index", uuid=uuid, gpu=str(index)), is_it, now_s)
        for other in self.cards:
            if other.held:
                pod = place("holder", uuid=uuid, pod=pod_of(other))
                self.holders.is_now(pod, 1.0 if other is card else None, now_s)

    def tell_hca(self, name: str) -> None:
        """Its counters, as the kernel shows them: words of four octets."""
        counters = f"class/infiniband/{name}/ports/1/counters"
        for file, family in (("port_xmit_data", "transmit"), ("port_rcv_data", "receive")):
            self.trees.write(f"{counters}/{file}", str(self.words[name]))
            where = place(f"rdma_port_{family}_bytes_total", device=name, port="1")
            self.truth.is_now(where, 4.0 * self.words[name], self.time.now_s)

    def _tell_allocation(self) -> None:
        self.kubelet.clear()
        for card in self.cards:
            if card.held:
                self.kubelet.pod(pod_of(card), {"nvidia.com/gpu": [card.uuid]})

    def start_process(self, card: Card) -> None:
        """One more process of one pod on the card; the first of them names the pod."""
        self.pids += 1
        card.held[self.pids] = GIB
        uid = f"6c5f3038-adfc-485d-9943-{min(card.held):012x}"
        cgroup = f"0::/kubepods/burstable/pod{uid}/{'ab' * 32}\n"
        self.procfs.process(self.pids, cgroup=cgroup, opens=(f"/dev/nvidia{card.number}",))

    def end_processes(self, card: Card) -> None:
        for pid in card.held:
            self.procfs.end(pid)
        card.held.clear()

    def reset(self, card: Card) -> None:
        """The GPU was reset: all begins again, and its events too are those of a new life."""
        self.end_processes(card)
        card.begin_again()
        self.counters.reset(card.uuid, self.time.now_s)

    def show(self, cards: list[Card]) -> None:
        """Those are visible, in this order."""
        self.shown = cards
        self.fake.show(*(card.slot for card in cards))

    def divide(self, card: Card) -> None:
        """MIG: the card in another part than before, or whole again."""
        if card.part:
            slot, number, name = card.part
            self.fake.remove(slot)
            self.parts.is_now(part_of(card, number, name), None, self.time.now_s)
        card.part = None
        self.parts_made += 1
        if self.chance.random() < 0.6:
            number, name = 1 + self.parts_made % 7, f"MIG-{self.parts_made:08x}"
            slot = self.fake.add_mig(card.slot, name, number, 0, index=0)
            self.fake.set(slot, "nvmlDeviceGetMemoryInfo_v2", hopper.memory(GIB * 10, GIB, 0))
            card.part = slot, number, name
            self.parts.is_now(part_of(card, number, name), 1.0, self.time.now_s)
        self.fake.set(card.slot, "nvmlDeviceGetMigMode", (1, 1) if card.part else (0, 0))
        self.fake.event(card.slot, 0x100, 0)

    def xid(self, card: Card, number: int) -> None:
        self.xids[card.uuid, number] = self.xids.get((card.uuid, number), 0) + 1
        self.fake.event(card.slot, 0x8, number)

    def run(self, span_s: float, *, step_s: float = 5.0) -> None:
        """Time goes by, and everything lives on."""
        while span_s > 0:
            self.time.run(self.office, min(span_s, step_s))
            span_s -= step_s
            self.live()

    def page(self) -> Page:
        """The page as Prometheus' own parser reads it; no series twice."""
        copy = self.office.page.copy(Print(Form.TEXT), self.time.moment())
        assert copy is not None
        found: Page = {}
        for family in text_string_to_metric_families(copy.decode()):
            for sample in family.samples:
                where = sample.name, frozenset(sample.labels.items())
                assert where not in found, f"{where} twice"
                if not sample.name.startswith("process_"):
                    found[where] = sample.value
        return found

    def ups(self) -> dict[str, float]:
        return {dict(labels)["uuid"]: value for (name, labels), value in self.page().items() if name == UP}

    def reasons(self) -> dict[str, str]:
        """Why those that are down are, by GPU."""
        return {
            dict(labels)["uuid"]: dict(labels)["reason"] for name, labels in self.page() if name == f"{GPU}_down_reason"
        }


def pod_of(card: Card) -> str:
    """The pod that has the card, named by its first process."""
    return f"pod-{min(card.held)}"


def part_of(card: Card, gpu_instance: int, mig_uuid: str) -> Place:
    """What tells of a part of a card."""
    return place("part", uuid=card.uuid, mig_uuid=mig_uuid, gpu_instance=str(gpu_instance))


GPU = "knotwatch_gpu"
UP = f"{GPU}_up"
