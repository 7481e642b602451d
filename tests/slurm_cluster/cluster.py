"""A real Slurm of four nodes on this machine, for as long as a test runs: munge, one controller, several node daemons.

Everything lies in one temporary folder and listens on loopback alone, so nothing of the machine's own Slurm, if it has
one, is touched; no particular user is needed. The cards are links to /dev/null: Slurm asks for a device of that name,
and never opens it. There is no accounting database: sacct and limits come from recordings and made-up output elsewhere.
"""

import contextlib
import getpass
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.slurm_daemons import SlurmDaemons

NODES = 4
GPUS_EACH = 8
CPUS_EACH = 16
LICENCES = "solver:1,mesh:1,cad:2"
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


class SlurmCluster(SlurmDaemons):
    """The running cluster. `folder` holds its configuration, state, logs, and the output of its jobs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder / "jobs")
        self.jobs = folder / "jobs"

    def start(self) -> None:
        """Returns once every node is ready for jobs. Raises RuntimeError, with the logs' ends, if that never comes."""
        self._write()
        folder = self.folder
        self.begin_munge()
        self.begin("slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        for number in range(NODES):
            self.begin("slurmd", "-D", "-N", f"gpu-{number}", "-f", str(folder / "slurm.conf"))
        self.until("all nodes are idle", lambda: self.states() == ["idle"] * NODES)

    def stop(self) -> None:
        """Cancel what is left, and end every daemon and every process of a job; those that do not listen are killed."""
        if self.states():
            with contextlib.suppress(RuntimeError):  # whatever is left is killed below
                self.clear()
        self.end()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def states(self) -> list[str]:
        """The state of every node, as sinfo says it."""
        rows = self.run("sinfo", "-h", "-N", "-p", "train", "-o", "%T", check=False)
        return rows.split()

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
