"""`knotwatch collect` from a real cluster, and what `knotwatch replay` makes of the archive."""

import base64
import json
import tarfile
from pathlib import Path
from typing import Any

from tests.cli.running import run
from tests.control_plane.cluster import ControlPlane, Object
from tests.control_plane.site import Site, gang_job


def collected(plane: ControlPlane, target: Path, *more: str, user: str | None = None) -> Path:
    """The archive of a collection that has gone well."""
    config = plane.kubeconfig if user is None else plane.kubeconfig_of(user)
    options = ("--from", "kubernetes", "--kubectl", plane.kubectl_path, "--kubeconfig", str(config))
    result = run("collect", *options, "-o", target, *more)
    assert result.exit_code == 0, result.stderr
    return target


def members(archive: Path) -> dict[str, bytes]:
    """Everything in the archive by its name below the top folder."""
    with tarfile.open(archive) as tar:
        files = ((entry.name.partition("/")[2], tar.extractfile(entry)) for entry in tar.getmembers())
        return {name: file.read() for name, file in files if file is not None}


def report_on(archive: Path) -> tuple[int, dict[str, Any]]:
    """Exit status and report of a replay."""
    result = run("replay", "--format", "json", archive)
    assert result.stderr == ""
    report: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, report


def placed(plane: ControlPlane, namespace: str, job: str) -> int:
    """How many pods of the job have a node."""
    pods = plane.get("pods", "-n", namespace, "-l", f"job-name={job}")
    return sum("nodeName" in pod["spec"] for pod in pods)


def refused(plane: ControlPlane, namespace: str) -> int:
    """How many pods the scheduler has found no place for."""
    pods = plane.get("pods", "-n", namespace)
    return sum(
        any(
            each["type"] == "PodScheduled" and each["status"] == "False" for each in pod["status"].get("conditions", ())
        )
        for pod in pods
    )


def split(site: Site, namespace: str) -> None:
    """Two gangs of four pods on four nodes, both incomplete. Tried anew if the scheduler favours one of them."""
    plane = site.control_plane
    site.nodes(4)
    for _ in range(5):
        plane.create(*(gang_job(name, namespace, pods=4) for name in ("red", "blue")))
        plane.wait_until(
            lambda: (
                placed(plane, namespace, "red") + placed(plane, namespace, "blue") == 4
                and refused(plane, namespace) == 4
            ),
            "four pods to be placed and four to be refused",
        )
        if 0 < placed(plane, namespace, "red") < 4:
            return
        plane.kubectl("delete", "jobs", "--all", "-n", namespace, "--cascade=foreground")
    raise AssertionError("the scheduler did not split two jobs in five attempts")


def test_a_real_deadlock_is_found_in_what_was_collected(site: Site, tmp_path: Path) -> None:
    namespace = site.namespace("team-red")
    split(site, namespace)
    status, report = report_on(collected(site.control_plane, tmp_path / "knot.tar.gz"))
    assert status == 1
    (finding,) = report["findings"]
    assert finding["verdict"] == "DEADLOCK"
    assert sorted(finding["members"]) == ["gang/team-red/blue", "gang/team-red/red"]
    assert finding["idle_gpus"] == 32
    assert {row["path"]: row["kind"] for row in report["sources"]}[
        "knot.tar.gz/knot/manifest.json"
    ] == "collection manifest"


def test_enough_nodes_for_both_are_quiet(site: Site, tmp_path: Path) -> None:
    namespace = site.namespace("team-red")
    plane = site.control_plane
    site.nodes(8)
    plane.create(*(gang_job(name, namespace, pods=4) for name in ("red", "blue")))
    plane.wait_until(lambda: placed(plane, namespace, "red") + placed(plane, namespace, "blue") == 8, "all to run")
    status, report = report_on(collected(plane, tmp_path / "quiet.tar.gz"))
    assert (status, report["findings"]) == (0, [])


def test_one_job_that_waits_for_another_to_end_is_quiet(site: Site, tmp_path: Path) -> None:
    namespace = site.namespace("team-red")
    plane = site.control_plane
    site.nodes(4)
    plane.create(gang_job("first", namespace, pods=4))
    plane.wait_until(lambda: placed(plane, namespace, "first") == 4, "the first to run")
    plane.create(gang_job("second", namespace, pods=4))
    plane.wait_until(lambda: refused(plane, namespace) == 4, "the second to be refused")
    status, report = report_on(collected(plane, tmp_path / "queue.tar.gz"))
    assert (status, report["findings"]) == (0, [])
    assert [row["actor"] for row in report["waiting"]] == ["gang/team-red/second"]


