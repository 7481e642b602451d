"""Where the nodes of a wait-for graph stand: layered, from those at fault on the left to those who queue behind them.

README.md has the idea. Pure geometry: sizes and arrows in, centres and lanes out, the same for the same input.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from analyzer.graph.components import components
from analyzer.sinks.layout_block import Block, Point, Size, block_of

_COLUMN_GAP = 92.0
"""Between columns: room for the arrows and what they say."""

_ROW_GAP = 18.0
_FOLD_GAP = 26.0
"""Between the columns into which one crowded rank is folded."""

_ISLAND_GAP = 56.0
_LANE = 14.0
_LANES_MAX = 400
_SWEEPS = 6
_ASPECT = 1.7
"""Width to height that a crowded drawing aims at: that of a screen."""


class Layout(Struct, frozen=True, kw_only=True):
    """Centres of nodes and, for arrows that pass other columns, the points that they go through. Top left is 0, 0."""

    centres: Mapping[str, Point]
    sizes: Mapping[str, Size]
    lanes: Mapping[tuple[str, str], tuple[Point, ...]]
    blocks: Mapping[str, int]
    """The block of each node: those who wait for each other share one."""

    width: float
    height: float


def islands(names: Sequence[str], arrows: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Nodes that hang together, each island sorted; largest first, then by name."""
    root = {name: name for name in names}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    for waiter, holder in arrows:
        root[find(waiter)] = find(holder)
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(find(name), []).append(name)
    return sorted(found.values(), key=lambda island: (-len(island), island))


def layout(
    sizes: Mapping[str, Size],
    arrows: Sequence[tuple[str, str]],
    rings: Sequence[Sequence[str]] = (),
    beside: float = 0.0,
) -> Layout:
    """Lay out all nodes.

    `rings` are orders in which members of a cycle are to be drawn around it, `beside` the room that the words at an
    arrow take. O((nodes + arrows) log nodes) for each of a few sweeps.
    """
    centres: dict[str, Point] = {}
    lanes: dict[tuple[str, str], tuple[Point, ...]] = {}
    blocks: dict[str, int] = {}
    drawings: list[_Island] = []
    for island in islands(sorted(sizes), arrows):
        inside = frozenset(island)
        mine = sorted({(waiter, holder) for waiter, holder in arrows if waiter in inside})
        drawings.append(_Island({name: sizes[name] for name in island}, mine, rings, beside))
    first = 0
    spots, width, height = _packed([(one.width, one.height) for one in drawings])
    for one, (left, top) in zip(drawings, spots, strict=True):
        blocks |= {name: first + number for name, number in one.block_of.items()}
        first += 1 + max(one.block_of.values())
        centres |= {name: _moved(point, left, top) for name, point in one.centres().items()}
        lanes |= {pair: tuple(_moved(point, left, top) for point in points) for pair, points in one.lanes().items()}
    return Layout(centres=centres, sizes=sizes, lanes=lanes, blocks=blocks, width=width, height=height)


class _Spot(Struct):
    """What stands in a column: a block, or (-1) a lane in which an arrow passes. `y` is its middle."""

    block: int
    width: float
    height: float
    links: list["_Spot"]
    y: float = 0.0
    x: float = 0.0
    right: float = 0.0


