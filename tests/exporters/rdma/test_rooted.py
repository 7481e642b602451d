"""Files beneath a root: bounded, never outside, and every error is a value."""

import errno
import os
from pathlib import Path

import pytest

from exporters.rooted import Failed, Folder, tree_at


@pytest.fixture
def tree(tmp_path: Path) -> Folder:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "plain").write_text(" 17\n")
    (tmp_path / "outside").write_text("secret")
    return tree_at(root)


def test_text_is_stripped_and_paths_are_relative(tree: Folder) -> None:
    assert tree.text("a/plain") == "17"
    folder = tree.folder("a")
    assert folder is not None
    assert (folder.text("plain"), folder.path, folder.name, folder.root) == ("17", "a", "a", tree)
    assert (tree.names("a"), tree.folders("a"), tree.folders("nothing")) == (("b", "plain"), ("b",), ())


@pytest.mark.parametrize(
    ("path", "code", "absent"),
    [("nothing", "ENOENT", True), ("a/plain/x", "ENOTDIR", True), ("a/b", "EISDIR", False), ("a/\0", "EINVAL", False)],
)
def test_what_cannot_be_read_says_why(tree: Folder, path: str, code: str, *, absent: bool) -> None:
    assert tree.text(path) == Failed(code)
    assert Failed(code).absent == absent


def test_a_pipe_is_refused_and_never_waited_for(tree: Folder) -> None:
    os.mkfifo(f"{tree.root_path}/a/pipe")
    assert tree.text("a/pipe") == Failed("ENOTSUP")


def test_links_lead_where_they_like_inside_the_root_and_nowhere_else(tree: Folder) -> None:
    inside, outside = Path(tree.root_path, "inside"), Path(tree.root_path, "outward")
    inside.symlink_to("a")
    outside.symlink_to("../outside")
    Path(tree.root_path, "a", "way").symlink_to("../../..")
    folder = tree.folder("inside")
    assert folder is not None
    assert folder.path == "a"
    assert tree.text("outward") == Failed("EXDEV")
    assert tree.text("../outside") == Failed("EXDEV")
    assert tree.names("a/way") == Failed("EXDEV")
    assert tree.folder("a/way") is None


def test_a_link_to_a_file_inside_is_read(tree: Folder) -> None:
    Path(tree.root_path, "same").symlink_to("a/plain")
    assert tree.text("same") == "17"


def test_a_circle_of_links_is_an_error(tree: Folder) -> None:
    Path(tree.root_path, "x").symlink_to("y")
    Path(tree.root_path, "y").symlink_to("x")
    assert tree.text("x") == Failed("ELOOP")


def test_a_file_too_long_is_refused_and_not_taken_into_memory(tree: Folder) -> None:
    """C10 of the field's faults: whatever somebody else wrote may be ten megabytes of zeros."""
    Path(tree.root_path, "long").write_bytes(b"\0" * 10_000_000)
    asked = []

    def read(path: str, at_most: int) -> bytes:
        asked.append(at_most)
        return Path(path).read_bytes()[:at_most]

    assert tree_at(tree.root_path, read).text("long", 1000) == Failed("EFBIG")
    assert asked == [1001]
    assert tree.text("long", 10_000_000) == "\0" * 10_000_000


def test_what_is_no_text_is_replaced(tree: Folder) -> None:
    Path(tree.root_path, "odd").write_bytes(b"\xff7\n")
    assert tree.text("odd") == "\ufffd7"


def test_an_error_of_the_device_is_named(tree: Folder) -> None:
    def read(path: str, at_most: int) -> bytes:
        raise OSError(errno.EINVAL, path, at_most)

    assert tree_at(tree.root_path, read).text("a/plain") == Failed("EINVAL")


def test_the_root_of_all_is_a_root() -> None:
    whole = tree_at("/")
    folder = whole.folder("proc/sys/kernel")
    assert folder is not None
    assert folder.path == "proc/sys/kernel"
    assert folder.text("ostype") == "Linux"
    assert "proc" in whole.folders()
