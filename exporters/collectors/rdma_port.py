"""One port of an RDMA device: its state, its speed, and all that it counts."""

import re
from collections.abc import Iterator

from msgspec import Struct

from exporters.catalog import rdma as catalog
from exporters.catalog.family import Sample
from exporters.collectors.netdevs import netdev_of
from exporters.collectors.pauses import Pass
from exporters.collectors.rdma_tally import LIFESPAN, Count, Tally, Value, number_in
from exporters.rooted import Folder

STATE = re.compile(r"(\d{1,3}):")
RATE = re.compile(
    r"(?P<rate>\d{1,6}(?:\.\d{1,3})?) Gb/sec(?: \((?P<lanes>\d{1,2})X(?: (?P<speed>[A-Z0-9]{1,8}))?\))?", re.IGNORECASE
)
ACTIVE = (4, 5)
ETHERNET = "Ethernet"
BYTES_PER_GIGABIT = 1e9 / 8
FOLDERS = (
    ("counters_ext", catalog.LEGACY_COUNTERS),
    ("counters", catalog.COUNTERS),
    ("hw_counters", catalog.HARDWARE_COUNTERS),
)
"""Where a port counts. What several folders count is taken from the first that has it: there it is widest."""


class State(Struct, frozen=True):
    """What a port is doing: numbers as in the file; None where they cannot be told. `link_up`: None if not known."""

    state: int | None
    physical_state: int | None = None
    link_up: bool | None = None


class Port(Struct, frozen=True, kw_only=True):
    """All of a port but its state. What could not be read is None, empty or absent.

    `counts`: what has a family, in its unit. `values`: other files, by name. `speed`: the rate's name, as NDR.
    """

    number: str
    counts: tuple[Count, ...] = ()
    values: tuple[Value, ...] = ()
    lifespan_s: float | None = None
    rate_bytes: float | None = None
    lanes: int | None = None
    speed: str = ""
    link_layer: str = ""
    netdev: str = ""
    carrier_changes: int | None = None


def state_in(text: str | None) -> int | None:
    """The number of a state: 4 of `4: ACTIVE`."""
    found = STATE.match(text or "")
    return int(found[1]) if found else None


def read_state(look: Pass, port: Folder, *, constant: bool, netdev: Folder | None) -> State:
    """The port's state now: two small files. `constant`: the driver always says ACTIVE; its `netdev` knows better."""
    state = state_in(look.text(port, "state", "rdma/state"))
    physical = state_in(look.text(port, "phys_state", "rdma/phys_state"))
    if not constant:
        return State(state, physical, None if state is None else state in ACTIVE)
    operstate = None if netdev is None else look.text(netdev, "operstate", "net/operstate")
    return State(state, physical, None if operstate in {None, "", "unknown"} else operstate == "up")


def read_port(look: Pass, sysfs: Folder, device: Folder, port: Folder, tally: Tally) -> Port:
    """All of a port but its state, its counts by `tally`. O(its files)."""
    for name, table in FOLDERS:
        tally.read(look, port.folder(name), table)
    hardware = port.folder("hw_counters")
    lifespan_ms = number_in(look.text(hardware, LIFESPAN, f"rdma/{LIFESPAN}")) if hardware else None
    rate = RATE.match(look.text(port, "rate", "rdma/rate") or "")
    link_layer = look.text(port, "link_layer", "rdma/link_layer") or ""
    netdev = netdev_of(device, port, ethernet=link_layer == ETHERNET)
    interface = sysfs.folder(f"class/net/{netdev}") if netdev else None
    changes = look.text(interface, "carrier_changes", "net/carrier_changes") if interface else None
    return Port(
        number=port.name,
        counts=tally.counts,
        values=tally.values,
        lifespan_s=None if lifespan_ms is None else lifespan_ms / 1000,
        rate_bytes=float(rate["rate"]) * BYTES_PER_GIGABIT if rate else None,
        lanes=int(rate["lanes"]) if rate and rate["lanes"] else None,
        speed=(rate["speed"] or "") if rate else "",
        link_layer=link_layer,
        netdev=netdev,
        carrier_changes=number_in(changes),
    )


def port_samples(device: str, port: Port, state: State, changes: int | None) -> Iterator[Sample]:
    """All that a port says. O(its values)."""
    labels = (device, port.number)
    yield Sample(catalog.PORT_INFO, (*labels, port.link_layer, port.speed, port.netdev), 1.0)
    for family, number in (
        (catalog.STATE, state.state),
        (catalog.PHYSICAL_STATE, state.physical_state),
        (catalog.LINK_UP, state.link_up),
        (catalog.STATE_CHANGES, changes),
        (catalog.RATE, port.rate_bytes),
        (catalog.LANES, port.lanes),
        (catalog.HARDWARE_LIFESPAN, port.lifespan_s),
        (catalog.CARRIER_CHANGES, port.carrier_changes),
    ):
        if number is not None:
            yield Sample(family, labels, float(number))
    for family, count in port.counts:
        yield Sample(family, labels, count)
    for file, value in port.values:
        yield Sample(catalog.HARDWARE_VALUE, (*labels, file), value)
