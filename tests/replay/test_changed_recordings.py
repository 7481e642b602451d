"""Real recordings in which one fact was changed: the verdict must change with it.

Each change is what an operator might have done, or what might have been different; the rest stays as recorded.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.replay.reports import report_of
from tests.replay.test_recordings import OBJECTS, shared_folder
from tests.replay.truth import compare, parse_truth

Object = dict[str, Any]
Change = Callable[[dict[str, list[Object]]], None]
Lists = dict[str, list[Object]]


def _pods(lists: Lists, prefix: str) -> list[Object]:
    return [pod for pod in lists["pods.json"] if pod["metadata"]["name"].startswith(prefix)]


def _owner(lists: Lists, kind: str, name: str) -> Object:
    return next(o for o in lists["workloads.json"] if (o["kind"], o["metadata"]["name"]) == (kind, name))


def _no_word_of_a_gang(lists: Lists) -> None:
    for pod in lists["pods.json"]:
        pod["metadata"].get("annotations", {}).pop("knotwatch.dev/min-available", None)
    for owner in lists["workloads.json"]:
        owner["spec"].get("template", {}).get("metadata", {}).get("annotations", {}).clear()


def _content_with_one(lists: Lists) -> None:
    for made in [*_pods(lists, "pretrain-blue"), *_pods(lists, "pretrain-red")]:
        made["metadata"]["annotations"]["knotwatch.dev/min-available"] = "1"
    for name in ("pretrain-blue", "pretrain-red"):
        template = _owner(lists, "Job", name)["spec"]["template"]
        template["metadata"]["annotations"]["knotwatch.dev/min-available"] = "1"


def _blue_never_bound(lists: Lists) -> None:
    """All pods of one gang pend, as the scheduler left them: it holds nothing, the other one's last pod has room."""
    bound = [pod for pod in _pods(lists, "pretrain-blue") if "nodeName" in pod["spec"]]
    for pod in bound:
        lists["pods.json"].remove(pod)


def _third_node_job_ends(lists: Lists) -> None:
    for pod in _pods(lists, "pretrain-blue"):
        pod["status"] = {**pod["status"], "phase": "Succeeded"}


def _one_old_pod_may_go(lists: Lists) -> None:
    _owner(lists, "Deployment", "llm")["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = 1


def _half_may_go(lists: Lists) -> None:
    _owner(lists, "Deployment", "llm")["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = "50%"


def _old_pods_are_a_jobs(lists: Lists) -> None:
    """The holders become pods of a Job: the same places, but they end."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "sweep", "uid": "sweep-uid", "controller": True}
    for pod in lists["pods.json"]:
        if pod["metadata"].get("ownerReferences", [{}])[0].get("kind") == "ReplicaSet":
            pod["metadata"]["ownerReferences"] = [job]
            pod["spec"]["restartPolicy"] = "Never"
    lists["workloads.json"] = [o for o in lists["workloads.json"] if o["kind"] not in ("Deployment", "ReplicaSet")]


def _grace_of_an_hour(lists: Lists) -> None:
    for pod in _pods(lists, "old"):
        if "deletionTimestamp" in pod["metadata"]:
            pod["metadata"]["deletionTimestamp"] = pod["metadata"]["deletionTimestamp"].replace("T12:", "T13:")
            pod["metadata"]["deletionGracePeriodSeconds"] = 3600


def _finalizer_served(lists: Lists) -> None:
    for pod in _pods(lists, "old"):
        if "deletionTimestamp" in pod["metadata"]:
            lists["pods.json"].remove(pod)


def _an_executor_runs_everywhere(lists: Lists) -> None:
    for pod in lists["pods.json"]:
        if pod["metadata"]["name"].endswith("exec-1"):
            pod["spec"]["nodeName"] = "cpu-node-0"
            pod["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def _volumes_for_many(lists: Lists) -> None:
    for made in [*lists["cluster.json"], *lists["workloads.json"]]:
        if made["kind"] in ("PersistentVolume", "PersistentVolumeClaim"):
            made["spec"]["accessModes"] = ["ReadWriteMany"]


CASES: tuple[tuple[str, Change, str], ...] = (
    ("partial_gang", _no_word_of_a_gang, "quiet"),
    ("partial_gang", _content_with_one, "quiet"),
    ("partial_gang", _blue_never_bound, "quiet"),
    ("partial_gang", _third_node_job_ends, "quiet"),
    ("rolling_update", _one_old_pod_may_go, "quiet"),
    ("rolling_update", _half_may_go, "quiet"),
    ("rolling_update", _old_pods_are_a_jobs, "quiet"),
    ("fragmented", _old_pods_are_a_jobs, "quiet\nwaits pod/team-red/finetune-8 for */serving/*"),
    ("lost_node", _grace_of_an_hour, "quiet\nwaits */team-blue/next* for */team-red/old*"),
    ("lost_node", _finalizer_served, "quiet"),
    ("drivers", _an_executor_runs_everywhere, "quiet"),
    ("volumes", _volumes_for_many, "quiet"),
)


@pytest.mark.parametrize(
    ("recording", "change", "truth"), CASES, ids=[f"{case[0]}{case[1].__name__}" for case in CASES]
)
def test_changed_recording(recording: str, change: Change, truth: str, tmp_path: Path) -> None:
    folder = shared_folder("k8s", recording)
    lists: Lists = {name: json.loads((folder / name).read_text("utf-8"))["items"] for name in OBJECTS}
    before = json.dumps(lists)
    change(lists)
    assert json.dumps(lists) != before, "the change changed nothing"
    for name, items in lists.items():
        (tmp_path / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    assert compare(parse_truth(truth), report_of([tmp_path])) == []
