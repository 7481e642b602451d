"""Those who wait for each other, placed as one block: a ring is drawn as a ring, a crowd as a grid."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin

from msgspec import Struct

Point = tuple[float, float]
Size = tuple[float, float]

_RING_MAX = 24
"""Members of a ring that is drawn as one; more are a crowd, and nobody follows its arrows anyway."""

_GAP = 34.0
_GROWTH = 1.06


class Block(Struct, frozen=True):
    """Centres of the members, from the top left of the block, and its size."""

    centres: Mapping[str, Point]
    width: float
    height: float


def block_of(
    members: Sequence[str],
    sizes: Mapping[str, Size],
    arrows: Sequence[tuple[str, str]],
    rings: Sequence[Sequence[str]] = (),
    beside: float = 0.0,
) -> Block:
    """The members of one component: alone, around a ring, or in a grid; `beside`: room for the words at its arrows."""
    if len(members) == 1:
        width, height = sizes[members[0]]
        return Block({members[0]: (width / 2, height / 2)}, width, height)
    order = _around(members, arrows, rings)
    if len(order) > _RING_MAX:
        return _grid(order, sizes)
    ring = _ring(order, sizes)
    # The words of a pair of two stand left and right of it, whatever is wider is the block.
    widest = max(sizes[name][0] for name in order)
    room = max(0.0, beside + 24.0 - widest / 2) if len(order) == 2 else beside / 2
    centres = {name: (x + room, y) for name, (x, y) in ring.centres.items()}
    return Block(centres, ring.width + 2 * room, ring.height)


def _around(members: Sequence[str], arrows: Sequence[tuple[str, str]], rings: Sequence[Sequence[str]]) -> Sequence[str]:
    """An order in which many arrows go from one to the next: the longest given ring, then along the arrows."""
    inside = frozenset(members)
    mine = [list(ring) for ring in rings if ring and inside.issuperset(ring)]
    order = max((len(ring), ring) for ring in mine)[1] if mine else [min(members)]
    targets: dict[str, list[str]] = {name: [] for name in members}
    for waiter, holder in arrows:
        if waiter in inside and holder in inside:
            targets[waiter].append(holder)
    placed = set(order)
    rest = sorted(inside.difference(placed), reverse=True)
    while len(placed) < len(inside):
        follower = next((name for name in targets[order[-1]] if name not in placed), None)
        while follower is None:
            candidate = rest.pop()
            follower = None if candidate in placed else candidate
        order.append(follower)
        placed.add(follower)
    return order


def _ring(order: Sequence[str], sizes: Mapping[str, Size]) -> Block:
    """Around an ellipse, first member on top, clockwise; as small as possible without overlap."""
    if len(order) == 2:
        return _grid(order, sizes, columns=1, gap=74.0)
    widest = max(sizes[name][0] for name in order)
    highest = max(sizes[name][1] for name in order)
    radius_x, radius_y = widest * 0.6, highest * 1.1
    while True:
        angles = [2 * pi * place / len(order) - pi / 2 for place in range(len(order))]
        points = [(radius_x * cos(angle), radius_y * sin(angle)) for angle in angles]
        if not any(_overlap(points, first, widest + _GAP, highest + _GAP) for first in range(len(points))):
            break
        radius_x, radius_y = radius_x * _GROWTH, radius_y * _GROWTH
    left = min(x for x, _ in points) - widest / 2
    top = min(y for _, y in points) - highest / 2
    return Block(
        {name: (x - left, y - top) for name, (x, y) in zip(order, points, strict=True)},
        max(x for x, _ in points) + widest / 2 - left,
        max(y for _, y in points) + highest / 2 - top,
    )


def _overlap(points: Sequence[Point], first: int, width: float, height: float) -> bool:
    x, y = points[first]
    return any(abs(x - other) < width and abs(y - below) < height for other, below in points[first + 1 :])


def _grid(order: Sequence[str], sizes: Mapping[str, Size], columns: int | None = None, gap: float = _GAP) -> Block:
    """In rows, every other one backwards, so that who follows stands beside."""
    widest = max(sizes[name][0] for name in order) + _GAP
    highest = max(sizes[name][1] for name in order) + gap
    wide = columns or max(1, round((len(order) * highest / widest * 1.4) ** 0.5))
    centres: dict[str, Point] = {}
    for place, name in enumerate(order):
        row, column = divmod(place, wide)
        column = wide - 1 - column if row % 2 else column
        centres[name] = ((column + 0.5) * widest - _GAP / 2, (row + 0.5) * highest - gap / 2)
    rows = -(-len(order) // wide)
    return Block(centres, wide * widest - _GAP, rows * highest - gap)
