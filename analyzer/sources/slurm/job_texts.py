"""One job out of text: a block of `scontrol show job`, a row of squeue, a row of sacct."""

import re
from collections.abc import Mapping

from analyzer.model.events import Citation
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.hostlists import expand, numbers
from analyzer.sources.slurm.keyvalues import leading_number, node_details, pairs
from analyzer.sources.slurm.records import JobRecord
from analyzer.sources.slurm.states import given, job_state
from analyzer.sources.slurm.tables import Row
from analyzer.sources.slurm.times import duration_s, moment_ns
from analyzer.sources.slurm.tres import gres, memory_bytes, tres

SCONTROL, SQUEUE, SACCT = "scontrol show job", "squeue", "sacct"

_JOB = re.compile(r"(\d{1,10})(?:_(\d{1,9}|\[[\d,\-:%]*(?:\.\.\.)?\]?)|\+(\d{1,6}))?")
_USER = re.compile(r"([^()]+)\(\d+\)")


class JobName(dict[str, int | str]):
    """What a job is called by, as fields of a record: raw_id, array_id, array_tasks, het_id, het_offset, throttle."""


def job_name(text: str, raw: str = "") -> JobName | None:
    """`5700`, `5701_8`, `5701_[10-15%2]`, `5502+1`, with the raw id where the form gives it; None if it is none."""
    found = _JOB.fullmatch(text.strip())
    if found is None:
        return None
    name = JobName()
    if is_whole(raw):
        name["raw_id"] = int(raw)
    first, task, offset = found.groups()
    if task is not None:
        name["array_id"] = int(first)
        name["array_tasks"] = task.strip("[]").partition("%")[0]
        throttle = re.search(r"%(\d{1,6})", task)
        if throttle is not None:
            name["throttle"] = int(throttle[1])
    elif offset is not None:
        name["het_id"], name["het_offset"] = int(first), int(offset)
    else:
        name.setdefault("raw_id", int(first))
    return name


def from_scontrol(block: str, citation: Citation) -> JobRecord | str:
    """The job of one block; in words what is wrong with it if it cannot be used."""
    said = pairs(block)
    raw = said.get("JobId", "").split(" ")[0]
    if not is_whole(raw) or len(raw) > 10:
        return f"JobId={raw[:30]} is no job id: this job is left out."
    state = job_state(said.get("JobState", ""))
    if state is None:
        return f"job {raw} has no JobState that is known: it is left out."
    allocated = state != "PENDING"
    amounts = tres(said.get("AllocTRES") or (said.get("TRES", "") if allocated else ""))
    requested = tres(said.get("ReqTRES") or ("" if allocated else said.get("TRES", "")))
    host, _, session = said.get("AllocNode:Sid", "").rpartition(":")
    tasks = given(said.get("ArrayTaskId"))
    return JobRecord(
        form=SCONTROL,
        citation=citation,
        raw_id=int(raw),
        array_id=leading_number(said.get("ArrayJobId")) if tasks else None,
        array_tasks=tasks.partition("%")[0] if tasks else None,
        throttle=leading_number(said.get("ArrayTaskThrottle")),
        het_id=leading_number(said.get("HetJobId")),
        het_offset=leading_number(said.get("HetJobOffset")),
        name=said.get("JobName"),
        user=_user(said.get("UserId")),
        account=given(said.get("Account")),
        qos=given(said.get("QOS")),
        partition=given(said.get("Partition")),
        state=state,
        reason=said.get("Reason"),
        dependency=given(said.get("Dependency")) or "",
        submit_ns=moment_ns(said.get("SubmitTime", "")),
        eligible_ns=moment_ns(said.get("EligibleTime", "")),
        start_ns=moment_ns(said.get("StartTime", "")),
        end_ns=moment_ns(said.get("EndTime", "")),
        looked_ns=moment_ns(said.get("LastSchedEval", "")),
        limit_s=duration_s(said.get("TimeLimit", "")),
        run_s=duration_s(said.get("RunTime", "")) if allocated else None,
        nodes=expand(said.get("NodeList", "")),
        planned_nodes=expand(said.get("SchedNodeList", "")),
        required_nodes=expand(said.get("ReqNodeList", "")),
        excluded_nodes=expand(said.get("ExcNodeList", "")),
        node_count=leading_number(said.get("NumNodes")),
        cpus=leading_number(said.get("NumCPUs")),
        task_count=leading_number(said.get("NumTasks")),
        cpus_each_node=leading_number(said.get("MinCPUsNode")),
        memory_each_node=memory_bytes(said.get("MinMemoryNode", "")) or None,
        memory_each_cpu=memory_bytes(said.get("MinMemoryCPU", "")) or None,
        requested=requested or None,
        allocated=amounts or None,
        gres_each_node=gres(said.get("TresPerNode", "")),
        gres_in_all=gres(said.get("TresPerJob", "")),
        gres_each_task=gres(said.get("TresPerTask", "")),
        each_node=_each_node(block) or None,
        licences=given(said.get("Licenses")) or "",
        reservation=given(said.get("Reservation")) or "",
        features=given(said.get("Features")) or "",
        exclusive=said.get("OverSubscribe") in ("NO", "EXCLUSIVE"),
        priority=leading_number(said.get("Priority")),
        batch=said.get("BatchFlag") == "1" if "BatchFlag" in said else None,
        batch_host=given(said.get("BatchHost")),
        from_host=host or None,
        from_session=leading_number(session),
        submit_line=given(said.get("SubmitLine")),
        output=given(said.get("StdOut")),
        restarts=leading_number(said.get("Restarts")),
    )


