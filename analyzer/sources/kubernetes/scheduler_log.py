"""What the scheduler's log tells about pods, in the words of its several versions and gang plugins."""

import re
from collections.abc import Iterator

from analyzer.sources.kubernetes.klog import Klog, stamp_ns
from analyzer.sources.kubernetes.log_lines import KlogLine
from analyzer.sources.kubernetes.observations import (
    LogStatement,
    PodBound,
    PodNominated,
    PodPreempted,
    PodReleased,
    PodReserved,
    PodUnschedulable,
    SchedulerAttempt,
)
from analyzer.sources.kubernetes.times import SECOND_NS

NO_FIT = (
    "Unable to schedule pod; no fit; waiting",
    "Unable to schedule pod; no nodes are registered to the cluster; waiting",
)
BOUND = ("Successfully bound pod to node", "Attempting to bind pod to node")
WAITING = (
    "Pod is waiting to be scheduled to node",  # scheduler-plugins, Koordinator
    "Quorum is not met for a gang. Waiting for another pod to allow",  # in-tree
    "One or more plugins asked to wait and no plugin rejected pod",
    "Pod waiting on permit",
)
RELEASED = (
    "Pod rejected while waiting on permit",  # the framework, also at the timeout
    "Failed waiting on permit for pod",
    "Error scheduling pod; retrying",  # after an error or a rejection in Permit the cycle is over
    "Unreserve rejects",  # scheduler-plugins: one member failed, so the others lose their places
    "PostFilter rejects the pod",
)
NOMINATED = ("the target node for the preemption is determined", "Status after running PostFilter plugins for pod")
PREEMPTED = ("Preemptor Pod preempted victim Pod", "Preemptor pod preempted victim pod")
ATTEMPT = ("Attempting to schedule pod", "Attempting to schedule a pod belonging to a pod group")
MESSAGES = frozenset((*NO_FIT, *BOUND, *WAITING, *RELEASED, *NOMINATED, *PREEMPTED, *ATTEMPT))
REPEATED = {
    **dict.fromkeys(NO_FIT, "refused"),
    **dict.fromkeys(NOMINATED, "nominated"),
    **dict.fromkeys(ATTEMPT, "tried"),
}
"""What a scheduler says of a pod again and again, by kind: of equal ones in a row the first and the last suffice."""

_DURATION_PART = re.compile(r"([0-9.]+)(h|ms|m|us|µs|ns|s)")
_UNIT_NS = {"h": 3600 * SECOND_NS, "m": 60 * SECOND_NS, "s": SECOND_NS, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_TIMEOUT_KEYS = ("timeout", "waitTime", "permitWaitingTime", "scheduleTimeout")


def log_statements(document: int, log: Klog, first_year: int, offset_s: int) -> Iterator[LogStatement]:
    """The statements of a log whose year and zone are known, in the order of its lines."""
    for line in log.lines:
        statement = _statement(document, line, stamp_ns(line.stamp, first_year, offset_s))
        if statement is not None:
            yield statement


def _statement(document: int, line: KlogLine, at_ns: int) -> LogStatement | None:
    values = line.values
    pod = values.get("pod", "")
    if line.message in PREEMPTED:
        preemptor, victim = values.get("preemptor", ""), values.get("victim", "")
        return PodPreempted(at_ns, victim, preemptor, _node(values), (document, line.record)) if victim else None
    if not pod:
        return None
    citation = (document, line.record)
    if line.message in NO_FIT:
        return PodUnschedulable(at_ns, pod, values.get("err") or values.get("status", ""), citation)
    if line.message in WAITING:
        return PodReserved(at_ns, pod, _node(values), _timeout_ns(values), citation)
    if line.message in RELEASED:
        return PodReleased(at_ns, pod, values.get("err") or values.get("status") or line.message, citation)
    if line.message == BOUND[0]:
        return PodBound(at_ns, pod, _node(values), citation)
    if line.message in NOMINATED and _node(values):
        return PodNominated(at_ns, pod, _node(values), citation)
    if line.message in ATTEMPT:
        return SchedulerAttempt(at_ns, pod, line.times, citation)
    return None


def _node(values: dict[str, str]) -> str:
    return values.get("node") or values.get("nodeName") or values.get("selectedNode") or ""


def _timeout_ns(values: dict[str, str]) -> int | None:
    for key in _TIMEOUT_KEYS:
        parts = _DURATION_PART.findall(values.get(key, ""))
        if parts:
            return int(sum(float(number) * _UNIT_NS[unit] for number, unit in parts))
    return None
