"""What drivers tell by ethtool: recorded names become families, and the kernel's calls are made as it wants them."""

import ctypes
import errno
import struct
from pathlib import Path

import pytest

from exporters.catalog.ethtool import NAMED
from exporters.catalog.family import Kind
from exporters.collectors import ethtool_calls
from exporters.collectors.ethtool import EthtoolInterface, interfaces, understood
from exporters.collectors.ethtool_calls import read_statistics
from exporters.collectors.rdma_devices import Choice
from exporters.rooted import Failed, tree_at
from exporters.subject import ReadError, Reason
from tests.exporters.rdma.looking import at, series_of
from tests.exporters.trees import AMAZON, ETHERNET_CLASS, Trees, h100

MLX5 = """
rx_packets: 317548853677
rx_prio3_bytes: 9000
rx_prio3_packets: 9
rx_prio3_discards: 2
rx_prio3_pause: 250
rx_prio3_pause_duration: 1500000
rx_prio3_pause_transition: 125
tx_prio3_pause: 7
tx_prio3_pause_duration: 250
tx_prio3_pause_transition: 3
rx_prio0_buf_discard: 11
rx_prio0_cong_discard: 12
rx_prio0_marked: 13
rx_global_pause: 14
rx_global_pause_duration: 2000000
tx_global_pause_transition: 15
tx_pause_storm_warning_events: 16
tx_pause_storm_error_events: 17
rx_out_of_buffer: 18
dev_out_of_buffer: 19
rx_discards_phy: 20
tx_discards_phy: 21
rx_ecn_mark: 22
rx_vport_rdma_unicast_bytes: 23
tx_vport_rdma_multicast_packets: 24
outbound_pci_stalled_rd: 25
outbound_pci_stalled_wr_events: 26
outbound_pci_buffer_overflow: 27
rx_pci_signal_integrity: 28
rx_pcs_symbol_err_phy: 29
rx_corrected_bits_phy: 30
rx_err_lane_1_phy: 31
rx_crc_errors_phy: 32
rx_bits_phy: 800
link_down_events_phy: 33
rx0_packets: 34
ch0_events: 35
"""
"""Names of mlx5 as a node prints them, with values of our own."""

MEANT = {
    ("receive_priority_bytes_total", "3"): 9000,
    ("receive_priority_packets_total", "3"): 9,
    ("receive_priority_discards_total", "3"): 2,
    ("receive_priority_pause_frames_total", "3"): 250,
    ("receive_priority_pause_seconds_total", "3"): 1.5,
    ("receive_priority_pause_transitions_total", "3"): 125,
    ("transmit_priority_pause_frames_total", "3"): 7,
    ("transmit_priority_pause_seconds_total", "3"): 0.00025,
    ("transmit_priority_pause_transitions_total", "3"): 3,
    ("receive_priority_buffer_discards_total", "0"): 11,
    ("receive_priority_congestion_discards_total", "0"): 12,
    ("receive_priority_ecn_marked_packets_total", "0"): 13,
    ("receive_pause_frames_total",): 14,
    ("receive_pause_seconds_total",): 2.0,
    ("transmit_pause_transitions_total",): 15,
    ("pause_storm_warnings_total",): 16,
    ("pause_storm_errors_total",): 17,
    ("out_of_buffer_drops_total",): 18,
    ("device_out_of_buffer_drops_total",): 19,
    ("receive_discards_total",): 20,
    ("transmit_discards_total",): 21,
    ("receive_ecn_marked_packets_total",): 22,
    ("receive_rdma_unicast_bytes_total",): 23,
    ("transmit_rdma_multicast_packets_total",): 24,
    ("pcie_read_stalled_ratio",): 0.25,
    ("pcie_write_stalled_seconds_total",): 26,
    ("pcie_overflow_drops_total",): 27,
    ("receive_pcie_errors_total",): 28,
    ("cable_symbol_errors_total",): 29,
    ("cable_corrections_total",): 30,
    ("cable_lane_errors_total", "1"): 31,
    ("cable_checksum_errors_total",): 32,
    ("link_downs_total",): 33,
    ("cable_bytes_total",): 100,
}


def recorded(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(value)) for name, _, value in (line.partition(": ") for line in text.split("\n") if line))


def meant(statistics: tuple[tuple[str, int], ...]) -> dict[tuple[str, ...], float]:
    return {
        (family.name.removeprefix("knotwatch_ethtool_"), *labels[1:]): value
        for family, labels, value in understood("eth0", statistics)
    }


def test_mlx5_s_names_are_understood_in_base_units() -> None:
    assert meant(recorded(MLX5)) == pytest.approx(MEANT)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("rx_pfc_ena_frames_pri5: 8", ("receive_priority_pause_frames_total", "5"), 8),
        ("tx_priority_4_xoff.nic: 9", ("transmit_priority_pause_frames_total", "4"), 9),
        ("rx_pause_frames: 3", ("receive_pause_frames_total",), 3),
        ("link_xoff_tx.nic: 2", ("transmit_pause_frames_total",), 2),
        ("bw_in_allowance_exceeded: 6", ("allowance_exceeded_total", "bw_in"), 6),
        ("conntrack_allowance_exceeded: 7", ("allowance_exceeded_total", "conntrack"), 7),
    ],
)
def test_other_drivers_names_mean_the_same(text: str, key: tuple[str, ...], value: float) -> None:
    assert meant(recorded(text)) == {key: value}


