"""Single Kubernetes objects as the API prints them, made from a line: nodes, pods, volumes, quotas, events, any."""

import hashlib
import json
import uuid
from typing import Any

from tests.kubernetes.scenarios import beside
from tests.kubernetes.scenarios.lines import Line, micro_stamp, stamp

Object = dict[str, Any]
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SHORT = {"gpu": "nvidia.com/gpu", "cpu": "cpu", "mem": "memory", "disk": "ephemeral-storage"}
_OFFLINE = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin"
    " returns error: cni plugin not initialized"
)
_CONDITIONS = ("Initialized", "Ready", "ContainersReady", "PodScheduled")


def suffix(name: str, length: int = 5) -> str:
    """Letters as generateName appends them, always the same for the same name."""
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in hashlib.sha256(name.encode()).digest()[:length])


def uid(kind: str, namespace: str, name: str) -> str:
    """A stable UID, so that owners can be named before or after their children."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{kind}/{namespace}/{name}"))


def metadata(line: Line, kind: str, name: str, namespace: str = "") -> Object:
    """Names, times, labels, annotations, finalizers, deletion."""
    made: Object = {"name": name, "uid": uid(kind, namespace, name), "creationTimestamp": stamp(line.at_s)}
    if namespace:
        made["namespace"] = namespace
    for field, key in (("labels", "label"), ("annotations", "ann")):
        if line.map(key):
            made[field] = dict(line.map(key))
    if "finalizer" in line.options:
        made["finalizers"] = line.several("finalizer")
    if "deleted" in line.options:  # the moment at which its grace is over
        made["deletionTimestamp"] = stamp(line.moment_s("deleted", 0))
        made["deletionGracePeriodSeconds"] = line.number("grace", 30)
    return made


def amounts(line: Line, extra: str = "res", defaults: dict[str, str] | None = None) -> dict[str, str]:
    """gpu=, cpu=, mem= and res:NAME= as resource amounts."""
    found = {_SHORT[key]: line.options[key] for key in _SHORT if key in line.options}
    return {**(defaults or {}), **found, **line.map(extra)}


def node(line: Line) -> Object:
    """A node of 64 cores and 512 GiB unless the line says otherwise; flags `cordoned`, `notready`, `pluginless`.

    The last offers none of its cards.
    """
    defaults = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "3000Gi", "pods": line.options.get("pods", "110")}
    room = amounts(line, defaults=defaults)
    offered = {key: "0" if "/" in key and "pluginless" in line.words else value for key, value in room.items()}
    made = metadata(line, "Node", line.name)
    made["labels"] = {
        "kubernetes.io/hostname": line.name,
        "kubernetes.io/os": "linux",
        **({"topology.kubernetes.io/zone": line.options["zone"]} if "zone" in line.options else {}),
        **made.get("labels", {}),
    }
    taints = []
    for key, value in line.map("taint").items():
        value, _, effect = value.rpartition(":")
        taints.append({"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect})
    since = line.moment_s("notready", line.at_s)
    if "cordoned" in line.words:
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if "notready" in line.options:
        taints += [{"key": "node.kubernetes.io/unreachable", "effect": e} for e in ("NoSchedule", "NoExecute")]
    ready = "Unknown" if "notready" in line.options else "True"
    if "offline" in line.words:  # its network was never set up
        taints += [{"key": "node.kubernetes.io/not-ready", "effect": e} for e in ("NoSchedule", "NoExecute")]
        ready = "False"
    condition = {
        "type": "Ready",
        "status": ready,
        "reason": "KubeletReady" if ready == "True" else "NodeStatusUnknown",
        "message": "kubelet is posting ready status" if ready == "True" else "Kubelet stopped posting node status.",
        "lastTransitionTime": stamp(since),
        "lastHeartbeatTime": stamp(since),
    }
    if ready == "False":
        condition |= {"reason": "KubeletNotReady", "message": _OFFLINE}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": made,
        "spec": {
            **({"unschedulable": True} if "cordoned" in line.words else {}),
            **({"taints": taints} if taints else {}),
        },
        "status": {"capacity": room, "allocatable": offered, "conditions": [condition]},
    }


def owner_reference(owner: Object) -> Object:
    """As controllers write it."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _container(line: Line) -> Object:
    requests = amounts(line, defaults={} if "limit" in line.maps else {"cpu": "1", "memory": "1Gi"})
    extended = {key: value for key, value in requests.items() if "/" in key}
    resources: Object = {"requests": requests} if requests else {}
    if extended or line.map("limit"):
        resources["limits"] = {**extended, **line.map("limit")}
    made: Object = {"name": "main", "image": "registry.example/train:1", "resources": resources}
    if "command" in line.options:
        made["command"] = ["sh", "-c", line.options["command"]]
    if line.map("env"):
        made["env"] = [{"name": key, "value": value} for key, value in line.map("env").items()]
    if "hostport" in line.options:
        port = line.number("hostport")
        made["ports"] = [{"containerPort": port, "hostPort": port, "protocol": "TCP"}]
    return made


