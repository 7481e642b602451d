"""Text of `kubectl describe` becomes the typed objects that it shows, and says nothing where it is silent."""

from typing import TypeVar

import pytest

from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.objects import Event, KubeObject, Node, Pod
from analyzer.sources.kubernetes.objects.pod import Toleration
from tests.kubernetes.reading.written import compact, complaints, incident, listed, objects, pod

NODE = """\
Name:               gpu-1
Roles:              control-plane,worker
Labels:             kubernetes.io/hostname=gpu-1
                    pool=h100
Annotations:        node.alpha.kubernetes.io/ttl: 0
CreationTimestamp:  Fri, 02 Jan 2026 04:00:00 +0100
Taints:             nvidia.com/gpu=present:NoSchedule
                    node.kubernetes.io/unschedulable:NoSchedule
Unschedulable:      true
Lease:
  HolderIdentity:  gpu-1
  RenewTime:       Fri, 02 Jan 2026 03:10:00 +0000
Conditions:
  Type    Status   LastHeartbeatTime                 LastTransitionTime                Reason             Message
  ----    ------   -----------------                 ------------------                ------             -------
  Ready   Unknown  Fri, 02 Jan 2026 03:01:00 +0000   Fri, 02 Jan 2026 03:02:00 +0000   NodeStatusUnknown  stopped
Capacity:
  cpu:             96
  nvidia.com/gpu:  8
Allocatable:
  cpu:             95500m
  nvidia.com/gpu:  8
Non-terminated Pods:          (1 in total)
  Namespace  Name  CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------  ----  ------------  ----------  ---------------  -------------  ---
  ml         a-0   8 (8%)        8 (8%)      64Gi (6%)        64Gi (6%)      5m
Events:
  Type    Reason                   Age   From     Message
  ----    ------                   ----  ----     -------
  Normal  NodeNotReady             8m    kubelet  Node gpu-1 status is now: NodeNotReady
"""

BOUND = """\
Name:             train-0
Namespace:        ml
Priority:         7
Priority Class Name:  high
Service Account:  default
Node:             gpu-1/10.0.0.1
Start Time:       Fri, 02 Jan 2026 03:00:10 +0000
Labels:           app=train
                  controller-uid=uid-of-job
Annotations:      knotwatch.dev/min-available: 4
                  note:
                    several words: here
Status:           Running
IP:               10.1.0.1
IPs:
  IP:           10.1.0.1
Controlled By:  Job/train
Init Containers:
  fetch:
    Image:   busybox
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
      Started:      Fri, 02 Jan 2026 03:00:11 +0000
      Finished:     Fri, 02 Jan 2026 03:00:12 +0000
    Ready:          True
    Requests:
      cpu:        1
Containers:
  main:
    Container ID:   containerd://1
    Image:          train:1
    Port:           8080/TCP
    Host Port:      8080/TCP
    Command:
      torchrun
      --nproc=8
    State:          Running
      Started:      Fri, 02 Jan 2026 03:00:13 +0000
    Ready:          True
    Restart Count:  0
    Limits:
      nvidia.com/gpu:  8
    Requests:
      memory:          64Gi
      nvidia.com/gpu:  8
    Environment:
      WORLD_SIZE:  32
    Mounts:
      /data from data (rw)
Conditions:
  Type              Status
  PodScheduled      True
  Ready             True
Volumes:
  data:
    Type:       PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:  data-train
    ReadOnly:   false
QoS Class:                   Burstable
Node-Selectors:              pool=h100
                             zone=a
Tolerations:                 nvidia.com/gpu=present:NoSchedule
                             node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             op=Exists
Events:                      <none>
"""

WAITING = """\
Name:             train-1
Namespace:        ml
Priority:         0
Node:             <none>
Labels:           app=train
Annotations:      <none>
Status:           Pending
Controlled By:    ReplicaSet/train-5b
NominatedNodeName:  gpu-2
Containers:
  main:
    Image:      train:1
    Requests:
      nvidia.com/gpu:  8
    Environment:  <none>
Conditions:
  Type           Status
  PodScheduled   False
Volumes:         <none>
Node-Selectors:  <none>
Tolerations:     <none>
Events:
  Type     Reason            Age                  From               Message
  ----     ------            ----                 ----               -------
  Warning  FailedScheduling  9m                   default-scheduler  0/1 nodes are available: first.
  Warning  FailedScheduling  30s (x9 over 8m30s)  default-scheduler  0/1 nodes: 1 Insufficient nvidia.com/gpu.
"""

