"""A real control plane on this machine: etcd, API server, scheduler, controller manager, and kwok for the kubelets.

Each one has its own folder and its own block of ports on loopback; about 15 s to start. What is started here is
stopped here, whatever happens in between.
"""

import json
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.control_plane.binaries import program

Object = Mapping[str, Any]
"""A Kubernetes object as it is written in a manifest."""

ADMINISTRATOR = "administrator"
_USERS = (
    (ADMINISTRATOR, "system:masters"),
    ("system:kube-controller-manager", "system:masters"),
    ("system:kube-scheduler", ""),
    ("kwok", "system:masters"),
)
"""Who has a token, and in which group. Anybody else is played by impersonation (`ControlPlane.kubeconfig_of`)."""

_STAGES = Path(__file__).with_name("stages.yaml")
_PORTS = ("etcd", "etcd-peer", "apiserver", "scheduler", "controller-manager", "kwok", "kueue")
_READY_WITHIN_S = 90
_ENDS_WITHIN_S = 10
_ATTEMPTS = 3
_AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  resources: [{group: coordination.k8s.io}]
- level: RequestResponse
  resources: [{group: "", resources: [pods, nodes, pods/status, nodes/status, pods/binding]}, {group: batch}]
- level: Metadata
"""


class Settings(Struct, frozen=True, kw_only=True):
    """What may differ between control planes. `profiles` are those of the scheduler's configuration."""

    feature_gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    profiles: tuple[Object, ...] = ()
    controllers: tuple[str, ...] = ()
    """More options of the controller manager, as they are typed."""


