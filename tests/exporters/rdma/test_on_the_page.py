"""RDMA devices read by the crew, in a time of the test's own: rhythms, hangs, losses, and what the page says then."""

import math
from pathlib import Path

import pytest

from exporters.collectors.rdma import RdmaDevice
from exporters.collectors.topology import TopologySubject
from exporters.followers.nearest_gpu import NearestGpu
from exporters.rooted import tree_at
from exporters.working.office import Office
from tests.exporters.rdma.looking import devices_of, subject_of
from tests.exporters.trees import Trees, gpu_address, h100
from tests.exporters.working.toys import VirtualTime, lines_of

STATE = "class/infiniband/mlx5_2/ports/1/state"


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return h100(Trees(tmp_path))


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


OWN = ("knotwatch_rdma_port_", "knotwatch_rdma_device_")
"""What a device says itself; that it is down, and since when, is said of it."""


def of_device(office: Office, name: str) -> dict[str, float]:
    return {series: value for series, value in lines_of(office).items() if f'"{name}"' in series}


def test_a_flap_inside_one_scrape_shows_on_the_page(trees: Trees, time: VirtualTime) -> None:
    office = time.office({"rdma": devices_of(trees)})
    time.run(office, 20.0)
    for state in ("1: DOWN", "4: ACTIVE"):
        trees.write(STATE, state)
        time.run(office, 1.5)
    assert of_device(office, "mlx5_2")['knotwatch_rdma_port_state_changes_total{device="mlx5_2",port="1"}'] == 2
    assert of_device(office, "mlx5_3")['knotwatch_rdma_port_state_changes_total{device="mlx5_3",port="1"}'] == 0


def test_a_device_that_never_answers_costs_itself_alone(trees: Trees, time: VirtualTime) -> None:
    """A read of sysfs that waits for dead firmware may never return."""
    source = devices_of(trees)
    office = time.office({"rdma": source})
    time.run(office, 20.0)
    before = {name: of_device(office, name) for name in ("mlx5_2", "mlx5_3")}
    vars(subject_of(source(), "mlx5_2"))["takes_s"] = lambda _now_s: math.inf
    time.run(office, 60.0)
    assert not [series for series in of_device(office, "mlx5_2") if series.startswith(OWN)]
    assert [value for series, value in of_device(office, "mlx5_2").items() if "timeout" in series] == [1]
    assert of_device(office, "mlx5_3").keys() == before["mlx5_3"].keys()


def test_a_device_that_vanished_is_reported_within_seconds(trees: Trees, time: VirtualTime) -> None:
    office = time.office({"rdma": devices_of(trees)})
    time.run(office, 20.0)
    (trees.sysfs / "class/infiniband/mlx5_2").unlink()
    time.run(office, 3.0)
    assert [value for series, value in of_device(office, "mlx5_2").items() if "not_found" in series] == [1]
    assert not [series for series in of_device(office, "mlx5_2") if series.startswith(OWN)]


def test_neighbours_are_on_the_page(trees: Trees, time: VirtualTime) -> None:
    devices = devices_of(trees)
    topology = TopologySubject(devices._sysfs, devices._choice, 5.0)
    office = time.office({"rdma": devices, "topology": lambda: (topology,)}, [NearestGpu()])
    time.run(office, 20.0)
    labels = f'device="mlx5_5",distance="pix",pci_address="{gpu_address(5)}",uuid=""'
    assert of_device(office, "mlx5_5")[f"knotwatch_rdma_nearest_gpu_info{{{labels}}}"] == 1


def test_thousands_of_looks_leave_nothing_behind(trees: Trees, time: VirtualTime) -> None:
    """Links that flap, files that refuse: what is remembered has a bound."""
    subject = RdmaDevice(tree_at(trees.sysfs), "mlx5_2", 10.0, 5.0, virtual=False)
    office = time.office({"rdma": lambda: (subject,)})
    for round_ in range(200):
        trees.write(STATE, "4: ACTIVE" if round_ % 2 else "1: DOWN")
        time.run(office, 1.0)
    series = of_device(office, "mlx5_2")
    assert series['knotwatch_rdma_port_state_changes_total{device="mlx5_2",port="1"}'] >= 190
    assert (len(subject._pauses._refused), len(subject._seen), len(subject._changes)) == (0, 1, 1)
