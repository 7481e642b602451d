"""What a node says of RDMA as a whole: whether GPUs can be reached, and which port is management's."""

from pathlib import Path

import pytest

from exporters.collectors.netdevs import default_routes
from exporters.rooted import tree_at
from tests.exporters.rdma.looking import Series, at, devices_of, look_at, series_of, subject_of
from tests.exporters.trees import ETHERNET_CLASS, MELLANOX, Trees, bond, h100, port

OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Release Build"


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def node(trees: Trees) -> Series:
    subject = subject_of(devices_of(trees)(), "")
    return series_of(subject.samples(subject.read(at(0.0)).value))


@pytest.mark.parametrize(
    ("modules", "there"),
    [
        ("nvidia_peermem 16384 0 - Live 0x0", 1),
        ("nv_peer_mem 16384 0 - Live 0x0", 1),
        ("nvidia 56823808 26 nvidia_peermem, Live 0x0", 0),
        ("", 0),
        (None, None),
    ],
)
def test_peer_memory_is_there_if_its_module_is(trees: Trees, modules: str | None, there: int | None) -> None:
    if modules is not None:
        trees.write_proc("modules", modules)
    assert node(trees).get(("gpudirect", "nvidia_peermem")) == there


@pytest.mark.parametrize(
    ("release", "driver", "there"),
    [
        ("6.8.0-45-generic", OPEN, 1),
        ("5.12.0", OPEN, 1),
        ("5.4.0-1", OPEN, 0),
        ("6.8.0", CLOSED, 0),
        ("6.8.0", None, 0),
        ("rubbish", OPEN, None),
        (None, OPEN, None),
    ],
)
def test_dma_buf_needs_a_kernel_and_a_driver(
    trees: Trees, release: str | None, driver: str | None, there: int | None
) -> None:
    for path, text in (("sys/kernel/osrelease", release), ("driver/nvidia/version", driver)):
        if text is not None:
            trees.write_proc(path, text)
    assert node(trees).get(("gpudirect", "dma_buf")) == there


def test_the_port_of_the_default_route_is_marked_through_bond_and_vlan(trees: Trees) -> None:
    h100(trees)
    assert node(trees)["port_default_route", "mlx5_bond_0", "1"] == 1
    trees.netdev("bond0.100", lower=("bond0",))
    trees.write_proc("net/route", "Iface\tDestination\nbond0.100 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0")
    assert node(trees)["port_default_route", "mlx5_bond_0", "1"] == 1
    trees.write_proc("net/route", "Iface\tDestination\nwlan0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0")
    assert node(trees)["port_default_route", "mlx5_bond_0", "1"] == 0


def test_without_a_table_of_routes_nothing_is_said(trees: Trees) -> None:
    bond(trees)
    (trees.procfs / "net/route").unlink()
    assert not [key for key in node(trees) if key[0] == "port_default_route"]


def test_the_node_s_own_routes_win_over_those_of_our_network_namespace(trees: Trees) -> None:
    bond(trees)
    trees.write_proc("1/net/route", "Iface Destination\nother 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0")
    assert node(trees)["port_default_route", "mlx5_bond_0", "1"] == 0


def test_routes_of_the_new_kind_count_and_refusals_do_not(trees: Trees) -> None:
    zero, via = "0" * 32, "fe80" + "0" * 28
    trees.write_proc(
        "net/ipv6_route",
        f"{zero} 00 {zero} 00 {via} 00000400 00000001 00000000 00000003     eth5\n"
        f"{zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200       lo\n"
        f"{zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00000200     eth6\n"
        f"{via} 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001     eth7\n"
        "rubbish\n",
    )
    assert default_routes(tree_at(trees.sysfs), tree_at(trees.procfs)) == frozenset({"eth5"})


def netdev(trees: Trees, number: int = 1) -> str:
    return next(key[5] for key in look_at(trees, "mlx5_0") if key[:3] == ("port_info", "mlx5_0", str(number)))


def test_an_empty_place_for_an_address_is_no_error_and_the_next_is_asked(trees: Trees) -> None:
    function = trees.function("pci0000:00/0000:00:05.0", vendor=MELLANOX, kind=ETHERNET_CLASS)
    trees.hca(
        "mlx5_0", function, {1: port(100, link_layer="Ethernet", gid_attrs__ndevs__0="", gid_attrs__ndevs__1="eth9")}
    )
    assert netdev(trees) == "eth9"


def test_interfaces_of_one_function_go_to_ports_by_number(trees: Trees) -> None:
    function = trees.function("pci0000:00/0000:00:05.0", vendor=MELLANOX, kind=ETHERNET_CLASS)
    trees.hca("mlx5_0", function, {1: port(40, link_layer="Ethernet"), 2: port(40, link_layer="Ethernet")})
    trees.netdev("eth3", function, dev_port="1")
    trees.netdev("eth2", function, dev_port="0")
    assert (netdev(trees, 1), netdev(trees, 2)) == ("eth2", "eth3")


def test_an_interface_that_stands_for_a_virtual_function_is_not_the_port(trees: Trees) -> None:
    function = trees.function("pci0000:00/0000:00:05.0", vendor=MELLANOX, kind=ETHERNET_CLASS)
    trees.hca("mlx5_0", function, {1: port(100, link_layer="Ethernet")})
    trees.netdev("eth0", function, phys_port_name="pf0vf0")
    trees.netdev("enp5s0", function, phys_port_name="p0")
    assert netdev(trees) == "enp5s0"
