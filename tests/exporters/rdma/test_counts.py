"""What is counted: units, names, and what becomes of files that no table knows."""

from pathlib import Path

import pytest

from exporters.catalog import rdma as catalog
from exporters.catalog.family import Kind
from exporters.collectors.rdma_tally import VALUES_MAX
from tests.exporters.rdma.looking import Series, look_at
from tests.exporters.trees import COUNTERS, HARDWARE_COUNTERS, Trees, h100, port


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def one(trees: Trees, **files: str) -> Series:
    """The series of a device with one port, whose files are as given on top of the usual."""
    named = {name.replace("__", "/"): text for name, text in files.items()}
    trees.hca("mlx5_0", "", {1: {**port(400, link_layer="InfiniBand"), **named}})
    return look_at(trees, "mlx5_0")


def test_data_is_counted_in_words_of_four_octets_whatever_the_lanes(trees: Trees) -> None:
    """node_exporter#573, netdata#14747, atop#131: everybody got this wrong first."""
    for speed in ("400 Gb/sec (4X NDR)", "200 Gb/sec (2X NDR)", "100 Gb/sec (1X NDR)"):
        series = one(trees, counters__port_xmit_data="230442669431839", counters__port_rcv_data="7", rate=speed)
        assert series["port_transmit_bytes_total", "mlx5_0", "1"] == 921_770_677_727_356
        assert series["port_receive_bytes_total", "mlx5_0", "1"] == 28


def test_every_other_count_is_as_the_file_says(trees: Trees) -> None:
    """Each file of the tree says something else; each is found once, under the family of its name."""
    series = one(trees)
    files = port(400, link_layer="InfiniBand")
    for folder, names, table in (
        ("counters", COUNTERS, catalog.COUNTERS),
        ("hw_counters", HARDWARE_COUNTERS, catalog.HARDWARE_COUNTERS),
    ):
        for name in names:
            factor = 4 if name in {"port_xmit_data", "port_rcv_data"} else 1
            family = table[name].family.name.removeprefix("knotwatch_rdma_")
            assert series[family, "mlx5_0", "1"] == int(files[f"{folder}/{name}"]) * factor
    assert not [key for key in series if key[0] == "port_hardware_value"]


def test_a_name_with_bytes_in_it_counts_bytes() -> None:
    """infiniband-exporter#51: words published as if they were bytes. The factor is there by the file's name alone."""
    for table in (catalog.COUNTERS, catalog.LEGACY_COUNTERS, catalog.HARDWARE_COUNTERS, catalog.DEVICE_COUNTERS):
        for file, counted in table.items():
            words = file in {"port_xmit_data", "port_rcv_data", "port_xmit_data_64", "port_rcv_data_64"}
            assert counted.factor == (4 if words else 1), file
            assert counted.family.name.endswith("_bytes_total") or not words
            assert counted.family.kind is Kind.COUNTER


def test_lifespan_is_a_setting_in_seconds(trees: Trees) -> None:
    """node_exporter divides the milliseconds as whole numbers, and shows 0 for the usual 10 or 12."""
    series = one(trees, hw_counters__lifespan="12")
    assert series["port_hardware_lifespan_seconds", "mlx5_0", "1"] == 0.012


@pytest.mark.parametrize(
    ("text", "bytes_per_second", "lanes", "speed"),
    [
        ("400 Gb/sec (4X NDR)", 5e10, 4.0, "NDR"),
        ("2.5 Gb/sec (1X SDR)", 3.125e8, 1.0, "SDR"),
        ("100 Gb/sec", 1.25e10, None, ""),
        ("0 GB/sec", 0.0, None, ""),
        ("", None, None, ""),
        ("fast", None, None, ""),
        ("-1 Gb/sec (4X NDR)", None, None, ""),
    ],
)
def test_rate_is_bytes_per_second(
    trees: Trees, text: str, bytes_per_second: float | None, lanes: float | None, speed: str
) -> None:
    series = one(trees, rate=text)
    assert series.get(("port_rate_bytes_per_second", "mlx5_0", "1")) == bytes_per_second
    assert series.get(("port_lanes", "mlx5_0", "1")) == lanes
    assert ("port_info", "mlx5_0", "1", "InfiniBand", speed, "") in series