def _init_containers(line: Line) -> list[Object]:
    made: list[Object] = []
    if "before" in line.options:
        said = line.options["before"]
        if "image" in line.options:  # an image whose entry point takes the words
            made.append({"name": "before", "image": line.options["image"], "args": said.split()})
        else:
            made.append({"name": "before", "image": "busybox:1.36", "command": ["sh", "-c", said]})
    for key in ("init", "sidecar"):
        amount = dict(line.map(key))
        if amount:
            extended = {name: value for name, value in amount.items() if "/" in name}
            resources: Object = {"requests": amount, **({"limits": extended} if extended else {})}
            one: Object = {"name": key, "image": "registry.example/tool:1", "resources": resources}
            made.append({**one, "restartPolicy": "Always"} if key == "sidecar" else one)
    return made


def pod_spec(line: Line, restart: str) -> Object:
    """A pod's spec but for the node: also the template of a workload."""
    spec: Object = {
        "containers": [_container(line)],
        "restartPolicy": line.options.get("restart", restart),
        "schedulerName": line.options.get("scheduler", "default-scheduler"),
        "terminationGracePeriodSeconds": line.number("grace", 30),
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": line.number("priority"),
    }
    if _init_containers(line):
        spec["initContainers"] = _init_containers(line)
    for key, field in (("overhead", "overhead"), ("select", "nodeSelector")):
        if line.map(key):
            spec[field] = dict(line.map(key))
    if line.map("podlevel"):
        spec["resources"] = {"requests": dict(line.map("podlevel"))}
    if "deadline" in line.options:
        spec["activeDeadlineSeconds"] = line.number("deadline")
    if "tolerate" in line.options:
        spec["tolerations"] = [{"key": key, "operator": "Exists"} for key in line.several("tolerate")]
    if "gate" in line.options:
        spec["schedulingGates"] = [{"name": line.options["gate"]}]
    if "claim" in line.options:
        claims = line.several("claim")
        spec["volumes"] = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    if "group" in line.options and line.options["group"].startswith("native:"):
        spec["schedulingGroup"] = {"podGroupName": line.options["group"].partition(":")[2]}
    if "spread" in line.words:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": line.map("label")}}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    beside.add_company(line, spec)
    return spec


def pod_status(line: Line, on: str, said: str) -> Object:
    """Running and ready on its node; or pending with the scheduler's words, or not tried yet, or gated."""
    since = stamp(line.moment_s("since", line.at_s))
    if not on:
        condition: Object = {
            "type": "PodScheduled",
            "status": "False",
            "lastTransitionTime": since,
            "lastProbeTime": None,
        }
        if "gate" in line.options:
            condition |= {
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        else:
            condition |= {"reason": line.options.get("reason", "Unschedulable"), "message": said}
        untried = not said and "gate" not in line.options
        status: Object = {"phase": "Pending", **({} if untried else {"conditions": [condition]})}
        if "nominated" in line.options:
            status["nominatedNodeName"] = line.options["nominated"]
        return status
    if "refused" in line.options:  # by the kubelet, after the scheduler had placed it
        said = "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices"
        return {"phase": "Failed", "reason": line.options["refused"], "message": said, "startTime": since}
    phase = "Succeeded" if "done" in line.words else "Failed" if "failed" in line.words else "Running"
    starting = "creating" in line.words
    waiting, crashes = line.options.get("waiting", ""), line.number("crashes")
    before = "before" in line.options and phase == "Running" and "after" not in line.words
    starting = starting or before or bool(waiting and not crashes)
    ready = phase == "Running" and not starting and not waiting and "unready" not in line.words
    state: Object = {"running": {"startedAt": since}}
    if waiting:
        phase, state = ("Pending" if starting else phase), {"waiting": {"reason": waiting, "message": "Back-off"}}
    elif starting:
        phase, state = "Pending", {"waiting": {"reason": "ContainerCreating"}}
    elif phase != "Running":
        state = {"terminated": {"exitCode": int(phase == "Failed"), "finishedAt": since, "reason": "Completed"}}
    true = {"Initialized", "PodScheduled", *({"Ready", "ContainersReady"} if ready else ())}
    conditions: list[Object] = [
        {"type": t, "status": "True" if t in true else "False", "lastTransitionTime": since, "lastProbeTime": None}
        for t in _CONDITIONS
    ]
    if "disruption" in line.options:
        target = {"type": "DisruptionTarget", "status": "True", "reason": line.options["disruption"]}
        conditions.append({**target, "message": "preempting", "lastTransitionTime": since, "lastProbeTime": None})
    container = {"name": "main", "image": "registry.example/train:1", "ready": ready, "restartCount": crashes}
    made = {"phase": phase, "startTime": since, "conditions": conditions}
    made["containerStatuses"] = [{**container, "state": state}]
    if "before" in line.options:
        running: Object = {"running": {"startedAt": since}}
        done: Object = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": since, "finishedAt": since}}
        one = {"name": "before", "image": "busybox:1.36", "restartCount": 0, "ready": not before}
        made["initContainerStatuses"] = [{**one, "state": running if before else done}]
    return made


def event(line: Line, reason: str, target: Object, message: str) -> Object:
    """core/v1 Event. The scheduler writes the new form (eventTime), all others count."""
    about = target["metadata"]
    component = line.options.get("from", "default-scheduler")
    involved = {"apiVersion": target["apiVersion"], "kind": target["kind"], "name": about["name"], "uid": about["uid"]}
    if "namespace" in about:
        involved["namespace"] = about["namespace"]
    name = f"{about['name']}.{uid(reason, about['name'], message + str(line.at_s))[:12].replace('-', '')}"
    made: Object = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": about.get("namespace", "default"), "uid": uid("Event", "", name)},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "type": "Normal" if "normal" in line.words else "Warning",
        "reportingComponent": component,
        "reportingInstance": component,
    }
    made["metadata"]["creationTimestamp"] = stamp(line.moment_s("first", line.at_s))
    if component == "default-scheduler":
        timing: Object = {
            "eventTime": micro_stamp(line.at_s),
            "firstTimestamp": None,
            "lastTimestamp": None,
            "source": {},
        }
    else:
        first = stamp(line.moment_s("first", line.at_s))
        timing = {"eventTime": None, "firstTimestamp": first, "lastTimestamp": stamp(line.at_s)}
        timing |= {"count": line.number("count", 1), "source": {"component": component}}
    return {**made, **timing}


