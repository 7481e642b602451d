"""GPUs and processes as they were read, in a few words; and a page as a mapping."""

from collections.abc import Iterable

from exporters.catalog.family import Sample
from exporters.collectors.cgroup_paths import Owner
from exporters.collectors.process_owners import Process, ProcessReading
from exporters.nvml.reading import GpuIdentity, GpuProcess, GpuReading, Memory, MigDevice, MigInstance, NodeReading
from exporters.subject import Key, Moment, Reading

GIB = 1024**3
A, B, C = "GPU-aaaa", "GPU-bbbb", "GPU-cccc"


def moment(seconds: float) -> Moment:
    """So many seconds after the test began."""
    return Moment(1_700_000_000.0 + seconds, 1000.0 + seconds)


def node(
    uuids: Iterable[str] = (A, B), *, minors: Iterable[int] = (0, 1, 2), counted: int | None = -1, expected: int = 0
) -> NodeReading:
    """A node of these GPUs in this order. `counted` -1: all of them."""
    listed = tuple(uuids)
    gpus = tuple(
        GpuIdentity(uuid=uuid, index=index, minor=minor, name="H100", pci_address="", serial="", vbios="", driver="570")
        for index, (uuid, minor) in enumerate(zip(listed, minors, strict=False))
    )
    number = len(gpus) if counted == -1 else counted
    return NodeReading(
        gpus=tuple(sorted(gpus, key=lambda gpu: gpu.uuid)),
        counted=number,
        visible=listed,
        expected=expected or len(gpus),
        on_pci=None,
        up=True,
        starts=1,
        failures=0,
    )


def memory(used: int, total: int = 80 * GIB) -> Memory:
    """Memory of a device with so much in use."""
    return Memory(total_bytes=total, used_bytes=used, free_bytes=total - used, reserved_bytes=0)


def process(pid: int, used: int | None, instance: int | None = None, kind: str = "compute") -> GpuProcess:
    """A process in the driver's list."""
    return GpuProcess(
        pid=pid, used_bytes=used, kind=kind, gpu_instance=instance, compute_instance=None if instance is None else 0
    )


def gpu(
    uuid: str = A,
    *,
    used: int = 0,
    processes: tuple[GpuProcess, ...] | None = (),
    mig: tuple[MigDevice, ...] = (),
    instances: tuple[MigInstance, ...] = (),
    minor: int | None = 0,
) -> GpuReading:
    """One GPU as it was read."""
    return GpuReading(
        uuid=uuid,
        index=0,
        minor=minor,
        points=(),
        memory=memory(used),
        processes=processes,
        mig=mig,
        instances=instances,
        divided=bool(mig),
    )


def part(uuid: str, gpu_instance: int, compute_instance: int = 0) -> MigDevice:
    """A MIG device."""
    return MigDevice(uuid=uuid, gpu_instance=gpu_instance, compute_instance=compute_instance, profile="3g.40gb")


def alive(pid: int, owner: Owner | None = None, **more: object) -> Process:
    """A process of the node, of nobody in particular."""
    fields = {"began": 100, "state": "S", "command": "python", "threads": 4, "user_id": "1000", **more}
    return Process(pid=pid, owner=Owner() if owner is None else owner, **fields)  # type: ignore[arg-type]  # fields of the struct


def processes(*those: Process, of_host: bool = True, files_seen: bool = True) -> ProcessReading:
    """All processes of the node."""
    return ProcessReading(
        alive=frozenset(each.pid for each in those),
        processes={each.pid: each for each in those},
        of_host=of_host,
        files_seen=files_seen,
    )


def note(follower: object, kind: str, name: str, value: object, at: Moment, **more: object) -> None:
    """Hand a reading to whoever takes one."""
    reading: Reading[object] = Reading(value=value, **more)  # type: ignore[arg-type]  # fields of the struct
    follower.note(Key(kind, name), reading, at)  # type: ignore[attr-defined]  # a follower, or what one is made of


def on_page(samples: Iterable[Sample]) -> dict[str, dict[tuple[str, ...], float]]:
    """Values by family (without the prefix) and labels; no series is there twice."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for sample in samples:
        assert len(sample.labels) == len(sample.family.labels)
        series = found.setdefault(sample.family.name.removeprefix("knotwatch_"), {})
        assert sample.labels not in series, "a series twice"
        series[sample.labels] = sample.value
    return found
