"""Which GPU, or which part of one, a spelling means at present. Fed with readings; answers are pure functions of them.

UUIDs are exact. A minor number is the driver's own and holds while it is loaded. An index is neither: when a GPU falls
off the bus the others move up, while whoever wrote the index down still means the old order. So an index counts only
while the driver sees every GPU that it should, and a bare number that may be either counts only where both agree.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from exporters.collectors.device_names import By, DeviceName
from exporters.nvml.reading import GpuReading, MigDevice, NodeReading


class Place(Struct, frozen=True, order=True, kw_only=True):
    """A GPU by its UUID, or an instance of it. -1: not of one instance."""

    uuid: str
    gpu_instance: int = -1
    compute_instance: int = -1


class Unmapped(StrEnum):
    """Why a spelling leads to no GPU: a small fixed set, since it becomes a label."""

    SPELLING = "unknown_spelling"
    GPU = "unknown_gpu"  # a name of the right kind, but this node has none of it
    INSTANCE = "unknown_instance"  # the GPU is here, and has no such part now
    AMBIGUOUS = "ambiguous_number"  # index and minor differ, or indices have moved
    VENDOR = "other_vendor"
    CLAIM = "claim"  # a resource claim whose device only the API server could name


class Numbers(StrEnum):
    """What a bare number is."""

    INDEX = "index"
    MINOR = "minor"
    EITHER = "either"


class GpuNames:
    """All GPUs that were ever seen, and their parts as last read: whose a lost GPU is, is asked most of all."""

    def __init__(self) -> None:
        self._node: NodeReading | None = None
        self._mig: dict[str, tuple[MigDevice, ...]] = {}
        self._uuids: frozenset[str] = frozenset()

    def note(self, value: Any) -> None:
        """Take a reading's value; those of other subjects are passed over. O(GPUs)."""
        match value:
            case NodeReading():
                if value.counted is not None or self._node is None:
                    self._node = value
                self._uuids |= {gpu.uuid for gpu in value.gpus}
            case GpuReading():
                self._mig[value.uuid] = value.mig
                self._uuids |= {value.uuid}
            case _:
                pass

    def forget(self, uuid: str) -> None:
        """The GPU is no more."""
        self._mig.pop(uuid, None)
        self._uuids -= {uuid}

    @property
    def uuids(self) -> tuple[str, ...]:
        """All GPUs known, sorted."""
        return tuple(sorted(self._uuids))

    def index_of(self, uuid: str) -> str:
        """The index that the GPU has at present, as a label; empty if it is not known."""
        for gpu in self._node.gpus if self._node else ():
            if gpu.uuid == uuid:
                return str(gpu.index)
        return ""

    def place(self, name: DeviceName, numbers: Numbers = Numbers.INDEX) -> Place | Unmapped:
        """Where the name leads now. O(GPUs and their parts)."""
        match name.by:
            case By.MIG_UUID:
                return self._part(name.name)
            case By.BARE_UUID:
                whole = f"GPU-{name.name}"
                return Place(uuid=whole) if whole in self._uuids else self._part(f"MIG-{name.name}")
            case By.UUID:
                found: str | Unmapped = name.name if name.name in self._uuids else Unmapped.GPU
            case By.ONLY:
                found = self.uuids[0] if len(self._uuids) == 1 else Unmapped.AMBIGUOUS
            case By.MINOR:
                found = self._by_minor(int(name.name))
            case By.NUMBER:
                found = self._by_number(int(name.name), numbers)
        return found if isinstance(found, Unmapped) else self._within(found, name)

    def _part(self, mig_uuid: str) -> Place | Unmapped:
        for uuid in sorted(self._mig):
            for device in self._mig[uuid]:
                if device.uuid == mig_uuid:
                    return Place(uuid=uuid, gpu_instance=device.gpu_instance, compute_instance=device.compute_instance)
        return Unmapped.INSTANCE

    def _within(self, uuid: str, name: DeviceName) -> Place | Unmapped:
        if name.gpu_instance is None:
            return Place(uuid=uuid)
        parts = [one for one in self._mig.get(uuid, ()) if one.gpu_instance == name.gpu_instance]
        compute = name.compute_instance
        if not parts or (compute is not None and all(one.compute_instance != compute for one in parts)):
            return Unmapped.INSTANCE
        # Of a GPU instance with one compute instance, the two are one thing.
        if compute is None and len(parts) == 1:
            compute = parts[0].compute_instance
        return Place(uuid=uuid, gpu_instance=name.gpu_instance, compute_instance=-1 if compute is None else compute)

    def _by_minor(self, minor: int) -> str | Unmapped:
        found = [gpu.uuid for gpu in self._node.gpus if gpu.minor == minor] if self._node else []
        return found[0] if len(found) == 1 else Unmapped.AMBIGUOUS if found else Unmapped.GPU

    def _by_index(self, index: int) -> str | Unmapped:
        node = self._node
        if node is None:
            return Unmapped.GPU
        found = [gpu.uuid for gpu in node.gpus if gpu.index == index]
        moved = node.counted is None or node.counted < max(node.expected, len(node.gpus))
        if found and (moved or len(found) > 1):
            return Unmapped.AMBIGUOUS
        return found[0] if found else Unmapped.GPU

    def _by_number(self, number: int, numbers: Numbers) -> str | Unmapped:
        match numbers:
            case Numbers.INDEX:
                return self._by_index(number)
            case Numbers.MINOR:
                return self._by_minor(number)
            case Numbers.EITHER:
                index, minor = self._by_index(number), self._by_minor(number)
                return index if index == minor else Unmapped.AMBIGUOUS
