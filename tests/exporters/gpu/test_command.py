"""The command itself over a driver library: of our making, and the real one where there is a GPU."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml

WITHIN_S = 60


def once(root: Path, environment: Mapping[str, str]) -> tuple[int, dict[str, list[float]], str]:
    """Exit status, values by name, and what was said of `knotwatch-exporter once gpu`."""
    ended = subprocess.run(
        [sys.executable, "-m", "exporters", "once", "gpu"],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    values: dict[str, list[float]] = {}
    for family in text_string_to_metric_families(ended.stdout):
        for sample in family.samples:
            values.setdefault(sample.name, []).append(sample.value)
    return ended.returncode, values, ended.stderr


@pytest.mark.needs("c-compiler")
def test_another_process_sees_the_node_and_its_changes(fake_nvml: FakeNvml, root: Path) -> None:
    slots = hopper.node(fake_nvml, 8)
    status, values, _said = once(root, fake_nvml.environment())
    assert status == 0
    assert values["knotwatch_gpu_power_watts"] == [627.4] * 8
    fake_nvml.lose(slots[3])
    _status, values, _said = once(root, fake_nvml.environment())
    assert len(values["knotwatch_gpu_power_watts"]) == 7
    assert (values["knotwatch_gpus_expected"], values["knotwatch_gpus_visible"]) == ([8], [7])


@pytest.mark.needs("gpu")
def test_a_real_gpu_says_what_real_gpus_say(root: Path) -> None:
    status, values, said = once(root, {})
    assert status == 0, said
    count = len(values["knotwatch_gpu_info"])
    assert values["knotwatch_gpu_up"] == [1] * count
    assert values["knotwatch_gpus_visible"] == [count]
    total = sum(values["knotwatch_gpu_memory_total_bytes"])
    parts = sum(sum(values[f"knotwatch_gpu_memory_{part}_bytes"]) for part in ("used", "free", "reserved"))
    assert parts == pytest.approx(total, rel=0.01)
    assert all(1 < watts < 2000 for watts in values["knotwatch_gpu_power_watts"])
    assert all(1e8 < hertz < 1e10 for hertz in values["knotwatch_gpu_clock_max_hertz"])
    assert all(1e11 < rate < 1e14 for rate in values["knotwatch_gpu_memory_bandwidth_peak_bytes_per_second"])
    assert not values.get("knotwatch_exporter_broken_total")
