"""From the lines of a scenario to the files of an incident, as `kubectl get -o json` and a scheduler's log would be.

Lines that make objects (options beside those of `making.py`):

    node   gpu-[0-3] gpu=8 cordoned notready=5m offline zone=a label:k=v taint:k=v:NoSchedule
    pod    NS/NAME on=NODE | says="Insufficient nvidia.com/gpu" | (neither: nobody has tried to place it)
           of=Kind/NAME since=2m priority=9 nominated=NODE deleted=3m finalizer=x disruption=PreemptionByScheduler
           claim=a,b group=FORM:NAME command="torchrun train.py" done failed unready creating spread
           waiting=ImagePullBackOff crashes=7 (its container does not run), before="nc -z db 5432" image=... (an
           init container that runs)
    job    NS/NAME pods=4 indexed on=a,b pending=2 says=... suspended ; the rest is not made
    deployment NS/NAME replicas=2 surge=1 unavailable=0 recreate paused
    replicaset NS/NAME-HASH of=Deployment/NAME replicas=2 on=a,b | pending=1 says=...
    statefulset NS/NAME replicas=3 parallel on=a pending=1 | daemonset NS/NAME on=a,b
           revision=OLD update=NEW updated=2 partition=1 ondelete: how far its roll-out is (`ordered.py`)
    podgroup NS/NAME form=native|x-k8s|volcano|kai min=4
    jobset, lws, pytorchjob, mpijob, raycluster: `groups.py`; Kueue: `queues.py`; DRA: `devices.py`; Argo: `argo.py`
    quota  NS/NAME hard:requests.nvidia.com/gpu=8 used:requests.nvidia.com/gpu=8
    pvc    NS/NAME mode=ReadWriteOncePod only=NODE zone=a unbound
    custom NS/NAME kind=Lease api=coordination.k8s.io/v1 spec='{}' status='{}'
    event  REASON Kind/NS/NAME "message" from=cluster-autoscaler count=3 first=1m normal
    note   REASON Kind/NS/NAME "message" ... the same about something that is not there (any more); life=2: its second
    log    "Pod is waiting to be scheduled to node" pod=NS/NAME nodeName=gpu-0
    end    20m                       the latest moment that the files know of

`says` is completed to the scheduler's full sentence, unless the flag `verbatim` is there;
`tail=novictims|unhelpful|none` chooses what it says about preemption, `reason=` is that of the pod's condition.
"""

import json
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from tests.kubernetes.scenarios import argo, devices, groups, making, network, ordered, queues, storage
from tests.kubernetes.scenarios.lines import Line, klog_stamp, parse, seconds
from tests.kubernetes.scenarios.making import Object

_API = {"Job": "batch/v1", "Pod": "v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1"}
_API["DaemonSet"] = "apps/v1"
_FILES = {"Node": "nodes", "Pod": "pods", "Event": "events"}
_CLUSTER = {"ResourceQuota", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "PriorityClass", "Lease"}
_MARKS = {
    "x-k8s": ("labels", "scheduling.x-k8s.io/pod-group"),
    "volcano": ("annotations", "scheduling.k8s.io/group-name"),
    "kai": ("annotations", "pod-group-name"),
    "koordinator": ("annotations", "gang.scheduling.koordinator.sh/name"),
    "kueue": ("labels", "kueue.x-k8s.io/pod-group-name"),
}


