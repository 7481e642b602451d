"""JSON of the versions between 21.08 and 25.05, as their data parsers shape it: the same verdict from each.

| release | data parser | what differs |
|---|---|---|
| 21.08, 22.05 | openapi/v0.0.37, v0.0.38 | plain numbers, null for unset; one word for a state; `meta.Slurm` |
| 23.02 | v0.0.39 | amounts as {set, infinite, number}, times still plain, a state still one word; `meta.plugins` |
| 23.11 | v0.0.40 | times as amounts; a list of states; `meta.slurm` names the cluster |
| 24.05, 24.11 | v0.0.41, v0.0.42 | `job_resources.nodes` is an object with a list `allocation` |
| 25.05 | v0.0.43 | `gres/gpu:8` instead of `gres:gpu:8`; `submit_line`, `licenses_allocated` |
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.making import NOW, Job, cluster, found, nodes_json, nodes_text, qos, queue_json, replayed, reservation
from tests.slurm.test_scenarios import GROUP, STORIES, Found, running, waiting

Shape = Callable[[dict[str, Any]], None]
PLAIN_TIMES = ("eligible_time", "end_time", "last_sched_evaluation", "start_time", "submit_time")


def _resources(job: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Nodes of a running job, with the processors on each."""
    nodes = [node for node in job["nodes"].split(",") if node]
    cpus = job["cpus"]["number"]
    for node in nodes if job["tres_alloc_str"] else ():
        yield node, cpus // len(nodes)


def _allocated_nodes(job: dict[str, Any]) -> None:
    """Up to 23.11; `cpus_used` is 0 there."""
    rows = [
        {"sockets": {"0": {"cores": {"0": "allocated"}}}, "nodename": node, "cpus_used": 0, "memory_used": 0,
         "memory_allocated": 1000}
        for node, _ in _resources(job)
    ]  # fmt: skip
    job["job_resources"] = (
        {"nodes": job["nodes"], "allocated_hosts": len(rows), "allocated_nodes": rows} if rows else {}
    )


def _allocation(job: dict[str, Any]) -> None:
    """Since 24.05."""
    rows = [
        {"index": 0, "name": node, "cpus": {"count": cpus, "used": 0}, "memory": {"used": 0, "allocated": 1000},
         "sockets": [{"index": 0, "cores": [{"index": 0, "status": ["ALLOCATED"]}]}]}
        for node, cpus in _resources(job)
    ]  # fmt: skip
    if not rows:
        job["job_resources"] = None
        return
    job["job_resources"] = {
        "select_type": ["CPU", "CORE"], "cpus": job["cpus"]["number"],
        "nodes": {"count": len(rows), "select_type": ["AVAILABLE"], "list": job["nodes"], "whole": False,
                  "allocation": rows},
        "threads_per_core": {"set": False, "infinite": False, "number": 0},
    }  # fmt: skip


def _of_23_02(job: dict[str, Any]) -> None:
    for name in PLAIN_TIMES:
        job[name] = job[name]["number"]
    job["job_state"] = job["job_state"][0]
    job["exclusive"] = job["exclusive"] or ["false"]
    _allocated_nodes(job)


def _of_25_05(job: dict[str, Any]) -> None:
    job["tres_per_node"] = job["tres_per_node"].replace("gres:gpu:", "gres/gpu:")
    job["licenses_allocated"] = job["licenses"] if job["tres_alloc_str"] else ""
    job["submit_line"] = "sbatch job.sh"
    _allocation(job)


SHAPES: Mapping[str, tuple[Shape, dict[str, Any]]] = {
    "23.02": (_of_23_02, {"plugins": {"data_parser": "data_parser/v0.0.39"}, "Slurm": {"release": "23.02.6"}}),
    "23.11": (_allocated_nodes, {"plugin": {"data_parser": "data_parser/v0.0.40"},
                                 "slurm": {"cluster": "lab", "release": "23.11.1"}}),
    "24.05": (_allocation, {"plugin": {"data_parser": "data_parser/v0.0.41"},
                            "slurm": {"cluster": "lab", "release": "24.05.4"}}),
    "25.05": (_of_25_05, {"plugin": {"data_parser": "data_parser/v0.0.43"},
                          "slurm": {"cluster": "lab", "release": "25.05.0"}}),
}  # fmt: skip


def shaped(release: str, jobs: list[Job], *, short: bool = False) -> str:
    """`squeue --json` of that release; `short`: all in one line, as 24.05 and later can write it."""
    shape, meta = SHAPES[release]
    document = json.loads(queue_json(jobs, late=True))
    for job in document["jobs"]:
        shape(job)
    moment = {"set": True, "infinite": False, "number": NOW}
    document = {**document, "last_backfill": moment, "last_update": moment, "meta": meta, "warnings": []}
    if release == "23.02":
        del document["last_update"], document["last_backfill"]
    return json.dumps(document, indent=None if short else 2)


