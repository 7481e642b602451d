"""A kubelet whose pods never stay, for the exporter's memory. Apart from the node: a gRPC server takes memory too."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.exporter_node import CARDS, PODS_ON_A_CARD
from exporters.kubelet import podresources_pb2 as messages
from tests.exporters.fake_nvml import hopper
from tests.exporters.kubelet_server import KubeletServer


class ChurningKubelet(KubeletServer):
    """Every answer names other pods."""

    def __init__(self, socket: Path) -> None:
        super().__init__(socket)
        self._made = 0

    def List(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802  the name and arguments are the service's
        self.calls += 1
        pods = []
        for number in range(CARDS):
            for replica in range(PODS_ON_A_CARD):
                self._made += 1
                device = messages.ContainerDevices(
                    resource_name="nvidia.com/gpu", device_ids=[f"{hopper.uuid(number)}::{replica}"]
                )
                container = messages.ContainerResources(name="main", devices=[device])
                name = f"train-{self._made:08x}"
                pods.append(messages.PodResources(name=name, namespace="team", containers=[container]))
        return messages.ListPodResourcesResponse(pod_resources=pods)


@contextmanager
def kubelet(folder: Path) -> Iterator[ChurningKubelet]:
    """A kubelet whose pods never stay."""
    server = ChurningKubelet(folder / "k.sock")
    server.start()
    try:
        yield server
    finally:
        server.stop()
