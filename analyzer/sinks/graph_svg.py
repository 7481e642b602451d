"""The wait-for graph as a picture: SVG that needs nothing else, laid out by us, light or dark as its reader likes.

Shapes tell what an actor is, as in `graph_export.py`; README.md says how it is laid out and what is left out where it
would be too large.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from unicodedata import east_asian_width

from msgspec import Struct

from analyzer.sinks.bundles import bundled
from analyzer.sinks.console import harmless
from analyzer.sinks.graph_export import Arrow, Drawing, Node, Role
from analyzer.sinks.layout import Layout, islands, layout
from analyzer.sinks.layout_block import Point, Size

NODES_MAX = 200
"""Actors drawn: more make no picture. The largest island comes first, and in it those at fault."""

ARROWS_MAX = 800
_LABELS_MAX = 24
"""Arrows that say what they are about; beyond it only their titles do."""

_FAINT_FROM = 60
"""Arrows from which on all but those of witness cycles are drawn faint."""

_MARGIN = 24.0
_HEIGHT = 46.0
_CHAR, _SMALL_CHAR = 7.7, 6.2
_PADDING = 16.0
_WIDEST = 34
"""Characters of a name; a longer one is cut in the middle, and whole in its title."""

_NOTE = 22.0
_NOT_XML = dict.fromkeys((0xFFFE, 0xFFFF, *range(0xD800, 0xE000)), "�")
_NOBODY = "Nobody is stuck; --all draws those who wait as well."

ROLE_ORDER: tuple[Role, ...] = ("core", "looping", "unsatisfiable", "behind", "live", "running")

MEANINGS: Mapping[Role, str] = {
    "core": "in a knot",
    "looping": "loops",
    "unsatisfiable": "can never be met",
    "behind": "stuck behind",
    "live": "waits, will go on",
    "running": "runs",
}


class _Paint(Struct, frozen=True):
    """Fill, outline, and ink of a role: for light paper, then for dark."""

    fill: str
    line: str
    dark_fill: str
    dark_line: str


PAINTS: Mapping[Role, _Paint] = {
    "core": _Paint("#fde8e6", "#c22f2f", "#45201f", "#ff7b72"),
    "looping": _Paint("#e6ecfe", "#3b5bdb", "#1e2a4d", "#8ea6ff"),
    "unsatisfiable": _Paint("#fdf0d9", "#a8650b", "#40300f", "#f0b352"),
    "behind": _Paint("#eef0f3", "#6b7480", "#272c33", "#9aa4b1"),
    "live": _Paint("#ffffff", "#2b8a5b", "#16201b", "#56c596"),
    "running": _Paint("#e5f6ec", "#2b8a5b", "#183226", "#56c596"),
}


def graph_svg(drawing: Drawing) -> str:
    """The drawing as a file of its own: with background, legend, and a word about what was left out."""
    shown, left_out = bounded(bundled(harmless(drawing))[0])
    if not shown.nodes:
        return _file((340.0, 60.0), [_note(_NOBODY, 170, 36, "middle")])
    spread = spread_of(shown)
    width, height = max(spread.width, 300.0), spread.height
    notes = [*([_left_out(left_out)] if left_out else [])]
    legend, legend_height = _legend({node.role for node in shown.nodes}, width, height + 34)
    body = [*_body(shown, spread), *legend]
    bottom = height + 34 + legend_height
    body += [_note(text, 0, bottom + _NOTE * (place + 0.6), "start") for place, text in enumerate(notes)]
    return _file((width + 2 * _MARGIN, bottom + _NOTE * len(notes) + 2 * _MARGIN - 12), [_shifted(body)])


def graph_part(drawing: Drawing, spread: Layout) -> str:
    """The drawing for a page that has colours, legend and words of its own."""
    size = (spread.width + 2 * _MARGIN, spread.height + 2 * _MARGIN)
    box = f"0 0 {_number(size[0])} {_number(size[1])}"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wait-for" viewBox="{box}" width="{_number(size[0])}" '
        f'height="{_number(size[1])}" role="img" aria-label="who waits for whom">'
    )
    lines = [
        opening,
        _heads(),
        _shifted(list(_body(drawing, spread))),
        "</svg>",
    ]
    return "\n".join(lines)


def bounded(drawing: Drawing, nodes_max: int = NODES_MAX, arrows_max: int = ARROWS_MAX) -> tuple[Drawing, int]:
    """The drawing, or as much of it as a picture holds, and how many actors were left out."""
    if len(drawing.nodes) <= nodes_max and len(drawing.arrows) <= arrows_max:
        return drawing, 0
    roles = {node.actor: node.role for node in drawing.nodes}
    kept: list[str] = []
    for island in islands(list(roles), [(arrow.waiter, arrow.holder) for arrow in drawing.arrows]):
        first = sorted(island, key=lambda actor: (ROLE_ORDER.index(roles[actor]), actor))
        kept += first[: nodes_max - len(kept)]
    inside = frozenset(kept)
    arrows = [arrow for arrow in drawing.arrows if arrow.waiter in inside and arrow.holder in inside]
    arrows.sort(key=lambda arrow: (ROLE_ORDER.index(roles[arrow.waiter]), arrow.waiter, arrow.holder))
    return Drawing(
        nodes=tuple(node for node in drawing.nodes if node.actor in inside),
        arrows=tuple(sorted(arrows[:arrows_max], key=lambda arrow: (arrow.waiter, arrow.holder))),
        rings=drawing.rings,
    ), sum(node.count for node in drawing.nodes if node.actor not in inside)


def spread_of(drawing: Drawing) -> Layout:
    """Where everything stands."""
    sizes = {node.actor: size_of(node) for node in drawing.nodes}
    longest = max((len(shortened(arrow.label)) for arrow in drawing.arrows), default=0)
    beside = longest * _SMALL_CHAR if len(drawing.arrows) <= _LABELS_MAX else 0.0
    return layout(sizes, [(arrow.waiter, arrow.holder) for arrow in drawing.arrows], drawing.rings, beside)


def parts_of(actor: str) -> tuple[str, str]:
    """The name of an actor, and what goes before it: its kind and its scope."""
    kind, _, rest = actor.partition("/")
    scope, _, name = rest.rpartition("/")
    return (name or actor), " · ".join(part for part in (kind, scope) if part and name)


def shortened(text: str, most: int = _WIDEST) -> str:
    """The text, without its middle if it is long."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[len(text) - (most - most // 2 - 1) :]}"