@pytest.mark.parametrize(
    "text", ["N/A (no PMA)", "", "-1", "18446744073709551615", "0x12", "1e9", "nan", "12 34", "٣", "9" * 400]
)
def test_what_is_no_count_is_absent(trees: Trees, text: str) -> None:
    """node_exporter#966, #1130: the text of a device without performance management became an error, or a value."""
    series = one(trees, counters__port_rcv_data=text)
    assert ("port_receive_bytes_total", "mlx5_0", "1") not in series
    assert ("port_transmit_bytes_total", "mlx5_0", "1") in series


def test_a_count_that_wraps_or_sticks_is_published_as_read(trees: Trees) -> None:
    """Narrow registers wrap (a reset, to Prometheus) or stop at their largest value. Nothing is added or taken away."""
    for text in ("4294967294", "4294967295", "10"):
        assert one(trees, hw_counters__out_of_sequence=text)[
            "port_out_of_sequence_packets_total", "mlx5_0", "1"
        ] == int(text)


def test_a_driver_s_own_counters_come_under_one_family(trees: Trees) -> None:
    series = one(trees, hw_counters__rx_zebra="5", hw_counters__active_qps="6")
    assert series["port_hardware_value", "mlx5_0", "1", "rx_zebra"] == 5
    assert series["port_hardware_value", "mlx5_0", "1", "active_qps"] == 6
    assert catalog.HARDWARE_VALUE.kind is Kind.GAUGE  # nobody knows whether they only grow


def test_a_driver_s_own_counters_are_bounded(trees: Trees) -> None:
    own = {f"hw_counters__own_{place:03}": str(place) for place in range(VALUES_MAX + 10)}
    series = one(trees, **own)
    found = sorted(key[3] for key in series if key[0] == "port_hardware_value")
    assert found == [f"own_{place:03}" for place in range(VALUES_MAX)]


def test_old_drivers_wide_counters_win_over_narrow_ones_that_stick(trees: Trees) -> None:
    series = one(
        trees,
        counters__port_xmit_data="4294967295",
        counters_ext__port_xmit_data_64="50000000000",
        counters_ext__port_unicast_xmit_packets="8",
    )
    assert series["port_transmit_bytes_total", "mlx5_0", "1"] == 200_000_000_000
    assert series["port_transmit_unicast_packets_total", "mlx5_0", "1"] == 8


def test_two_ports_are_two(trees: Trees) -> None:
    ports = {
        1: port(40, link_layer="InfiniBand", counters__port_xmit_wait="3599"),
        2: port(
            40, link_layer="InfiniBand", counters__port_xmit_wait="3846", state="1: DOWN", phys_state="3: Disabled"
        ),
    }
    trees.hca("mlx4_0", "", ports)
    series = look_at(trees, "mlx4_0")
    assert series["port_transmit_wait_ticks_total", "mlx4_0", "1"] == 3599
    assert series["port_transmit_wait_ticks_total", "mlx4_0", "2"] == 3846
    assert [series[name, "mlx4_0", "2"] for name in ("port_state", "port_physical_state", "port_link_up")] == [1, 3, 0]
    assert [series[name, "mlx4_0", "1"] for name in ("port_state", "port_physical_state", "port_link_up")] == [4, 5, 1]


def test_who_a_device_is(trees: Trees) -> None:
    h100(trees)
    series = look_at(trees, "mlx5_1")
    assert (
        "device_info",
        "mlx5_1",
        "MT_0000000838",
        "28.41.1000",
        "MT4129",
        "a088:c203:00ab:0001",
        "mlx5_core",
        "0000:25:00.0",
        "",
    ) in series
    assert series["device_numa_node", "mlx5_1"] == 0
    assert ("port_info", "mlx5_1", "1", "InfiniBand", "NDR", "") in series
    bond = look_at(trees, "mlx5_bond_0")
    assert ("port_info", "mlx5_bond_0", "1", "Ethernet", "HDR", "bond0") in bond
    assert bond["port_carrier_changes_total", "mlx5_bond_0", "1"] == 2


def test_a_node_of_nine_devices_stays_within_its_share_of_series(trees: Trees) -> None:
    h100(trees)
    names = [*(f"mlx5_{index}" for index in range(8)), "mlx5_bond_0"]
    assert sum(len(look_at(trees, name)) for name in names) < 600
