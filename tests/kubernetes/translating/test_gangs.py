"""Gangs: every convention, what a half-placed one waits for, and members that do not exist."""

from typing import Any

import pytest

from analyzer.model.events import Certainty, ExcuseKind, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, KOutOfN, Never, Pods
from analyzer.sources.kubernetes.objects import KubeObject, Pod
from analyzer.sources.kubernetes.observations import PodReserved
from analyzer.sources.kubernetes.records import Records
from tests.kubernetes.translating.making import (
    EACH,
    FULL,
    MINUTE_NS,
    NO_ROOM,
    NODES,
    START_NS,
    excuse_of,
    job,
    meta,
    pod,
    read,
    time,
    world,
)

OWN: dict[str, Any] = {"annotations": {"knotwatch.dev/min-available": "3"}}


def test_a_half_placed_gang_waits_for_the_rest() -> None:
    told = world(
        *NODES,
        pod("t-0", on="n-0", labels={"app": "t"}, **OWN),
        pod("t-1", says=NO_ROOM, labels={"app": "t"}, **OWN),
        pod("t-2", says=NO_ROOM, labels={"app": "t"}, **OWN),
        pod("x", on="n-1"),
    )
    gang = told.actors["gang/team/t"]
    assert gang.wait is not None
    assert gang.wait.request == Pods(2, EACH, ("n-0", "n-1"))
    assert (gang.gpus, gang.certainty, gang.wait.excuse) == (8, Certainty.PROVEN, None)
    assert "pod/team/t-0" not in told.actors


def test_beyond_its_minimum_a_gang_is_elastic() -> None:
    members = [pod(f"t-{n}", on="n-0", gpu=1, labels={"app": "t"}, **OWN) for n in range(3)]
    told = world(*NODES, *members, pod("t-3", says=NO_ROOM, labels={"app": "t"}, **OWN))
    assert told.actors["gang/team/t"].wait is None