PLANTED = "Zx9-hunter2-Qk7"
"""What must be nowhere in an archive."""


def a_cluster_full_of_secrets(namespace: str) -> list[Object]:
    """A Secret, a ConfigMap, and a job whose author wrote the same secret wherever one could."""
    job = json.loads(json.dumps(gang_job("careless", namespace, pods=1)))
    template = job["spec"]["template"]
    (container,) = template["spec"]["containers"]
    container["command"] = ["sh", "-c", f"export TOKEN={PLANTED}; torchrun train.py --password {PLANTED}"]
    container["args"] = [f"--token={PLANTED}", "--api-key", PLANTED]
    container["env"] = [{"name": "WORLD_SIZE", "value": "4"}, {"name": "DB_PASSWORD", "value": PLANTED}]
    container["livenessProbe"] = {
        "httpGet": {"path": "/", "port": 80, "httpHeaders": [{"name": "Authorization", "value": f"Bearer {PLANTED}"}]}
    }
    template["metadata"]["annotations"]["example.com/login"] = PLANTED
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(job)}
    job["metadata"]["annotations"] = applied
    template["metadata"]["annotations"] |= applied
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "login", "namespace": namespace},
            "stringData": {"password": PLANTED},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "settings", "namespace": namespace},
            "data": {"password": PLANTED},
        },
        job,
    ]


def test_no_secret_is_anywhere_in_the_archive(site: Site, tmp_path: Path) -> None:
    namespace = site.namespace("team-red")
    plane = site.control_plane
    site.nodes(1)
    plane.create(*a_cluster_full_of_secrets(namespace))
    plane.wait_until(lambda: placed(plane, namespace, "careless") == 1, "the job to run")
    note = f"careless: password={PLANTED} was refused"
    plane.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "note", "namespace": namespace},
            "involvedObject": {"kind": "Job", "name": "careless", "namespace": namespace},
            "reason": "Careless",
            "message": note,
        }
    )
    assert PLANTED in plane.kubectl("get", "pods,jobs,secrets,configmaps,events", "-A", "-o", "json")
    inside = members(collected(plane, tmp_path / "clean.tar.gz"))
    secret = (PLANTED, base64.b64encode(PLANTED.encode()).decode())
    assert [name for name, content in inside.items() if any(each.encode() in content for each in secret)] == []
    assert [name for name in inside if "secret" in name or "configmap" in name] == []
    pods = inside["kubernetes/pods.json"].decode()
    assert '"name":"DB_PASSWORD"' in pods, "names of variables stay, they tell gangs"
    assert "torchrun train.py --password ***" in pods
    assert "careless: password=*** was refused" in inside["kubernetes/events.json"].decode()


def may_list_pods(namespace: str, user: str) -> list[Object]:
    """Rights to list the pods of one namespace, and nothing else."""
    meta = {"name": "pods-only", "namespace": namespace}
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    return [
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": meta, "rules": [rule]},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "pods-only"},
            "subjects": [{"kind": "User", "apiGroup": group, "name": user}],
        },
    ]


def test_who_may_read_little_gets_that_and_a_sentence_for_the_rest(site: Site, tmp_path: Path) -> None:
    namespace = site.namespace("team-red")
    plane = site.control_plane
    site.nodes(1)
    plane.create(*may_list_pods(namespace, "reader"), gang_job("a", namespace, pods=1))
    plane.wait_until(lambda: placed(plane, namespace, "a") == 1, "the job to run")
    config = (
        "--kubectl",
        plane.kubectl_path,
        "--kubeconfig",
        str(plane.kubeconfig_of("reader", ["system:authenticated"])),
    )
    target = tmp_path / "little.tar.gz"
    result = run("collect", "--from", "kubernetes", *config, "-o", target, "--namespace", namespace)
    assert result.exit_code == 0
    inside = members(target)
    assert sorted(inside) == [f"kubernetes/{namespace}/pods.json", "manifest.json"]
    manifest = json.loads(inside["manifest.json"])
    told = [line for line in result.stderr.splitlines() if line.startswith("knotwatch: ")]
    assert len(told) == len(manifest["commands"]) - 1, "one sentence for each list but that of the pods"
    assert all("not permitted: " in line and 'User "reader" cannot list' in line for line in told)
    assert all("complaint" in row for row in manifest["commands"] if "file" not in row)
    assert report_on(target)[0] == 0
    everywhere = run("collect", "--from", "kubernetes", *config, "-o", tmp_path / "nothing.tar.gz")
    assert everywhere.exit_code == 2
    assert "name them: --namespace NAME" in everywhere.stderr
    assert not (tmp_path / "nothing.tar.gz").exists()
