"""Devices come, go, hide and differ: none is a matter of life and death to the others."""

import errno
from pathlib import Path

import pytest

from exporters.collectors.rdma_devices import RdmaDevices
from exporters.subject import Key, Reason
from tests.exporters.rdma.looking import Reads, at, devices_of, look, look_at, series_of, subject_of
from tests.exporters.trees import ETHERNET_CLASS, INTEL, MELLANOX, Trees, h100, port


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def names(source: RdmaDevices) -> list[str]:
    return [each.key.name for each in source() if each.key.name]


def test_a_node_without_rdma_has_no_devices_and_no_error(trees: Trees) -> None:
    """node_exporter#1511, #2827."""
    source = devices_of(trees)
    assert names(source) == []
    reading = subject_of(source(), "").read(at(0.0))
    assert (reading.up, reading.errors) == (True, ())
    assert series_of(subject_of(source(), "").samples(reading.value))[("devices",)] == 0


def test_a_list_that_cannot_be_read_is_an_error_and_not_an_empty_node(trees: Trees) -> None:
    h100(trees)
    source = devices_of(trees)
    (trees.sysfs / "class/infiniband").rename(trees.sysfs / "class/away")
    trees.write("class/infiniband", "no folder")
    assert names(source) == []  # ENOTDIR: there is no such class
    (trees.sysfs / "class/infiniband").unlink()
    (trees.sysfs / "class/infiniband").symlink_to("infiniband")
    with pytest.raises(OSError, match="ELOOP"):
        source()
    assert [error.code for error in source._node.read(at(0.0)).errors] == ["ELOOP"]


def test_devices_are_counted_without_those_left_out(trees: Trees) -> None:
    h100(trees)
    subject = subject_of(devices_of(trees, exclude="mlx5_bond_.*")(), "")
    assert series_of(subject.samples(subject.read(at(0.0)).value))[("devices",)] == 8


def test_a_device_unplugged_amidst_a_look_costs_what_was_not_read_yet(trees: Trees) -> None:
    """procfs#687: a file that was listed a moment before is gone; the scan of the whole class ended."""
    h100(trees)
    whole = look_at(trees, "mlx5_2")

    class Unplugged(Reads):
        def __call__(self, path: str, at_most: int) -> bytes:
            if len([each for each in self.paths if "/mlx5_2/" in each]) > 20 and "/mlx5_2/" in path:
                raise OSError(errno.ENODEV if "hw" in path else errno.ENOENT, "gone")
            return super().__call__(path, at_most)

    source = devices_of(trees, read=Unplugged())
    series, reading = look(subject_of(source(), "mlx5_2"))
    assert 10 < len(series) < len(whole) - 20
    assert set(series) - {key for key in series if key[0] in {"device_info", "port_info"}} <= set(whole)
    assert reading.errors == ()
    assert look(subject_of(source(), "mlx5_3"))[0] == look_at(trees, "mlx5_3")


def test_a_device_that_vanished_is_down_and_not_forgotten(trees: Trees) -> None:
    """Firmware that dies takes its device out of the class; absence would look like a smaller node."""
    h100(trees)
    source = devices_of(trees)
    assert len(names(source)) == 9
    (trees.sysfs / "class/infiniband/mlx5_4").unlink()
    assert "mlx5_4" in names(source)
    reading = look(subject_of(source(), "mlx5_4"))[1]
    assert (reading.value, reading.up, reading.reason) == (None, False, Reason.NOT_FOUND)


def test_a_device_with_a_new_name_is_not_lost(trees: Trees) -> None:
    h100(trees)
    source = devices_of(trees)
    names(source)
    (trees.sysfs / "class/infiniband/mlx5_4").rename(trees.sysfs / "class/infiniband/rocep4")
    assert sorted(names(source)) == sorted(
        [*(f"mlx5_{index}" for index in range(8) if index != 4), "mlx5_bond_0", "rocep4"]
    )


