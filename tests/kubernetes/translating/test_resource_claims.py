"""Claims for devices: what becomes of them in requests and holds, and the same answer however the news is cut."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from analyzer.model.events import ExcuseKind, Lifetime
from analyzer.model.requests import Never, Pods
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.device_slices import driver_of, slice_of
from analyzer.sources.kubernetes.objects import Custom, KubeObject, Pod
from analyzer.sources.kubernetes.observations import Listed, Observation, Seen
from analyzer.sources.kubernetes.resource_claims import claim_of
from tests.kubernetes.translating.making import (
    START_NS,
    World,
    excuse_of,
    known_in_the_end,
    meta,
    node,
    pod,
    read,
    seen,
    time,
    world,
)

DRIVER = "gpu.example.com"
NO_CLAIM = (
    "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, "
    "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)


def custom(kind: str, fields: dict[str, Any], api: str = "resource.k8s.io/v1") -> Custom:
    made = read(kind, {"apiVersion": api, **fields})
    assert isinstance(made, Custom)
    return made


def offered(at: str = "n-0", count: int = 8, *, generation: int = 1, name: str = "", **device: Any) -> Custom:
    spec = {
        "driver": DRIVER,
        "nodeName": at,
        "pool": {"name": at, "generation": generation, "resourceSliceCount": 1},
        "devices": [{"name": f"d-{n}", **device} for n in range(count)],
    }
    return custom("ResourceSlice", {"metadata": {"name": name or at, "uid": name or at}, "spec": spec})


def of_class(expression: str = f'device.driver == "{DRIVER}"') -> Custom:
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return custom("DeviceClass", {"metadata": {"name": "gpu", "uid": "gpu"}, "spec": spec})


def claim(name: str = "c", count: int = 8, *, at: str = "", users: tuple[str, ...] = (), **exactly: Any) -> Custom:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": count, **exactly}}
    status: dict[str, Any] = {}
    if at:
        results = [{"driver": DRIVER, "pool": at, "device": f"d-{n}", "request": "r"} for n in range(count)]
        status = {"allocation": {"devices": {"results": results}}}
        status["reservedFor"] = [{"resource": "pods", "name": user} for user in users]
    return custom(
        "ResourceClaim",
        {"metadata": meta(name, uid=name), "spec": {"devices": {"requests": [request]}}, "status": status},
    )


def user(name: str = "a", *claims: str, on: str = "", **more: Any) -> KubeObject:
    spec = {"resourceClaims": [{"name": one, "resourceClaimName": one} for one in claims or ("c",)]}
    return pod(name, on=on, gpu=0, says="" if on else NO_CLAIM, spec=spec, **more)


NODES = (node("n-0"), node("n-1"))
OFFER = (*NODES, of_class(), offered("n-0"), offered("n-1"))


def held(told: World, actor: str) -> dict[str, int]:
    return {str(resource): units for resource, units in told.actors[actor].holds}


def request_of(told: World, actor: str = "pod/team/a") -> Pods:
    wait = told.actors[actor].wait
    assert wait is not None
    assert isinstance(wait.request, Pods)
    return wait.request


def test_devices_are_units_of_their_node() -> None:
    told = world(*OFFER, claim(at="n-1", users=("a",)), user(on="n-1"))
    assert told.units[f"{DRIVER}/n-1"] == 8
    assert held(told, "pod/team/a")[f"{DRIVER}/n-1"] == 8
    assert told.actors["pod/team/a"].gpus == 8


def test_a_claim_is_part_of_the_place_that_its_pod_waits_for() -> None:
    assert (DRIVER, 4) in request_of(world(*OFFER, claim(count=4), user())).each


def test_the_order_of_the_files_decides_nothing() -> None:
    things = (*OFFER, claim(count=4), user(), claim("d", at="n-0", users=("b",)), user("b", "d", on="n-0"))
    assert world(*things).actors.keys() == world(*reversed(things)).actors.keys()
    assert request_of(world(*things)) == request_of(world(*reversed(things)))


def test_a_claim_of_several_pods_counts_once() -> None:
    told = world(*OFFER, claim(at="n-0", users=("a", "b")), user("a", on="n-0"), user("b", on="n-0"))
    assert f"{DRIVER}/n-0" in dict(told.actors["pod/team/a"].holds)
    assert f"{DRIVER}/n-0" not in dict(told.actors["pod/team/b"].holds)
    both = world(*OFFER, claim(), user("a"), user("b"))
    assert [DRIVER in dict(request_of(both, f"pod/team/{name}").each) for name in "ab"] == [True, False]


def test_administrators_take_nothing() -> None:
    assert DRIVER not in dict(request_of(world(*OFFER, claim(adminAccess=True), user())).each)


@pytest.mark.parametrize(
    "things",
    [
        (*NODES, of_class(), offered(), user()),
        (*NODES, of_class(), claim(), user()),
        (*NODES, offered(), claim(), user()),
        (*NODES, of_class("device.attributes['x'].y == 1"), offered(), claim(), user()),
        (*NODES, of_class(), offered(consumesCounters=[{"counterSet": "s"}]), claim(), user()),
        (*NODES, of_class(), offered(allowMultipleAllocations=True), claim(), user()),
        (*OFFER, claim(capacity={"requests": {"memory": "1Gi"}}), user()),
    ],
)
def test_what_is_not_known_or_understood_gives_no_verdict(things: tuple[KubeObject, ...]) -> None:
    assert excuse_of(world(*things), "pod/team/a") is ExcuseKind.BLIND


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    told = world(*NODES, offered(count=8, name="old"), offered(count=6, generation=2, name="new"))
    assert told.units[f"{DRIVER}/n-0"] == 6


def test_a_class_names_its_driver_plainly_or_not_at_all() -> None:
    assert driver_of(of_class(f"device.driver == '{DRIVER}' && device.attributes['x'].y")) == DRIVER
    assert not driver_of(of_class("device.driver == 'a' || device.driver == 'b'"))


def test_an_extended_resource_that_stands_for_devices_gives_no_verdict() -> None:
    asks = pod("a", gpu=8, says=NO_CLAIM)
    served = replace(of_class(), spec={**of_class().spec, "extendedResourceName": "nvidia.com/gpu"})
    assert excuse_of(world(node("n-0", gpu=0), node("n-1", gpu=0), asks), "pod/team/a") is None
    for things in ((served, asks), (asks, served)):
        assert excuse_of(world(node("n-0", gpu=0), node("n-1", gpu=0), *things), "pod/team/a") is ExcuseKind.BLIND


def ended(name: str, at_s: int) -> KubeObject:
    state = {"terminated": {"finishedAt": time(at_s)}}
    spec = {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}
    container = {"name": "main", "state": state}
    return pod(
        name, on="n-0", gpu=0, phase="Succeeded", ready=False, spec=spec, status={"containerStatuses": [container]}
    )


def test_a_claim_that_is_reserved_for_ended_pods_alone_is_kept_by_nobody() -> None:
    told = world(*OFFER, claim(at="n-0", users=("a",)), ended("a", 60), at_s=600)
    left = told.actors["claim/team/c"]
    assert left.wait is not None
    assert isinstance(left.wait.request, Never)
    assert left.lifetime is Lifetime.FINITE
    early = world(*OFFER, claim(at="n-0", users=("a",)), ended("a", 60), at_s=200)
    assert early.actors["claim/team/c"].wait is None
    used = world(*OFFER, claim(at="n-0", users=("a", "b")), ended("a", 60), user("b", on="n-0"))
    assert "claim/team/c" not in used.actors


def test_what_stands_in_an_object_never_makes_it_fail() -> None:
    everything: tuple[Any, ...] = (1, "x", [], {}, [1], [{}], {"a": 1}, None)
    for broken in everything:
        whole = {"devices": broken, "pool": broken, "driver": broken, "selectors": broken, "nodeName": broken}
        status = {"allocation": broken, "reservedFor": broken}
        slice_of(replace(offered(), spec=whole))
        driver_of(replace(of_class(), spec=whole))
        claim_of(replace(claim(), spec=whole, status=status), (0, 0))
        claim_of(replace(claim(), status={"allocation": {"nodeSelector": {"nodeSelectorTerms": broken}}}), (0, 0))


def test_the_fast_lane_sees_claims() -> None:
    first, second = user("a", "c", on="n-0", owner="ReplicaSet/web"), user("b", "d", on="n-1", owner="ReplicaSet/web")
    claims = (claim("c", at="n-0", users=("a",)), claim("d", at="n-1", users=("b",)))
    pods = [one for one in (first, second) if isinstance(one, Pod)]
    cluster = Cluster()
    for observation in seen((*OFFER, *claims)):
        cluster.apply(observation)
    cluster.take(Listed(START_NS, pods, 1, (0, 1)))
    told = World().take(cluster.restate(START_NS))
    assert told.actors.keys() == world(*OFFER, *claims, first, second).actors.keys()
    assert held(told, "pod/team/b")[f"{DRIVER}/n-1"] == 8


# --- however the news is cut --------------------------------------------------------------------------------------


@st.composite
def news(draw: st.DrawFn) -> Observation:
    on, at = draw(st.sampled_from(("", "n-0"))), draw(st.sampled_from(("", "n-0", "n-1")))
    users = draw(st.sampled_from(((), ("a",), ("a", "b"))))
    thing = draw(
        st.sampled_from(
            (
                user("a", *draw(st.sampled_from((("c",), ("d",), ("c", "d")))), on=on),
                user("b", "c", on=on),
                ended("a", draw(st.sampled_from((60, 500)))),
                pod("a", on=on),
                claim("c", draw(st.sampled_from((2, 8))), at=at, users=users),
                claim("d", at=at, users=users),
                of_class(draw(st.sampled_from((f'device.driver == "{DRIVER}"', "true")))),
                offered("n-0", draw(st.sampled_from((4, 8)))),
                offered("n-0", 2, generation=draw(st.sampled_from((1, 2))), name="more"),
                node("n-0", gpu=draw(st.sampled_from((0, 8)))),
            )
        )
    )
    return Seen(START_NS, thing, draw(st.integers(0, 5)) == 0, (1, draw(st.integers(0, 99))))


@given(parts=st.lists(st.lists(news(), max_size=6), min_size=1, max_size=6), step_s=st.sampled_from((1, 61, 301)))
@settings(max_examples=300, deadline=None)
def test_piecewise_and_at_once_say_the_same(parts: list[list[Observation]], step_s: int) -> None:
    at_once = [[one for part in parts for one in part]]
    assert known_in_the_end(parts, step_s) == known_in_the_end(at_once, step_s)
