"""What Kueue's own words, and its checks, say of a Workload that is not getting on: never, or somebody else's turn."""

import re

from analyzer.model.events import Excuse, ExcuseKind
from analyzer.sources.kubernetes.kueue_quota import QueueFacts
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts

_INVALID = ("resources validation failed", "resources didn't satisfy LimitRange constraints")
_NO_NAMESPACE = "Workload namespace doesn't match ClusterQueue selector"
_MISSING = re.compile(r"(?:LocalQueue|ClusterQueue) \S+ (?:doesn't exist|not found|is terminating or missing)$")
_FOR_GOOD = re.compile(r"> maximum capacity \(|doesn't match node affinity|untolerated taint |flavor \S+ not found")
_FOR_NOW = ("insufficient unused quota", 'topology "', "Pending the preemption", "will retry", "could not assign")

_OTHERS_TURN = frozenset({"Stopped", "Terminating", "AdmissionCheckInactive", "Unknown"})
"""Why a ClusterQueue is not active, where somebody is at work on it or has decided so; all else is a mistake in it."""


def refused_for_good(one: WorkloadFacts, queue: QueueFacts | None, *, ringed: bool = False) -> str:
    """Why the Workload will never get quota as things are, in Kueue's words; "" if they do not say so.

    That a queue is missing is believed only as long as it is missing here, too. `ringed`: there is a ring of cohorts
    above the queue.
    """
    said = one.said.message
    if one.rejected:
        return f"an admission check has rejected it{_told(one.rejected)}"
    if "unavailable in ClusterQueue" in said:
        return f"its queue has no such resource: {said}"
    if said.startswith(_INVALID) or said.startswith(_NO_NAMESPACE):
        return f"Kueue cannot use it: {said}"
    if queue is None:
        return f"Kueue cannot queue it: {said}" if _MISSING.search(said) is not None else ""
    if queue.inactive is None or queue.inactive.reason in _OTHERS_TURN:
        return ""
    if queue.inactive.reason == "Ready":  # seen where cohorts are each other's parents: all else is in order
        why = f"its ClusterQueue {queue.name} admits nobody, as cohorts above it are each other's parents"
        return why if ringed else ""
    return f"its ClusterQueue {queue.name} admits nobody: {queue.inactive.message.rstrip('.')}"


def never_fits(one: WorkloadFacts) -> bool:
    """Whether Kueue says that no flavour can ever take it, all pods of it being needed."""
    said = one.said.message
    whole = all(part.fewest == part.count for part in one.parts)
    return whole and _FOR_GOOD.search(said) is not None and not any(words in said for words in _FOR_NOW)


def others_turn(one: WorkloadFacts, queue: QueueFacts | None, *, stopped: bool) -> Excuse | None:
    """Who else has to act before the Workload gets on, be it a person or a controller; None if nobody is known."""
    if queue is not None and (stopped or (queue.inactive is not None and queue.inactive.reason == "Stopped")):
        return Excuse(ExcuseKind.GATED, f"a person has stopped its queue {queue.name}")
    if queue is not None and queue.inactive is not None and queue.inactive.reason in _OTHERS_TURN:
        return Excuse(ExcuseKind.GATED, f"its ClusterQueue {queue.name} is not active{_told(queue.inactive.message)}")
    if one.said.reason in {"AdmissionGated", "PreemptionGated"}:
        return Excuse(ExcuseKind.GATED, f"a gate holds it back{_told(one.said.message)}")
    late = [check for check in one.checks if check.state not in {"Ready", "Rejected"}]
    if late and (one.reserved or late[0].state == "Retry"):
        return Excuse(ExcuseKind.GATED, f"admission check {late[0].name} is {late[0].state}{_told(late[0].message)}")
    if 'topology "' in one.said.message and not one.reserved:
        return Excuse(ExcuseKind.BLIND, f"Kueue places it by topology, which is not followed here: {one.said.message}")
    return None


def _told(message: str) -> str:
    return f" ({message.rstrip('.')})" if message else ""
