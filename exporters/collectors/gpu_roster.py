"""The GPUs of the node as a subject: starts the driver library, keeps the list, compares it with PCI."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from exporters.catalog.family import Sample
from exporters.collectors.gpu import Gpu, GpuOptions
from exporters.collectors.xid import Xids
from exporters.config import Settings
from exporters.nvml.devices import Devices
from exporters.nvml.node import NODE
from exporters.nvml.reading import NodeReading
from exporters.pci import gpus_on_pci
from exporters.rooted import Failed, tree_at
from exporters.subject import Key, Moment, Reading, Source, Subject

KIND = "nvml"


def system_clock() -> Moment:
    """The time now, on the machine's two clocks."""
    return Moment(time.time(), time.monotonic())


INTERVAL_MAX_S = 5.0


class Roster:
    """The list. Its values outlive the driver's silence, so a follower publishes them."""

    key = Key(KIND)

    def __init__(self, devices: Devices, options: GpuOptions) -> None:
        self.interval_s = min(options.interval_s, INTERVAL_MAX_S)
        self.deadline_s = options.deadline_s
        self._devices = devices

    def read(self, now: Moment) -> Reading[NodeReading]:
        return self._devices.look(now)

    def samples(self, value: NodeReading) -> Iterable[Sample]:  # noqa: ARG002  see followers/gpu_roster.py
        return ()


def subjects(devices: Devices, options: GpuOptions, clock: Callable[[], Moment] = system_clock) -> Source:
    """A source of the list, the events, and each GPU ever seen: the same objects every time, lost ones included."""
    standing: tuple[Subject[Any], ...] = (Roster(devices, options), Xids(devices))
    gpus: dict[str, Gpu] = {}

    def present() -> tuple[Subject[Any], ...]:
        if not devices.looked:
            devices.look(clock())
        for known in devices.known():
            uuid = known.identity.uuid
            if uuid not in gpus:
                gpus[uuid] = Gpu(devices, uuid, options)
        return (*standing, *(gpus[uuid] for uuid in sorted(gpus)))

    return present


def source(settings: Settings) -> Source:
    """The subjects of this node, as the settings want them read."""
    sysfs = tree_at(settings.path.sysfs)
    pause = Path(settings.gpu.pause_file) if settings.gpu.pause_file else None

    def on_pci() -> int | None:
        found = gpus_on_pci(sysfs)
        return None if isinstance(found, Failed) else len(found)

    options = GpuOptions(
        interval_s=settings.collect.interval_s,
        deadline_s=settings.collect.deadline_s,
        each_link=settings.gpu.each_link,
        paused=lambda: pause is not None and pause.exists(),
    )
    return subjects(NODE.devices(expected=settings.gpu.expected, on_pci=on_pci), options)
