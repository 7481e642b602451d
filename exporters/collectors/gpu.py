"""One GPU as a subject: all that is asked of it in one look, by a worker of its own."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from exporters.catalog import gpu as catalog
from exporters.catalog.family import Sample
from exporters.catalog.gpm import GPM_PAUSED, GPM_SUPPORTED
from exporters.collectors import gpm, gpu_processes, gpu_values
from exporters.collectors.gpm import Activity, dram_rate
from exporters.collectors.nvlink import Links
from exporters.nvml.asking import Asking, Gone
from exporters.nvml.devices import Devices, mig_devices
from exporters.nvml.library import STALE, Handle
from exporters.nvml.reading import GpuReading, Memory, MigDevice, MigInstance, Point
from exporters.subject import Key, Moment, Reading, Reason

KIND = "gpu"
_OURS = (GPM_SUPPORTED, GPM_PAUSED)
"""What is known of a GPU without its saying anything."""


class GpuOptions(Struct, frozen=True, kw_only=True):
    """How GPUs are read. `each_link`: NVLinks one by one. `paused`: whether counters are to be left to a profiler."""

    interval_s: float = 10.0
    deadline_s: float = 5.0
    each_link: bool = False
    paused: Callable[[], bool] = lambda: False


class Gpu:
    """One GPU by its UUID, whatever its index is. Stays a subject while it is lost."""

    def __init__(self, devices: Devices, uuid: str, options: GpuOptions) -> None:
        self.key = Key(KIND, uuid)
        self.interval_s = options.interval_s
        self.deadline_s = options.deadline_s
        self._devices = devices
        self._activity = Activity(devices.library, options.paused)
        self._links = Links(each=options.each_link)
        self._division: frozenset[str] = frozenset()
        """UUIDs of its parts; the empty one too while it is divided at all."""

    def read(self, now: Moment) -> Reading[GpuReading]:
        uuid, devices = self.key.name, self._devices
        known = devices.find(uuid)
        if (down := devices.library.down) is not None:
            return Reading(value=None, up=False, reason=down.reason)
        if known is None or known.handle is None:
            return Reading(value=None, up=False, reason=known.reason if known and known.reason else Reason.NOT_FOUND)
        if not devices.quarantine.released(uuid, devices.library, known.handle, now.mono_s):
            return Reading(value=None, up=False, reason=Reason.FATAL_XID)
        asking = Asking(devices.library, uuid, known.handle)
        try:
            value = self._look(asking, known.identity.index, known.identity.minor, now)
        except Gone as gone:
            errors = (*asking.errors, gone.error)
            if gone.error.code == STALE:  # the library was started anew in between: the next look will do
                return Reading(value=None, errors=errors)
            devices.trouble(uuid, yes=True)
            return Reading(value=None, up=False, reason=gone.reason, errors=errors)
        if value is None:
            return Reading(value=None, errors=tuple(asking.errors))
        devices.trouble(uuid, yes=False)
        return Reading(value=value, errors=tuple(asking.errors))

    def _look(self, asking: Asking, index: int, minor: int | None, now: Moment) -> GpuReading | None:
        """All of it; None if every call failed. Raises Gone."""
        points = list(gpu_values.values(asking))
        memory = gpu_values.memory(asking)
        divided = any(point.family is catalog.MIG_ENABLED and point.value == 1 for point in points)
        points += self._activity.whole(asking, now.mono_s)
        points += dram_rate(tuple(points))
        points += self._links.points(asking)
        processes = gpu_processes.processes(asking, memory.total_bytes if memory else None)
        points += gpu_processes.usage(asking, now.wall_s)
        found = mig_devices(asking.library, asking.handle) if divided else ()
        mig, instances = self._instances(asking, found, now, divided=divided)
        self._activity.keep(
            {(asking.device, None), *((_name(mig, one.gpu_instance), one.gpu_instance) for one in instances)}
        )
        if asking.errors and memory is None and processes is None and all(one.family in _OURS for one in points):
            return None
        return GpuReading(
            uuid=self.key.name,
            index=index,
            minor=minor,
            points=tuple(points),
            memory=memory,
            processes=processes,
            mig=mig,
            instances=instances,
            divided=divided,
            rates=self._activity.rates,
        )

    def _instances(
        self, asking: Asking, found: tuple[tuple[MigDevice, Handle], ...], now: Moment, *, divided: bool
    ) -> tuple[tuple[MigDevice, ...], tuple[MigInstance, ...]]:
        """The parts of a divided GPU. What belongs to a GPU instance is read once, at its first MIG device."""
        devices = tuple(device for device, _ in found)
        names = frozenset((*(device.uuid for device in devices), *([""] if divided else ())))
        if names != self._division:
            for changed in {self.key.name, *self._division} - {*names, ""}:
                self._devices.library.forget(changed)
            self._division = names
        instances: dict[int, MigInstance] = {}
        for device, handle in found:
            number = device.gpu_instance
            if number not in instances:
                part = asking.of(device.uuid, handle)
                activity = self._activity.of_instance(asking, _name(devices, number), number, now.mono_s)
                instances[number] = MigInstance(gpu_instance=number, memory=gpu_values.memory(part), activity=activity)
        return devices, tuple(instances[number] for number in sorted(instances))

    def samples(self, value: GpuReading) -> Iterable[Sample]:
        """What the reading says, each series with the UUID and the present index."""
        for point in _points(value):
            yield Sample(point.family, (value.uuid, str(value.index), *point.labels), point.value)


def _name(devices: tuple[MigDevice, ...], gpu_instance: int) -> str:
    """What tells a GPU instance from a later one with the same number: the UUIDs in it."""
    return " ".join(device.uuid for device in devices if device.gpu_instance == gpu_instance)


def _points(value: GpuReading) -> Iterator[Point]:
    yield from value.points
    if value.memory is not None:
        yield from _memory(value.memory, None)
    if value.processes is not None:
        yield from gpu_processes.points(value.processes)
    for device in value.mig:
        labels = (device.uuid, str(device.gpu_instance), str(device.compute_instance), device.profile)
        yield Point(catalog.MIG_INFO, 1.0, labels)
    for instance in value.instances:
        if instance.memory is not None:
            yield from _memory(instance.memory, instance.gpu_instance)
        yield from gpm.instance_points(instance)


def _memory(memory: Memory, gpu_instance: int | None) -> Iterator[Point]:
    for part, whole_family, instance_family in gpu_values.MEMORY_FAMILIES:
        size = part(memory)
        if size is None:
            continue
        if gpu_instance is None:
            yield Point(whole_family, float(size))
        else:
            yield Point(instance_family, float(size), (str(gpu_instance),))