def quota(line: Line) -> Object:
    """A ResourceQuota; `hard:` and `used:` by resource, `scope=` as spec.scopes."""
    spec: Object = {"hard": dict(line.map("hard"))}
    if "scope" in line.options:
        spec["scopes"] = line.several("scope")
    status = {"hard": dict(line.map("hard")), "used": dict(line.map("used"))}
    about = metadata(line, "ResourceQuota", line.short, line.namespace)
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": about, "spec": spec, "status": status}


def claim(line: Line) -> list[Object]:
    """A claim and its volume. `mode=` (ReadWriteOnce), `only=NODE` or `zone=` for affinity, `class=`, `unbound`."""
    mode = line.options.get("mode", "ReadWriteOnce")
    volume = f"pvc-{uid('PersistentVolumeClaim', line.namespace, line.short)}"
    spec: Object = {"accessModes": [mode], "resources": {"requests": {"storage": "1Ti"}}}
    spec["storageClassName"] = line.options.get("class", "csi")
    about = metadata(line, "PersistentVolumeClaim", line.short, line.namespace)
    made: Object = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": about, "spec": spec}
    if "unbound" in line.words:
        return [{**made, "status": {"phase": "Pending"}}]
    made |= {"status": {"phase": "Bound", "accessModes": [mode], "capacity": {"storage": "1Ti"}}}
    spec["volumeName"] = volume
    reference = {"kind": "PersistentVolumeClaim", "namespace": line.namespace, "name": line.short, "uid": about["uid"]}
    pv_spec: Object = {"accessModes": [mode], "capacity": {"storage": "1Ti"}, "claimRef": reference}
    pv_spec |= {"csi": {"driver": "csi.example.com", "volumeHandle": volume}}
    pv_spec["storageClassName"] = spec["storageClassName"]
    places = {"only": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone"}
    terms = [
        {"key": label, "operator": "In", "values": line.several(key)}
        for key, label in places.items()
        if key in line.options
    ]
    if terms:
        pv_spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}
    pv_about = metadata(Line(line.at_s, "", volume, (), {}, {}), "PersistentVolume", volume)
    pv = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": pv_about, "spec": pv_spec}
    return [made, {**pv, "status": {"phase": "Bound"}}]


def custom(line: Line) -> Object:
    """Any kind: `api=`, `spec=` and `status=` as JSON."""
    kind = line.options["kind"]
    namespace = line.namespace if "/" in line.name else ""
    about = metadata(line, kind, line.short, namespace)
    made: Object = {"apiVersion": line.options["api"], "kind": kind, "metadata": about}
    for field in ("spec", "status"):
        if field in line.options:
            made[field] = json.loads(line.options[field])
    return made
