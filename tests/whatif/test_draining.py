"""Draining a node whose pods a disruption budget guards: who stays is named, with what would let it go."""

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.sources.kubernetes.budgets import Guarded, counts_of, guarded, refusals, selects
from analyzer.sources.kubernetes.decoding import decode_object
from analyzer.sources.kubernetes.objects import LabelSelector, Pod, PodDisruptionBudget, Requirement
from tests.cli.running import run
from tests.whatif.asking import Rows, ask, fates


def node(name: str) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "64", "pods": "110", "nvidia.com/gpu": "8"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def pod(name: str, on: str, *, ready: bool = True, app: str = "llm", **about: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "serving", "uid": name, "labels": {"app": app}, **about}
    metadata["creationTimestamp"] = "2026-11-30T10:00:00Z"
    conditions = [{"type": kind, "status": "True" if ready else "False"} for kind in ("PodScheduled", "Ready")]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "nodeName": on,
            "restartPolicy": "Always",
            "containers": [{"name": "m", "resources": {"requests": {"nvidia.com/gpu": "4"}}}],
        },
        "status": {"phase": "Running", "conditions": conditions},
    }


def budget(name: str = "llm", *, status: dict[str, int] | None = None, app: str = "llm", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "serving"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
        "status": status or {},
    }


def drained(folder: Path, *budgets: dict[str, Any], pods: list[dict[str, Any]] | None = None) -> Rows:
    cluster = folder / "cluster"
    cluster.mkdir(parents=True)
    made = [pod("llm-0", "n-0"), pod("llm-1", "n-1")] if pods is None else pods
    items = [node("n-0"), node("n-1"), node("n-2"), *made, *budgets]
    (cluster / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return ask(folder, cluster, "--drain", "n-0")


def test_without_a_budget_the_pod_moves(tmp_path: Path) -> None:
    rows = drained(tmp_path)
    assert fates(rows) == {"pod/serving/llm-0": "starts_now"}
    assert rows["unfinished"] == []


def test_a_budget_that_allows_none_keeps_it_and_says_what_would_help(tmp_path: Path) -> None:
    rows = drained(tmp_path, budget(minAvailable=2))
    assert fates(rows) == {"pod/serving/llm-0": "runs"}
    assert rows["actors"][0]["units"]["nvidia.com/gpu/n-0"] == 4
    [told] = rows["unfinished"]
    assert "The drain of n-0 cannot finish, pod serving/llm-0 stays: PodDisruptionBudget serving/llm" in told
    assert "one more ready pod that serving/llm selects, or another limit would let it go" in told
    text = run("whatif", tmp_path / "cluster", "--drain", "n-0").stdout
    assert "The drain of n-0 cannot finish" in text


def test_who_stays_keeps_its_units_and_nobody_else_gets_the_node(tmp_path: Path) -> None:
    rows = drained(
        tmp_path,
        budget(minAvailable=2),
        pods=[pod("llm-0", "n-0"), pod("llm-1", "n-1"), pod("b-0", "n-0", app="b"), pod("c-0", "n-1", app="c")],
    )
    assert fates(rows) == {"pod/serving/b-0": "starts_now", "pod/serving/llm-0": "runs"}
    assert rows["safe"]


def test_a_budget_that_allows_one_lets_all_go_one_after_the_other(tmp_path: Path) -> None:
    pods = [pod("llm-0", "n-0"), pod("llm-1", "n-0"), pod("llm-2", "n-1")]
    rows = drained(tmp_path, budget(maxUnavailable=1), pods=pods)
    assert rows["unfinished"] == []
    assert set(fates(rows).values()) == {"starts_now"}


def test_its_own_count_is_believed(tmp_path: Path) -> None:
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    rows = drained(tmp_path, budget(minAvailable=2, status=status))
    assert (
        "2 of its 3 are ready, and 2 have to be. 1 more of them getting ready would let it go" in rows["unfinished"][0]
    )


def test_daemons_go_whatever_a_budget_says(tmp_path: Path) -> None:
    owner = [{"kind": "DaemonSet", "name": "agent", "uid": "d", "controller": True}]
    rows = drained(tmp_path, budget(minAvailable="100%"), pods=[pod("agent-0", "n-0", ownerReferences=owner)])
    assert rows["unfinished"] == []


def test_part_of_a_gang_may_stay(tmp_path: Path) -> None:
    pods = [pod("a-0", "n-0"), pod("a-1", "n-0", app="other")]
    for one in pods:
        one["metadata"]["labels"]["knotwatch.dev/gang"] = "g"
        one["metadata"]["annotations"] = {"knotwatch.dev/min-available": "2"}
    rows = drained(tmp_path, budget(minAvailable=1), pods=pods)
    assert fates(rows) == {"gang/serving/g": "starts_now"}
    assert rows["actors"][0]["units"]["nvidia.com/gpu/n-0"] == 4
    assert rows["actors"][0]["needs"].startswith("4 pods of 1 nvidia.com/gpu")
    assert len(rows["unfinished"]) == 1


# --- the budget itself ------------------------------------------------------------------------------------------------


def read(made: dict[str, Any]) -> Any:
    return decode_object(json.dumps(made).encode())


def asked(budgets: list[dict[str, Any]], pods: list[dict[str, Any]]) -> list[str]:
    seen = [guarded(one) for one in map(read, pods) if isinstance(one, Pod)]
    known = [one for one in map(read, budgets) if isinstance(one, PodDisruptionBudget)]
    return [refusal.pod for refusal in refusals(seen, known, ["n-0"])["n-0"]]


TWO = [pod("a", "n-0"), pod("b", "n-1")]


@pytest.mark.parametrize(
    ("spec", "desired"),
    [
        ({"minAvailable": 2}, 2),
        ({"minAvailable": "50%"}, 2),
        ({"minAvailable": "67%"}, 3),
        ({"maxUnavailable": 1}, 2),
        ({"maxUnavailable": "34%"}, 1),
        ({"maxUnavailable": 9}, 0),
        ({"minAvailable": "some"}, 0),
        ({}, 3),
    ],
)
def test_limits_are_counted_as_the_controller_counts_them(spec: dict[str, Any], desired: int) -> None:
    selected = [Guarded(f"serving/{name}", {}, "n-0", bound=True, ready=True) for name in "abc"]
    counts = counts_of(read(budget(**spec)), selected)
    assert (counts.desired, counts.allowed) == (desired, 3 - desired)


def test_one_of_two_unready_ones_may_go_by_policy() -> None:
    pods = [pod("a", "n-0", ready=False), pod("b", "n-1")]
    assert asked([budget(minAvailable=2)], pods) == ["serving/a"]
    assert asked([budget(minAvailable=2, unhealthyPodEvictionPolicy="AlwaysAllow")], pods) == []
    assert asked([budget(minAvailable=1)], pods) == []
    assert asked([budget(minAvailable=1)], [pod("a", "n-0"), pod("b", "n-1", ready=False)]) == ["serving/a"]


def test_of_a_pod_with_two_budgets_no_eviction_is_allowed() -> None:
    assert asked([budget("x", minAvailable=0), budget("y", minAvailable=0)], TWO) == ["serving/a"]
    assert asked([budget("x", minAvailable=0)], TWO) == []


def test_who_has_ended_or_leaves_goes_anyway() -> None:
    ended = pod("a", "n-0")
    ended["status"]["phase"] = "Succeeded"
    assert asked([budget(minAvailable=2)], [ended, TWO[1]]) == []
    assert asked([budget(minAvailable=2)], [pod("a", "n-0", deletionTimestamp="2026-11-30T10:00:00Z"), TWO[1]]) == []


def test_other_namespaces_and_labels_are_not_its_business() -> None:
    assert asked([budget(minAvailable=2, app="other")], TWO) == []
    elsewhere = budget(minAvailable=2)
    elsewhere["metadata"]["namespace"] = "other"
    assert asked([elsewhere], TWO) == []


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        (None, False),
        (LabelSelector(), True),
        (LabelSelector(match_labels={"app": "llm"}), True),
        (LabelSelector(match_labels={"app": "x"}), False),
        (LabelSelector(match_expressions=(Requirement(key="app", operator="In", values=("llm",)),)), True),
        (LabelSelector(match_expressions=(Requirement(key="app", operator="NotIn", values=("llm",)),)), False),
        (LabelSelector(match_expressions=(Requirement(key="tier", operator="DoesNotExist"),)), True),
        (LabelSelector(match_expressions=(Requirement(key="tier", operator="Exists"),)), False),
        (LabelSelector(match_expressions=(Requirement(key="tier", operator="Odd"),)), False),
    ],
)
def test_selectors(selector: LabelSelector | None, *, fits: bool) -> None:
    assert selects(selector, {"app": "llm"}) is fits