def from_squeue(row: Row, citation: Citation) -> JobRecord | str:
    """The job of a row of squeue, with whatever columns were asked for."""
    cells = row.cells
    shown = [value for name, value in row.every if name == "JOBID"]
    text = shown[0] if shown else cells.get("ARRAY_JOB_ID", "")
    raw = shown[1] if len(shown) > 1 else cells.get("JOBID_RAW", "")
    name = job_name(text, raw)
    if name is None:
        return f"{text[:30] or 'nothing'} is no job id: this row is left out."
    state = job_state(cells.get("STATE") or cells.get("ST") or cells.get("STATECOMPACT") or "")
    if state is None:
        return f"job {text[:30]} has no state that is known: it is left out."
    where = cells.get("NODELIST(REASON)", "")
    bracketed = where.startswith("(")
    nodes = expand(cells.get("NODELIST", "") or ("" if bracketed else where))
    reason = cells.get("REASON") or (where.strip("()") if bracketed else None)
    running = state != "PENDING"
    priorities = [value for label, value in row.every if label.startswith("PRIORITY") and "." not in value]
    return JobRecord(
        form=SQUEUE,
        citation=citation,
        **name,  # type: ignore[arg-type]  # the fields that JobName names, with their types
        cluster=given(cells.get("CLUSTER")),
        name=cells.get("NAME"),
        user=given(cells.get("USER")),
        account=given(cells.get("ACCOUNT")),
        qos=given(cells.get("QOS")),
        partition=given(cells.get("PARTITION")),
        state=state,
        reason=reason,
        dependency=(given(cells["DEPENDENCY"]) or "") if "DEPENDENCY" in cells else None,
        submit_ns=moment_ns(cells.get("SUBMIT_TIME", "")),
        start_ns=moment_ns(cells.get("START_TIME", "")) if running else None,
        end_ns=moment_ns(cells.get("END_TIME", "")) if running else None,
        limit_s=duration_s(cells.get("TIME_LIMIT") or cells.get("TIME_LIMI") or cells.get("TIMELIMIT") or ""),
        run_s=duration_s(cells.get("TIME", "")) if running else None,
        nodes=nodes if running else (),
        planned_nodes=expand(cells["SCHEDNODES"]) if "SCHEDNODES" in cells else None,
        required_nodes=expand(cells["REQ_NODES"]) if "REQ_NODES" in cells else None,
        excluded_nodes=expand(cells["EXC_NODES"]) if "EXC_NODES" in cells else None,
        node_count=leading_number(cells.get("NODES")),
        cpus=leading_number(cells.get("CPUS")),
        cpus_each_node=leading_number(cells.get("MIN_CPUS")),
        gres_each_node=_gres_cell(cells, "TRES_PER_NODE", "GRES"),
        gres_in_all=_gres_cell(cells, "TRES_PER_JOB"),
        gres_each_task=_gres_cell(cells, "TRES_PER_TASK"),
        allocated=(tres(cells["TRES_ALLOC"]) or None) if "TRES_ALLOC" in cells and running else None,
        licences=(given(cells["LICENSES"]) or "") if "LICENSES" in cells else None,
        reservation=(given(cells["RESERVATION"]) or "") if "RESERVATION" in cells else None,
        features=(given(cells["FEATURES"]) or "") if "FEATURES" in cells else None,
        exclusive=(cells["OVER_SUBSCRIBE"] in ("NO", "EXCLUSIVE")) if "OVER_SUBSCRIBE" in cells else None,
        priority=leading_number(priorities[-1] if priorities else ""),
    )


