"""What pods ask for and what nodes have, as the scheduler counts it."""

from typing import Any

import msgspec
import pytest

from analyzer.sources.kubernetes.objects import PodSpec
from analyzer.sources.kubernetes.pod_requests import Shapes, shape_of
from analyzer.sources.kubernetes.quantities import units


@pytest.mark.parametrize(
    ("kind", "text", "amount"),
    [
        ("cpu", "1", 1000),
        ("cpu", "500m", 500),
        ("cpu", "0.1", 100),
        ("cpu", "100u", 1),
        ("requests.cpu", "2", 2000),
        ("memory", "64Gi", 64 << 30),
        ("memory", "1.5Gi", 3 << 29),
        ("memory", "1e3", 1000),
        ("memory", "1500m", 2),
        ("memory", "5M", 5_000_000),
        ("nvidia.com/gpu", "1k", 1000),
        ("nvidia.com/gpu", 8, 8),
        ("memory", "1E", 10**18),
        ("memory", "12E2", 1200),
        ("memory", "", 0),
        ("memory", "lots", 0),
        ("memory", "-5", 0),
        ("memory", "1e999999999", 0),
        ("memory", "1/2", 0),
    ],
)
def test_quantity(kind: str, text: str | int, amount: int) -> None:
    assert units(kind, text) == amount


def container(cpu: str = "", gpu: str = "", *, limit: bool = False, **more: Any) -> dict[str, Any]:
    amounts = {kind: text for kind, text in (("cpu", cpu), ("nvidia.com/gpu", gpu)) if text}
    return {"resources": {"limits" if limit else "requests": amounts}, **more}


CASES: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    ("containers add up", {"containers": [container("1"), container("500m", "2")]}, {"cpu": 1500, "nvidia.com/gpu": 2}),
    ("a limit stands for a missing request", {"containers": [container(gpu="4", limit=True)]}, {"nvidia.com/gpu": 4}),
    (
        "the largest init container counts if it is larger",
        {"containers": [container("1")], "initContainers": [container("3"), container("2")]},
        {"cpu": 3000},
    ),
    (
        "a sidecar is added to the containers and to later init containers",
        {
            "containers": [container("1")],
            "initContainers": [container("1", restartPolicy="Always"), container("3")],
        },
        {"cpu": 4000},
    ),
    (
        "an init container before the sidecar does not have it beside itself",
        {
            "containers": [container("1")],
            "initContainers": [container("3"), container("1", restartPolicy="Always")],
        },
        {"cpu": 3000},
    ),
    ("overhead is added", {"containers": [container("1")], "overhead": {"cpu": "250m"}}, {"cpu": 1250}),
    (
        "pod-level amounts replace the sum, for what may be given there",
        {
            "containers": [container("1", "2")],
            "resources": {"requests": {"cpu": "6", "nvidia.com/gpu": "7"}},
        },
        {"cpu": 6000, "nvidia.com/gpu": 2},
    ),
    ("nothing asked is one pod", {"containers": [{}]}, {}),
]


@pytest.mark.parametrize(("_story", "spec", "asked"), CASES, ids=[case[0] for case in CASES])
def test_effective_request(_story: str, spec: dict[str, Any], asked: dict[str, int]) -> None:
    shape = shape_of(msgspec.convert(spec, PodSpec))
    assert dict(shape.each) == {**asked, "pods": 1}


def test_host_ports_of_containers_and_sidecars() -> None:
    spec = {
        "containers": [
            {"ports": [{"hostPort": 80}, {"hostPort": 53, "protocol": "UDP"}, {"containerPort": 8080}]},
            {"ports": [{"hostPort": 90, "hostIP": "10.0.0.1"}]},
        ],
        "initContainers": [
            {"restartPolicy": "Always", "ports": [{"hostPort": 81}]},
            {"ports": [{"hostPort": 82}]},
        ],
    }
    assert shape_of(msgspec.convert(spec, PodSpec)).ports == ("hostport-TCP-80", "hostport-TCP-81", "hostport-UDP-53")


@pytest.mark.parametrize(
    ("kind", "cards"),
    [
        ("nvidia.com/gpu", 2),
        ("amd.com/gpu", 2),
        ("nvidia.com/mig-1g.5gb", 2),
        ("habana.ai/gaudi", 2),
        ("nvidia.com/gpu.memory", 0),
        ("rdma/ib", 0),
        ("hugepages-2Mi", 0),
    ],
)
def test_which_resources_are_cards(kind: str, cards: int) -> None:
    spec = {"containers": [{"resources": {"requests": {kind: "2"}}}]}
    assert shape_of(msgspec.convert(spec, PodSpec)).gpus == cards


def test_equal_pods_share_one_shape() -> None:
    shapes = Shapes()
    one, other = ({"containers": [container("1", "8")]} for _ in range(2))
    larger = {"containers": [container("1", "8"), container("1")]}
    assert shapes.of(msgspec.convert(one, PodSpec)) is shapes.of(msgspec.convert(other, PodSpec))
    assert shapes.of(msgspec.convert(one, PodSpec)) is not shapes.of(msgspec.convert(larger, PodSpec))
