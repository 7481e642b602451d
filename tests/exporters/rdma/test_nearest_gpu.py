"""Which GPU is near which device, by the way that data take between them."""

from pathlib import Path
from typing import Any

import pytest

from exporters.collectors.rdma_devices import Choice
from exporters.collectors.topology import TopologySubject
from exporters.followers.nearest_gpu import NearestGpu
from exporters.nvml.reading import GpuIdentity, NodeReading
from exporters.pci import Distance, Place, address_of, distance, gpus_on_pci, place_of
from exporters.rooted import Failed, tree_at
from exporters.subject import Key, Reading
from tests.exporters.rdma.looking import Series, at, series_of
from tests.exporters.trees import (
    ETHERNET_CLASS,
    GPU_CLASS,
    MELLANOX,
    NVIDIA,
    NVSWITCH_CLASS,
    Trees,
    gpu_address,
    h100,
    port,
)


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def gpus(addresses: dict[str, str]) -> Reading[NodeReading]:
    """NVML's list of GPUs, by UUID; it writes addresses in another way than the kernel."""
    known = tuple(
        GpuIdentity(uuid=uuid, index=0, minor=None, name="", pci_address=where, serial="", vbios="", driver="")
        for uuid, where in addresses.items()
    )
    value = NodeReading(gpus=known, counted=8, visible=(), expected=8, on_pci=8, up=True, starts=1, failures=0)
    return Reading(value=value)


def nearest(
    trees: Trees, addresses: dict[str, str] | None = None, *, exclude: str = "", follower: NearestGpu | None = None
) -> Series:
    follower = follower or NearestGpu()
    subject = TopologySubject(tree_at(trees.sysfs), Choice("", exclude), 5.0)
    follower.note(subject.key, subject.read(at(0.0)), at(0.0))
    if addresses:
        follower.note(Key("nvml"), gpus(addresses), at(0.0))
    return series_of(follower.samples(at(0.0)))


def test_each_device_of_a_whole_node_has_the_gpu_of_its_switch(trees: Trees) -> None:
    uuids = {f"GPU-{index}": f"0000{gpu_address(index).upper()}" for index in range(8)}
    series = nearest(h100(trees), uuids)
    pairs = {key[1:] for key in series if key[1] != "mlx5_bond_0"}
    assert pairs == {(f"mlx5_{index}", f"GPU-{index}", gpu_address(index), "pix") for index in range(8)}
    # The management bond is behind a root port of its own, at NUMA node 1.
    assert {key[2:] for key in series if key[1] == "mlx5_bond_0"} == {
        (f"GPU-{index}", gpu_address(index), "node") for index in range(4, 8)
    }


def test_without_the_driver_s_list_addresses_are_told(trees: Trees) -> None:
    assert ("nearest_gpu_info", "mlx5_0", "", gpu_address(0), "pix") in nearest(h100(trees))


def test_an_excluded_device_has_no_neighbours(trees: Trees) -> None:
    assert {key[1] for key in nearest(h100(trees), exclude="mlx5_.*[1-9].*|mlx5_bond_0")} == {"mlx5_0"}


def test_a_virtual_function_leaves_it_to_its_physical_one(trees: Trees) -> None:
    h100(trees)
    physical = str((trees.sysfs / "class/infiniband/mlx5_0/device").resolve().relative_to(trees.sysfs.resolve()))
    way = physical.removeprefix("devices/").rpartition("/")[0]
    function = trees.function(f"{way}/0000:15:00.2", vendor=MELLANOX, kind=ETHERNET_CLASS)
    trees.link(f"{function}/physfn", physical)
    trees.hca("mlx5_vf", function, {1: port(100, link_layer="Ethernet")})
    assert "mlx5_vf" not in {key[1] for key in nearest(trees)}


def test_names_follow_when_the_driver_s_list_comes_late_or_changes(trees: Trees) -> None:
    follower = NearestGpu()
    nearest(h100(trees), follower=follower)
    for uuid in ("GPU-a", "GPU-b"):
        follower.note(Key("nvml"), gpus({uuid: gpu_address(0)}), at(1.0))
        assert ("nearest_gpu_info", "mlx5_0", uuid, gpu_address(0), "pix") in series_of(follower.samples(at(1.0)))
    failed: Reading[Any] = Reading(value=None, up=False)
    follower.note(Key("topology"), failed, at(2.0))
    assert series_of(follower.samples(at(2.0)))
    follower.forget(Key("nvml"))
    assert series_of(follower.samples(at(3.0)))
    follower.forget(Key("topology"))
    assert series_of(follower.samples(at(3.0))) == {}


