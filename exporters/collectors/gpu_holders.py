"""Who holds each GPU, as names that can be compared: what the state machines of idleness and stalls ask."""

from collections.abc import Mapping
from typing import Any, Protocol

from exporters.collectors.allocations import Allocations, allocations_of
from exporters.config import Settings
from exporters.subject import Key, Moment, Reading

WHOLE = -1
"""The number of the instance that is none."""

Names = frozenset[str]


class Holders(Protocol):
    """Fed with readings by whoever asks it."""

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        """Take a reading of any subject."""
        ...

    def forget(self, key: Key) -> None:
        """The subject is no more."""
        ...

    def of(self, uuid: str, now: Moment, gpu_instance: int | None = None) -> Names | None:
        """Names of those who hold the GPU or that instance of it; empty: nobody; None: not known."""
        ...


class GpuHolders:
    """Holders by the books of kubelet and Slurm. All are found anew at most once for each moment."""

    def __init__(self, allocations: Allocations) -> None:
        self._allocations = allocations
        self._found_at: Moment | None = None
        self._found: Mapping[str, Mapping[int, Names]] = {}
        self._allocated: Mapping[str, bool] = {}

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        self._allocations.note(key, reading, at)
        self._found_at = None

    def forget(self, key: Key) -> None:
        self._allocations.forget(key)
        self._found_at = None

    def of(self, uuid: str, now: Moment, gpu_instance: int | None = None) -> Names | None:
        if self._found_at != now:
            self._find(now)
        if uuid not in self._allocated:
            return None
        parts = self._found.get(uuid, {})
        wanted = [
            names for part, names in sorted(parts.items()) if gpu_instance is None or part in {WHOLE, gpu_instance}
        ]
        return frozenset[str]().union(*wanted)

    def _find(self, now: Moment) -> None:
        found: dict[str, dict[int, set[str]]] = {}
        for pod in self._allocations.pods(now)[0]:
            parts = found.setdefault(pod.place.uuid, {})
            parts.setdefault(pod.place.gpu_instance, set()).add(f"pod/{pod.namespace}/{pod.pod}")
        for job in self._allocations.jobs(now)[0]:
            parts = found.setdefault(job.place.uuid, {})
            parts.setdefault(job.place.gpu_instance, set()).add(f"slurm-job/{job.job}")
        self._found = {uuid: {part: frozenset(names) for part, names in parts.items()} for uuid, parts in found.items()}
        self._allocated = self._allocations.allocated(now)
        self._found_at = now


def holders_of(settings: Settings) -> GpuHolders:
    """The books, as the settings want them read."""
    return GpuHolders(allocations_of(settings))
