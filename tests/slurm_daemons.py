"""Slurm's daemons below one temporary folder: begun, asked, waited for and ended. What they serve is the user's."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.parts import where_is

_START_S = 30.0
_STOP_S = 10.0


class SlurmDaemons:
    """Daemons that share `slurm.conf` in `folder`. `workplace`: where Slurm's commands are run."""

    def __init__(self, folder: Path, workplace: Path) -> None:
        self.folder = folder
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH", "SALLOC"))},
            "SLURM_CONF": str(folder / "slurm.conf"),
        }
        self._workplace = workplace
        self._daemons: list[subprocess.Popen[bytes]] = []

    def begin_munge(self) -> None:
        """Make a key, and start munge. Returns once it has its socket."""
        folder = self.folder
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.begin(
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        self.until("munge has its socket", (folder / "munge.socket").exists)

    def begin(self, program: str, *options: str) -> None:
        """Start a daemon; what it prints stands in a file of the folder."""
        # util-linux; without it a killed test run leaves the daemons behind.
        leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        log = (self.folder / f"{program}-{len(self._daemons)}.out").open("wb")
        with log:
            self._daemons.append(
                subprocess.Popen(  # noqa: S603  Slurm's own daemons
                    [*leash, _path(program), *options],
                    env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )
            )  # fmt: skip

    def end(self) -> None:
        """End every daemon; those that do not listen are killed."""
        deadline = time.monotonic() + _STOP_S
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()

    def processes(self) -> list[int]:
        """Processes that run with this configuration, be it steps whose daemon ended before them."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return sorted(found)

    def run(self, *command: str, check: bool = True) -> str:
        """What a command of Slurm prints. Raises RuntimeError if it fails and `check` is set."""
        done = subprocess.run(  # noqa: S603  Slurm's own commands, with words of the tests
            [_path(command[0]), *command[1:]],
            env=self.environment, cwd=self._workplace, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def until(self, what: str, holds: Callable[[], bool], limit_s: float = _START_S) -> None:
        """Wait until it holds. Raises RuntimeError, with the queue and the logs' ends, if it never does."""
        deadline = time.monotonic() + limit_s
        while not holds():
            ended = [daemon.args for daemon in self._daemons if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"it never came true that {what}; ended: {ended}\n{self._logs()}")
            time.sleep(0.1)

    def _logs(self) -> str:
        said = [self.run("squeue", "-a", check=False), self.run("sinfo", "-N", "-l", check=False)]
        files = [*sorted(self.folder.glob("*.out")), *sorted(self.folder.glob("slurm*.log"))]
        logs = {path.name: path.read_text("utf-8", "replace") for path in files}
        said += [f"--- {name}\n" + "\n".join(text.splitlines()[-8:]) for name, text in logs.items()]
        return "\n".join(said)


def _path(program: str) -> str:
    return where_is(program) or program