class ControlPlane:
    """A control plane that runs; made by `running`."""

    def __init__(self, folder: Path, ports: Mapping[str, int]) -> None:
        self.folder = folder
        self.ports = ports
        self.server = f"https://127.0.0.1:{ports['apiserver']}"
        self.kubectl_path = program("kubectl") or "kubectl"
        self.kubeconfig = self._kubeconfig(ADMINISTRATOR, {})

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    def log_of(self, name: str) -> Path:
        """What a program has written: etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kwok."""
        return self.folder / f"{name}.log"

    def kubeconfig_of(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig with which commands run as this user, who has no rights but those that somebody gave."""
        return self._kubeconfig(ADMINISTRATOR, {"as": user, "as-groups": list(groups)}, f"as-{user}")

    def kubectl(self, *arguments: str, given: str | None = None, user: str | None = None) -> str:
        """What kubectl prints. Raises AssertionError with its complaint if it fails."""
        config = self.kubeconfig if user is None else self.kubeconfig_of(user)
        command = [self.kubectl_path, "--kubeconfig", str(config), *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603  built by us
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr.strip()}"
        return done.stdout

    def get(self, *arguments: str) -> list[dict[str, Any]]:
        """`kubectl get ... -o json`: the objects."""
        told = json.loads(self.kubectl("get", *arguments, "-o", "json"))
        items: list[dict[str, Any]] = told["items"] if told.get("kind", "").endswith("List") else [told]
        return items

    def create(self, *objects: Object) -> None:
        """Create all the objects, in this order, in one call."""
        self.kubectl(
            "create", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        )

    def make_namespace(self, name: str) -> None:
        """A namespace in which pods may be made: its service account is there."""
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.wait_until(
            lambda: bool(self.get("serviceaccounts", "-n", name, "--field-selector=metadata.name=default")),
            f"the service account of {name}",
        )

    def make_nodes(self, *names: str, gpus: int = 8, labels: Mapping[str, str] | None = None, **more: Any) -> None:
        """Ready nodes with GPUs. `more` goes into their spec (taints, unschedulable)."""
        amounts = {"cpu": "96", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": str(gpus)}
        self.create(
            *(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {
                        "name": name,
                        "labels": {"type": "kwok", "kubernetes.io/hostname": name, **(labels or {})},
                    },
                    "spec": more,
                    "status": {"allocatable": amounts, "capacity": amounts},
                }
                for name in names
            )
        )

        def ready() -> bool:
            nodes = self.get("nodes", *names) if names else []
            # A new node carries a taint until the controller manager has seen it ready.
            return all(
                _is_ready(node) and len(node["spec"].get("taints", ())) == len(more.get("taints", ())) for node in nodes
            )

        self.wait_until(ready, f"nodes {', '.join(names)} to be ready")

    def wait_until(self, condition: Callable[[], bool], what: str, within_s: float = 60) -> None:
        """Wait for something to become true. Raises AssertionError if it does not in time."""
        until = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < until, f"waited {within_s:.0f} s in vain for {what}"
            time.sleep(0.2)

    def _kubeconfig(self, user: str, more: Object, name: str = "") -> Path:
        path = self.folder / f"{(name or user).replace(':', '-')}.kubeconfig"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": self.server, "insecure-skip-tls-verify": True}}],
            "users": [{"name": user, "user": {"token": _token(self.folder, user), **more}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": user}}],
        }
        path.write_text(json.dumps(config))
        return path


@contextmanager
def running(folder: Path, settings: Settings | None = None) -> Iterator[ControlPlane]:
    """A control plane that is ready, until the block ends. `folder` is empty; logs and keys are written there."""
    with ExitStack() as stack:
        plane = _started(folder, settings or Settings(), stack)
        yield plane


def _started(folder: Path, settings: Settings, stack: ExitStack) -> ControlPlane:
    for attempt in range(_ATTEMPTS):
        home = folder / f"attempt-{attempt}"
        home.mkdir()
        with ExitStack() as trial:
            plane = _prepared(home)
            if _start_all(plane, settings, trial):
                stack.push(trial.pop_all())
                return plane
    raise AssertionError(f"a control plane did not get ready; its logs are in {folder}")


def _prepared(folder: Path) -> ControlPlane:
    """Keys, tokens, policies and configurations, before anything runs."""
    key = folder / "service-accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)  # noqa: S603, S607  openssl of the system
    rows = [f'{secrets.token_hex(16)},{user},{user},"{group}"' for user, group in _USERS]
    (folder / "tokens.csv").write_text("\n".join([*rows, ""]))
    (folder / "audit-policy.yaml").write_text(_AUDIT)
    return ControlPlane(folder, _free_ports())


def _start_all(plane: ControlPlane, settings: Settings, stack: ExitStack) -> bool:
    """Start the programs one after the other; False if one of them ends or does not get ready."""
    steps: tuple[tuple[str, list[str], Callable[[], bool]], ...] = (
        ("etcd", _etcd(plane), lambda: _listens(plane.ports["etcd"])),
        ("kube-apiserver", _apiserver(plane, settings), lambda: _answers(plane, "/readyz")),
        ("kube-controller-manager", _controllers(plane, settings), lambda: True),
        ("kube-scheduler", _scheduler(plane, settings), lambda: True),
        ("kwok", _kwok(plane), lambda: True),
    )
    for name, arguments, is_ready in steps:
        process = stack.enter_context(program_running(plane, name, arguments))
        until = time.monotonic() + _READY_WITHIN_S
        while not is_ready():
            if process.poll() is not None or time.monotonic() > until:
                return False
            time.sleep(0.2)
    plane.wait_until(
        lambda: _listens(plane.ports["scheduler"]) and _listens(plane.ports["controller-manager"]), "the scheduler"
    )
    return True


@contextmanager
def program_running(
    plane: ControlPlane, name: str, arguments: Sequence[str], before: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """One program, its output in a file of its own; it ends with the block, or with us if we are killed.

    `before` is a command that runs the program in some special way.
    """
    # util-linux; without it a killed test run leaves the programs behind.
    leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    with plane.log_of(name).open("wb") as log:
        command = [*leash, *before, program(name) or name, *arguments]
        with subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=plane.folder) as process:  # noqa: S603  built by us
            try:
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(_ENDS_WITHIN_S)
                except subprocess.TimeoutExpired:
                    process.kill()


def _etcd(plane: ControlPlane) -> list[str]:
    client, peer = (f"http://127.0.0.1:{plane.ports[port]}" for port in ("etcd", "etcd-peer"))
    return [
        f"--data-dir={plane.folder}/etcd",
        "--unsafe-no-fsync",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]


def _apiserver(plane: ControlPlane, settings: Settings) -> list[str]:
    key = f"{plane.folder}/service-accounts.key"
    return [
        f"--etcd-servers=http://127.0.0.1:{plane.ports['etcd']}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={plane.ports['apiserver']}",
        f"--cert-dir={plane.folder}/apiserver",
        f"--service-account-issuer={plane.server}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        f"--token-auth-file={plane.folder}/tokens.csv",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--audit-policy-file={plane.folder}/audit-policy.yaml",
        f"--audit-log-path={plane.audit_log}",
        *_gates(settings),
        *([f"--runtime-config={','.join(settings.runtime_config)}"] if settings.runtime_config else []),
    ]


def _controllers(plane: ControlPlane, settings: Settings) -> list[str]:
    user = plane._kubeconfig("system:kube-controller-manager", {})
    return [
        f"--kubeconfig={user}",
        f"--authentication-kubeconfig={user}",
        f"--authorization-kubeconfig={user}",
        f"--service-account-private-key-file={plane.folder}/service-accounts.key",
        "--use-service-account-credentials=false",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={plane.ports['controller-manager']}",
        f"--cert-dir={plane.folder}/controller-manager",
        "-v=2",
        *_gates(settings),
        *settings.controllers,
    ]


def _scheduler(plane: ControlPlane, settings: Settings) -> list[str]:
    user = plane._kubeconfig("system:kube-scheduler", {})
    config: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(user)},
        "leaderElection": {"leaderElect": False},
    }
    if settings.profiles:
        config["profiles"] = list(settings.profiles)
    path = plane.folder / "scheduler.json"
    path.write_text(json.dumps(config))
    return [
        f"--config={path}",
        "--bind-address=127.0.0.1",
        f"--secure-port={plane.ports['scheduler']}",
        f"--cert-dir={plane.folder}/scheduler",
        "-v=4",
        *_gates(settings),
    ]


def _kwok(plane: ControlPlane) -> list[str]:
    return [
        f"--kubeconfig={plane._kubeconfig('kwok', {})}",
        f"--config={_STAGES}",
        "--manage-nodes-with-label-selector=type=kwok",
        f"--server-address=127.0.0.1:{plane.ports['kwok']}",
        "--node-lease-duration-seconds=40",
    ]


def _gates(settings: Settings) -> list[str]:
    return [f"--feature-gates={','.join(settings.feature_gates)}"] if settings.feature_gates else []


def _token(folder: Path, user: str) -> str:
    rows = (line.split(",") for line in (folder / "tokens.csv").read_text().splitlines())
    return next(row[0] for row in rows if row[1] == user)


def _free_ports() -> dict[str, int]:
    """A block of ports that are free now, below those that the system gives out by itself."""
    for _ in range(100):
        first = 20_000 + 10 * secrets.randbelow(1_200)
        block = {name: first + place for place, name in enumerate(_PORTS)}
        if all(_is_free(port) for port in block.values()):
            return block
    raise AssertionError("there is no free block of ports from 20000 to 32000")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _answers(plane: ControlPlane, path: str) -> bool:
    try:
        return plane.kubectl("get", "--raw", path) == "ok"
    except AssertionError:
        return False


def _is_ready(node: Object) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", ()))
