"""Workflows of Argo, made from a line.

    argo NS/NAME phase=Running holds=LOCK@STEP,LOCK waits=LOCK@HOLDER+HOLDER step:ID=Pod/Running message="..."
         step:ID=Pod/Pending/LOCK (it waits for the lock)  daemon:ID=Running  ended=MOMENT  suspended shutdown
         deadline=SECONDS parallelism=2 limit=2 (of the semaphore, in messages)
A lock is `NS/Mutex/NAME` or `NS/ConfigMap/MAP/KEY`; a step of `holds` becomes the holder `NS/NAME/STEP`. `old` writes
bare names, as versions before 3.5 do. Pods of it: `pod NS/NAME-... of=Workflow/NAME`.
"""

from typing import TYPE_CHECKING, Any

from tests.kubernetes.scenarios import making
from tests.kubernetes.scenarios.lines import Line, stamp
from tests.kubernetes.scenarios.making import Object

if TYPE_CHECKING:
    from tests.kubernetes.scenarios.incident import Incident


def workflow(incident: "Incident", line: Line) -> None:
    phase = line.options.get("phase", "Running")
    began = stamp(line.moment_s("since", line.at_s))
    spec: Object = {"entrypoint": "main"}
    for option, field in (("deadline", "activeDeadlineSeconds"), ("parallelism", "parallelism")):
        if option in line.options:
            spec[field] = line.number(option)
    if "suspended" in line.words:
        spec["suspend"] = True
    if "shutdown" in line.words:
        spec["shutdown"] = "Terminate"
    status: Object = {"phase": phase, "startedAt": stamp(line.at_s), "finishedAt": None}
    if "ended" in line.options:
        status["finishedAt"] = stamp(line.moment_s("ended", 0))
    if "message" in line.options:
        status["message"] = line.options["message"]
    locks = _synchronization(line)
    if locks:
        status["synchronization"] = locks
    nodes: Object = {}
    if phase != "Pending":
        nodes[line.short] = {"id": line.short, "type": "DAG", "phase": phase, "startedAt": began}
    for step, told in line.map("step").items():
        kind, step_phase, *lock = told.split("/", 2)
        nodes[step] = {"id": step, "displayName": step, "type": kind, "phase": step_phase, "startedAt": began}
        if lock:
            nodes[step]["synchronizationStatus"] = {"waiting": lock[0]}
            nodes[step]["message"] = f"Waiting for {lock[0]} lock. Lock status: 0/{line.number('limit', 1)}"
        if step_phase in {"Succeeded", "Failed", "Omitted"}:
            nodes[step]["finishedAt"] = stamp(line.moment_s("stepended", line.at_s))
    for step, step_phase in line.map("daemon").items():
        nodes[step] = {"id": step, "type": "Pod", "phase": step_phase, "daemoned": True, "startedAt": began}
    if nodes:
        status["nodes"] = nodes
    about = making.metadata(line, "Workflow", line.short, line.namespace)
    incident.add(
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": about, "spec": spec, "status": status}
    )


def _synchronization(line: Line) -> Object:
    found: dict[str, dict[str, list[Any]]] = {}
    for part, option in (("holding", "holds"), ("waiting", "waits")):
        for entry in line.several(option):
            lock, _, who = entry.partition("@")
            holders = who.split("+") if who else []
            if part == "holding":
                step = f"/{who}" if who else ""
                bare = who or line.short
                holders = [bare if "old" in line.words else f"{line.namespace}/{line.short}{step}"]
            mutex = "/Mutex/" in lock
            one = {"mutex": lock, "holder": holders[0]} if mutex else {"semaphore": lock, "holders": holders}
            found.setdefault("mutex" if mutex else "semaphore", {}).setdefault(part, []).append(one)
    return dict(found)


BUILDERS = {"argo": workflow}
