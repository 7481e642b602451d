"""Trees that others have published, and ours, beside Debian's node_exporter: value by value the same.

The published ones lie in `$KNOTWATCH_SHARED` (default: `shared` beside the checkout); one is of a real node of 8 GPUs.
"""

import os
from pathlib import Path

import pytest

from exporters.collectors.rdma_devices import Choice, RdmaDevices
from exporters.rooted import tree_at
from tests.conftest import ROOT
from tests.exporters.rdma import node_exporter
from tests.exporters.rdma.looking import Series, look
from tests.exporters.trees import Trees, h100, port

SHARED = Path(os.environ.get("KNOTWATCH_SHARED", ROOT.parent / "shared")) / "samples" / "sysfs"
PUBLISHED = ("procfs", "gpud/sys-class-infiniband-h100.0")


def published(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"published trees: {folder} is not there")
    return folder


def all_series(sysfs: Path) -> Series:
    source = RdmaDevices(tree_at(sysfs), tree_at(sysfs.parent / "no-proc"), Choice(), 10.0, 5.0)
    found: Series = {}
    for subject in source():
        series, reading = look(subject)
        assert (reading.up, reading.errors) == (True, ())
        found |= series
    return found


def agrees(sysfs: Path) -> int:
    """Assert that whatever node_exporter says we say, too. Returns how many values that are."""
    ours = all_series(sysfs)
    theirs, infos = node_exporter.series(sysfs)
    assert {key: ours.get(key) for key in theirs} == theirs
    assert {key[1:5] for key in ours if key[0] == "device_info"} == infos
    return len(theirs)


@pytest.mark.needs("node-exporter")
@pytest.mark.parametrize(("name", "values"), [(PUBLISHED[0], 84), (PUBLISHED[1], 216)])
def test_published_trees_read_as_node_exporter_reads_them(name: str, values: int) -> None:
    assert agrees(published(name)) == values


@pytest.mark.needs("node-exporter")
def test_our_trees_read_as_node_exporter_reads_them(tmp_path: Path) -> None:
    trees = h100(Trees(tmp_path))
    trees.hca(
        "mlx4_0",
        "",
        {
            1: port(40, link_layer="InfiniBand", state="1: DOWN", phys_state="3: Disabled"),
            2: port(40, link_layer="InfiniBand", counters__port_rcv_data="N/A (no PMA)"),
        },
        board_id="SM_1141000001000",
        fw_ver="2.31.5050",
        hca_type="MT4099",
    )
    assert agrees(trees.sysfs) > 250


def test_the_real_node_s_hardware_counters_are_there() -> None:
    """What Debian's node_exporter does not read yet: looked up by hand in the published tree."""
    series = all_series(published(PUBLISHED[1]))
    bond = {key[0]: value for key, value in series.items() if key[1:] == ("mlx5_bond_0", "1")}
    assert bond["port_hardware_lifespan_seconds"] == 0.012
    assert bond["port_receive_write_requests_total"] == 3809045607
    assert bond["port_receive_read_requests_total"] == 9187392
    assert bond["port_adaptive_retransmissions_total"] == 3
    assert bond["port_receive_dynamic_connects_total"] == 422237
    assert bond["port_transmit_bytes_total"] == 921_770_677_727_356
    assert len(series) < 600


def test_every_hardware_counter_of_the_published_trees_has_a_family() -> None:
    for name in PUBLISHED:
        assert not [key for key in all_series(published(name)) if key[0] == "port_hardware_value"]
