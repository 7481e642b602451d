"""What a waiter would take if it were served: every way to do it, tightest first.

Liveness only asks whether there is a way. Who keeps what it takes for good (an endless actor), or takes it now, makes
a difference by *which* units it takes, so here they are listed.
"""

from collections.abc import Iterator, Mapping, Sequence

from analyzer.graph.judge import Judge
from analyzer.graph.supply import Supply
from analyzer.model.ids import ResourceId, resource_on
from analyzer.model.requests import Pods, Request, Units

Way = tuple[tuple[ResourceId, int], ...]
"""Units taken, sorted by resource."""

NODES_TRIED_MAX = 64
"""Nodes with room that are combined in every manner; of more, only the tightest filling is tried."""


def ways(judge: Judge, request: Request, level: int) -> Iterator[Way]:
    """Every distinct way to meet the request out of the judge's supply, none if it is not met.

    Lazy; there may be very many, so take as many as you can afford. Nodes with the least room for such pods come
    first. With more than NODES_TRIED_MAX nodes for one shape only the first way of each selection of parts is given.
    """
    told: set[Way] = set()
    for choice in judge.choices(request, level):
        taken: dict[ResourceId, int] = {}
        for leaf in choice:
            if isinstance(leaf, Units) and leaf.count > 0:
                taken[leaf.resource] = taken.get(leaf.resource, 0) + leaf.count
        if any(judge.supply.free(resource, level) < count for resource, count in taken.items()):
            continue
        several = [leaf for leaf in choice if isinstance(leaf, Pods) and leaf.count > 0]
        several.sort(key=lambda pods: -sum(need for _, need in pods.each))
        for way in _placed(judge.supply, level, several, taken):
            if way not in told:
                told.add(way)
                yield way


def _placed(supply: Supply, level: int, several: Sequence[Pods], taken: Mapping[ResourceId, int]) -> Iterator[Way]:
    """Every way to place all of these beside what is taken already."""
    if not several:
        yield tuple(sorted(taken.items()))
        return
    first, rest = several[0], several[1:]
    for with_first in _spread(supply, level, first, taken):
        yield from _placed(supply, level, rest, with_first)


def _spread(
    supply: Supply, level: int, pods: Pods, taken: Mapping[ResourceId, int]
) -> Iterator[Mapping[ResourceId, int]]:
    """Every way to place the pods of one shape, as all that is taken then."""
    needs = [(kind, need) for kind, need in pods.each if need > 0]
    if not needs:
        if pods.among and (pods.per_node_max is None or pods.per_node_max * len(set(pods.among)) >= pods.count):
            yield taken
        return
    rooms = _rooms(supply, level, pods, needs, taken)
    if sum(fits for fits, _ in rooms) < pods.count:
        return
    if len(rooms) > NODES_TRIED_MAX:
        yield _with(taken, needs, _tightest(rooms, pods.count))
        return
    rooms.sort()
    behind = [0] * (len(rooms) + 1)  # how many pods the nodes from here on could take
    for index in range(len(rooms) - 1, -1, -1):
        behind[index] = behind[index + 1] + rooms[index][0]
    for counts in _splits([fits for fits, _ in rooms], behind, pods.count, 0):
        yield _with(taken, needs, [(node, count) for (_, node), count in zip(rooms, counts, strict=False) if count])


def _fits(
    supply: Supply,
    level: int,
    node: str,
    needs: Sequence[tuple[str, int]],
    taken: Mapping[ResourceId, int],
    per_node_max: int | None,
) -> int:
    """How many pods of this shape the node could take."""
    resources = ((resource_on(kind, node), need) for kind, need in needs)
    fits = min(max(0, supply.free(name, level) - taken.get(name, 0)) // need for name, need in resources)
    return fits if per_node_max is None else min(fits, max(0, per_node_max))


def _rooms(
    supply: Supply, level: int, pods: Pods, needs: Sequence[tuple[str, int]], taken: Mapping[ResourceId, int]
) -> list[tuple[int, str]]:
    """(how many of the pods it could take, node) of each node with room for one."""
    pool = supply.pool(pods, level)
    if pool.total < pods.count:
        return []
    counts = pool.counts()
    for resource in taken:
        node = supply.atlas.split(resource)[1]
        position = pool.layout.positions.get(node)
        if position is not None:
            counts[position] = _fits(supply, level, node, needs, taken, pods.per_node_max)
    return [(fits, node) for fits, node in zip(counts, pool.layout.nodes, strict=True) if fits > 0]


def _tightest(rooms: Sequence[tuple[int, str]], count: int) -> list[tuple[str, int]]:
    """The fullest node that takes all; if there is none, as few nodes as do."""
    whole = min((room for room in rooms if room[0] >= count), default=None)
    if whole is not None:
        return [(whole[1], count)]
    chosen: list[tuple[str, int]] = []
    for fits, node in sorted(rooms, key=lambda room: (-room[0], room[1])):
        chosen.append((node, min(fits, count)))
        count -= min(fits, count)
        if not count:
            break
    return chosen


def _splits(fits: Sequence[int], behind: Sequence[int], count: int, start: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `count` as a sum of at most fits[i] each, from `start` on; fullest first."""
    if count == 0:
        yield ()
        return
    if start == len(fits):
        return
    for here in range(min(fits[start], count), -1, -1):
        if behind[start + 1] >= count - here:
            for rest in _splits(fits, behind, count - here, start + 1):
                yield (here, *rest)


def _with(
    taken: Mapping[ResourceId, int], needs: Sequence[tuple[str, int]], placed: Sequence[tuple[str, int]]
) -> Mapping[ResourceId, int]:
    total = dict(taken)
    for node, count in placed:
        for kind, need in needs:
            name = resource_on(kind, node)
            total[name] = total.get(name, 0) + need * count
    return total
