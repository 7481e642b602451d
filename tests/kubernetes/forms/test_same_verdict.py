"""A recording gives the same verdict from any of its forms that suffices.

The recordings that are kept here are written in other forms; those of the whole collection have them all, and are
skipped by name where they are missing.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.replay.reports import report_of, verdicts_of
from tests.replay.test_recordings import KEPT, shared_folder, truth_of
from tests.replay.truth import compare

ALL = ("drivers", "fragmented", "gang_native", "healthy_queue", "lost_node", "partial_gang", "preempting", "quota")
SUFFICIENT = {
    "objects": ("nodes.json", "pods.json", "workloads.json", "cluster.json"),
    "watch streams": ("watch-nodes.json", "watch-pods.json", "watch-events.json"),
    "audit log": ("audit.log",),
    "dump": ("cluster-info-dump",),
    "descriptions": ("describe-nodes.txt", "describe-pods.txt"),
    "descriptions beside nodes": ("describe-pods.txt", "nodes.json"),
    "descriptions with all that is pasted": (
        *("describe-pods.txt", "nodes.json", "events.txt", "pods-wide.txt", "workloads.json", "cluster.json"),
    ),
}
LACKING = {
    ("objects", "quota"),  # refusals are events
    ("watch streams", "quota"),  # the Job without a pod is no pod
    ("descriptions beside nodes", "quota"),
}
"""What is not in the form, so nothing can be said of it; there silence is right."""
WITH_ALL_PASTED = ("rolling_update", "volumes")


def expected_of(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    return loaded


def archive_of(folder: Path, names: tuple[str, ...], to: Path) -> Path:
    path = to / "incident.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name in names:
            packed.add(folder / name, f"incident/{name}")
    return path


def problems(folder: Path, paths: list[Path]) -> list[str]:
    return compare(truth_of(expected_of(folder)), report_of(paths))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("form", SUFFICIENT)
def test_every_form_that_suffices_gives_the_verdict(form: str, name: str) -> None:
    folder = shared_folder("k8s", name)
    paths = [folder / file for file in SUFFICIENT[form] if (folder / file).exists()]
    if form == "descriptions" and len(paths) < 2:
        pytest.skip(f"{name} has no description of its nodes")
    if (form, name) in LACKING:
        pytest.skip(f"{form} of {name} do not hold all that its verdict takes")
    assert problems(folder, paths) == []


@pytest.mark.parametrize("name", WITH_ALL_PASTED)
def test_what_one_form_lacks_another_adds(name: str) -> None:
    folder = shared_folder("k8s", name)
    names = SUFFICIENT["descriptions with all that is pasted"]
    assert problems(folder, [folder / file for file in names]) == []


@pytest.mark.parametrize("name", [*ALL, *WITH_ALL_PASTED])
def test_tables_alone_raise_no_alarm(name: str) -> None:
    folder = shared_folder("k8s", name)
    paths = [folder / "pods-wide.txt", folder / "events.txt"]
    for more in ([], ["nodes.json"], ["events.json", "nodes.json"]):
        assert report_of([*paths, *(folder / file for file in more)])["findings"] == []


def without_places(report: dict[str, Any]) -> Any:
    return json.loads(json.dumps(verdicts_of(report)).replace("incident.tar.gz/", ""))


@pytest.mark.parametrize("expected", KEPT, ids=lambda path: path.parent.name)
def test_one_archive_says_what_its_files_say(expected: Path, tmp_path: Path) -> None:
    folder = expected.parent
    names = tuple(sorted(path.name for path in folder.iterdir() if path.name not in ("README.md", "expected.yaml")))
    archive = archive_of(folder, names, tmp_path)
    report = report_of([archive])
    assert without_places(report) == without_places(report_of([folder / name for name in names]))
    assert compare(truth_of(expected_of(folder)), report) == []
    assert [row["path"] for row in report["sources"]] == [
        "incident.tar.gz",
        *(f"incident.tar.gz/incident/{name}" for name in names),
    ]


@pytest.mark.parametrize("name", [*ALL, *WITH_ALL_PASTED])
def test_one_archive_of_everything_gives_the_verdict(name: str, tmp_path: Path) -> None:
    folder = shared_folder("k8s", name)
    names = tuple(sorted(path.name for path in folder.iterdir() if path.name not in ("README.md", "expected.yaml")))
    archive = archive_of(folder, names, tmp_path)
    report = report_of([archive])
    assert compare(truth_of(expected_of(folder)), report) == []
    unknown = [row["path"] for row in report["sources"] if row["kind"] == "not understood"]
    assert unknown == []
