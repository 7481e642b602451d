"""The command with a kubectl that prints what a test wants: what lands in the archive, what is said, how it ends."""

import json
import os
import signal
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.running import run

ROOT = Path(__file__).parents[2]
KNOT = Path(__file__).parents[1] / "data" / "k8s" / "partial_gang"

KUBECTL = """#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/asked"
while [ "${1#--}" != "$1" ]; do shift; done
case "$1" in
  api-resources) cat "$here/kinds$3"; cat "$here/discovery-complaint" >&2 2>/dev/null && exit 1; exit 0 ;;
  version) echo '{"clientVersion": {"gitVersion": "v1.36.3"}, "serverVersion": {"gitVersion": "v1.35.0"}}' ;;
  get) cat "$here/$2.json" 2>/dev/null && exit 0
       echo "W1130 this is a warning" >&2
       echo "Error from server (Forbidden): $2 is forbidden: User \\"x\\" cannot list it" >&2; exit 1 ;;
  logs) echo 'I0114 09:00:00.000000 1 x.go:1] "Attempting to schedule pod" pod="a/b" token=hunter2' ;;
esac
"""


@pytest.fixture
def kubectl(tmp_path: Path) -> Path:
    """A kubectl that knows pods, nodes and jobs of a stuck cluster, and may not list leases."""
    folder = tmp_path / "fake"
    folder.mkdir()
    path = folder / "kubectl"
    path.write_text(KUBECTL)
    path.chmod(0o755)
    (folder / "kinds--namespaced=true").write_text(
        "secrets\nconfigmaps\nleases.coordination.k8s.io\njobs.batch\npods\n"
    )
    (folder / "kinds--namespaced=false").write_text("nodes\nfoos.example.com\n")
    for kind, file in (("pods", "pods"), ("nodes", "nodes"), ("jobs.batch", "workloads")):
        (folder / f"{kind}.json").write_bytes((KNOT / f"{file}.json").read_bytes())
    return path


def collect(kubectl: Path, *more: str) -> Result:
    return run("collect", "--from", "kubernetes", "--kubectl", kubectl, "-o", kubectl.parent / "in.tar.gz", *more)


def members(kubectl: Path) -> dict[str, str]:
    with tarfile.open(kubectl.parent / "in.tar.gz") as archive:
        files = ((entry.name, archive.extractfile(entry)) for entry in archive.getmembers())
        return {name: file.read().decode() for name, file in files if file is not None}


def test_what_is_there_is_gathered_and_what_is_forbidden_is_named(kubectl: Path) -> None:
    result = collect(kubectl)
    assert result.exit_code == 0
    leases = "leases.coordination.k8s.io"
    assert sorted(result.stderr.splitlines()) == [
        "collected kubernetes/jobs.batch.json (3)",
        "collected kubernetes/nodes.json (4)",
        "collected kubernetes/pods.json (12)",
        f'knotwatch: kubernetes/{leases}.json: not permitted: {leases} is forbidden: User "x" cannot list it',
    ]
    assert "in.tar.gz: 3 lists and logs of kubernetes, " in result.stdout
    assert sorted(members(kubectl)) == [
        "in/kubernetes/jobs.batch.json",
        "in/kubernetes/nodes.json",
        "in/kubernetes/pods.json",
        "in/manifest.json",
    ]
    asked = (kubectl.parent / "asked").read_text()
    assert not {"secrets", "configmaps", "foos.example.com"} & set(asked.split())


def test_the_manifest_says_what_was_done(kubectl: Path) -> None:
    collect(kubectl, "--context", "prod")
    manifest = json.loads(members(kubectl)["in/manifest.json"])
    assert manifest["schema"] == "knotwatch.collection/v1"
    assert manifest["sources"] == ["kubernetes"]
    assert manifest["versions"] == {"kubernetes": "v1.35.0", "kubectl": "v1.36.3"}
    pods, *_ = manifest["commands"]
    assert (pods["command"], pods["file"]) == ("kubectl get pods -A -o json --chunk-size=500", "kubernetes/pods.json")
    assert (pods["exit_status"], pods["records"]) == (0, 12)
    leases = next(row for row in manifest["commands"] if "leases" in row["command"])
    assert (leases["exit_status"], "file" in leases) == (1, False)
    assert leases["complaint"].startswith("not permitted: leases")
    assert "--context=prod" in (kubectl.parent / "asked").read_text()