def label_of(node: Node) -> tuple[str, str]:
    """What its box says: the name, and below it kind and scope."""
    name, before = parts_of(node.actor)
    if node.count > 1:
        return f"{shortened(name, _WIDEST // 2)} and {node.count - 1:,} more", shortened(before)
    return shortened(name), shortened(before)


def size_of(node: Node) -> Size:
    """Width and height of its box."""
    name, before = label_of(node)
    wide = max(_wide(name) * _CHAR, _wide(before) * _SMALL_CHAR)
    return max(84.0, wide + 2 * _PADDING), _HEIGHT


def _wide(text: str) -> int:
    """Columns, since signs of East Asia are twice as wide."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _body(drawing: Drawing, spread: Layout) -> Iterator[str]:
    roles = {node.actor: node.role for node in drawing.nodes}
    witness = {pair for ring in drawing.rings for pair in pairwise([*ring, ring[0]])}
    paths = [(arrow, _path(arrow, spread)) for arrow in drawing.arrows]
    labelled = len(paths) <= _LABELS_MAX
    crowded = len(paths) > _FAINT_FROM
    for arrow, (path, _, _) in paths:
        within = spread.blocks[arrow.waiter] == spread.blocks[arrow.holder]
        kind = f"arrow {roles[arrow.waiter]}{' within' if within else ''}"
        line = PAINTS[roles[arrow.waiter]].line if within else "#8a93a0"
        looks = f'stroke="{line}" stroke-width="{2 if within else 1.4}"'
        if crowded and (arrow.waiter, arrow.holder) not in witness:
            looks += ' opacity="0.35"'
        if arrow.soft:
            looks += ' stroke-dasharray="6 4"'
        yield (
            f'<path class="{kind}" d="{path}" fill="none" {looks} marker-end="url(#{"heavy" if within else "light"})">'
            f"<title>{_text(_said(arrow))}</title></path>"
        )
    if labelled:
        for arrow, (_, (x, y), anchor) in paths:
            if arrow.label:
                yield (
                    f'<text class="said" x="{_number(x)}" y="{_number(y + 4)}" text-anchor="{anchor}" font-size="11" '
                    f'fill="#4a5360" stroke="#ffffff" stroke-width="4" paint-order="stroke" stroke-linejoin="round">'
                    f"{_text(shortened(arrow.label))}</text>"
                )
    for node in drawing.nodes:
        yield _node(node, spread.centres[node.actor])


def _said(arrow: Arrow) -> str:
    over = f": {arrow.label}" if arrow.label else ""
    return f"{arrow.waiter} waits for {arrow.holder}{over}"


def _node(node: Node, centre: Point) -> str:
    name, before = label_of(node)
    width, height = size_of(node)
    x, y = centre
    paint = PAINTS[node.role]
    ink = f'fill="{paint.fill}" stroke="{paint.line}"'
    left, top = x - width / 2, y - height / 2
    shape = _shape(node.role, (left, top), (width, height), ink)
    if node.count > 1:  # a pile of boxes
        shape = _shape(node.role, (left + 5, top + 5), (width, height), ink) + shape
    about = f"{node.actor}{f' and {node.count - 1:,} more' if node.count > 1 else ''}: {MEANINGS[node.role]}"
    up = y - 3 if before else y + 5
    small = (
        f'<text class="scope" x="{_number(x)}" y="{_number(y + 14)}" text-anchor="middle" font-size="11" '
        f'fill="#5b6470">{_text(before)}</text>'
        if before
        else ""
    )
    return (
        f'<g class="node {node.role}"><title>{_text(about)}</title>{shape}'
        f'<text class="name" x="{_number(x)}" y="{_number(up)}" text-anchor="middle" font-size="13" font-weight="600" '
        f'fill="#1c2127">{_text(name)}</text>{small}</g>'
    )


def _shape(role: Role, begin: Point, size: Size, ink: str) -> str:
    """The outline of a role, so that it can be told in black and white."""
    (left, top), (width, height) = begin, size
    box = f'x="{_number(left)}" y="{_number(top)}" width="{_number(width)}" height="{_number(height)}"'
    match role:
        case "core":
            gap, corner = (3.5, 7) if height > 20 else (2.5, 4)
            inner = (
                f'x="{_number(left + gap)}" y="{_number(top + gap)}" width="{_number(width - 2 * gap)}" '
                f'height="{_number(height - 2 * gap)}"'
            )
            return (
                f'<rect class="shape" {box} rx="{corner}" {ink} stroke-width="2.2"/>'
                f'<rect class="inner" {inner} rx="{corner - 2}" {ink} stroke-width="0.8"/>'
            )
        case "unsatisfiable":
            cut, right, bottom = min(11.0, height / 3), left + width, top + height
            corners = (
                (left + cut, top), (right - cut, top), (right, top + cut), (right, bottom - cut),
                (right - cut, bottom), (left + cut, bottom), (left, bottom - cut), (left, top + cut),
            )  # fmt: skip
            points = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
            return f'<polygon class="shape" points="{points}" {ink} stroke-width="2"/>'
        case "looping":
            return f'<rect class="shape" {box} rx="7" {ink} stroke-width="2.2" stroke-dasharray="7 3"/>'
        case "behind":
            return f'<rect class="shape" {box} rx="2" {ink} stroke-width="1.3"/>'
        case "live":
            return f'<rect class="shape" {box} rx="12" {ink} stroke-width="1.3"/>'
        case "running":
            return f'<rect class="shape" {box} rx="{_number(height / 2)}" {ink} stroke-width="1.3"/>'


def _path(arrow: Arrow, spread: Layout) -> tuple[str, Point, str]:
    """The way of an arrow from border to border, where its label stands, and which end of it."""
    here, there = spread.centres[arrow.waiter], spread.centres[arrow.holder]
    if arrow.waiter == arrow.holder:
        return _loop(here, spread.sizes[arrow.waiter])
    if spread.blocks[arrow.waiter] == spread.blocks[arrow.holder]:
        return _bow(here, there, spread.sizes[arrow.waiter], spread.sizes[arrow.holder])
    begin = (here[0] - spread.sizes[arrow.waiter][0] / 2, here[1])
    end = (there[0] + spread.sizes[arrow.holder][0] / 2 + 2, there[1])
    points = [begin, *spread.lanes.get((arrow.waiter, arrow.holder), ()), end]
    pieces = [f"M{_pair(begin)}"]
    for (x, y), (next_x, next_y) in pairwise(points):
        half = (x + next_x) / 2
        pieces.append(f"C{_pair((half, y))} {_pair((half, next_y))} {_pair((next_x, next_y))}")
    first, last = points[-2:]
    return "".join(pieces), ((first[0] + last[0]) / 2, (first[1] + last[1]) / 2), "middle"


def _bow(here: Point, there: Point, size: Size, other: Size) -> tuple[str, Point, str]:
    """Bent to its left, so that two arrows to and fro do not lie on each other; the label on its outer side."""
    right, down = there[0] - here[0], there[1] - here[1]
    bent = ((here[0] + there[0]) / 2 - down * 0.22, (here[1] + there[1]) / 2 + right * 0.22)
    begin, end = _border(here, bent, size), _border(there, bent, (other[0] + 5, other[1] + 5))
    x, y = (0.25 * begin[axis] + 0.5 * bent[axis] + 0.25 * end[axis] for axis in (0, 1))
    path = f"M{_pair(begin)}Q{_pair(bent)} {_pair(end)}"
    if abs(down) < abs(right):
        return path, (x, y), "middle"
    return (path, (x + 6, y), "start") if down < 0 else (path, (x - 6, y), "end")


def _loop(centre: Point, size: Size) -> tuple[str, Point, str]:
    """Out at the top and in again beside it."""
    x, top = centre[0], centre[1] - size[1] / 2
    path = f"M{_pair((x - 14, top))}C{_pair((x - 26, top - 34))} {_pair((x + 26, top - 34))} {_pair((x + 14, top - 2))}"
    return path, (x, top - 30), "middle"


def _border(centre: Point, towards: Point, size: Size) -> Point:
    """Where the line from the centre towards a point leaves the box."""
    right, down = towards[0] - centre[0], towards[1] - centre[1]
    reach = min(
        size[0] / 2 / abs(right) if right else float("inf"), size[1] / 2 / abs(down) if down else float("inf"), 1.0
    )
    return centre[0] + right * reach, centre[1] + down * reach


def _legend(roles: set[Role], width: float, top: float) -> tuple[list[str], float]:
    """What the shapes mean, in rows; and how high that is."""
    lines: list[str] = []
    x, y = 0.0, top
    for role in ROLE_ORDER:
        if role in roles:
            words = MEANINGS[role]
            long = 34 + len(words) * _SMALL_CHAR + 22
            if x > 0 and x + long > width:
                x, y = 0.0, y + _NOTE
            paint = PAINTS[role]
            shape = _shape(role, (x, y), (26, 14), f'fill="{paint.fill}" stroke="{paint.line}"')
            lines.append(f'<g class="node {role}">{shape}</g>{_note(words, x + 34, y + 11, "start")}')
            x += long
    return lines, y - top + _NOTE


def _left_out(count: int) -> str:
    return f"{count:,} more {'actor is' if count == 1 else 'actors are'} not drawn (--format json has all)."


def _note(words: str, x: float, y: float, anchor: str) -> str:
    return (
        f'<text class="note" x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}" font-size="12" '
        f'fill="#5b6470">{_text(words)}</text>'
    )


def _file(size: Size, body: Sequence[str]) -> str:
    width, height = map(_number, size)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="system-ui, Helvetica, Arial, sans-serif">'
    )
    return "\n".join(
        (
            opening,
            f"<style>{_dark_rules()}</style>",
            _heads(),
            f'<rect class="paper" width="{width}" height="{height}" fill="#ffffff"/>',
            *body,
            "</svg>",
            "",
        )
    )


def _dark_rules() -> str:
    """Colours for those who like it dark."""
    rules = [
        ".paper{fill:#14171b}.name{fill:#eef1f4}.scope,.note{fill:#a7b0bb}.said{fill:#c6ced8;stroke:#14171b}",
        ".arrow{stroke:#7d8794}#light path{fill:#7d8794}",
    ]
    for role, paint in PAINTS.items():
        rules.append(f".node.{role} .shape,.node.{role} .inner{{fill:{paint.dark_fill};stroke:{paint.dark_line}}}")
        rules.append(f".arrow.within.{role}{{stroke:{paint.dark_line}}}")
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _heads() -> str:
    """Arrow heads; the heavy one takes the colour of its line where the reader's program can."""
    shape = 'viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" orient="auto"'
    return (
        f'<defs><marker id="light" {shape} markerWidth="9" markerHeight="9"><path d="M0 0L10 5L0 10z" fill="#8a93a0"/>'
        f'</marker><marker id="heavy" {shape} markerWidth="12" markerHeight="12">'
        '<path d="M0 0L10 5L0 10z" fill="#c22f2f"/></marker></defs>'
    )


def _shifted(lines: Sequence[str]) -> str:
    return "\n".join((f'<g transform="translate({_number(_MARGIN)} {_number(_MARGIN)})">', *lines, "</g>"))


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """At most one digit after the point: the same bytes on every machine."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _text(words: str) -> str:
    return escape(words.translate(_NOT_XML))
