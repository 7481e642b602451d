"""Rules over other pods: what a real scheduler says of them, and that the verdict over its words is right."""

from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.site import Site
from tests.replay.reports import report_of
from tests.replay.truth import compare, parse_truth

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
LISTS = ("nodes", "pods", "events", "deployments.apps", "replicasets.apps", "jobs.batch")


def rule(word: str, app: str, key: str = HOST) -> dict[str, Any]:
    """A required term over pods with this label."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {word: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def evenly(app: str) -> dict[str, Any]:
    """At most one more in a zone than in the zone that has fewest."""
    selector = {"matchLabels": {"app": app}}
    one = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [one]}


def template(app: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "train:1", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def deployment(name: str, replicas: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "lab"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template(name, **spec),
        },
    }


def job(name: str, **spec: Any) -> dict[str, Any]:
    made = template(name, **spec, restartPolicy="Never")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "lab"},
        "spec": {"template": made},
    }


def pod(name: str, **spec: Any) -> dict[str, Any]:
    made = template(name, **spec, restartPolicy="Never")
    made["metadata"] |= {"name": name, "namespace": "lab"}
    return {"apiVersion": "v1", "kind": "Pod", **made}


STORIES: dict[str, tuple[dict[str, Any] | None, list[dict[str, Any]], int, str]] = {
    "a replica for which no node is left": (
        None,
        [deployment("shop", 4, **rule("podAntiAffinity", "shop"))],
        1,
        "UNPLACEABLE {pod/lab/shop-*}",
    ),
    "a node that a Job has for a while": (
        job("sweep", cpu="95.5", nodeSelector={HOST: "node-2"}),
        [deployment("shop", 3, **rule("podAntiAffinity", "shop"))],
        1,
        "quiet\nwaits pod/lab/shop-* for pod/lab/sweep-*",
    ),
    "two that must each be beside the other": (
        None,
        [pod("a", **rule("podAffinity", "b")), pod("b", **rule("podAffinity", "a"))],
        2,
        "DEADLOCK {pod/lab/a, pod/lab/b}",
    ),
    "a zone without room": (
        deployment("llm", 1, cpu="95", nodeSelector={ZONE: "b"}),
        [deployment("shop", 3, cpu="2", **evenly("shop"))],
        2,
        "UNPLACEABLE {pod/lab/shop-*, pod/lab/shop-*}",
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_rules_over_other_pods(story: str, site: Site, tmp_path: Path) -> None:
    first, then, refused, truth = STORIES[story]
    plane = site.control_plane
    site.namespace("lab")
    site.nodes(2, labels={ZONE: "a"})
    site.nodes(1, labels={ZONE: "b"})

    def pods(phase: str) -> list[dict[str, Any]]:
        return [one for one in plane.get("pods", "-n", "lab") if one["status"].get("phase") == phase]

    def is_refused(one: dict[str, Any]) -> bool:
        return any(each.get("reason") == "Unschedulable" for each in one["status"].get("conditions", ()))

    if first is not None:
        plane.create(first)
        plane.wait_until(lambda: len(pods("Running")) == 1, "the first to run")
    plane.create(*then)
    plane.wait_until(
        lambda: len(pods("Pending")) == refused and all(map(is_refused, pods("Pending"))), "the others to be refused"
    )
    for kind in LISTS:
        (tmp_path / f"{kind}.json").write_text(plane.kubectl("get", kind, "-A", "-o", "json"), "utf-8")
    assert compare(parse_truth(truth), report_of([tmp_path])) == []
