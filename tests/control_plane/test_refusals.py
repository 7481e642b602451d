"""What a real API server refuses, and what it leaves behind, as the analyzer reads it."""

import json
import subprocess
from pathlib import Path

from tests.control_plane.cluster import ControlPlane, Object
from tests.control_plane.site import Site
from tests.replay.reports import report_of

KINDS = ("nodes", "pods", "events", "statefulsets", "deployments", "replicasets", "poddisruptionbudgets")


def _dumped(plane: ControlPlane, folder: Path) -> Path:
    folder.mkdir()
    for kind in KINDS:
        (folder / f"{kind}.json").write_text(plane.kubectl("get", kind, "-A", "-o", "json"))
    (folder / "audit.log").write_bytes(plane.audit_log.read_bytes())
    return folder


def _replicated(kind: str, name: str, replicas: int, image: str, **annotations: str) -> Object:
    container = {"name": "main", "image": image, "resources": {"limits": {"nvidia.com/gpu": "4"}}}
    about = {"labels": {"app": name}, "annotations": annotations}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "serviceName": name}
    if kind == "Deployment":
        del spec["serviceName"]
    template = {"metadata": about, "spec": {"containers": [container]}}
    metadata = {"name": name, "namespace": "serving"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {**spec, "template": template}}


def _ready(plane: ControlPlane) -> int:
    pods = plane.get("pods", "-n", "serving")
    states = [one for pod in pods for one in pod["status"].get("conditions", ())]
    return sum(one["type"] == "Ready" and one["status"] == "True" for one in states)


def test_a_drain_against_a_budget_is_known_by_the_refused_evictions(site: Site, tmp_path: Path) -> None:
    site.namespace("serving")
    site.nodes(2)
    plane = site.control_plane
    budget = {"minAvailable": "100%", "selector": {"matchLabels": {"app": "llm"}}}
    metadata = {"name": "llm", "namespace": "serving"}
    plane.create(
        _replicated("Deployment", "llm", 2, "llm:1"),
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget},
    )
    plane.wait_until(lambda: _ready(plane) == 2, "two ready pods")
    plane.wait_until(
        lambda: plane.get("poddisruptionbudgets", "-n", "serving")[0].get("status", {}).get("currentHealthy") == 2,
        "the budget to count them",
    )
    node = plane.get("pods", "-n", "serving")[0]["spec"]["nodeName"]
    command = [plane.kubectl_path, "--kubeconfig", str(plane.kubeconfig), "drain", node, "--timeout=3s"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603  built by us
    assert "violate the pod's disruption budget" in done.stderr
    report = report_of([_dumped(plane, tmp_path / "incident")])
    [waiting] = [row for row in report["waiting"] if row["actor"] == f"drain/node/{node}"]
    assert "being drained" in json.dumps(waiting)
    assert report["findings"] == []  # it has gone on for some seconds only


def test_the_controller_of_a_stateful_set_stops_at_a_pod_that_is_not_ready(site: Site, tmp_path: Path) -> None:
    site.namespace("serving")
    site.nodes(2)
    plane = site.control_plane
    plane.create(_replicated("StatefulSet", "db", 2, "db:1", **{"knotwatch.dev/never-starts": "true"}))
    plane.wait_until(lambda: bool(plane.get("pods", "-n", "serving")), "the first pod")
    template = {"metadata": {"annotations": {"knotwatch.dev/never-starts": None}}}
    patch = json.dumps({"spec": {"template": template}})
    plane.kubectl("patch", "statefulset", "db", "-n", "serving", "--type=merge", "-p", patch)
    plane.wait_until(
        lambda: plane.get("statefulsets", "-n", "serving")[0]["status"].get("observedGeneration") == 2,
        "the controller to see the template",
    )
    [pod] = plane.get("pods", "-n", "serving")
    [made] = plane.get("statefulsets", "-n", "serving")
    revision = pod["metadata"]["labels"]["controller-revision-hash"]
    assert (made["status"]["currentRevision"], made["status"]["updateRevision"] == revision) == (revision, False)
    assert report_of([_dumped(plane, tmp_path / "incident")])["findings"] == []  # its image may be being pulled
