"""A JSON document of any of Slurm's commands to records: which list holds what, and the elements that are no jobs."""

from analyzer.model.events import Citation
from analyzer.sources.slurm.hostlists import expand
from analyzer.sources.slurm.json_fields import amounts, child, first, positive, text, whole, words
from analyzer.sources.slurm.json_jobs import QUEUE, from_accounting, from_queue
from analyzer.sources.slurm.json_texts import Broken, Element, elements
from analyzer.sources.slurm.limit_texts import JOBS
from analyzer.sources.slurm.records import (
    JobList,
    LicenceRecord,
    LimitRecord,
    NodeRecord,
    PartitionRecord,
    Reading,
    ReservationRecord,
    StepRecord,
)
from analyzer.sources.slurm.states import KEPT, given, node_states
from analyzer.sources.slurm.times import epoch_ns
from analyzer.sources.slurm.tres import gres

_MIB = 1 << 20
_KNOWN = ("jobs", "nodes", "sinfo", "partitions", "reservations", "licenses", "qos", "QOS", "associations", "steps")


def read_json(reading: Reading, content: str) -> None:
    """Fill the reading with everything that the text holds."""
    reading.local = False
    for each in elements(content):
        if isinstance(each, Broken):
            rest = "what follows in this file is not read." if each.lost else "this entry is left out."
            reading.lose(each.line, f"{each.text}: {rest}")
        elif each.key == "jobs" and not each.listed and each.value is None:
            reading.lists.append(JobList(QUEUE, each.line, len(reading.jobs)))
        elif each.key in _KNOWN and each.listed:
            _take(reading, each)
        elif each.key.lower() == "meta":
            cluster = given(text(child(first(each.value, "slurm", "Slurm"), "cluster")))
            if cluster:
                reading.clusters.add(cluster)
        elif each.key in ("last_update", "last_backfill"):
            at_ns = epoch_ns(whole(each.value))
            if at_ns is not None:
                reading.stamped(each.line, at_ns)
        elif each.key == "errors" and each.listed:
            words_of = text(first(each.value, "error", "description")) or "no reason given"
            reading.lose(each.line, f"Slurm says that its own output has an error: {words_of[:120]}.")


def _take(reading: Reading, each: Element) -> None:
    citation = (reading.document, each.line)
    cluster = given(text(child(each.value, "cluster")))
    if cluster:
        reading.clusters.add(cluster)
    problem: str | None
    match each.key:
        case "jobs":
            accounting = isinstance(child(each.value, "state"), dict)
            job = (from_accounting if accounting else from_queue)(each.value, citation)
            if not isinstance(job, str):
                reading.jobs.append(job)
            problem = job if isinstance(job, str) else None
            if accounting and reading.lists:
                reading.lists.pop()  # it is not of the present
            kind = "sacct --json" if accounting else QUEUE
        case "nodes" | "sinfo":
            problem = (
                _node(reading, each.value, citation) if each.key == "nodes" else _group(reading, each.value, citation)
            )
            kind = "sinfo --json"
        case "partitions":
            problem, kind = _partition(reading, each.value, citation), "partitions as JSON"
        case "reservations":
            problem, kind = _reservation(reading, each.value, citation), "reservations as JSON"
        case "licenses":
            problem, kind = _licence(reading, each.value, citation), "licenses as JSON"
        case "steps":
            problem, kind = _step(reading, each.value, citation), "steps as JSON"
        case _:
            problem, kind = _limits(reading, each.value, citation, qos=each.key.lower() == "qos"), "limits as JSON"
    if problem:
        reading.lose(each.line, problem)
    else:
        reading.count(kind)


def _node(reading: Reading, node: object, citation: Citation) -> str | None:
    name = text(child(node, "name"))
    if not name:
        return "a node without a name is left out."
    states = {*words(child(node, "state")), *words(child(node, "state_flags"))}
    cpus = positive(child(node, "effective_cpus")) or positive(child(node, "cpus"))
    memory = positive(child(node, "real_memory"))
    reading.nodes.append(
        NodeRecord(
            name=name,
            citation=citation,
            host=given(text(child(node, "hostname"))),
            address=given(text(child(node, "address"))),
            states=frozenset(state for word in states for state in node_states(word)) or None,
            cpus=cpus,
            memory_bytes=None if memory is None else memory * _MIB,
            gres=gres(text(child(node, "gres"))) if child(node, "gres") is not None else None,
            partitions=words(child(node, "partitions")) or None,
            features=frozenset(words(first(node, "active_features", "features"))),
            reason=given(text(child(node, "reason"))),
        )
    )
    return None


