"""From a few objects to what is stated about actors: holds, waits, lifetimes, excuses."""

from typing import Any

import pytest

from analyzer.model.events import ActorGone, ActorObserved, ExcuseKind, Lifetime, RemarkKind
from analyzer.model.requests import Never, Pods
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.objects import KubeObject
from analyzer.sources.kubernetes.observations import PodNominated, Seen
from tests.kubernetes.translating.making import (
    EACH,
    FULL,
    MINUTE_NS,
    NO_ROOM,
    NODES,
    START_NS,
    World,
    event,
    excuse_of,
    job,
    meta,
    node,
    pod,
    read,
    seen,
    time,
    world,
)

# --- pods that stand for themselves -----------------------------------------------------------------------------------


def test_a_bound_pod_holds_and_does_not_wait() -> None:
    told = world(*NODES, pod("a", on="n-0"))
    actor = told.actors["pod/team/a"]
    assert actor.holds == (("millicpu/n-0", 4000), ("nvidia.com/gpu/n-0", 8), ("pods/n-0", 1))
    assert (actor.wait, actor.gpus, actor.running_since_ns) == (None, 8, START_NS)
    assert told.units["nvidia.com/gpu/n-0"] == 8
    assert told.units["millicpu/n-0"] == 32_000


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_is_nobody(phase: str) -> None:
    assert world(*NODES, pod("a", on="n-0", phase=phase)).actors == {}


def test_a_refused_pod_waits_for_a_place() -> None:
    told = world(*NODES, pod("a", says=NO_ROOM), pod("b", on="n-0"), pod("c", on="n-1"))
    wait = told.actors["pod/team/a"].wait
    assert wait is not None
    assert wait.request == Pods(1, EACH, ("n-0", "n-1"))
    assert (wait.since_ns, wait.preempts, wait.excuse, wait.said) == (START_NS, False, None, NO_ROOM)


OWNED: list[tuple[str, list[KubeObject], str]] = [
    ("", [], ""),
    ("Job/a", [], "Job team/a"),
    ("Job/a", [read("Job", {"metadata": meta("a", uid="Job/a", owner="CronJob/nightly")})], "Job team/a"),
    ("ReplicaSet/web-1", [], "ReplicaSet team/web-1"),
    (
        "ReplicaSet/web-1",
        [read("ReplicaSet", {"metadata": meta("web-1", uid="ReplicaSet/web-1", owner="Deployment/web")})],
        "Deployment team/web",
    ),
    (
        "Job/a",
        [
            read("Job", {"metadata": meta("a", uid="Job/a", owner="JobSet/trial")}),
            read("JobSet", {"metadata": meta("trial", uid="JobSet/trial", owner="Experiment/search")}),
        ],
        "Experiment team/search",
    ),
    ("Node/n-0", [], "Node n-0"),
]


@pytest.mark.parametrize("says", ["", NO_ROOM], ids=["bound", "waiting"])
@pytest.mark.parametrize(("owner", "controllers", "label"), OWNED)
def test_the_owner_is_the_top_of_the_chain(owner: str, controllers: list[KubeObject], label: str, says: str) -> None:
    on = "" if says else "n-0"
    told = world(*NODES, pod("a", on=on, says=says, owner=owner), pod("b", on=on, says=says, owner=owner), *controllers)
    actors = [told.actors[name] for name in sorted(told.actors) if name.startswith("pod/")]
    assert [actor.owner for actor in actors] == [label, label]
    assert actors[0].owner is actors[1].owner


LIFETIMES: list[tuple[dict[str, Any], Lifetime]] = [
    ({"restart": "Never"}, Lifetime.FINITE),
    ({"restart": "OnFailure"}, Lifetime.FINITE),
    ({"restart": "Always"}, Lifetime.UNKNOWN),
    ({"owner": "Job/a"}, Lifetime.FINITE),
    ({"owner": "ReplicaSet/web-1"}, Lifetime.ENDLESS),
    ({"owner": "StatefulSet/db"}, Lifetime.ENDLESS),
    ({"owner": "DaemonSet/agent"}, Lifetime.ENDLESS),
    ({"owner": "Notebook/n"}, Lifetime.ENDLESS),
    ({"owner": "Workflow/w"}, Lifetime.FINITE),
    ({"owner": "Sprocket/s", "restart": "Always"}, Lifetime.UNKNOWN),
    ({"owner": "Sprocket/s"}, Lifetime.FINITE),
    ({"owner": "ReplicaSet/web-1", "deletionTimestamp": time(900)}, Lifetime.FINITE),
    ({"spec": {"activeDeadlineSeconds": 60}}, Lifetime.DATED),
    ({"annotations": {"kubernetes.io/config.mirror": "x"}, "restart": "Always"}, Lifetime.ENDLESS),
]


