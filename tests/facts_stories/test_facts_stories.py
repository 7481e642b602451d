"""Every story says its truth, however its facts are written down.

A story is a text: why it is so (comments), the facts as YAML or JSON lines, a divider, the truth. Stories with a
common name before `__` are variants of one another; each family has a loud one and a quiet one.
"""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.replay.reports import bad_citations, report_of, verdicts_of
from tests.replay.truth import compare, parts_of

FOLDER = Path(__file__).parent
STORIES = sorted(FOLDER.glob("*.story"))
Facts = dict[str, Any]


def _facts(story: Path) -> str:
    return parts_of(story.read_text("utf-8"))[0]


def _is_history(facts: str) -> bool:
    return any(line.startswith("{") for line in facts.splitlines())


def _history_of(facts: str) -> list[str]:
    return [line for line in facts.splitlines() if line.startswith("{")]


def _replay(folder: Path, files: dict[str, str]) -> Facts:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return report_of([folder])


def _as_given(facts: str) -> dict[str, str]:
    return {"facts.jsonl": "\n".join(_history_of(facts)) + "\n"} if _is_history(facts) else {"facts.yaml": facts}


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    raise TypeError(f"no facts hold a {type(value).__name__}")


def _as_json(facts: Facts) -> dict[str, str]:
    return {"facts.json": json.dumps(facts, default=_plain, indent=2)}


def _backwards(facts: Facts) -> dict[str, str]:
    turned = {**facts, **{key: dict(reversed(facts[key].items())) for key in ("resources", "actors")}}
    return {"facts.yml": yaml.safe_dump(dict(reversed(turned.items())), sort_keys=False)}


def _one_file_an_actor(facts: Facts) -> dict[str, str]:
    top = {key: value for key, value in facts.items() if key not in ("resources", "actors")}
    files = {"9-resources.yaml": yaml.safe_dump({**top, "resources": facts["resources"]})}
    for n, (name, actor) in enumerate(facts["actors"].items()):
        files[f"{n}.yaml"] = yaml.safe_dump({**top, "actors": {name: actor}})
    return files


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)
def test_story_tells_the_truth(story: Path, tmp_path: Path) -> None:
    facts, truth = parts_of(story.read_text("utf-8"))
    report = _replay(tmp_path / "given", _as_given(facts))
    assert not report["sources"][0]["skipped"], report["sources"]
    assert compare(truth, report) == []
    assert bad_citations(report, tmp_path) == []


@pytest.mark.parametrize("spelling", [_as_json, _backwards, _one_file_an_actor])
def test_spelling_of_facts_does_not_matter(spelling: Callable[[Facts], dict[str, str]], tmp_path: Path) -> None:
    for story in STORIES:
        facts = _facts(story)
        if _is_history(facts):
            continue
        given = _replay(tmp_path / story.stem / "given", _as_given(facts))
        spelt = _replay(tmp_path / story.stem / "spelt", spelling(yaml.safe_load(facts)))
        assert verdicts_of(spelt) == verdicts_of(given), story.stem


def test_order_and_repetition_of_lines_do_not_matter(tmp_path: Path) -> None:
    shuffler = random.Random(7)  # noqa: S311 - a fixed shuffle, not a secret
    for story in STORIES:
        facts = _facts(story)
        if not _is_history(facts):
            continue
        head, *lines = _history_of(facts)
        mixed = lines + lines[1::2]
        shuffler.shuffle(mixed)
        given = _replay(tmp_path / story.stem / "given", _as_given(facts))
        spelt = _replay(tmp_path / story.stem / "spelt", {"facts.jsonl": "\n".join([head, *mixed]) + "\n"})
        assert verdicts_of(spelt) == verdicts_of(given), story.stem


def test_every_family_has_a_loud_and_a_quiet_variant() -> None:
    families: dict[str, set[bool]] = {}
    for story in STORIES:
        claims = parts_of(story.read_text("utf-8"))[1].claims
        loud = any(claim.state == "open" for claim in claims)
        families.setdefault(story.stem.partition("__")[0], set()).add(loud)
    assert {family for family, kinds in families.items() if len(kinds) < 2} == set()
    assert len(STORIES) >= 50
