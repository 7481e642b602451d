"""Whatever comes and goes for weeks: what a cluster remembers is what there is, and not what ever was."""

import enum
import itertools
import types
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from analyzer.sources.kubernetes.actors import HoldsCache
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.forgetful import Forgetful
from analyzer.sources.kubernetes.mechanisms import argo_locks, device_preparation, evictions
from analyzer.sources.kubernetes.objects import (
    Condition,
    EndpointSlice,
    KubeObject,
    MutatingWebhookConfiguration,
    Pod,
    PodDisruptionBudget,
    Service,
)
from analyzer.sources.kubernetes.objects import Event as KubeEvent
from analyzer.sources.kubernetes.observations import (
    Observation,
    PodBound,
    PodNominated,
    PodPreempted,
    PodReleased,
    PodReserved,
    PodUnschedulable,
    SchedulerAttempt,
    Seen,
)
from analyzer.sources.kubernetes.pod_requests import Shape
from tests.kubernetes.translating.making import (
    MINUTE_NS,
    NO_ROOM,
    START_NS,
    World,
    event,
    job,
    meta,
    node,
    pod,
    read,
    seen,
)

ROUNDS = 2_000
STAYS_ROUNDS = 5
TEXT = str | bytes | int | float | type | enum.Enum | types.ModuleType | types.FunctionType | types.BuiltinFunctionType
SHORT = {"containers": [{"name": "m", "resources": {"requests": {"nvidia.com/gpu": "8"}}}]}
OVER_QUOTA = (
    'pods "x" is forbidden: exceeded quota: q-{0}, requested: requests.nvidia.com/gpu=8, '
    "used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8"
)
NO_ANSWER = (
    'Internal error occurred: failed calling webhook "h{0}.example.com": failed to call webhook: '
    'Post "https://h{0}.team.svc:443/m?timeout=10s": no endpoints available for service "h{0}"'
)


def stamp(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def made(kind: str, fields: dict[str, Any], known: type[KubeObject] | None = None) -> KubeObject:
    return read(kind, fields) if known is None else msgspec.convert({"kind": kind, **fields}, known)


def controllers(n: int) -> Iterator[KubeObject]:
    template = {"metadata": {"labels": {"app": f"a{n}"}}, "spec": SHORT}
    together = {"metadata": {"annotations": {"knotwatch.dev/min-available": "2"}}, "spec": SHORT}
    three = {"replicas": 3, "template": template}
    yield read("Deployment", {"metadata": meta(f"web{n}", uid=f"Deployment/web{n}"), "spec": three})
    of_web = meta(f"web{n}-h", uid=f"ReplicaSet/web{n}-h", owner=f"Deployment/web{n}")
    yield read("ReplicaSet", {"metadata": of_web, "spec": three})
    yield read("StatefulSet", {"metadata": meta(f"db{n}", uid=f"StatefulSet/db{n}"), "spec": three})
    two = {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": together}
    yield read("Job", {"metadata": meta(f"job{n}", uid=f"Job/job{n}"), "spec": two})
    pod_group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "metadata": meta(f"pg{n}", uid=f"pg{n}")}
    yield read("PodGroup", {**pod_group, "spec": {"minMember": 2}})


def surroundings(n: int) -> Iterator[KubeObject]:
    """A node of its own, and one object of each kind that something is kept of."""
    yield node(f"n-{n}", labels={"kubernetes.io/hostname": f"n-{n}", "pool": "x"})
    yield read("Namespace", {"metadata": {"name": f"exp-{n}", "labels": {"x": "y"}}})
    once = {"accessModes": ["ReadWriteOncePod"], "volumeName": f"pv{n}"}
    yield read("PersistentVolumeClaim", {"metadata": meta(f"data{n}"), "spec": once})
    yield read("PersistentVolume", {"metadata": {"name": f"pv{n}"}})
    eight = {"requests.nvidia.com/gpu": "8"}
    yield read("ResourceQuota", {"metadata": meta(f"q-{n}"), "spec": {"hard": eight}, "status": {"used": eight}})
    yield made("Service", {"metadata": meta(f"s{n}"), "spec": {"selector": {"app": f"a{n}"}}}, Service)
    of_service = meta(f"s{n}-x", labels={"kubernetes.io/service-name": f"s{n}"})
    yield made("EndpointSlice", {"metadata": of_service, "endpoints": []}, EndpointSlice)
    one = {"minAvailable": 1, "selector": {"matchLabels": {"app": f"a{n}"}}}
    yield made("PodDisruptionBudget", {"metadata": meta(f"b{n}"), "spec": one}, PodDisruptionBudget)
    hook = {"name": f"h{n}.example.com", "clientConfig": {"service": {"namespace": "team", "name": f"h{n}"}}}
    hooks = {"metadata": {"name": f"h{n}"}, "webhooks": [hook]}
    yield made("MutatingWebhookConfiguration", hooks, MutatingWebhookConfiguration)


def extensions(n: int) -> Iterator[KubeObject]:
    kueue, dra, lock = "kueue.x-k8s.io/v1beta1", "resource.k8s.io/v1", f"team/Mutex/m{n}"
    sets = [{"name": "main", "count": 1, "template": {"spec": SHORT}}]
    flavor = {"name": "f", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}
    groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [flavor]}]
    device = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}
    for kind, api, metadata, spec in (
        ("Workload", kueue, meta(f"w{n}", uid=f"w{n}", owner=f"Job/job{n}"), {"queueName": "lq", "podSets": sets}),
        ("LocalQueue", kueue, meta(f"lq{n}"), {"clusterQueue": f"cq{n}"}),
        ("ClusterQueue", kueue, {"name": f"cq{n}"}, {"cohort": f"co{n}", "resourceGroups": groups}),
        ("ResourceClaim", dra, meta(f"rc{n}", uid=f"rc{n}"), device),
        (
            "ResourceSlice",
            dra,
            {"name": f"sl{n}"},
            {
                "driver": "gpu.nvidia.com",
                "nodeName": f"n-{n}",
                "pool": {"name": f"n-{n}", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "g0"}],
            },
        ),
        ("CSINode", "storage.k8s.io/v1", {"name": f"n-{n}"}, {"drivers": [{"name": "d", "allocatable": {"count": 2}}]}),
        ("ComputeDomain", "resource.nvidia.com/v1beta1", meta(f"cd{n}", uid=f"cd{n}"), {"numNodes": 2}),
    ):
        yield read(kind, {"apiVersion": api, "metadata": metadata, "spec": spec})
    waits = {"phase": "Running", "synchronization": {"mutex": {"waiting": [{"mutex": lock}]}}}
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "metadata": meta(f"wf{n}", uid=f"wf{n}"), "status": waits}
    yield read("Workflow", workflow)


