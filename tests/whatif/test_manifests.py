"""Manifests as hypotheses, on top of a real recording: four nodes of eight cards, two gangs in a knot."""

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.whatif.asking import ask, fates

KNOT = Path(__file__).parents[1] / "data" / "k8s" / "partial_gang"
POD = """restartPolicy: Never
containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]"""


def manifest(kind: str, version: str, spec: str, name: str = "new") -> str:
    body = "\n".join(f"  {line}" for line in spec.split("\n"))
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: team-green}}\nspec:\n{body}\n"


def templated(head: str, pod: str = POD, marks: str = "") -> str:
    inner = "\n".join(f"    {line}" for line in pod.split("\n"))
    return f"{head}\ntemplate:\n  metadata: {{labels: {{app: new}}, annotations: {{{marks}}}}}\n  spec:\n{inner}"


JOB = manifest("Job", "batch/v1", templated("parallelism: 2\ncompletions: 4"))


def test_pods_of_a_job_take_what_the_eviction_frees(tmp_path: Path) -> None:
    rows = ask(tmp_path, KNOT, "--submit", "{job}", "--evict", "pretrain-blue", job=JOB)
    assert rows["safe"]
    assert fates(rows) == {
        "pod/team-green/new-0": "starts_now",
        "pod/team-green/new-1": "waits",
        "gang/team-blue/pretrain-blue": "evicted",
    }
    assert rows["go_on"] == ["gang/team-red/pretrain-red"]
    assert rows["actors"][0]["units"]["nvidia.com/gpu/gpu-node-2"] == 8


def test_behind_the_knot_they_never_start(tmp_path: Path) -> None:
    rows = ask(tmp_path, KNOT, "--submit", "{job}", job=JOB)
    assert set(fates(rows).values()) == {"never"}
    assert [row["turn"] for row in rows["findings"]] == ["remains"]
    assert "pretrain" in rows["actors"][0]["change"]


def test_a_deployment_keeps_for_good_what_a_job_would_give_back(tmp_path: Path) -> None:
    deployment = manifest("Deployment", "apps/v1", templated("replicas: 1", POD.replace("Never", "Always")))
    rows = ask(tmp_path, KNOT, "--submit", "{extra}", "--evict", "pretrain-blue", extra=deployment)
    assert not rows["safe"]
    assert rows["safety"]["stuck"] == ["gang/team-red/pretrain-red"]
    nobody = ask(
        tmp_path, KNOT, "--submit", "{extra}", "--evict", "pretrain-blue", extra=deployment.replace("as: 1", "as: 0")
    )
    assert nobody["safe"]


def test_gangs_of_manifests_are_gangs(tmp_path: Path) -> None:
    job = templated("parallelism: 2", POD).replace("\n", "\n      ")
    job_set = manifest(
        "JobSet",
        "jobset.x-k8s.io/v1alpha2",
        f"replicatedJobs:\n- name: w\n  replicas: 2\n  template:\n    spec:\n      {job}",
    )
    worker = templated("replicas: 4", POD).replace("\n", "\n    ")
    training = manifest("PyTorchJob", "kubeflow.org/v1", f"pytorchReplicaSpecs:\n  Worker:\n    {worker}")
    declared = manifest("Job", "batch/v1", templated("parallelism: 4", POD, 'knotwatch.dev/min-available: "4"'))
    for made in (job_set, training, declared):
        rows = ask(
            tmp_path, KNOT, "--submit", "{extra}", "--evict", "pretrain-blue", "--evict", "pretrain-red", extra=made
        )
        assert fates(rows)["gang/team-green/new"] == "starts_now"
        rows = ask(tmp_path, KNOT, "--submit", "{extra}", "--evict", "pretrain-blue", extra=made)
        assert fates(rows)["gang/team-green/new"] == "waits"
        too_many = made.replace("replicas: 4", "replicas: 5").replace("parallelism: 4", "parallelism: 5")
        too_many = too_many.replace("replicas: 2", "replicas: 3").replace('"4"', '"5"')
        rows = ask(tmp_path, KNOT, "--submit", "{extra}", "--evict", "pretrain-blue", extra=too_many)
        assert fates(rows)["gang/team-green/new"] == "never"


def test_a_selector_without_nodes_is_seen(tmp_path: Path) -> None:
    pod = manifest("Pod", "v1", f"{POD}\nnodeSelector: {{gpu: a100}}")
    rows = ask(tmp_path, KNOT, "--submit", "{pod}", "--evict", "pretrain-blue", pod=pod)
    assert fates(rows)["pod/team-green/new"] == "never"
    rows = ask(tmp_path, KNOT, "--submit", "{pod}", "--evict", "pretrain-blue", pod=pod.replace("{gpu: a100}", "{}"))
    assert fates(rows)["pod/team-green/new"] == "starts_now"


