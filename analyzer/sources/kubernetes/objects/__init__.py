"""Kubernetes objects as partial, typed, frozen structs: only the fields that decide anything here.

Field names are the API's in snake case. A field that the API may leave out has a default; only fields of a struct
type, counts where 0 means something else than absent, and times that the API prints as null may be None. A null
in any other place is read as absent (`analyzer/sources/kubernetes/decoding.py`). Times stay RFC 3339 texts:
`times.parse_ns` reads them where they are needed.
"""

from analyzer.sources.kubernetes.objects.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from analyzer.sources.kubernetes.objects.cluster import (
    Lease,
    Namespace,
    Node,
    PodDisruptionBudget,
    PriorityClass,
    ResourceQuota,
)
from analyzer.sources.kubernetes.objects.custom import Custom, Other
from analyzer.sources.kubernetes.objects.event import Event
from analyzer.sources.kubernetes.objects.metadata import (
    Condition,
    LabelSelector,
    Metadata,
    OwnerReference,
    Quantity,
    Requirement,
)
from analyzer.sources.kubernetes.objects.network import EndpointSlice, Service
from analyzer.sources.kubernetes.objects.pod import Container, ContainerStatus, Pod, PodSpec, PodTemplate, Toleration
from analyzer.sources.kubernetes.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from analyzer.sources.kubernetes.objects.workload import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

BuiltIn = (
    Pod
    | Node
    | Event
    | Job
    | CronJob
    | Deployment
    | ReplicaSet
    | ReplicationController
    | StatefulSet
    | DaemonSet
    | PersistentVolumeClaim
    | PersistentVolume
    | StorageClass
    | ResourceQuota
    | PriorityClass
    | PodDisruptionBudget
    | Namespace
    | Lease
    | Service
    | EndpointSlice
    | ValidatingWebhookConfiguration
    | MutatingWebhookConfiguration
)
KubeObject = BuiltIn | Custom | Other

__all__ = [
    "BuiltIn",
    "Condition",
    "Container",
    "ContainerStatus",
    "CronJob",
    "Custom",
    "DaemonSet",
    "Deployment",
    "EndpointSlice",
    "Event",
    "Job",
    "KubeObject",
    "LabelSelector",
    "Lease",
    "Metadata",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "Other",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PodSpec",
    "PodTemplate",
    "PriorityClass",
    "Quantity",
    "ReplicaSet",
    "ReplicationController",
    "Requirement",
    "ResourceQuota",
    "Service",
    "StatefulSet",
    "StorageClass",
    "Toleration",
    "ValidatingWebhookConfiguration",
]
