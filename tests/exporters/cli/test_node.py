"""The real command on a simulated node of eight GPUs: one call that never returns, one GPU that is lost."""

import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic

import pytest

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml

WITHIN_S = 90.0
SETTINGS = "[collect]\ninterval_s = 1\ndeadline_s = 1\n[web]\npage_interval_s = 0.5\n"


@contextmanager
def serving(fake: FakeNvml, folder: Path) -> Iterator[Callable[[], str]]:
    """The command in a process of its own; gives what asks it for its page."""
    (folder / "exporter.toml").write_text(SETTINGS)
    command = [sys.executable, "-m", "exporters", "serve", "--listen", "127.0.0.1:0", "--config"]
    empty = [str(folder / "exporter.toml"), "--path.sysfs", str(folder), "--path.procfs", str(folder)]
    with subprocess.Popen(  # noqa: S603  our own command
        [*command, *empty], stderr=subprocess.PIPE, text=True, env={"PATH": "", **fake.environment()}
    ) as process:
        try:
            assert process.stderr
            said = process.stderr.readline()
            port = re.search(r"on port (\d+)", said)
            assert port, said
            yield lambda: page_at(int(port[1]))
            process.terminate()
            assert process.wait(WITHIN_S) == 0, "a call that hangs does not keep the process alive"
        finally:
            process.kill()


def page_at(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=WITHIN_S) as answer:
        return str(answer.read(), "utf-8")


def ups(page: str) -> dict[str, float]:
    """`up` of each GPU."""
    return {uuid: float(value) for uuid, value in re.findall(r'^knotwatch_gpu_up\{uuid="([^"]*)"\} (\S+)$', page, re.M)}


def eventually(holds: Callable[[], bool]) -> None:
    until_s = monotonic() + WITHIN_S
    while not holds():
        assert monotonic() < until_s, "it never came to pass"
        Event().wait(0.1)


@pytest.mark.needs("c-compiler")
def test_seven_of_eight_are_served_while_a_call_hangs_and_the_lost_one_says_so(
    fake_nvml: FakeNvml, tmp_path: Path
) -> None:
    """dcgm-exporter answers HTTP 500 for the whole node when one GPU fails; gpu-monitoring-tools#46."""
    slots = hopper.node(fake_nvml)
    uuids = [hopper.uuid(number) for number in range(8)]
    with serving(fake_nvml, tmp_path) as page:
        eventually(lambda: ups(page()) == dict.fromkeys(uuids, 1.0))
        fake_nvml.block(slots[3], "nvmlDeviceGetPowerUsage")
        eventually(lambda: ups(page()).get(uuids[3]) == 0.0)
        fake_nvml.lose(slots[5])
        eventually(lambda: ups(page()).get(uuids[5]) == 0.0)
        now = page()
        assert {uuid for uuid, up in ups(now).items() if up} == set(uuids) - {uuids[3], uuids[5]}
        assert f'knotwatch_gpu_down_reason{{reason="timeout",uuid="{uuids[3]}"}} 1.0' in now
        assert f'knotwatch_gpu_down_reason{{reason="lost",uuid="{uuids[5]}"}} 1.0' in now
        powered = re.findall(r'^knotwatch_gpu_power_watts\{.*uuid="([^"]*)"', now, re.M)
        assert set(powered) == set(uuids) - {uuids[3], uuids[5]}
        assert now.count("knotwatch_gpu_info{") == 8, "who is lost keeps its name"
        resident = re.search(r"^process_resident_memory_bytes (\S+)$", now, re.M)
        assert resident
        assert float(resident[1]) < 60e6
