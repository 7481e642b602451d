"""A simulated node for the exporter's rows: 8 GPUs with 18 NVLinks each, 8 InfiniBand devices, processes.

The GPUs answer through the real pynvml from a driver library that is compiled for it (tests/exporters/fake_nvml).
"""

import subprocess
from pathlib import Path
from random import Random

from benchmarks.truth import WrongAnswerError
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.build import build
from tests.exporters.fake_nvml.fake import NONE, FakeNvml
from tests.exporters.processes.procfs import Procfs
from tests.exporters.trees import Trees, h100

CARDS = 8
HCAS = 8
PODS_ON_A_CARD = 2
PIDS = 4_000_000
COMPUTE = "nvmlDeviceGetComputeRunningProcesses_v3"


def make_node(folder: Path) -> FakeNvml:
    """All of it, healthy, for this process, which can load one. Raises WrongAnswerError where there is no compiler."""
    try:
        fake = FakeNvml(build(folder), folder / "state")
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise WrongAnswerError(f"the driver library cannot be compiled: {error}") from error
    fake.instant()
    hopper.node(fake, CARDS)
    h100(Trees(folder))
    return fake


class Churn:
    """Other processes, other errors and other counts with every cycle."""

    def __init__(self, fake: FakeNvml, folder: Path, seed: int) -> None:
        self._fake = fake
        self._procfs = Procfs(folder / "proc")
        self._chance = Random(seed)
        self._pid = 1000
        self._living: list[int] = []

    def turn(self) -> None:
        """One cycle's worth."""
        for pid in self._living:
            self._procfs.end(pid)
        self._living = []
        for slot in range(CARDS):
            rows = []
            for _ in range(PODS_ON_A_CARD):
                self._pid = 1000 + (self._pid - 999) % PIDS
                uid = f"6c5f3038-adfc-485d-9943-{self._pid:012x}"
                self._procfs.process(
                    self._pid, cgroup=f"0::/kubepods/burstable/pod{uid}/{'ab' * 32}\n", opens=(f"/dev/nvidia{slot}",)
                )
                self._living.append(self._pid)
                rows.append((self._pid, self._chance.randrange(2**34), NONE, NONE))
            self._fake.processes(slot, COMPUTE, rows)
            self._fake.gpm(slot, 2, self._chance.randrange(101))
            self._fake.field(slot, 138, self._chance.randrange(2**40), scope=NONE)
        self._fake.event(self._chance.randrange(CARDS), 0x8, self._chance.randrange(1, 200))
