"""Reading objects that have no struct of their own: whatever stands in them, nothing here ever fails."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from analyzer.sources.kubernetes.quantities import units
from analyzer.sources.kubernetes.times import parse_ns

Amounts = tuple[tuple[str, int], ...]


def at(thing: object, *path: str) -> Any:
    """What stands at the path; None where the path ends early."""
    for key in path:
        if not isinstance(thing, Mapping):
            return None
        thing = thing.get(key)
    return thing


def text(thing: object, *path: str) -> str:
    """The text at the path, "" if there is none."""
    found = at(thing, *path)
    return found if isinstance(found, str) else ""


def count(thing: object, *path: str) -> int | None:
    """The whole number at the path, None if there is none."""
    found = at(thing, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def parts(thing: object, *path: str) -> list[Any]:
    """The entries of the list at the path; none if there is no list."""
    found = at(thing, *path)
    return list(found) if isinstance(found, list | tuple) else []


def amount(kind: str, thing: object, *path: str) -> int | None:
    """The quantity at the path in units of the kind, None if there is none."""
    found = at(thing, *path)
    return units(kind, found) if isinstance(found, str | int | float) and not isinstance(found, bool) else None


def amounts(thing: object, *path: str) -> Amounts:
    """Quantities by resource at the path, in units, sorted."""
    found = at(thing, *path)
    if not isinstance(found, Mapping):
        return ()
    read = ((str(kind), amount(str(kind), value)) for kind, value in found.items())
    return tuple(sorted((kind, n) for kind, n in read if n is not None))


class Stated(Struct, frozen=True):
    """One condition: whether it holds, why, in whose words, and since when (0: not said)."""

    holds: bool
    reason: str
    message: str
    since_ns: int


def conditions(status: object) -> dict[str, Stated]:
    """The conditions of an object by type."""
    found = {}
    for one in parts(status, "conditions"):
        found[text(one, "type")] = Stated(
            text(one, "status") == "True",
            text(one, "reason"),
            text(one, "message"),
            parse_ns(text(one, "lastTransitionTime")) or 0,
        )
    return found
