"""Roll-outs: the budget's rounding, and who waits for whom."""

from typing import Any

import pytest

from analyzer.model.events import ExcuseKind, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Units
from analyzer.sources.kubernetes.objects import Deployment, KubeObject
from analyzer.sources.kubernetes.rollouts import budget
from tests.kubernetes.translating.making import NO_ROOM, meta, node, pod, read, time, world

REVISION = "deployment.kubernetes.io/revision"


def deployment(replicas: int = 2, *, strategy: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    made: dict[str, Any] = {"replicas": replicas, **spec}
    if strategy is not None:
        made["strategy"] = strategy
    return read(
        "Deployment", {"metadata": meta("web", uid="Deployment/web", annotations={REVISION: "2"}), "spec": made}
    )


def rolling(surge: int | str | None = None, missing: int | str | None = None) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": missing}}


def replica_set(revision: int, replicas: int) -> KubeObject:
    uid = f"ReplicaSet/web-{revision}"
    metadata = meta(f"web-{revision}", uid=uid, owner="Deployment/web", annotations={REVISION: str(revision)})
    template = {"spec": {"containers": [{"name": "m", "resources": {"requests": {"nvidia.com/gpu": "8"}}}]}}
    return read("ReplicaSet", {"metadata": metadata, "spec": {"replicas": replicas, "template": template}})


@pytest.mark.parametrize(
    ("replicas", "surge", "missing", "expected"),
    [
        (4, None, None, (1, 1)),  # 25 % each
        (3, "25%", "25%", (0, 1)),  # missing rounds down, surplus up
        (10, "25%", "25%", (2, 3)),
        (1, 1, 0, (0, 1)),
        (2, 0, 0, (1, 0)),  # both zero cannot be: one may be missing
        (3, "0%", "10%", (1, 0)),
        (2, 0, 5, (2, 0)),
        (0, None, None, (0, 0)),
        (4, "x", "y%", (1, 1)),
    ],
)
def test_budget(replicas: int, surge: int | str | None, missing: int | str | None, expected: tuple[int, int]) -> None:
    thing = deployment(replicas, strategy=rolling(surge, missing))
    assert isinstance(thing, Deployment)
    if replicas == 0:
        assert budget(thing)[0] == 0
    else:
        assert budget(thing) == expected


def former(number: int, **more: Any) -> KubeObject:
    return pod(f"web-1-{number}", on=f"n-{number}", owner="ReplicaSet/web-1", restart="Always", **more)


def current(**more: Any) -> KubeObject:
    return pod("web-2-x", owner="ReplicaSet/web-2", restart="Always", **more)


NODES = (node("n-0"), node("n-1"))


def test_old_pods_wait_for_the_new_one_where_none_may_be_missing() -> None:
    told = world(
        *NODES,
        deployment(strategy=rolling(1, 0)),
        replica_set(1, 2),
        replica_set(2, 1),
        former(0),
        former(1),
        current(says=NO_ROOM),
    )
    for name in ("pod/team/web-1-0", "pod/team/web-1-1"):
        old = told.actors[name]
        assert old.wait is not None
        assert old.wait.request == Arrivals((ActorId("pod/team/web-2-x"),), 1)
        assert old.lifetime is Lifetime.FINITE
    assert told.actors["pod/team/web-2-x"].lifetime is Lifetime.ENDLESS


QUIET: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("one may be missing", {"strategy": rolling(1, 1)}, {}, {"says": NO_ROOM}),
    ("the new pod is on its way", {"strategy": rolling(1, 0)}, {}, {"on": "n-1", "ready": False}),
    ("recreate", {"strategy": {"type": "Recreate"}}, {}, {"says": NO_ROOM}),
]


@pytest.mark.parametrize(("_story", "of_deployment", "of_old", "of_new"), QUIET, ids=[case[0] for case in QUIET])
def test_old_pods_go_by_themselves(
    _story: str, of_deployment: dict[str, Any], of_old: dict[str, Any], of_new: dict[str, Any]
) -> None:
    told = world(
        *NODES,
        deployment(**of_deployment),
        replica_set(1, 2),
        replica_set(2, 1),
        former(0, **of_old),
        former(1, **of_old),
        current(**of_new),
    )
    for name in ("pod/team/web-1-0", "pod/team/web-1-1"):
        assert told.actors[name].wait is None
        assert told.actors[name].lifetime is Lifetime.FINITE


def test_an_unready_old_pod_does_not_go_either_where_the_budget_is_used_up() -> None:
    told = world(
        *NODES,
        deployment(strategy=rolling(1, 0)),
        replica_set(1, 2),
        replica_set(2, 1),
        former(0, ready=False),
        former(1),
        current(says=NO_ROOM),
    )
    assert told.actors["pod/team/web-1-0"].wait is not None


def test_a_paused_roll_out_is_nobodys_fault() -> None:
    told = world(
        *NODES,
        deployment(strategy=rolling(1, 0), paused=True),
        replica_set(1, 2),
        replica_set(2, 1),
        former(0),
        former(1),
        current(says=NO_ROOM),
    )
    wait = told.actors["pod/team/web-2-x"].wait
    assert wait is not None
    assert wait.excuse is not None
    assert wait.excuse.kind is ExcuseKind.GATED
    assert told.actors["pod/team/web-1-0"].wait is None


def test_without_the_deployment_nobody_knows_what_becomes_of_old_pods() -> None:
    told = world(*NODES, former(0), former(1), current(says=NO_ROOM))
    assert told.actors["pod/team/web-1-0"].lifetime is Lifetime.UNKNOWN
    settled = world(*NODES, former(0), former(1))
    assert settled.actors["pod/team/web-1-0"].lifetime is Lifetime.ENDLESS


def test_a_volume_attached_elsewhere_holds_the_new_pod_and_the_old_one() -> None:
    claim = read(
        "PersistentVolumeClaim",
        {"metadata": meta("data"), "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv-1"}},
    )
    stuck = read(
        "Event",
        {
            "metadata": meta("e"),
            "reason": "FailedAttachVolume",
            "message": 'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) web-1-0',
            "involvedObject": {"kind": "Pod", "name": "web-2-x", "namespace": "team"},
            "firstTimestamp": time(10),
            "lastTimestamp": time(300),
        },
    )
    told = world(
        *NODES,
        claim,
        stuck,
        deployment(1),
        replica_set(1, 1),
        replica_set(2, 1),
        former(0, claims=["data"]),
        current(on="n-1", phase="Pending", ready=False, claims=["data"]),
    )
    waiting, old = told.actors["pod/team/web-2-x"].wait, told.actors["pod/team/web-1-0"]
    assert waiting is not None
    assert waiting.request == Units(ResourceId("volume/team/data"), 1)
    assert ("volume/team/data", 1) in old.holds
    assert old.wait is not None
    assert old.wait.request == Arrivals((ActorId("pod/team/web-2-x"),), 1)
    assert told.units["volume/team/data"] == 1