def from_sacct(row: Row, citation: Citation) -> JobRecord | str | None:
    """The job of a row of sacct; None for a step. Its reason is that of some earlier time, so it is not taken."""
    cells = row.cells
    shown = cells.get("JOBID", "") or cells.get("JOBIDRAW", "")
    if "." in shown:
        return None
    name = job_name(shown, cells.get("JOBIDRAW", ""))
    if name is None:
        return f"{shown[:30] or 'nothing'} is no job id: this row is left out."
    state = job_state(cells.get("STATE", ""))
    if state is None:
        return f"job {shown[:30]} has no state that is known: it is left out."
    running = state != "PENDING"
    return JobRecord(
        form=SACCT,
        citation=citation,
        **name,  # type: ignore[arg-type]  # the fields that JobName names, with their types
        cluster=given(cells.get("CLUSTER")),
        name=cells.get("JOBNAME"),
        user=given(cells.get("USER")),
        account=given(cells.get("ACCOUNT")),
        qos=given(cells.get("QOS")),
        partition=given(cells.get("PARTITION")),
        state=state,
        submit_ns=moment_ns(cells.get("SUBMIT", "")),
        eligible_ns=moment_ns(cells.get("ELIGIBLE", "")),
        start_ns=moment_ns(cells.get("START", "")) if running else None,
        end_ns=moment_ns(cells.get("END", "")),
        run_s=duration_s(cells.get("ELAPSED", "")) if running else None,
        limit_s=duration_s(cells.get("TIMELIMIT", "")),
        nodes=expand(cells["NODELIST"]) if "NODELIST" in cells else None,
        node_count=leading_number(cells.get("NNODES")),
        cpus=leading_number(cells.get("REQCPUS") if not running else cells.get("ALLOCCPUS") or cells.get("NCPUS")),
        requested=tres(cells.get("REQTRES", "")) or None,
        allocated=(tres(cells.get("ALLOCTRES", "")) or None) if running else None,
        reservation=given(cells.get("RESERVATION")),
        features=given(cells.get("CONSTRAINTS")),
        priority=leading_number(cells.get("PRIORITY")),
        submit_line=given(cells.get("SUBMITLINE")),
    )


def _gres_cell(cells: Mapping[str, str], *labels: str) -> dict[str, int] | None:
    """The amounts under the first of these headings that is there; None if none is."""
    return next((gres(cells[label]) for label in labels if label in cells), None)


def _each_node(block: str) -> dict[str, dict[str, int]]:
    """What the job holds on each node, from the lines that `scontrol -d` adds."""
    held: dict[str, dict[str, int]] = {}
    for nodes, cpu_ids, memory, generic in node_details(block):
        amounts = dict(gres(generic))
        amounts["cpu"] = len(numbers(cpu_ids))
        if is_whole(memory):
            amounts["memory"] = memory_bytes(memory) or 0
        for node in expand(nodes):
            held[node] = dict(amounts)
    return held


def _user(text: str | None) -> str | None:
    found = _USER.match(text or "")
    return found[1] if found else given(text)
