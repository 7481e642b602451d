"""Kubernetes objects as the API server shows them, field for field after a recording of v1.36, cut to one cluster."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from benchmarks.plan import (
    AS_OF_NS,
    GPUS_PER_NODE,
    HOUR_NS,
    NODE_CPU_MILLI,
    NODE_MEMORY_MI,
    NODE_PODS,
    Gang,
    Group,
    Owner,
    Shape,
)
from benchmarks.pods import Phase, Pod, owner_uid, template_hash

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
POOL_LABEL = "example.com/pool"
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
NODE_AGE_NS = 1000 * HOUR_NS
GRACE = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
OWNER_VERSIONS = {Owner.DAEMON_SET: "apps/v1", Owner.DEPLOYMENT: "apps/v1", Owner.JOB: "batch/v1"}


def time_text(at_ns: int) -> str:
    """RFC 3339, whole seconds, as Kubernetes writes it."""
    return datetime.fromtimestamp(at_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(name: str, pool: str, version: int) -> Json:
    """A ready node with 8 GPUs."""
    at = time_text(AS_OF_NS - NODE_AGE_NS)
    units = {"cpu": f"{NODE_CPU_MILLI // 1000}", "ephemeral-storage": "3000Gi", "memory": f"{NODE_MEMORY_MI // 1024}Gi"}
    units |= {GPU: str(GPUS_PER_NODE), "pods": str(NODE_PODS)}
    healthy = {"MemoryPressure": "HasSufficientMemory", "DiskPressure": "HasNoDiskPressure"}
    healthy |= {"PIDPressure": "HasSufficientPID"}
    conditions = [
        {**_condition(kind, at, status="False"), "lastHeartbeatTime": at, "reason": f"Kubelet{reason}"}
        for kind, reason in healthy.items()
    ]
    conditions.append({**_condition("Ready", at), "lastHeartbeatTime": at, "reason": "KubeletReady"})
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    labels |= {"nvidia.com/gpu.count": str(GPUS_PER_NODE), "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(name, None, at, version, labels=labels | {POOL_LABEL: pool}),
        "spec": {},
        "status": {
            "allocatable": units,
            "capacity": units,
            "conditions": conditions,
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": "amd64",
                "containerRuntimeVersion": "containerd://1.7.27",
                "kernelVersion": "6.8.0",
                "kubeletVersion": "v1.36.3",
                "operatingSystem": "linux",
                "osImage": "Ubuntu 24.04",
            },
        },
    }


def pod(group: Group, member: Pod, version: int, message: str, *, managed_fields: bool) -> Json:
    """One pod of the group. `message`: what the scheduler says about it while it is pending."""
    at = time_text(group.created_ns)
    metadata = _metadata(member.name, group.namespace, at, version, uid=member.uid, labels=_pod_labels(group, member))
    metadata["generateName"] = member.name[:-5]
    metadata["ownerReferences"] = [_controller(group)]
    annotations = _pod_annotations(group, member)
    if annotations:
        metadata["annotations"] = annotations
    if group.owner is Owner.JOB and member.phase is not Phase.SUCCEEDED:
        metadata["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    if managed_fields:
        metadata["managedFields"] = _managed_fields(member, at)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": _pod_spec(group, member),
        "status": _pod_status(member, at, message),
    }


def owners(group: Group, version: int) -> list[Json]:
    """The controller of the group, and the ReplicaSet that a Deployment made."""
    at = time_text(group.created_ns)
    uid = owner_uid(group)
    template = {"metadata": {"labels": {"app": group.name}}, "spec": _template_spec(group)}
    if group.gang is Gang.ANNOTATION:
        template["metadata"]["annotations"] = {"knotwatch.dev/min-available": str(group.size)}
    metadata = _metadata(group.name, group.namespace, at, version, uid=uid, labels={"app": group.name})
    made: Json = {"apiVersion": OWNER_VERSIONS[group.owner], "kind": group.owner.value, "metadata": metadata}
    count = group.size
    match group.owner:
        case Owner.DAEMON_SET:
            made["spec"] = {"selector": {"matchLabels": {"app": group.name}}, "template": template}
            made["status"] = {"desiredNumberScheduled": count, "numberReady": count, "currentNumberScheduled": count}
            return [made]
        case Owner.DEPLOYMENT:
            made["spec"] = {"replicas": count, "selector": {"matchLabels": {"app": group.name}}, "template": template}
            made["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
            made["status"] = {"observedGeneration": 1, "replicas": count, "readyReplicas": count}
            made["status"] |= {"availableReplicas": count, "updatedReplicas": count}
            return [made, _replica_set(group, made, version + 1)]
        case Owner.JOB:
            made["spec"] = {"backoffLimit": 6, "completions": count, "parallelism": count, "template": template}
            made["spec"]["completionMode"] = "Indexed" if group.gang else "NonIndexed"
            active = len(group.nodes) + group.pending
            made["status"] = {"active": active, "ready": len(group.nodes), "startTime": at}
            made["status"] |= {"succeeded": group.finished} if group.finished else {}
            return [made]


def priority_class() -> Json:
    """The one priority class that every cluster has."""
    metadata = _metadata("system-node-critical", None, time_text(AS_OF_NS - NODE_AGE_NS), 1)
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": metadata,
        "value": 2_000_001_000,
    }


def _metadata(
    name: str, namespace: str | None, at: str, version: int, *, uid: str = "", labels: dict[str, str] | None = None
) -> Json:
    metadata: Json = {"creationTimestamp": at, "generation": 1, "name": name, "resourceVersion": str(version)}
    metadata["uid"] = uid or str(UUID(int=version, version=4))
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = labels
    return metadata


def _replica_set(group: Group, deployment: Json, version: int) -> Json:
    name = f"{group.name}-{template_hash(group)}"
    metadata = _metadata(name, group.namespace, deployment["metadata"]["creationTimestamp"], version)
    metadata["ownerReferences"] = [_reference("apps/v1", "Deployment", group.name, owner_uid(group))]
    metadata["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    metadata["uid"] = _replica_set_uid(group)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {key: deployment["spec"][key] for key in ("replicas", "selector", "template")},
        "status": {key: deployment["status"][key] for key in ("replicas", "readyReplicas", "availableReplicas")},
    }


def pod_group(group: Group, version: int) -> Json:
    """The PodGroup of the scheduler plugins, by which the gang is declared."""
    at = time_text(group.created_ns)
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": _metadata(group.name, group.namespace, at, version),
        "spec": {"minMember": group.size, "scheduleTimeoutSeconds": 60},
        "status": {"phase": "Scheduling" if group.pending else "Running", "scheduled": len(group.nodes)},
    }


def _replica_set_uid(group: Group) -> str:
    return owner_uid(group)[:-4] + "0000"


def _reference(version: str, kind: str, name: str, uid: str) -> Json:
    made: Json = {"apiVersion": version, "blockOwnerDeletion": True, "controller": True, "kind": kind}
    return made | {"name": name, "uid": uid}


def _controller(group: Group) -> Json:
    if group.owner is Owner.DEPLOYMENT:
        name = f"{group.name}-{template_hash(group)}"
        return _reference("apps/v1", "ReplicaSet", name, _replica_set_uid(group))
    return _reference(OWNER_VERSIONS[group.owner], group.owner.value, group.name, owner_uid(group))


def _pod_labels(group: Group, member: Pod) -> dict[str, str]:
    match group.owner:
        case Owner.DAEMON_SET:
            return {"app": group.name, "controller-revision-hash": "5bc9f99d6b", "pod-template-generation": "1"}
        case Owner.DEPLOYMENT:
            return {"app": group.name, "pod-template-hash": template_hash(group)}
        case Owner.JOB:
            uid = owner_uid(group)
            labels = {"app": group.name, "controller-uid": uid, "job-name": group.name}
            labels |= {"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": group.name}
            if group.gang:
                labels["batch.kubernetes.io/job-completion-index"] = str(member.index)
            if group.gang is Gang.POD_GROUP:
                labels["scheduling.x-k8s.io/pod-group"] = group.name
            return labels


def _pod_annotations(group: Group, member: Pod) -> dict[str, str]:
    annotations = {"batch.kubernetes.io/job-completion-index": str(member.index)} if group.gang else {}
    if group.gang is Gang.ANNOTATION:
        annotations["knotwatch.dev/min-available"] = str(group.size)
    return annotations


def _requests(shape: Shape) -> dict[str, str]:
    cpu = f"{shape.cpu_milli // 1000}" if shape.cpu_milli % 1000 == 0 else f"{shape.cpu_milli}m"
    memory = f"{shape.memory_mi // 1024}Gi" if shape.memory_mi % 1024 == 0 else f"{shape.memory_mi}Mi"
    return {"cpu": cpu, "memory": memory} | ({GPU: str(shape.gpus)} if shape.gpus else {})


def _container(group: Group) -> Json:
    requests = _requests(group.shape)
    return {
        "image": f"registry.example/{group.pool or 'agent'}:1",
        "imagePullPolicy": "IfNotPresent",
        "name": "main",
        "resources": {"limits": requests, "requests": requests},
        **GRACE,
    }


def _template_spec(group: Group) -> Json:
    return {
        "containers": [_container(group)],
        "dnsPolicy": "ClusterFirst",
        **({"nodeSelector": {POOL_LABEL: group.pool}} if group.pool else {}),
        "restartPolicy": "Never" if group.owner is Owner.JOB else "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def _pod_spec(group: Group, member: Pod) -> Json:
    token = f"kube-api-access-{member.name[-5:]}"
    container = _container(group)
    container["volumeMounts"] = [{"mountPath": SERVICE_ACCOUNT, "name": token, "readOnly": True}]
    if group.gang:
        path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
        source = {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}
        container["env"] = [{"name": "JOB_COMPLETION_INDEX", "valueFrom": source}]
    spec = _template_spec(group) | {"containers": [container], "volumes": [_token_volume(token)]}
    spec |= {"enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority", "priority": 0}
    spec |= {"serviceAccount": "default", "serviceAccountName": "default"}
    unreachable = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    spec["tolerations"] = [
        {"effect": "NoExecute", "key": key, "operator": "Exists", "tolerationSeconds": 300} for key in unreachable
    ]
    if member.node:
        spec["nodeName"] = member.node
    if group.owner is Owner.DAEMON_SET:
        only = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [member.node]}]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": only}}
        spec["affinity"] = {"nodeAffinity": required}
        spec["tolerations"] = [{"operator": "Exists"}, *spec["tolerations"]]
    return spec


def _token_volume(name: str) -> Json:
    certificate = {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources: list[Json] = [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]
    sources += [{"configMap": certificate}, {"downwardAPI": {"items": [{"fieldRef": field, "path": "namespace"}]}}]
    return {"name": name, "projected": {"defaultMode": 420, "sources": sources}}


def _condition(kind: str, at: str, *, status: str = "True") -> Json:
    return {"lastTransitionTime": at, "status": status, "type": kind}


def _pod_status(member: Pod, at: str, message: str) -> Json:
    if member.phase is Phase.PENDING:
        condition = _condition("PodScheduled", at, status="False")
        condition |= {"lastProbeTime": None, "message": message, "reason": "Unschedulable"}
        return {"conditions": [condition], "phase": "Pending", "qosClass": "Guaranteed"}
    done = member.phase is Phase.SUCCEEDED
    ready = "False" if done else "True"
    states = {"Initialized": "True", "Ready": ready, "ContainersReady": ready, "PodScheduled": "True"}
    running: Json = {"running": {"startedAt": at}}
    ended: Json = {"terminated": {"exitCode": 0, "finishedAt": at, "reason": "Completed", "startedAt": at}}
    address = f"10.{member.index % 250}.{len(member.name)}.{member.index // 250}"
    return {
        "conditions": [
            {"lastProbeTime": None, **_condition(kind, at, status=status)} for kind, status in states.items()
        ],
        "containerStatuses": [
            {
                "image": "registry.example/train:1",
                "imageID": "registry.example/train@sha256:" + "0" * 64,
                "lastState": {},
                "name": "main",
                "ready": not done,
                "restartCount": 0,
                "state": ended if done else running,
            }
        ],
        "phase": member.phase.value,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "qosClass": "Guaranteed",
        "startTime": at,
    }


def _managed_fields(member: Pod, at: str) -> list[Json]:
    """Who set which field: what `kubectl get --show-managed-fields` adds, about as long as the real thing."""

    def entry(owner: str, fields: Json) -> Json:
        return {"apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": owner, "time": at} | {
            "operation": "Update"
        }

    container: Json = {"f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {".": {}, "f:limits": {}}}
    spec: Json = {"f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:restartPolicy": {}, "f:schedulerName": {}}
    spec |= {"f:containers": {'k:{"name":"main"}': {".": {}, **container}}, "f:nodeSelector": {}}
    made: Json = {"f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {}}, "f:ownerReferences": {}}}
    entries = [entry("kube-controller-manager", {**made, "f:spec": spec})]
    if member.node:
        kinds = ("ContainersReady", "Initialized", "Ready")
        each: Json = {f'k:{{"type":"{kind}"}}': {".": {}, "f:lastTransitionTime": {}, "f:status": {}} for kind in kinds}
        status: Json = {"f:conditions": each, "f:containerStatuses": {}, "f:phase": {}, "f:podIP": {}}
        entries.append(entry("kubelet", {"f:status": status}) | {"subresource": "status"})
    return entries
