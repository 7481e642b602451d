"""RDMA devices, each by a worker of its own: its ports' states every second, all that they count every interval.

States change faster than anybody scrapes: a link that goes down and comes back between two scrapes was down. So the
changes are counted here, where every look is seen.
"""

from msgspec import Struct

from exporters.catalog import rdma as catalog
from exporters.catalog.family import Sample
from exporters.collectors.pauses import Pass, Pauses
from exporters.collectors.rdma_port import Port, State, port_samples, read_port, read_state
from exporters.collectors.rdma_tally import Count, Tally, Value
from exporters.pci import place_of
from exporters.rooted import Failed, Folder
from exporters.subject import Key, Moment, Reading, Reason

RDMA = "rdma"
CLASS = "class/infiniband"
STATE_INTERVAL_S = 1.0
PORTS_MAX = 64

EFA = "efa"
AMAZON = "0x1d0f"

DENIED = frozenset({"EACCES", "EPERM"})


class Identity(Struct, frozen=True, kw_only=True):
    """Who a device is. `physical_function`: of a virtual function, the device that it is of, else its PCI address."""

    board_id: str = ""
    firmware: str = ""
    hca_type: str = ""
    node_guid: str = ""
    driver: str = ""
    pci_address: str = ""
    physical_function: str = ""


class RdmaReading(Struct, frozen=True, kw_only=True):
    """One device. `states` and `changes` are of now, for each port; the rest is as old as an interval at most.

    `changes` None: no state was ever known.
    """

    name: str
    identity: Identity
    numa_node: int | None
    ports: tuple[Port, ...]
    states: tuple[State, ...]
    changes: tuple[int | None, ...]
    counts: tuple[Count, ...] = ()
    values: tuple[Value, ...] = ()


class Detail(Struct, frozen=True, kw_only=True):
    """What is read every interval."""

    identity: Identity
    numa_node: int | None
    constant: bool
    ports: tuple[Port, ...]
    counts: tuple[Count, ...]
    values: tuple[Value, ...]


class RdmaDevice:
    """One device as a subject. It keeps what was seen of its ports as long as it lives."""

    def __init__(self, sysfs: Folder, name: str, interval_s: float, deadline_s: float, *, virtual: bool) -> None:
        """`virtual`: a virtual function. There may be hundreds, and their links are their device's: no hurry there."""
        self.key = Key(RDMA, name)
        self.interval_s = interval_s if virtual else min(STATE_INTERVAL_S, interval_s)
        self.deadline_s = deadline_s
        self._sysfs = sysfs
        self._detail_interval_s = interval_s
        self._pauses = Pauses()
        self._detail: Detail | None = None
        self._detail_due_s = float("-inf")
        self._answers = 0
        self._denied = False
        self._seen: dict[str, int | bool] = {}
        self._changes: dict[str, int] = {}

    def read(self, now: Moment) -> Reading[RdmaReading]:
        device = self._sysfs.folder(f"{CLASS}/{self.key.name}")
        if device is None:
            self._detail, self._detail_due_s = None, float("-inf")
            return Reading(value=None, up=False, reason=Reason.NOT_FOUND)
        look = Pass(self._pauses, now.mono_s)
        if self._detail is None or now.mono_s >= self._detail_due_s:
            self._detail = read_detail(look, self._sysfs, device)
            self._detail_due_s = now.mono_s + self._detail_interval_s
            self._answers = look.answers
        detail = self._detail
        states = tuple(self._state(look, device, port, constant=detail.constant) for port in detail.ports)
        if (silent := self._silence(look)) is not None:
            return silent
        value = RdmaReading(
            name=self.key.name,
            identity=detail.identity,
            numa_node=detail.numa_node,
            ports=detail.ports,
            states=states,
            changes=tuple(self._changes.get(port.number) for port in detail.ports),
            counts=detail.counts,
            values=detail.values,
        )
        return Reading(value=value, errors=look.errors)

    def _silence(self, look: Pass) -> Reading[RdmaReading] | None:
        """What to say of a device none of whose files answers; None if any does, or has at the last full look."""
        if look.answers or self._answers or not (look.errors or look.left_alone):
            return None
        if look.errors:
            self._denied = all(error.code in DENIED for error in look.errors)
        if self._denied:
            return Reading(value=None, up=False, reason=Reason.PERMISSION, errors=look.errors)
        # Without a new error all are paused: that is down, and not one failure that may pass.
        up = bool(look.errors)
        return Reading(value=None, up=up, reason=Reason.NONE if up else Reason.ERRORS, errors=look.errors)

    def samples(self, value: RdmaReading) -> list[Sample]:
        who = value.identity
        names = (who.board_id, who.firmware, who.hca_type, who.node_guid, who.driver, who.pci_address)
        device = (value.name,)
        found = [Sample(catalog.DEVICE_INFO, (*device, *names, who.physical_function), 1.0)]
        if value.numa_node is not None:
            found.append(Sample(catalog.NUMA_NODE, device, float(value.numa_node)))
        for port, state, changes in zip(value.ports, value.states, value.changes, strict=True):
            found += port_samples(value.name, port, state, changes)
        for family, count in value.counts:
            # What a device counts for its only port is that port's.
            labels = device if family.labels == catalog.DEVICE else (*device, value.ports[0].number)
            found.append(Sample(family, labels, count))
        found += [Sample(catalog.DEVICE_HARDWARE_VALUE, (*device, file), number) for file, number in value.values]
        return found

    def _state(self, look: Pass, device: Folder, port: Port, *, constant: bool) -> State:
        """The port's state now; a change since it was last known is counted."""
        folder = device.folder(f"ports/{port.number}")
        if folder is None:
            return State(None)
        netdev = self._sysfs.folder(f"class/net/{port.netdev}") if constant and port.netdev else None
        state = read_state(look, folder, constant=constant, netdev=netdev)
        now = state.link_up if constant else state.state
        if now is not None:
            changed = self._seen.get(port.number, now) != now
            self._changes[port.number] = self._changes.get(port.number, 0) + changed
            self._seen[port.number] = now
        return state