@pytest.mark.parametrize(
    "text", ["rx_prio8_pause: 1", "rx_prio3_pause: 18446744073709551615", "xrx_global_pause: 1", "rx_global_pause_x: 1"]
)
def test_what_is_not_known_or_no_value_is_absent(text: str) -> None:
    assert meant(recorded(text)) == {}


def test_no_name_means_two_things() -> None:
    names = [name for name, _ in recorded(MLX5)]
    for name in names:
        assert len([named for named in NAMED if named.pattern.fullmatch(name)]) <= 1, name
    assert all(named.family.kind is Kind.GAUGE or named.family.name.endswith("_total") for named in NAMED)


class Kernel:
    """Answers the three calls as Linux does, from a table; `grows` more statistics come between the calls."""

    def __init__(self, statistics: tuple[tuple[str, int], ...], *, grows: int = 0) -> None:
        self.statistics = list(statistics)
        self.grows = grows

    def __call__(self, netdev: str, buffer: "ctypes.Array[ctypes.c_char]") -> None:
        if netdev != "eth0":
            raise OSError(errno.ENODEV, "none of that name")
        (command,) = struct.unpack_from("=I", buffer)
        count = len(self.statistics)
        match command:
            case ethtool_calls.GSSET_INFO:
                (mask,) = struct.unpack_from("=Q", buffer, 8)
                assert mask == 2
                struct.pack_into("=I", buffer, 16, count)
                self.statistics += [(f"late_{place}", place) for place in range(self.grows)]
            case ethtool_calls.GSTRINGS:
                assert struct.unpack_from("=I", buffer, 4) == (1,)
                struct.pack_into("=I", buffer, 8, count)
                for place, (name, _) in enumerate(self.statistics):
                    struct.pack_into("32s", buffer, 12 + 32 * place, name.encode())
            case ethtool_calls.GSTATS:
                struct.pack_into("=I", buffer, 4, count)
                struct.pack_into(f"={count}Q", buffer, 8, *(value for _, value in self.statistics))
            case _:
                raise OSError(errno.EOPNOTSUPP, "not known")


def test_the_kernel_is_asked_for_count_names_and_values() -> None:
    assert read_statistics("eth0", Kernel(recorded(MLX5))) == recorded(MLX5)
    assert read_statistics("eth0", Kernel(())) == ()
    assert read_statistics("eth9", Kernel(())) == Failed("ENODEV")


def test_a_number_of_statistics_that_grows_amidst_is_an_error_and_no_overflow() -> None:
    assert read_statistics("eth0", Kernel(recorded(MLX5), grows=900)) == Failed("EAGAIN")


@pytest.mark.parametrize("name", ["", "x" * 16, "ü" * 8])
def test_a_name_that_no_interface_can_have_is_not_asked_for(name: str) -> None:
    assert read_statistics(name, Kernel(())) == Failed("EINVAL")


def test_the_real_kernel_answers() -> None:
    """The loopback interface is everywhere, and has no statistics of a driver; others are as they are."""
    assert read_statistics("lo") == ()
    assert read_statistics("no-such-if") == Failed("ENODEV")
    for netdev in sorted(path.name for path in Path("/sys/class/net").iterdir()):
        statistics = read_statistics(netdev)
        assert isinstance(statistics, Failed) or all(name for name, _ in statistics)


@pytest.mark.parametrize(
    ("code", "up", "reason"),
    [
        ("ENODEV", False, Reason.NOT_FOUND),
        ("EPERM", False, Reason.PERMISSION),
        ("EAGAIN", True, Reason.NONE),
        ("EIO", True, Reason.NONE),
    ],
)
def test_an_interface_that_does_not_answer_says_why(code: str, reason: Reason, *, up: bool) -> None:
    reading = EthtoolInterface("eth0", 10.0, 5.0, lambda _netdev: Failed(code)).read(at(0.0))
    assert (reading.value, reading.up, reading.reason) == (None, up, reason)
    assert reading.errors == (() if code == "ENODEV" else (ReadError("ethtool", code),))


def test_an_interface_is_a_subject() -> None:
    subject = EthtoolInterface("eth0", 10.0, 5.0, lambda _netdev: recorded(MLX5))
    value = subject.read(at(0.0)).value
    assert value is not None
    assert series_of(subject.samples(value))["knotwatch_ethtool_link_downs_total", "eth0"] == 33


def test_the_interfaces_are_those_beneath_rdma_devices_on_ethernet(tmp_path: Path) -> None:
    trees = h100(Trees(tmp_path))
    trees.netdev("docker0")
    assert interfaces(tree_at(trees.sysfs), Choice()) == ("bond0", "eth0", "eth1")
    assert interfaces(tree_at(trees.sysfs), Choice(exclude="mlx5_bond_0")) == ()


def test_beside_efa_the_cloud_s_interfaces_are_asked(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    for place, (netdev, driver) in enumerate((("ens5", "ena"), ("ens6", "mlx5_core"))):
        function = trees.function(f"pci0000:00/0000:00:0{place}.0", vendor=AMAZON, kind=ETHERNET_CLASS, driver=driver)
        trees.netdev(netdev, function)
    assert interfaces(tree_at(trees.sysfs), Choice()) == ("ens5",)
