"""The wait-for graph as dot, Mermaid or JSON, or SVG by `graph_svg.py`.

Pure text; shapes tell what an actor is, so it reads in black and white.

core             double octagon, bold      in a ring that nothing outside can open
looping          bold, dashed              loses what it has and begins anew, over and over
unsatisfiable    octagon                   its own request can never be met
behind           box                       stuck behind one of these
live             rounded box               waits, and will go on
running          ellipse                   does not wait
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from analyzer.codec.report import Report
from analyzer.graph.cores import Diagnosis
from analyzer.model.findings import Hardness, Verdict
from analyzer.model.ids import ResourceId, kind_of

Role = Literal["core", "looping", "unsatisfiable", "behind", "live", "running"]
Format = Literal["dot", "mermaid", "json", "svg"]

SCHEMA = "knotwatch.graph/v1"

_EMPTY = "Nobody is stuck; --all draws those who wait as well."


class Node(Struct, frozen=True):
    """An actor in the drawing; `count` above one: it stands for so many who wait alike."""

    actor: str
    role: Role
    count: int = 1


class Arrow(Struct, frozen=True):
    """Waiter to holder; the label says over what ("43 node_slot"), empty where it waits for the actor itself.

    `soft`: it will dissolve by itself.
    """

    waiter: str
    holder: str
    label: str
    soft: bool = False


class Drawing(Struct, frozen=True):
    """The graph as drawn: sorted, each actor and each arrow once. `rings`: witness cycles, to be drawn around."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    rings: tuple[tuple[str, ...], ...] = ()
    schema: str = SCHEMA


def drawing_of(diagnosis: Diagnosis, report: Report, *, everything: bool) -> Drawing:
    """The stuck part and those who loop; with `everything`, also those who will go on, and whom they wait for."""
    roles: dict[str, Role] = {}
    if everything:
        for row in report.waiting:
            roles |= {holder: "running" for holder in row.first_to_finish if holder not in roles}
        roles |= {row.actor: "live" for row in report.waiting}
    loops = [row for row in report.findings if row.state == "open" and row.verdict is Verdict.LIVELOCK]
    for loop in loops:
        roles |= dict.fromkeys(loop.blocked_behind, "behind")
        roles |= dict.fromkeys(loop.members, "looping")
    roles |= dict.fromkeys(diagnosis.stuck, "behind")
    roles |= dict.fromkeys(diagnosis.unsatisfiable, "unsatisfiable")
    roles |= {actor: "core" for core in diagnosis.cores for actor in core}
    labels: dict[tuple[str, str], list[str]] = {}
    for edge in diagnosis.edges:
        what = "" if edge.resource is None else f"{edge.amount} {kind_of(edge.resource)}"
        labels.setdefault((edge.waiter, edge.holder), []).append(what)
    for loop in loops:
        for step in loop.edges:
            what = "" if step.resource is None else f"{step.amount} {kind_of(ResourceId(step.resource))}"
            roles.setdefault(step.holder, "running")
            roles.setdefault(step.waiter, "behind")
            labels.setdefault((step.waiter, step.holder), []).append(what)
    if everything:
        for row in report.waiting:
            for holder in row.first_to_finish:
                labels.setdefault((row.actor, holder), [""])
    still_open = [row for row in report.findings if row.state == "open"]
    soft = {(edge.waiter, edge.holder) for row in still_open for edge in row.edges if edge.hardness is Hardness.SOFT}
    return Drawing(
        nodes=tuple(Node(actor, roles[actor]) for actor in sorted(roles)),
        arrows=tuple(Arrow(*pair, _label(labels[pair]), soft=pair in soft) for pair in sorted(labels)),
        rings=tuple(row.cycle for row in still_open if row.cycle),
    )


def rendered(drawing: Drawing, form: Format) -> str:
    """The drawing in one of the forms, ending with one line end."""
    match form:
        case "dot":
            return _dot(drawing)
        case "mermaid":
            return _mermaid(drawing)
        case "svg":
            from analyzer.sinks.graph_svg import graph_svg

            return graph_svg(drawing)
        case "json":
            return msgspec.json.format(msgspec.json.encode(_json_form(drawing)), indent=2).decode() + "\n"


