"""Recordings of the real Kueue, from all their files and from those that suffice; and its log beside objects."""

import shutil
from pathlib import Path

import pytest

from tests.replay.reports import report_of
from tests.replay.test_recordings import BESIDE, _check, _expected, shared_folder

NAMES = ("evicted_requeue", "healthy", "overbooked", "partial_gangs")
DUMP = ("nodes.json", "pods.json", "workloads.json", "kueue.json", "events.json")
OBJECTS = DUMP[:-1]
SUBSETS = {
    "all": None,
    "dump": DUMP,
    "objects": OBJECTS,
    "objects and Kueue's log": (*OBJECTS, "kueue-controller.log"),
    "objects and watches": (*OBJECTS, "watch-pods.json", "watch-kueue-workloads.json", "watch-events.json"),
}


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("name", NAMES)
def test_kueue_recording(name: str, subset: str, tmp_path: Path) -> None:
    folder = shared_folder("k8s", f"kueue_{name}")
    wanted = SUBSETS[subset] or tuple(path.name for path in folder.iterdir() if path.name not in BESIDE)
    for one in wanted:
        shutil.copy(folder / one, tmp_path / one)
    report = report_of([tmp_path])
    _check(folder, report)
    sources = {Path(source["path"]).name: source["kind"] for source in report["sources"]}
    assert sources.get("kueue-controller.log", "kueue log") == "kueue log"


@pytest.mark.parametrize("name", NAMES)
def test_a_log_alone_is_weak_evidence(name: str, tmp_path: Path) -> None:
    folder = shared_folder("k8s", f"kueue_{name}")
    shutil.copy(folder / "kueue-controller.log", tmp_path)
    found = report_of([tmp_path])["findings"]
    assert all(finding["certainty"] == "suspected" for finding in found)
    rounds = [finding["members"] for finding in found if finding["verdict"] == "LIVELOCK"]
    assert rounds == ([["workload/team-red/pretrain"]] if name == "evicted_requeue" else [])
    assert len(found) == len(rounds) <= len(_expected(folder)["findings"])
