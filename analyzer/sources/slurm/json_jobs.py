"""One job out of JSON: as squeue and scontrol write it, and as sacct does. Versions 21.08 to 25.x."""

from analyzer.model.events import Citation
from analyzer.sources.slurm.hostlists import expand
from analyzer.sources.slurm.job_texts import SACCT, SQUEUE
from analyzer.sources.slurm.json_fields import INFINITE, amounts, child, first, positive, text, whole, words
from analyzer.sources.slurm.records import JobRecord
from analyzer.sources.slurm.states import given, job_state
from analyzer.sources.slurm.times import UNLIMITED_S, epoch_ns
from analyzer.sources.slurm.tres import gres, tres

QUEUE = SQUEUE + " --json"
_MIB = 1 << 20


def from_queue(job: object, citation: Citation) -> JobRecord | str:
    """A job of `squeue --json` or `scontrol show job --json`; in words what is wrong with it."""
    raw = whole(child(job, "job_id"))
    if raw is None or raw <= 0:
        return "a job without a job_id is left out."
    state = job_state(text(child(job, "job_state")))
    if state is None:
        return f"job {raw} has no job_state that is known: it is left out."
    running = state != "PENDING"
    nodes = expand(text(child(job, "nodes"))) if running else ()
    tasks = _tasks(job)
    limit = whole(child(job, "time_limit"))
    het = positive(child(job, "het_job_id"))
    return JobRecord(
        form=QUEUE,
        citation=citation,
        raw_id=raw,
        array_id=positive(child(job, "array_job_id")) if tasks is not None else None,
        array_tasks=tasks,
        throttle=positive(child(job, "array_max_tasks")),
        het_id=het,
        het_offset=whole(child(job, "het_job_offset")) if het else None,
        cluster=given(text(child(job, "cluster"))),
        name=text(child(job, "name")) or None,
        user=given(text(child(job, "user_name"))),
        account=given(text(child(job, "account"))),
        qos=given(text(child(job, "qos"))),
        partition=given(text(child(job, "partition"))),
        state=state,
        reason=text(child(job, "state_reason")) or None,
        detail=given(text(child(job, "state_description"))),
        dependency=given(text(child(job, "dependency"))) or "",
        submit_ns=epoch_ns(whole(child(job, "submit_time"))),
        eligible_ns=epoch_ns(whole(child(job, "eligible_time"))),
        start_ns=epoch_ns(whole(child(job, "start_time"))),
        end_ns=epoch_ns(whole(child(job, "end_time"))),
        looked_ns=epoch_ns(whole(child(job, "last_sched_evaluation"))),
        limit_s=None if limit is None else UNLIMITED_S if limit == INFINITE else limit * 60,
        nodes=nodes,
        planned_nodes=expand(text(child(job, "scheduled_nodes"))),
        required_nodes=expand(text(child(job, "required_nodes"))),
        excluded_nodes=expand(text(child(job, "excluded_nodes"))),
        node_count=positive(child(job, "node_count")),
        cpus=positive(child(job, "cpus")),
        task_count=positive(child(job, "tasks")),
        cpus_each_node=positive(child(job, "minimum_cpus_per_node")),
        memory_each_node=_mib(positive(child(job, "memory_per_node"))),
        memory_each_cpu=_mib(positive(child(job, "memory_per_cpu"))),
        requested=tres(text(child(job, "tres_req_str"))) or None,
        allocated=(tres(text(child(job, "tres_alloc_str"))) or None) if running else None,
        gres_each_node=gres(text(child(job, "tres_per_node"))),
        gres_in_all=gres(text(child(job, "tres_per_job"))),
        gres_each_task=gres(text(child(job, "tres_per_task"))),
        each_node=_each_node(job, nodes) or None,
        licences=given(text(child(job, "licenses"))) or "",
        reservation=given(text(child(job, "resv_name"))) or "",
        features=given(text(child(job, "features"))) or "",
        exclusive=_exclusive(job),
        priority=whole(child(job, "priority")),
        batch=child(job, "batch_flag") is True,
        batch_host=given(text(child(job, "batch_host"))),
        from_host=given(text(child(job, "allocating_node"))),
        submit_line=given(text(child(job, "submit_line"))),
        output=given(text(child(job, "standard_output"))),
        restarts=whole(child(job, "restart_cnt")),
    )


