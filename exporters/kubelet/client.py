"""One call of the kubelet's PodResources service over its unix socket. What fails is a value, and bounded in time.

A channel is kept while it works, and thrown away with its first failure: a kubelet that was restarted is reached by the
next call, and not when a back-off of the library's own is over. grpc is imported by the first call, since it is large
and most nodes of a Slurm cluster never need it.
"""

import os
import stat
from typing import Any

from msgspec import Struct

from exporters.kubelet.holding import Claimed, Held, PodReading
from exporters.subject import Reason

MESSAGE_BYTES_MAX = 16 * 1024 * 1024
"""The kubelet's own bound for its answers."""
HELD_MAX = 4096
IDS_MAX = 1024
TEXT_MAX = 253
"""Longest name of a pod or a namespace."""

_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.enable_http_proxy", 0),
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_retries", 0),
)


class Refused(Struct, frozen=True):
    """Why there is no list: the code of grpc or of the system, and what it means for us."""

    code: str
    reason: Reason


_REASONS = {
    "UNAVAILABLE": Reason.UNREACHABLE,
    "DEADLINE_EXCEEDED": Reason.TIMEOUT,
    "PERMISSION_DENIED": Reason.PERMISSION,
    "UNAUTHENTICATED": Reason.PERMISSION,
    "UNIMPLEMENTED": Reason.ERRORS,
}


class PodResources:
    """The service behind one socket. `list` is called by one thread at a time."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._channel: Any = None

    def list(self, within_s: float) -> PodReading | Refused:
        """What every container on the node holds. Takes no longer than `within_s`, roughly."""
        if (missing := self._missing()) is not None:
            self.close()
            return missing
        try:
            import grpc

            from exporters.kubelet import podresources_pb2, podresources_pb2_grpc
        except (ImportError, RuntimeError):  # not installed, or older than what the stubs were made with
            return Refused("GRPC_MISSING", Reason.LIBRARY)
        if self._channel is None:
            self._channel = grpc.insecure_channel(f"unix:{self._socket}", options=_OPTIONS)
        stub = podresources_pb2_grpc.PodResourcesListerStub(self._channel)  # type: ignore[no-untyped-call]  # stubs are generated
        try:
            answer = stub.List(podresources_pb2.ListPodResourcesRequest(), timeout=within_s)
        except grpc.RpcError as error:
            self.close()
            code = error.code().name if isinstance(error, grpc.Call) else "UNKNOWN"
            return Refused(code, _REASONS.get(code, Reason.ERRORS))
        return reading_of(answer)

    def close(self) -> None:
        """Let go of the channel, if there is one."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _missing(self) -> Refused | None:
        """Why the socket cannot be used, if that can be told without calling."""
        try:
            mode = os.stat(self._socket).st_mode  # noqa: PTH116  a text is all that is needed
        except OSError as error:
            denied = isinstance(error, PermissionError)
            return Refused("EACCES" if denied else "ENOENT", Reason.PERMISSION if denied else Reason.UNREACHABLE)
        if not stat.S_ISSOCK(mode):
            return Refused("ENOTSOCK", Reason.UNREACHABLE)
        return None if os.access(self._socket, os.W_OK) else Refused("EACCES", Reason.PERMISSION)


def reading_of(answer: Any) -> PodReading:
    """The answer as values, sorted, bounded. O(devices)."""
    held: list[Held] = []
    claimed: list[Claimed] = []
    for pod in answer.pod_resources:
        for container in pod.containers:
            who = {"namespace": _cut(pod.namespace), "pod": _cut(pod.name), "container": _cut(container.name)}
            ids: dict[str, set[str]] = {}
            # The kubelet lists a resource once for each NUMA node that it has devices of.
            for device in container.devices:
                ids.setdefault(_cut(device.resource_name), set()).update(_cut(each) for each in device.device_ids)
            held += [
                Held(**who, resource=name, ids=tuple(sorted(found)[:IDS_MAX])) for name, found in ids.items() if found
            ]
            for claim in container.dynamic_resources:
                claimed += [
                    Claimed(
                        **who,
                        claim_namespace=_cut(claim.claim_namespace),
                        claim=_cut(claim.claim_name),
                        driver=_cut(one.driver_name),
                        pool=_cut(one.pool_name),
                        device=_cut(one.device_name),
                        cdi=tuple(sorted(_cut(each.name) for each in one.cdi_devices)[:IDS_MAX]),
                        share=_cut(one.share_id),
                    )
                    for one in claim.claim_resources
                ]
    left_out = max(len(held) - HELD_MAX, 0) + max(len(claimed) - HELD_MAX, 0)
    return PodReading(held=tuple(sorted(held)[:HELD_MAX]), claimed=tuple(sorted(claimed)[:HELD_MAX]), left_out=left_out)


def _cut(text: str) -> str:
    return text[:TEXT_MAX]
