"""The drawing as SVG: XML that a reader accepts, every actor and arrow, bounds that are said, and nothing alive."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analyzer.sinks.bundles import bundled
from analyzer.sinks.graph_export import Arrow, Drawing, Node, drawing_of, rendered
from analyzer.sinks.graph_svg import graph_svg, shortened
from tests.html.pages import HOSTILE, QUOTES, hostile, queue, replayed, ring

SVG = "{http://www.w3.org/2000/svg}"


def drawing(folder: Path, facts: str, *, everything: bool = False) -> Drawing:
    done = replayed(folder, facts)
    return drawing_of(done.engine.view().diagnosis, done.report, everything=everything)


def parsed(drawn: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(rendered(drawn, "svg"))  # noqa: S314  our own output


def titles(root: ElementTree.Element, kind: str) -> list[str]:
    found = [each for each in root.iter() if each.get("class", "").startswith(kind)]
    return [title.text or "" for each in found if (title := each.find(f"{SVG}title")) is not None]


def test_every_actor_and_every_arrow_is_there(tmp_path: Path) -> None:
    root = parsed(drawing(tmp_path, ring(3, 2)))
    assert sorted(titles(root, "node")) == [
        "gang/team/train-00: in a knot",
        "gang/team/train-01: in a knot",
        "gang/team/train-02: in a knot",
        "pod/team-0/eval: stuck behind",
        "pod/team-1/eval: stuck behind",
    ]
    assert "gang/team/train-02 waits for gang/team/train-00: 8 gpu" in titles(root, "arrow")
    assert len(titles(root, "arrow")) == 5


def test_all_is_inside_the_picture(tmp_path: Path) -> None:
    for number, facts in enumerate((ring(2), ring(7, 5), ring(30, 3), queue(40))):
        root = parsed(drawing(tmp_path / str(number), facts, everything=True))
        width, height = (float(root.get(side, "0")) for side in ("width", "height"))
        for each in root.iter(f"{SVG}text"):
            assert 0 <= float(each.get("x", "-1")) <= width
            assert 0 <= float(each.get("y", "-1")) <= height


def test_names_that_would_be_markup_are_text(tmp_path: Path) -> None:
    text = rendered(drawing(tmp_path, hostile()), "svg")
    assert HOSTILE not in text
    root = ElementTree.fromstring(text)  # noqa: S314  our own output
    assert f"pod/<b>bold</b>/{QUOTES}: in a knot" in titles(root, "node")
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        "svg", "style", "defs", "marker", "path", "rect", "polygon", "g", "title", "text",
    }  # fmt: skip


def test_signs_that_xml_forbids_do_not_get_in() -> None:
    odd = Drawing(nodes=(Node("pod/x/a\x00\x1b\ufffe\ud800b", "core"),), arrows=())
    ElementTree.fromstring(graph_svg(odd))  # noqa: S314  our own output


def test_it_refers_to_nothing_outside(tmp_path: Path) -> None:
    text = rendered(drawing(tmp_path, ring(3, 2)), "svg")
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"url\(([^)]*)\)", text)
    assert all(place.startswith("#") for place in re.findall(r"url\(([^)]*)\)", text))


def test_nobody_stuck_is_said() -> None:
    assert "Nobody is stuck" in graph_svg(Drawing((), ()))


def test_the_words_of_a_picture_are_few_where_arrows_are_many(tmp_path: Path) -> None:
    assert rendered(drawing(tmp_path, ring(3)), "svg").count('class="said"') == 3
    assert 'class="said"' not in rendered(drawing(tmp_path / "many", ring(20, 20)), "svg")


def test_who_waits_alike_is_one_box_and_who_does_not_is_not(tmp_path: Path) -> None:
    drawn, bundles = bundled(drawing(tmp_path, queue(300), everything=True))
    assert {node.count for node in drawn.nodes} == {1, 30}
    assert sum(node.count for node in drawn.nodes) == 302
    assert all(len({name.rpartition("/")[0] for name in names}) == 1 for names in bundles.values())
    few, none = bundled(drawing(tmp_path / "few", queue(30), everything=True))
    assert (len(few.nodes), none) == (32, {}), "three of each are looked at one by one"


def test_those_at_fault_are_never_put_together() -> None:
    stuck = tuple(Node(f"pod/x/p{number:02d}", "unsatisfiable") for number in range(20))
    arrows = tuple(Arrow(node.actor, "service/web", "8 gpu") for node in stuck)
    drawn, bundles = bundled(Drawing((*stuck, Node("service/web", "running")), arrows))
    assert len(drawn.nodes) == 21
    assert bundles == {}


def test_too_many_are_left_out_those_at_fault_last() -> None:
    large = [Node(f"pod/big/p{number:03d}", "behind") for number in range(300)]
    small = [Node("pod/small/a", "core"), Node("pod/small/b", "core")]
    arrows = [Arrow(node.actor, f"gang/big/g{number % 3}", f"{number} gpu") for number, node in enumerate(large)]
    arrows += [Arrow(f"gang/big/g{number}", f"gang/big/g{(number + 1) % 3}", "1 lock") for number in range(3)]
    arrows += [Arrow("pod/small/a", "pod/small/b", ""), Arrow("pod/small/b", "pod/small/a", "")]
    cores = [Node(f"gang/big/g{number}", "core") for number in range(3)]
    root = parsed(Drawing((*cores, *large, *small), tuple(arrows)))
    drawn = titles(root, "node")
    assert len(drawn) == 200
    assert sum(title.startswith("gang/big/") for title in drawn) == 3
    assert not any("small" in title for title in drawn), "the largest group comes first"
    notes = [each.text or "" for each in root.iter(f"{SVG}text") if each.get("class") == "note"]
    assert "105 more actors are not drawn (--format json has all)." in notes


@pytest.mark.parametrize(
    ("text", "most", "short"), [("abc", 3, "abc"), ("abcdefgh", 5, "ab…gh"), ("abcdef", 4, "ab…f")]
)
def test_a_long_name_loses_its_middle(text: str, most: int, short: str) -> None:
    assert shortened(text, most) == short
