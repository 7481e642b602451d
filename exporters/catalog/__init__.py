"""Every metric family of the exporters, declared once: one file for each subject, `FAMILIES` has them all."""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

from msgspec import Struct

from exporters.catalog import (
    allocation,
    dcgm,
    ethtool,
    gpm,
    gpu,
    idleness,
    itself,
    kernel_log,
    memory_owners,
    node,
    nvlink,
    processes,
    rdma,
    xid,
)
from exporters.catalog.family import Family, Group

MODULES: tuple[ModuleType, ...] = (
    allocation,
    dcgm,
    ethtool,
    gpm,
    gpu,
    idleness,
    itself,
    kernel_log,
    memory_owners,
    node,
    nvlink,
    processes,
    rdma,
    xid,
)
"""All files of families."""


def declared(value: object) -> Iterator[Family]:
    """The families in a value, however deep in tables and structs."""
    match value:
        case Family():
            yield value
        case str() | bytes():
            pass
        case Mapping():
            for each in value.values():
                yield from declared(each)
        case Sequence():
            for each in value:
                yield from declared(each)
        case Struct():
            for field in value.__struct_fields__:
                yield from declared(getattr(value, field))
        case _:
            pass


def catalogued(modules: Sequence[ModuleType]) -> tuple[Family, ...]:
    """All families of these modules, sorted by group and name. Raises ValueError where two differ under one name."""
    found: dict[str, Family] = {}
    for module in modules:
        ours = {name: value for name, value in vars(module).items() if not name.startswith("__")}
        for family in declared(ours):
            if found.setdefault(family.name, family) != family:
                raise ValueError(f"{family.name} is declared twice, and not alike")
    order = list(Group)
    return tuple(sorted(found.values(), key=lambda family: (order.index(family.group), family.name)))


FAMILIES: tuple[Family, ...] = catalogued(MODULES)
"""All families, sorted by group and name."""
