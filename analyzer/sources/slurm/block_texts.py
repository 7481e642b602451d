"""Blocks of `scontrol show node|partition|reservation|licenses|step` to records."""

import re

from analyzer.model.events import Citation
from analyzer.sources.slurm.hostlists import expand
from analyzer.sources.slurm.keyvalues import leading_number, pairs
from analyzer.sources.slurm.records import (
    LicenceRecord,
    NodeRecord,
    PartitionRecord,
    ReservationRecord,
    StepRecord,
)
from analyzer.sources.slurm.states import KEPT, given, node_states
from analyzer.sources.slurm.times import moment_ns
from analyzer.sources.slurm.tres import gres, memory_bytes, tres

_REASON_STAMP = re.compile(r"\s*\[[^\]]*\]\s*$")


def node(block: str, citation: Citation) -> NodeRecord | str:
    """A node; in words what is wrong with it if it cannot be used."""
    said = pairs(block)
    name = said.get("NodeName", "").split(" ")[0]
    if not name or "State" not in said:
        return f"node {name or 'without a name'} has no State: it is left out."
    reason = given(said.get("Reason"))
    return NodeRecord(
        name=name,
        citation=citation,
        host=given(said.get("NodeHostName")),
        address=given(said.get("NodeAddr")),
        states=node_states(said["State"].split(" ")[0]),
        cpus=leading_number(said.get("CPUEfctv")) or leading_number(said.get("CPUTot")),
        memory_bytes=memory_bytes(said.get("RealMemory", "")),
        gres=gres(said["Gres"]) if "Gres" in said else None,
        partitions=tuple(said["Partitions"].split(",")) if given(said.get("Partitions")) else None,
        features=frozenset((given(said.get("ActiveFeatures")) or "").split(",")) - {""},
        reason=_REASON_STAMP.sub("", reason) if reason else None,
        used=tres(said.get("AllocTRES", "")),
    )


def partition(block: str, citation: Citation) -> PartitionRecord | str:
    """A partition; in words what is wrong with it if it cannot be used."""
    said = pairs(block)
    name = said.get("PartitionName", "").split(" ")[0]
    if not name:
        return "a partition without a name is left out."
    nodes = said.get("Nodes")
    return PartitionRecord(
        name=name,
        citation=citation,
        nodes=expand(nodes) if nodes is not None and nodes != "ALL" else None,
        up=said["State"].startswith("UP") if "State" in said else None,
        exclusive=said.get("OverSubscribe", "").startswith("EXCLUSIVE"),
        qos=given(said.get("QoS")),
        tier=leading_number(said.get("PriorityTier")),
        preempts=said["PreemptMode"] not in KEPT if "PreemptMode" in said else None,
    )


def reservation(block: str, citation: Citation) -> ReservationRecord | str:
    """A reservation; in words what is wrong with it if it cannot be used."""
    said = pairs(block)
    name = said.get("ReservationName", "").split(" ")[0]
    if not name:
        return "a reservation without a name is left out."
    return ReservationRecord(
        name=name,
        citation=citation,
        nodes=expand(said.get("Nodes", "")),
        start_ns=moment_ns(said.get("StartTime", "")),
        end_ns=moment_ns(said.get("EndTime", "")),
        active=said["State"] == "ACTIVE" if "State" in said else None,
    )


def licence(block: str, citation: Citation) -> LicenceRecord | str:
    """A licence; in words what is wrong with it if it cannot be used."""
    said = pairs(block)
    name, total = said.get("LicenseName", "").split(" ")[0], leading_number(said.get("Total"))
    if not name or total is None:
        return f"licence {name or 'without a name'} has no Total: it is left out."
    return LicenceRecord(name=name, citation=citation, total=total)


def step(block: str, citation: Citation) -> StepRecord | str:
    """A step; in words what is wrong with it if it cannot be used."""
    said = pairs(block)
    job, dot, number = said.get("StepId", "").split(" ")[0].partition(".")
    if not job or not dot or "State" not in said:
        return f"step {job or 'without a name'} has no State: it is left out."
    host, _, pid = said.get("SrunHost:Pid", "").rpartition(":")
    return StepRecord(
        job=job,
        step=number,
        citation=citation,
        state=said["State"].split(" ")[0].upper(),
        cpus=leading_number(said.get("CPUs")) or 0,
        amounts=tres(said.get("TRES", "")),
        start_ns=moment_ns(said.get("StartTime", "")),
        host=given(host) or "",
        pid=leading_number(pid) or 0,
        name=given(said.get("Name")) or "",
    )
