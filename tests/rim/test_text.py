"""The text report, word for word. KNOTWATCH_UPDATE=1 writes the golden files anew; read the difference."""

import os
import re
from pathlib import Path

import pytest

from analyzer.codec.report import decode_report, encode_report
from analyzer.explain import why
from analyzer.model.ids import ActorId
from analyzer.run import replay
from analyzer.sinks.console import TextFormat
from analyzer.sinks.text import report_text
from analyzer.sinks.why_text import why_text
from tests.rim.stories import STORIES, written

GOLDEN = Path(__file__).parent / "golden"
K8S = Path(__file__).parents[1] / "data" / "k8s"
PIPE = TextFormat(width=80, colored=False)


@pytest.mark.parametrize("story", STORIES)
def test_the_text_is_as_it_was(tmp_path: Path, story: str) -> None:
    text = report_text(replay([str(written(tmp_path, story))]).report, PIPE)
    golden = GOLDEN / f"{story}.txt"
    if os.environ.get("KNOTWATCH_UPDATE"):
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("story", STORIES)
def test_a_pipe_gets_plain_text_of_80_columns(tmp_path: Path, story: str) -> None:
    text = report_text(replay([str(written(tmp_path, story))]).report, PIPE)
    assert "\x1b" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert all(len(line) <= 80 and line == line.rstrip() for line in text.split("\n"))


def test_colours_change_no_word(tmp_path: Path) -> None:
    report = replay([str(written(tmp_path, "knot"))]).report
    colored = report_text(report, TextFormat(width=80, colored=True))
    assert "\x1b[" in colored
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in bare.split("\n")] == report_text(report, PIPE).split("\n")


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(
        "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\nresources: {gpu/n1: 8}\n"
        'actors: {"pod/[red]/:smile:": {waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 9}}}}\n'
    )
    assert "pod/[red]/:smile:" in report_text(replay([str(tmp_path)]).report, PIPE)


def test_a_message_cannot_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(
        "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\n"
        'actors: {a: {waits: {since: 2026-01-14T08:00:00Z, needs: {never: "x\\e]0;owned\\a\\x9b2J y"}}}}\n'
    )
    done = replay([str(tmp_path)])
    assert "\x1b" in done.report.findings[0].summary
    for text in (report_text(done.report, PIPE), why_text(why(done.engine.view(), ActorId("a")), None, PIPE)):
        assert not {"\x1b", "\a", "\x9b"} & set(text)
        assert "owned" in text


def test_the_narrowest_terminal_loses_nothing(tmp_path: Path) -> None:
    report = replay([str(written(tmp_path, "knot"))]).report
    narrow = report_text(report, TextFormat(width=40, colored=False))
    for word in ("gang/red/a", "gang/blue/b", "gang/green/big", "job/etl/dead"):
        assert word in narrow.replace("\n", "")


def facts(folder: Path, actors: str, resources: str = "gpu/n1: 8") -> str:
    folder.mkdir(exist_ok=True)
    text = f"schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\nresources: {{{resources}}}\nactors:\n{actors}"
    (folder / "facts.yaml").write_text(text)
    return report_text(replay([str(folder)]).report, PIPE)


def waits(needs: str) -> str:
    return f"{{holds: {{gpu/n1: 1}}, waits: {{since: 2026-01-14T08:00:00Z, needs: {needs}}}}}\n"


def test_who_could_not_be_judged_is_not_said_to_go_on(tmp_path: Path) -> None:
    unknown = waits("{pods: 9, each: {gpu: 1}, among: [n7]}")
    text = facts(tmp_path, f"  a: {unknown}  b: {waits('{units: gpu/n1, count: 1}')}")
    head, *rest = text.split("\n\n")
    assert head == (
        "Nothing is proven stuck at 2026-01-14 09:00 UTC. 2 actors wait: 1 will go on and\n1 could not be judged."
    )
    assert rest[0].startswith("Waiting, and could not be judged\n  - a (for 60 min)")
    assert "not judged: node n7 is a candidate but not declared" in " ".join(rest[0].split())
    alone = facts(tmp_path, f"  a: {unknown}")
    assert alone.startswith("Nothing is proven stuck at 2026-01-14 09:00 UTC. One actor waits: 1 could not be\njudged.")
    misread = facts(tmp_path, f"  a: {waits('{unit: gpu/n1}')}")
    assert "needs nothing" not in misread
    assert "\n    not judged: this request says none of the things" in misread


