"""What a test makes in a control plane, remembered so that it can be taken away again."""

from collections.abc import Mapping
from typing import Any

from tests.control_plane.cluster import ControlPlane, Object


class Site:
    """Namespaces, nodes and other objects of one test. The scheduler knows no other nodes meanwhile."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane
        self._namespaces: list[str] = []
        self._nodes: list[str] = []

    def namespace(self, name: str) -> str:
        """A namespace in which pods may be made."""
        self._namespaces.append(name)
        self.control_plane.make_namespace(name)
        return name

    def nodes(self, count: int, *, gpus: int = 8, labels: Mapping[str, str] | None = None, **spec: Any) -> list[str]:
        """So many ready nodes, named node-0 and on."""
        first = len(self._nodes)
        names = [f"node-{number}" for number in range(first, first + count)]
        self._nodes += names
        self.control_plane.make_nodes(*names, gpus=gpus, labels=labels, **spec)
        return names

    def clear(self) -> None:
        """Take everything away and wait until it is gone."""
        kubectl = self.control_plane.kubectl
        for namespace in self._namespaces:
            # Pods first and at once: the namespace's own clean-up has pauses.
            kubectl(
                "delete",
                "jobs,deployments,statefulsets,replicasets,pods",
                "--all",
                "-n",
                namespace,
                "--grace-period=0",
                "--force",
                "--cascade=background",
                "--wait=false",
            )
        for kind, names in (("namespace", self._namespaces), ("node", self._nodes)):
            if names:
                kubectl("delete", kind, *names, "--wait=true", "--timeout=60s", "--ignore-not-found")


def gang_job(
    name: str, namespace: str, *, pods: int, gpus: int = 8, minimum: int | None = None, **template: Any
) -> Object:
    """An Indexed Job that needs all its pods at once, and says so. `template` goes into the spec of its pods."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            "backoffLimit": 100,
            "template": {
                "metadata": {"annotations": {"knotwatch.dev/min-available": str(minimum or pods)}},
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [
                        {
                            "name": "worker",
                            "image": "train:1",
                            "command": ["torchrun", f"--nnodes={pods}", "train.py"],
                            "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
                        }
                    ],
                    **template,
                },
            },
        },
    }
