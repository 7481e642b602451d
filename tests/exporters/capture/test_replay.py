"""A capture is the node again: the same collectors, over what was written down, say the same."""

import gzip
import json
from pathlib import Path

import pytest

from exporters import rooted
from exporters.capture.form import read_capture
from tests.exporters.capture.nodes import Node, lasting, page_of, run
from tests.exporters.fake_nvml import hopper

pytestmark = pytest.mark.needs("c-compiler")

DISGUISED = ("serial", "node_guid", "pod_uid", "command", "container_id")
"""Labels whose values are not those of the node."""


def test_a_capture_says_what_the_node_says(node: Node) -> None:
    names = ("gpu", "rdma", "topology", "processes", "node")
    before = lasting(node.page(*names), *DISGUISED)
    node.capture("--keep-uuids")
    after = lasting(node.replayed(*names), *DISGUISED)
    assert len(before) > 1200
    assert {"knotwatch_gpu_sm_active_ratio", "knotwatch_node_memory_total_bytes"} <= {name for name, _ in before}
    assert {key: (before.get(key), after.get(key)) for key in before.keys() ^ after.keys()} == {}
    assert {key for key in before if before[key] != after[key]} == set()


def test_what_moves_between_two_looks_moves_in_the_capture(node: Node) -> None:
    """NVLink's rate under the name of DCGM is told from two readings."""
    node.capture("--keep-uuids")
    exchanges = {(each.call, each.device, each.keys): each.answers for each in read_capture(node.file).nvml}
    assert len(exchanges["gpm", "d0", (None, 2)]) == 1
    assert (
        node.replayed("gpu")["knotwatch_gpu_sm_active_ratio", frozenset({("uuid", hopper.uuid(7)), ("gpu", "7")})]
        == 0.0
    )


def test_a_packed_capture_is_the_same(node: Node) -> None:
    node.capture()
    packed = node.file.with_name("node.capture.json.gz")
    packed.write_bytes(gzip.compress(node.file.read_bytes()))
    assert read_capture(packed) == read_capture(node.file)
    assert run("once", "gpu", "--replay", str(packed)).exit_code == 0


def test_a_lost_gpu_and_a_refused_call_are_so_again(node: Node) -> None:
    node.fake.lose(3)
    node.fake.fail(2, "nvmlDeviceGetPowerUsage", 999)
    node.capture("--keep-uuids")
    page = node.replayed("gpu")
    assert page["knotwatch_gpus_visible", frozenset()] == 7
    assert page["knotwatch_gpus_expected", frozenset()] == 8
    watts = {dict(labels)["uuid"] for name, labels in page if name == "knotwatch_gpu_power_watts"}
    assert watts == {hopper.uuid(number) for number in (0, 1, 4, 5, 6, 7)}
    errors = [labels for name, labels in page if name == "knotwatch_exporter_read_errors_total"]
    assert frozenset({("call", "nvmlDeviceGetPowerUsage"), ("code", "999")}) in errors


def test_a_call_that_hangs_hangs_again(node: Node, tmp_path: Path) -> None:
    node.fake.block(4, "nvmlDeviceGetEccMode")
    said = node.run("capture", "--within", "4", "-o", str(node.file)).stderr
    node.fake.withdraw(4, "nvmlDeviceGetEccMode")
    assert "not all calls of the driver library came back within 4 s" in said
    blocked = [(each.call, each.device) for each in read_capture(node.file).nvml if each.answers[-1].blocks]
    assert blocked == [("nvmlDeviceGetEccMode", "d4")]
    config = tmp_path / "exporter.toml"
    config.write_text("[collect]\ndeadline_s = 0.5\n")
    result = run("once", "gpu", "--replay", str(node.file), "--config", str(config), "--over", "0")
    up = [value for (name, _), value in page_of(result.stdout).items() if name == "knotwatch_gpu_up"]
    assert sorted(up) == [0.0, *[1.0] * 7]
    assert "timeout" in result.stdout


def test_a_file_that_refuses_refuses_again(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """prometheus/node_exporter#3265: VL15_dropped answers EINVAL."""

    def refusing(path: str, at_most: int) -> bytes:
        if path.endswith("mlx5_2/ports/1/counters/VL15_dropped"):
            raise OSError(22, "Invalid argument")
        return rooted.read_bytes(path, at_most)

    with monkeypatch.context() as patch:
        patch.setattr(rooted.WAY, "read", refusing)
        node.capture()
    assert set(read_capture(node.file).sysfs.refused.values()) == {"EINVAL"}
    page = node.replayed("rdma")
    family = "knotwatch_rdma_port_management_drops_total"
    assert {dict(labels)["device"] for name, labels in page if name == family} >= {"mlx5_1", "mlx5_3"}
    assert all(dict(labels)["device"] != "mlx5_2" for name, labels in page if name == family)


def test_a_node_without_a_driver_library_is_one_again(tmp_path: Path) -> None:
    file = tmp_path / "bare.json"
    document = {"schema": "knotwatch.capture/v1", "made_by": "x", "taken_at_s": 1.0, "masked": [], "nvml": []}
    file.write_text(json.dumps({**document, "sysfs": {}, "procfs": {}}))
    result = run("once", "--replay", str(file))
    assert "no NVIDIA library here" in result.stderr
    assert page_of(result.stdout)["knotwatch_nvml_up", frozenset()] == 0.0


def test_only_what_a_capture_holds_is_replayed(node: Node) -> None:
    """The Ethernet side is asked of this machine's own interfaces, which are not the node's."""
    node.capture()
    result = run("once", "ethtool", "--replay", str(node.file))
    assert not [name for name, _ in page_of(result.stdout) if name.startswith("knotwatch_rdma")]


def test_after_a_replay_this_machine_is_read_again(node: Node) -> None:
    node.capture()
    node.replayed("gpu")
    assert len([name for name, _ in node.page("gpu") if name == "knotwatch_gpu_up"]) == 8
