"""UIDs of pods from what the kubelet leaves behind: hints that may be missing, old, broken, or no files at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from exporters.collectors.pod_uids import Named, PodUids, UidReading, pod_uid_source
from exporters.config import Paths, Settings
from exporters.kubelet.checkpoint import noted_in
from exporters.kubelet.holding import Noted
from exporters.rooted import tree_at
from exporters.subject import Reading
from tests.exporters.allocation.readings import moment

UID = "6c5f3038-adfc-485d-9943-3fd5e825300d"
CHECKPOINT = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"


def checkpoint(*entries: Any, **more: Any) -> str:
    return json.dumps({"Data": {"PodDeviceEntries": list(entries), "RegisteredDevices": {}}, "Checksum": 7, **more})


def entry(ids: Any, uid: Any = UID) -> dict[str, Any]:
    return {
        "PodUID": uid,
        "ContainerName": "main",
        "ResourceName": "nvidia.com/gpu",
        "DeviceIDs": ids,
        "AllocResp": "CgIIAQ==",
    }


def look(root: Path) -> Reading[UidReading]:
    return PodUids(tree_at(root), CHECKPOINT, "var/log/pods", interval_s=15, deadline_s=5).read(moment(0))


@pytest.mark.parametrize(
    "ids", [{"1": ["GPU-9b34", "GPU-c1e9"]}, {"-1": ["GPU-9b34"], "0": ["GPU-c1e9"]}, ["GPU-c1e9", "GPU-9b34"]]
)
def test_ids_are_read_by_numa_node_and_in_the_older_list(ids: Any) -> None:
    assert noted_in(checkpoint(entry(ids))) == (
        Noted(pod_uid=UID, container="main", resource="nvidia.com/gpu", ids=("GPU-9b34", "GPU-c1e9")),
    )


def test_unknown_keys_and_entries_are_passed_over() -> None:
    good = entry({"-1": ["tegra"]})
    text = checkpoint({**good, "Later": 1}, {}, 7, None, "x", entry(None), entry({"0": 3}), entry([], 9), V2={"a": []})
    found = noted_in(text)
    assert found is not None
    assert [each.ids for each in found] == [("tegra",)]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", "null", '{"Data": {"PodDeviceEntries": {}}}', "[" * 5000, "\0" * 9]
)
def test_what_is_no_checkpoint_is_none(text: str) -> None:
    assert noted_in(text) is None


def test_a_node_without_pods_has_a_checkpoint_without_entries() -> None:
    assert noted_in('{"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 1}') == ()


def test_names_of_log_folders_have_uids(tmp_path: Path) -> None:
    logs = tmp_path / "var/log/pods"
    for name in (f"team_train-0_{UID}", f"kube-system_etcd-n1_{'0a' * 16}", "lost+found", f"a_b_c_{UID}", "x_y_1"):
        (logs / name).mkdir(parents=True)
    found = look(tmp_path)
    assert found.value is not None
    assert found.value.named == (Named("kube-system", "etcd-n1", "0a" * 16), Named("team", "train-0", UID))
    assert found.errors == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "EBADMSG"), ("\0" * 10_000_000, "EFBIG"), ('{"Data": {"PodDev', "EBADMSG"), (None, "EISDIR")],
)
def test_a_broken_checkpoint_costs_only_itself(tmp_path: Path, text: str | None, code: str) -> None:
    """Every file that somebody else writes is untrusted: Project-HAMi/HAMi#318."""
    path = tmp_path / CHECKPOINT
    path.parent.mkdir(parents=True)
    if text is None:
        path.mkdir()
    else:
        path.write_text(text)
    (tmp_path / "var/log/pods" / f"team_train-0_{UID}").mkdir(parents=True)
    found = look(tmp_path)
    assert found.up
    assert found.value is not None
    assert found.value.noted is None
    assert len(found.value.named) == 1
    assert [(error.call, error.code) for error in found.errors] == [("kubelet_checkpoint", code)]


def test_a_node_without_either_has_no_such_subject(tmp_path: Path) -> None:
    source = pod_uid_source(Settings(path=Paths(rootfs=str(tmp_path))))
    assert tuple(source()) == ()
    (tmp_path / "var/log/pods").mkdir(parents=True)
    assert len(tuple(source())) == 1