def place(way: str, numa: int | None = 0) -> Place:
    parts = tuple(way.split("/"))
    return Place(address=parts[-1], way=parts, numa_node=numa)


ROOT = "pci0000:10/0000:10:01.0"


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        (f"{ROOT}/0000:11:00.0/0000:12:00.0/0000:13:00.0", f"{ROOT}/0000:11:00.0/0000:12:01.0/0000:14:00.0", "pix"),
        (f"{ROOT}/0000:11:00.0", f"{ROOT}/0000:11:00.1", "pix"),
        (
            f"{ROOT}/0000:11:00.0/0000:12:00.0/0000:13:00.0/0000:14:00.0/0000:15:00.0",
            f"{ROOT}/0000:11:00.0/0000:12:01.0/0000:23:00.0/0000:24:00.0/0000:25:00.0",
            "pxb",
        ),
        (f"{ROOT}/0000:11:00.0", "pci0000:10/0000:10:02.0/0000:12:00.0", "node"),
        ("pci0000:10/0000:10:05.0", "pci0000:20/0000:20:06.0", "node"),
    ],
)
def test_distance_is_by_what_lies_between(one: str, other: str, how: str) -> None:
    assert distance(place(one), place(other)) == distance(place(other), place(one)) == Distance(how)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (None, None), (0, None)])
def test_across_numa_nodes_or_where_none_is_known_it_is_far(one: int | None, other: int | None) -> None:
    near, far = place("pci0000:10/0000:10:05.0", one), place("pci0000:20/0000:20:06.0", other)
    assert distance(near, far) == Distance.SYS


def test_gpus_on_pci_are_counted_and_nothing_else_is(trees: Trees) -> None:
    """NVSentinel#684, #833: only PCI tells of a GPU that the driver lost without a word."""
    h100(trees)
    trees.function("pci0000:90/0000:90:01.0/0000:91:00.0", vendor=NVIDIA, kind=NVSWITCH_CLASS)
    trees.function("pci0000:90/0000:90:02.0/0000:92:00.0", vendor=NVIDIA, kind="0x040300")  # its sound
    trees.function("pci0000:90/0000:90:03.0/0000:93:00.0", vendor="0x1002", kind=GPU_CLASS)
    trees.function("pci0000:90/0000:90:04.0/0000:94:00.0", vendor=NVIDIA, kind="0x030000")  # with an output
    share = trees.function("pci0000:90/0000:90:05.0/0000:95:00.4", vendor=NVIDIA, kind=GPU_CLASS)
    trees.link(f"{share}/physfn", "devices/pci0000:90/0000:90:04.0/0000:94:00.0")
    found = gpus_on_pci(tree_at(trees.sysfs))
    assert not isinstance(found, Failed)
    assert [each.address for each in found] == [*(gpu_address(index) for index in range(8)), "0000:94:00.0"]
    assert [each.numa_node for each in found[:8]] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_node_without_pci_is_told_from_one_without_gpus(trees: Trees) -> None:
    assert gpus_on_pci(tree_at(trees.sysfs)) == Failed("ENOENT")
    (trees.sysfs / "bus/pci/devices").mkdir(parents=True)
    assert gpus_on_pci(tree_at(trees.sysfs)) == ()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("00000000:1A:00.0", "0000:1a:00.0"),
        ("0000:1a:00.0", "0000:1a:00.0"),
        ("1A:00.0", "0000:1a:00.0"),
        ("00010000:1A:00.0", "10000:1a:00.0"),
        ("", ""),
        ("GPU-1", ""),
    ],
)
def test_addresses_are_written_as_the_kernel_does(text: str, address: str) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    ("way", "address", "length"),
    [
        ("pci0000:10/0000:10:01.0/0000:11:00.0", "0000:11:00.0", 3),
        ("LNXSYSTM:00/VMBUS:01/47505500-0001/pci0001:00/0001:00:00.0", "0001:00:00.0", 2),
        ("pci0000:80/0000:80:05.5/pci10000:00/10000:00:02.0/10000:01:00.0", "10000:01:00.0", 5),
        ("pci0000:10/0000:10:01.0/0000:11:00.0/mlx5_core.sf.2", "0000:11:00.0", 3),
        ("platform/soc/serial", None, 0),
    ],
)
def test_a_place_is_found_below_whatever_lies_above(trees: Trees, way: str, address: str | None, length: int) -> None:
    trees.write(f"devices/{way}/vendor", MELLANOX)
    folder = tree_at(trees.sysfs).folder(f"devices/{way}")
    assert folder is not None
    found = place_of(folder)
    assert (found and found.address, len(found.way) if found else 0) == (address, length)