class Incident:
    """The objects of one scenario and its log, in the order of the text."""

    def __init__(self, text: str) -> None:
        self.objects: list[Object] = []
        self.log: list[str] = []
        self._lines = list(parse(text))
        self._node_count = sum(line.kind == "node" for line in self._lines)
        makers: dict[str, Callable[[Line], object]] = {
            "node": lambda line: self.add(making.node(line)),
            "pod": self._single,
            "job": self._job,
            "deployment": self._deployment,
            "replicaset": self._replica_set,
            "statefulset": self._stateful_set,
            "daemonset": self._daemon_set,
            "podgroup": lambda line: self.add(groups.pod_group(line)),
            "quota": lambda line: self.add(making.quota(line)),
            "pvc": lambda line: [self.add(made) for made in making.claim(line)],
            "custom": lambda line: self.add(making.custom(line)),
            "event": self._event,
            "note": self._note,
            "log": self._log,
            "end": self._end,
            **{
                kind: self._group(build)
                for part in (groups, queues, devices, argo, network, storage)
                for kind, build in part.BUILDERS.items()
            },
        }
        for line in self._lines:
            makers[line.kind](line)
        if not any(line.kind == "end" for line in self._lines):
            raise ValueError("a scenario needs a line `end MOMENT`")
        for number, made in enumerate(self.objects):
            made["metadata"]["resourceVersion"] = str(100 + number)

    def add(self, made: Object) -> Object:
        self.objects.append(made)
        return made

    def find(self, kind: str, namespace: str, name: str) -> Object:
        """The first object so called; globs allowed, since controllers append letters to names."""
        for made in self.objects:
            about = made["metadata"]
            same = made["kind"] == kind and about.get("namespace", "") == namespace
            if same and fnmatchcase(about["name"], name):
                return made
        raise ValueError(f"no {kind} {namespace}/{name} in the lines above")

    def _said(self, line: Line) -> str:
        text = line.options.get("says", "")
        if not text or text.startswith("0/") or "verbatim" in line.words:
            return text
        count = self._node_count
        if not text[0].isdigit():
            text = f"{count} {text}"
        verdict = {"novictims": "No preemption victims found for incoming pod", "none": ""}
        verdict["unhelpful"] = "Preemption is not helpful for scheduling"
        said = verdict[line.options.get("tail", "novictims")]
        tail = (
            f" no new claims to deallocate, preemption: 0/{count} nodes are available: {count} {said}." if said else ""
        )
        return f"0/{count} nodes are available: {text}.{tail}"

    def pod(self, line: Line, name: str, on: str, *, owner: Object | None = None, restart: str = "Never") -> Object:
        """One pod, its marks as a member of a gang, and the scheduler's event if it was refused."""
        said = "" if on else self._said(line)
        about = making.metadata(line, "Pod", name, line.namespace)
        if owner is not None:
            about["ownerReferences"] = [making.owner_reference(owner)]
        form, _, group = line.options.get("group", "").partition(":")
        if form in _MARKS:
            field, key = _MARKS[form]
            about.setdefault(field, {})[key] = group
        spec = making.pod_spec(line, restart)
        if on:
            spec["nodeName"] = on
        status = making.pod_status(line, on, said)
        made = self.add({"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec, "status": status})
        devices.claims_of_pod(self, line, made, on)
        if said:
            moment = Line(line.moment_s("since", line.at_s), "event", "", (), {}, {})
            self.add(making.event(moment, "FailedScheduling", made, said))
        return made

    def pods(self, line: Line, owner: Object, names: list[str], restart: str) -> list[Object]:
        """The first names are bound to `on`, the next `pending` wait, the rest are not made."""
        places = [*line.several("on"), *([""] * line.number("pending"))]
        return [self.pod(line, name, on, owner=owner, restart=restart) for name, on in zip(names, places, strict=False)]

    def workload(self, line: Line, kind: str, spec: Object, name: str = "") -> Object:
        """An owner with a pod template, itself owned where the line says `of=Kind/NAME`."""
        name = name or line.short
        about = making.metadata(_of_owner(line), kind, name, line.namespace)
        if "of" in line.options:
            about["ownerReferences"] = [making.owner_reference(self._owner(line))]
        template: Object = {"metadata": {}, "spec": making.pod_spec(line, "Never" if kind == "Job" else "Always")}
        for field, key in (("labels", "label"), ("annotations", "ann")):
            if line.map(key):
                template["metadata"][field] = dict(line.map(key))
        made = {"apiVersion": _API[kind], "kind": kind, "metadata": about, "spec": {**spec, "template": template}}
        return self.add({**made, "status": {}})

    def _owner(self, line: Line) -> Object:
        kind, _, name = line.options["of"].partition("/")
        return self.find(kind, line.namespace, name)

    def _single(self, line: Line) -> None:
        owner = self._owner(line) if "of" in line.options else None
        self.pod(line, line.short, line.options.get("on", ""), owner=owner)

    def _job(self, line: Line) -> None:
        count = line.number("pods", 1)
        spec: Object = {"completions": count, "parallelism": line.number("parallelism", count), "backoffLimit": 6}
        spec |= {
            "suspend": "suspended" in line.words,
            "completionMode": "Indexed" if "indexed" in line.words else "NonIndexed",
        }
        if "joblimit" in line.options:
            spec["activeDeadlineSeconds"] = line.number("joblimit")
        owner = self.workload(line, "Job", spec)
        label = {**line.map("label"), "batch.kubernetes.io/job-name": line.short, "job-name": line.short}
        marked = Line(line.at_s, line.kind, line.name, line.words, line.options, {**line.maps, "label": label})
        index = "-{}" if "indexed" in line.words else ""
        names = [line.short + index.format(n) + "-" + making.suffix(f"{line.name}{n}") for n in range(count)]
        made = self.pods(marked, owner, names, "Never")
        for number, pod in enumerate(made):
            if index:
                pod["metadata"].setdefault("annotations", {})["batch.kubernetes.io/job-completion-index"] = str(number)
            pod["metadata"].setdefault("finalizers", []).append("batch.kubernetes.io/job-tracking")
        ready = sum("nodeName" in pod["spec"] for pod in made)
        owner["status"] = {"active": len(made), "ready": ready, "startTime": owner["metadata"]["creationTimestamp"]}

    def _deployment(self, line: Line) -> None:
        limits = {"maxSurge": _percent(line, "surge"), "maxUnavailable": _percent(line, "unavailable")}
        strategy: Object = {"type": "RollingUpdate", "rollingUpdate": limits}
        if "recreate" in line.words:
            strategy = {"type": "Recreate"}
        spec: Object = {"replicas": line.number("replicas", 1), "strategy": strategy, "progressDeadlineSeconds": 600}
        if "paused" in line.words:
            spec["paused"] = True
        made = self.workload(line, "Deployment", {**spec, "selector": {"matchLabels": {"app": line.short}}})
        made["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": line.options.get("revision", "1")}

    def _replica_set(self, line: Line) -> None:
        deployment = self._owner(line)
        name, _, digest = line.short.rpartition("-")
        label = {"app": name, "pod-template-hash": digest}
        marked = Line(line.at_s, line.kind, line.name, line.words, line.options, {**line.maps, "label": label})
        made = self.workload(marked, "ReplicaSet", {"replicas": line.number("replicas", 1)})
        made["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": line.options.get("revision", "1")}
        names = [f"{line.short}-{making.suffix(f'{line.name}{n}')}" for n in range(line.number("replicas", 1))]
        pods = self.pods(marked, made, names, "Always")
        ready = sum(is_ready(pod) for pod in pods)
        made["status"] = {"replicas": len(pods), "readyReplicas": ready, "availableReplicas": ready}
        total = deployment["status"].get("replicas", 0) + len(pods)
        total_ready = deployment["status"].get("readyReplicas", 0) + ready
        newest = (
            line.options.get("revision", "1")
            == deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        )
        updated = len(pods) if newest else deployment["status"].get("updatedReplicas", 0)
        deployment["status"] = {"replicas": total, "readyReplicas": total_ready, "availableReplicas": total_ready}
        deployment["status"] |= {"updatedReplicas": updated, "unavailableReplicas": total - total_ready}

    def _stateful_set(self, line: Line) -> None:
        count = line.number("replicas", 1)
        policy = "Parallel" if "parallel" in line.words else "OrderedReady"
        made = self.workload(line, "StatefulSet", {"replicas": count, "podManagementPolicy": policy})
        if "revision" in line.options:
            line = ordered.with_revision(line, made)
        pods = self.pods(line, made, [f"{line.short}-{n}" for n in range(count)], "Always")
        made["status"] |= {"replicas": len(pods), "readyReplicas": sum(is_ready(pod) for pod in pods)}

    def _daemon_set(self, line: Line) -> None:
        made = self.workload(line, "DaemonSet", {})
        names = [f"{line.short}-{making.suffix(f'{line.name}{n}')}" for n in range(len(line.several("on")))]
        self.pods(line, made, names, "Always")

    def _group(self, build: Callable[["Incident", Line], None]) -> Callable[[Line], None]:
        return lambda line: build(self, line)

    def _event(self, line: Line) -> None:
        target, message = line.words[0], line.words[1]
        kind, *namespace, name = target.split("/")
        self.add(making.event(line, line.name, self.find(kind, "".join(namespace), name), message))

    def _note(self, line: Line) -> None:
        """An event about something that is gone, or was not handed over."""
        kind, *namespace, name = line.words[0].split("/")
        place = "".join(namespace)
        about = {"name": name, "namespace": place, "uid": making.uid(kind, place, name + line.options.get("life", ""))}
        gone: Object = {"apiVersion": _API.get(kind, "v1"), "kind": kind, "metadata": about}
        self.add(making.event(line, line.name, gone, line.words[1]))

    def _log(self, line: Line) -> None:
        level = line.options.get("level", "I")
        pairs = "".join(f' {key}="{value}"' for key, value in line.options.items() if key != "level")
        self.log.append(f'{level}{klog_stamp(line.at_s)}       1 schedule_one.go:123] "{line.name}"{pairs}')

    def _end(self, line: Line) -> None:
        moment = Line(seconds(line.name), "event", "", ("normal",), {"from": "kubelet"}, {})
        node = next((made for made in self.objects if made["kind"] == "Node"), None)
        about = (
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "elsewhere", "uid": "0"}}
            if node is None
            else node
        )
        self.add(making.event(moment, "NodeHasSufficientMemory", about, "Node status is now: NodeHasSufficientMemory"))

    def lists(self) -> dict[str, list[Object]]:
        """The objects by file stem, as people dump them."""
        files: dict[str, list[Object]] = {stem: [] for stem in ("nodes", "pods", "workloads", "cluster", "events")}
        for made in self.objects:
            stem = _FILES.get(made["kind"]) or ("cluster" if made["kind"] in _CLUSTER else "workloads")
            files[stem].append(made)
        return files

    def write(self, folder: Path) -> Path:
        """All files into the folder, which must not exist; empty lists are written as kubectl prints them."""
        folder.mkdir(parents=True)
        for stem, items in self.lists().items():
            (folder / f"{stem}.json").write_text(as_list(items), "utf-8")
        if self.log:
            (folder / "kube-scheduler.log").write_text("\n".join(self.log) + "\n", "utf-8")
        return folder


def _of_owner(line: Line) -> Line:
    """What is said of the pods alone (annotations, deletion) is not true of the owner."""
    options = {key: value for key, value in line.options.items() if key not in ("deleted", "finalizer")}
    return Line(
        line.at_s, line.kind, line.name, line.words, options, {k: v for k, v in line.maps.items() if k != "ann"}
    )


def is_ready(pod: Object) -> bool:
    """Whether the pod says that it is ready."""
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def _percent(line: Line, key: str) -> int | str:
    value = line.options.get(key, "25%")
    return value if value.endswith("%") else int(value)


def as_list(items: list[Object]) -> str:
    """`kubectl get -o json` of several objects."""
    whole = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    return json.dumps(whole, indent=4, sort_keys=True) + "\n"
