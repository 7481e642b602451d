"""A recorded tree as files in a folder. Nothing is ever written outside it, whatever the capture says.

Files have plain paths whose folders are real, so where they are written is what they say. Links lead to names beneath
the root: up as far as the root goes, then down by names alone. The one exception are links to a GPU's device file,
which are read as text and never followed.
"""

import errno
import re
from collections.abc import Iterable
from pathlib import Path

from exporters.capture.form import CaptureError, Tree
from exporters.rooted import Read, read_bytes

PATH_LENGTH_MAX = 1024
DEVICE_FILE = re.compile(r"/dev/nvidia[a-z0-9/_-]{0,64}")


def unpacked(tree: Tree, folder: Path) -> dict[str, int]:
    """Write the tree; returns what refuses to be read, by full path, with the error's number. Raises CaptureError."""
    leaves = {*tree.files, *tree.refused, *tree.links}
    for path in (*leaves, *tree.folders):
        _check_path(path)
    _check_places(leaves, tree.folders)
    for path, target in tree.links.items():
        _check_link(path, target)
    folder.mkdir(parents=True, exist_ok=True)
    for path in tree.folders:
        (folder / path).mkdir(parents=True, exist_ok=True)
    for path, text in (*tree.files.items(), *((path, "") for path in tree.refused)):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n", encoding="utf-8", errors="replace")
    for path, target in tree.links.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
    root = folder.resolve()
    return {
        str(root / path): getattr(errno, code, errno.EIO) if code.isalnum() else errno.EIO
        for path, code in tree.refused.items()
    }


def refusing(refused: dict[str, int]) -> Read:
    """Reads files as ever, but for those that were refused when the capture was taken."""

    def read(path: str, at_most: int) -> bytes:
        if (code := refused.get(path)) is not None:
            raise OSError(code, "refused when the capture was taken")
        return read_bytes(path, at_most)

    return read


def _check_path(path: str) -> None:
    parts = path.split("/")
    if not 0 < len(path) <= PATH_LENGTH_MAX or "\0" in path or any(part in {"", ".", ".."} for part in parts):
        raise CaptureError(f"names a path that no tree has: {path[:80]!r}.")


def _check_places(leaves: set[str], folders: Iterable[str]) -> None:
    """No file or link may be where a folder has to be."""
    for path in (*leaves, *(f"{folder}/." for folder in folders)):
        above = path
        while above := above.rpartition("/")[0]:
            if above in leaves:
                raise CaptureError(f"has {above[:80]!r} twice: as a folder, and as a file or link.")


def _check_link(path: str, target: str) -> None:
    if path.partition("/")[0].isdecimal() and DEVICE_FILE.fullmatch(target):
        return
    parts = target.split("/")
    ups = next((place for place, part in enumerate(parts) if part != ".."), len(parts))
    downs = parts[ups:]
    if "\0" in target or len(target) > PATH_LENGTH_MAX or any(part in {"", ".", ".."} for part in downs):
        raise CaptureError(f"has a link that leads nowhere in its tree: {path[:80]!r}.")
    if ups > path.count("/"):
        raise CaptureError(f"has a link that leads out of its tree: {path[:80]!r}.")