def read_detail(look: Pass, sysfs: Folder, device: Folder) -> Detail:
    """All of a device but its ports' states. O(its files)."""
    function = device.folder("device")
    driver = _driver(function)
    numbers = sorted((each for each in device.folders("ports") if each.isdigit()), key=lambda each: (len(each), each))
    ports, tallies = [], []
    for number in numbers[:PORTS_MAX]:
        if (folder := device.folder(f"ports/{number}")) is not None:
            tallies.append(Tally())
            ports.append(read_port(look, sysfs, device, folder, tallies[-1]))
    # Some drivers keep at the device what it counts for its port. Of several ports nobody could tell whose it is.
    only = tallies[0] if len(tallies) == 1 else None
    whole = Tally(beside=only)
    table = {**catalog.DEVICE_COUNTERS, **(catalog.HARDWARE_COUNTERS if only else {})}
    whole.read(look, device.folder("hw_counters"), table)
    place = place_of(function) if function else None
    return Detail(
        identity=Identity(
            board_id=look.text(device, "board_id", "rdma/board_id") or "",
            firmware=look.text(device, "fw_ver", "rdma/fw_ver") or "",
            hca_type=look.text(device, "hca_type", "rdma/hca_type") or "",
            node_guid=look.text(device, "node_guid", "rdma/node_guid") or "",
            driver=driver,
            pci_address=place.address if place else "",
            physical_function=_physical_function(function),
        ),
        numa_node=place.numa_node if place else None,
        constant=driver == EFA or _is_amazon(function),
        ports=tuple(ports),
        counts=whole.counts,
        values=whole.values,
    )


def _driver(function: Folder | None) -> str:
    found = function.folder("driver") if function else None
    return found.name if found else ""


def _is_amazon(function: Folder | None) -> bool:
    return function is not None and function.text("vendor") == AMAZON


def _physical_function(function: Folder | None) -> str:
    physical = function.folder("physfn") if function else None
    if physical is None:
        return ""
    devices = physical.names("infiniband")
    if isinstance(devices, Failed) or not devices:
        return physical.name
    return devices[0]
