"""Kueue's objects as actors and quota: every trap of its conditions, and the same answer however the news is cut."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from analyzer.model.events import ExcuseKind, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, KOutOfN, Units
from analyzer.sources.kubernetes.kueue_workloads import workload_of
from analyzer.sources.kubernetes.objects import Custom, KubeObject
from analyzer.sources.kubernetes.observations import Observation, Seen
from tests.kubernetes.translating.making import (
    NO_ROOM,
    START_NS,
    excuse_of,
    job,
    known_in_the_end,
    meta,
    node,
    pod,
    read,
    time,
    world,
)

API = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
QUOTA = f"quota/cluster-queue/q/h100/{GPU}"
SHORT = f"couldn't assign flavors to pod set main: insufficient unused quota for {GPU} in flavor h100, 8 more needed"


def queue(name: str = "q", *, gpus: str = "16", flavors: tuple[str, ...] = ("h100",), **spec: Any) -> KubeObject:
    limit = {"borrowingLimit": spec.pop("borrow")} if "borrow" in spec else {}
    offers = [
        {
            "name": flavor,
            "resources": [{"name": GPU, "nominalQuota": gpus, **limit}, {"name": "cpu", "nominalQuota": "1k"}],
        }
        for flavor in flavors
    ]
    groups = [{"coveredResources": [GPU, "cpu"], "flavors": offers}]
    return read(
        "ClusterQueue",
        {"apiVersion": API, "metadata": {"name": name, "uid": name}, "spec": {"resourceGroups": groups, **spec}},
    )


def local(to: str = "q") -> KubeObject:
    return read("LocalQueue", {"apiVersion": API, "metadata": meta("main", uid="lq"), "spec": {"clusterQueue": to}})


def said(kind: str, status: str, reason: str = "", message: str = "", at_s: int = 0) -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": time(at_s)}


ADMITTED = (said("QuotaReserved", "True"), said("Admitted", "True"))
WAITS = (said("QuotaReserved", "False", "Pending", SHORT),)
EVICTED = (
    said("PodsReady", "False", "WaitForStart", at_s=10),
    said("QuotaReserved", "False", "Pending", "Exceeded the PodsReady timeout team/job-a-1", 330),
    said("Evicted", "True", "PodsReadyTimeout", at_s=330),
    said("Requeued", "False", "PodsReadyTimeout", at_s=330),
)


def workload(
    name: str = "job-a-1",
    *,
    of: str = "Job/a",
    gpus: int = 8,
    conditions: tuple[dict[str, str], ...] = WAITS,
    given: str = "",
    uid: str = "",
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> KubeObject:
    made: dict[str, Any] = {"conditions": list(conditions), **(status or {})}
    if given:
        usage = {GPU: str(gpus), "cpu": "1"}
        assigned = {"name": "main", "count": 2, "flavors": {GPU: "h100", "cpu": "h100"}, "resourceUsage": usage}
        made["admission"] = {"clusterQueue": given, "podSetAssignments": [assigned]}
    else:
        made["resourceRequests"] = [{"name": "main", "resources": {GPU: str(gpus), "cpu": "1"}}]
    template = {"spec": {"containers": [{"name": "m", "resources": {"requests": {GPU: "8"}}}]}}
    whole = {"queueName": "main", "podSets": [{"name": "main", "count": 2, "template": template}], **spec}
    return read(
        "Workload",
        {"apiVersion": API, "metadata": meta(name, owner=of, uid=uid or name), "spec": whole, "status": made},
    )


def test_who_has_quota_holds_it_and_who_has_none_asks_for_it() -> None:
    told = world(
        queue(), local(), job("a"), workload(), workload("job-b-1", of="Job/b", given="q", conditions=ADMITTED)
    )
    assert told.units[QUOTA] == 16
    assert (QUOTA, 8) in told.actors["workload/team/b"].holds
    wait = told.actors["workload/team/a"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    assert Units(ResourceId(QUOTA), 8) in wait.request.parts
    assert told.actors["workload/team/a"].lifetime is Lifetime.FINITE


def test_an_admitted_workload_waits_for_those_of_its_pods_that_wait() -> None:
    told = world(
        node("n-0"), queue(), local(), job("a", pods=2), workload(given="q", conditions=ADMITTED),
        pod("a-0", owner="Job/a", on="n-0"), pod("a-1", owner="Job/a", says=NO_ROOM),
    )  # fmt: skip
    wait = told.actors["workload/team/a"].wait
    assert wait is not None
    assert wait.request == Arrivals((ActorId("pod/team/a-1"),), 1)


def test_the_text_of_an_eviction_is_no_lack_of_quota() -> None:
    fresh = workload(conditions=EVICTED, status={"requeueState": {"count": 1, "requeueAt": time(700)}})
    assert excuse_of(world(queue(), local(), fresh, at_s=600), "workload/team/a") is ExcuseKind.STARTING


def test_rounds_are_taken_from_the_count_and_not_while_one_is_going_on() -> None:
    rounds = {
        "requeueState": {"count": 4},
        "schedulingStats": {"evictions": [{"reason": "PodsReadyTimeout", "count": 6}]},
    }
    told = world(queue(), local(), workload(conditions=EVICTED, status=rounds))
    losses = told.actors["workload/team/a"].losses
    assert losses is not None
    assert (losses.count, losses.last_ns - losses.first_ns) == (6, 320 * 10**9)
    going_on = workload(
        given="q", conditions=(*ADMITTED, said("Evicted", "True", "PodsReadyTimeout", at_s=330)), status=rounds
    )
    assert world(queue(), local(), going_on).actors["workload/team/a"].losses is None


def test_an_eviction_that_is_over_is_none() -> None:
    over = said("Evicted", "False", "QuotaReserved", "Previously: Exceeded the PodsReady timeout team/job-a-1")
    found = workload_of(_custom(workload(conditions=(*WAITS, over))), (0, 0))
    assert not found.evicted.holds


def _custom(thing: KubeObject) -> Custom:
    assert isinstance(thing, Custom)
    return thing


@pytest.mark.parametrize("field", ["cohort", "cohortName"])
def test_queues_of_a_cohort_share_their_quota(field: str) -> None:
    cohort: dict[str, Any] = {field: "all"}
    told = world(
        queue("q", **cohort),
        queue("r", borrow="4", **cohort),
        local(),
        workload(given="r", conditions=ADMITTED),
    )
    assert told.units[f"quota/cohort/all/h100/{GPU}"] == 32
    assert told.units[f"quota/cluster-queue/r/h100/{GPU}"] == 20
    assert {name for name, _ in told.actors["workload/team/a"].holds if name.endswith(GPU)} == {
        f"quota/cohort/all/h100/{GPU}",
        f"quota/cluster-queue/r/h100/{GPU}",
    }


def test_cohorts_above_cohorts_share_too() -> None:
    above = read("Cohort", {"apiVersion": API, "metadata": {"name": "all"}, "spec": {"parentName": "top"}})
    told = world(queue("q", cohortName="all"), queue("r", cohortName="top"), above)
    assert told.units[f"quota/cohort/top/h100/{GPU}"] == 32


def test_flavors_are_alternatives() -> None:
    wait = world(queue(flavors=("a100", "h100")), local(), workload()).actors["workload/team/a"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    assert (wait.request.k, len(wait.request.parts)) == (1, 2)


def test_a_job_that_was_made_again_has_one_workload_by_its_name() -> None:
    old = workload("job-a-0", given="q", conditions=(*ADMITTED, said("Finished", "True")))
    assert set(world(queue(), local(), old, workload()).actors) == {"workload/team/a"}
    both = world(queue(), local(), workload("job-a-0", of="PyTorchJob/a"), workload())
    assert set(both.actors) == {"workload/team/job-a-0", "workload/team/job-a-1"}


def test_a_pod_that_kueue_keeps_back_waits_for_its_workload_and_for_a_person_if_others_do() -> None:
    gates = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    kept = workload("pod-p-1", of="Pod/p")
    told = world(queue(), local(), pod("p", spec=gates, uid="Pod/p"), kept)
    wait = told.actors["pod/team/p"].wait
    assert wait is not None
    assert wait.request == Arrivals((ActorId("workload/team/p"),), 1)
    mixed = {"schedulingGates": [*gates["schedulingGates"], {"name": "example.com/review"}]}
    assert excuse_of(world(queue(), local(), pod("p", spec=mixed, uid="Pod/p"), kept), "pod/team/p") is ExcuseKind.GATED


def test_what_stands_in_a_workload_never_makes_it_fail() -> None:
    for broken in (1, "x", [], {}, [1], {"a": 1}, None):
        thing = read("Workload", {"apiVersion": API, "metadata": meta("w")})
        whole = {"podSets": broken, "active": broken, "queueName": broken, "priority": broken}
        fields = ("conditions", "admission", "requeueState", "schedulingStats", "resourceRequests")
        status = dict.fromkeys(fields, broken)
        workload_of(replace(_custom(thing), spec=whole, status=status), (0, 0))


# --- however the news is cut --------------------------------------------------------------------------------------

TOLD = {"requeueState": {"count": 3, "requeueAt": time(580)}}
STATES: tuple[dict[str, Any], ...] = (
    {},
    {"conditions": ()},
    {"conditions": (said("QuotaReserved", "False", "Waiting", "waiting for all"),)},
    {"given": "q", "conditions": ADMITTED},
    {"given": "r", "conditions": (*ADMITTED, said("PodsReady", "True", "Started")), "gpus": 24},
    {"given": "q", "conditions": (*ADMITTED, said("Finished", "True"))},
    {"conditions": EVICTED, "status": TOLD},
    {"conditions": (), "priority": 5},
    {"conditions": (said("QuotaReserved", "False", "Inadmissible", "LocalQueue main doesn't exist"),)},
    {
        "given": "q",
        "conditions": (said("QuotaReserved", "True"),),
        "status": {"admissionChecks": [{"name": "c", "state": "Pending"}]},
        "priority": 3,
    },
)


NEWER = "LowerOrNewerEqualPriority"


def heard(reason: str, count: int = 1, at_s: int = 5) -> KubeObject:
    about = {"kind": "Workload", "namespace": "team", "name": "job-a-1", "apiVersion": API}
    name = meta(f"job-a-1.{reason}.{at_s}")
    event = {"apiVersion": "v1", "metadata": name, "involvedObject": about, "reason": reason}
    times = {"firstTimestamp": time(0), "lastTimestamp": time(at_s), "count": count, "type": "Normal"}
    return read("Event", {**event, **times, "message": "as Kueue says it"})


@st.composite
def news(draw: st.DrawFn) -> Observation:
    on = draw(st.sampled_from(("", "n-0")))
    gate = draw(st.sampled_from(({}, {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]})))
    thing = draw(
        st.sampled_from(
            (
                workload(**draw(st.sampled_from(STATES)), uid="w1"),
                workload("job-b-1", of="Job/b", uid="w2", **draw(st.sampled_from(STATES))),
                workload("pod-p-1", of="Pod/p", uid="w3", **draw(st.sampled_from(STATES))),
                queue("q", cohortName=draw(st.sampled_from(("", "all"))),
                      stopPolicy=draw(st.sampled_from(("None", "Hold"))),
                      queueingStrategy=draw(st.sampled_from(("StrictFIFO", "BestEffortFIFO"))),
                      preemption={"reclaimWithinCohort": draw(st.sampled_from(("Never", "Any", "LowerPriority"))),
                                  "withinClusterQueue": draw(st.sampled_from(("Never", NEWER)))}),
                read("Cohort", {"apiVersion": API, "metadata": {"name": "all"},
                                "spec": {"parentName": draw(st.sampled_from(("", "top", "all")))}}),
                heard(draw(st.sampled_from(("Pending", "EvictedDueToPodsReadyTimeout", "Admitted")))),
                queue("r", cohortName="all", gpus=draw(st.sampled_from(("8", "16")))),
                local(draw(st.sampled_from(("q", "r", "nowhere")))),
                pod("a-0", owner="Job/a", on=on, says="" if on else NO_ROOM),
                pod("p", on=on, uid="Pod/p", says="" if on or gate else NO_ROOM, spec={} if on else gate),
                job("a"), node("n-0", gpu=draw(st.sampled_from((0, 8)))),
            )
        )
    )  # fmt: skip
    return Seen(START_NS, thing, draw(st.integers(0, 5)) == 0, (1, draw(st.integers(0, 99))))


@given(parts=st.lists(st.lists(news(), max_size=6), min_size=1, max_size=6), step_s=st.sampled_from((1, 61, 301)))
@settings(max_examples=600, deadline=None)
def test_piecewise_and_at_once_say_the_same(parts: list[list[Observation]], step_s: int) -> None:
    at_once = [[one for part in parts for one in part]]
    assert known_in_the_end(parts, step_s) == known_in_the_end(at_once, step_s)


def test_a_pod_whose_workload_goes_is_looked_at_again() -> None:
    """It waited for that Workload; now it is merely gated, as if there had never been one."""
    one = workload("pod-p-1", of="Pod/p", uid="w3")
    kept = pod("p", uid="Pod/p", spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]})
    there: list[Observation] = [Seen(START_NS, thing, gone=False, citation=(1, 0)) for thing in (one, kept)]
    gone: list[Observation] = [Seen(START_NS, one, gone=True, citation=(1, 0))]
    assert known_in_the_end([there, gone], 1) == known_in_the_end([[*there, *gone]], 1)
    assert "workload/team/p" in repr(known_in_the_end([there], 1))
    assert "workload/team/p" not in repr(known_in_the_end([there, gone], 1))


def test_a_workload_that_came_after_its_pod_is_looked_at_again_when_that_goes() -> None:
    one, made = workload("pod-p-1", of="Pod/p", uid="w3"), pod("p", uid="Pod/p")
    cuts: list[list[Observation]] = [
        [Seen(START_NS, made, gone=False, citation=(1, 0))],
        [Seen(START_NS, one, gone=False, citation=(1, 0))],
        [Seen(START_NS, made, gone=True, citation=(1, 0))],
    ]
    assert known_in_the_end(cuts, 1) == known_in_the_end([[seen for cut in cuts for seen in cut]], 1)
