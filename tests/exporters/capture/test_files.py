"""What of a tree is taken along: what the table says, as much as fits, links and refusals as they are."""

import os
from pathlib import Path

import pytest

from exporters.capture import files
from exporters.capture.files import PROCFS, SYSFS, Gathering
from exporters.capture.unpacking import unpacked
from exporters.rooted import tree_at
from tests.exporters.trees import Trees, h100


def gathered(folder: Path, *patterns: str) -> Gathering:
    gathering = Gathering(tree_at(folder))
    gathering.take(patterns)
    return gathering


def test_a_tree_unpacked_is_gathered_again_the_same(tmp_path: Path) -> None:
    trees = h100(Trees(tmp_path / "node"))
    first = gathered(trees.sysfs, *SYSFS).tree()
    assert len(first.files) > 500
    unpacked(first, tmp_path / "again")
    assert gathered(tmp_path / "again", *SYSFS).tree() == first


def test_links_are_taken_and_lead_where_they_led(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    trees.gpu("pci0000:15/0000:16:00.0")
    tree = gathered(trees.sysfs, *SYSFS).tree()
    assert tree.links == {
        "bus/pci/devices/0000:16:00.0": "../../../devices/pci0000:15/0000:16:00.0",
        "devices/pci0000:15/0000:16:00.0/driver": "../../../bus/pci/drivers/nvidia",
    }
    assert "bus/pci/drivers/nvidia" in tree.folders


def test_a_link_out_of_the_tree_is_left(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("x")
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "a").symlink_to("../outside")
    tree = gathered(tmp_path / "sys", "a/*", "a/secret").tree()
    assert (tree.files, tree.links) == ({}, {})


def test_a_pipe_does_not_stop_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert gathered(tmp_path, "*").tree().refused == {"pipe": "ENOTSUP"}


def test_there_is_an_end_to_files_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (tmp_path / f"f{number:02d}").write_text("x" * 10)
    monkeypatch.setattr(files, "FILES_MAX", 7)
    gathering = gathered(tmp_path, "*")
    assert (len(gathering.tree().files), gathering.left_out) == (7, 13)
    monkeypatch.setattr(files, "FILES_MAX", 100)
    monkeypatch.setattr(files, "BYTES_MAX", 45)
    gathering = gathered(tmp_path, "*")
    assert (len(gathering.tree().files), gathering.left_out) == (5, 15)


def test_of_processes_those_on_a_gpu_are_taken(tmp_path: Path) -> None:
    for pid, links in ((1, ()), (2, ()), (77, ("/dev/nvidia3", "/dev/pts/0")), (78, ("/tmp/x",)), (79, ())):  # noqa: S108  a name in a link
        folder = tmp_path / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "stat").write_text(f"{pid} (x) S 1")
        (folder / "cmdline").write_text("secret")
        for number, target in enumerate(links):
            (folder / "fd" / str(number)).symlink_to(target)
    gathering = gathered(tmp_path, *PROCFS)
    gathering.take_processes([79])
    tree = gathering.tree()
    assert sorted(tree.files) == ["1/stat", "2/stat", "77/stat", "79/stat"]
    assert tree.links == {"77/fd/0": "/dev/nvidia3"}