def pods(n: int) -> Iterator[KubeObject]:
    here, labels, like = f"n-{n}", {"app": f"a{n}"}, {"labelSelector": {"matchLabels": {"app": f"a{n}"}}}
    gang = {"knotwatch.dev/min-available": "2"}
    by_host = {"topologyKey": "kubernetes.io/hostname", **like}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [by_host]}}
    evenly = {"maxSkew": 1, "topologyKey": "pool", "whenUnsatisfiable": "DoNotSchedule", **like}
    ported = {"name": "m", "ports": [{"hostPort": 80 + n, "containerPort": 80}]}
    yield pod(f"web{n}-h-1", on=here, owner=f"ReplicaSet/web{n}-h", gpu=0, labels=labels)
    yield pod(f"db{n}-0", on=here, owner=f"StatefulSet/db{n}", claims=(f"data{n}",), ready=False, labels=labels)
    yield pod("same", on=here, uid=f"same-{n}", owner=f"StatefulSet/x{n}", spec={"containers": [ported]})
    yield pod(f"job{n}-0-x", on=here, owner=f"Job/job{n}", annotations=gang)
    key = {"key": f"k{n}", "operator": "Exists"}
    yield pod(f"job{n}-1-x", says=NO_ROOM, owner=f"Job/job{n}", spec={"tolerations": [key]}, annotations=gang)
    yield pod(f"pg{n}-0", says=NO_ROOM, labels={"scheduling.x-k8s.io/pod-group": f"pg{n}"})
    yield pod(f"lone{n}", says=NO_ROOM, spec={"affinity": apart})
    yield pod(f"even{n}", says=NO_ROOM, labels=labels, spec={"topologySpreadConstraints": [evenly]})
    claim = [{"name": "c", "resourceClaimName": f"rc{n}"}]
    yield pod(f"claim{n}", says=NO_ROOM, spec={"resourceClaims": claim}, status={"resourceClaimStatuses": claim})
    needs = {"knotwatch.dev/waits-for": f"Service/s{n}"}
    yield pod(f"exp{n}", says=NO_ROOM, namespace=f"exp-{n}", annotations=needs)
    yield pod(f"drv{n}", on=here, labels={"spark-role": "driver", "spark-app-selector": f"sp{n}"})


