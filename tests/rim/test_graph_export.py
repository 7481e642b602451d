"""The drawing: which actors and arrows it has, and that each format's own reader would accept it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

from analyzer.run import replay
from analyzer.sinks.graph_export import Arrow, Drawing, Node, drawing_of, rendered
from tests.rim.stories import written

ODD = Drawing(
    nodes=(Node('pod/x/"quoted" \\n', "core"), Node("pod/x/<b>&|[]{}()#;", "behind")),
    arrows=(Arrow('pod/x/"quoted" \\n', "pod/x/<b>&|[]{}()#;", '4 "gpu"|x'),),
)

TOKEN = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][\w]*)|(?P<mark>->|[{}\[\]=,;]))')


def drawn(tmp_path: Path, story: str, *, everything: bool) -> Drawing:
    done = replay([str(written(tmp_path, story))])
    return drawing_of(done.engine.view().diagnosis, done.report, everything=everything)


def test_the_stuck_part_has_roles_and_amounts(tmp_path: Path) -> None:
    drawing = drawn(tmp_path, "knot", everything=False)
    assert {node.actor: node.role for node in drawing.nodes} == {
        "gang/red/a": "core",
        "gang/blue/b": "core",
        "pod/green/c": "behind",
        "gang/green/big": "unsatisfiable",
        "job/etl/dead": "unsatisfiable",
        "job/etl/next": "behind",
    }
    arrows = {(arrow.waiter, arrow.holder): arrow.label for arrow in drawing.arrows}
    assert arrows[("gang/red/a", "gang/blue/b")] == "8 gpu"
    assert arrows[("job/etl/next", "job/etl/dead")] == "1 lock"


def test_all_of_it_shows_who_will_go_on_and_for_whom_they_wait(tmp_path: Path) -> None:
    assert drawn(tmp_path, "queue", everything=False) == Drawing((), ())
    (tmp_path / "again").mkdir()
    drawing = drawn(tmp_path / "again", "queue", everything=True)
    assert [(node.actor, node.role) for node in drawing.nodes] == [
        ("gang/blue/b", "live"),
        ("gang/blue/c", "live"),
        ("gang/red/a", "running"),
    ]
    assert [(arrow.waiter, arrow.holder) for arrow in drawing.arrows] == [
        ("gang/blue/b", "gang/red/a"),
        ("gang/blue/c", "gang/red/a"),
    ]


def tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text.rstrip()):
        match = TOKEN.match(text, position)
        assert match, f"dot would not read: {text[position : position + 40]!r}"
        position = match.end()
        yield match[0].strip()


def read_dot(text: str) -> tuple[set[str], set[tuple[str, str]]]:
    """Nodes and edges of the grammar that we use: ID [attributes]; ID -> ID [attributes]; ID = ID; and nothing else."""
    stream = list(tokens(text))
    assert stream[:3] == ["digraph", "waits", "{"]
    assert stream[-1] == "}"
    nodes: set[str] = set()
    edges: set[tuple[str, str]] = set()
    for statement in " ".join(stream[3:-1]).split(" ;"):
        words = [match[0] for match in re.finditer(r'"(?:[^"\\]|\\.)*"|\S+', statement)]
        match words:
            case [first, "->", second, *_]:
                edges.add((name(first), name(second)))
            case [first, "[", *_] if first.startswith('"'):
                nodes.add(name(first))
            case _:
                assert not words or words[0] in ("rankdir", "node", "edge", "label"), words
    return nodes, edges


def name(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


@pytest.mark.parametrize("everything", [False, True])
def test_dot_is_read_back_to_the_same_graph(tmp_path: Path, *, everything: bool) -> None:
    for drawing in (drawn(tmp_path, "knot", everything=everything), ODD, Drawing((), ())):
        nodes, edges = read_dot(rendered(drawing, "dot"))
        assert nodes == {node.actor for node in drawing.nodes}
        assert edges == {(arrow.waiter, arrow.holder) for arrow in drawing.arrows}


def test_a_quiet_drawing_says_that_it_is_quiet() -> None:
    for form in ("dot", "mermaid"):
        assert "Nobody is stuck" in rendered(Drawing((), ()), form)


def test_mermaid_has_only_plain_characters_inside_quotes(tmp_path: Path) -> None:
    for drawing in (drawn(tmp_path, "knot", everything=True), ODD):
        head, *lines = rendered(drawing, "mermaid").rstrip("\n").split("\n")
        assert head == "flowchart LR"
        for line in lines:
            for inside in re.findall(r'"([^"]*)"', line):
                assert re.fullmatch(r"(?:[\w \-./:,]|#\d+;)*", inside)
            assert re.fullmatch(
                r'  (?:a\d+(?:\{\{|\[/|\[|\(\[|\()"[^"]*"(?:\}\}|\\\]|\]|\]\)|\))(?::::\w+)?'
                r'|a\d+ -->(?:\|"[^"]*"\|)? a\d+|classDef .*)',
                line,
            )


def test_json_is_the_node_link_form_of_networkx(tmp_path: Path) -> None:
    drawing = drawn(tmp_path, "knot", everything=True)
    graph = networkx.node_link_graph(json.loads(rendered(drawing, "json")), edges="edges")  # type: ignore[call-arg]  # the stubs are older than networkx
    assert set(graph.nodes) == {node.actor for node in drawing.nodes}
    assert set(graph.edges) == {(arrow.waiter, arrow.holder) for arrow in drawing.arrows}
    assert graph.nodes["gang/red/a"]["role"] == "core"
