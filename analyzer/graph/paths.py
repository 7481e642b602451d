"""The ring that a person can follow: a shortest cycle through a core."""

from collections.abc import Iterable

from analyzer.graph.waitfor import WaitFor
from analyzer.model.ids import ActorId

STARTS_MAX = 64
"""Starts tried: in a large core nearly every member lies on a short ring, and a person needs one."""


def witness_cycle(edges: Iterable[WaitFor], members: Iterable[ActorId]) -> tuple[ActorId, ...]:
    """A shortest cycle of these edges inside `members`, written from its smallest member on; () if there is none.

    A single member with an edge to itself is a cycle of one; with several members such an edge is passed over.

    Of several, the one whose smallest member comes first, and then the first by name. Each member is tried as a start
    until a ring of two is found, at most `STARTS_MAX` of them: O(STARTS_MAX * edges).
    """
    inside = set(members)
    if len(inside) == 1:
        return tuple(inside) if any(edge.waiter == edge.holder and edge.waiter in inside for edge in edges) else ()
    ahead: dict[ActorId, dict[ActorId, None]] = {}
    for edge in edges:
        if edge.waiter in inside and edge.holder in inside and edge.waiter != edge.holder:
            ahead.setdefault(edge.waiter, {})[edge.holder] = None
    best: tuple[ActorId, ...] = ()
    for start in sorted(inside)[:STARTS_MAX]:
        ring = _shortest_through(start, ahead)
        if ring and (not best or len(ring) < len(best)):
            best = ring
        if len(best) == 2:
            break
    if not best:
        return ()
    least = best.index(min(best))
    return best[least:] + best[:least]


def _shortest_through(start: ActorId, ahead: dict[ActorId, dict[ActorId, None]]) -> tuple[ActorId, ...]:
    came_from: dict[ActorId, ActorId] = {}
    frontier = [start]
    while frontier:
        following = []
        for at in frontier:
            for to in sorted(ahead.get(at, ())):
                if to == start:
                    ring = [at]
                    while ring[-1] != start:
                        ring.append(came_from[ring[-1]])
                    return tuple(reversed(ring))
                if to not in came_from:
                    came_from[to] = at
                    following.append(to)
        frontier = following
    return ()