ALL = (NODE + "\n\n" + BOUND + "\n\n" + WAITING).encode()
Kind = TypeVar("Kind", bound=KubeObject)


def one(kind: type[Kind], name: str, *contents: bytes) -> Kind:
    (found,) = [found for found in objects(*contents) if isinstance(found, kind) and found.metadata.name == name]
    return found


def test_a_node_is_what_it_can_give() -> None:
    node = one(Node, "gpu-1", ALL)
    assert node.status.allocatable == {"cpu": "95500m", "nvidia.com/gpu": "8"}
    assert node.spec.unschedulable
    assert [(taint.key, taint.value, taint.effect) for taint in node.spec.taints] == [
        ("nvidia.com/gpu", "present", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "", "NoSchedule"),
    ]
    assert node.metadata.labels == {"kubernetes.io/hostname": "gpu-1", "pool": "h100"}
    assert node.metadata.creation_timestamp == "2026-01-02T03:00:00Z"
    (ready,) = node.status.conditions
    assert (ready.type, ready.status, ready.reason) == ("Ready", "Unknown", "NodeStatusUnknown")
    assert ready.last_transition_time == "2026-01-02T03:02:00Z"


def test_a_bound_pod_is_what_it_holds() -> None:
    pod = one(Pod, "train-0", ALL)
    assert (pod.spec.node_name, pod.status.phase, pod.spec.priority, pod.spec.priority_class_name) == (
        *("gpu-1", "Running"),
        *(7, "high"),
    )
    (main,) = pod.spec.containers
    assert main.resources is not None
    assert main.resources.requests == {"memory": "64Gi", "nvidia.com/gpu": "8"}
    assert main.command == ("torchrun", "--nproc=8")
    assert [variable.name for variable in main.env] == ["WORLD_SIZE"]
    assert [(port.host_port, port.protocol) for port in main.ports] == [(8080, "TCP")]
    assert [container.name for container in pod.spec.init_containers] == ["fetch"]
    (owner,) = pod.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid, owner.controller) == ("Job", "train", "uid-of-job", True)
    assert pod.metadata.annotations["knotwatch.dev/min-available"] == "4"
    assert pod.spec.node_selector == {"pool": "h100", "zone": "a"}
    assert pod.spec.tolerations == (
        Toleration(key="nvidia.com/gpu", operator="Equal", value="present", effect="NoSchedule"),
        Toleration(key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute", toleration_seconds=300),
        Toleration(operator="Exists"),
    )
    assert [
        volume.persistent_volume_claim and volume.persistent_volume_claim.claim_name for volume in pod.spec.volumes
    ] == ["data-train"]
    assert pod.status.start_time == "2026-01-02T03:00:10Z"


def test_a_pod_without_a_place_was_refused_and_says_since_when() -> None:
    pod = one(Pod, "train-1", ALL)
    (scheduled,) = pod.status.conditions
    assert (scheduled.type, scheduled.status, scheduled.reason) == ("PodScheduled", "False", "Unschedulable")
    assert scheduled.message.endswith("1 Insufficient nvidia.com/gpu.")
    assert pod.status.nominated_node_name == "gpu-2"
    assert pod.metadata.creation_timestamp == "2026-01-02T03:01:00Z"  # nine minutes before the lease was renewed
    events = [found for found in objects(ALL) if isinstance(found, Event) and found.regarding.name == "train-1"]
    assert [(event.first_time, event.last_time, event.count) for event in events] == [
        ("2026-01-02T03:01:00Z", "2026-01-02T03:01:00Z", 1),
        ("2026-01-02T03:01:30Z", "2026-01-02T03:09:30Z", 9),
    ]


def test_the_newest_time_known_may_stand_in_another_document() -> None:
    later = compact(listed([pod("x", at="2026-01-02T03:20:00Z", namespace="other")]))
    assert one(Pod, "train-1", ALL, later).metadata.creation_timestamp == "2026-01-02T03:11:00Z"


def test_what_was_said_of_a_thing_was_said_after_it_was_made() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "ml", "uid": "j"}}
    job["metadata"] |= {"creationTimestamp": "2026-01-02T03:00:00Z"}  # type: ignore[operator]  # it is a dict
    table = b"NAMESPACE   LAST SEEN   TYPE     REASON             OBJECT      MESSAGE\n"
    table += b"ml          12m         Normal   SuccessfulCreate   job/train   Created pod: train-0\n"
    (event,) = [found for found in objects(compact(job), table) if isinstance(found, Event)]
    assert event.last_time == "2026-01-02T03:00:00Z"
    assert incident(compact(job), table).as_of_ns is not None


