"""Documents that are in step with the program, links that lead somewhere, examples that do what they say."""

import ast
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from analyzer.run import replay
from docs.build import markdown_files, quoted, stale
from tests.architecture.source_tree import ROOT, files, parsed, shown

LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?!https?://|mailto:)([^)#\s]*)(#[^)\s]*)?\)")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"```(yaml|json)\n(?P<facts>.*?)```\n\n<!-- replays to: (?P<verdict>\w+) -->", re.DOTALL)
FILE = re.compile(r"`((?:analyzer|tests|docs|benchmarks|\.ci)/[\w./-]*)`")
NAME_IN_FILE = re.compile(r"`([\w/]+\.py)` `(\w+)`")
TARGET = re.compile(r"`make ([a-z-]+)|^ +make ([a-z-]+)", re.MULTILINE)


def anchor(heading: str) -> str:
    """The anchor that a Markdown heading gets: small letters, no punctuation, hyphens for spaces."""
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_generated_documents_are_in_step() -> None:
    assert [shown(path) for path in stale()] == [], "run `make docs`"


def test_a_quote_is_written_anew_whatever_it_said() -> None:
    old = "Before.\n<!-- output of: knotwatch --version -->\n\n```text\nknotwatch 0.0.0\n```\nAfter.\n"
    assert quoted(old) == old.replace("0.0.0", version("knotwatch"))


def test_a_quote_stops_where_it_is_told_to() -> None:
    old = '<!-- output of: knotwatch --help, up to "Options:" -->\n\n```text\n```\n'
    assert "Usage: knotwatch" in quoted(old)
    assert "Options:" not in quoted(old).partition("-->")[2]


def test_every_link_leads_somewhere() -> None:
    lost = []
    for path in files(".md"):
        text = path.read_text(encoding="utf-8")
        for target, place in LINK.findall(FENCED.sub("", text)):
            page = (path.parent / target).resolve() if target else path
            if not page.exists():
                lost.append(f"{shown(path)}: {target}")
            elif place and place not in {anchor(found) for found in HEADING.findall(page.read_text(encoding="utf-8"))}:
                lost.append(f"{shown(path)}: {target}{place}")
    assert lost == []


def test_files_that_documents_name_exist() -> None:
    named = {
        (shown(path), target) for path in markdown_files() for target in FILE.findall(path.read_text(encoding="utf-8"))
    }
    assert sorted((path, target) for path, target in named if not (ROOT / target).exists()) == []


def test_names_that_documents_point_to_are_in_their_files() -> None:
    pairs = [pair for path in markdown_files() for pair in NAME_IN_FILE.findall(path.read_text(encoding="utf-8"))]
    assert pairs, "ARCHITECTURE.md follows one event by file and name"
    lost = [
        (file, name)
        for file, name in pairs
        if not any(
            isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name for node in parsed(ROOT / file).body
        )
    ]
    assert lost == []


def test_documents_name_only_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        (shown(path), one or other)
        for path in markdown_files()
        for one, other in TARGET.findall(path.read_text(encoding="utf-8"))
    }
    assert sorted((path, target) for path, target in named if target not in targets) == []


FACTS = EXAMPLE.finditer((ROOT / "docs" / "facts.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", [pytest.param(found, id=f"example-{n}") for n, found in enumerate(FACTS, 1)])
def test_examples_of_facts_replay_as_they_say(example: re.Match[str], tmp_path: Path) -> None:
    (tmp_path / "facts").write_text(example["facts"], encoding="utf-8")
    report = replay([str(tmp_path / "facts")]).report
    verdicts = [str(finding.verdict) for finding in report.findings]
    assert verdicts == ([] if example["verdict"] == "nothing" else [example["verdict"]])
    assert [source.skipped for source in report.sources] == [0]
