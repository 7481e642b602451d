"""The kubelet as a subject, against a real gRPC server: answers, silence, restarts, refusals."""

import socket
import sys
import threading
from pathlib import Path

import grpc
import pytest

from exporters.collectors.kubelet import Kubelet, kubelet_source
from exporters.config import Allocation, Paths, Settings
from exporters.kubelet.client import PodResources
from exporters.kubelet.holding import PodReading
from exporters.subject import Reading, Reason
from tests.exporters.allocation.readings import moment
from tests.exporters.kubelet_server import KubeletServer

WITHIN_S = 5.0


def subject(path: Path, *, deadline_s: float = 2 * WITHIN_S, resources: str = "") -> Kubelet:
    return Kubelet(PodResources(str(path)), resources, interval_s=15.0, deadline_s=deadline_s)


def look(kubelet: Kubelet) -> Reading[PodReading]:
    return kubelet.read(moment(0))


def reading(kubelet: Kubelet) -> PodReading:
    found = look(kubelet)
    assert found.up
    assert found.value is not None
    return found.value


def test_what_pods_hold_is_read(kubelet: KubeletServer) -> None:
    kubelet.pod("train-0", {"nvidia.com/gpu": ["GPU-b", "GPU-a"]})
    (held,) = reading(subject(kubelet.socket)).held
    assert (held.namespace, held.pod, held.container, held.ids) == ("team", "train-0", "main", ("GPU-a", "GPU-b"))


def test_a_resource_listed_once_for_each_numa_node_is_one(kubelet: KubeletServer) -> None:
    kubelet.pod("one", {"nvidia.com/gpu": ["GPU-a"]})
    kubelet._pods[0].containers[0].devices.add(resource_name="nvidia.com/gpu", device_ids=["GPU-b"])
    (held,) = reading(subject(kubelet.socket)).held
    assert held.ids == ("GPU-a", "GPU-b")


@pytest.mark.parametrize(
    ("resource", "ids", "known"),
    [
        ("nvidia.com/gpu.shared", ["GPU-a::0"], True),
        ("nvidia.com/mig-3g.40gb", ["MIG-x"], True),
        ("example.com/a100", ["GPU-a"], True),
        ("example.com/a100", ["nvidia0/gi3"], True),
        ("example.com/a100", ["0"], False),
        ("amd.com/gpu", ["0000:03:00.0"], True),
        ("nvidia.com/hostdev", ["0000:17:00.1"], False),
        ("rdma/hca", ["mlx5_0"], False),
    ],
)
def test_resources_that_are_gpus_are_told_from_others(
    kubelet: KubeletServer, resource: str, ids: list[str], *, known: bool
) -> None:
    """Renamed resources and ids of all kinds: NVIDIA/dcgm-exporter#150, #411, #529."""
    kubelet.pod("one", {resource: ids})
    assert bool(reading(subject(kubelet.socket)).held) == known


def test_a_resource_that_the_settings_name_is_one(kubelet: KubeletServer) -> None:
    kubelet.pod("one", {"example.com/a100": ["0"]})
    assert reading(subject(kubelet.socket, resources=r"example\.com/a\d+")).held


def test_claims_are_read(kubelet: KubeletServer) -> None:
    kubelet.claim("one", "my-claim", "gpu-0", cdi=["k8s.gpu.nvidia.com/device=gpu-0"], share_id="s1")
    (claimed,) = reading(subject(kubelet.socket)).claimed
    assert (claimed.claim, claimed.driver, claimed.device, claimed.share) == (
        "my-claim",
        "gpu.nvidia.com",
        "gpu-0",
        "s1",
    )
    assert claimed.cdi == ("k8s.gpu.nvidia.com/device=gpu-0",)


