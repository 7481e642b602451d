"""Real programs that tests drive: whether they are here, what to install, and which of them may not be missing.

A test that needs one says `@pytest.mark.needs("slurm")`. Where the part is missing the test is skipped with the part's
name; if KNOTWATCH_REQUIRE (names with commas between) has that name, it fails instead, so that CI cannot go quiet.

`python -m tests.parts` installs the Debian packages that are missing, if it may, and says what is missing if not.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from tests.control_plane import binaries, kueue

REQUIRE = "KNOTWATCH_REQUIRE"
_SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Daemons lie there, and an ordinary user's PATH lacks them."""
_INSTALL_WITHIN_S = 600


class Debian(Struct, frozen=True, kw_only=True):
    """A part that Debian packages bring. `programs` are what tells that it is there."""

    programs: tuple[str, ...]
    packages: tuple[str, ...]

    def missing(self) -> str | None:
        absent = [name for name in self.programs if where_is(name) is None]
        if not absent:
            return None
        return f"{', '.join(absent)} not found: apt-get install {' '.join(self.packages)}."


DEBIAN: Mapping[str, Debian] = {
    "openssl": Debian(programs=("openssl",), packages=("openssl",)),
    "slurm": Debian(
        programs=("slurmctld", "slurmd", "munged", "squeue", "sinfo", "scontrol"),
        packages=("slurmctld", "slurmd", "slurm-client", "munge"),
    ),
    "c-compiler": Debian(programs=("cc",), packages=("gcc", "libc6-dev")),  # a driver library of ours for pynvml
    "prometheus": Debian(programs=("prometheus", "promtool"), packages=("prometheus",)),
    "chromium": Debian(programs=("chromium",), packages=("chromium",)),
    "node-exporter": Debian(programs=("prometheus-node-exporter",), packages=("prometheus-node-exporter",)),
}

MISSING: Mapping[str, Callable[[], str | None]] = {
    "control-plane": lambda: binaries.missing(*binaries.CONTROL_PLANE) or DEBIAN["openssl"].missing(),
    "kueue": kueue.unusable,
    "gpu": lambda: None if Path("/dev/nvidiactl").exists() else "no NVIDIA GPU with its driver on this machine.",
    **{name: part.missing for name, part in DEBIAN.items()},
}
"""For each part what is missing, as a sentence; None if it is there."""


def where_is(name: str) -> str | None:
    """The path of a program, also where only root's PATH leads."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(_SYSTEM_FOLDERS))


def required() -> frozenset[str]:
    """The parts that may not be missing. Raises ValueError for a name that is none."""
    named = frozenset(part.strip() for part in os.environ.get(REQUIRE, "").split(",") if part.strip())
    unknown = sorted(named - MISSING.keys())
    if unknown:
        raise ValueError(f"{REQUIRE}: {', '.join(unknown)} is no part; known are {', '.join(MISSING)}")
    return named


def main() -> int:
    """Install what is missing, if that can be done here. Never fails: tests skip by name, or CI fails on that."""
    packages = sorted({package for part in DEBIAN.values() if part.missing() for package in part.packages})
    if not packages:
        return 0
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        _say(f"tests that need them are skipped; to run them too: apt-get install {' '.join(packages)}")
        return 0
    _say(f"installing {' '.join(packages)} ...")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *packages]
    for step in (["apt-get", "update", "--quiet"], install):
        try:
            done = subprocess.run(  # noqa: S603  apt-get with names from the table above
                step, env=environment, capture_output=True, text=True, check=False, timeout=_INSTALL_WITHIN_S
            )
        except subprocess.TimeoutExpired:
            _say(f"`{' '.join(step[:2])}` did not end within {_INSTALL_WITHIN_S} s; going on without.")
            return 0
        if done.returncode:
            _say(f"`{' '.join(step[:2])}` failed, going on without: {(done.stderr or done.stdout).strip()[-600:]}")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"parts for tests: {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
