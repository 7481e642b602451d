"""Where node_exporter runs, the node is left to it; and which NUMA node each GPU is at."""

from pathlib import Path

import pytest

from exporters.cli import chosen
from exporters.collectors.node import node_exporter_runs, on_by_default
from exporters.config import Collect, Paths, Settings
from exporters.followers.gpu_numa import GpuNuma
from exporters.nvml.reading import GpuIdentity, NodeReading
from exporters.pci import Place, Topology
from exporters.rooted import tree_at
from exporters.subject import Key, Moment, Reading
from tests.exporters.trees import Trees

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
LISTENING = (
    "   0: 00000000:238C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0"
)
CONNECTED = LISTENING.replace(" 0A ", " 01 ")
OTHER_PORT = LISTENING.replace(":238C", ":238D")
TO_ANOTHER = LISTENING.replace("00000000:238C 00000000:0000 0A", "0100007F:C350 0100007F:238C 01")
SIX = LISTENING.replace("00000000:238C 00000000:0000", f"{'0' * 32}:238C {'0' * 32}:0000")


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    found = Trees(tmp_path)
    found.write_proc("1/comm", "systemd")
    return found


@pytest.mark.parametrize(
    ("path", "text", "runs"),
    [
        ("412/comm", "node_exporter", True),
        ("412/comm", "prometheus-node", True),
        ("412/comm", "node_exporter_x", False),
        ("412/cmdline", "node_exporter", False),
        ("net/tcp", HEAD + LISTENING, True),
        ("1/net/tcp", HEAD + LISTENING, True),
        ("net/tcp6", HEAD + SIX, True),
        ("net/tcp", HEAD + CONNECTED, False),
        ("net/tcp", HEAD + OTHER_PORT, False),
        ("net/tcp", HEAD + TO_ANOTHER, False),
        ("net/tcp", "", False),
    ],
)
def test_node_exporter_is_told_by_its_process_or_its_port(trees: Trees, path: str, text: str, *, runs: bool) -> None:
    trees.write_proc(path, text)
    assert node_exporter_runs(tree_at(trees.procfs)) is runs


def test_where_it_runs_the_node_is_off_until_asked_for(trees: Trees) -> None:
    """What is configured wins over what is found, and the command line over both."""
    settings = Settings(path=Paths(procfs=str(trees.procfs)))

    def on(settings: Settings, *on: str, off: tuple[str, ...] = ()) -> bool:
        return "node" in [each.name for each in chosen(settings, on, off)]

    assert on_by_default(settings)
    assert on(settings)
    trees.write_proc("412/comm", "node_exporter")
    assert not on(settings)
    assert on(settings, "node")
    forced = Settings(path=settings.path, collect=Collect(on=("node",)))
    assert on(forced)
    assert not on(forced, off=("node",))


def test_each_gpu_s_numa_node_is_told_by_its_uuid() -> None:
    follower = GpuNuma()
    moment = Moment(0.0, 0.0)
    places = (Place(address="0000:1b:00.0", numa_node=1), Place(address="0000:43:00.0"))
    follower.note(Key("topology"), Reading(value=Topology(gpus=places)), moment)
    gpus = tuple(
        GpuIdentity(uuid=u, index=i, minor=i, name="", pci_address=a, serial="", vbios="", driver="")
        for i, (u, a) in enumerate((("GPU-a", "00000000:1B:00.0"), ("GPU-b", "00000000:43:00.0")))
    )
    reading = NodeReading(gpus=gpus, counted=2, visible=(), expected=2, on_pci=2, up=True, starts=1, failures=0)
    follower.note(Key("nvml"), Reading(value=reading), moment)
    assert [(each.labels, each.value) for each in follower.samples(moment)] == [(("GPU-a", "0"), 1.0)]
    follower.forget(Key("topology"))
    assert list(follower.samples(moment)) == []
