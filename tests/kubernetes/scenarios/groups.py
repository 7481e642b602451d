"""Everything that starts together, in the forms of the field: groups of schedulers and jobs of operators.

podgroup   NS/NAME form=native|x-k8s|volcano|kai min=4          pods name it with group=FORM:NAME
jobset     NS/NAME jobs=2 pods=2 on=... pending=...              one replicated job `w`
lws        NS/NAME size=4 on=... pending=...                     one group: a leader and its workers
pytorchjob NS/NAME workers=3 on=... pending=...                  a master and workers
mpijob     NS/NAME workers=3 on=... pending=...                  workers only, or flag `launcher`: it comes first
raycluster NS/NAME workers=3 min=1 on=... pending=...            a head and workers; min= lets it scale itself
"""

from typing import TYPE_CHECKING, Protocol

from tests.kubernetes.scenarios import making
from tests.kubernetes.scenarios.lines import Line
from tests.kubernetes.scenarios.making import Object

if TYPE_CHECKING:
    from tests.kubernetes.scenarios.incident import Incident


class Builder(Protocol):
    """Adds what one line stands for."""

    def __call__(self, incident: "Incident", line: Line) -> None: ...


def pod_group(line: Line) -> Object:
    """The group object of one of the schedulers."""
    forms: dict[str, tuple[str, Object]] = {
        "native": ("scheduling.k8s.io/v1alpha2", {"schedulingPolicy": {"gang": {"minCount": line.number("min")}}}),
        "x-k8s": ("scheduling.x-k8s.io/v1alpha1", {"minMember": line.number("min")}),
        "volcano": ("scheduling.volcano.sh/v1beta1", {"minMember": line.number("min"), "queue": "default"}),
        "kai": ("scheduling.run.ai/v2alpha2", {"minMember": line.number("min"), "queue": "team"}),
    }
    api, spec = forms[line.options["form"]]
    about = making.metadata(line, "PodGroup", line.short, line.namespace)
    return {"apiVersion": api, "kind": "PodGroup", "metadata": about, "spec": spec, "status": {}}


def _labelled(line: Line, **labels: str) -> Line:
    named = {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}
    return _with(line, named)


def _with(line: Line, labels: dict[str, str], **options: str) -> Line:
    maps = {**line.maps, "label": {**line.map("label"), **labels}}
    return Line(line.at_s, line.kind, line.name, line.words, {**line.options, **options}, maps)


def _owner(incident: "Incident", line: Line, kind: str, api: str, spec: Object) -> Object:
    about = making.metadata(line, kind, line.short, line.namespace)
    return incident.add({"apiVersion": api, "kind": kind, "metadata": about, "spec": spec, "status": {}})


def _template(line: Line) -> Object:
    return {"spec": making.pod_spec(line, "Never")}


def job_set(incident: "Incident", line: Line) -> None:
    jobs, size = line.number("jobs", 1), line.number("pods", 1)
    job_spec = {"parallelism": size, "completions": size, "completionMode": "Indexed", "template": _template(line)}
    replicated = {"name": "w", "replicas": jobs, "template": {"spec": job_spec}}
    spec: Object = {"replicatedJobs": [replicated]}
    owner = _owner(incident, line, "JobSet", "jobset.x-k8s.io/v1alpha2", spec)
    places = [*line.several("on"), *([""] * line.number("pending"))]
    labels = {"jobset.sigs.k8s.io/jobset-name": line.short, "jobset.sigs.k8s.io/replicatedjob-name": "w"}
    for number in range(jobs):
        name = f"{line.short}-w-{number}"
        marked = _with(line, {**labels, "jobset.sigs.k8s.io/job-index": str(number), "job-name": name})
        job = incident.workload(marked, "Job", {k: v for k, v in job_spec.items() if k != "template"}, name)
        job["metadata"]["ownerReferences"] = [making.owner_reference(owner)]
        mine = places[number * size : (number + 1) * size]
        job["status"] = {"active": len(mine), "ready": sum(map(bool, mine))}
        for index, on in enumerate(mine):
            incident.pod(marked, f"{name}-{index}-{making.suffix(name + str(index))}", on, owner=job)


