"""The wait-for graph of a page: what stands where, and what is known about each actor.

The static picture and the one that moves show the same.
"""

from collections.abc import Mapping

from msgspec import Struct, json

from analyzer.codec.report import FindingRow, Report
from analyzer.codec.times import format_time
from analyzer.explain import words
from analyzer.explain.needs import needs
from analyzer.model.events import ActorObserved, Lifetime
from analyzer.model.ids import ActorId
from analyzer.sinks.bundles import bundled
from analyzer.sinks.console import harmless
from analyzer.sinks.graph_export import Node, Role, drawing_of
from analyzer.sinks.graph_svg import MEANINGS, ROLE_ORDER, bounded, graph_part, label_of, spread_of
from analyzer.sinks.layout import Layout
from analyzer.sinks.layout_block import Point
from analyzer.sinks.phrases import clock
from analyzer.sinks.sentences import title
from analyzer.state.view import View

_NODES_MAX = 500
_ARROWS_MAX = 1500
_SAID_MAX = 600

_LIFETIMES: Mapping[Lifetime, str] = {
    Lifetime.FINITE: "ends by itself",
    Lifetime.ENDLESS: "endless",
    Lifetime.UNKNOWN: "not known; taken for finite",
    Lifetime.DATED: "ends by its deadline at the latest",
}


class NodeShown(Struct, frozen=True, kw_only=True):
    """An actor: where it stands, and what the panel says about it. Empty texts are left out of the panel.

    `alike`: for whom else it stands.
    """

    id: str
    role: Role
    meaning: str
    name: str
    scope: str
    x: float
    y: float
    width: float
    height: float
    holds: str
    needs: str
    since: str
    said: str
    lifetime: str
    findings: tuple[str, ...]
    alike: tuple[str, ...]


class EdgeShown(Struct, frozen=True, kw_only=True):
    """An arrow from who waits to who holds. `within`: both wait for each other, directly or not."""

    waiter: str
    holder: str
    label: str
    soft: bool
    within: bool
    lane: tuple[Point, ...]


class FindingMark(Struct, frozen=True, kw_only=True):
    """What to highlight for a finding: its members, and the witness cycle if it has one."""

    id: str
    title: str
    members: tuple[str, ...]
    cycle: tuple[str, ...]


class Picture(Struct, frozen=True, kw_only=True):
    """All that a page shows of the graph. `svg` is markup, everything else text. `left_out`: actors not drawn.

    `stuck`: who cannot go on is drawn, not merely who waits. `soft`: some of the arrows will dissolve by themselves.
    """

    nodes: tuple[NodeShown, ...]
    edges: tuple[EdgeShown, ...]
    findings: tuple[FindingMark, ...]
    legend: tuple[tuple[Role, str], ...]
    svg: str
    left_out: int
    stuck: bool
    soft: bool

    @property
    def drawn(self) -> int:
        """How many actors are in it."""
        return sum(1 + len(node.alike) for node in self.nodes)

    def as_json(self) -> str:
        """Nodes, edges and findings for the script of the page; safe inside a script element."""
        shown = {"nodes": self.nodes, "edges": self.edges, "findings": self.findings}
        text = json.encode(shown).decode()
        for sign in "<>&\u2028\u2029":
            text = text.replace(sign, f"\\u{ord(sign):04x}")
        return text


def picture_of(report: Report, view: View) -> Picture | None:
    """The stuck part; where nobody is stuck, those who wait and for whom; None where nobody waits."""
    drawing = drawing_of(view.diagnosis, report, everything=False)
    stuck = bool(drawing.nodes)
    if not stuck:
        drawing = drawing_of(view.diagnosis, report, everything=True)
    if not drawing.nodes:
        return None
    drawing, bundles = bundled(drawing)
    shown, left_out = bounded(drawing, _NODES_MAX, _ARROWS_MAX)
    spread = spread_of(shown)
    marks = [row for row in report.findings if row.state == "open"]
    named: dict[str, list[str]] = {}
    for row in marks:
        for actor in (*row.members, *row.blocked_behind):
            named.setdefault(actor, []).append(row.id)
    nodes = tuple(_node(node, spread, view, named, bundles.get(node.actor, ())[1:]) for node in shown.nodes)
    edges = tuple(
        EdgeShown(
            waiter=arrow.waiter,
            holder=arrow.holder,
            label=arrow.label,
            soft=arrow.soft,
            within=spread.blocks[arrow.waiter] == spread.blocks[arrow.holder],
            lane=spread.lanes.get((arrow.waiter, arrow.holder), ()),
        )
        for arrow in shown.arrows
    )
    roles = {node.role for node in shown.nodes}
    picture = Picture(
        nodes=nodes,
        edges=edges,
        findings=tuple(_mark(row) for row in marks if row.members),
        legend=tuple((role, MEANINGS[role]) for role in ROLE_ORDER if role in roles),
        svg=graph_part(harmless(shown), spread),
        left_out=left_out,
        stuck=stuck,
        soft=any(edge.soft for edge in edges),
    )
    return harmless(picture)


def _node(node: Node, spread: Layout, view: View, named: Mapping[str, list[str]], alike: tuple[str, ...]) -> NodeShown:
    actor = node.actor
    name, scope = label_of(node)
    width, height = spread.sizes[actor]
    centre = spread.centres[actor]
    known = view.system.actors.get(ActorId(actor))
    wait = None if known is None else known.wait
    return NodeShown(
        id=actor,
        role=node.role,
        meaning=MEANINGS[node.role],
        name=name,
        scope=scope,
        x=round(centre[0], 1),
        y=round(centre[1], 1),
        width=round(width, 1),
        height=height,
        holds="" if known is None else words.held(known.holds),
        needs="" if wait is None else needs(wait.request, ActorId(actor)),
        since="" if wait is None else _since(wait.since_ns, view),
        said="" if wait is None else _cut(wait.said),
        lifetime="" if known is None else _lifetime(known),
        findings=tuple(named.get(actor, ())),
        alike=alike,
    )


def _since(since_ns: int, view: View) -> str:
    if view.now_ns <= 0:
        return "not known"
    return f"{clock(format_time(since_ns))} ({words.span(view.now_ns - since_ns)})"


def _lifetime(known: ActorObserved) -> str:
    made_anew = "; its controller makes it anew" if known.recreated else ""
    return f"{_LIFETIMES[known.lifetime]}{made_anew}"


def _cut(said: str) -> str:
    """The scheduler's own words, as far as a panel holds them."""
    return said if len(said) <= _SAID_MAX else f"{said[:_SAID_MAX]} ..."


def _mark(row: FindingRow) -> FindingMark:
    return FindingMark(id=row.id, title=title(row), members=row.members, cycle=row.cycle)
