"""The command as people and programs meet it."""

import json
from pathlib import Path

import jsonschema
import pytest

from analyzer.codec.whatif import whatif_schema_text
from tests.cli.running import KNOT, QUEUE, run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def knot(tmp_path: Path) -> Path:
    (tmp_path / "knot.yaml").write_text(KNOT)
    return tmp_path / "knot.yaml"


@pytest.mark.parametrize("options", [("--evict", "red/a"), ("--drain", "n1"), ("--priority", "red/a=3")])
def test_the_document_keeps_its_schema(options: tuple[str, ...], knot: Path) -> None:
    schema = json.loads((DOCS / "whatif.schema.json").read_text())
    assert json.loads(whatif_schema_text()) == schema
    document = json.loads(run("whatif", knot, "--format", "json", *options).stdout)
    jsonschema.validate(document, schema)
    assert document["schema"] == "knotwatch.whatif/v1"
    assert document["asked"][0]["do"] == options[0].removeprefix("--")


def test_text_says_safe_or_not_and_the_exit_status_too(knot: Path) -> None:
    safe = run("whatif", knot, "--evict", "red/a")
    assert safe.exit_code == 0
    assert "\nSafe: all who wait can be served" in safe.stdout
    assert "They were stuck and could go on\n  gang/blue/b\n  pod/green/c\n" in safe.stdout
    unsafe = run("whatif", knot, "--evict", "green/c")
    assert unsafe.exit_code == 1
    assert "\nNot safe: 2 actors could never go on.\n" in unsafe.stdout
    assert "This would remain\n  DEADLOCK" in unsafe.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "What if what?"),
        (("--evict", "nobody"), "nobody is not in this input"),
        (("--evict", "gang"), "may mean"),
        (("--drain", "n9"), "n9 is no node of this input: it has n1, n2."),
        (("--priority", "red/a"), "is not ACTOR=N"),
        (("--priority", "red/a=high"), "is not ACTOR=N"),
        (("--evict", "red/a", "--priority", "red/a=1"), "at once"),
        (("--submit", "nowhere.yaml"), "no such file"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(options: tuple[str, ...], sentence: str, knot: Path) -> None:
    result = run("whatif", knot, *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            "actors: {a/b/c: {waits: {needs: {units: gpu/n7, count: 1}}}}",
            "new.yaml:2: a/b/c: there is no resource gpu/n7",
        ),
        ("actors: {a/b/c: {waits: {needs: {pods: 1, each: {gpu: 1}, among: [n7]}}}}", "there is no node n7"),
        ("actors: {a/b/c: {holds: {gpu/n1: many}}}", "must be a whole number"),
        ("actors: {a/b/c: {ended: true}}", "an actor that has ended cannot be submitted"),
        ("history: []", "not a history"),
        ("actor: {}", "is not known here"),
    ],
)
def test_faulty_facts_are_refused_with_their_line(facts: str, sentence: str, knot: Path, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(f"schema: knotwatch.facts/v1\n{facts}\n")
    result = run("whatif", knot, "--submit", tmp_path / "new.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert result.stderr.startswith("knotwatch: new.yaml:")
    assert result.stderr.count("\n") == 1


def test_facts_may_come_on_standard_input_and_as_json(tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    submitted = {
        "schema": "knotwatch.facts/v1",
        "actors": {"a/b/c": {"waits": {"needs": {"units": "gpu/n1", "count": 8}}}},
    }
    result = run("whatif", tmp_path / "queue.yaml", "--submit", "-", given=json.dumps(submitted))
    assert result.exit_code == 0
    assert "a/b/c  waits, and will go on\n  needs 8 gpu on n1\n  gang/red/a" in result.stdout


def test_a_moment_may_be_asked_about(tmp_path: Path) -> None:
    lines = [
        {"schema": "knotwatch.facts/v1", "resources": {"lock/a": 1}},
        {"at": "2026-01-14T08:00:00Z", "actor": "x/y/one", "holds": {"lock/a": 1}},
        {"at": "2026-01-14T09:00:00Z", "actor": "x/y/one", "ended": True},
    ]
    (tmp_path / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "new.yaml").write_text(
        "schema: knotwatch.facts/v1\nactors: {x/y/two: {waits: {needs: {units: lock/a, count: 1}}}}\n"
    )
    command = ("whatif", tmp_path / "history.jsonl", "--submit", tmp_path / "new.yaml")
    assert "could start now" in run(*command).stdout
    assert "x/y/one must finish first" in run(*command, "--at", "2026-01-14T08:30:00Z").stdout
