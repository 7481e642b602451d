"""Two clusters in one folder, with the same numbers of jobs and the same names of nodes: each is judged by itself."""

import json
from pathlib import Path

import pytest

from analyzer.codec.report import Report
from analyzer.errors import UsageError
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document
from analyzer.sources.slurm.submission import submitted_scripts
from tests.slurm.making import (
    Job,
    Node,
    cluster,
    found,
    licences,
    nodes_json,
    nodes_text,
    queue_json,
    replayed,
    sacct,
    scontrol,
    squeue,
)

RING = [
    Job(id=5, reason="Dependency", depends="afterok:6(unfulfilled)"),
    Job(id=6, reason="Dependency", depends="afterok:5(unfulfilled)"),
]
HALF_OF_IT = [RING[0], Job(id=7, state="RUNNING", nodes=("gpu-0",), gpus=8, name="other")]
OTHER_HALF = [RING[1], Job(id=8, state="RUNNING", nodes=("gpu-0",), gpus=8, name="another")]


def of(text: str, name: str) -> str:
    """JSON as a cluster of that name prints it."""
    document = json.loads(text.replace('"lab"', f'"{name}"'))
    document["meta"] = {"slurm": {"cluster": name, "release": "24.05.1"}}
    return json.dumps(document, indent=1)


def everybody(report: Report) -> set[str]:
    rows = {row.actor for row in report.waiting}
    return rows | {actor for finding in report.findings for actor in finding.members}


def test_a_ring_in_one_and_a_queue_in_the_other(tmp_path: Path) -> None:
    files = {
        "a": of(queue_json(RING, late=True), "red"), "b": of(nodes_json(cluster(), late=True), "red"),
        "c": of(queue_json(HALF_OF_IT, late=True), "blue"), "d": of(nodes_json(cluster(), late=True), "blue"),
    }  # fmt: skip
    report = replayed(tmp_path, files)
    assert [finding.members for finding in report.findings] == [("slurm-job/red/5", "slurm-job/red/6")]
    assert everybody(report) == {"slurm-job/red/5", "slurm-job/red/6", "slurm-job/blue/5"}


def test_two_halves_of_a_ring_are_no_ring(tmp_path: Path) -> None:
    files = {"a": of(queue_json(HALF_OF_IT, late=True), "red"), "b": of(queue_json(OTHER_HALF, late=True), "blue")}
    assert found(replayed(tmp_path / "apart", files)) == []
    together = {"a": queue_json([*HALF_OF_IT, RING[1]], late=True)}
    assert found(replayed(tmp_path / "together", together)) == [("DEADLOCK", ("5", "6"))]


def test_nodes_of_one_name_are_two(tmp_path: Path) -> None:
    """Four nodes are wanted where there are two; that the other cluster has as many again does not help."""
    wide = [Job(id=5, gpus=8, count=4, reason="Resources")]
    drained = [Node(name=f"gpu-{n}", state="IDLE+DRAIN" if n > 1 else "IDLE", reason="fan") for n in range(4)]
    files = {
        "a": of(queue_json(wide, late=True), "red"), "b": of(nodes_json(drained, late=True), "red"),
        "c": of(queue_json(wide, late=True), "blue"), "d": of(nodes_json(cluster(), late=True), "blue"),
    }  # fmt: skip
    report = replayed(tmp_path, files)
    assert [finding.members for finding in report.findings] == [("slurm-job/red/5",)]


def test_headings_of_squeue_for_several_clusters(tmp_path: Path) -> None:
    text = f"CLUSTER: red\n{squeue(RING)}\nCLUSTER: blue\n{squeue(HALF_OF_IT)}"
    report = replayed(tmp_path, {"a": text})
    assert [finding.members for finding in report.findings] == [("slurm-job/red/5", "slurm-job/red/6")]


def test_rows_of_sacct(tmp_path: Path) -> None:
    """Accounting of a site lists several clusters: the rows of another one are not ours."""
    elsewhere = sacct([Job(id=5, state="COMPLETED"), Job(id=6, state="COMPLETED")]).replace("|lab|", "|blue|")
    files = {"a": of(queue_json(RING, late=True), "red"), "b": elsewhere}
    assert found(replayed(tmp_path, files)) == [("DEADLOCK", ("5", "6"))]


@pytest.mark.parametrize("beside", ["folder", "content"])
def test_text_that_names_no_cluster(beside: str, tmp_path: Path) -> None:
    """Scontrol does not say whose jobs these are: the folder does, else the jobs and nodes that both list."""
    red, blue = (tmp_path / "red", tmp_path / "blue") if beside == "folder" else (tmp_path, tmp_path)
    red.mkdir(exist_ok=True)
    blue.mkdir(exist_ok=True)
    holder = Job(id=7, state="RUNNING", nodes=("gpu-0",), gpus=8, licences="mesh:2", name="other")
    (red / "a.json").write_text(of(queue_json([*RING, holder], late=True), "red"), encoding="utf-8")
    (red / "b.txt").write_text(scontrol([*RING, holder]), encoding="utf-8")
    (blue / "c.json").write_text(of(queue_json(OTHER_HALF, late=True), "blue"), encoding="utf-8")
    (blue / "d.txt").write_text(scontrol(OTHER_HALF), encoding="utf-8")
    report = replayed(tmp_path, {})
    assert [finding.members for finding in report.findings] == [("slurm-job/red/5", "slurm-job/red/6")]
    assert [source.path for source in report.sources if source.skipped] == []


def test_what_belongs_to_nobody_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    files = {
        "a": of(queue_json(RING, late=True), "red"), "c": of(queue_json(HALF_OF_IT, late=True), "blue"),
        "l": licences(mesh=1), "n": nodes_text(cluster()),
    }  # fmt: skip
    report = replayed(tmp_path, files)
    (source,) = (source for source in report.sources if source.path.endswith("l"))
    assert [note.text for note in source.notes] == [
        "of which of the clusters blue, red this is does not show: it is left out."
    ]
    assert found(report) == [("DEADLOCK", ("5", "6"))]


def test_a_script_is_not_judged_where_it_is_not_said_where_it_runs(tmp_path: Path) -> None:
    for name in ("red", "blue"):
        (tmp_path / name).write_text(of(queue_json(HALF_OF_IT, late=True), name), encoding="utf-8")
    script = Document(9, "job.sh", b"#!/bin/sh\n#SBATCH --partition=train\ntrue\n")
    real = [Document(at, name, (tmp_path / name).read_bytes()) for at, name in enumerate(("blue", "red"))]
    with pytest.raises(UsageError, match=r"several clusters \(blue, red\)"):
        submitted_scripts(real, [script], ReadOptions(), 0)
