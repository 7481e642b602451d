"""What the kubelet has given to which container, asked in the background: never while anybody scrapes."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from exporters.catalog.family import Sample
from exporters.collectors.device_names import is_unmistakable
from exporters.config import Settings
from exporters.kubelet.client import PodResources, Refused
from exporters.kubelet.holding import Held, PodReading
from exporters.subject import Key, Moment, ReadError, Reading, Source

KEY = Key("kubelet", "podresources")
INTERVAL_S = 15.0
DEADLINE_S = 20.0
CALL_S = 10.0

IN_A_POD = "KUBERNETES_SERVICE_HOST"
"""Every container of a pod has it: so a kubelet there must be, and where we cannot see it that has to be told."""

RESOURCES = (r"nvidia\.com/gpu(?:\.shared)?", r"nvidia\.com/mig-.+", r"amd\.com/gpu")
"""Resources whose devices are GPUs, whatever the ids look like."""


class Kubelet:
    """The kubelet's PodResources service as a subject."""

    key = KEY

    def __init__(self, service: PodResources, resources: str = "", *, interval_s: float, deadline_s: float) -> None:
        """`resources`: a regular expression of further resources that are GPUs."""
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._service = service
        self._resources = tuple(re.compile(each) for each in (*RESOURCES, resources) if each)

    def read(self, now: Moment) -> Reading[PodReading]:  # noqa: ARG002  what is, is read
        answer = self._service.list(min(CALL_S, 0.8 * self.deadline_s))
        match answer:
            case Refused(code=code, reason=reason):
                return Reading(value=None, up=False, reason=reason, errors=(ReadError("kubelet_list", code),))
            case PodReading(held=held):
                return Reading(value=replace(answer, held=tuple(each for each in held if self._is_gpu(each))))

    def samples(self, value: PodReading) -> Iterable[Sample]:  # noqa: ARG002  followers/allocation.py joins and ages it
        return ()

    def _is_gpu(self, held: Held) -> bool:
        return any(each.fullmatch(held.resource) for each in self._resources) or any(map(is_unmistakable, held.ids))


def kubelet_source(settings: Settings, environment: Mapping[str, str] = os.environ) -> Source:
    """The kubelet, where there is one or has to be one: its folder, a pod around us, or a socket that was asked for."""
    wanted = settings.allocation
    socket = beneath(settings.path.rootfs, wanted.kubelet_socket)
    asked_for = wanted.kubelet_socket != type(wanted)().kubelet_socket or IN_A_POD in environment
    subject = Kubelet(
        PodResources(socket),
        wanted.resources,
        interval_s=max(INTERVAL_S, settings.collect.interval_s),
        deadline_s=max(DEADLINE_S, settings.collect.deadline_s),
    )
    return present_with((subject,), lambda: asked_for or Path(socket).parent.is_dir())


def beneath(rootfs: str, path: str) -> str:
    """The path of the node as we see it."""
    return f"{rootfs.rstrip('/')}/{path.lstrip('/')}"


def present_with(subjects: tuple[Kubelet, ...], is_there: Callable[[], bool]) -> Source:
    """The subjects, from the first time on that what they are of was seen: what vanishes later is missing, not gone."""
    seen = False

    def present() -> tuple[Kubelet, ...]:
        nonlocal seen
        seen = seen or is_there()
        return subjects if seen else ()

    return present
