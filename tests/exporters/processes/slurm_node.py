"""A real Slurm of one node whose jobs are put into device cgroups of version 1, with our prolog and epilog.

It lies in a temporary folder and listens on loopback alone, as the cluster of `tests/slurm_cluster` does, of which it
is a smaller kin: that one has four nodes and no cgroups. The cards are device files of the real driver's numbers, with
no driver behind them: slurmd asks for their numbers, and never opens them.
"""

import contextlib
import getpass
import os
import socket
import stat
from pathlib import Path

from tests.slurm_daemons import SlurmDaemons

GPUS = 4
NVIDIA_MAJOR = 195
CGROUPS = Path("/sys/fs/cgroup")
DEPLOY = Path(__file__).resolve().parents[3] / "deploy" / "slurm"

_CONFIG = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
SlurmdParameters=config_overrides
PrologFlags=Alloc
Prolog={folder}/prolog.sh
Epilog={folder}/epilog.sh
KillWait=1
MailProg=/bin/true
NodeName=gpu-0 NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs=16 RealMemory=1000 Gres=gpu:{gpus}
PartitionName=train Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

_CGROUP = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint={mount}
CgroupAutomount=no
ConstrainDevices=yes
"""


def unusable(folder: Path) -> str | None:
    """Why jobs cannot be put into device cgroups here, as a sentence; None if they can."""
    if os.geteuid() != 0:
        return "only root may make cgroups and device files."
    for hierarchy in ("devices", "freezer"):
        if not (CGROUPS / hierarchy / "cgroup.procs").exists() or not os.access(CGROUPS / hierarchy, os.W_OK):
            return f"there is no cgroup hierarchy {hierarchy} of version 1 to write to."
    try:
        os.mknod(folder / "probe", stat.S_IFCHR | 0o666, os.makedev(NVIDIA_MAJOR, 0))
    except OSError as error:
        return f"no device files can be made: {error.strerror}."
    return None


class SlurmNode(SlurmDaemons):
    """The running node. `jobs`: the folder into which the prolog writes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder)
        self.jobs = folder / "gpustat"

    def start(self) -> None:
        """Returns once the node is ready for jobs."""
        folder = self.folder
        self._write()
        self.begin_munge()
        self.begin("slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        self.begin("slurmd", "-D", "-N", "gpu-0", "-f", str(folder / "slurm.conf"))
        self.until("the node is idle", lambda: self.run("sinfo", "-h", "-o", "%T", check=False).split() == ["idle"])

    def stop(self) -> None:
        """Cancel what is left, end the daemons, and take their cgroups away."""
        with contextlib.suppress(RuntimeError):
            self.run("scancel", "--user", getpass.getuser(), check=False)
            self.until("no job is left", lambda: not self.run("squeue", "-h", check=False).split())
        self.end()
        for hierarchy in ("devices", "freezer"):
            for path in sorted((CGROUPS / hierarchy).glob("slurm_gpu-0/**/"), reverse=True):
                with contextlib.suppress(OSError):
                    path.rmdir()

    def submit(self, script: str, *options: str) -> int:
        """Queue a batch script; the number of its job."""
        path = self.folder / "job.sh"
        path.write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
        return int(self.run("sbatch", "--parsable", "--output=/dev/null", *options, str(path)).split(";")[0])

    def _write(self) -> None:
        folder = self.folder
        for name in ("state", "spool"):
            (folder / name).mkdir()
        for number in range(GPUS):
            os.mknod(folder / f"nvidia{number}", stat.S_IFCHR | 0o666, os.makedev(NVIDIA_MAJOR, number))
        for script in ("prolog.sh", "epilog.sh"):
            # Slurm gives these scripts an environment of its own, so the folder is told in the text.
            text = (DEPLOY / script).read_text(encoding="utf-8").replace("/run/gpustat", str(self.jobs))
            (folder / script).write_text(text, encoding="utf-8")
            (folder / script).chmod(0o755)
        with contextlib.ExitStack() as stack:
            ports = []
            for _ in range(2):
                listener = stack.enter_context(socket.socket())
                listener.bind(("127.0.0.1", 0))
                ports.append(listener.getsockname()[1])
        config = _CONFIG.format(
            host=socket.gethostname().partition(".")[0], port=ports[0], node_port=ports[1],
            user=getpass.getuser(), folder=folder, gpus=GPUS,
        )  # fmt: skip
        (folder / "slurm.conf").write_text(config, encoding="utf-8")
        (folder / "gres.conf").write_text(f"NodeName=gpu-0 Name=gpu File={folder}/nvidia[0-{GPUS - 1}]\n")
        (folder / "cgroup.conf").write_text(_CGROUP.format(mount=CGROUPS), encoding="utf-8")
