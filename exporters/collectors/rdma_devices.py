"""Which RDMA devices there are: those that the kernel lists, without those that the settings leave out."""

import os
import re
from collections.abc import Iterable
from typing import Any

from exporters.collectors.rdma import CLASS, RdmaDevice
from exporters.collectors.rdma_node import RdmaNode
from exporters.config import Settings
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Source, Subject

DEVICES_MAX = 512
LOST_MAX = 64
"""Devices remembered that are gone."""


class Choice:
    """Which devices are read, by name. Decided before anything of a device is opened."""

    def __init__(self, include: str = "", exclude: str = "") -> None:
        """Regular expressions for the whole name; empty: all are included, none is excluded. Raises re.error."""
        self._include = re.compile(include) if include else None
        self._exclude = re.compile(exclude) if exclude else None

    def takes(self, name: str) -> bool:
        """Whether the device is read."""
        if self._exclude and self._exclude.fullmatch(name):
            return False
        return self._include is None or self._include.fullmatch(name) is not None


def chosen(sysfs: Folder, choice: Choice) -> tuple[str, ...] | Failed:
    """Names of the devices that are read, sorted. A node without RDMA has none; Failed if that cannot be told."""
    listed = sysfs.names(CLASS)
    if isinstance(listed, Failed):
        return () if listed.absent else listed
    return tuple(name for name in listed if choice.takes(name))[:DEVICES_MAX]


class RdmaDevices:
    """Lists the devices as subjects. The same device is the same subject, so that its counts of changes go on.

    A device that goes is still listed, and will be down for not_found: firmware that dies takes its device away. But a
    virtual function goes when it is given away or unmade, and one that only changed its name is not lost.
    """

    def __init__(self, sysfs: Folder, procfs: Folder, choice: Choice, interval_s: float, deadline_s: float) -> None:
        self._sysfs = sysfs
        self._choice = choice
        self._interval_s = interval_s
        self._deadline_s = deadline_s
        self._node = RdmaNode(sysfs, procfs, lambda: chosen(sysfs, choice), interval_s, deadline_s)
        self._known: dict[str, tuple[RdmaDevice, str]] = {}  # and where it is, to tell a new name; empty if virtual

    def __call__(self) -> Iterable[Subject[Any]]:
        present = chosen(self._sysfs, self._choice)
        if isinstance(present, Failed):
            raise OSError(f"{CLASS}: {present.code}")
        for name in present:
            if name not in self._known:
                self._known[name] = self._made(name)
        places = {self._known[name][1] for name in present}
        gone = [name for name in sorted(self._known) if name not in present]
        lost = [name for name in gone if self._known[name][1] not in places | {""}][:LOST_MAX]
        for name in gone:
            if name not in lost:
                del self._known[name]
        return (self._node, *(self._known[name][0] for name in sorted(self._known)))

    def _made(self, name: str) -> tuple[RdmaDevice, str]:
        function = self._sysfs.folder(f"{CLASS}/{name}/device")
        virtual = function is not None and function.folder("physfn") is not None
        subject = RdmaDevice(self._sysfs, name, self._interval_s, self._deadline_s, virtual=virtual)
        return subject, "" if virtual else function.path if function else os.fspath(name)


def rdma_source(settings: Settings) -> Source:
    """The RDMA devices of the node, and what the node says of RDMA as a whole."""
    return RdmaDevices(
        tree_at(settings.path.sysfs),
        tree_at(settings.path.procfs),
        Choice(settings.rdma.include, settings.rdma.exclude),
        settings.collect.interval_s,
        settings.collect.deadline_s,
    )
