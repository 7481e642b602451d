"""A real gRPC server on a unix socket that speaks as the kubelet does, and is slow, silent or gone when told to be."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc

from exporters.kubelet import podresources_pb2 as messages
from exporters.kubelet import podresources_pb2_grpc as service

Devices = Mapping[str, Sequence[str]]
"""Ids by resource."""


class KubeletServer(service.PodResourcesListerServicer):
    """Answers `List` with the pods that it was given."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.calls = 0
        self.refuses: grpc.StatusCode | None = None
        self.open = threading.Event()
        self.open.set()
        self._pods: list[Any] = []
        self._server: Any = None

    def start(self) -> None:
        """Listen, as a kubelet does after its start: on a socket that is new."""
        self.socket.unlink(missing_ok=True)
        self._server = grpc.server(ThreadPoolExecutor(4))
        service.add_PodResourcesListerServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]  # stubs are generated
        self._server.add_insecure_port(f"unix:{self.socket}")
        self._server.start()

    def stop(self) -> None:
        """Go away, and take the socket along."""
        self.open.set()
        if self._server is not None:
            self._server.stop(0).wait()
            self._server = None
        self.socket.unlink(missing_ok=True)

    def pod(self, name: str, devices: Devices, *, namespace: str = "team", container: str = "main") -> None:
        """One more pod with one container."""
        resources = messages.ContainerResources(
            name=container,
            devices=[messages.ContainerDevices(resource_name=key, device_ids=ids) for key, ids in devices.items()],
        )
        self._pods.append(messages.PodResources(name=name, namespace=namespace, containers=[resources]))

    def claim(self, name: str, claim: str, device: str, **more: Any) -> None:
        """One more pod with a resource claim for one device. `cdi`: names; `driver`, `share_id`: as in the message."""
        cdi = [messages.CDIDevice(name=each) for each in more.pop("cdi", ())]
        one = messages.ClaimResource(
            **{
                "driver_name": "gpu.nvidia.com",
                "pool_name": "node-1",
                "device_name": device,
                "cdi_devices": cdi,
                **more,
            }
        )
        dynamic = messages.DynamicResource(claim_name=claim, claim_namespace="team", claim_resources=[one])
        resources = messages.ContainerResources(name="main", dynamic_resources=[dynamic])
        self._pods.append(messages.PodResources(name=name, namespace="team", containers=[resources]))

    def clear(self) -> None:
        """No pods any more."""
        self._pods.clear()

    def List(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802  the name and arguments are the service's
        self.calls += 1
        self.open.wait(30)
        if self.refuses is not None:
            context.abort(self.refuses, "told so by the test")
        return messages.ListPodResourcesResponse(pod_resources=self._pods)
