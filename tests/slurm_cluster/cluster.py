"""A real Slurm of four nodes on this machine, for as long as a test runs: munge, one controller, several node daemons.

Everything lies in one temporary folder and listens on loopback alone, so nothing of the machine's own Slurm, if it has
one, is touched; no particular user is needed. The cards are links to /dev/null: Slurm asks for a device of that name,
and never opens it. There is no accounting database: sacct and limits come from recordings and made-up output elsewhere.
"""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.parts import where_is

NODES = 4
GPUS_EACH = 8
CPUS_EACH = 16
LICENCES = "solver:1,mesh:1,cad:2"
_START_S = 30.0
_STOP_S = 10.0

_CONFIG = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldDebug=verbose
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
SlurmdParameters=config_overrides
Licenses={licences}
KillWait=1
MailProg=/bin/true
{nodes}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=train Nodes=ALL Default=YES PriorityTier=1 MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=ALL PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
"""


class SlurmCluster:
    """The running cluster. `folder` holds its configuration, state, logs, and the output of its jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs = folder / "jobs"
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH", "SALLOC"))},
            "SLURM_CONF": str(folder / "slurm.conf"),
        }
        self._daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Returns once every node is ready for jobs. Raises RuntimeError, with the logs' ends, if that never comes."""
        self._write()
        folder = self.folder
        key = ("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket")
        self._begin(*key, f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log",
                    f"--seed-file={folder}/munge.seed")  # fmt: skip
        self.until("munge has its socket", (folder / "munge.socket").exists)
        self._begin("slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        for number in range(NODES):
            self._begin("slurmd", "-D", "-N", f"gpu-{number}", "-f", str(folder / "slurm.conf"))
        self.until("all nodes are idle", lambda: self.states() == ["idle"] * NODES)

    def stop(self) -> None:
        """Cancel what is left, and end every daemon and every process of a job; those that do not listen are killed."""
        if self.states():
            with contextlib.suppress(RuntimeError):  # whatever is left is killed below
                self.clear()
        deadline = time.monotonic() + _STOP_S
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()
        for pid in self._left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _left(self) -> list[int]:
        """Processes that still run with this cluster's configuration: steps whose daemon ended before them."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return sorted(found)

    def states(self) -> list[str]:
        """The state of every node, as sinfo says it."""
        rows = self.run("sinfo", "-h", "-N", "-p", "train", "-o", "%T", check=False)
        return rows.split()

    def run(self, *command: str, check: bool = True) -> str:
        """What a command of the cluster prints. Raises RuntimeError if it fails and `check` is set."""
        done = subprocess.run(  # noqa: S603  Slurm's own commands, with words of the tests
            [_path(command[0]), *command[1:]],
            env=self.environment, cwd=self.jobs, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def submit(self, name: str, script: str, *options: str) -> int:
        """Queue a batch script; the number of its job."""
        path = self.jobs / f"{name}.sh"
        path.write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return int(self.run("sbatch", "--parsable", f"--job-name={name}", *options, str(path)).split(";")[0])

    def state_of(self, job: int) -> str:
        """`RUNNING Licenses`: the job's state and reason; empty once Slurm has forgotten it."""
        return self.run("squeue", "-h", "-j", str(job), "-t", "all", "-o", "%T %r", check=False).strip()

    def named(self, name: str) -> list[int]:
        """Numbers of the jobs of that name that have not ended."""
        return sorted(int(each) for each in self.run("squeue", "-h", "-n", name, "-o", "%A").split())

    def clear(self) -> None:
        """Cancel everything, and wait until no job is left."""
        self.run("scancel", "--user", getpass.getuser(), check=False)
        self.until("the queue is empty", lambda: not self.run("squeue", "-h").strip(), _STOP_S)

    def _write(self) -> None:
        folder = self.folder
        (folder / "state").mkdir()
        self.jobs.mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        ports = _free_ports(NODES + 1)
        for number in range(NODES):
            (folder / f"spool-gpu-{number}").mkdir()
        host = socket.gethostname()
        lines = [
            f"NodeName=gpu-{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[number]} CPUs={CPUS_EACH} "
            f"RealMemory=1000 Gres=gpu:{GPUS_EACH} State=UNKNOWN"
            for number in range(NODES)
        ]
        values: Mapping[str, object] = {
            "host": host, "controller_port": ports[NODES], "user": getpass.getuser(), "folder": folder,
            "licences": LICENCES, "nodes": "\n".join(lines),
        }  # fmt: skip
        (folder / "slurm.conf").write_text(_CONFIG.format(**values), encoding="utf-8")
        for number in range(GPUS_EACH):
            (folder / f"card{number}").symlink_to(os.devnull)
        cards = f"NodeName=gpu-[0-{NODES - 1}] Name=gpu File={folder}/card[0-{GPUS_EACH - 1}]\n"
        (folder / "gres.conf").write_text(cards, encoding="utf-8")

    def _begin(self, program: str, *options: str) -> None:
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

    def until(self, what: str, holds: Callable[[], bool], limit_s: float = _START_S) -> None:
        """Wait until it holds. Raises RuntimeError, with the queue and the logs' ends, if it never does."""
        deadline = time.monotonic() + limit_s
        while not holds():
            ended = [daemon.args for daemon in self._daemons if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"it never came true that {what}; ended: {ended}\n{self._logs()}")
            time.sleep(0.2)

    def _logs(self) -> str:
        said = [self.run("squeue", "-a", check=False), self.run("sinfo", "-N", "-l", check=False)]
        logs = {path.name: path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("*.out"))}
        said += [f"--- {name}\n" + "\n".join(text.splitlines()[-8:]) for name, text in logs.items()]
        return "\n".join(said)


def _path(program: str) -> str:
    return where_is(program) or program


def _free_ports(count: int) -> Sequence[int]:
    """Ports of loopback that nobody listens on; all are held until all are found, so they differ."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