def events(n: int) -> Iterator[KubeObject]:
    at = stamp(START_NS + n * MINUTE_NS)
    for kind, name, reason, message in (
        ("Pod", f"lone{n}", "FailedScheduling", NO_ROOM),
        ("Pod", f"lone{n}", "TriggeredScaleUp", "more"),
        ("Pod", f"web{n}-h-1", "Preempted", f"Preempted by pod uid-lone{n} on node n-{n}"),
        ("Pod", f"web{n}-h-1", "Scheduled", f"Successfully assigned team/web{n}-h-1 to n-{n}"),
        ("Pod", f"web{n}-h-1", "UnexpectedAdmissionError", "Allocate failed"),
        ("Pod", f"db{n}-0", "FailedAttachVolume", 'Multi-Attach error for volume "pv" Volume is already used'),
        ("Job", f"job{n}", "FailedCreate", OVER_QUOTA.format(n)),
        ("ReplicaSet", f"web{n}-h", "FailedCreate", NO_ANSWER.format(n)),
        ("ReplicaSet", f"web{n}-h", "SuccessfulCreate", f"Created pod: web{n}-h-1"),
        ("ReplicaSet", f"web{n}-h", "SuccessfulDelete", f"Deleted pod: web{n}-h-1"),
        ("Workload", f"w{n}", "Pending", "couldn't assign flavors to pod set main: insufficient quota"),
        ("Workload", f"w{n}", "EvictedDueToPodsReadyTimeout", "Exceeded the PodsReady timeout team/w"),
    ):
        yield read(
            "Event",
            {
                "metadata": meta(f"{name}.{reason}", uid=f"{name}.{reason}"),
                "reason": reason,
                "message": message,
                "involvedObject": {"kind": kind, "name": name, "namespace": "team"},
                "firstTimestamp": at,
                "lastTimestamp": at,
            },
        )


def logged(n: int, at_ns: int) -> Iterator[Observation]:
    cited, here = (1, n), f"n-{n}"
    yield SchedulerAttempt(at_ns, f"team/lone{n}", 1, cited)
    yield PodUnschedulable(at_ns, f"team/lone{n}", NO_ROOM, cited)
    yield PodReserved(at_ns, f"team/pg{n}-0", here, 10**10, cited)
    yield PodReleased(at_ns, f"team/pg{n}-0", "rejected", cited)
    yield PodNominated(at_ns, f"team/lone{n}", here, cited)
    yield PodPreempted(at_ns, f"team/web{n}-h-1", f"team/lone{n}", here, cited)
    yield PodBound(at_ns, f"team/even{n}", here, cited)


def leaving(thing: KubeObject, at_ns: int) -> KubeObject:
    about = replace(thing.metadata, deletion_timestamp=stamp(at_ns), finalizers=("example.com/keep",))
    return replace(thing, metadata=about)


def grown(thing: KubeObject, at_ns: int) -> KubeObject:
    """A pending pod that has come to run, like any other."""
    if not isinstance(thing, Pod) or thing.spec.node_name or thing.metadata.namespace != "team":
        return thing
    ready = (Condition(type="Ready", status="True", last_transition_time=stamp(at_ns)),)
    status = replace(thing.status, phase="Running", conditions=ready, start_time=stamp(at_ns))
    return replace(thing, spec=replace(thing.spec, node_name="unseen"), status=status)


def sizes(root: object) -> Counter[str]:
    """How many things lie in the containers that are reachable from here, by the attributes that lead to them.

    Those that start afresh when they are full are left out.
    """
    found: Counter[str] = Counter()
    known: set[int] = set()
    left: list[tuple[str, object]] = [("", root)]
    while left:
        path, thing = left.pop()
        if thing is None or id(thing) in known or isinstance(thing, TEXT | Forgetful):
            continue
        known.add(id(thing))
        if isinstance(thing, types.MethodType):
            left.append((path, thing.__self__))
        elif isinstance(thing, dict):
            found[path] += len(thing)
            left.extend((path, one) for one in itertools.chain(thing, thing.values()))
        elif isinstance(thing, Sequence | set | frozenset | deque):
            found[path] += len(thing)
            left.extend((path, one) for one in thing)
        elif isinstance(thing, msgspec.Struct):
            left.extend((path, getattr(thing, name)) for name in thing.__struct_fields__)
        else:
            owner = type(thing).__name__
            left.extend((f"{owner}.{name}", one) for name, one in getattr(thing, "__dict__", {}).items())
    return found