class _Island:
    """One island: condensed to blocks, ranked, ordered and placed."""

    def __init__(
        self,
        sizes: Mapping[str, Size],
        arrows: Sequence[tuple[str, str]],
        rings: Sequence[Sequence[str]],
        beside: float,
    ) -> None:
        names = list(sizes)
        index = {name: number for number, name in enumerate(names)}
        targets: list[list[int]] = [[] for _ in names]
        for waiter, holder in arrows:
            targets[index[waiter]].append(index[holder])
        members = [[names[number] for number in component] for component in components(targets)]
        self._blocks: list[Block] = [block_of(group, sizes, arrows, rings, beside) for group in members]
        self.block_of = {name: number for number, group in enumerate(members) for name in group}
        pairs = sorted({(self.block_of[waiter], self.block_of[holder]) for waiter, holder in arrows})
        self._pairs = [(here, there) for here, there in pairs if here != there]
        self._arrows = arrows
        self._spots = [_Spot(number, block.width, block.height, []) for number, block in enumerate(self._blocks)]
        self._passing: dict[tuple[int, int], list[_Spot]] = {}
        columns = self._ranked()
        _order(columns)
        self.width, self.height = self._place(columns)

    def _ranked(self) -> list[list[_Spot]]:
        """Columns by the longest way to somebody who waits for nobody else; arrows that pass a column get a lane."""
        ranks = [0] * len(self._blocks)
        for here, there in self._pairs:  # components come targets first, so what a block points to is settled
            ranks[here] = max(ranks[here], ranks[there] + 1)
        columns: list[list[_Spot]] = [[] for _ in range(max(ranks) + 1)]
        for number, rank in enumerate(ranks):
            columns[rank].append(self._spots[number])
        long = sum(ranks[here] - ranks[there] - 1 for here, there in self._pairs)
        for here, there in self._pairs:
            last = self._spots[there]
            if long <= _LANES_MAX:
                for rank in range(ranks[there] + 1, ranks[here]):
                    lane = _Spot(-1, 0.0, _LANE, [last])
                    last.links.append(lane)
                    columns[rank].append(lane)
                    self._passing.setdefault((here, there), []).append(lane)
                    last = lane
            last.links.append(self._spots[here])
            self._spots[here].links.append(last)
        return columns

    def _place(self, columns: list[list[_Spot]]) -> tuple[float, float]:
        """Coordinates, and the size of the whole. A column much taller than the drawing is wide is folded."""
        area = sum((spot.width + _COLUMN_GAP) * (spot.height + _ROW_GAP) for column in columns for spot in column)
        tallest = max((area / _ASPECT) ** 0.5, *(spot.height for column in columns for spot in column)) * 1.15
        x = 0.0
        for column in columns:
            folded = _folded(column, tallest)
            begin = x
            for part in folded:
                width = max(spot.width for spot in part)
                y = -sum(spot.height + _ROW_GAP for spot in part) / 2
                for spot in part:
                    spot.x, spot.y = x + width / 2, y + spot.height / 2
                    y += spot.height + _ROW_GAP
                x += width + _FOLD_GAP
            x += _COLUMN_GAP - _FOLD_GAP
            for spot in column:
                spot.right = x - _COLUMN_GAP
                if spot.block < 0:
                    spot.x = begin
            if len(folded) == 1:
                _level(column)
        top = min(spot.y - spot.height / 2 for column in columns for spot in column)
        bottom = max(spot.y + spot.height / 2 for column in columns for spot in column)
        for column in columns:
            for spot in column:
                spot.y -= top
        return x - _COLUMN_GAP, bottom - top

    def centres(self) -> dict[str, Point]:
        return {
            name: _moved(point, spot.x - spot.width / 2, spot.y - spot.height / 2)
            for spot in self._spots
            for name, point in self._blocks[spot.block].centres.items()
        }

    def lanes(self) -> dict[tuple[str, str], tuple[Point, ...]]:
        """For each arrow with lanes: where it enters and leaves each column, on its way from the waiter."""
        found = {}
        for waiter, holder in self._arrows:
            passing = self._passing.get((self.block_of[waiter], self.block_of[holder]), [])
            if passing:
                points = [((spot.right, spot.y), (spot.x, spot.y)) for spot in reversed(passing)]
                found[waiter, holder] = tuple(point for pair in points for point in pair)
        return found


def _order(columns: list[list[_Spot]]) -> None:
    """Fewer crossings: each column by the mean place of its neighbours, to and fro (Sugiyama et al. 1981)."""
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            for place, spot in enumerate(column):
                spot.y = place - len(column) / 2
        for column in columns[1:] if sweep % 2 == 0 else columns[-2::-1]:
            wanted = {id(spot): _mean([link.y for link in spot.links], spot.y) for spot in column}
            column.sort(key=lambda spot: wanted[id(spot)])
            for place, spot in enumerate(column):
                spot.y = place - len(column) / 2


def _level(column: list[_Spot]) -> None:
    """Each spot beside the mean of those to its left that it is linked to, in order and without overlap."""
    wanted = [_mean([link.y for link in spot.links if link.x < spot.x], spot.y) for spot in column]
    placed: list[float] = []
    bottom = float("-inf")
    for spot, y in zip(column, wanted, strict=True):
        middle = max(y, bottom + spot.height / 2)
        placed.append(middle)
        bottom = middle + spot.height / 2 + _ROW_GAP
    shift = _mean([y - at for y, at in zip(wanted, placed, strict=True)], 0.0)
    for spot, y in zip(column, placed, strict=True):
        spot.y = y + shift


def _folded(column: list[_Spot], tallest: float) -> list[list[_Spot]]:
    """The column, or several beside each other that are about equally tall."""
    whole = sum(spot.height + _ROW_GAP for spot in column)
    parts = max(1, round(whole / tallest)) if whole > 1.5 * tallest else 1
    most = -(-len(column) // parts)
    return [column[begin : begin + most] for begin in range(0, len(column), most)]


def _packed(sizes: Sequence[Size]) -> tuple[list[Point], float, float]:
    """Islands in rows, in the order given, about as wide as a screen is. Left tops, and the size of the whole."""
    area = sum((width + _ISLAND_GAP) * (height + _ISLAND_GAP) for width, height in sizes)
    widest = max([(area * _ASPECT) ** 0.5, *(width for width, _ in sizes)], default=0.0)
    spots: list[Point] = []
    x = y = row = far = 0.0
    for width, height in sizes:
        if x > 0 and x + width > widest:
            x, y, row = 0.0, y + row + _ISLAND_GAP, 0.0
        spots.append((x, y))
        far = max(far, x + width)
        x += width + _ISLAND_GAP
        row = max(row, height)
    return spots, far, y + row


def _moved(point: Point, right: float, down: float) -> Point:
    return point[0] + right, point[1] + down


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise
