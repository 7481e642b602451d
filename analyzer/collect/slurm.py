"""What to collect of Slurm: the same commands that docs/slurm.md asks for by hand.

All of them only read. They work for any user; what only an operator may see (the controller's log, other people's
accounting) is optional. Of other people's processes only those of Slurm are written with their arguments, and of job
comments nothing is asked for where the command lets one choose.
"""

from analyzer.collect.command import Command, Redaction

LOG_BYTES_MAX = 16 << 20
"""How much of the controller's log is taken, from its end: some days of a busy cluster, and no burden for it."""

ACCOUNTED = "now-2days"
"""From when on sacct lists jobs. Jobs that wait or run are listed whenever they began."""

_ACCOUNTING = (
    *("JobID", "JobIDRaw", "JobName", "User", "Account", "Cluster", "Partition", "QOS", "State", "Submit"),
    *("Eligible", "Start", "End", "Elapsed", "Timelimit", "NNodes", "NodeList", "ReqCPUS", "AllocCPUS", "ReqTRES"),
    *("AllocTRES", "Reservation", "Constraints", "Priority", "ExitCode", "SubmitLine"),
)
_QOS = (
    *("Name", "Priority", "Preempt", "PreemptMode", "GraceTime", "Flags", "GrpTRES", "GrpJobs", "GrpSubmit", "MaxTRES"),
    *("MaxTRESPerNode", "MaxTRESPU", "MaxTRESPA", "MaxJobsPU", "MaxJobsPA", "MaxWall", "MinTRES"),
)
_ASSOCIATIONS = (
    *("Cluster", "Account", "User", "Partition", "ParentName", "GrpTRES", "GrpJobs", "MaxTRES", "MaxTRESPerNode"),
    *("MaxJobs", "MaxWall", "QOS"),
)
# All that `%all` has, but what users write of their jobs (comment, command, folder).
_QUEUE = "|".join(f"%{letter}" for letter in "iAPjuaqTrDCcmbENWvMlVSenxhQYfB")
# A machine may play several nodes, and each has a list of its own.
_PIDS = (
    'for node in $(scontrol show aliases "$(hostname -s)"); do scontrol listpids "*" "$node"; done 2>/dev/null; true'
)
# Arguments of programs that are none of Slurm's stay where they are: people write passwords there.
_PROCESSES = (
    "ps -eo pid,ppid,sess,stat,etimes,args | "
    "awk 'NR == 1 || /slurmstepd|slurm_script|sbatch|srun|salloc/ { print; next } { print $1, $2, $3, $4, $5, $6 }'"
)
_LOG = (
    "path=$(scontrol show config | sed -n 's/^SlurmctldLogFile *= *//p'); "
    f'test -r "$path" && tail -c {LOG_BYTES_MAX} "$path"'
)


def _command(
    file: str, *argv: str, optional: bool = False, redact: Redaction = Redaction.LINES, timeout_s: int = 60
) -> Command:
    return Command(file=file, argv=argv, redact=redact, optional=optional, timeout_s=timeout_s)


COMMANDS: tuple[Command, ...] = (
    _command("squeue.txt", "squeue", "-a", "-r", "-o", _QUEUE),
    _command("squeue.json", "squeue", "-a", "--json", optional=True, redact=Redaction.JSON),
    _command("squeue-steps.txt", "squeue", "-a", "-s", optional=True),
    _command("scontrol-job.txt", "scontrol", "-a", "-d", "show", "job"),
    _command("scontrol-node.txt", "scontrol", "-a", "-d", "show", "node"),
    _command("sinfo.txt", "sinfo", "-a", "-N", "-o", "%N|%P|%c|%m|%G|%T|%E"),
    _command("sinfo.json", "sinfo", "-a", "--json", optional=True, redact=Redaction.JSON),
    _command("scontrol-partition.txt", "scontrol", "-a", "show", "partition"),
    _command("scontrol-reservation.txt", "scontrol", "show", "reservation"),
    _command("scontrol-licenses.txt", "scontrol", "show", "licenses"),
    _command("scontrol-step.txt", "scontrol", "-a", "show", "step"),
    _command("scontrol-config.txt", "scontrol", "show", "config"),
    _command("scontrol-assoc-mgr.txt", "scontrol", "show", "assoc_mgr", optional=True),
    _command("sdiag.txt", "sdiag"),
    _command("sprio.txt", "sprio", "-l", optional=True),
    _command("sacctmgr-qos.psv", "sacctmgr", "-P", "show", "qos", f"format={','.join(_QOS)}", optional=True),
    _command("sacctmgr-assoc.psv", "sacctmgr", "-P", "show", "assoc", f"format={','.join(_ASSOCIATIONS)}",
             optional=True),
    _command("sacct.psv", "sacct", "-a", "-D", "-P", "-S", ACCOUNTED, "-o", ",".join(_ACCOUNTING), optional=True,
             timeout_s=120),
    _command("scontrol-listpids.txt", "sh", "-c", _PIDS, optional=True),
    _command("ps.txt", "sh", "-c", _PROCESSES, optional=True),
    _command("slurmctld.log", "sh", "-c", _LOG, optional=True),
)  # fmt: skip
"""Everything of one cluster, as seen from the machine on which it is called."""
