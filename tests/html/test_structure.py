"""What a page consists of, read without a browser."""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from os import environ
from pathlib import Path

import pytest

from analyzer.run import Options
from tests.html.pages import HEAD, HOSTILE, QUOTES, Read, history, hostile, page, queue, ring

EMPTY = f"{HEAD}resources: {{gpu/n1: 8}}\nactors: {{a: {{holds: {{gpu/n1: 8}}}}}}\n"
PAGES = {
    "empty": EMPTY,
    "queue": queue(300),
    "two": ring(2),
    "many": ring(20, 480),
    "hostile": hostile(),
    "history": history(12),
}


@pytest.fixture(scope="module", params=PAGES)
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    return Read(page(tmp_path_factory.mktemp("page"), PAGES[request.param]))


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_nothing_is_fetched_from_anywhere(read: Read) -> None:
    places = [
        value
        for tag, attributes in read.elements
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "data", "poster", "background", "ping") and tag != "img"
    ]
    assert [place for place in places if not place.startswith(("#", "data:"))] == []
    assert not list(read.all("img"))
    assert [tag for tag, _ in read.elements if tag in ("iframe", "object", "embed", "form", "base")] == []


def test_the_policy_allows_what_is_in_the_page_and_nothing_else(read: Read) -> None:
    policy = next(one["content"] for one in read.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    scripts = list(read.all("script"))
    run = [text for text, attributes in zip(read.raw["script"], scripts, strict=True) if "type" not in attributes]
    assert sorted(re.findall(r"sha256-([^']+)", policy)) == sorted(map(digest, [*run, *read.raw["style"]]))


def test_no_attribute_is_code(read: Read) -> None:
    assert [(tag, name) for tag, attributes in read.elements for name in attributes if name.startswith("on")] == []
    assert [tag for tag, attributes in read.elements if "style" in attributes] == []


def test_ids_are_unique_and_links_lead_to_them(read: Read) -> None:
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {one["href"][1:] for one in read.all("a")}
    assert sorted(link for link in links if not link.startswith("node=") and link not in ids) == []


def test_what_hurts_stays_text(tmp_path: Path) -> None:
    text = page(tmp_path, hostile())
    shown = Read(text)
    assert HOSTILE not in text
    assert f"gang/{HOSTILE}/" in shown.text
    assert f"pod/<b>bold</b>/ {QUOTES}" in shown.text  # the name stands in an element of its own
    assert not [tag for tag, attributes in shown.elements if tag == "img" or "onerror" in attributes]
    graph = json.loads(shown.raw["script"][0])
    assert [node["id"] for node in graph["nodes"]] == [f"gang/{HOSTILE}/{'a' * 120}", f"pod/<b>bold</b>/{QUOTES}"]


def test_the_knot_is_told_without_a_script(tmp_path: Path) -> None:
    shown = Read(page(tmp_path, ring(3, 2)))
    for said in (
        "1 deadlock at 2026-01-14 09:00 UTC: 5 actors cannot go on, and 24 GPUs idle with them.",
        "What to do, best first",
        "Who holds what",
        "Blocked behind",
        "Where it is written",
        "Who waits for whom",
        "All of these as a table 5",
        "pod · team-0",
    ):
        assert said in shown.text
    drawn = [attributes["class"] for attributes in shown.all("g") if "class" in attributes]
    assert drawn.count("node core") == 3
    assert drawn.count("node behind") == 2
    assert sum(attributes.get("class", "").startswith("arrow") for attributes in shown.all("path")) == 5


def test_quiet_is_said_and_drawn_too(tmp_path: Path) -> None:
    shown = Read(page(tmp_path, queue(300)))
    assert "Nothing is stuck at 2026-01-14 09:00 UTC. 300 actors wait, and all of them will go on." in shown.text
    assert "Waiting, and will go on 300" in shown.text
    assert "Findings" not in shown.text
    assert any("and 29 more" in words for words in shown.words), "those who wait alike are one box"
    nothing = Read(page(tmp_path, EMPTY))
    assert "Nobody waits." in nothing.text
    assert not list(nothing.all("svg"))[1:], "nobody, nothing to draw"
    assert not any("Cytoscape Consortium" in text for text in nothing.raw["script"])


def test_long_lists_end_with_how_many_more(tmp_path: Path) -> None:
    shown = Read(page(tmp_path, history(400)))
    assert "and 360 more findings, resolved earlier" in shown.text
    assert "499 earlier changes are left out here" in shown.text
    assert "349 earlier ones are left out here" in shown.text
    assert sum(1 for _ in shown.all("rect")) < 500


def test_a_window_is_named_and_kept(tmp_path: Path) -> None:
    hour = 3600 * 1_000_000_000
    begin_ns = 1_767_225_600 * 1_000_000_000 + 3 * hour + hour // 4  # 2026-01-01T03:15:00Z, within a knot
    shown = Read(page(tmp_path, history(12), Options(from_ns=begin_ns)))
    assert "History from 2026-01-01 03:15 UTC to 2026-01-01 11:00 UTC" in shown.text
    assert "before" in shown.text
    assert "job/a/ x3" in shown.text
    assert "job/a/ x2" not in shown.text


def test_a_loop_is_drawn_though_everybody_can_go_on(tmp_path: Path, root: Path) -> None:
    story = (root / "tests" / "facts_stories" / "history__preemption_loop.story").read_text()
    facts = "\n".join(line for line in story.split("\n") if line.startswith("{"))
    shown = Read(page(tmp_path, facts))
    assert "LIVELOCK" in shown.text
    assert any(attributes.get("class") == "node looping" for attributes in shown.all("g"))


def asked(arguments: Sequence[str], seed: str) -> bytes:
    command = [sys.executable, "-m", "analyzer", *arguments]
    run = subprocess.run(  # noqa: S603  our own command
        command, capture_output=True, env={**environ, "PYTHONHASHSEED": seed}, check=False
    )
    assert run.stderr == b""
    return run.stdout


def test_the_same_incident_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "facts").write_text(ring(4, 60))
    for arguments in (["replay", "--format", "html"], ["graph", "--format", "svg"]):
        assert len({asked([*arguments, str(tmp_path / "facts")], seed) for seed in ("0", "1", "2")}) == 1


def test_an_installed_package_carries_every_file_of_the_page(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["analyzer.sinks.page"]
    folder = root / "analyzer" / "sinks" / "page"
    carried = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    there = {path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert len(there) >= 9
    assert carried == there


def test_the_vendored_library_is_the_one_that_is_written_down() -> None:
    vendored = files("analyzer.sinks.page").joinpath("assets", "vendor", "cytoscape")
    library = vendored.joinpath("cytoscape.min.js").read_bytes()
    words = vendored.joinpath("README.md").read_text()
    assert hashlib.sha256(library).hexdigest() in words
    version = re.search(r"\| version \| ([\d.]+) \|", words)
    assert version
    assert f'version="{version[1]}"'.encode() in library
    licence = vendored.joinpath("LICENSE").read_text()
    assert "Permission is hereby granted, free of charge" in licence
    assert b"Permission is hereby granted, free of charge" in library, "so that every page carries it"
