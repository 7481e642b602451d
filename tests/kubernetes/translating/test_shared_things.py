"""What pods wait for beside places: helpers, quotas, host ports, volumes."""

from typing import Any

from analyzer.model.events import Certainty
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, KOutOfN, Never, Pods, Units
from analyzer.sources.kubernetes.objects import KubeObject
from tests.kubernetes.translating.making import (
    FULL,
    NO_ROOM,
    NODES,
    event,
    job,
    meta,
    node,
    pod,
    read,
    time,
    world,
)


def spark(role: str) -> dict[str, str]:
    return {"spark-role": role, "spark-app-selector": "s"}


def test_a_driver_waits_for_one_of_its_executors() -> None:
    executors = [pod(f"e-{n}", says=NO_ROOM, labels=spark("executor")) for n in range(2)]
    told = world(*NODES, *FULL, pod("d", on="n-0", gpu=0, labels=spark("driver")), *executors)
    wait = told.actors["pod/team/d"].wait
    assert wait is not None
    assert wait.request == Arrivals((ActorId("pod/team/e-0"), ActorId("pod/team/e-1")), 1)
    running = pod("e-0", on="n-1", labels=spark("executor"))
    told = world(*NODES, pod("d", on="n-0", gpu=0, labels=spark("driver")), running, executors[1])
    assert told.actors["pod/team/d"].wait is None


def test_a_pod_that_owns_pending_pods_is_suspected_to_wait_for_them() -> None:
    told = world(*NODES, *FULL, pod("p", on="n-0", gpu=0), pod("k", says=NO_ROOM, owner="Pod/p"))
    parent = told.actors["pod/team/p"]
    assert parent.wait is not None
    assert parent.certainty is Certainty.SUSPECTED


def quota(used: str, hard: str = "8") -> KubeObject:
    limits = {"requests.nvidia.com/gpu": hard}
    return read(
        "ResourceQuota",
        {
            "metadata": meta("q"),
            "spec": {"hard": limits},
            "status": {"hard": limits, "used": {"requests.nvidia.com/gpu": used}},
        },
    )


REFUSED = event(
    "FailedCreate",
    "late",
    message='Error creating: pods "late-x" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=8, '
    "used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8",
    kind="Job",
)
QUOTA = ResourceId("quota/team/q/requests.nvidia.com/gpu")


def test_a_pending_pod_books_and_a_refused_controller_waits() -> None:
    told = world(*NODES, quota("8"), pod("a", says=NO_ROOM), job("late"), REFUSED)
    assert told.units[QUOTA] == 8
    assert told.actors["pod/team/a"].holds == ((QUOTA, 8),)
    wait = told.actors["controller/team/late"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    assert wait.request.parts[0] == Units(QUOTA, 8)
    assert isinstance(wait.request.parts[1], Pods)
    assert "quota/team/q" not in told.actors


def test_a_refusal_is_over_once_a_pod_was_made() -> None:
    made = event("SuccessfulCreate", "late", last_s=400, kind="Job")
    assert (
        "controller/team/late" not in world(*NODES, quota("8"), pod("a", on="n-0"), job("late"), REFUSED, made).actors
    )


def test_a_suspended_job_waits_for_nothing() -> None:
    assert "controller/team/late" not in world(*NODES, quota("8"), pod("a"), job("late", suspend=True), REFUSED).actors


def test_a_refusal_speaks_for_a_quota_that_was_not_handed_over() -> None:
    told = world(*NODES, pod("a", on="n-0"), job("late"), REFUSED)
    assert told.units[QUOTA] == 8
    assert (QUOTA, 8) in told.actors["pod/team/a"].holds


ENDED: dict[str, Any] = {"status": {"containerStatuses": [{"state": {"terminated": {"finishedAt": time(0)}}}]}}


def test_bookings_without_pods_are_a_suspected_holder() -> None:
    told = world(*NODES, quota("8"), pod("z", on="n-0", phase="Succeeded", **ENDED), job("late"), REFUSED)
    phantom = told.actors["quota/team/q"]
    assert phantom.holds == ((QUOTA, 8),)
    assert phantom.certainty is Certainty.SUSPECTED
    assert phantom.wait is not None
    assert isinstance(phantom.wait.request, Never)


def test_books_that_are_merely_late_are_no_phantom() -> None:
    lately: dict[str, Any] = {"status": {"containerStatuses": [{"state": {"terminated": {"finishedAt": time(580)}}}]}}
    told = world(*NODES, quota("8"), pod("z", on="n-0", phase="Succeeded", **lately), job("late"), REFUSED)
    assert "quota/team/q" not in told.actors


def test_host_ports_are_units_of_the_node() -> None:
    ports = {"containers": [{"name": "m", "ports": [{"hostPort": 80}]}]}
    told = world(*NODES, pod("a", on="n-0", spec=ports), pod("b", says=NO_ROOM, spec=ports))
    assert told.units["hostport-TCP-80/n-0"] == told.units["hostport-TCP-80/n-1"] == 1
    assert ("hostport-TCP-80/n-0", 1) in told.actors["pod/team/a"].holds
    wait = told.actors["pod/team/b"].wait
    assert wait is not None
    assert isinstance(wait.request, Pods)
    assert ("hostport-TCP-80", 1) in wait.request.each
    assert wait.request.per_node_max == 1


def claim(mode: str, volume: str = "pv") -> KubeObject:
    return read("PersistentVolumeClaim", {"metadata": meta("v"), "spec": {"accessModes": [mode], "volumeName": volume}})


def test_a_volume_for_one_pod_at_a_time() -> None:
    said = (
        "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"
    )
    told = world(*NODES, claim("ReadWriteOncePod"), pod("a", on="n-0", claims=["v"]), pod("b", says=said, claims=["v"]))
    assert ("volume/team/v", 1) in told.actors["pod/team/a"].holds
    wait = told.actors["pod/team/b"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    assert Units(ResourceId("volume/team/v"), 1) in wait.request.parts


def test_a_volume_that_is_reached_from_one_node_pins_its_pod() -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    volume = read(
        "PersistentVolume",
        {"metadata": {"name": "pv"}, "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}},
    )
    told = world(node("n-0", labels={"zone": "a"}), node("n-1"), volume, claim("ReadWriteOnce"), pod("a", claims=["v"]))
    wait = told.actors["pod/team/a"].wait
    assert wait is not None
    assert isinstance(wait.request, Pods)
    assert wait.request.among == ("n-0",)