_DOT_STYLES: Mapping[Role, str] = {
    "core": 'shape=doubleoctagon, style="bold,filled", fillcolor="#f6c7c3"',
    "looping": 'shape=box, style="bold,dashed,filled", fillcolor="#dbe4ff"',
    "unsatisfiable": 'shape=octagon, style="filled", fillcolor="#f9dfb8"',
    "behind": 'shape=box, style="filled", fillcolor="#eeeeee"',
    "live": 'shape=box, style="rounded"',
    "running": "shape=ellipse",
}
_MERMAID_SHAPES: Mapping[Role, tuple[str, str]] = {
    "core": ("{{", "}}"),
    "looping": ("[[", "]]"),
    "unsatisfiable": ("[/", "\\]"),
    "behind": ("[", "]"),
    "live": ("(", ")"),
    "running": ("([", "])"),
}
_MERMAID_CLASSES: Mapping[Role, str] = {
    "core": "fill:#f6c7c3,stroke:#a4262c,stroke-width:3px,color:#000",
    "looping": "fill:#dbe4ff,stroke:#364fc7,stroke-width:3px,stroke-dasharray:5 3,color:#000",
    "unsatisfiable": "fill:#f9dfb8,stroke:#a15c00,stroke-width:2px,color:#000",
    "behind": "fill:#eeeeee,stroke:#666666,color:#000",
}


def _dot(drawing: Drawing) -> str:
    lines = ["digraph waits {", "  rankdir=LR;", '  node [fontname="Helvetica"];', '  edge [fontname="Helvetica"];']
    if not drawing.nodes:
        lines.append(f"  label={_quoted(_EMPTY)};")
    lines += [f"  {_quoted(node.actor)} [{_DOT_STYLES[node.role]}];" for node in drawing.nodes]
    for arrow in drawing.arrows:
        looks = [*([f"label={_quoted(arrow.label)}"] if arrow.label else []), *(["style=dashed"] if arrow.soft else [])]
        label = f" [{', '.join(looks)}]" if looks else ""
        lines.append(f"  {_quoted(arrow.waiter)} -> {_quoted(arrow.holder)}{label};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    r"""A dot string. A backslash is doubled, since dot reads \n and \l inside quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mermaid(drawing: Drawing) -> str:
    keys = {node.actor: f"a{number}" for number, node in enumerate(drawing.nodes, 1)}
    lines = ["flowchart LR"]
    if not drawing.nodes:
        lines.append(f'  nobody["{_entities(_EMPTY)}"]')
    for node in drawing.nodes:
        opening, closing = _MERMAID_SHAPES[node.role]
        styled = f":::{node.role}" if node.role in _MERMAID_CLASSES else ""
        lines.append(f'  {keys[node.actor]}{opening}"{_entities(node.actor)}"{closing}{styled}')
    for arrow in drawing.arrows:
        label = f'|"{_entities(arrow.label)}"|' if arrow.label else ""
        lines.append(f"  {keys[arrow.waiter]} -->{label} {keys[arrow.holder]}")
    roles = {node.role for node in drawing.nodes}
    lines += [f"  classDef {role} {_MERMAID_CLASSES[role]}" for role in _MERMAID_CLASSES if role in roles]
    return "\n".join([*lines, ""])


def _entities(text: str) -> str:
    """Text inside Mermaid's quotes: what it could take for syntax becomes an entity of its own kind (#35;)."""
    return "".join(char if char.isalnum() or char in " -_./:," else f"#{ord(char)};" for char in text)


def _json_form(drawing: Drawing) -> dict[str, object]:
    """Node-link form, as networkx and d3 read it."""
    return {
        "schema": drawing.schema,
        "directed": True,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": node.actor, "role": node.role} for node in drawing.nodes],
        "edges": [{"source": arrow.waiter, "target": arrow.holder, "label": arrow.label} for arrow in drawing.arrows],
    }


def _label(parts: Sequence[str]) -> str:
    """Amounts of one kind add up: an actor that holds 4 cards on each of two nodes has 8 of what is needed."""
    sums: dict[str, int] = {}
    for part in _said(parts):
        amount, _, kind = part.partition(" ")
        sums[kind] = sums.get(kind, 0) + int(amount)
    return ", ".join(f"{sums[kind]} {kind}" for kind in sorted(sums))


def _said(parts: Iterable[str]) -> list[str]:
    return [part for part in parts if part]