@pytest.mark.parametrize(("said", "lifetime"), LIFETIMES)
def test_lifetime(said: dict[str, Any], lifetime: Lifetime) -> None:
    assert world(*NODES, pod("a", on="n-0", **said)).actors["pod/team/a"].lifetime is lifetime


def test_a_job_with_a_deadline_is_dated() -> None:
    told = world(*NODES, job(activeDeadlineSeconds=3600), pod("a-0", on="n-0", owner="Job/a"))
    actor = told.actors["pod/team/a-0"]
    assert (actor.lifetime, actor.until_ns) == (Lifetime.DATED, START_NS + 3600 * 10**9)


# --- excuses ----------------------------------------------------------------------------------------------------------


EXCUSES: list[tuple[str, tuple[Any, ...], int, ExcuseKind | None]] = [
    ("refused", (pod("a", says=NO_ROOM),), 600, None),
    ("not looked at yet", (pod("a"),), 600, ExcuseKind.STARTING),
    ("gated", (pod("a", spec={"schedulingGates": [{"name": "g"}]}),), 600, ExcuseKind.GATED),
    ("an autoscaler acts", (pod("a", says=NO_ROOM), event("TriggeredScaleUp")), 600, ExcuseKind.AUTOSCALING),
    ("karpenter acts", (pod("a", says=NO_ROOM), event("Nominated")), 600, ExcuseKind.AUTOSCALING),
    ("the autoscaler is overdue", (pod("a", says=NO_ROOM), event("TriggeredScaleUp")), 1300, None),
    (
        "the autoscaler has given up since",
        (pod("a", says=NO_ROOM), event("TriggeredScaleUp", last_s=100), event("NotTriggerScaleUp", last_s=200)),
        300,
        None,
    ),
    (
        "a refusal before the scale-up is stale",
        (pod("a", says=NO_ROOM), event("TriggeredScaleUp", last_s=200), event("NotTriggerScaleUp", last_s=100)),
        300,
        ExcuseKind.AUTOSCALING,
    ),
    (
        "preemption under way",
        (
            pod("a", says=NO_ROOM, status={"nominatedNodeName": "n-2"}),
            node("n-2"),
            pod("v", on="n-2", deletionTimestamp=time(590)),
        ),
        600,
        ExcuseKind.PREEMPTING,
    ),
    (
        "nominated long ago, and nobody leaves",
        (
            pod("a", says=NO_ROOM.replace("2", "3"), status={"nominatedNodeName": "n-2"}),
            node("n-2"),
            pod("v", on="n-2"),
        ),
        600,
        None,
    ),
    (
        "the log says that it is nominated",
        (pod("a", says=NO_ROOM), PodNominated(START_NS, "team/a", "n-0", (1, 0))),
        60,
        ExcuseKind.PREEMPTING,
    ),
    (
        "more nodes than were handed over",
        (pod("a", says="0/9 nodes are available: 9 Insufficient nvidia.com/gpu."),),
        600,
        ExcuseKind.BLIND,
    ),
]


@pytest.mark.parametrize(("_story", "things", "at_s", "kind"), EXCUSES, ids=[case[0] for case in EXCUSES])
def test_excuse(_story: str, things: tuple[Any, ...], at_s: int, kind: ExcuseKind | None) -> None:
    assert excuse_of(world(*NODES, *FULL, *things, at_s=at_s), "pod/team/a") is kind


def test_no_nodes_in_the_input_is_blindness() -> None:
    told = world(pod("a", says=NO_ROOM))
    assert excuse_of(told, "pod/team/a") is ExcuseKind.BLIND
    assert told.remarks[RemarkKind.BLIND_SPOT, "pod/team/a"].startswith("no node is in the input")


def test_of_a_node_that_was_not_handed_over_only_what_is_used_exists() -> None:
    told = world(node("n-0"), pod("a", on="n-7"))
    assert told.units["nvidia.com/gpu/n-7"] == 8
    assert "n-7" in told.remarks[RemarkKind.BLIND_SPOT, "nodes"]


def test_insufficient_where_room_is_seen_is_disputed_and_withdrawn_when_it_fills() -> None:
    told = world(*NODES, pod("a", says=NO_ROOM), pod("b", on="n-0"))
    assert excuse_of(told, "pod/team/a") is ExcuseKind.DISPUTED
    text = told.remarks[RemarkKind.DISAGREEMENT, "pod/team/a"]
    assert "2 Insufficient nvidia.com/gpu" in text
    assert "8 nvidia.com/gpu are free on n-1" in text


def test_more_nodes_looked_at_than_come_into_question_is_disputed() -> None:
    told = world(*NODES, *FULL, pod("a", says=NO_ROOM, spec={"nodeSelector": {"pool": "x"}}))
    assert excuse_of(told, "pod/team/a") is ExcuseKind.DISPUTED