def test_what_has_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is remembered of the last so many is remembered of few, so that it is seen to have an end.
    for module, name in ((argo_locks, "_GONE_MAX"), (device_preparation, "_PODS_MAX"), (evictions, "MAKERS_MAX")):
        monkeypatch.setattr(module, name, 50)
    cluster, there, reader = Cluster(), deque[list[KubeObject]](), World()
    early: Counter[str] = Counter()
    for n in range(ROUNDS):
        at_ns = START_NS + n * MINUTE_NS
        things = [*surroundings(n), *controllers(n), *extensions(n), *pods(n), *events(n)]
        for number, thing in enumerate(things):
            cluster.apply(Seen(at_ns, thing, gone=False, citation=(0, number)))
        for said in logged(n, at_ns):
            cluster.apply(said)
        there.append(things)
        if len(there) == STAYS_ROUNDS:
            for thing in there[1]:
                if not isinstance(thing, KubeEvent):
                    cluster.apply(Seen(at_ns, leaving(thing, at_ns), gone=False, citation=(0, 0)))
            for thing in reversed(there.popleft()):
                cluster.apply(Seen(at_ns, leaving(thing, at_ns), gone=True, citation=(0, 0)))
        if len(there) > 2:
            there[-2] = [grown(thing, at_ns) for thing in there[-2]]
            for number, thing in enumerate(there[-2]):
                if isinstance(thing, Pod):
                    cluster.apply(Seen(at_ns, thing, gone=False, citation=(0, number)))
        reader.take(cluster.restate(at_ns))
        if n + 1 == ROUNDS // 4:
            early = sizes(cluster)
    late = sizes(cluster)
    assert {path: (early[path], count) for path, count in late.items() if count > early[path] + STAYS_ROUNDS} == {}
    assert len(late) > 100, "it was looked at what a cluster remembers"
    assert all(
        name.rpartition("/")[2].startswith("n-1") for name, units in reader.units.items() if units and "/n-" in name
    )


def test_nobody_is_preempted_for_what_befell_an_earlier_pod_of_the_name() -> None:
    cluster = Cluster()
    old = pod("a", on="n-0", uid="1")
    for observation in (
        *seen((node("n-0"), old)),
        PodPreempted(START_NS, "team/a", "team/b", "n-0", (0, 9)),
        Seen(START_NS, old, gone=True, citation=(0, 2)),
    ):
        cluster.apply(observation)
    cluster.restate(START_NS)
    for observation in seen((pod("a", on="n-0", uid="2"),)):
        cluster.apply(observation)
    assert cluster.store.preempted == set()


@pytest.mark.parametrize("deleted", [True, False])
def test_a_refusal_is_that_of_the_controller_that_was_there(*, deleted: bool) -> None:
    cluster, reader = Cluster(), World()
    first = job("a")
    refused = event("FailedCreate", "a", 300, OVER_QUOTA.format("x"), kind="Job")
    for observation in seen((node("n-0"), first, refused)):
        cluster.apply(observation)
    reader.take(cluster.restate(START_NS + 10 * MINUTE_NS))
    assert "controller/team/a" in reader.actors
    if deleted:
        cluster.apply(Seen(START_NS + 11 * MINUTE_NS, first, gone=True, citation=(0, 1)))
    for observation in seen((first,)):
        cluster.apply(observation)
    reader.take(cluster.restate(START_NS + 12 * MINUTE_NS))
    assert ("controller/team/a" in reader.actors) is not deleted


def test_what_is_full_starts_afresh() -> None:
    few: Forgetful[int, str] = Forgetful(2)
    few[1], few[2] = "a", "b"
    few[1] = "c"
    assert dict(few) == {1: "c", 2: "b"}
    assert few.shared(2, "d") == "b"
    assert few.shared(3, "e") == "e"
    assert dict(few) == {3: "e"}


def test_what_pods_would_hold_on_a_node_goes_with_it() -> None:
    cache, shape = HoldsCache(), Shape((("cpu", 1), ("pods", 1)), (), (), 0)
    held = cache.on("n-0", shape, ())
    cache.forget("n-0")
    assert not cache.of(shape, ())
    assert cache.on("n-0", shape, ()) == held