def test_pods_of_several_shapes_are_met_together() -> None:
    said: dict[str, Any] = {"labels": {"app": "t"}, "annotations": {"knotwatch.dev/min-available": "2"}}
    told = world(*NODES, *FULL, pod("t-0", gpu=8, says=NO_ROOM, **said), pod("t-1", gpu=2, says=NO_ROOM, **said))
    wait = told.actors["gang/team/t"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    assert wait.request.k == len(wait.request.parts) == 2


def group(api: str, **spec: Any) -> KubeObject:
    return read("PodGroup", {"apiVersion": api, "metadata": meta("g", uid="g"), "spec": spec})


def two(**said: Any) -> tuple[KubeObject, ...]:
    return (pod("t-0", on="n-0", **said), pod("t-1", says=NO_ROOM, **said))


def operators(kind: str, api: str, **spec: Any) -> KubeObject:
    return read(kind, {"apiVersion": api, "metadata": meta("g", uid=f"{kind}/g"), "spec": spec})


GANGS: list[tuple[str, tuple[KubeObject, ...], str, Certainty | None]] = [
    (
        "label and annotation",
        two(labels={"knotwatch.dev/gang": "g"}, annotations={"knotwatch.dev/min-available": "2"}),
        "g",
        None,
    ),
    (
        "in-tree",
        (
            group("scheduling.k8s.io/v1alpha2", schedulingPolicy={"gang": {"minCount": 2}}),
            *two(spec={"schedulingGroup": {"podGroupName": "g"}}),
        ),
        "g",
        None,
    ),
    (
        "scheduler-plugins",
        (group("scheduling.x-k8s.io/v1alpha1", minMember=2), *two(labels={"scheduling.x-k8s.io/pod-group": "g"})),
        "g",
        None,
    ),
    (
        "volcano",
        (group("scheduling.volcano.sh/v1beta1", minMember=2), *two(annotations={"scheduling.k8s.io/group-name": "g"})),
        "g",
        None,
    ),
    (
        "volcano, by task",
        (
            group("scheduling.volcano.sh/v1beta1", minTaskMember={"worker": 1, "master": 1}),
            *two(annotations={"scheduling.k8s.io/group-name": "g"}),
        ),
        "g",
        None,
    ),
    ("kai", (group("scheduling.run.ai/v2alpha2", minMember=2), *two(annotations={"pod-group-name": "g"})), "g", None),
    (
        "koordinator",
        two(
            annotations={
                "gang.scheduling.koordinator.sh/name": "team/g",
                "gang.scheduling.koordinator.sh/min-available": "2",
            }
        ),
        "g",
        None,
    ),
    (
        "kueue",
        two(labels={"kueue.x-k8s.io/pod-group-name": "g"}, annotations={"kueue.x-k8s.io/pod-group-total-count": "2"}),
        "g",
        None,
    ),
    (
        "leader and workers",
        two(
            labels={"leaderworkerset.sigs.k8s.io/name": "g", "leaderworkerset.sigs.k8s.io/group-index": "0"},
            annotations={"leaderworkerset.sigs.k8s.io/size": "2"},
        ),
        "g-0",
        None,
    ),
    (
        "job set",
        (
            operators(
                "JobSet",
                "jobset.x-k8s.io/v1alpha2",
                replicatedJobs=[{"replicas": 2, "template": {"spec": {"parallelism": 1, "completions": 1}}}],
            ),
            *two(labels={"jobset.sigs.k8s.io/jobset-name": "g"}, owner="Job/a"),
        ),
        "g",
        None,
    ),
    (
        "pytorch",
        (
            operators(
                "PyTorchJob",
                "kubeflow.org/v1",
                pytorchReplicaSpecs={"Master": {"replicas": 1}, "Worker": {"replicas": 1}},
            ),
            *two(owner="PyTorchJob/g"),
        ),
        "g",
        None,
    ),
    (
        "ray",
        (
            operators("RayCluster", "ray.io/v1", workerGroupSpecs=[{"replicas": 1}]),
            *two(labels={"ray.io/cluster": "g"}, owner="RayCluster/g"),
        ),
        "g",
        None,
    ),
    (
        "torchrun",
        (
            job("g", pods=2, container={"command": ["sh", "-c", "torchrun --nnodes=2 train.py"]}),
            *two(owner="Job/g"),
        ),
        "g",
        Certainty.SUSPECTED,
    ),
    (
        "an environment that speaks of ranks",
        (job("g", pods=2, container={"env": [{"name": "MASTER_ADDR", "value": "x"}]}), *two(owner="Job/g")),
        "g",
        Certainty.SUSPECTED,
    ),
]


@pytest.mark.parametrize(("_story", "things", "name", "certainty"), GANGS, ids=[case[0] for case in GANGS])
def test_convention(_story: str, things: tuple[KubeObject, ...], name: str, certainty: Certainty | None) -> None:
    told = world(*NODES, pod("x", on="n-1"), *things)
    gang = told.actors[f"gang/team/{name}"]
    assert gang.wait is not None
    assert gang.wait.request == Pods(1, EACH, ("n-0", "n-1"))
    assert gang.wait.excuse is None
    assert gang.certainty is (certainty or Certainty.PROVEN)


def test_a_plain_job_is_no_gang() -> None:
    told = world(*NODES, pod("x", on="n-1"), job("g", pods=2), *two(owner="Job/g"))
    assert sorted(told.actors) == ["pod/team/t-0", "pod/team/t-1", "pod/team/x"]


def test_a_group_that_was_not_handed_over_is_a_blind_spot() -> None:
    told = world(*NODES, pod("x", on="n-1"), *two(labels={"scheduling.x-k8s.io/pod-group": "g"}))
    assert excuse_of(told, "gang/team/g") is ExcuseKind.BLIND


def test_a_minimum_larger_than_what_is_made_never_comes() -> None:
    said: dict[str, Any] = {"knotwatch.dev/min-available": "4"}
    told = world(*NODES, job("g", pods=2, annotations=said), *two(owner="Job/g", annotations=said), pod("x", on="n-1"))
    wait = told.actors["gang/team/g"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    never = next(part for part in wait.request.parts if isinstance(part, Never))
    assert "asks for 4 members, but Job g makes 2" in never.why


def test_pods_still_to_be_made_are_coming() -> None:
    said: dict[str, Any] = {"knotwatch.dev/min-available": "2"}
    told = world(*NODES, job("g", pods=2, annotations=said), pod("t-0", on="n-0", owner="Job/g", annotations=said))
    assert excuse_of(told, "gang/team/g") is ExcuseKind.STARTING


def test_a_stateful_set_that_waits_for_readiness_and_a_scheduler_that_waits_for_all() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "g"}
    template = {"metadata": {"labels": label}, "spec": {"containers": [{"name": "m"}]}}
    things = (
        group("scheduling.x-k8s.io/v1alpha1", minMember=2),
        read(
            "StatefulSet", {"metadata": meta("db", uid="StatefulSet/db"), "spec": {"replicas": 2, "template": template}}
        ),
        pod("db-0", owner="StatefulSet/db", labels=label),
    )
    told = world(*NODES, *things)
    gang, creator = told.actors["gang/team/g"], told.actors["controller/team/db"]
    assert gang.wait is not None
    assert creator.wait is not None
    assert isinstance(gang.wait.request, KOutOfN)
    assert Arrivals((ActorId("controller/team/db"),), 1) in gang.wait.request.parts
    assert creator.wait.request == Arrivals((ActorId("gang/team/g"),), 1)
    assert gang.wait.excuse is None


def test_an_overdue_member_is_an_actor_of_its_own() -> None:
    said: dict[str, Any] = {"labels": {"app": "t"}, "annotations": {"knotwatch.dev/min-available": "1"}}
    orphan = pod("t-0", on="n-0", deletionTimestamp=time(0), finalizers=["example.com/x"], **said)
    told = world(*NODES, orphan, pod("t-1", says=NO_ROOM, **said), pod("x", on="n-1"))
    assert isinstance(told.actors["pod/team/t-0"].wait.request, Never)  # type: ignore[union-attr]  # it waits
    assert told.actors["gang/team/t"].holds == ()


def test_a_place_kept_in_scheduler_memory_is_a_dated_hold() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "g"}
    kept = PodReserved(START_NS + 9 * MINUTE_NS, "team/t-0", "n-0", None, (1, 0))
    things = (group("scheduling.x-k8s.io/v1alpha1", minMember=2, scheduleTimeoutSeconds=120), *NODES)
    members = (pod("t-0", labels=label), pod("t-1", says=NO_ROOM, labels=label), pod("x", on="n-1"))
    gang = world(*things, *members, kept).actors["gang/team/g"]
    assert (ResourceId("nvidia.com/gpu/n-0"), 8) in gang.holds
    assert (gang.lifetime, gang.until_ns) == (Lifetime.DATED, kept.at_ns + 2 * MINUTE_NS)
    assert world(*things, *members, kept, at_s=700).actors["gang/team/g"].holds == ()