def leader_worker_set(incident: "Incident", line: Line) -> None:
    size = line.number("size", 2)
    worker = {"size": size, "workerTemplate": _template(line)}
    spec: Object = {"replicas": 1, "startupPolicy": "LeaderCreated", "leaderWorkerTemplate": worker}
    owner = _owner(incident, line, "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", spec)
    own = "leaderworkerset.sigs.k8s.io/"
    places = [*line.several("on"), *([""] * line.number("pending"))]
    leaders = incident.workload(line, "StatefulSet", {"replicas": 1})
    leaders["metadata"]["ownerReferences"] = [making.owner_reference(owner)]
    made: list[Object] = []
    parent = leaders
    for index, on in enumerate(places):
        labels = {own + "name": line.short, own + "group-index": "0", own + "worker-index": str(index)}
        name = f"{line.short}-0" + (f"-{index}" if index else "")
        pod = incident.pod(_with(line, labels), name, on, owner=parent, restart="Always")
        pod["metadata"].setdefault("annotations", {})[own + "size"] = str(size)
        made.append(pod)
        if index == 0:
            parent = incident.workload(_with(line, labels), "StatefulSet", {"replicas": size - 1}, f"{line.short}-0")
            parent["metadata"]["ownerReferences"] = [making.owner_reference(pod)]


def pytorch_job(incident: "Incident", line: Line) -> None:
    workers = line.number("workers", 1)
    replicas = {"Master": {"replicas": 1}, "Worker": {"replicas": workers}}
    spec: Object = {"pytorchReplicaSpecs": {k: {**v, "template": _template(line)} for k, v in replicas.items()}}
    owner = _owner(incident, line, "PyTorchJob", "kubeflow.org/v1", spec)
    places = [*line.several("on"), *([""] * line.number("pending"))]
    for index, on in enumerate(places):
        role, number = ("master", 0) if index == 0 else ("worker", index - 1)
        labels = {"training.kubeflow.org/job-name": line.short, "training.kubeflow.org/replica-type": role}
        labels["training.kubeflow.org/replica-index"] = str(number)
        incident.pod(_with(line, labels), f"{line.short}-{role}-{number}", on, owner=owner)


def mpi_job(incident: "Incident", line: Line) -> None:
    workers = line.number("workers", 1)
    replicas = {"Launcher": {"replicas": 1}, "Worker": {"replicas": workers}}
    spec: Object = {"mpiReplicaSpecs": {k: {**v, "template": _template(line)} for k, v in replicas.items()}}
    owner = _owner(incident, line, "MPIJob", "kubeflow.org/v2beta1", spec)
    places = [*line.several("on"), *([""] * line.number("pending"))]
    if "launcher" in line.words:
        labels = {"training.kubeflow.org/job-name": line.short, "training.kubeflow.org/job-role": "launcher"}
        launcher = _with(line, labels)
        launcher = Line(launcher.at_s, "pod", launcher.name, (), {"cpu": "1"}, launcher.maps)
        job = incident.workload(launcher, "Job", {"completions": 1, "parallelism": 1}, f"{line.short}-launcher")
        job["metadata"]["ownerReferences"] = [making.owner_reference(owner)]
        incident.pod(launcher, f"{line.short}-launcher-{making.suffix(line.name)}", places.pop(0), owner=job)
    for index, on in enumerate(places):
        labels = {"training.kubeflow.org/job-name": line.short, "training.kubeflow.org/job-role": "worker"}
        labels["training.kubeflow.org/replica-index"] = str(index)
        incident.pod(_with(line, labels), f"{line.short}-worker-{index}", on, owner=owner)


def ray_cluster(incident: "Incident", line: Line) -> None:
    workers = line.number("workers", 1)
    group = {"groupName": "gpu", "replicas": workers, "minReplicas": line.number("min", workers)}
    spec: Object = {"headGroupSpec": {"template": _template(line)}, "workerGroupSpecs": [group]}
    if "min" in line.options:
        spec["enableInTreeAutoscaling"] = True
    group["template"] = _template(line)
    owner = _owner(incident, line, "RayCluster", "ray.io/v1", spec)
    places = [*line.several("on"), *([""] * line.number("pending"))]
    for index, on in enumerate(places):
        role = "head" if index == 0 else "worker"
        labels = {"ray.io/cluster": line.short, "ray.io/node-type": role}
        labels["ray.io/group"] = "headgroup" if index == 0 else "gpu"
        name = (
            f"{line.short}-head" if index == 0 else f"{line.short}-gpu-worker-{making.suffix(line.name + str(index))}"
        )
        incident.pod(_with(line, labels), name, on, owner=owner, restart="Always")


BUILDERS: dict[str, Builder] = {
    "jobset": job_set,
    "lws": leader_worker_set,
    "pytorchjob": pytorch_job,
    "mpijob": mpi_job,
    "raycluster": ray_cluster,
}
