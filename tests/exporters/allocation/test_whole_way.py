"""The whole way: a divided and a shared GPU of the fake driver, a real gRPC kubelet, a /proc of ours, and the page."""

from collections.abc import Callable
from pathlib import Path

import pytest

from exporters.collectors.allocations import Allocations
from exporters.collectors.gpu import GpuOptions
from exporters.collectors.gpu_roster import subjects
from exporters.collectors.kubelet import Kubelet
from exporters.collectors.process_owners import ProcessOwners
from exporters.followers.allocation import Allocation
from exporters.followers.memory_owners import MemoryOwners
from exporters.kubelet.client import PodResources
from exporters.nvml.devices import Devices
from exporters.nvml.driver import Pynvml
from exporters.nvml.library import Library
from exporters.nvml.quarantine import Quarantine
from exporters.rooted import tree_at
from exporters.working.office import Office
from exporters.working.page import Form, Print
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import NONE, FakeNvml
from tests.exporters.gpu.rig import _series
from tests.exporters.kubelet_server import KubeletServer
from tests.exporters.processes.procfs import Procfs
from tests.exporters.working.toys import VirtualTime

pytestmark = pytest.mark.needs("c-compiler")

GIB = 2**30
PODS = ("6c5f3038-adfc-485d-9943-3fd5e825300d", "7c5f3038-adfc-485d-9943-3fd5e825300d")
COMPUTE = "nvmlDeviceGetComputeRunningProcesses_v3"
Values = Callable[..., dict[tuple[str, ...], float]]


class Node:
    """Two GPUs, the first shared by two pods, the second divided, and everything that reads them."""

    def __init__(self, fake: FakeNvml, kubelet: KubeletServer, folder: Path) -> None:
        self.fake, self.kubelet, self.time = fake, kubelet, VirtualTime()
        self.procfs = Procfs(folder / "proc")
        for pid, uid in zip((101, 102), PODS, strict=True):
            self.procfs.process(
                pid, cgroup=f"0::/kubepods/burstable/pod{uid}/{'ab' * 32}\n", opens=("/dev/nvidia-uvm", "/dev/nvidia0")
            )
        hopper.node(fake, 2)
        fake.set(0, "nvmlDeviceGetMemoryInfo_v2", hopper.memory(80 * GIB, 12 * GIB, 0))
        self.listed((101, 8 * GIB), (102, 3 * GIB))
        fake.processes(1, COMPUTE, [])
        fake.set(1, "nvmlDeviceGetMemoryInfo_v2", hopper.memory(80 * GIB, 0, 0))
        fake.set(1, "nvmlDeviceGetMigMode", (1, 1))
        fake.add_mig(1, "MIG-part", 3, 0, index=0)
        devices = Devices(Library(Pynvml()), Quarantine())
        asking = Kubelet(PodResources(str(kubelet.socket)), interval_s=15.0, deadline_s=20.0)
        owners = ProcessOwners(tree_at(self.procfs.root), interval_s=15.0, deadline_s=15.0)
        self.office: Office = self.time.office(
            {
                "gpu": subjects(devices, GpuOptions(), self.time.moment),
                "kubelet": lambda: [asking],
                "processes": lambda: [owners],
            },
            [Allocation(Allocations()), MemoryOwners(threshold_bytes=GIB // 4, baseline_max_bytes=GIB)],
        )

    def listed(self, *those: tuple[int, int]) -> None:
        """Processes of the first GPU, and their bytes."""
        self.fake.processes(0, COMPUTE, [(pid, size, NONE, NONE) for pid, size in those])

    def run(self, span_s: float) -> None:
        self.time.run(self.office, span_s)

    def values(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """A family by these labels, as Prometheus' own parser reads the page."""
        copy = self.office.page.copy(Print(Form.TEXT), self.time.moment())
        assert copy is not None
        return {
            tuple(dict(found)[label] for label in labels): value
            for family, found, value in _series(copy.decode())
            if family == f"knotwatch_{name}"
        }


@pytest.fixture
def node(fake_nvml: FakeNvml, kubelet: KubeletServer, tmp_path: Path) -> Node:
    made = Node(fake_nvml, kubelet, tmp_path)
    kubelet.pod("one", {"nvidia.com/gpu": [f"{hopper.uuid(0)}::0"]})
    kubelet.pod("two", {"nvidia.com/gpu": [f"{hopper.uuid(0)}::1"]})
    kubelet.pod("three", {"nvidia.com/mig-1g.18gb": ["MIG-part"]})
    return made


def test_holders_of_shared_and_divided_gpus_are_on_the_page(node: Node) -> None:
    node.run(20)
    assert node.values("gpu_allocation_info", "pod", "uuid", "gpu", "gpu_instance", "sharing") == {
        ("one", hopper.uuid(0), "0", "", "shared"): 1,
        ("two", hopper.uuid(0), "0", "", "shared"): 1,
        ("three", hopper.uuid(1), "1", "3", "mig"): 1,
    }
    assert len(node.values("gpu_sm_active_ratio", "uuid")) == 2, "a device's values are there once each"


def test_memory_by_pod_is_what_its_processes_hold(node: Node) -> None:
    node.run(20)
    found = node.values("gpu_pod_memory_bytes", "pod_uid")
    assert found == {(PODS[0],): 8 * GIB, (PODS[1],): 3 * GIB}
    assert sum(found.values()) <= node.values("gpu_memory_used_bytes", "uuid")[hopper.uuid(0),]


def test_a_kubelet_that_goes_takes_the_names_along_in_the_end_and_comes_back(node: Node) -> None:
    node.run(20)
    node.kubelet.stop()
    node.run(60)
    assert node.values("pod_mapping_up") == {(): 0}
    assert len(node.values("gpu_allocation_info", "pod")) == 3
    node.run(200)
    assert node.values("gpu_allocation_info", "pod") == {}
    assert node.values("gpu_memory_used_bytes", "uuid")[hopper.uuid(0),] == 12 * GIB
    node.kubelet.start()
    node.run(20)
    assert node.values("pod_mapping_up") == {(): 1}
    assert len(node.values("gpu_allocation_info", "pod")) == 3


def test_a_gpu_that_is_divided_anew_has_no_holder_of_old(node: Node) -> None:
    node.run(20)
    node.fake.fail(1, "nvmlDeviceGetMigDeviceHandleByIndex", 6, (0,))
    node.run(20)
    assert ("three",) not in node.values("gpu_allocation_info", "pod")
    assert node.values("pod_mapping_unmapped_devices", "reason")["unknown_instance",] == 1


def test_a_process_that_died_and_kept_its_memory_is_orphaned(node: Node) -> None:
    node.run(20)
    node.procfs.end(102)
    node.run(120)
    seconds = node.values("gpu_memory_orphaned_seconds", "reason")
    assert seconds.keys() == {("pid_gone",)}
    assert seconds["pid_gone",] >= 60
    assert node.values("gpu_memory_orphaned_bytes", "reason") == {("pid_gone",): 3 * GIB}
    assert node.values("gpu_pod_memory_bytes", "pod_uid") == {}, "whose its memory was is not known any more"


def test_a_gpu_that_is_lost_keeps_its_holders_and_loses_its_values(node: Node) -> None:
    node.run(20)
    node.fake.fail(0, "nvmlDeviceGetMemoryInfo_v2", 15)
    node.run(40)
    assert len(node.values("gpu_allocation_info", "pod")) == 3
    assert node.values("gpu_pod_memory_bytes", "pod_uid") == {}
    assert node.values("gpu_up", "uuid")[hopper.uuid(0),] == 0
