"""The network interface that a port of an RDMA device is, and the one that the node's default route takes."""

import re

from exporters.rooted import Failed, Folder

GIDS_MAX = 16
"""Addresses of a port that are asked for their interface. Tables have 256 places, nearly all empty."""
PART_OF = re.compile(r"(?:vf|sf)\d")
"""In the name of the port behind an interface: it stands for a virtual function, so it is not the port itself."""
LOWER = "lower_"
DEPTH_MAX = 8
"""Interfaces on top of interfaces (VLAN, bond, bridge)."""
ROUTE_FIELDS = 8
ROUTE6_FIELDS = 10
HEX = re.compile(r"[0-9a-fA-F]{1,16}")
ANY = "00000000"
ANY6 = "0" * 32
UNREACHABLE = 0x200
ROUTES_BYTES_MAX = 1_048_576


def netdev_of(device: Folder, port: Folder, *, ethernet: bool) -> str:
    """The name of the interface of a port; empty if it has none. O(addresses asked).

    On Ethernet each address of the port has its interface, which also finds the bond above a pair of ports. Else it
    is the PCI function's own interface with the port's number.
    """
    if ethernet:
        for index in range(GIDS_MAX):
            # Empty places answer EINVAL: that is their way to say so, and no error.
            name = port.text(f"gid_attrs/ndevs/{index}")
            if isinstance(name, Failed):
                if name.absent:
                    break
            elif name and "/" not in name:
                return name
    names = device.folders("device/net")
    if len(names) == 1:
        return names[0]
    fitting = [name for name in names if _is_port(device, name, port.name)]
    return min(fitting, key=lambda name: (len(name), name), default="")


def _is_port(device: Folder, netdev: str, number: str) -> bool:
    dev_port = device.text(f"device/net/{netdev}/dev_port")
    stands_for = device.text(f"device/net/{netdev}/phys_port_name")
    if isinstance(stands_for, str) and PART_OF.search(stands_for):
        return False
    return isinstance(dev_port, str) and dev_port.isdigit() and number.isdigit() and int(dev_port) + 1 == int(number)


def default_routes(sysfs: Folder, procfs: Folder) -> frozenset[str] | None:
    """Interfaces that default routes go through, with those beneath them; None if it cannot be told. O(routes)."""
    found: set[str] = set()
    told = False
    for file, fields, destination in (("route", ROUTE_FIELDS, 1), ("ipv6_route", ROUTE6_FIELDS, 0)):
        # That of the node, not that of our own network namespace, where the two differ and we may see it.
        text = procfs.text(f"1/net/{file}", ROUTES_BYTES_MAX)
        if isinstance(text, Failed):
            text = procfs.text(f"net/{file}", ROUTES_BYTES_MAX)
        if isinstance(text, Failed):
            continue
        told = True
        for line in text.splitlines():
            row = line.split()
            if len(row) >= fields and _is_default(row, destination):
                found.add(row[0] if destination else row[-1])
    return with_lower(sysfs, found) if told else None


def _is_default(row: list[str], destination: int) -> bool:
    """Whether the route leads to anywhere: destination and mask (or prefix length) are zero, and it is no refusal."""
    if destination:
        return row[1] == ANY and row[7] == ANY
    flags = int(row[-2], 16) if HEX.fullmatch(row[-2]) else UNREACHABLE
    return row[0] == ANY6 and row[1] == "00" and row[-1] != "lo" and not flags & UNREACHABLE


def with_lower(sysfs: Folder, names: set[str]) -> frozenset[str]:
    """The interfaces, and all that they stand on."""
    found, edge = set(names), set(names)
    for _ in range(DEPTH_MAX):
        below = set()
        for name in sorted(edge):
            listed = sysfs.names(f"class/net/{name}")
            if not isinstance(listed, Failed):
                below |= {each.removeprefix(LOWER) for each in listed if each.startswith(LOWER)}
        edge = below - found
        found |= edge
        if not edge:
            break
    return frozenset(found)