TOLD = (
    "ring of two dependencies", "queue behind running jobs", "four nodes wanted, two drained",
    "two nodes wanted, two drained", "more than one job may have", "throttled array",
    "two arrays that wait for each other", "three components, limit unknown",
    "more than the group's limit", "a named node is drained",
    "a drained node without which its reservation is too small", "as many nodes as its reservation has",
)  # fmt: skip


@pytest.mark.parametrize("release", SHAPES)
@pytest.mark.parametrize("title", TOLD)
def test_every_release_tells_the_same(title: str, release: str, tmp_path: Path) -> None:
    story = STORIES[title]
    nodes = story.nodes or cluster()
    for short in (False, True):
        files = {
            "jobs": shaped(release, list(story.jobs), short=short),
            "nodes": nodes_json(nodes, late=True), **story.extra,
        }  # fmt: skip
        report = replayed(tmp_path / f"short-{short}", files)
        assert [source for source in report.sources if source.skipped or not source.records] == []
        assert found(report) == story.expected


@pytest.mark.parametrize("release", SHAPES)
def test_what_a_job_holds_on_each_node(release: str, tmp_path: Path) -> None:
    """Sixty of 64 processors are held on two of four nodes: who wants eight on three nodes waits for one of these."""
    held = running(1, ("gpu-0", "gpu-1"), 0, cpus=60)
    wide = waiting(2, 0, count=3, cpus=8, needs_nodes=("gpu-0", "gpu-2", "gpu-3"))
    files = {"jobs": shaped(release, [held, wide]), "nodes": nodes_json(cluster(), late=True)}
    (row,) = replayed(tmp_path, files).waiting
    assert row.first_to_finish == ()  # one processor on each is all that is certain
    files["jobs"] = files["jobs"].replace(
        '"minimum_cpus_per_node": {\n        "set": true,\n        "infinite": false,\n        "number": 1',
        '"minimum_cpus_per_node": {\n        "set": true,\n        "infinite": false,\n        "number": 8',
    )
    (row,) = replayed(tmp_path, files).waiting
    assert row.first_to_finish == ("slurm-job/lab/1",)


QOS_JSON = {
    "meta": {"plugin": {"data_parser": "data_parser/v0.0.41"}, "slurm": {"cluster": "lab"}},
    "errors": [],
    "qos": [
        {
            "name": "team", "priority": {"set": True, "infinite": False, "number": 0},
            "preempt": {"list": [], "mode": ["DISABLED"], "exempt_time": {"set": False, "infinite": True, "number": 0}},
            "limits": {
                "grace_time": 0,
                "max": {
                    "active_jobs": {"accruing": {"set": False, "infinite": True, "number": 0},
                                    "count": {"set": False, "infinite": True, "number": 0}},
                    "tres": {"total": [{"type": "gres", "name": "gpu", "id": 1001, "count": 16}],
                             "minutes": {"total": [], "per": {"qos": [], "job": [], "account": [], "user": []}},
                             "per": {"account": [], "job": [], "node": [], "user": []}},
                    "jobs": {"active_jobs": {"per": {"account": {"set": False, "infinite": True, "number": 0},
                                                     "user": {"set": False, "infinite": True, "number": 0}}}},
                },
            },
        }
    ],
}  # fmt: skip


def test_limits_as_json(tmp_path: Path) -> None:
    expected: Found = [("UNPLACEABLE", ("24",))]
    files = {"jobs": shaped("24.05", list(GROUP)), "nodes": nodes_text(cluster())}
    assert found(replayed(tmp_path / "text", {**files, "q": qos(team="GrpTRES=gres/gpu=16")})) == expected
    assert found(replayed(tmp_path / "json", {**files, "q": json.dumps(QOS_JSON)})) == expected
    assert found(replayed(tmp_path / "none", {**files, "r": reservation("night", "gpu-0")})) == []


def test_an_empty_list_of_later(tmp_path: Path) -> None:
    """Ten minutes after the ring the queue is empty: both are gone, and so is the finding."""
    empty = {"jobs": [], "last_update": {"set": True, "infinite": False, "number": NOW + 600},
             "meta": SHAPES["24.05"][1], "errors": []}  # fmt: skip
    jobs = list(STORIES["ring of two dependencies"].jobs)
    files = {"a": shaped("24.05", jobs), "b": json.dumps(empty, indent=1), "nodes": nodes_text(cluster())}
    (finding,) = replayed(tmp_path, files).findings
    assert str(finding.state) == "resolved"