def test_the_archive_replays_as_it_is(kubectl: Path) -> None:
    collect(kubectl)
    result = run("replay", "--format", "json", kubectl.parent / "in.tar.gz")
    assert (result.exit_code, result.stderr) == (1, "")
    report = json.loads(result.stdout)
    assert [row["verdict"] for row in report["findings"]] == ["DEADLOCK"]
    assert {row["path"]: row["kind"] for row in report["sources"]}[
        "in.tar.gz/in/manifest.json"
    ] == "collection manifest"


def test_a_manifest_alone_is_no_recording_and_a_broken_one_costs_a_sentence(kubectl: Path, tmp_path: Path) -> None:
    collect(kubectl)
    manifest = members(kubectl)["in/manifest.json"]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "manifest.json").write_text(manifest[:400])
    (tmp_path / "in" / "pods.json").write_text(members(kubectl)["in/kubernetes/pods.json"])
    result = run("replay", tmp_path / "in")
    assert "in/manifest.json is no whole manifest of a collection" in result.stderr
    (tmp_path / "in" / "pods.json").unlink()
    assert run("replay", tmp_path / "in").exit_code == 2


def test_the_archive_is_its_owner_s_and_says_nothing_of_the_machine(kubectl: Path) -> None:
    collect(kubectl)
    archive = kubectl.parent / "in.tar.gz"
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with tarfile.open(archive) as opened:
        assert {(entry.uid, entry.gid, entry.uname, entry.gname) for entry in opened} == {(0, 0, "", "")}
    assert sorted(path.name for path in kubectl.parent.iterdir() if path.name.startswith(".")) == []


def test_a_link_in_the_way_is_not_followed(kubectl: Path) -> None:
    elsewhere = kubectl.parent / "elsewhere"
    (kubectl.parent / ".in.tar.gz.unfinished").symlink_to(elsewhere)
    assert collect(kubectl).exit_code == 0
    assert not elsewhere.exists()
    assert "in/kubernetes/pods.json" in members(kubectl)


def test_namespaces_are_asked_one_by_one(kubectl: Path) -> None:
    assert collect(kubectl, "-n", "red", "-n", "blue", "-n", "red").exit_code == 0
    assert sorted(name for name in members(kubectl) if "pods" in name or "nodes" in name) == [
        "in/kubernetes/blue/pods.json",
        "in/kubernetes/nodes.json",
        "in/kubernetes/red/pods.json",
    ]
    assert "get pods -n red -o json" in (kubectl.parent / "asked").read_text()


def test_logs_of_schedulers_and_controllers_come_along_masked(kubectl: Path) -> None:
    pods = [
        {"kind": "Pod", "metadata": {"namespace": "kube-system", "name": "kube-scheduler-cp-1"}},
        {"kind": "Pod", "metadata": {"namespace": "kueue-system", "name": "kueue-controller-manager-7d9-x2x"}},
        {"kind": "Pod", "metadata": {"namespace": "team-red", "name": "my-kube-scheduler"}},
    ]
    (kubectl.parent / "pods.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    assert collect(kubectl, "--since", "2h").exit_code == 0
    logs = {name: text for name, text in members(kubectl).items() if "/logs/" in name}
    assert sorted(logs) == [
        "in/kubernetes/logs/kube-system/kube-scheduler-cp-1.log",
        "in/kubernetes/logs/kueue-system/kueue-controller-manager-7d9-x2x.log",
    ]
    assert all("hunter2" not in text and "Attempting to schedule" in text for text in logs.values())
    assert "logs kube-scheduler-cp-1 -n kube-system --since=2h --tail=" in (kubectl.parent / "asked").read_text()
    (kubectl.parent / "asked").unlink()
    assert collect(kubectl, "--no-logs").exit_code == 0
    assert "logs" not in (kubectl.parent / "asked").read_text()


def test_a_broken_api_costs_a_line_and_nothing_else(kubectl: Path) -> None:
    (kubectl.parent / "discovery-complaint").write_text(
        "error: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: unavailable\n"
    )
    result = collect(kubectl)
    assert result.exit_code == 0
    assert "api-resources" in result.stderr
    assert "metrics.k8s.io/v1beta1: unavailable" in result.stderr
    assert "in/kubernetes/pods.json" in members(kubectl)


def test_a_list_that_breaks_off_is_no_list(kubectl: Path) -> None:
    (kubectl.parent / "nodes.json").write_text('{"apiVersion": "v1", "kind": "List", "items": [{"a"')
    result = collect(kubectl)
    assert result.exit_code == 0
    assert "nodes.json: what it printed is not whole, or not JSON" in result.stderr
    assert "in/kubernetes/nodes.json" not in members(kubectl)


def one_sentence(result: Result) -> str:
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("knotwatch: Nothing")]
    return line


