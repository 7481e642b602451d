"""The real Kueue controller beside a control plane: it gives quota to suspended Jobs that name a queue.

Its webhooks are not registered, so nobody suspends a Job for its author: `queued` does. The controller reads a
certificate from a fixed place below /etc; it is run with a view of its own of that folder, so the machine's stays as
it is.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.control_plane.binaries import BUILT, missing
from tests.control_plane.cluster import ControlPlane, Object, program_running

VERSION = "kueue.x-k8s.io/v1beta2"
_CRDS = BUILT / "kueue" / "config" / "components" / "crd" / "bases"
_SYSTEM = "kueue-system"
_WAYS = (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user"))
"""Ways to have a view of one's own of the file system, as root or as somebody else."""


def unusable() -> str | None:
    """Why Kueue cannot be run here, as a sentence; None if it can."""
    if not _CRDS.is_dir():
        return missing("kueue") or "its CRDs are not there: say make control-plane."
    return missing("kueue") or (None if _way() else "unshare --mount is not permitted here.")


@contextmanager
def kueue_running(plane: ControlPlane) -> Iterator[None]:
    """Kueue with its kinds, ready, until the block ends. Its log: `plane.log_of("kueue")`."""
    plane.kubectl("create", "-f", str(_CRDS))
    plane.make_namespace(_SYSTEM)
    hidden = _certificates(plane.folder / "etc" / "kueue" / "metrics" / "certs").parents[2]
    config = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": _SYSTEM,
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {
            "host": "127.0.0.1",
            "port": plane.ports["kueue"],
            "certDir": str(_certificates(plane.folder / "kueue-webhook")),
        },
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": {"VisibilityOnDemand": False},
    }
    path = plane.folder / "kueue.json"
    path.write_text(json.dumps(config))
    view = ("sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(hidden))
    arguments = [f"--config={path}", f"--kubeconfig={plane.kubeconfig}", "--zap-log-level=2"]
    with program_running(plane, "kueue", arguments, before=(*(_way() or ()), *view)) as process:
        plane.wait_until(
            lambda: process.poll() is not None or "Starting workers" in plane.log_of("kueue").read_text(), "Kueue"
        )
        assert process.poll() is None, plane.log_of("kueue").read_text()[-2000:]
        yield


def queue(name: str, namespace: str, *, gpus: int) -> tuple[Object, ...]:
    """A queue of the namespace with so many GPUs as quota, on nodes of any kind."""
    flavour = {"name": "any", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}
    return (
        {"apiVersion": VERSION, "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}},
        {
            "apiVersion": VERSION,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [flavour]}],
            },
        },
        {
            "apiVersion": VERSION,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"clusterQueue": name},
        },
    )


def queued(job: Object, name: str) -> Mapping[str, Any]:
    """The same Job, suspended until the queue gives it quota."""
    labelled = {**job["metadata"], "labels": {"kueue.x-k8s.io/queue-name": name}}
    return {**job, "metadata": labelled, "spec": {**job["spec"], "suspend": True}}


@cache
def _way() -> tuple[str, ...] | None:
    for way in _WAYS:
        if shutil.which(way[0]) and subprocess.run([*way, "true"], check=False, capture_output=True).returncode == 0:  # noqa: S603  util-linux
            return way
    return None


def _certificates(folder: Path) -> Path:
    """The folder, with a certificate that signs itself."""
    folder.mkdir(parents=True)
    names = ("-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt"))
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", *names]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  openssl of the system
    return folder
