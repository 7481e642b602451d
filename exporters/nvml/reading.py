"""What one look at a GPU gave: the values, in base units and checked, for whoever publishes or follows them."""

from collections.abc import Mapping

from msgspec import Struct

from exporters.catalog.family import Family


class Point(Struct, frozen=True):
    """One value of the device. `labels`: those of the family after the UUID and the index."""

    family: Family
    value: float
    labels: tuple[str, ...] = ()


class Memory(Struct, frozen=True, kw_only=True):
    """Bytes of a device or of an instance. `reserved_bytes` None: the driver is too old to tell it from used."""

    total_bytes: int
    used_bytes: int | None
    free_bytes: int | None
    reserved_bytes: int | None


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that holds the GPU, as the driver lists it: by its number in the host's PID namespace.

    `used_bytes` None: the driver does not tell. `kind`: `compute`, `graphics` or `mps`.
    """

    pid: int
    used_bytes: int | None
    kind: str
    gpu_instance: int | None = None
    compute_instance: int | None = None


class MigDevice(Struct, frozen=True, kw_only=True):
    """A compute instance of a GPU instance: what a pod is given. `profile`: as in `MIG 3g.40gb`."""

    uuid: str
    gpu_instance: int
    compute_instance: int
    profile: str


class MigInstance(Struct, frozen=True, kw_only=True):
    """What a GPU instance says of itself. `activity`: by GPM metric, shares of the instance alone."""

    gpu_instance: int
    memory: Memory | None
    activity: Mapping[int, float]


class GpuReading(Struct, frozen=True, kw_only=True):
    """One GPU. `index` and `minor` are of now; only the UUID lasts.

    `processes` None: the list could not be read, which is not the same as nobody holding it. `rates`: bytes per
    second by GPM metric (20, 21, 60, 61); not published, since counters are.
    """

    uuid: str
    index: int
    minor: int | None
    points: tuple[Point, ...]
    memory: Memory | None
    processes: tuple[GpuProcess, ...] | None
    mig: tuple[MigDevice, ...] = ()
    instances: tuple[MigInstance, ...] = ()
    divided: bool = False
    rates: Mapping[int, float] = {}

    def number(self, family: Family, *labels: str) -> float | None:
        """The value of a family, if it could be read. O(points)."""
        for point in self.points:
            if point.family is family and point.labels == labels:
                return point.value
        return None


class GpuIdentity(Struct, frozen=True, kw_only=True):
    """Who a GPU is. `index`: at present, or when it was last seen."""

    uuid: str
    index: int
    minor: int | None
    name: str
    pci_address: str
    serial: str
    vbios: str
    driver: str


class NodeReading(Struct, frozen=True, kw_only=True):
    """The GPUs of the node. `gpus`: all that were ever seen since the start, by UUID.

    `counted`: as the driver counts; None: it does not. `visible`: those among `gpus` that answer to their name now.
    `on_pci`: what the kernel sees; None: not known.
    """

    gpus: tuple[GpuIdentity, ...]
    counted: int | None
    visible: tuple[str, ...]
    expected: int
    on_pci: int | None
    up: bool
    starts: int
    failures: int
    driver: str = ""
    nvml: str = ""
    cuda: str = ""


class XidSeen(Struct, frozen=True, kw_only=True):
    """One XID error. `device`: a GPU's UUID, or its PCI address as the kernel writes it (`0000:b3:00` and longer).

    `source`: `nvml` or `kmsg`; the same error may be seen by both. `wall_s`: when it was seen.
    """

    device: str
    xid: int
    source: str
    wall_s: float
    gpu_instance: int | None = None


class EventSeen(Struct, frozen=True):
    """Another event of the driver on a GPU: its UUID, and the kind by name."""

    uuid: str
    event: str


class XidReading(Struct, frozen=True, kw_only=True):
    """What was heard since the look before."""

    xids: tuple[XidSeen, ...] = ()
    events: tuple[EventSeen, ...] = ()
    watched: int = 0