@pytest.mark.parametrize(
    ("said", "priority", "policy", "preempts"),
    [
        (NO_ROOM, 10, "", False),
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", 10, "", True),
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", 0, "", False),
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", 10, "Never", False),
    ],
)
def test_preemption_counts_unless_it_was_found_in_vain(
    said: str, priority: int, policy: str, *, preempts: bool
) -> None:
    told = world(*NODES, *FULL, pod("a", says=said, spec={"priority": priority, "preemptionPolicy": policy}))
    wait = told.actors["pod/team/a"].wait
    assert wait is not None
    assert wait.preempts is preempts


# --- pods that should be gone -----------------------------------------------------------------------------------------

PREEMPTED: dict[str, Any] = {
    "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
}
ORPHANS: list[tuple[str, dict[str, Any], int, str]] = [
    ("in its grace period", {"finalizers": ["example.com/x"], "deletionTimestamp": time(700)}, 600, ""),
    ("a finalizer nobody serves", {"finalizers": ["example.com/x"]}, 600, "example.com/x"),
    ("a finalizer of every cluster, a moment ago", {"finalizers": ["batch.kubernetes.io/job-tracking"]}, 400, ""),
    (
        "a finalizer of every cluster, long ago",
        {"finalizers": ["batch.kubernetes.io/job-tracking"]},
        1000,
        "job-tracking",
    ),
    ("preempted a moment ago", {"finalizers": ["example.com/x"], "status": PREEMPTED}, 400, ""),
    ("preempted long ago", {"finalizers": ["example.com/x"], "status": PREEMPTED}, 1000, "example.com/x"),
    ("no finalizer, a moment ago", {}, 400, ""),
    ("its node is gone", {"on": "n-9"}, 1000, "does not exist"),
    ("its node does not answer", {}, 1000, "does not confirm"),
]


@pytest.mark.parametrize(("_story", "said", "at_s", "why"), ORPHANS, ids=[case[0] for case in ORPHANS])
def test_overdue(_story: str, said: dict[str, Any], at_s: int, why: str) -> None:
    told = world(*NODES, pod("a", **{"on": "n-0", "deletionTimestamp": time(300), **said}), at_s=at_s)
    actor = told.actors["pod/team/a"]
    assert actor.holds[0][0].endswith(said.get("on", "n-0"))
    if not why:
        assert (actor.wait, actor.lifetime) == (None, Lifetime.FINITE)
    else:
        assert actor.wait is not None
        assert isinstance(actor.wait.request, Never)
        assert why in actor.wait.request.why
        assert actor.wait.since_ns == START_NS + 300 * 10**9


# --- who goes before others come, and what comes back under another name ---------------------------------------------


def test_a_pod_that_goes_while_it_runs_was_evicted_and_its_heir_has_its_lineage() -> None:
    cluster, reader = Cluster(), World()
    for observation in seen((*NODES, job("a"), pod("a-1", on="n-0", owner="Job/a"))):
        cluster.apply(observation)
    reader.take(cluster.restate(START_NS))
    cluster.apply(Seen(START_NS, pod("a-1", on="n-0", owner="Job/a"), True, (0, 9)))  # noqa: FBT003 - it is gone
    cluster.apply(Seen(START_NS, pod("a-2", on="n-0", owner="Job/a"), False, (0, 9)))  # noqa: FBT003 - it is not
    events = cluster.restate(START_NS + MINUTE_NS)
    gone, heir = events
    assert isinstance(gone, ActorGone)
    assert gone.evicted
    assert isinstance(heir, ActorObserved)
    assert heir.lineage == reader.actors["pod/team/a-1"].lineage == "job/team/a"


def test_a_pod_made_anew_under_its_old_name_ends_first_also_if_nobody_saw_it_go() -> None:
    """As an audit log tells of a StatefulSet's pod: deleted, and there again with another identity."""
    cluster = Cluster()
    for observation in seen((*NODES, pod("db-0", on="n-0", uid="one"))):
        cluster.apply(observation)
    cluster.restate(START_NS)
    cluster.apply(Seen(START_NS, pod("db-0", on="n-1", uid="two"), False, (0, 9)))  # noqa: FBT003 - it is not gone
    gone, anew = cluster.restate(START_NS + MINUTE_NS)
    assert isinstance(gone, ActorGone)
    assert isinstance(anew, ActorObserved)
    assert gone.actor == anew.actor == "pod/team/db-0"


def test_a_pod_that_succeeded_was_not_evicted() -> None:
    cluster = Cluster()
    for observation in seen((*NODES, pod("a-1", on="n-0"))):
        cluster.apply(observation)
    cluster.restate(START_NS)
    done = pod("a-1", on="n-0", phase="Succeeded")
    cluster.apply(Seen(START_NS, done, False, (0, 9)))  # noqa: FBT003 - it has finished, and is still there
    (gone,) = cluster.restate(START_NS + MINUTE_NS)
    assert isinstance(gone, ActorGone)
    assert not gone.evicted
