"""Exit statuses, and the one sentence that goes with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.cli.running import KNOT, QUEUE, run


@pytest.fixture
def knot(tmp_path: Path) -> Path:
    folder = tmp_path / "knot"
    folder.mkdir()
    (folder / "facts.yaml").write_text(KNOT)
    return folder


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    folder = tmp_path / "queue"
    folder.mkdir()
    (folder / "facts.yaml").write_text(QUEUE)
    return folder


def test_nothing_found_is_0_and_findings_are_1(knot: Path, queue: Path) -> None:
    assert run("replay", queue).exit_code == 0
    assert run("replay", knot).exit_code == 1
    assert run("replay", "--format", "json", knot).exit_code == 1


@pytest.mark.parametrize(
    ("rules", "status"), [("deadlock", 1), ("livelock,deadlock", 1), ("unplaceable", 0), ("none", 0)]
)
def test_fail_on_chooses_what_counts(knot: Path, rules: str, status: int) -> None:
    result = run("replay", "--fail-on", rules, knot)
    assert result.exit_code == status
    assert "deadlock" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["replay"], "Missing argument 'PATH...'."),
        (["replay", "{knot}", "--fail-on", "hunger"], "'hunger' is no rule; known are deadlock, "),
        (["replay", "{knot}", "--at", "noon"], "'noon' is not a time such as 2026-01-14T09:00:00Z."),
        (["replay", "{knot}", "--tz", "CET"], "'CET' is not a zone such as UTC or +02:00."),
        (["replay", "{knot}", "--hold", "-1"], "-1.0 is not in the range x>=0."),
        (["replay", "{knot}", "--format", "pdf"], "'pdf' is not one of"),
        (["replay", "{knot}/nothing"], "there is no such file or folder."),
        (
            ["replay", "{knot}", "--at", "2020-01-01T00:00:00Z"],
            "the first moment in this input is 2026-01-14T09:00:00Z.",
        ),
        (["replay", "{knot}", "--at", "2026-01-14T09:00:00Z", "--to", "2026-01-14T09:00:00Z"], "give one of them."),
        (["replay", "{knot}", "--from", "2026-01-15T09:00:00Z"], "There is nothing from 2026-01-15T09:00:00Z on: "),
        (
            ["replay", "{knot}", "--from", "2026-01-14T09:00:00Z", "--to", "2026-01-14T08:00:00Z"],
            "--from lies after the end: nothing is between them.",
        ),
        (["replay", "{knot}", "--from", "-2 fortnights"], "neither a time such as 2026-01-14T09:00:00Z nor a span"),
        (["replay", "{knot}", "--to", "-2h"], "'-2h' is not a time such as"),
        (["replay", "{knot}", "-o", "{knot}/no/such/file"], "file cannot be written: no such file or directory."),
        (["graph", "{knot}", "-o", "{knot}"], "is a directory"),
        (["why", "zzz", "{knot}"], "zzz is not in this input"),
        (["why", "bleu/b", "{knot}"], "bleu/b is not in this input; did you mean gang/blue/b?"),
        (["why", "gang/*", "{knot}"], "gang/* may mean gang/blue/b, gang/red/a: write more of the name."),
        (["why", "", "{knot}"], "The name of an actor is empty: it holds gang/blue/b, gang/red/a"),
        (["replay", ""], "One of the paths is empty: name a file or a folder, or . for this one."),
        (["rules", "hunger"], "'hunger' is no rule; known are deadlock, "),
        (["untie"], "No such command 'untie'."),
    ],
)
def test_usage_is_2_with_one_sentence(knot: Path, arguments: list[str], sentence: str) -> None:
    result = run(*(argument.format(knot=knot) for argument in arguments))
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello\n", "in/a is of no kind that is known here"),
        (b"", "in/a is empty"),
        (b"schema: knotwatch.facts/v1\nactors: [\n", "in/a:3: is not valid YAML"),
        (b'{"schema": "knotwatch.facts/v1",\n"actors": {', "in/a:2: breaks off here: is the file complete?"),
        (b"schema: knotwatch.facts/v1\nactors: {a: {hold: {}}}\n", 'in/a:2: a: the key "hold" is not known here'),
    ],
)
def test_input_of_which_nothing_is_understood_is_2(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(content)
    result = run("replay", tmp_path / "in")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "kubectl get" in result.stderr, "it says what to hand over instead"
    assert len(result.stderr.strip().split("\n")) == 1


def test_a_name_does_not_steer_the_terminal(knot: Path) -> None:
    (knot / "\x1b[31mred\x07.json").write_bytes(b'{"apiVersion": "v1", "kind": "Pod')
    result = CliRunner().invoke(main, ["replay", str(knot)], prog_name="knotwatch", color=True)  # as on a terminal
    assert "�[31mred�.json:1: the text is cut off" in result.stderr
    assert "\x1b" not in result.stderr


def test_an_empty_folder_says_what_to_hand_over(tmp_path: Path) -> None:
    result = run("replay", tmp_path)
    assert result.exit_code == 2
    assert "there is no file in it. Hand over the output of `kubectl get" in result.stderr


def test_a_broken_file_costs_a_sentence_and_not_its_neighbours(knot: Path) -> None:
    whole = json.loads(run("replay", "--format", "json", knot).stdout)
    (knot / "broken.yaml").write_text("schema: knotwatch.facts/v1\nactors: {x: {holds: {gpu/n9: 1}}}\n")
    (knot / "picture.png").write_bytes(b"\x89PNG\0\0")
    (knot / "README").write_text("read me\n")
    result = run("replay", "--format", "json", knot)
    assert result.exit_code == 1
    assert result.stderr == (
        "knotwatch: knot/broken.yaml:2: x: resource gpu/n9 is held but not declared: add it under resources.\n"
        "knotwatch: knot/picture.png is binary, not text\n"
    )
    report = json.loads(result.stdout)
    assert report["findings"][0]["summary"] == whole["findings"][0]["summary"]
    assert [(row["path"], row["kind"], row["records"], row["skipped"]) for row in report["sources"]] == [
        ("knot/README", "not understood", 0, 0),
        ("knot/broken.yaml", "facts", 0, 1),
        ("knot/facts.yaml", "facts", 5, 0),
        ("knot/picture.png", "not understood", 0, 0),
    ]


def test_standard_input_is_a_path() -> None:
    assert run("replay", "-", given=KNOT).exit_code == 1
    assert run("replay", "-", given=QUEUE).exit_code == 0


def test_why_is_1_for_the_stuck_and_0_for_others(knot: Path, queue: Path) -> None:
    for actor in ("gang/red/a", "a", "red/a", "*/red/*"):
        assert run("why", actor, knot).exit_code == 1
    for part in ("red/", "blue", "lue/b"):
        assert run("why", part, knot).exit_code == 1, "a part of the name is enough where it means one actor"
    assert run("why", "b", queue).exit_code == 0
    assert run("why", "a", queue).exit_code == 0


def test_many_complaints_are_cut_on_standard_error_and_whole_in_json(tmp_path: Path) -> None:
    wrong = "".join(f"  w{number}: {{hold: 1}}\n" for number in range(50))
    (tmp_path / "facts.yaml").write_text(KNOT + wrong)
    result = run("replay", "--format", "json", tmp_path)
    assert len(result.stderr.strip().split("\n")) == 21
    assert "and 30 more" in result.stderr
    assert len(json.loads(result.stdout)["sources"][0]["notes"]) == 50


COMMAND = [sys.executable, "-m", "analyzer"]


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    many = "".join(
        f"  q/x/{n}: {{waits: {{since: 2026-01-14T08:00:00Z, needs: {{done: gang/red/a}}}}}}\n" for n in range(3000)
    )
    (tmp_path / "facts.yaml").write_text(QUEUE + many)
    reader, writer = os.pipe()
    with subprocess.Popen(  # noqa: S603  our own command
        [*COMMAND, "replay", "--format", "json", str(tmp_path)], stdout=writer, stderr=subprocess.PIPE
    ) as running:
        os.close(writer)
        os.read(reader, 10)
        os.close(reader)
        assert running.stderr is not None
        assert running.stderr.read() == b""


def test_an_interrupted_run_says_nothing(knot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("analyzer.run.replay", interrupted)
    result = run("replay", knot)
    assert result.exit_code == 130
    assert result.output.strip() == ""


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_a_file_gets_what_standard_output_would(knot: Path, tmp_path: Path, form: str) -> None:
    printed = run("replay", knot, "--format", form)
    written = run("replay", knot, "--format", form, "-o", tmp_path / "report")
    assert (written.exit_code, written.stdout) == (1, "")
    assert (tmp_path / "report").read_bytes() == printed.stdout_bytes
    assert run("replay", knot, "--format", form, "-o", "-").stdout_bytes == printed.stdout_bytes


@pytest.mark.parametrize(
    "begin", ["-2h", "-120min", "-120m", "-7200s", "-0.1d", "2026-01-14T07:00:00Z", "2026-01-14 07:00:00"]
)
def test_a_window_begins_at_a_time_or_before_the_end(knot: Path, begin: str) -> None:
    window = json.loads(run("replay", knot, "--format", "json", "--from", begin).stdout)["window"]
    assert window["start"] == ("2026-01-14T06:36:00Z" if begin == "-0.1d" else "2026-01-14T07:00:00Z")
    assert window["end"] == "2026-01-14T09:00:00Z"


def test_to_is_at(knot: Path) -> None:
    at, to = (run("replay", knot, "--format", "json", option, "2026-01-14T09:30:00Z") for option in ("--at", "--to"))
    assert at.stdout == to.stdout
    assert json.loads(to.stdout)["as_of"] == "2026-01-14T09:30:00Z"
