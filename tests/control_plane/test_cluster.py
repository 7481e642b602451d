"""The control plane itself: what is started is stopped, whatever happens; nodes and pods do what they are told."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.control_plane.cluster import ControlPlane
from tests.control_plane.site import Site, gang_job

pytestmark = [pytest.mark.needs("control-plane"), pytest.mark.xdist_group("control-plane")]

PROGRAM = """
import sys, time
from pathlib import Path
from tests.control_plane.cluster import running
with running(Path(sys.argv[1])) as plane:
    print(*plane.ports.values(), flush=True)
    if sys.argv[2] == "fails":
        raise AssertionError("as a test would")
    time.sleep(600)
"""


def processes_of(folder: Path) -> list[str]:
    """Command lines that name the folder: each program's does."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it has ended meanwhile
        if f"{folder}/attempt" in line:
            found.append(line)
    return found


@pytest.mark.parametrize("way", ["fails", "killed"])
def test_nothing_is_left_behind(tmp_path: Path, root: Path, way: str) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root) as process:  # noqa: S603  our own program
        assert process.stdout is not None
        assert process.stdout.readline().split(), "it has started"
        if way == "killed":
            assert len(processes_of(tmp_path)) >= 5
            os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    until = time.monotonic() + 30
    while (left := processes_of(tmp_path)) and time.monotonic() < until:
        time.sleep(0.2)
    assert left == []


def test_pods_end_when_they_are_told_to(site: Site) -> None:
    namespace = site.namespace("team-red")
    site.nodes(1)
    plane: ControlPlane = site.control_plane
    plane.create(gang_job("short", namespace, pods=1))

    def phases() -> list[str]:
        return [pod["status"]["phase"] for pod in plane.get("pods", "-n", namespace)]

    plane.wait_until(lambda: phases() == ["Running"], "the pod to run")
    plane.kubectl("annotate", "pods", "--all", "-n", namespace, "knotwatch.dev/ends-as=Succeeded")
    plane.wait_until(lambda: phases() == ["Succeeded"], "the pod to end")
    (job,) = plane.get("jobs", "-n", namespace)
    plane.wait_until(lambda: plane.get("jobs", "-n", namespace)[0]["status"].get("succeeded") == 1, "the job to see it")
    assert job["metadata"]["name"] == "short"


def test_logs_and_audit_are_there(site: Site) -> None:
    namespace = site.namespace("team-red")
    site.nodes(1)
    plane = site.control_plane
    plane.create(gang_job("a", namespace, pods=1))
    plane.wait_until(
        lambda: f'Successfully bound pod to node" pod="{namespace}/a' in plane.log_of("kube-scheduler").read_text(),
        "the scheduler's word",
    )
    assert f'"namespace":"{namespace}"' in plane.audit_log.read_text()
