"""The node as subjects, one for each part of it, and the rule when they are left to somebody else.

Where node_exporter runs, all of this is published already, so the collector is off by default there. It is said to run
if a process is named so, or if something listens on its port. `--collect node` and `--no-collect node` decide
otherwise, as do `collect.on` and `collect.off` in the settings.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from exporters.catalog.family import Sample
from exporters.collectors import cpu, memory, network, numa, pressure
from exporters.config import Settings
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Key, Moment, Reading, Source, Subject

R = TypeVar("R")

KIND = "node"
NODE_EXPORTERS = frozenset({"node_exporter", "prometheus-node", "node-exporter"})
"""Names of processes as the kernel keeps them: 15 letters."""
NODE_EXPORTER_PORT = "238C"
"""9100 as /proc/net/tcp writes it."""
LISTENS = "0A"
SOCKETS_BYTES_MAX = 4_194_304
_ADDRESS, _STATE = 1, 3


class NodePart(Generic[R]):
    """One part of the node as a subject: how it is looked at, and what a look says."""

    def __init__(
        self,
        name: str,
        look: Callable[[], Reading[R]],
        say: Callable[[R], Iterable[Sample]],
        *,
        interval_s: float,
        deadline_s: float,
    ) -> None:
        self.key = Key(KIND, name)
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._look = look
        self._say = say

    def read(self, now: Moment) -> Reading[R]:  # noqa: ARG002  what is, is read
        return self._look()

    def samples(self, value: R) -> Iterable[Sample]:
        return self._say(value)


def node_source(settings: Settings) -> Source:
    """The parts of the node: always the same ones."""
    procfs, sysfs = tree_at(settings.path.procfs), tree_at(settings.path.sysfs)
    rhythm = {"interval_s": settings.collect.interval_s, "deadline_s": settings.collect.deadline_s}
    interfaces = network.Interfaces(procfs, sysfs, settings.network.include, settings.network.exclude)
    parts: tuple[Subject[Any], ...] = (
        NodePart("cpu", cpu.CpuTimes(procfs).look, cpu.samples, **rhythm),
        NodePart("memory", memory.MemoryFiles(procfs).look, memory.samples, **rhythm),
        NodePart("pressure", pressure.PressureFiles(procfs).look, pressure.samples, **rhythm),
        NodePart("network", interfaces.look, network.samples, **rhythm),
        NodePart("numa", numa.NumaNodes(sysfs).look, numa.samples, **rhythm),
    )
    return lambda: parts


def on_by_default(settings: Settings) -> bool:
    """Whether nobody else publishes what the node's collector does."""
    return not node_exporter_runs(tree_at(settings.path.procfs))


def node_exporter_runs(procfs: Folder) -> bool:
    """Whether a process of that name runs, or something listens on its port. O(processes)."""
    names = procfs.names()
    for name in () if isinstance(names, Failed) else names:
        if name.isdigit() and procfs.text(f"{name}/comm") in NODE_EXPORTERS:
            return True
    return any(_listens(procfs, file) for file in ("tcp", "tcp6"))


def _listens(procfs: Folder, file: str) -> bool:
    text = procfs.text(f"1/net/{file}", SOCKETS_BYTES_MAX)
    if isinstance(text, Failed):
        text = procfs.text(f"net/{file}", SOCKETS_BYTES_MAX)
    for line in text.splitlines()[1:] if isinstance(text, str) else ():
        fields = line.split()
        if len(fields) > _STATE and fields[_ADDRESS].endswith(f":{NODE_EXPORTER_PORT}") and fields[_STATE] == LISTENS:
            return True
    return False