def test_a_priority_class_counts(tmp_path: Path) -> None:
    pod = manifest("Pod", "v1", f"{POD}\npriorityClassName: urgent")
    urgent = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: urgent}\nvalue: 1000\n"
    rows = ask(tmp_path, KNOT, "--submit", "{pod}", pod=f"{pod}---\n{urgent}")
    assert fates(rows) == {"pod/team-green/new": "waits"}
    assert "preempting" in rows["actors"][0]["note"]
    rows = ask(tmp_path, KNOT, "--submit", "{pod}", pod=pod)
    assert fates(rows) == {"pod/team-green/new": "never"}
    assert "urgent is not in the input" in rows["notes"][0]


QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: team-green}
spec: {hard: {requests.nvidia.com/gpu: "8"}}
status: {hard: {requests.nvidia.com/gpu: "8"}, used: {requests.nvidia.com/gpu: "0"}}
"""


def test_beyond_the_quota_a_pod_waits_for_the_quota(tmp_path: Path) -> None:
    evicted = ("--evict", "pretrain-blue", "--evict", "pretrain-red")
    rows = ask(tmp_path, KNOT, "--submit", "{job}", *evicted, job=f"{JOB}---\n{QUOTA}")
    assert fates(rows)["pod/team-green/new-0"] == "starts_now"
    assert fates(rows)["pod/team-green/new-1"] == "waits"
    assert "quota/team-green/small" in rows["actors"][1]["needs"]
    wide = QUOTA.replace('"8"', '"16"')
    rows = ask(tmp_path, KNOT, "--submit", "{job}", *evicted, job=f"{JOB}---\n{wide}")
    assert fates(rows)["pod/team-green/new-1"] == "starts_now"


NODE = """apiVersion: v1
kind: Node
metadata: {name: gpu-node-9}
spec: {taints: []}
status:
  allocatable: {cpu: "64", memory: 512Gi, pods: "110", nvidia.com/gpu: "8"}
  conditions: [{type: Ready, status: "True"}]
"""


def test_a_new_node_opens_the_knot_unless_it_is_tainted(tmp_path: Path) -> None:
    rows = ask(tmp_path, KNOT, "--add-node", "{node}", node=NODE)
    assert rows["safe"]
    assert rows["go_on"] == ["gang/team-blue/pretrain-blue", "gang/team-red/pretrain-red"]
    tainted = NODE.replace("taints: []", "taints: [{key: team, value: other, effect: NoSchedule}]")
    assert not ask(tmp_path, KNOT, "--add-node", "{node}", node=tainted)["safe"]


def test_draining_leaves_too_few_cards(tmp_path: Path) -> None:
    rows = ask(tmp_path, KNOT, "--drain", "gpu-node-2")
    assert fates(rows) == {"gang/team-blue/pretrain-blue": "never"}
    rows = ask(tmp_path, KNOT, "--drain", "gpu-node-2", "--add-node", "{node}", "--evict", "pretrain-blue", node=NODE)
    assert rows["safe"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            manifest("Notebook", "kubeflow.org/v1", templated("x: 0")),
            "which pods a Notebook makes is not known here: submit its pods or its jobs, or facts about them",
        ),
        (JOB.replace("new", "pretrain-red").replace("team-green", "team-red"), "is in the input already"),
        (JOB.replace("parallelism: 2", "parallelism: many"), "parallelism"),
        (JOB.replace("spec:\n", "spec: [\n", 1), "new.yaml:"),
        ("apiVersion: batch/v1\nkind: Job\nmetadata: {}\nspec: {}\n", "without a name"),
        ("just words\n", "is neither facts"),
        ("", "is empty"),
        (
            JOB.replace("parallelism: 2", "parallelism: 1000000").replace("completions: 4", "backoffLimit: 1"),
            "10,000 pods",
        ),
    ],
)
def test_half_a_hypothesis_is_refused_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(text)
    result = run("whatif", KNOT, "--submit", tmp_path / "new.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_a_node_is_no_job(tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(JOB)
    result = run("whatif", KNOT, "--add-node", tmp_path / "new.yaml")
    assert (result.exit_code, "use --submit" in result.stderr) == (2, True)


def test_pods_made_one_by_one_never_make_a_gang_that_starts_together(tmp_path: Path) -> None:
    spec = templated("replicas: 2\nserviceName: x", POD.replace("Never", "Always"))
    spec = spec.replace("labels: {app: new}", "labels: {app: new, scheduling.x-k8s.io/pod-group: pair}")
    group = manifest("PodGroup", "scheduling.x-k8s.io/v1alpha1", "minMember: 2", name="pair")
    evicted = ("--evict", "pretrain-blue", "--evict", "pretrain-red")
    ordered = f"{manifest('StatefulSet', 'apps/v1', spec)}---\n{group}"
    rows = ask(tmp_path, KNOT, "--submit", "{both}", *evicted, both=ordered)
    assert fates(rows)["gang/team-green/pair"] == "never"
    assert "controller/team-green/new" in rows["safety"]["stuck"]
    parallel = ordered.replace("serviceName: x", "podManagementPolicy: Parallel")
    rows = ask(tmp_path, KNOT, "--submit", "{both}", *evicted, both=parallel)
    assert fates(rows)["gang/team-green/pair"] == "starts_now"
    assert rows["safe"]
