"""Writes the log of a scheduler that tries the waiting pods of a plan again and again, in the forms people hand over.

Ten lines a try, as kube-scheduler 1.36 prints them at `-v=5`: two of them are read, and say what the pod's condition
says as well; the rest is noise. So whatever is found without the log must be found with it. A container's log has one
line in ten thousand in two parts, as runtimes write lines that are too long for them.
"""

import calendar
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import count, cycle, islice
from pathlib import Path

from msgspec import Struct

from benchmarks.dump import unschedulable
from benchmarks.plan import AS_OF_NS, Plan
from benchmarks.pods import Phase, pods_of

LINES_A_TRY = 10
SPAN_S = 3600
"""All lines lie in the last hour before the dump was made."""

_PARTED_EVERY = 10_000
_AT_ONCE = 20_000
Values = dict[str, str | int]


class LogForm(StrEnum):
    """How the log is written down."""

    KLOG = "klog text"
    KLOG_JSON = "klog JSON"
    CONTAINER = "klog text in a container's log"
    JOURNAL = "klog text in journald JSON"


class _Line(Struct, frozen=True):
    at: datetime
    place: str
    message: str
    values: Values


def write_log(plan: Plan, path: Path, form: LogForm, lines: int) -> int:
    """Writes so many lines; returns the bytes. The same plan gives the same bytes."""
    written = map(_WRITERS[form], count(), _lines(plan, lines))
    with path.open("w", encoding="utf-8") as file:
        while part := list(islice(written, _AT_ONCE)):
            file.write("".join(part))
        return file.tell()


def _lines(plan: Plan, total: int) -> Iterator[_Line]:
    end = datetime.fromtimestamp(AS_OF_NS // 10**9, UTC) - timedelta(seconds=60)
    step = timedelta(seconds=SPAN_S) / total
    waiting = [
        (f"{group.namespace}/{pod.name}", unschedulable(plan, group))
        for group in plan.groups
        if group.pending
        for pod in pods_of(group)
        if pod.phase is Phase.PENDING
    ]
    nodes = [name for name, _ in plan.nodes]
    number = 0
    for turn, (pod, refused) in enumerate(cycle(waiting)):
        for place, message, values in _try(pod, refused, nodes[turn % len(nodes)], turn):
            if number == total:
                return
            yield _Line(end - timedelta(seconds=SPAN_S) + number * step, place, message, values)
            number += 1


def _try(pod: str, refused: str, node: str, turn: int) -> tuple[tuple[str, str, Values], ...]:
    batch: Values = {"pod": pod, "profile": "default-scheduler", "cycleCount": turn}
    patched: Values = {"logger": "UnhandledError", "pod": pod, "conditionStatus": "False", "conditionReason": "x"}
    moved: Values = {"pod": pod, "event": "ScheduleAttemptFailure", "queue": "Unschedulable", "schedulingCycle": turn}
    return (
        ("schedule_one.go:107", "About to try and schedule pod", {"pod": pod}),
        ("schedule_one.go:123", "Attempting to schedule pod", {"pod": pod}),
        ("batch.go:81", "OpportunisticBatch no node hint available for pod", batch),
        ("default_preemption.go:230", "No preemption candidate is found; preemption is not helpful", {"pod": pod}),
        ("schedule_one.go:1239", "Unable to schedule pod; no fit; waiting", {"pod": pod, "err": refused}),
        ("scheduling_queue.go:1010", "Pod moved to an internal scheduling queue", moved),
        ("schedule_one.go:1284", "Updating pod condition and nominated node name", patched),
        ("eventhandlers.go:256", "Update event for unscheduled pod", {"pod": pod}),
        ("eventhandlers.go:126", "Update event for node", {"node": node}),
        ("node_tree.go:65", "Updated node in listed group in NodeTree", {"node": node, "zone": "eu-1:a"}),
    )


def _klog(line: _Line) -> str:
    values = " ".join(f"{key}={json.dumps(value)}" for key, value in line.values.items())
    return f'I{line.at:%m%d %H:%M:%S.%f}       1 {line.place}] "{line.message}" {values}'


def _as_text(_: int, line: _Line) -> str:
    return f"{_klog(line)}\n"


def _as_json(_: int, line: _Line) -> str:
    values: dict[str, object] = dict(line.values)
    for key in ("pod", "node"):
        namespace, _sign, name = str(values.get(key, "")).rpartition("/")
        if name:
            values[key] = {"name": name, "namespace": namespace} if namespace else {"name": name}
    ms = calendar.timegm(line.at.timetuple()) * 1000 + line.at.microsecond / 1000
    said = {"ts": ms, "caller": line.place, "msg": line.message, "v": 3, **values}
    return f"{json.dumps(said, separators=(',', ':'))}\n"


def _in_container(number: int, line: _Line) -> str:
    text, before = _klog(line), f"{line.at:%Y-%m-%dT%H:%M:%S.%f}123Z stderr"
    if number % _PARTED_EVERY:
        return f"{before} F {text}\n"
    return f"{before} P {text[:40]}\n{before} F {text[40:]}\n"


def _in_journal(number: int, line: _Line) -> str:
    taken_us = calendar.timegm(line.at.timetuple()) * 10**6 + line.at.microsecond + 70
    entry = {
        "__CURSOR": f"s=1c1b0bd0a8b24d6ab1;i={number:x};b=6d1f;m=1;t=2;x=3",
        "__REALTIME_TIMESTAMP": str(taken_us),
        "__MONOTONIC_TIMESTAMP": str(number * 100),
        "_BOOT_ID": "6d1f0c8ee0b04b0d8a8c8d1f2a6b7c8d",
        "PRIORITY": "6",
        "SYSLOG_IDENTIFIER": "kube-scheduler",
        "_PID": "812",
        "_COMM": "kube-scheduler",
        "_SYSTEMD_UNIT": "kube-scheduler.service",
        "_HOSTNAME": "control-1",
        "_TRANSPORT": "stdout",
        "MESSAGE": _klog(line),
    }
    return f"{json.dumps(entry, separators=(',', ':'))}\n"


_WRITERS: dict[LogForm, Callable[[int, _Line], str]] = {
    LogForm.KLOG: _as_text,
    LogForm.KLOG_JSON: _as_json,
    LogForm.CONTAINER: _in_container,
    LogForm.JOURNAL: _in_journal,
}
