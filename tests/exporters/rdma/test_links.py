"""States of links: what a scrape would miss is counted, and a driver that always says ACTIVE is not believed."""

from pathlib import Path

import pytest

from tests.exporters.rdma.looking import INTERVAL_S, Reads, Series, devices_of, look, look_at, subject_of
from tests.exporters.trees import AMAZON, ETHERNET_CLASS, Trees, h100, port

CHANGES = ("port_state_changes_total", "mlx5_0", "1")
STATE = "class/infiniband/mlx5_0/ports/1/state"


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return h100(Trees(tmp_path))


@pytest.mark.parametrize(
    ("states", "changes"),
    [
        ("4: ACTIVE|4: ACTIVE|4: ACTIVE", 0),
        ("4: ACTIVE|1: DOWN|4: ACTIVE", 2),
        ("1: DOWN|2: INIT|4: ACTIVE|4: ACTIVE", 2),
        ("4: ACTIVE||4: ACTIVE", 0),
        ("4: ACTIVE||1: DOWN", 1),
        ("|4: ACTIVE", 0),
    ],
)
def test_a_flap_between_two_scrapes_is_counted(trees: Trees, states: str, changes: int) -> None:
    """gpud#1110, NVSentinel#642, device-metrics-exporter#393. What cannot be read is no change."""
    subject = subject_of(devices_of(trees)(), "mlx5_0")
    series: Series = {}
    for second, state in enumerate(states.split("|")):
        trees.write(STATE, state)
        series, _ = look(subject, float(second))
    assert series[CHANGES] == changes
    assert len(states.split("|")) < INTERVAL_S


def test_states_are_read_every_second_and_counters_every_interval(trees: Trees) -> None:
    reads = Reads()
    subject = subject_of(devices_of(trees, read=reads)(), "mlx5_0")
    assert subject.interval_s == 1.0
    for second in range(30):
        look(subject, float(second))
    names = [path.rpartition("/")[2] for path in reads.paths if "/mlx5_0/" in path]
    assert names.count("state") == 30
    assert names.count("port_xmit_data") == 3
    assert len([name for name in names if name not in {"state", "phys_state"}]) < 3 * 70


def test_counts_of_changes_outlive_a_device_that_comes_back(trees: Trees) -> None:
    source = devices_of(trees)
    subject = subject_of(source(), "mlx5_0")
    look(subject, 0.0)
    place = trees.sysfs / "class/infiniband/mlx5_0"
    target = place.readlink()
    place.unlink()
    assert look(subject_of(source(), "mlx5_0"), 1.0)[1].value is None
    place.symlink_to(target)
    trees.write(STATE, "1: DOWN")
    assert look(subject_of(source(), "mlx5_0"), 2.0)[0][CHANGES] == 1


def test_a_port_that_is_down_says_so_and_keeps_its_counts(trees: Trees) -> None:
    trees.write(STATE, "1: DOWN")
    trees.write("class/infiniband/mlx5_0/ports/1/rate", "0 GB/sec")
    series = look_at(trees, "mlx5_0")
    assert series["port_link_up", "mlx5_0", "1"] == 0
    assert series["port_state", "mlx5_0", "1"] == 1
    assert ("port_transmit_bytes_total", "mlx5_0", "1") in series


def efa(trees: Trees, *, netdev: bool) -> None:
    """An EFA device: no `counters`, a state that never changes, bytes that are bytes."""
    function = trees.function("pci0000:a0/0000:a0:01.0/0000:a1:00.0", vendor=AMAZON, kind=ETHERNET_CLASS, driver="efa")
    if netdev:
        trees.netdev("ens32", function)
    names = ("tx_bytes", "rx_bytes", "tx_pkts", "rdma_read_bytes", "rdma_write_bytes", "rx_drops", "lifespan")
    trees.hca(
        "rdmap160s0",
        function,
        {
            1: {
                "state": "4: ACTIVE",
                "phys_state": "5: LinkUp",
                "rate": "100 Gb/sec (4X EDR)",
                "link_layer": "Unspecified",
                **{f"hw_counters/{name}": str(123 + place) for place, name in enumerate(names)},
            }
        },
        hw_counters__submitted_cmds="17",
        hw_counters__zebra="4",
    )


def test_efa_s_bytes_are_bytes_and_its_state_is_not_believed(trees: Trees) -> None:
    efa(trees, netdev=False)
    series = look_at(trees, "rdmap160s0")
    assert series["port_transmit_bytes_total", "rdmap160s0", "1"] == 123
    assert series["port_receive_bytes_total", "rdmap160s0", "1"] == 124
    assert series["port_read_bytes_total", "rdmap160s0", "1"] == 126
    assert series["port_state", "rdmap160s0", "1"] == 4
    assert ("port_link_up", "rdmap160s0", "1") not in series
    assert ("port_state_changes_total", "rdmap160s0", "1") not in series
    assert series["device_submitted_commands_total", "rdmap160s0"] == 17
    assert series["device_hardware_value", "rdmap160s0", "zebra"] == 4


def test_efa_s_interface_tells_of_its_link(trees: Trees) -> None:
    efa(trees, netdev=True)
    subject = subject_of(devices_of(trees)(), "rdmap160s0")
    ups = []
    for second, operstate in enumerate(("up", "down", "unknown", "up")):
        trees.write("class/net/ens32/operstate", operstate)
        series, _ = look(subject, float(second))
        ups.append(series.get(("port_link_up", "rdmap160s0", "1")))
    assert ups == [1, 0, None, 1]
    assert series["port_state_changes_total", "rdmap160s0", "1"] == 2


def test_infiniband_is_up_whatever_an_unused_interface_of_it_says(trees: Trees) -> None:
    """IP over InfiniBand is often not set up at all; RDMA runs without it."""
    trees.netdev("ib0", _function_of(trees, "mlx5_0"), operstate="down")
    series = look_at(trees, "mlx5_0")
    assert series["port_link_up", "mlx5_0", "1"] == 1
    assert ("port_info", "mlx5_0", "1", "InfiniBand", "NDR", "ib0") in series


def test_counters_at_the_device_are_its_only_port_s_and_nobody_s_if_it_has_two(trees: Trees) -> None:
    """Some drivers keep hw_counters at the device."""
    for ports in (1, 2):
        trees.hca(
            f"odd_{ports}",
            "",
            {number: {"state": "4: ACTIVE"} for number in range(1, ports + 1)},
            hw_counters__rx_bytes="99",
            hw_counters__lifespan="10",
        )
    assert look_at(trees, "odd_1")["port_receive_bytes_total", "odd_1", "1"] == 99
    two = look_at(trees, "odd_2")
    assert two["device_hardware_value", "odd_2", "rx_bytes"] == 99
    assert not [key for key in two if key[0] == "port_receive_bytes_total"]


def test_what_a_port_counts_is_not_taken_from_its_device_too(trees: Trees) -> None:
    of_port = port(100, link_layer="Ethernet", counters__port_rcv_data="5")
    trees.hca("bnxt_re0", "", {1: of_port}, hw_counters__rx_bytes="99")
    assert look_at(trees, "bnxt_re0")["port_receive_bytes_total", "bnxt_re0", "1"] == 20


def _function_of(trees: Trees, name: str) -> str:
    return str((trees.sysfs / f"class/infiniband/{name}/device").resolve().relative_to(trees.sysfs.resolve()))
