"""Makes what Slurm's commands would print of a small cluster, in the forms and versions that differ."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from analyzer.codec.report import Report
from analyzer.run import replay

NOW = 1_796_045_600
"""When everything is printed: 2026-11-30T13:33:20Z."""


class Job(Struct, kw_only=True):
    """A job as a story tells it. It began, or was submitted, `ago` seconds before now."""

    id: int
    state: str = "PENDING"
    reason: str = "None"
    nodes: tuple[str, ...] = ()
    count: int = 1
    gpus: int = 0
    cpus: int = 1
    depends: str = ""
    licences: str = ""
    name: str = "job"
    user: str = "ada"
    qos: str = "normal"
    ago: int = 600
    limit: int | None = None
    session: int = 900
    line: str = "sbatch job.sh"
    array: tuple[int, str] | None = None
    throttle: int = 0
    het: tuple[int, int] | None = None
    exclusive: bool = False
    needs_nodes: tuple[str, ...] = ()
    partition: str = "train"
    planned: tuple[str, ...] = ()
    restarts: int = 0
    reservation: str = ""
    account: str = "science"

    @property
    def running(self) -> bool:
        return self.state in ("RUNNING", "COMPLETING")


class Node(Struct, kw_only=True):
    """A node with 8 cards and 64 processors."""

    name: str
    state: str = "IDLE"
    gpus: int = 8
    reason: str = ""


def stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def cluster(count: int = 4, **states: str) -> list[Node]:
    return [Node(name=f"gpu-{n}", state=states.get(f"gpu_{n}", "IDLE")) for n in range(count)]


def amounts(job: Job) -> str:
    count = len(job.nodes) or job.count
    cards = f",gres/gpu={job.gpus * count}" if job.gpus else ""
    memory = "" if job.running else ",mem=1000M"
    return f"cpu={job.cpus * count}{memory},node={count},billing=1{cards}"


def limit_text(job: Job) -> str:
    return "UNLIMITED" if job.limit is None else clock(job.limit)


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def scontrol_job(job: Job, *, one_line: bool = False) -> str:
    count = len(job.nodes) or job.count
    extra = f" ArrayJobId={job.array[0]} ArrayTaskId={job.array[1]}" if job.array else ""
    extra += f" ArrayTaskThrottle={job.throttle}" if job.throttle else ""
    extra += f" HetJobId={job.het[0]} HetJobOffset={job.het[1]}" if job.het else ""
    begun = stamp(NOW - job.ago) if job.state != "PENDING" else "Unknown"
    lines = [
        f"JobId={job.id}{extra} JobName={job.name}",
        f"UserId={job.user}(1000) GroupId={job.user}(1000) MCS_label=N/A",
        f"Priority=100 Nice=0 Account={job.account} QOS={job.qos}",
        f"JobState={job.state} Reason={job.reason.replace(' ', '_')} Dependency={job.depends or '(null)'}",
        f"Requeue=1 Restarts={job.restarts} BatchFlag=1 Reboot=0 ExitCode=0:0",
        f"RunTime={clock(job.ago if job.running else 0)} TimeLimit={limit_text(job)} TimeMin=N/A",
        f"SubmitTime={stamp(NOW - job.ago)} EligibleTime={stamp(NOW - job.ago)}",
        f"StartTime={begun} EndTime={'Unknown' if job.running or job.state == 'PENDING' else begun} Deadline=N/A",
        f"SuspendTime=None SecsPreSuspend=0 LastSchedEval={stamp(NOW - 5)} Scheduler=Main",
        f"Partition={job.partition} AllocNode:Sid=localhost:{job.session}",
        f"ReqNodeList={','.join(job.needs_nodes) or '(null)'} ExcNodeList=(null)",
        f"NodeList={','.join(job.nodes)}" + (f" SchedNodeList={','.join(job.planned)}" if job.planned else ""),
        f"BatchHost={job.nodes[0] if job.nodes else ''}",
        f"NumNodes={count}{'' if job.nodes else f'-{count}'} NumCPUs={job.cpus * count} NumTasks=1 CPUs/Task=1",
        f"TRES={amounts(job)}",
        "MinCPUsNode=1 MinMemoryCPU=1000M MinTmpDiskNode=0",
        f"Features=(null) Reservation={job.reservation or '(null)'} DelayBoot=00:00:00",
        f"OverSubscribe={'NO' if job.exclusive else 'OK'} Licenses={job.licences or '(null)'} Network=(null)",
        "Command=/scratch/ada/run.sh lr=0.1 JobId=7",
        "WorkDir=/scratch/ada",
        f"StdOut=/scratch/ada/job-{job.id}.out",
        f"TresPerNode=gres:gpu:{job.gpus}" if job.gpus else "Power=",
    ]  # fmt: skip
    return " ".join(lines) if one_line else "\n   ".join(lines)


def scontrol(jobs: Iterable[Job], *, one_line: bool = False) -> str:
    apart = "\n" if one_line else "\n\n"
    return apart.join(scontrol_job(job, one_line=one_line) for job in jobs) + "\n"


def _number(value: int | None, *, late: bool) -> object:
    if not late:
        return value
    return {"set": value is not None, "infinite": False, "number": value or 0}


def queue_json(jobs: Iterable[Job], *, late: bool = False) -> str:
    """`squeue --json` as 22.05 writes it, or as 23.11 and later do."""
    rows = []
    for job in jobs:
        count = len(job.nodes) or job.count
        begun = NOW - job.ago
        limit = _number(None if job.limit is None else job.limit // 60, late=late)
        if late and job.limit is None:
            limit = {"set": False, "infinite": True, "number": 0}
        task = job.array[1] if job.array else ""
        rows.append(
            {
                "account": job.account,
                "array_job_id": _number(job.array[0] if job.array else 0, late=late),
                "array_task_id": _number(int(task) if task.isdigit() else None, late=late),
                "array_task_string": "" if task.isdigit() else task,
                "array_max_tasks": _number(job.throttle, late=late),
                "batch_flag": True,
                "batch_host": job.nodes[0] if job.nodes else "",
                "cluster": "lab",
                "dependency": job.depends,
                "eligible_time": _number(begun, late=late),
                "end_time": _number(0 if job.running or job.state == "PENDING" else begun, late=late),
                "features": "",
                "gres_detail": [f"gpu:{job.gpus}(IDX:0)" for _ in job.nodes] if job.running and job.gpus else [],
                "job_id": job.id,
                "job_state": [job.state] if late else job.state,
                "last_sched_evaluation": _number(NOW - 5, late=late),
                "licenses": job.licences,
                "name": job.name,
                "nodes": ",".join(job.nodes),
                "cpus": _number(job.cpus * count, late=late),
                "node_count": _number(count, late=late),
                "tasks": _number(1, late=late),
                "het_job_id": _number(job.het[0] if job.het else 0, late=late),
                "het_job_offset": _number(job.het[1] if job.het else 0, late=late),
                "partition": job.partition,
                "memory_per_cpu": _number(1000, late=late),
                "minimum_cpus_per_node": _number(1, late=late),
                "priority": _number(100, late=late),
                "qos": job.qos,
                "required_nodes": ",".join(job.needs_nodes),
                "restart_cnt": job.restarts,
                "resv_name": job.reservation,
                "exclusive": ["true"] if job.exclusive else [],
                "start_time": _number(begun if job.state != "PENDING" else 0, late=late),
                "state_description": "",
                "state_reason": job.reason,
                "standard_output": "/scratch/ada/job-%j.out",
                "submit_time": _number(begun, late=late),
                "time_limit": limit,
                "tres_per_node": f"gres:gpu:{job.gpus}" if job.gpus else "",
                "tres_req_str": amounts(job),
                "tres_alloc_str": amounts(job) if job.running else "",
                "user_name": job.user,
            }
        )  # fmt: skip
    meta = {"slurm" if late else "Slurm": {"version": {"major": 24 if late else 22, "micro": 8, "minor": 5}}}
    document = {"jobs": rows, "meta": meta, "errors": []} if late else {"meta": meta, "errors": [], "jobs": rows}
    return json.dumps(document, indent=1).replace("/", "\\/")


SQUEUE = (
    *("JOBID", "NAME", "USER", "PARTITION", "STATE", "REASON", "NODES", "CPUS", "MIN_CPUS", "TRES_PER_NODE"),
    *("DEPENDENCY", "NODELIST", "LICENSES", "QOS", "ACCOUNT", "TIME", "TIME_LIMIT", "SUBMIT_TIME", "START_TIME"),
    *("REQ_NODES", "OVER_SUBSCRIBE", "RESERVATION"),
)


def squeue(jobs: Iterable[Job]) -> str:
    """`squeue -r -o` with bars."""
    rows = ["|".join(SQUEUE)]
    for job in jobs:
        count = len(job.nodes) or job.count
        shown = f"{job.het[0]}+{job.het[1]}" if job.het else str(job.id)
        if job.array:
            task = job.array[1] if job.array[1].isdigit() else f"[{job.array[1]}%{job.throttle}]"
            shown = f"{job.array[0]}_{task}"
        rows.append(
            "|".join(
                (shown, job.name, job.user, job.partition, job.state, job.reason, str(count), str(job.cpus * count),
                 "1", f"gres:gpu:{job.gpus}" if job.gpus else "N/A", job.depends or "(null)", ",".join(job.nodes),
                 job.licences or "(null)", job.qos, job.account, "10:00" if job.running else "0:00", limit_text(job),
                 stamp(NOW - job.ago), stamp(NOW - job.ago) if job.running else "N/A", ",".join(job.needs_nodes),
                 "NO" if job.exclusive else "OK", job.reservation or "(null)")
            )
        )  # fmt: skip
    return "\n".join(rows) + "\n"


def sacct(jobs: Iterable[Job]) -> str:
    rows = ["JobID|JobIDRaw|JobName|User|Account|Cluster|State|Submit|Start|End|NNodes|ReqTRES|SubmitLine"]
    for job in jobs:
        shown = f"{job.array[0]}_{job.array[1]}" if job.array else str(job.id)
        begun = stamp(NOW - job.ago)
        started = begun if job.state != "PENDING" else "Unknown"
        ended = "Unknown" if job.running or job.state == "PENDING" else begun
        rows.append(
            f"{shown}|{job.id}|{job.name}|{job.user}|science|lab|{job.state}|{begun}|{started}|{ended}|{job.count}|"
            f"{amounts(job)}|{job.line}"
        )
        if job.running:
            rows.append(f"{shown}.batch|{job.id}.batch|batch||science|lab|{job.state}|{begun}|{begun}|Unknown|1||")
    return "\n".join(rows) + "\n"


def nodes_text(nodes: Iterable[Node]) -> str:
    blocks = [
        f"NodeName={node.name} Arch=x86_64 CoresPerSocket=1 \n   CPUAlloc=0 CPUEfctv=64 CPUTot=64 CPULoad=0.10\n"
        f"   AvailableFeatures=(null)\n   ActiveFeatures=(null)\n   Gres=gpu:{node.gpus}\n"
        f"   NodeAddr={node.name} NodeHostName={node.name} Port=6818 Version=22.05.8\n   RealMemory=200000 AllocMem=0\n"
        f"   State={node.state} ThreadsPerCore=1\n   Partitions=train \n"
        + (f"   Reason={node.reason} [root@2026-11-30T13:00:00]\n" if node.reason else "")
        for node in nodes
    ]
    return "\n".join(blocks)


def nodes_json(nodes: Iterable[Node], *, late: bool = False) -> str:
    rows: list[dict[str, object]] = []
    for node in nodes:
        words = node.state.split("+")
        row: dict[str, object] = {
            "name": node.name, "hostname": node.name, "address": node.name, "cpus": 64, "real_memory": 200000,
            "gres": f"gpu:{node.gpus}", "partitions": ["train"], "active_features": [] if late else "",
            "reason": node.reason, "tres": f"cpu=64,mem=200000M,gres/gpu={node.gpus}",
        }  # fmt: skip
        row["state"] = words if late else words[0].lower()
        if not late:
            row["state_flags"] = words[1:]
        rows.append(row)
    return json.dumps({"meta": {"plugin": {"type": "openapi/v0.0.38"}}, "errors": [], "nodes": rows}, indent=2)


def groups_json(nodes: Sequence[Node]) -> str:
    """`sinfo --json` since 23.02: one entry for each group of nodes that are alike."""
    rows = [
        {
            "node": {"state": node.state.split("+")},
            "nodes": {"allocated": 0, "idle": 1, "total": 1, "nodes": [node.name]},
            "cpus": {"minimum": 64, "maximum": 64},
            "memory": {"minimum": 200000, "maximum": 200000},
            "gres": {"total": f"gpu:{node.gpus}", "used": "gpu:0"},
            "features": {"total": "", "active": ""},
            "reason": {"description": node.reason},
            "partition": {"name": "train", "nodes": {"configured": ",".join(each.name for each in nodes)}},
        }
        for node in nodes
    ]
    return json.dumps({"sinfo": rows, "meta": {"slurm": {"release": "24.05.1"}}, "errors": []}, indent=2)


def sinfo(nodes: Iterable[Node]) -> str:
    """`sinfo -N -o '%N|%P|%c|%m|%G|%T|%E'`."""
    short = {"IDLE": "idle", "IDLE+DRAIN": "drained", "DOWN+DRAIN": "drained*", "DOWN+REBOOT_ISSUED": "down^"}
    rows = ["NODELIST|PARTITION|CPUS|MEMORY|GRES|STATE|REASON"]
    for node in nodes:
        state = short.get(node.state, "idle~")
        rows.append(f"{node.name}|train*|64|200000|gpu:{node.gpus}|{state}|{node.reason or 'none'}")
    return "\n".join(rows) + "\n"


def partition(nodes: Iterable[Node], name: str = "train", *, tier: int = 1, preempt_mode: str = "OFF") -> str:
    return (
        f"PartitionName={name}\n   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n"
        f"   Nodes={','.join(node.name for node in nodes)}\n   PriorityTier={tier} OverSubscribe=NO\n"
        f"   OverTimeLimit=NONE PreemptMode={preempt_mode}\n   State=UP TotalCPUs=256\n\n"
    )


def licences(**totals: int) -> str:
    return "".join(
        f"LicenseName={name}\n    Total={total} Used=0 Free=0 Reserved=0 Remote=no\n" for name, total in totals.items()
    )


def reservation(name: str, *nodes: str, state: str = "ACTIVE") -> str:
    return (
        f"ReservationName={name} StartTime={stamp(NOW - 3600)} EndTime={stamp(NOW + 86400)} Duration=1-01:00:00\n"
        f"   Nodes={','.join(nodes)} NodeCnt={len(nodes)} CoreCnt={64 * len(nodes)} Features=(null) "
        "PartitionName=train Flags=SPEC_NODES\n   TRES=cpu=64\n"
        f"   Users=ada Groups=(null) Accounts=(null) Licenses=(null) State={state} BurstBuffer=(null) Watts=n/a\n\n"
    )


def associations(*rows: tuple[str, str, str]) -> str:
    """`sacctmgr show assoc -P`: (account, user, limit) where a limit is `COLUMN=value`."""
    names = ["Cluster", "Account", "User", "Partition", "ParentName", "GrpTRES", "GrpJobs", "MaxTRES", "MaxJobs"]
    lines = ["|".join(names)]
    for account, user, limit in rows:
        column, _, value = limit.partition("=")
        cells = {
            "Cluster": "lab",
            "Account": account,
            "User": user,
            "ParentName": "" if user else "root",
            column: value,
        }
        lines.append("|".join(cells.get(name, "") for name in names))
    return "\n".join(lines) + "\n"


def qos(**limits: str) -> str:
    """`sacctmgr show qos -P`: each value is `COLUMN=limit`."""
    names = ["Name", "Priority", "Preempt", "GrpTRES", "GrpJobs", "MaxTRES", "MaxJobsPU"]
    rows = ["|".join(names)]
    for name, limit in limits.items():
        column, _, value = limit.partition("=")
        rows.append("|".join(name if each == "Name" else value if each == column else "" for each in names))
    return "\n".join(rows) + "\n"


def processes(*rows: tuple[int, int, int, str]) -> str:
    """(pid, parent, session, command)."""
    lines = [f"{pid:>5} {parent:>5} {session:>5} S        157 {command}" for pid, parent, session, command in rows]
    return "\n".join(["  PID  PPID  SESS STAT ELAPSED COMMAND", *lines]) + "\n"


def moved(text: str, by_s: int) -> str:
    """The same output as it is printed so much later, nothing else having changed: when it began stays what it was.

    Only what tells of the moment itself moves: the last look of the scheduler, and how long a job has run.
    """
    looked = NOW - 5
    text = text.replace(f"LastSchedEval={stamp(looked)}", f"LastSchedEval={stamp(looked + by_s)}")
    text = text.replace(str(looked), str(looked + by_s))
    return re.sub(
        r"RunTime=(\d\d):(\d\d):(\d\d)(?= TimeLimit)",
        lambda ran: f"RunTime={clock(int(ran[1]) * 3600 + int(ran[2]) * 60 + int(ran[3]) + by_s)}",
        text,
    )


Files = Mapping[str, str]


def all_forms(jobs: Sequence[Job], nodes: Sequence[Node], extra: Files | None = None) -> dict[str, dict[str, str]]:
    """The same moment in every form; each of them suffices for what stands in jobs and nodes."""
    more = dict(extra or {})
    return {
        "scontrol": {"a": scontrol(jobs), "b": nodes_text(nodes), "c": partition(nodes), **more},
        "one line": {"a": scontrol(jobs, one_line=True), "b": nodes_text(nodes), **more},
        "22.05 json": {"a": queue_json(jobs), "b": nodes_json(nodes), **more},
        "24.05 json": {"a": queue_json(jobs, late=True), "b": nodes_json(nodes, late=True), **more},
        "sinfo json": {"a": queue_json(jobs, late=True), "b": groups_json(nodes), **more},
        "squeue": {"a": squeue(jobs), "b": nodes_text(nodes), "c": partition(nodes), **more},
        "sinfo": {"a": queue_json(jobs), "b": sinfo(nodes), **more},
        "one file": {"a": "\n".join([scontrol(jobs), nodes_text(nodes), partition(nodes), *more.values()])},
        "everything": {
            "a": scontrol(jobs), "b": nodes_text(nodes), "c": partition(nodes), "d": queue_json(jobs),
            "e": nodes_json(nodes), "f": squeue(jobs), **more,
        },
    }  # fmt: skip


def replayed(folder: Path, files: Files) -> Report:
    """Write the files and replay them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return replay([str(folder)]).report


def found(report: Report) -> list[tuple[str, tuple[str, ...]]]:
    """Verdict and members of every finding, members by their last part; sorted."""
    return sorted(
        (str(finding.verdict), tuple(member.rpartition("/")[2] for member in finding.members))
        for finding in report.findings
    )