def test_no_socket_is_told(tmp_path: Path) -> None:
    """A wrong path or a missing mount is never silent: NVIDIA/dcgm-exporter#188, #342."""
    found = look(subject(tmp_path / "kubelet.sock"))
    assert (found.up, found.reason, found.value) == (False, Reason.UNREACHABLE, None)
    assert [(error.call, error.code) for error in found.errors] == [("kubelet_list", "ENOENT")]


def test_a_file_in_place_of_the_socket_is_told(tmp_path: Path) -> None:
    (tmp_path / "kubelet.sock").write_text("no socket")
    found = look(subject(tmp_path / "kubelet.sock"))
    assert (found.reason, found.errors[0].code) == (Reason.UNREACHABLE, "ENOTSOCK")


def test_a_socket_that_nobody_listens_on_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("k") / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    found = look(subject(path))
    assert (found.up, found.reason) == (False, Reason.UNREACHABLE)


def test_a_slow_kubelet_costs_its_deadline_and_no_more(kubelet: KubeletServer) -> None:
    kubelet.open.clear()
    found = look(subject(kubelet.socket, deadline_s=0.25))
    kubelet.open.set()
    assert (found.up, found.reason) == (False, Reason.TIMEOUT)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, Reason.PERMISSION),
        (grpc.StatusCode.UNIMPLEMENTED, Reason.ERRORS),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, Reason.ERRORS),
    ],
)
def test_a_refusal_is_told_by_its_code(kubelet: KubeletServer, code: grpc.StatusCode, reason: Reason) -> None:
    kubelet.refuses = code
    found = look(subject(kubelet.socket))
    assert (found.reason, found.errors[0].code) == (reason, code.name)


def test_a_kubelet_that_was_restarted_is_reached_by_the_next_look(kubelet: KubeletServer) -> None:
    asking = subject(kubelet.socket)
    kubelet.pod("one", {"nvidia.com/gpu": ["GPU-a"]})
    assert len(reading(asking).held) == 1
    kubelet.stop()
    assert not look(asking).up
    kubelet.start()
    assert len(reading(asking).held) == 1


def test_many_looks_leave_no_threads(kubelet: KubeletServer) -> None:
    asking = subject(kubelet.socket)
    reading(asking)
    before = threading.active_count()
    for round_ in range(20):
        if round_ % 5 == 4:
            kubelet.stop()
            look(asking)
            kubelet.start()
        reading(asking)
    assert threading.active_count() <= before + 4  # the server's own pool


def test_the_answer_is_bounded(kubelet: KubeletServer) -> None:
    for number in range(4200):
        kubelet.pod(f"pod-{number:05}", {"nvidia.com/gpu": [f"GPU-a::{number}"]})
    found = reading(subject(kubelet.socket))
    assert len(found.held) == 4096
    assert found.left_out == 104


def test_without_grpc_it_is_said_what_is_missing(kubelet: KubeletServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    found = look(subject(kubelet.socket))
    assert (found.reason, found.errors[0].code) == (Reason.LIBRARY, "GRPC_MISSING")


@pytest.mark.parametrize("inside", [True, False])
def test_a_node_without_a_kubelet_has_no_such_subject_unless_a_pod_is_around_us(
    tmp_path: Path, *, inside: bool
) -> None:
    settings = Settings(path=Paths(rootfs=str(tmp_path)))
    environment = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"} if inside else {}
    assert bool(tuple(kubelet_source(settings, environment)())) == inside


def test_a_kubelet_that_was_there_stays_a_subject(tmp_path: Path) -> None:
    folder = tmp_path / "var/lib/kubelet/pod-resources"
    folder.mkdir(parents=True)
    source = kubelet_source(Settings(path=Paths(rootfs=str(tmp_path))), {})
    assert tuple(source())
    folder.rmdir()
    assert tuple(source())


def test_a_socket_that_was_asked_for_is_a_subject(tmp_path: Path) -> None:
    settings = Settings(path=Paths(rootfs=str(tmp_path)), allocation=Allocation(kubelet_socket="/run/k.sock"))
    assert tuple(kubelet_source(settings, {})())
