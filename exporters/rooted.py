"""Files beneath a root: sysfs, procfs, or a copy of them. Every read is bounded, and every error is a value.

What these trees hold was written by drivers of all ages, or by whoever made the copy: a file may be missing, refuse to
be read, be far too long, or be no file at all. None of that may cost more than itself. Nothing outside the root is ever
read, wherever links lead.
"""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

BYTES_MAX = 65_536
"""More than any file of sysfs (a page) and nearly all of procfs."""
NAMES_MAX = 65_536
"""Entries of a folder; /proc has one for each process."""

ABSENT = frozenset({"ENOENT", "ENODEV", "ENOTDIR", "ESRCH", "ENXIO"})
"""Codes that say: there is no such thing, or there is no longer (unplugged, ended). That is an answer, not an error."""


class Failed(Struct, frozen=True):
    """Why there is no text or no list: the name of the system's error code, as `EINVAL`."""

    code: str

    @property
    def absent(self) -> bool:
        """Whether there simply is nothing of that name."""
        return self.code in ABSENT


Read = Callable[[str, int], bytes]
"""Gives at most so many bytes of the file at a path. Raises OSError."""


def read_bytes(path: str, at_most: int) -> bytes:
    """At most so many bytes of a regular file. Follows no link at its end, and never waits for a pipe or device."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.ENOTSUP, "no regular file")
        parts = []
        # procfs gives a page at a time, so one read is not all there is.
        while at_most > 0 and (part := os.read(file, at_most)):
            parts.append(part)
            at_most -= len(part)
        return b"".join(parts)
    finally:
        os.close(file)


class Folder(Struct, frozen=True):
    """One folder beneath a root. Paths given to it are relative to it; links are followed while they stay inside.

    `root_path`: the root's true path, with no slash at its end. `path`: this folder's beneath it, without links. Made
    by `tree_at` and `folder`.
    """

    root_path: str
    path: str = ""
    read: Read = read_bytes

    @property
    def name(self) -> str:
        """The last part of its path; empty for the root."""
        return self.path.rpartition("/")[2]

    @property
    def root(self) -> "Folder":
        """Where the tree begins."""
        return Folder(self.root_path, "", self.read)

    def text(self, path: str, at_most: int = BYTES_MAX) -> str | Failed:
        """The file's text, stripped. What is no UTF-8 is replaced. EFBIG for more than `at_most` bytes."""
        try:
            raw = self._bytes(path, at_most + 1)
        except OSError as error:
            return _failed(error)
        except ValueError:  # a NUL in the path
            return Failed("EINVAL")
        return raw.decode("utf-8", "replace").strip() if len(raw) <= at_most else Failed("EFBIG")

    def names(self, path: str = "", at_most: int = NAMES_MAX) -> tuple[str, ...] | Failed:
        """What lies in a folder, sorted. The first `at_most` by name where there is more."""
        try:
            with os.scandir(self._inside(path)) as entries:
                found = sorted(entry.name for entry in entries)
        except OSError as error:
            return _failed(error)
        except ValueError:
            return Failed("EINVAL")
        return tuple(found[:at_most])

    def folder(self, path: str) -> "Folder | None":
        """The folder that a path leads to, links followed, with its true path; None if none is inside the root."""
        try:
            full = self._inside(path)
            if not stat.S_ISDIR(os.lstat(full).st_mode):
                return None
        except (OSError, ValueError):
            return None
        return Folder(self.root_path, full[len(self.root_path) + 1 :], self.read)

    def link(self, name: str) -> str | Failed:
        """Where a link right here says that it leads, as text; it is not followed, so it may name what is outside."""
        if "/" in name or name in {"", ".", ".."}:
            return Failed("EINVAL")
        try:
            target = os.readlink(self._joined(name))  # noqa: PTH115  processes have thousands of them
            return target.encode("utf-8", "replace").decode("utf-8")
        except OSError as error:
            return _failed(error)
        except ValueError:
            return Failed("EINVAL")

    def folders(self, path: str = "") -> tuple[str, ...]:
        """Names in a folder that lead to folders, sorted; none if there is no such folder."""
        listed = self.names(path)
        if isinstance(listed, Failed):
            return ()
        prefix = f"{path}/" if path else ""
        return tuple(name for name in listed if self.folder(prefix + name) is not None)

    def _bytes(self, path: str, at_most: int) -> bytes:
        if "/" not in path and path not in {"", ".", ".."}:
            # Most reads by far: a file right here, which is no link. So no way there has to be resolved.
            try:
                return self.read(self._joined(path), at_most)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
        return self.read(self._inside(path), at_most)

    def _joined(self, path: str) -> str:
        return "/".join((self.root_path, *filter(None, (self.path, path))))

    def _inside(self, path: str) -> str:
        """The true path. Raises OSError(EXDEV) if it is not beneath the root."""
        full = os.path.realpath(self._joined(path) or "/")
        if full.rstrip("/") != self.root_path and not full.startswith(f"{self.root_path}/"):
            raise OSError(errno.EXDEV, "leads out of the root")
        return full


class Way:
    """How trees read their files unless they are told: a recording of a node has files that refuse."""

    read: Read = staticmethod(read_bytes)


WAY = Way()
"""This process's, for trees made from now on."""


def tree_at(root: str | Path, read: Read | None = None) -> Folder:
    """The tree that begins at a path."""
    return Folder(os.path.realpath(root).rstrip("/"), "", read or WAY.read)


def _failed(error: OSError) -> Failed:
    return Failed(errno.errorcode.get(error.errno or 0, "EIO"))
