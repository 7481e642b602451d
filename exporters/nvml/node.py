"""The node's one driver library, made once and shared by all who need it."""

from collections.abc import Callable

from exporters.nvml.devices import Devices
from exporters.nvml.driver import Driver, Pynvml
from exporters.nvml.library import Library
from exporters.nvml.quarantine import Quarantine


class Node:
    """Makes the devices at the first asking. The driver library allows one life in a process, so this is one object."""

    def __init__(self, make: Callable[[], Driver] = Pynvml) -> None:
        self._make = make
        self._devices: Devices | None = None

    def answered_by(self, make: Callable[[], Driver]) -> None:
        """Ask another driver from now on, as a recording; for whoever has not been given the devices yet."""
        self._make, self._devices = make, None

    def devices(self, *, expected: int = 0, on_pci: Callable[[], int | None] = lambda: None) -> Devices:
        """The devices; the settings count when they are made."""
        if self._devices is None:
            self._devices = Devices(Library(self._make()), Quarantine(), expected=expected, on_pci=on_pci)
        return self._devices

    def fatal_xid(self, uuid: str, mono_s: float) -> None:
        """A fatal XID was seen by somebody else than the driver: that GPU is not to be called."""
        if self._devices is not None:
            self._devices.quarantine.put(uuid, mono_s)


NODE = Node()
"""This process's."""