def from_accounting(job: object, citation: Citation) -> JobRecord | str:
    """A job of `sacct --json`; in words what is wrong with it. Its reason is that of some earlier time."""
    raw = whole(child(job, "job_id"))
    if raw is None or raw <= 0:
        return "a job without a job_id is left out."
    state = job_state(text(child(job, "state", "current")))
    if state is None:
        return f"job {raw} has no state that is known: it is left out."
    running = state != "PENDING"
    array = positive(child(job, "array", "job_id"))
    task = whole(child(job, "array", "task_id"))
    pending_tasks = given(text(child(job, "array", "task"))) if array else None
    het = positive(child(job, "het", "job_id"))
    limit = whole(child(job, "time", "limit"))
    tasks = str(task) if array and task is not None else pending_tasks and pending_tasks.strip("[]").partition("%")[0]
    return JobRecord(
        form=SACCT + " --json",
        citation=citation,
        raw_id=raw,
        array_id=array if tasks else None,
        array_tasks=tasks or None,
        throttle=positive(child(job, "array", "limits", "max", "running", "tasks")),
        het_id=het,
        het_offset=whole(child(job, "het", "job_offset")) if het else None,
        cluster=given(text(child(job, "cluster"))),
        name=text(child(job, "name")) or None,
        user=given(text(first(job, "user"))) or given(text(child(job, "association", "user"))),
        account=given(text(child(job, "account"))),
        qos=given(text(child(job, "qos"))),
        partition=given(text(child(job, "partition"))),
        state=state,
        submit_ns=epoch_ns(whole(child(job, "time", "submission"))),
        eligible_ns=epoch_ns(whole(child(job, "time", "eligible"))),
        start_ns=epoch_ns(whole(child(job, "time", "start"))) if running else None,
        end_ns=epoch_ns(whole(child(job, "time", "end"))),
        run_s=whole(child(job, "time", "elapsed")) if running else None,
        limit_s=None if limit is None else UNLIMITED_S if limit == INFINITE else limit * 60,
        nodes=expand(text(child(job, "nodes"))),
        node_count=positive(child(job, "allocation_nodes")),
        cpus=positive(child(job, "required", "CPUs")),
        requested=amounts(child(job, "tres", "requested")) or None,
        allocated=(amounts(child(job, "tres", "allocated")) or None) if running else None,
        licences=given(text(child(job, "licenses"))),
        features=given(text(child(job, "constraints"))),
        priority=whole(child(job, "priority")),
        submit_line=given(text(child(job, "submit_line"))),
        output=given(text(child(job, "stdout_expanded")) or text(child(job, "stdout"))),
    )


def _tasks(job: object) -> str | None:
    """Of an array: "8", or "10-15" of its pending rest; None for no array."""
    if not positive(child(job, "array_job_id")):
        return None
    task = whole(child(job, "array_task_id"))
    if task is not None:
        return str(task)
    return given(text(child(job, "array_task_string")).partition("%")[0])


def _each_node(job: object, nodes: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """What the job holds on each node: cards from gres_detail, processors and memory from job_resources."""
    held: dict[str, dict[str, int]] = {}
    details = child(job, "gres_detail")
    if isinstance(details, list) and len(details) == len(nodes):
        for node, detail in zip(nodes, details, strict=True):
            held[node] = gres(text(detail))
    resources = child(job, "job_resources")
    allocations = child(resources, "nodes", "allocation") or child(resources, "allocated_nodes")
    if isinstance(allocations, dict):
        allocations = list(allocations.values())
    for each in allocations if isinstance(allocations, list) else ():
        name = text(first(each, "name", "nodename"))
        if not name:
            continue
        mine = held.setdefault(name, {})
        cpus = positive(child(each, "cpus", "count")) or positive(child(each, "cpus"))
        if cpus:
            mine["cpu"] = cpus
        memory = positive(child(each, "memory", "allocated")) or positive(child(each, "memory_allocated"))
        if memory:
            mine["memory"] = memory * _MIB
    return held


def _exclusive(job: object) -> bool:
    """Whole nodes for itself. `shared` is written in too many ways to tell, and is not taken."""
    return any(word.lower() == "true" for word in words(child(job, "exclusive")))


def _mib(count: int | None) -> int | None:
    return None if count is None else count * _MIB
