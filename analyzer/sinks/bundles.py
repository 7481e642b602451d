"""Many who wait alike drawn as one: a queue of five hundred behind one knot is one box, not a wall of them.

Alike are actors of one role, one kind and one scope, who wait for the same holders over the same, and for whom nobody
waits. README.md says why nothing is lost.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from analyzer.sinks.graph_export import Drawing

_BUNDLED_FROM = 8
"""So many alike become one box; fewer are still looked at one by one."""

_NEVER = ("core", "looping", "unsatisfiable")
"""Roles of which each actor is named, since each is at fault."""


def bundled(drawing: Drawing) -> tuple[Drawing, Mapping[str, tuple[str, ...]]]:
    """The drawing with bundles in it, each under the name of its first actor, and who is in each. O(nodes + arrows)."""
    waits: dict[str, list[tuple[str, str]]] = {}
    for arrow in drawing.arrows:
        waits.setdefault(arrow.waiter, []).append((arrow.holder, arrow.label))
    waited_for = {arrow.holder for arrow in drawing.arrows}
    alike: dict[tuple[object, ...], list[str]] = {}
    for node in drawing.nodes:
        if node.role not in _NEVER and node.actor not in waited_for and node.actor in waits:
            key = (node.role, node.actor.rpartition("/")[0], tuple(waits[node.actor]))
            alike.setdefault(key, []).append(node.actor)
    bundles = {names[0]: tuple(names) for names in alike.values() if len(names) >= _BUNDLED_FROM}
    inside = {name for names in bundles.values() for name in names[1:]}
    if not inside:
        return drawing, {}
    nodes = (
        replace(node, count=len(bundles[node.actor])) if node.actor in bundles else node
        for node in drawing.nodes
        if node.actor not in inside
    )
    arrows = (arrow for arrow in drawing.arrows if arrow.waiter not in inside)
    return replace(drawing, nodes=tuple(nodes), arrows=tuple(arrows)), bundles