ODD: tuple[Any, ...] = (None, 7, "x", [], {}, [3], {"a": 3}, True)


@pytest.mark.parametrize("odd", ODD)
def test_odd_shapes_of_custom_objects_are_taken_for_silence(odd: Any) -> None:
    specs = {
        "minMember": odd,
        "minTaskMember": odd,
        "schedulingPolicy": odd,
        "replicatedJobs": odd,
        "pytorchReplicaSpecs": odd,
        "workerGroupSpecs": odd,
        "leaderWorkerTemplate": odd,
        "runPolicy": odd,
        "elasticPolicy": odd,
        "scheduleTimeoutSeconds": odd,
    }
    told = world(
        *NODES,
        operators("PyTorchJob", "kubeflow.org/v1", **specs),
        operators("JobSet", "jobset.x-k8s.io/v1alpha2", **specs),
        operators("RayCluster", "ray.io/v1", **specs),
        group("scheduling.volcano.sh/v1beta1", **specs),
        group("scheduling.k8s.io/v1alpha2", **specs),
        *two(owner="PyTorchJob/g"),
        pod("j", says=NO_ROOM, labels={"jobset.sigs.k8s.io/jobset-name": "g"}),
        pod("r", says=NO_ROOM, labels={"ray.io/cluster": "g"}),
        pod("v", says=NO_ROOM, annotations={"scheduling.k8s.io/group-name": "g"}),
        pod("i", says=NO_ROOM, spec={"schedulingGroup": {"podGroupName": "g"}}),
    )
    assert "gang/team/g" in told.actors


def test_jobs_without_a_uid_are_not_taken_for_one() -> None:
    """Files written by hand carry no uids: what one Job's pods start says nothing about another's."""

    def started(name: str, command: str) -> bool:
        owner = [{"kind": "Job", "name": name, "uid": "", "controller": True}]
        made = pod(f"{name}-0", on="n-0", ownerReferences=owner, spec={"containers": [{"command": [command]}]})
        assert isinstance(made, Pod)
        return records.of(made, (0, 0)).launches

    records = Records()
    assert started("ring", "torchrun")
    assert not started("sweep", "python")
