"""A node of eight GPUs as time goes on: six train, one waits in a collective, one is held and does nothing.

Every three minutes one of them falls off the bus for three quarters of a minute. All that moves is a function of the
time since the start, but for counters, which grow by what their rates say.
"""

import ctypes
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pynvml  # type: ignore[import-untyped]  # the package brings no types
from msgspec import Struct

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.trees import Trees, gpu_address, h100

COUNT = 8
LOSES, HANGS, IDLE = 5, 6, 7
"""Which GPU falls off the bus, which waits in a collective, which is held and idle."""
HANGS_AFTER_S = 30.0
CYCLE_S, LOST_FROM_S, LOST_UNTIL_S = 180.0, 60.0, 105.0
FALLEN_OFF = 79
XID_EVENT = 8
POD_UID = "6c5f3038_adfc_485d_9943_3fd5e825300d"
OF_THE_NODE: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "stat": ("cpu  9600 0 4800 96000 480 0 48 0 0 0", "cpu0 100 0 50 1000 5 0 1 0 0 0", "processes 4242"),
        "meminfo": ("MemTotal: 2112000000 kB", "MemFree: 1500000000 kB", "MemAvailable: 1800000000 kB"),
        "vmstat": ("oom_kill 0", "pgmajfault 17"),
        "pressure/cpu": ("some avg10=0.00 avg60=0.00 avg300=0.00 total=123456",),
        "net/dev": (
            "Inter-|   Receive                            |  Transmit",
            " face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier",
            " bond0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0",
        ),
    }
)
"""Files of procfs that say something of the node as a whole."""
MODULES = "nvidia_peermem 16384 0 - Live 0x0000000000000000"


class Doing(Struct, frozen=True, kw_only=True):
    """What one GPU is doing now: percentages by GPM metric, and so on. Rates are of one direction."""

    resident_percent: int
    gpm: Mapping[int, float]
    watts: float
    link_kibibytes_per_s: float
    rdma_bytes_per_s: float


def doing(number: int, second: float) -> Doing:
    """What GPU `number` does at that time. Pure."""
    if number == IDLE:
        return Doing(resident_percent=0, gpm={}, watts=118.0, link_kibibytes_per_s=0.0, rdma_bytes_per_s=0.0)
    if number == HANGS and second >= HANGS_AFTER_S:
        waiting = {1: 100.0, 2: 13.0, 3: 2.0, 10: 1.0}
        return Doing(resident_percent=100, gpm=waiting, watts=214.0, link_kibibytes_per_s=0.0, rdma_bytes_per_s=0.0)
    beat = 0.5 + 0.5 * math.sin(second / 7.0 + number)
    training = {1: 99.0, 2: 78 + 14 * beat, 3: 36 + 9 * beat, 4: 9 + 3 * beat, 5: 44 + 17 * beat, 7: 44 + 16 * beat}
    return Doing(
        resident_percent=100,
        gpm={**training, 10: 33 + 12 * beat, 12: 10 + 4 * beat, 13: 3 + 2 * beat},
        watts=560 + 90 * beat,
        link_kibibytes_per_s=60e6 + 40e6 * beat,
        rdma_bytes_per_s=18e9 + 9e9 * beat,
    )


def lost(number: int, second: float) -> bool:
    """Whether that GPU is off the bus at that time."""
    return number == LOSES and LOST_FROM_S <= second % CYCLE_S < LOST_UNTIL_S