@pytest.mark.parametrize("kueue", [True, False])
def test_pods_of_kueue_are_gated_unless_the_scheduler_has_looked(*, kueue: bool) -> None:
    silent = WAITING[: WAITING.index("Events:")] + "Events:          <none>\n"
    if kueue:
        silent = silent.replace("app=train", "kueue.x-k8s.io/queue-name=q")
    found = one(Pod, "train-1", silent.encode())
    assert bool(found.spec.scheduling_gates) is kueue
    assert (
        one(Pod, "train-1", WAITING.replace("app=train", "kueue.x-k8s.io/queue-name=q").encode()).spec.scheduling_gates
        == ()
    )


@pytest.mark.parametrize("whole", [True, False])
def test_where_nodes_are_missing_only_the_words_of_the_scheduler_are_a_refusal(*, whole: bool) -> None:
    silent = WAITING[: WAITING.index("Events:")] + "Events:          <none>\n"
    bound = BOUND if whole else BOUND.replace("gpu-1/10.0.0.1", "gpu-7/10.0.0.7")
    for text, refused in ((silent, whole), (WAITING, True)):
        found = one(Pod, "train-1", f"{NODE}\n\n{bound}\n\n{text}".encode())
        assert [one.reason == "Unschedulable" for one in found.status.conditions] == [refused]


def test_a_pod_being_deleted_counts_back_from_now() -> None:
    going = BOUND.replace("Status:           Running", "Status:           Terminating (lasts 2m)")
    found = one(Pod, "train-0", (NODE + "\n\n" + going).encode())
    assert found.metadata.deletion_timestamp == "2026-01-02T03:08:00Z"
    assert found.status.phase == "Running"


def test_objects_are_believed_and_descriptions_fill_the_gaps() -> None:
    strong = compact(listed([pod("train-0", namespace="ml", at="2026-01-02T03:00:10Z")]))
    found = objects(ALL, strong)
    assert [one.metadata.uid for one in found if isinstance(one, Pod)] == ["uid-train-0"]
    assert [one.metadata.name for one in found if isinstance(one, Node)] == ["gpu-1"]


def test_an_owner_is_the_one_that_was_handed_over() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "train-5b", "namespace": "ml"}}
    owner["metadata"] |= {"uid": "uid-of-set"}  # type: ignore[operator]  # it is a dict
    (reference,) = one(Pod, "train-1", ALL, compact(owner)).metadata.owner_references
    assert reference.uid == "uid-of-set"


def test_other_kinds_are_counted_and_not_used() -> None:
    text = b"Name:      web\nNamespace: ml\nLabels:    app=web\nSelector:  app=web\nType:      ClusterIP\n"
    assert form_of(text) is Form.DESCRIBED
    assert objects(text) == []
    assert complaints(text) == [(1, "web is neither a whole pod nor a whole node: it is not used.")]


@pytest.mark.parametrize("change", ["crlf", "prompt", "indented", "cut"])
def test_pasted_text_may_be_worn(change: str) -> None:
    text = ALL
    if change == "crlf":
        text = ALL.replace(b"\n", b"\r\n")
    if change == "prompt":
        text = b"me@host:~$ kubectl describe node,pod -n ml\n" + ALL + b"me@host:~$\n"
    if change == "indented":
        text = b"".join(b"    " + line if line.strip() else line for line in ALL.splitlines(keepends=True))
    if change == "cut":
        text = ALL[: ALL.index(b"Volumes:         <none>")]
    found = objects(text)
    assert [one.metadata.name for one in found if isinstance(one, Pod)] == ["train-0", "train-1"]
    assert [one.status.allocatable["nvidia.com/gpu"] for one in found if isinstance(one, Node)] == ["8"]


def test_citations_name_the_line_where_the_object_begins() -> None:
    ((_, observations),) = incident(ALL).moments()
    places = {one.object.metadata.name: one.citation[1] for one in observations if hasattr(one, "object")}
    lines = ALL.decode().split("\n")
    assert [lines[places[name]].split()[-1] for name in ("gpu-1", "train-0", "train-1")] == [
        "gpu-1",
        "train-0",
        "train-1",
    ]
