"""Extended resources that a node has and does not offer: its device plugin is gone, or just being restarted.

The kubelet keeps the capacity of a plugin that stopped reporting and sets what can be allocated to 0. A node says
nowhere since when, so it is counted from when it was first seen like that; of a single moment nobody can tell.
"""

from collections.abc import Iterable, Mapping

from analyzer.sources.kubernetes.objects import Node
from analyzer.sources.kubernetes.quantities import units
from analyzer.sources.kubernetes.times import SECOND_NS

PLUGIN_NS = 900 * SECOND_NS
"""A driver that is upgraded takes its device plugin away for minutes; nothing that is healthy takes this long."""


class Withheld:
    """Per node and kind: how many units it has and does not offer, and since when it was seen so."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, tuple[int, int]]] = {}

    def see(self, node: Node, at_ns: int, *, gone: bool) -> bool:
        """The node as it is now; whether something else is withheld than before."""
        name, status = node.metadata.name, node.status
        before = self._by_node.pop(name, {})
        if gone or not status.allocatable:
            return bool(before)
        found: dict[str, tuple[int, int]] = {}
        for kind, quantity in status.capacity.items():
            if "/" in kind and units(kind, quantity) > 0 and units(kind, status.allocatable.get(kind, "0")) == 0:
                found[kind] = (units(kind, quantity), before[kind][1] if kind in before else at_ns)
        if found:
            self._by_node[name] = found
        return found.keys() != before.keys()

    def of(self, each: Iterable[tuple[str, int]], among: Iterable[str]) -> Mapping[tuple[str, str], tuple[int, int]]:
        """By node and kind, where one of these nodes would have enough of a kind that is asked for. O(1) if none is."""
        if not self._by_node:
            return {}
        asked = dict(each)
        here = frozenset(among)
        return {
            (name, kind): held
            for name in sorted(self._by_node.keys() & here)
            for kind, held in sorted(self._by_node[name].items())
            if 0 < asked.get(kind, 0) <= held[0]
        }
