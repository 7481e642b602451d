"""Recordings of real clusters, and the worked facts, against the truth beside them.

A folder holds the files of one incident and `expected.yaml`. Small recordings are kept in `tests/data/k8s`; the whole
collection is read from `$KNOTWATCH_SHARED` (default: `../shared`) and skipped by name where it is missing.
"""

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.replay.reports import Report, report_of, run_replay
from tests.replay.truth import Claim, Truth, compare

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("KNOTWATCH_SHARED", ROOT.parent / "shared"))
KEPT = sorted((ROOT / "tests" / "data" / "k8s").glob("*/expected.yaml"))
OBJECTS = ("nodes.json", "pods.json", "workloads.json", "cluster.json")
NOT_YET = ("dra_claims", "kueue_*")  # device claims and Kueue's own objects are not read yet
BESIDE = ("expected.yaml", "README.md")
K8S = (
    *("drivers", "fragmented", "gang_native", "healthy_queue", "lost_node", "partial_gang", "preempting"),
    *("quota", "rolling_update", "volumes"),
)


def truth_of(expected: dict[str, Any]) -> Truth:
    """`expected.yaml` in the terms of the stories."""
    claims = tuple(
        Claim(
            verdicts=(want["verdict"],) if isinstance(want["verdict"], str) else tuple(want["verdict"]),
            state="open",
            marks=(),
            stuck=tuple(want["stuck"]),
            members=tuple(want["members"]) if "members" in want else None,
            may=tuple(want.get("stuck_may", ())),
            root=want.get("root"),
        )
        for want in expected.get("findings") or ()
    )
    waits = tuple((who, tuple(whom)) for who, whom in (expected.get("waiting") or {}).items())
    never = tuple(expected.get("must_not_name") or ())
    return Truth(claims, tuple(expected.get("may_also") or ()), waits, never, (), ())


def _expected(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    return loaded


def _inputs(folder: Path, names: tuple[str, ...] | None = None) -> list[Path]:
    wanted = names or _expected(folder).get("inputs") or [p.name for p in folder.iterdir() if p.name not in BESIDE]
    return [folder / name for name in sorted(wanted) if (folder / name).exists()]


def _check(folder: Path, report: Report) -> None:
    assert compare(truth_of(_expected(folder)), report) == []


def shared_folder(kind: str, name: str) -> Path:
    """A folder of the whole collection; the test is skipped by name where it is missing."""
    folder = SHARED / "samples" / kind / name
    if not folder.exists():
        pytest.skip(f"no recording {kind}/{name} under {SHARED}: set KNOTWATCH_SHARED")
    return folder


@pytest.mark.parametrize("expected", KEPT, ids=lambda path: path.parent.name)
def test_kept_recording(expected: Path) -> None:
    _check(expected.parent, report_of(_inputs(expected.parent)))


@pytest.mark.parametrize("name", K8S)
def test_recording_with_all_that_was_dumped(name: str) -> None:
    folder = shared_folder("k8s", name)
    _check(folder, report_of(_inputs(folder)))


@pytest.mark.parametrize("name", [name for name in K8S if name != "quota"])
def test_recording_with_objects_alone(name: str) -> None:
    folder = shared_folder("k8s", name)
    _check(folder, report_of(_inputs(folder, OBJECTS)))


@pytest.mark.parametrize("name", ["partial_gang", "lost_node", "preempting", "rolling_update"])
def test_recording_with_every_file_of_the_folder(name: str) -> None:
    """Watches, audit log, descriptions and dumps beside the lists: more is never less."""
    folder = shared_folder("k8s", name)
    report = report_of([path for path in sorted(folder.iterdir()) if path.name not in BESIDE])
    _check(folder, report)


@pytest.mark.parametrize("name", ["partial_gang", "volumes", "healthy_queue"])
def test_recording_with_watches_alone(name: str) -> None:
    folder = shared_folder("k8s", name)
    streams = ("watch-nodes.json", "watch-pods.json", "watch-events.json", "workloads.json", "cluster.json")
    _check(folder, report_of(_inputs(folder, streams)))


def test_worked_facts() -> None:
    samples = sorted(shared_folder("facts", ".").glob("*/expected.yaml"))
    assert len(samples) >= 19
    wrong = {}
    for expected in samples:
        report = report_of([expected.parent / "facts.yaml"])
        problems = compare(truth_of(_expected(expected.parent)), report)
        if problems:
            wrong[expected.parent.name] = problems
    assert wrong == {}


def test_what_is_not_read_yet_raises_no_false_alarm() -> None:
    """Of device claims and Kueue's objects nothing may be said that is not so, even before they are read."""
    root = shared_folder("k8s", ".")
    for folder in sorted(root.iterdir()):
        if not any(fnmatchcase(folder.name, pattern) for pattern in NOT_YET):
            continue
        expected = _expected(folder)
        result = run_replay(_inputs(folder))
        assert result.exit_code in (0, 1), (folder.name, result.stderr)
        if not expected["findings"]:
            silent = truth_of({**expected, "waiting": None})  # who waits for quota is not known before Kueue is read
            assert compare(silent, report_of(_inputs(folder))) == [], folder.name
