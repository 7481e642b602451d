"""What to collect of Kubernetes: every kind that decides something, as far as the cluster has it, and some logs.

All commands only read. Secrets and ConfigMaps are in no table, so they are never asked for.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from analyzer.collect.command import Command, Redaction

KUBECTL = "kubectl"

DISCOVERY: tuple[tuple[bool, tuple[str, ...]], ...] = tuple(
    (
        namespaced,
        (KUBECTL, "api-resources", "--verbs=list", f"--namespaced={str(namespaced).lower()}", "-o", "name",
         "--request-timeout=15s"),
    )
    for namespaced in (True, False)
)  # fmt: skip
"""Which kinds there are: whether they live in namespaces, and the command that prints them, a `plural.group` a line."""

VERSION = (KUBECTL, "version", "-o", "json", "--request-timeout=15s")

_LISTED_WITHIN_S = 120
_LOGGED_WITHIN_S = 60

WANTED = (
    # First what changes quickest, so that it belongs together.
    "pods", "events", "nodes", "workloads.kueue.x-k8s.io", "podgroups.*", "compositepodgroups.*",
    "jobs.batch", "deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "cronjobs.batch",
    "replicationcontrollers", "namespaces", "resourcequotas", "limitranges",
    "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io", "csinodes.storage.k8s.io",
    "volumeattachments.storage.k8s.io", "csistoragecapacities.storage.k8s.io",
    "poddisruptionbudgets.policy", "priorityclasses.scheduling.k8s.io", "workloads.scheduling.k8s.io",
    "leases.coordination.k8s.io",
    "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io", "resourceslices.resource.k8s.io",
    "deviceclasses.resource.k8s.io", "computedomains.resource.nvidia.com", "computedomaincliques.resource.nvidia.com",
    "services", "endpointslices.discovery.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "apiservices.apiregistration.k8s.io",
    "clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io",
    "resourceflavors.kueue.x-k8s.io", "admissionchecks.kueue.x-k8s.io", "topologies.kueue.x-k8s.io",
    "workloadpriorityclasses.kueue.x-k8s.io", "provisioningrequests.autoscaling.x-k8s.io",
    "elasticquotas.scheduling.*", "queues.scheduling.*", "hypernodes.topology.volcano.sh", "*.batch.volcano.sh",
    "reservations.scheduling.koordinator.sh",
    "jobsets.jobset.x-k8s.io", "leaderworkersets.leaderworkerset.x-k8s.io",
    "*jobs.kubeflow.org", "notebooks.kubeflow.org", "trainjobs.trainer.kubeflow.org",
    "rayclusters.ray.io", "rayjobs.ray.io", "rayservices.ray.io",
    "workflows.argoproj.io", "cronworkflows.argoproj.io",
    "appwrappers.workload.codeflare.dev", "sparkapplications.sparkoperator.k8s.io",
    "nodepools.karpenter.sh", "nodeclaims.karpenter.sh",
)  # fmt: skip
"""Kinds by plural and group, as patterns, in the order in which they are asked for. What is not there is not missed."""

LOGGED = re.compile(
    r"kube-scheduler|kube-controller-manager|cluster-autoscaler|karpenter|descheduler"
    r"|kueue-controller-manager|volcano-(?:scheduler|controllers)|kai-scheduler|scheduler-plugins|koord-scheduler"
    r"|(?:podgrouper|binder)-|yunikorn-scheduler|jobset-controller|lws-controller|training-operator|kuberay-operator"
    r"|mpi-operator|workflow-controller|argo-workflows-workflow-controller|nvidia-dra-driver-gpu-controller"
)
"""Names of pods whose logs tell what the objects do not, by their beginning."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
"""What Kubernetes takes for a name. An answer with anything else in it becomes neither a path nor an argument."""

_TAIL_LINES = 50_000
_LOG_PODS_MAX = 40
"""Three control planes' worth; a pattern that fits more fits something else."""


class Kind(Struct, frozen=True):
    """A kind that the cluster has: `plural.group`, and whether its objects live in namespaces."""

    name: str
    namespaced: bool


def is_name(word: str) -> bool:
    """Whether it can be the name of a namespace, an object or a kind."""
    return _NAME.fullmatch(word) is not None and ".." not in word


def wanted(kinds: Iterable[Kind]) -> list[Kind]:
    """Those of the kinds that are to be collected, in the order of the table."""
    places: dict[Kind, int] = {}
    for kind in kinds:
        place = next((at for at, pattern in enumerate(WANTED) if fnmatchcase(kind.name, pattern)), None)
        if place is not None and is_name(kind.name):
            places[kind] = place
    return sorted(places, key=lambda kind: (places[kind], kind.name))


def lists(kinds: Iterable[Kind], namespaces: Sequence[str]) -> tuple[Command, ...]:
    """The commands that print all objects of these kinds, of these namespaces only if some are given."""
    commands: list[Command] = []
    for kind in wanted(kinds):
        where: list[tuple[str, tuple[str, ...]]] = [("", ())]
        if kind.namespaced:
            where = [(f"{one}/", ("-n", one)) for one in namespaces] or [("", ("-A",))]
        commands += [
            Command(
                file=f"{folder}{kind.name}.json",
                argv=(KUBECTL, "get", kind.name, *scope, "-o", "json", "--chunk-size=500"),
                redact=Redaction.OBJECTS,
                timeout_s=_LISTED_WITHIN_S,
            )
            for folder, scope in where
        ]
    return tuple(commands)


def logs(pods: Iterable[tuple[str, str]], since: str) -> tuple[Command, ...]:
    """The commands that print the logs of schedulers and controllers among these pods (namespace, name)."""
    logged = sorted(pod for pod in pods if LOGGED.match(pod[1]) and all(map(is_name, pod)))[:_LOG_PODS_MAX]
    return tuple(
        Command(
            file=f"logs/{namespace}/{name}.log",
            argv=(KUBECTL, "logs", name, "-n", namespace, f"--since={since}", f"--tail={_TAIL_LINES}"),
            redact=Redaction.LINES,
            timeout_s=_LOGGED_WITHIN_S,
        )
        for namespace, name in logged
    )
