"""The files of a dump: what kubectl would have written, byte for byte the same for the same seed."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.dump import Form, unschedulable, write_dump
from benchmarks.plan import Plan, make_plan

FILES = {"nodes.json", "pods.json", "workloads.json", "podgroups.json", "cluster.json"}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(400)


def items(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / name).read_bytes())["items"]
    return found


def test_both_layouts_hold_the_same_objects(plan: Plan, tmp_path: Path) -> None:
    for form in Form:
        write_dump(plan, tmp_path / form.value, form=form)
    for name in FILES:
        assert items(tmp_path / "compact", name) == items(tmp_path / "pretty", name)
    assert len(items(tmp_path / "compact", "pods.json")) == 400


def test_the_pretty_layout_is_that_of_kubectl(plan: Plan, tmp_path: Path) -> None:
    write_dump(plan, tmp_path, form=Form.PRETTY)
    for name in FILES:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text == json.dumps(json.loads(text), indent=4, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for turn in ("first", "second"):
        write_dump(make_plan(300, seed=9), tmp_path / turn)
    for name in FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_a_pod_is_as_long_as_a_real_one(plan: Plan, tmp_path: Path) -> None:
    size = write_dump(plan, tmp_path / "plain")
    assert 2_700 < (tmp_path / "plain" / "pods.json").stat().st_size / 400 < 3_300
    assert write_dump(plan, tmp_path / "managed", managed_fields=True) > 1.2 * size


def test_versions_and_uids_are_used_once(plan: Plan, tmp_path: Path) -> None:
    write_dump(plan, tmp_path)
    every = [item["metadata"] for name in sorted(FILES - {"cluster.json"}) for item in items(tmp_path, name)]
    assert len({metadata["uid"] for metadata in every}) == len(every)
    assert len({metadata["resourceVersion"] for metadata in every}) == len(every)


def test_every_owner_that_a_pod_names_is_in_the_dump(plan: Plan, tmp_path: Path) -> None:
    write_dump(plan, tmp_path)
    known = {item["metadata"]["uid"] for item in items(tmp_path, "workloads.json")}
    named = {pod["metadata"]["ownerReferences"][0]["uid"] for pod in items(tmp_path, "pods.json")}
    assert named <= known


def test_the_scheduler_counts_every_node_once(plan: Plan) -> None:
    pending = next(group for group in plan.groups if group.pending and group.pool.startswith("knot"))
    assert unschedulable(plan, pending) == (
        "0/40 nodes are available: 4 Insufficient nvidia.com/gpu, "
        "36 node(s) didn't match Pod's node affinity/selector. "
        "preemption: 0/40 nodes are available: 4 No preemption victims found for incoming pod, "
        "36 Preemption is not helpful for scheduling."
    )
