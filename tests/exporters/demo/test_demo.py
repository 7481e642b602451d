"""The demonstration shows what it promises: eight GPUs whose values move, and where to look."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from exporters.capture.form import read_capture
from tests.exporters.capture.nodes import Node, lasting, page_of, run
from tests.exporters.demo.__main__ import CAPTURE, table_of
from tests.exporters.demo.simulation import (
    COUNT,
    HANGS,
    HANGS_AFTER_S,
    IDLE,
    LOSES,
    LOST_FROM_S,
    LOST_UNTIL_S,
    doing,
    lost,
)
from tests.exporters.fake_nvml.fake import FakeNvml

UPDATE = "KNOTWATCH_UPDATE"


def test_the_story_is_what_is_told() -> None:
    training, waiting = doing(0, HANGS_AFTER_S), doing(HANGS, HANGS_AFTER_S)
    assert training.resident_percent == waiting.resident_percent == 100
    assert training.gpm[2] > 70 > 15 > waiting.gpm[2]
    assert (waiting.link_kibibytes_per_s, doing(IDLE, 1.0).resident_percent) == (0, 0)
    assert doing(0, 1.0) != doing(0, 4.0)
    assert [lost(LOSES, second) for second in (0, LOST_FROM_S, LOST_UNTIL_S)] == [False, True, False]


@pytest.mark.needs("c-compiler")
def test_it_serves_and_shows_eight_gpus_within_a_minute(tmp_path: Path) -> None:
    config = tmp_path / "fast.toml"
    config.write_text("[collect]\ninterval_s = 1.5\n[web]\npage_interval_s = 1.0\n")
    command = [sys.executable, "-m", "tests.exporters.demo", "--listen", "127.0.0.1:0", "--config", str(config)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603  our own command
        try:
            assert process.stderr
            port = shown = ""
            for line in process.stderr:
                port = port or (found[1] if (found := re.search(r"on port (\d+)", line)) else "")
                shown += line
                if line.startswith("Ctrl-C"):
                    break
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                page = page_of(answer.read().decode())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    assert re.findall(r"^ *([0-7])  +\d", shown, re.MULTILINE) == [str(gpu) for gpu in range(COUNT)]
    assert f"http://127.0.0.1:{port}/metrics" in shown
    assert sum(name == "knotwatch_gpu_sm_active_ratio" for name, _ in page) == COUNT
    assert sum(name == "DCGM_FI_DEV_GPU_UTIL" for name, _ in page) == COUNT


@pytest.mark.needs("c-compiler")
def test_the_capture_that_stands_in_is_of_this_node(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    """`KNOTWATCH_UPDATE=1` takes it anew."""
    node = Node(fake_nvml, tmp_path)
    node.simulation.at(10.0)
    if os.environ.get(UPDATE):
        node.file = CAPTURE
        assert node.run("capture", "-o", str(CAPTURE)).exit_code == 0
    names = ("gpu", "rdma", "topology", "processes", "node")
    labels = ("uuid", "serial", "node_guid", "pod_uid", "command", "container_id")
    now = lasting(node.page(*names), *labels)
    kept = lasting(page_of(run("once", *names, "--within", "30", "--replay", str(CAPTURE)).stdout), *labels)
    assert {name for name, _ in kept} == {name for name, _ in now}
    assert kept.keys() == now.keys()
    assert read_capture(CAPTURE).left_out == ()


def test_without_a_compiler_the_capture_shows_the_same_table() -> None:
    page = run("once", "gpu", "--within", "30", "--replay", str(CAPTURE)).stdout
    lines = table_of(page).splitlines()
    assert [line.split()[0] for line in lines] == ["gpu", *(str(gpu) for gpu in range(COUNT))]
    assert "-" not in {cell for line in lines for cell in line.split()}
