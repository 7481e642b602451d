"""Do pods of several shapes fit on these nodes together? Necessary conditions, a greedy try, a bounded search."""

from collections.abc import Sequence

from msgspec import Struct

Free = tuple[int, ...]


class Shape(Struct, frozen=True):
    """So many pods, each needing `each[i]` units of kind i; node n may take `bounds[n]` of them, 0 if no candidate."""

    count: int
    each: tuple[int, ...]
    bounds: tuple[int, ...]


class Packing(Struct, frozen=True):
    """Whether the pods fit. Not `exact`: the search was given up, only the necessary conditions are known to hold."""

    fits: bool
    exact: bool
    steps: int


def pack(shapes: Sequence[Shape], nodes: Sequence[Free], steps_max: int) -> Packing:
    """Whether all pods of all shapes fit on the nodes at once; `nodes[n][i]` is what node n has of kind i.

    Exact unless the search takes more than `steps_max` steps; then "fits" stands for "nothing speaks against it".
    """
    caps = [[_most(shape, node, free) for node, free in enumerate(nodes)] for shape in shapes]
    if any(sum(cap) < shape.count for shape, cap in zip(shapes, caps, strict=True)):
        return Packing(fits=False, exact=True, steps=0)
    useful = [node for node in range(len(nodes)) if any(cap[node] for cap in caps)]
    if not _enough_in_sum(shapes, caps, nodes, useful):
        return Packing(fits=False, exact=True, steps=0)
    if len(useful) > steps_max:
        return Packing(fits=True, exact=False, steps=0)
    for reverse in (True, False):
        if _greedy(shapes, caps, nodes, useful, largest_first=reverse):
            return Packing(fits=True, exact=True, steps=len(useful))
    return _search(shapes, caps, nodes, useful, steps_max)


def _most(shape: Shape, node: int, free: Free) -> int:
    most = shape.bounds[node]
    for units, need in zip(free, shape.each, strict=True):
        if need > 0:
            most = min(most, max(0, units) // need)
    return min(most, shape.count)


def _enough_in_sum(
    shapes: Sequence[Shape], caps: list[list[int]], nodes: Sequence[Free], useful: Sequence[int]
) -> bool:
    """Whether each kind suffices in total, counting on each node no more than the pods could take there."""
    kinds = len(shapes[0].each)
    for kind in range(kinds):
        needed = sum(shape.count * shape.each[kind] for shape in shapes)
        usable = 0
        for node in useful:
            could_take = sum(cap[node] * shape.each[kind] for shape, cap in zip(shapes, caps, strict=True))
            usable += min(max(0, nodes[node][kind]), could_take)
        if usable < needed:
            return False
    return True


def _greedy(
    shapes: Sequence[Shape],
    caps: list[list[int]],
    nodes: Sequence[Free],
    useful: Sequence[int],
    *,
    largest_first: bool,
) -> bool:
    """Place shape by shape where fewest other shapes could go; success is a proof, failure is none."""
    free = {node: list(nodes[node]) for node in useful}
    order = sorted(range(len(shapes)), key=lambda i: (sum(shapes[i].each), i), reverse=largest_first)
    for index in order:
        shape = shapes[index]
        rest = shape.count
        places = [node for node in useful if caps[index][node]]
        places.sort(key=lambda node: (sum(1 for cap in caps if cap[node]), sum(free[node]), node))
        for node in places:
            count = min(rest, _most(shape, node, tuple(free[node])))
            for kind, need in enumerate(shape.each):
                free[node][kind] -= count * need
            rest -= count
            if not rest:
                break
        if rest:
            return False
    return True


def _search(
    shapes: Sequence[Shape], caps: list[list[int]], nodes: Sequence[Free], useful: Sequence[int], steps_max: int
) -> Packing:
    """All ways to fill node after node, keeping only what is left to place, and of that only what nothing beats."""
    frontier: set[tuple[int, ...]] = {tuple(shape.count for shape in shapes)}
    steps = 0
    for node in useful:
        fillings = _fillings(shapes, [cap[node] for cap in caps], nodes[node], steps_max - steps)
        if fillings is None:
            return Packing(fits=True, exact=False, steps=steps_max)
        steps += len(fillings)
        following: set[tuple[int, ...]] = set()
        for rest in frontier:
            steps += len(fillings)
            if steps > steps_max:
                return Packing(fits=True, exact=False, steps=steps)
            for filling in fillings:
                following.add(tuple(max(0, left - put) for left, put in zip(rest, filling, strict=True)))
        frontier = _unbeaten(following)
        if not any(min(frontier)):
            return Packing(fits=True, exact=True, steps=steps)
    return Packing(fits=False, exact=True, steps=steps)


def _fillings(shapes: Sequence[Shape], caps: Sequence[int], free: Free, steps_max: int) -> list[tuple[int, ...]] | None:
    """The fullest ways to put pods of the shapes on one node; None if there are too many to list."""
    partial: list[tuple[tuple[int, ...], Free]] = [((), free)]
    for shape, cap in zip(shapes[:-1], caps[:-1], strict=True):
        following = []
        for chosen, left in partial:
            for count in range(cap + 1):
                rest = tuple(units - count * need for units, need in zip(left, shape.each, strict=True))
                if any(units < 0 and need > 0 for units, need in zip(rest, shape.each, strict=True)) and count:
                    break
                following.append(((*chosen, count), rest))
            if len(following) > steps_max:
                return None
        partial = following
    last = shapes[-1]
    full = set()
    for chosen, left in partial:
        count = caps[-1]
        for units, need in zip(left, last.each, strict=True):
            if need > 0:
                count = min(count, max(0, units) // need)
        full.add((*chosen, count))
    return sorted(_undominated(full))


def _undominated(fillings: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    if len(fillings) > 200:
        return fillings
    return {
        one
        for one in fillings
        if not any(other != one and all(b >= a for a, b in zip(one, other, strict=True)) for other in fillings)
    }


def _unbeaten(rests: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    if len(rests) > 200:
        return rests
    return {
        one
        for one in rests
        if not any(other != one and all(b <= a for a, b in zip(one, other, strict=True)) for other in rests)
    }
