"""GPUs that are not to be called: after some XIDs the driver says that further calls may never return.

One single call a minute asks whether the driver still wants the GPU recovered. A GPU leaves when the driver says that
it wants nothing (recovery action 0), which a driver too old to know the question never says: then a restart of the
exporter is what lets it out. Source: the same rule in DCGM (NVIDIA/DCGM, DcgmKmsgReader).
"""

from threading import Lock

from exporters.nvml.library import Handle, Library

FATAL_XIDS = frozenset({79, 119, 120})
"""Fallen off the bus; GSP does not answer; GSP has failed."""

PROBE_EVERY_S = 60.0
RECOVERY_ACTION_FIELD = 230
_WHOLE = 0


class Quarantine:
    """Which GPUs, and when each may be asked next (monotonic). Filled by the watcher, asked by each GPU's worker."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._next_s: dict[str, float] = {}

    def put(self, uuid: str, mono_s: float) -> None:
        """A fatal XID of this GPU was seen."""
        with self._lock:
            self._next_s[uuid] = mono_s + PROBE_EVERY_S

    def holds(self, uuid: str) -> bool:
        return uuid in self._next_s

    @property
    def empty(self) -> bool:
        return not self._next_s

    def released(self, uuid: str, library: Library, handle: Handle | None, mono_s: float) -> bool:
        """Whether the GPU may be called; asks the driver for it, once in its time."""
        with self._lock:
            next_s = self._next_s.get(uuid)
            if next_s is None:
                return True
            if mono_s < next_s or handle is None:
                return False
            self._next_s[uuid] = mono_s + PROBE_EVERY_S
        found = library.ask("nvmlDeviceGetFieldValues", handle, (RECOVERY_ACTION_FIELD, _WHOLE))
        well = isinstance(found, tuple) and found[0] == (0, 0)
        if well:
            with self._lock:
                self._next_s.pop(uuid, None)
        return well
