"""What is submitted to a queue of Kueue waits for quota first, and then for a place."""

import json
from pathlib import Path

import pytest

from tests.kubernetes.scenarios.incident import Incident
from tests.whatif.asking import Rows, ask, fates

CLUSTER = """
node gpu-[0-3] gpu=8 label:pool=h100
clusterqueue shared quota:h100=16 in=team-red,team-blue
job team-blue/a pods=1 gpu=8 on=gpu-0
workload team-blue/job-a-11111 of=Job/a pods=1 gpu=8 admitted=shared flavor=h100
end 10m
"""
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: new, namespace: team-red, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  parallelism: 1
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: m, image: x, resources: {requests: {cpu: 1, nvidia.com/gpu: 8}}}]
"""


def submitted(folder: Path, cluster: str, text: str) -> Rows:
    recording = Incident(cluster).write(folder / "cluster")
    return ask(folder, recording, "--submit", "{new}", new=text)


def test_with_quota_and_a_place_it_starts(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER, JOB)
    assert fates(rows) == {"workload/team-red/new": "starts_now", "pod/team-red/new-0": "starts_now"}
    assert rows["actors"][0]["units"]["quota/cluster-queue/shared/h100/nvidia.com/gpu"] == 8
    assert rows["safe"]


def test_without_quota_it_waits_for_who_has_it_and_has_no_pods(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER, JOB.replace("parallelism: 1", "parallelism: 2"))
    assert fates(rows) == {"workload/team-red/new": "waits"}
    assert rows["actors"][0]["waits_for"] == ["workload/team-blue/a"]


def test_beyond_the_quota_it_never_starts_and_more_quota_would_let_it(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER, JOB.replace("parallelism: 1", "parallelism: 3"))
    assert fates(rows) == {"workload/team-red/new": "never"}
    assert rows["actors"][0]["change"] == "Add 8 of quota/cluster-queue/shared/h100/nvidia.com/gpu."


def test_quota_alone_is_no_place(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER.replace("gpu=8 label", "gpu=4 label"), JOB)
    assert fates(rows) == {"workload/team-red/new": "never", "pod/team-red/new-0": "never"}


def test_a_resource_that_the_queue_does_not_have_is_named(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER, JOB.replace("cpu: 1", "rdma/ib: 1"))
    assert fates(rows) == {"workload/team-red/new": "never"}
    assert "resource rdma/ib unavailable in ClusterQueue" in rows["actors"][0]["reasons"][0]


@pytest.mark.parametrize("change", [("main}}", "other}}"), ("in=team-red,team-blue", "in=team-red,team-blue stopped")])
def test_a_queue_that_is_not_known_or_stopped_is_not_judged(change: tuple[str, str], tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER.replace(*change), JOB.replace(*change))
    assert fates(rows) == {"workload/team-red/new": "not_judged"}


SMALL = {
    "nodeLabels": {"pool": "small"},
    "nodeTaints": [{"key": "t", "value": "v", "effect": "NoSchedule"}],
    "tolerations": [{"key": "t", "operator": "Exists"}],
}
FLAVORS = f"""
custom none/big kind=ResourceFlavor api=kueue.x-k8s.io/v1beta2 spec='{json.dumps({"nodeLabels": {"pool": "big"}})}'
custom none/small kind=ResourceFlavor api=kueue.x-k8s.io/v1beta2 spec='{json.dumps(SMALL)}'
node big-0 gpu=8 label:pool=big
node small-0 gpu=8 label:pool=small taint:t=v:NoSchedule
clusterqueue shared quota:big=8 quota:small=8 in=team-red
end 10m
"""


def test_the_flavour_says_where_the_pods_go(tmp_path: Path) -> None:
    rows = submitted(tmp_path, FLAVORS, JOB)
    assert "nvidia.com/gpu/big-0" in rows["actors"][1]["units"]
    picky = JOB.replace("restartPolicy: Never", "restartPolicy: Never\n      nodeSelector: {pool: small}")
    rows = submitted(tmp_path / "picky", FLAVORS, picky)
    assert "nvidia.com/gpu/small-0" in rows["actors"][1]["units"]
    assert "quota/cluster-queue/shared/small/nvidia.com/gpu" in rows["actors"][0]["units"]
    two = JOB.replace("name: new", "name: two").replace("parallelism: 1", "parallelism: 1\n  completions: 1")
    rows = submitted(tmp_path / "two", FLAVORS, f"{JOB}---\n{two}")
    assert set(fates(rows).values()) == {"starts_now"}
    assert {place for row in rows["actors"] for place in row["units"]} >= {
        "quota/cluster-queue/shared/big/nvidia.com/gpu",
        "quota/cluster-queue/shared/small/nvidia.com/gpu",
    }


@pytest.mark.parametrize("broken", ["1", "[1]", '"x"', "null", '{"a": [1]}'])
def test_whatever_stands_in_a_flavour_there_is_an_answer(broken: str, tmp_path: Path) -> None:
    spec = f'{{"nodeLabels": {broken}, "nodeTaints": {broken}, "tolerations": {broken}}}'
    flavor = f"custom none/h100 kind=ResourceFlavor api=kueue.x-k8s.io/v1beta2 spec='{spec}'\n"
    rows = submitted(tmp_path, flavor + CLUSTER, JOB)
    assert set(fates(rows)) >= {"workload/team-red/new"}


DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: team-red, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  replicas: 2
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      containers: [{name: m, image: x, resources: {requests: {cpu: 1, nvidia.com/gpu: 8}}}]
"""


def test_each_pod_of_a_deployment_is_admitted_for_itself(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER, DEPLOYMENT)
    assert list(fates(rows).values()).count("starts_now") == 2
    assert list(fates(rows).values()).count("waits") == 2
    assert {name.partition("/")[0] for name in fates(rows)} == {"pod", "workload"}


RAY = """apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: tune, namespace: team-red, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  headGroupSpec: {template: {spec: {containers: [{name: h, image: x, resources: {requests: {cpu: 1}}}]}}}
  workerGroupSpecs:
  - replicas: 1
    template: {spec: {containers: [{name: w, image: x, resources: {requests: {cpu: 1, nvidia.com/gpu: 8}}}]}}
"""


def test_a_gang_is_admitted_as_a_whole(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CLUSTER, RAY)
    assert fates(rows) == {"workload/team-red/tune": "starts_now", "gang/team-red/tune": "starts_now"}
    rows = submitted(tmp_path / "wide", CLUSTER, RAY.replace("replicas: 1", "replicas: 2"))
    assert fates(rows) == {"workload/team-red/tune": "waits"}