class Simulation:
    """The node: a fake driver library and trees of files, brought to any later time by `at`."""

    def __init__(self, fake: FakeNvml, trees: Trees) -> None:
        self._fake = fake
        self._trees = h100(trees)
        self._slots = hopper.node(fake, COUNT)
        self._second = 0.0
        self._link_kibibytes = [0.0] * COUNT
        self._rdma_words = [0.0] * COUNT
        self._millijoules = [1e11] * COUNT
        self._lost = [False] * COUNT
        for number, slot in enumerate(self._slots):
            fake.set(slot, "nvmlDeviceGetPciInfo_v3", _pci(gpu_address(number)))
            _process(self._trees, 4000 + number, number)
        _node(self._trees)
        self.at(0.0)

    def at(self, second: float) -> None:
        """Go on to that time, which is not before the last one."""
        span_s, self._second = second - self._second, second
        for number, slot in enumerate(self._slots):
            now = doing(number, second)
            self._counters(number, slot, now, span_s)
            self._values(slot, now)
            if lost(number, second) != self._lost[number]:
                self._lost[number] = not self._lost[number]
                if self._lost[number]:
                    self._fake.event(slot, XID_EVENT, FALLEN_OFF)
                    self._fake.lose(slot)
                else:
                    self._fake.withdraw(slot, "*")

    def _values(self, slot: int, now: Doing) -> None:
        milliwatts = round(now.watts * 1000)
        self._fake.set(slot, "nvmlDeviceGetPowerUsage", milliwatts)
        self._fake.field(slot, 186, milliwatts)
        resident = pynvml.c_nvmlUtilization_t(now.resident_percent, round(now.gpm.get(10, 0.0)))
        self._fake.set(slot, "nvmlDeviceGetUtilizationRates", resident)
        for metric in hopper.GPM:
            self._fake.gpm(slot, metric, now.gpm.get(metric, 0.0))
        for metric, ratio in ((20, 0.05), (21, 0.09), (60, 1.0), (61, 1.0)):
            self._fake.gpm(slot, metric, ratio * now.link_kibibytes_per_s / 1024)

    def _counters(self, number: int, slot: int, now: Doing, span_s: float) -> None:
        self._millijoules[number] += now.watts * 1000 * span_s
        self._fake.set(slot, "nvmlDeviceGetTotalEnergyConsumption", round(self._millijoules[number]))
        self._link_kibibytes[number] += now.link_kibibytes_per_s * span_s
        link_kibibytes = round(self._link_kibibytes[number] / hopper.LINKS)
        for field in (138, 139):
            self._fake.field(slot, field, link_kibibytes * hopper.LINKS, scope=0xFFFFFFFF)
            for link in range(hopper.LINKS):
                self._fake.field(slot, field, link_kibibytes, scope=link)
        self._rdma_words[number] += now.rdma_bytes_per_s * span_s / 4
        for name in ("port_xmit_data", "port_rcv_data"):
            path = self._trees.sysfs / f"class/infiniband/mlx5_{number}/ports/1/counters/{name}"
            beside = path.with_name(f".{name}")
            beside.write_text(f"{round(1e12 + self._rdma_words[number])}\n", encoding="utf-8")
            beside.replace(path)


def _pci(address: str) -> ctypes.Structure:
    found = hopper.pci(0)
    found.bus = int(address[5:7], 16)
    found.busId = f"0000{address.upper()}".encode()
    return found


_JOBS = {**dict.fromkeys((4, 5), 4240), HANGS: 4241, IDLE: 4242}
"""Slurm's job of each GPU; the others are a pod's."""


def _process(trees: Trees, pid: int, gpu: int) -> None:
    _proc(trees, pid, "python3", parent=1)
    pod = f"/kubepods.slice/kubepods-pod{POD_UID}.slice/cri-containerd-{f'{gpu:x}' * 64}.scope"
    job = f"/system.slice/slurmstepd.scope/job_{_JOBS.get(gpu)}/step_batch/user/task_0"
    trees.write_proc(f"{pid}/cgroup", f"0::{job if gpu in _JOBS else pod}")
    files = trees.procfs / f"{pid}/fd"
    files.mkdir()
    for place, name in enumerate((f"nvidia{gpu}", "nvidiactl", "nvidia-uvm")):
        (files / str(10 + place)).symlink_to(f"/dev/{name}")


def _proc(trees: Trees, pid: int, command: str, *, parent: int) -> None:
    fields = ["S", str(parent), *["0"] * 14, "1", *["0"] * 1, str(100 + pid), *["0"] * 30]
    trees.write_proc(f"{pid}/stat", f"{pid} ({command}) {' '.join(fields)}")
    status = {"Name": command, "State": "S (sleeping)", "Uid": "1000 1000 1000 1000", "Threads": "1"}
    trees.write_proc(f"{pid}/status", "\n".join(f"{name}:\t{value}" for name, value in status.items()))


def _node(trees: Trees) -> None:
    """What is neither GPU nor RDMA: the first processes, and how the node is called."""
    for pid, command in ((1, "systemd"), (2, "kthreadd")):
        _proc(trees, pid, command, parent=0)
        trees.write_proc(f"{pid}/cgroup", "0::/init.scope")
        (trees.procfs / f"{pid}/fd").mkdir()
    trees.write_proc("sys/kernel/hostname", "gpu-node-07")
    trees.write_proc("sys/kernel/osrelease", "6.8.0-45-generic")
    trees.write_proc("modules", MODULES)
    for path, lines in OF_THE_NODE.items():
        trees.write_proc(path, "\n".join(lines))
    for node in (0, 1):
        trees.write(f"devices/system/node/node{node}/cpulist", f"{48 * node}-{48 * node + 47}")
        trees.write(f"devices/system/node/node{node}/meminfo", f"Node {node} MemTotal: 1056000000 kB")


def simulated(library: Path, folder: Path) -> tuple[FakeNvml, Trees, Simulation]:
    """A node whose state lies in the folder."""
    fake = FakeNvml(library, folder / "state")
    trees = Trees(folder)
    return fake, trees, Simulation(fake, trees)


def paths_of(trees: Trees, folder: Path) -> Sequence[str]:
    """The options that make the exporter read these trees."""
    root = folder / "root"
    root.mkdir(exist_ok=True)
    return ("--path.sysfs", str(trees.sysfs), "--path.procfs", str(trees.procfs), "--path.rootfs", str(root))
