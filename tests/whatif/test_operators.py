"""Manifests of operators, as people write them, on top of a real recording with the knot in it taken out."""

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.whatif.asking import Rows, ask, fates
from tests.whatif.test_manifests import KNOT

EMPTY = ("--evict", "pretrain-blue", "--evict", "pretrain-red")
GPUS = "resources: {limits: {nvidia.com/gpu: 8}, requests: {cpu: 4}}"


def submitted(folder: Path, text: str, *options: str) -> Rows:
    return ask(folder, KNOT, "--submit", "{extra}", *(options or EMPTY), extra=text)


def ours(rows: Rows) -> dict[str, str]:
    return {name: fate for name, fate in fates(rows).items() if "team-green" in name}


DAEMONS = f"""apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: dcgm-exporter, namespace: team-green, labels: {{app: dcgm}}}}
spec:
  selector: {{matchLabels: {{app: dcgm}}}}
  template:
    metadata: {{labels: {{app: dcgm}}}}
    spec:
      nodeSelector: {{kubernetes.io/os: linux}}
      tolerations: [{{operator: Exists}}]
      containers: [{{name: exporter, image: nvcr.io/dcgm-exporter:3.3, {GPUS}}}]
"""


def test_a_daemon_set_has_a_pod_for_every_node_that_fits(tmp_path: Path) -> None:
    everywhere = DAEMONS.replace("      nodeSelector: {kubernetes.io/os: linux}\n", "")
    rows = submitted(tmp_path, everywhere)
    assert ours(rows) == {f"pod/team-green/dcgm-exporter-gpu-node-{n}": "starts_now" for n in range(4)}
    rows = submitted(tmp_path, everywhere, "--evict", "pretrain-blue")
    assert ours(rows)["pod/team-green/dcgm-exporter-gpu-node-2"] == "starts_now"
    assert ours(rows)["pod/team-green/dcgm-exporter-gpu-node-0"] != "starts_now"
    rows = submitted(tmp_path, DAEMONS.replace("kubernetes.io/os: linux", "gpu: a100"))
    assert ours(rows) == {}
    assert any("has no node to run on" in note for note in rows["notes"])


CRON = f"""apiVersion: batch/v1
kind: CronJob
metadata: {{name: nightly-eval, namespace: team-green}}
spec:
  schedule: "0 3 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata: {{labels: {{app: eval}}}}
    spec:
      backoffLimit: 0
      parallelism: 2
      template:
        spec:
          restartPolicy: Never
          containers: [{{name: eval, image: eval:1, {GPUS}}}]
"""


def test_of_a_cron_job_one_run_is_asked_about(tmp_path: Path) -> None:
    rows = submitted(tmp_path, CRON)
    assert ours(rows) == {f"pod/team-green/nightly-eval-whatif-{n}": "starts_now" for n in range(2)}
    assert "Of CronJob nightly-eval one run is submitted." in rows["notes"]
    assert rows["safe"]


RAY = f"""
  rayVersion: 2.46.0
  headGroupSpec:
    rayStartParams: {{dashboard-host: 0.0.0.0}}
    template:
      spec:
        containers: [{{name: ray-head, image: rayproject/ray:2.46.0, resources: {{requests: {{cpu: 2}}}}}}]
  workerGroupSpecs:
  - groupName: gpu
    replicas: 3
    minReplicas: 1
    maxReplicas: 8
    rayStartParams: {{}}
    template:
      spec:
        containers: [{{name: ray-worker, image: rayproject/ray:2.46.0, {GPUS}}}]
"""
RAY_CLUSTER = f"apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {{name: tune, namespace: team-green}}\nspec:{RAY}"
RAY_JOB = (
    "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: sweep, namespace: team-green}\nspec:\n"
    "  entrypoint: python sweep.py\n  shutdownAfterJobFinishes: true\n  rayClusterSpec:"
    + RAY.replace("\n", "\n  ").rstrip()
    + "\n"
)


def test_a_ray_cluster_is_its_head_and_its_workers_together(tmp_path: Path) -> None:
    assert ours(submitted(tmp_path, RAY_CLUSTER)) == {"gang/team-green/tune": "starts_now"}
    wider = RAY_CLUSTER.replace("replicas: 3", "replicas: 5")
    assert ours(submitted(tmp_path, wider)) == {"gang/team-green/tune": "never"}


def test_a_ray_job_ends_and_takes_its_cluster_along(tmp_path: Path) -> None:
    rows = submitted(tmp_path, RAY_JOB)
    assert ours(rows) == {"gang/team-green/sweep": "starts_now"}
    assert rows["safe"]
    there = (
        "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: on-another}\nspec:\n"
        "  clusterSelector: {ray.io/cluster: tune}\n"
    )
    (tmp_path / "job.yaml").write_text(there)
    assert "runs on a cluster that is there already" in run("whatif", KNOT, "--submit", tmp_path / "job.yaml").stderr


LEADER_WORKER_SET = f"""apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: vllm, namespace: team-green}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
      metadata: {{labels: {{role: leader}}}}
      spec:
        containers: [{{name: vllm-leader, image: vllm/vllm-openai, {GPUS}}}]
    workerTemplate:
      spec:
        containers: [{{name: vllm-worker, image: vllm/vllm-openai, {GPUS}}}]
"""


