"""Devices that drivers offer (DRA): ResourceSlices and DeviceClasses, as units per node and driver.

A pool is what its newest generation says. Devices that share counters, can be had by several at a time, or are not
tied to one node, are not understood: their driver is named as such, and nobody who asks for it gets a verdict.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from analyzer.sources.kubernetes.custom_fields import at, count, parts, text
from analyzer.sources.kubernetes.objects import Custom

_BY_DRIVER = re.compile(r"""device\.driver\s*==\s*["']([^"']+)["']""")


class Slice(Struct, frozen=True, kw_only=True):
    """One ResourceSlice: so many devices of a pool on a node. `expected`: slices of the pool in this generation."""

    driver: str
    pool: str
    generation: int
    expected: int
    node: str
    devices: int
    odd: bool


def _odd(device: object) -> bool:
    basic = at(device, "basic") or device  # v1beta1 has one level more
    return bool(
        parts(basic, "consumesCounters")
        or at(basic, "allowMultipleAllocations")
        or at(basic, "nodeName")
        or at(basic, "nodeSelector")
        or at(basic, "allNodes")
    )


def slice_of(thing: Custom) -> Slice:
    """The record of a ResourceSlice (v1beta1, v1beta2, v1)."""
    spec = thing.spec
    devices = parts(spec, "devices")
    node = text(spec, "nodeName")
    return Slice(
        driver=text(spec, "driver"),
        pool=text(spec, "pool", "name"),
        generation=count(spec, "pool", "generation") or 0,
        expected=count(spec, "pool", "resourceSliceCount") or 1,
        node=node,
        devices=len(devices),
        odd=not node or bool(parts(spec, "sharedCounters")) or any(_odd(device) for device in devices),
    )


def driver_of(device_class: Custom) -> str:
    """The driver whose devices are in the class, "" if it does not say so plainly.

    Its other conditions are left aside: without them there are more devices, so we are more silent.
    """
    found = set()
    for selector in parts(device_class.spec, "selectors"):
        expression = text(selector, "cel", "expression")
        if "||" not in expression:
            found |= set(_BY_DRIVER.findall(expression))
    return found.pop() if len(found) == 1 else ""


class Slices:
    """All slices by name, and the units that follow from them. `drivers`: those that offer anything now, or `ever`."""

    def __init__(self) -> None:
        self._slices: dict[str, Slice] = {}
        self._on_node: dict[str, dict[str, int]] = {}
        self._odd: set[str] = set()
        self.drivers: set[str] = set()
        self.ever: set[str] = set()
        self.changed = False

    def put(self, name: str, now: Slice | None) -> None:
        """Take the slice as it is now, None if it is gone."""
        if self._slices.get(name) != now:
            self.changed = True
        if now is None:
            self._slices.pop(name, None)
        else:
            self._slices[name] = now

    def settle(self) -> set[str]:
        """Count anew; the nodes whose devices are different. O(slices) if any has changed."""
        if not self.changed:
            return set()
        self.changed = False
        pools: dict[tuple[str, str], list[Slice]] = {}
        for _, one in sorted(self._slices.items()):
            pools.setdefault((one.driver, one.pool), []).append(one)
        before, self._on_node, self._odd = self._on_node, {}, set()
        self.drivers = {driver for driver, _ in pools}
        self.ever |= self.drivers
        for (driver, _), slices in pools.items():
            self._count(driver, slices)
        nodes = before.keys() | self._on_node.keys()
        return {node for node in nodes if before.get(node) != self._on_node.get(node)}

    def _count(self, driver: str, slices: Iterable[Slice]) -> None:
        slices = list(slices)
        newest = max(one.generation for one in slices)
        now = [one for one in slices if one.generation == newest]
        if len(now) < max(one.expected for one in now) or any(one.odd for one in now):
            self._odd.add(driver)
        for one in now:
            if one.node:
                on_node = self._on_node.setdefault(one.node, {})
                on_node[driver] = on_node.get(driver, 0) + one.devices

    def on(self, node: str) -> dict[str, int]:
        """Devices on the node by driver."""
        return self._on_node.get(node, {})

    def node_of(self, driver: str, pool: str) -> str:
        """The node of a pool, "" if it is not known or has none."""
        return next((one.node for one in self._slices.values() if (one.driver, one.pool) == (driver, pool)), "")

    def doubt(self, driver: str) -> str:
        """Why the devices of the driver cannot be counted, "" if they can."""
        if driver not in self.drivers:
            return f"no ResourceSlice of the driver {driver} is in the input"
        if driver in self._odd:
            return f"how devices of the driver {driver} are shared out is not understood"
        return ""