def _group(reading: Reading, group: object, citation: Citation) -> str | None:
    """A line of `sinfo --json` since 23.02: nodes that are alike, of one partition."""
    names = [name for word in words(child(group, "nodes", "nodes")) for name in expand(word)]
    partition = text(first(child(group, "partition"), "name", "partition_name")) or text(child(group, "partition"))
    if not names and not partition:
        return "an entry without nodes and partition is left out."
    fewest = positive(child(group, "cpus", "minimum"))
    memory = positive(child(group, "memory", "minimum"))
    generic = child(group, "gres", "total")
    states = frozenset(state for word in words(child(group, "node", "state")) for state in node_states(word))
    for name in names:
        reading.nodes.append(
            NodeRecord(
                name=name,
                citation=citation,
                states=states or None,
                cpus=fewest if fewest == positive(child(group, "cpus", "maximum")) else None,
                memory_bytes=None if memory is None else memory * _MIB,
                gres=gres(text(generic)) if generic is not None else None,
                partitions=(partition,) if partition else None,
                features=frozenset(words(child(group, "features", "active"))),
                reason=given(text(first(child(group, "reason"), "description")) or text(child(group, "reason"))),
            )
        )
    if partition:
        configured = expand(text(child(group, "partition", "nodes", "configured")))
        reading.partitions.append(PartitionRecord(name=partition, citation=citation, nodes=configured or tuple(names)))
    return None


def _partition(reading: Reading, partition: object, citation: Citation) -> str | None:
    name = text(child(partition, "name"))
    if not name:
        return "a partition without a name is left out."
    nodes = text(child(partition, "nodes", "configured")) or text(child(partition, "nodes"))
    states = words(child(partition, "partition", "state")) or words(child(partition, "state"))
    modes = words(first(partition, "preemption_mode", "preempt_mode"))
    reading.partitions.append(
        PartitionRecord(
            name=name,
            citation=citation,
            nodes=expand(nodes) or None,
            up="UP" in states if states else None,
            qos=given(text(child(partition, "qos", "assigned"))),
            tier=whole(child(partition, "priority", "tier")),
            preempts=any(mode.upper() not in KEPT for mode in modes) if modes else None,
        )
    )
    return None


def _reservation(reading: Reading, reservation: object, citation: Citation) -> str | None:
    name = text(child(reservation, "name"))
    if not name:
        return "a reservation without a name is left out."
    reading.reservations.append(
        ReservationRecord(
            name=name,
            citation=citation,
            nodes=expand(text(child(reservation, "node_list"))),
            start_ns=epoch_ns(whole(child(reservation, "start_time"))),
            end_ns=epoch_ns(whole(child(reservation, "end_time"))),
        )
    )
    return None


def _licence(reading: Reading, licence: object, citation: Citation) -> str | None:
    name = text(first(licence, "LicenseName", "name"))
    total = whole(first(licence, "Total", "total"))
    if not name or total is None or total < 0:
        return "a licence without a name and a total is left out."
    reading.licences.append(LicenceRecord(name=name, citation=citation, total=total))
    return None


def _step(reading: Reading, step: object, citation: Citation) -> str | None:
    """A step as `scontrol show step --json` writes it (24.05 and later)."""
    job, _, number = text(first(step, "id", "step_id")).partition(".")
    job = job or str(positive(child(step, "id", "job_id")) or "")
    number = number or text(child(step, "id", "step_id"))
    states = words(child(step, "state"))
    if not job or not number or not states:
        return "a step without an id and a state is left out."
    reading.steps.append(
        StepRecord(
            job=job,
            step=number,
            citation=citation,
            state=states[0].upper(),
            cpus=positive(first(step, "number_cpus", "cpus")) or 0,
            start_ns=epoch_ns(whole(child(step, "start_time"))),
            host=text(child(step, "srun", "host")),
            pid=positive(child(step, "srun", "pid")) or 0,
            name=text(child(step, "name")),
        )
    )
    return None


def _limits(reading: Reading, record: object, citation: Citation, *, qos: bool) -> str | None:
    """A QOS or an association of `sacctmgr --json`."""
    most = child(record, "limits", "max") or child(record, "max")
    name, account = text(child(record, "name")), text(child(record, "account"))
    if not (name if qos else account):
        return f"{'a QOS without a name' if qos else 'an association without an account'} is left out."
    if qos:
        reading.limits.append(
            LimitRecord(
                citation=citation,
                qos=name,
                group=_counted(amounts(child(most, "tres", "total")), whole(child(most, "active_jobs", "count"))),
                each_job=amounts(child(most, "tres", "per", "job")),
                each_node=amounts(child(most, "tres", "per", "node")),
                each_user=_counted(
                    amounts(child(most, "tres", "per", "user")),
                    whole(child(most, "jobs", "active_jobs", "per", "user")),
                ),
                each_account=_counted(
                    amounts(child(most, "tres", "per", "account")),
                    whole(child(most, "jobs", "active_jobs", "per", "account")),
                ),
                preempts=words(child(record, "preempt", "list")),
            )
        )
        return None
    reading.limits.append(
        LimitRecord(
            citation=citation,
            account=account,
            user=given(text(child(record, "user"))),
            partition=given(text(child(record, "partition"))),
            parent=given(text(child(record, "parent_account"))),
            group=amounts(child(most, "tres", "total")),
            each_job=amounts(child(most, "tres", "per", "job")),
            own=_counted({}, whole(child(most, "jobs", "active"))),
        )
    )
    return None


def _counted(limits: dict[str, int], jobs: int | None) -> dict[str, int]:
    if jobs is not None and jobs >= 0:
        limits[JOBS] = jobs
    return limits