def test_nothing_to_collect_from_is_2_with_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = tmp_path / "absent"
    assert one_sentence(collect(absent)).endswith(f"kubernetes: there is no program {absent}.")
    monkeypatch.setenv("PATH", str(tmp_path))
    line = one_sentence(run("collect", "-o", tmp_path / "x.tar.gz"))
    assert "kubernetes: on PATH there is no kubectl; slurm: on PATH there is no squeue, no scontrol, no sinfo." in line
    assert not (tmp_path / "x.tar.gz").exists()


def test_a_cluster_out_of_reach_is_2_with_its_reason(kubectl: Path) -> None:
    for kinds in kubectl.parent.glob("kinds*"):
        kinds.write_text("")
    (kubectl.parent / "discovery-complaint").write_text(
        "E1130 memcache.go:265 unhandled\nThe connection to the server 10.0.0.1:6443 was refused - the right port?\n"
    )
    line = one_sentence(collect(kubectl))
    assert (
        "kubernetes: The connection to the server 10.0.0.1:6443 was refused - the right port (another cluster " in line
    )
    assert line.endswith("is named by --context NAME or --kubeconfig FILE).")


def test_nothing_permitted_is_2_and_says_what_may_help(kubectl: Path) -> None:
    for listed in kubectl.parent.glob("*.json"):
        listed.unlink()
    line = one_sentence(collect(kubectl))
    assert "not permitted: pods is forbidden" in line
    assert "name them: --namespace NAME" in line


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--since", "6x", "'6x' is not a span such as 90s, 30m or 6h."),
        ("--since", "6", "'6' is not a span"),
        ("--since", "-1h", "'-1h' is not a span"),
        ("--namespace", "../../x", "'../../x' cannot be the name of a namespace."),
        ("--namespace", "Team Red", "'Team Red' cannot be the name of a namespace."),
    ],
)
def test_a_slip_of_the_pen_is_2_before_anything_is_asked(kubectl: Path, option: str, value: str, reason: str) -> None:
    result = collect(kubectl, f"{option}={value}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr
    assert not (kubectl.parent / "asked").exists()
    assert collect(kubectl, "--since=1h30m").exit_code == 0


def test_names_that_an_answer_makes_up_lead_nowhere(kubectl: Path) -> None:
    kinds = kubectl.parent / "kinds--namespaced=true"
    kinds.write_text(f"{kinds.read_text()}--kubeconfig=jobs.kubeflow.org\n../../../x/jobs.kubeflow.org\n")
    pods = json.loads((kubectl.parent / "pods.json").read_text())
    invented = ("kube-system", "kube-scheduler-../../../../x"), ("../../..", "kube-scheduler-n")
    pods["items"] += [{"metadata": {"namespace": namespace, "name": name}} for namespace, name in invented]
    (kubectl.parent / "pods.json").write_text(json.dumps(pods))
    assert collect(kubectl).exit_code == 0
    asked = (kubectl.parent / "asked").read_text()
    assert "kubeflow" not in asked
    assert "logs" not in asked


def test_a_list_of_pods_that_is_none_costs_its_logs_alone(kubectl: Path) -> None:
    (kubectl.parent / "pods.json").write_text('{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": null}]}')
    assert collect(kubectl).exit_code == 0
    assert "in/kubernetes/nodes.json" in members(kubectl)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_collection_that_is_ended_leaves_nothing_lying(kubectl: Path, tmp_path: Path, number: signal.Signals) -> None:
    kubectl.write_text(KUBECTL.replace("get) ", f"get) kill -{number.value} $(cat {tmp_path}/pid); sleep 20; "))
    command = [sys.executable, "-m", "analyzer", "collect", "--from=kubernetes", f"--kubectl={kubectl}", "-o", "x.tar"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with subprocess.Popen(  # noqa: S603  our own command
        ["sh", "-c", 'echo $$ > pid; exec "$@"', "sh", *command],  # noqa: S607  the shell on PATH
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # whoever runs the tests may have it ignored
    ) as process:  # fmt: skip
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert list(scratch.iterdir()) == []
    assert not list(tmp_path.glob("*x.tar*"))


@pytest.mark.parametrize("target", ["no/folder/x.tar.gz", "."])
def test_a_target_that_cannot_be_is_2_before_anything_is_asked(kubectl: Path, target: str) -> None:
    result = run("collect", "--kubectl", kubectl, "-o", kubectl.parent / target)
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert not (kubectl.parent / "asked").exists()


def test_an_archive_that_cannot_be_written_leaves_nothing(kubectl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tarfile.TarFile.addfile", full)
    result = collect(kubectl)
    assert result.exit_code == 2
    assert "in.tar.gz cannot be written: No space left on device." in result.stderr
    assert not list(kubectl.parent.glob("*in.tar.gz*"))


def test_on_a_terminal_a_bar_and_the_complaints(
    kubectl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from analyzer.cli import main

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    target = kubectl.parent / "in.tar.gz"
    arguments = ["collect", "--from", "kubernetes", "--kubectl", str(kubectl), "-o", str(target)]
    with pytest.raises(SystemExit) as ended:
        main(arguments, prog_name="knotwatch")
    assert ended.value.code == 0
    shown = capsys.readouterr().err
    assert "4/4" in shown
    assert "not permitted: leases.coordination.k8s.io is forbidden" in shown.replace("\n", " ")
    assert "collected " not in shown


def slurm_commands(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Slurm's commands on PATH, all of which do what the script says."""
    folder.mkdir()
    for name in ("squeue", "sinfo", "scontrol", "sacct"):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


@pytest.mark.parametrize("origin", ["slurm", "auto"])
def test_slurm_is_collected_by_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: str) -> None:
    slurm_commands(tmp_path / "commands", monkeypatch, 'echo ${0##*/} of slurm "$@" DB_PASSWORD=hunter2')
    result = run("collect", "--from", origin, "--kubectl", "absent", "-o", tmp_path / "in.tar.gz")
    assert result.exit_code == 0, result.stderr
    with tarfile.open(tmp_path / "in.tar.gz") as archive:
        names = archive.getnames()
        listed = archive.extractfile("in/slurm/squeue.txt")
        assert listed is not None
        text = listed.read().decode()
    assert {"in/manifest.json", "in/slurm/squeue.txt", "in/slurm/scontrol-node.txt"} <= set(names)
    assert "squeue of slurm" in text
    assert "hunter2" not in text


def test_commands_of_slurm_without_a_cluster_are_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm_commands(tmp_path / "commands", monkeypatch, "echo Unable to contact slurm controller >&2; exit 1")
    line = one_sentence(run("collect", "--kubectl", "absent", "-o", tmp_path / "x.tar.gz"))
    assert line.endswith("kubernetes: on PATH there is no absent; slurm: Unable to contact slurm controller.")
    asked = run("collect", "--from", "slurm", "-o", tmp_path / "x.tar.gz")
    assert one_sentence(asked).endswith("slurm: Unable to contact slurm controller.")
    assert "knotwatch: slurm/squeue.txt: Unable to contact slurm controller" in asked.stderr
    assert not (tmp_path / "x.tar.gz").exists()


def test_kubernetes_beside_commands_of_slurm_without_a_cluster(
    kubectl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm_commands(tmp_path / "commands", monkeypatch, "exit 1")
    result = run("collect", "--kubectl", kubectl, "-o", kubectl.parent / "in.tar.gz")
    assert result.exit_code == 0
    assert "slurm" not in result.stderr
    assert {name.split("/")[1] for name in members(kubectl)} == {"kubernetes", "manifest.json"}
    assert json.loads(members(kubectl)["in/manifest.json"])["sources"] == ["kubernetes"]