def test_a_finding_does_not_hide_who_could_not_be_judged(tmp_path: Path) -> None:
    knot = "".join(f"  {name}: {waits('{units: gpu/n1, count: 6}')}" for name in "ab")
    text = facts(tmp_path, f"{knot}  c: {waits('{pods: 1, each: {gpu: 1}, among: [n7]}')}", "gpu/n1: 7")
    assert " ".join(text.split("\n\n")[0].split()).endswith("with them. 1 other could not be judged.")


def test_those_who_wait_for_the_same_are_told_together(tmp_path: Path) -> None:
    many = "".join(f"  job/{number:02d}: {waits('{units: gpu/n1, count: 1}')}" for number in range(7))
    text = facts(tmp_path, many)
    assert "  - job/00, job/01, job/02, job/03 and 3 more (for up to 60 min)\n    needs 1 gpu on n1;" in text
    assert text.count("needs") == 1


def test_many_findings_are_told_at_length_and_then_in_a_sentence(tmp_path: Path) -> None:
    held = ", ".join(f"lock/{number}: 1" for number in range(8))
    rings = "".join(
        f"  {name}{number}: {{holds: {{lock/{number}: 1}}, waits: "
        f"{{since: 2026-01-14T08:00:00Z, needs: {{units: lock/{number}, count: 1}}}}}}\n"
        for number in range(8)
        for name in "a"
    )
    text = facts(tmp_path, rings, held)
    assert text.count("Who holds what") == 5
    also = text.partition("Also stuck\n")[2]
    assert also.count("  - DEADLOCK k-") == 3
    assert "a7" in also


def test_of_many_that_resolved_the_last_are_told_and_the_history_says_the_rest(tmp_path: Path) -> None:
    lines = ['{"schema": "knotwatch.facts/v1", "resources": {"lock/x": 1, "lock/y": 1}}']
    for hour in range(8):
        for who, has, lacks in ((f"a{hour}", "x", "y"), (f"b{hour}", "y", "x")):
            needs = f'{{"units": "lock/{lacks}", "count": 1}}'
            lines.append(
                f'{{"at": "2026-01-14T{hour:02d}:00:00Z", "actor": "{who}", "holds": {{"lock/{has}": 1}}, '
                f'"waits": {{"needs": {needs}}}}}'
            )
            lines.append(f'{{"at": "2026-01-14T{hour:02d}:30:00Z", "actor": "{who}", "ended": true}}')
    (tmp_path / "history.jsonl").write_text("\n".join(lines))
    text = report_text(replay([str(tmp_path)]).report, PIPE)
    assert text.count("DEADLOCK (resolved)") == 3
    assert text.count("  opened    deadlock of ") == text.count("  resolved  deadlock of ") == 8
    assert "\n  07:01:00    opened    deadlock of a7 and b7: 2 stuck\n" in text
    assert "\n  07:30:00    resolved  deadlock of a7 and b7: after 29 min\n" in text


def test_nobody_in_the_input_is_no_quiet(tmp_path: Path) -> None:
    assert facts(tmp_path, "  {}\n").startswith("Nothing can be said at 2026-01-14 09:00 UTC: nobody is in this input.")


def test_many_unknown_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(14):
        (tmp_path / "in" / f"logs-{number:02d}.txt").write_text("hello")
    text = facts(tmp_path / "in", f"  a: {waits('{units: gpu/n1, count: 1}')}")
    assert text.endswith(
        "\nNot understood or not used\n  in/logs-00.txt and 13 more files are of no kind that is known here\n"
    )


def test_a_command_stays_one_line_and_long_names_whole() -> None:
    long = "pod/" + "n" * 60 + "/" + "p" * 63
    made = encode_report(replay([str(K8S / "partial_gang")]).report).decode()
    text = made.replace("gang/team-blue/pretrain-blue", long)
    shown = report_text(decode_report(text.encode()), PIPE)
    assert f"\n     $ kubectl delete pod {'p' * 63} --namespace {'n' * 60}\n" in shown