def virtual(trees: Trees) -> None:
    """mlx5_9 is a virtual function of mlx5_8."""
    way = "pci0000:c0/0000:c0:01.0"
    physical = trees.function(f"{way}/0000:c1:00.0", vendor=MELLANOX, kind=ETHERNET_CLASS, driver="mlx5_core")
    function = trees.function(f"{way}/0000:c1:00.2", vendor=MELLANOX, kind=ETHERNET_CLASS, driver="mlx5_core")
    trees.link(f"{function}/physfn", physical)
    trees.hca("mlx5_8", physical, {1: port(100, link_layer="Ethernet")})
    trees.hca("mlx5_9", function, {1: port(100, link_layer="Ethernet")})


def test_a_virtual_function_names_its_physical_one(trees: Trees) -> None:
    virtual(trees)
    infos = [key for key in look_at(trees, "mlx5_9") if key[0] == "device_info"]
    assert infos == [("device_info", "mlx5_9", "", "", "", "", "mlx5_core", "0000:c1:00.2", "mlx5_8")]
    assert [key[-1] for key in look_at(trees, "mlx5_8") if key[0] == "device_info"] == [""]
    trees.remove("class/infiniband/mlx5_8")
    trees.remove("devices/pci0000:c0/0000:c0:01.0/0000:c1:00.0/infiniband")
    assert [key[-1] for key in look_at(trees, "mlx5_9") if key[0] == "device_info"] == ["0000:c1:00.0"]


def test_a_virtual_function_given_away_is_no_loss(trees: Trees) -> None:
    """It goes into a pod's network namespace, and out of our sight: nothing is wrong."""
    virtual(trees)
    source = devices_of(trees)
    assert names(source) == ["mlx5_8", "mlx5_9"]
    trees.remove("class/infiniband/mlx5_9")
    assert names(source) == ["mlx5_8"]


def test_hundreds_of_virtual_functions_are_not_read_every_second(trees: Trees) -> None:
    virtual(trees)
    assert [each.interval_s for each in devices_of(trees)() if each.key.name] == [1.0, 10.0]


def test_the_same_device_is_the_same_subject(trees: Trees) -> None:
    h100(trees)
    source = devices_of(trees)
    assert [id(each) for each in source()] == [id(each) for each in source()]
    assert {each.key for each in source()} == {Key("rdma", name) for name in ["", *names(source)]}


@pytest.mark.parametrize(
    "missing", ["counters", "hw_counters", "gid_attrs", "state", "phys_state", "rate", "link_layer"]
)
def test_whatever_a_driver_lacks_costs_nothing_else(trees: Trees, missing: str) -> None:
    """node_exporter#2769, #2846, procfs#605: irdma has no counters, and the collector gave up."""
    files = {name: text for name, text in port(100, link_layer="Ethernet").items() if name.split("/")[0] != missing}
    function = trees.function("pci0000:00/0000:00:05.0", vendor=INTEL, kind=ETHERNET_CLASS, driver="irdma")
    trees.hca("irdma0", function, {1: files})
    series, reading = look(subject_of(devices_of(trees)(), "irdma0"))
    assert (reading.up, reading.errors) == (True, ())
    assert {
        "counters": ("port_out_of_sequence_packets_total", "irdma0", "1"),
        "hw_counters": ("port_transmit_bytes_total", "irdma0", "1"),
    }.get(missing, ("port_link_downs_total", "irdma0", "1")) in series


def test_a_device_without_ports_or_files_is_there(trees: Trees) -> None:
    trees.hca("empty", "", {})
    series, reading = look(subject_of(devices_of(trees)(), "empty"))
    assert (list(series), reading.up) == ([("device_info", "empty", "", "", "", "", "", "", "")], True)


def test_irdma_s_names_are_understood(trees: Trees) -> None:
    own = {"hw_counters/cnpHandled": "3", "hw_counters/RxECNMrkd": "4", "hw_counters/ip4InOctets": "5"}
    trees.hca("irdma0", "", {1: {"state": "4: ACTIVE", **own}})
    series = look_at(trees, "irdma0")
    assert series["port_congestion_notices_handled_total", "irdma0", "1"] == 3
    assert series["port_ecn_marked_packets_total", "irdma0", "1"] == 4
    assert series["port_hardware_value", "irdma0", "1", "ip4InOctets"] == 5
