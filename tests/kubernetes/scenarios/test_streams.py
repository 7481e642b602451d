"""Watch streams: an earlier moment can be asked for, and the order of lines in a file proves nothing."""

import random
from pathlib import Path

from tests.kubernetes.scenarios.history import write_history
from tests.kubernetes.scenarios.lines import stamp
from tests.replay.reports import report_of, verdicts_of
from tests.replay.truth import compare, parse_truth, parts_of

HISTORIES = Path(__file__).parent / "histories"
KNOT = "DEADLOCK {gang/team-red/a, gang/team-blue/b}"


def _written(name: str, folder: Path) -> Path:
    return write_history(parts_of((HISTORIES / f"{name}.history").read_text("utf-8"))[0], folder)


def test_an_earlier_moment_can_be_asked_for(tmp_path: Path) -> None:
    folder = _written("knot_and_cure", tmp_path / "incident")
    assert compare(parse_truth(KNOT), report_of([folder], "--at", stamp(5 * 60))) == []
    assert compare(parse_truth("quiet"), report_of([folder], "--at", stamp(60 * 60))) == []
    assert compare(parse_truth("quiet"), report_of([folder], "--at", stamp(30))) == []


def test_hold_time_can_be_chosen(tmp_path: Path) -> None:
    folder = _written("short_knot", tmp_path / "incident")
    assert report_of([folder])["findings"] == []
    early = report_of([folder], "--hold", "10")["findings"]
    assert [(finding["verdict"], finding["state"]) for finding in early] == [("DEADLOCK", "resolved")]
    assert report_of([folder], "--hold", "3600")["findings"] == []


def test_order_and_repetition_of_stream_lines_do_not_matter(tmp_path: Path) -> None:
    shuffler = random.Random(5)  # noqa: S311 - a fixed shuffle, not a secret
    for history in sorted(HISTORIES.parent.glob("*/*.history")):
        folder = write_history(parts_of(history.read_text("utf-8"))[0], tmp_path / history.parent.name / history.stem)
        given = verdicts_of(report_of([folder]))
        for stream in folder.iterdir():
            lines = stream.read_text("utf-8").splitlines(keepends=True)
            mixed = lines + lines[::3]
            shuffler.shuffle(mixed)
            stream.write_text("".join(mixed), "utf-8")
        assert verdicts_of(report_of([folder])) == given, history.stem


def test_a_dump_beside_its_streams_says_the_same(tmp_path: Path) -> None:
    """The files that people collect overlap: streams from before and lists of the end."""
    history = HISTORIES / "knot_after_a_node_was_lost.history"
    given, truth = parts_of(history.read_text("utf-8"))
    folder = write_history(given, tmp_path / "incident")
    report = report_of([folder, *(folder / name for name in ("watch-pod.json", "watch-node.json"))])
    assert compare(truth, report) == []
