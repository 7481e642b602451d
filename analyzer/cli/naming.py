"""Which actor a person means who types a part of its name."""

import difflib
import fnmatch
from collections.abc import Iterable

from analyzer.errors import UsageError
from analyzer.model.ids import ActorId

_SHOWN_MAX = 5


def the_one(wanted: str, actors: Iterable[ActorId]) -> ActorId:
    """The actor with this name; else the only one that ends so at a slash, matches as a pattern, ends so or holds it.

    Raises UsageError if there is none, naming the nearest, or more than one, naming them.
    """
    names = sorted(actors)
    if not wanted:
        raise UsageError(f"The name of an actor is empty{_nearest(wanted, names)}")
    if wanted in names:
        return ActorId(wanted)
    for meant in (
        [name for name in names if name.endswith(f"/{wanted}")],
        [name for name in names if fnmatch.fnmatchcase(name, wanted)],
        [name for name in names if name.endswith(wanted)],
        [name for name in names if f"/{wanted}" in name],
        [name for name in names if wanted in name],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise UsageError(f"{wanted} may mean {_listed(meant)}: write more of the name.")
    raise UsageError(f"{wanted} is not in this input{_nearest(wanted, names)}")


def the_node(wanted: str, nodes: Iterable[str]) -> str:
    """The node with this name. Raises UsageError if there is none, naming the nearest."""
    names = sorted(nodes)
    if wanted in names:
        return wanted
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(sorted(close))}?" if close else f": it has {', '.join(names[:_SHOWN_MAX])}."
    raise UsageError(f"{wanted} is no node of this input{hint if names else '.'}")


def _nearest(wanted: str, names: list[ActorId]) -> str:
    last_parts = {name.rpartition("/")[2]: name for name in reversed(names)}
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    close += [last_parts[part] for part in difflib.get_close_matches(wanted.rpartition("/")[2], last_parts, n=3)]
    if close:
        return f"; did you mean {' or '.join(sorted(set(close)))}?"
    return f": it holds {_listed(names)}." if names else ": there are no actors in it."


def _listed(names: list[ActorId]) -> str:
    more = f" and {len(names) - _SHOWN_MAX} more" if len(names) > _SHOWN_MAX else ""
    return ", ".join(names[:_SHOWN_MAX]) + more