def test_groups_of_a_leader_worker_set_start_each_for_itself_and_stay(tmp_path: Path) -> None:
    rows = submitted(tmp_path, LEADER_WORKER_SET)
    assert ours(rows) == {"gang/team-green/vllm-0": "starts_now", "gang/team-green/vllm-1": "starts_now"}
    rows = submitted(tmp_path, LEADER_WORKER_SET.replace("replicas: 2", "replicas: 3"))
    assert list(ours(rows).values()) == ["starts_now", "starts_now", "never"]


MPI_JOB = f"""apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: allreduce, namespace: team-green}}
spec:
  slotsPerWorker: 8
  runPolicy: {{cleanPodPolicy: Running, suspend: true}}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          containers:
          - {{name: mpi, image: mpi, command: [mpirun, -np, "24", nccl-tests], resources: {{requests: {{cpu: 1}}}}}}
    Worker:
      replicas: 3
      template:
        spec:
          containers: [{{name: mpi, image: mpi, {GPUS}}}]
"""


def test_an_mpi_job_is_its_launcher_and_its_workers(tmp_path: Path) -> None:
    rows = submitted(tmp_path, MPI_JOB)
    assert ours(rows) == {"gang/team-green/allreduce": "starts_now"}
    assert any("MPIJob allreduce is suspended: it is taken to be let go at once." in note for note in rows["notes"])


TRAIN_JOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llama, namespace: team-green}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 4
    resourcesPerNode: {limits: {nvidia.com/gpu: 8}}
"""
RUNTIME = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-distributed}
spec:
  mlPolicy: {numNodes: 1, torch: {numProcPerNode: auto}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: pytorch/pytorch}]}}}
"""


def test_a_train_job_is_made_as_its_runtime_says(tmp_path: Path) -> None:
    assert ours(submitted(tmp_path, f"{TRAIN_JOB}---\n{RUNTIME}")) == {"gang/team-green/llama": "starts_now"}
    five = TRAIN_JOB.replace("numNodes: 4", "numNodes: 5")
    assert ours(submitted(tmp_path, f"{RUNTIME}---\n{five}")) == {"gang/team-green/llama": "never"}
    (tmp_path / "job.yaml").write_text(TRAIN_JOB)
    told = run("whatif", KNOT, "--submit", tmp_path / "job.yaml")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "ClusterTrainingRuntime torch-distributed says, which is not in the input" in told.stderr


STATEFUL = f"""apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: index, namespace: team-green}}
spec:
  replicas: 2
  serviceName: index
  selector: {{matchLabels: {{app: index}}}}
  template:
    metadata: {{labels: {{app: index}}}}
    spec:
      containers: [{{name: index, image: index, {GPUS}}}]
"""


def test_several_documents_of_one_file_are_one_hypothesis(tmp_path: Path) -> None:
    harmless = "apiVersion: v1\nkind: Service\nmetadata: {name: index, namespace: team-green}\nspec: {}\n"
    rows = submitted(tmp_path, f"{harmless}---\n{STATEFUL}---\n{CRON}")
    assert ours(rows) == {
        "pod/team-green/index-0": "starts_now",
        "pod/team-green/index-1": "starts_now",
        "pod/team-green/nightly-eval-whatif-0": "starts_now",
        "pod/team-green/nightly-eval-whatif-1": "starts_now",
    }
    rows = submitted(tmp_path, f"{RAY_CLUSTER}---\n{CRON}")
    assert ours(rows)["pod/team-green/nightly-eval-whatif-1"] != "starts_now"


@pytest.mark.parametrize("kind", ["SparkApplication", "Notebook", "InferenceService", "Workflow", "ScaledJob"])
def test_what_is_not_known_is_said_in_one_sentence(kind: str, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(f"apiVersion: example.org/v1\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{}}\n")
    told = run("whatif", KNOT, "--submit", tmp_path / "new.yaml")
    assert (told.exit_code, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert f"which pods a {kind} makes is not known here" in told.stderr


@pytest.mark.parametrize("text", [RAY_CLUSTER, RAY_JOB, LEADER_WORKER_SET, MPI_JOB, f"{TRAIN_JOB}---\n{RUNTIME}", CRON])
@pytest.mark.parametrize("broken", ["1", "[1]", "x", "{}", "{a: [1]}", "[{template: 1}]"])
def test_whatever_stands_in_it_there_is_a_sentence_or_an_answer(text: str, broken: str, tmp_path: Path) -> None:
    fields = ("spec", "workerGroupSpecs", "leaderWorkerTemplate", "mpiReplicaSpecs", "trainer", "template")
    for field in (*fields, "jobTemplate"):
        lines = []
        for line in text.splitlines():
            head, found, _ = line.partition(f"{field}:")
            lines.append(f"{head}{field}: {broken}" if found and head.strip(" -") == "" else line)
            if found and head.strip(" -") == "":
                break
        (tmp_path / "new.yaml").write_text("\n".join(lines) + "\n")
        told = run("whatif", KNOT, "--submit", tmp_path / "new.yaml")
        assert told.exit_code in (0, 1, 2), told.output
        assert "Traceback" not in told.stderr + told.stdout
        assert told.exception is None or isinstance(told.exception, SystemExit), (field, broken, told.exception)
