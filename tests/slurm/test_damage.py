"""Damaged input costs a sentence, never the good input beside it and never a traceback; order does not matter."""

import random
from pathlib import Path

import pytest

from analyzer.codec.report import Report
from analyzer.run import replay
from analyzer.sources.recording import Document
from analyzer.sources.slurm.source import SOURCE
from tests.slurm.making import Job, all_forms, cluster, found, nodes_text, queue_json, replayed, scontrol, squeue
from tests.slurm.test_scenarios import STORIES

RECORDINGS = Path(__file__).parents[1] / "data" / "slurm"
RING = [
    Job(id=5, reason="Dependency", depends="afterok:6(unfulfilled)"),
    Job(id=6, reason="Dependency", depends="afterok:5(unfulfilled)"),
    Job(id=7, state="RUNNING", nodes=("gpu-0",), gpus=8),
]
KNOT = [("DEADLOCK", ("5", "6"))]


def notes(report: Report, name: str) -> list[tuple[int, str]]:
    (source,) = (each for each in report.sources if each.path.endswith(name))
    return [(note.line or 0, note.text) for note in source.notes]


def test_a_block_without_a_state(tmp_path: Path) -> None:
    text = scontrol(RING) + "\nJobId=8 JobName=cut\n   UserId=ada(1000)"
    report = replayed(tmp_path, {"a": text, "b": nodes_text(cluster())})
    assert found(report) == KNOT
    ((line, sentence),) = notes(report, "a")
    assert text.splitlines()[line - 1].startswith("JobId=8")
    assert "job 8" in sentence


def test_a_row_that_does_not_fit(tmp_path: Path) -> None:
    report = replayed(tmp_path, {"a": squeue(RING) + "9|cut\n", "b": nodes_text(cluster())})
    assert found(report) == KNOT
    assert [line for line, _ in notes(report, "a")] == [5]


def test_json_that_is_cut_off(tmp_path: Path) -> None:
    text = queue_json(RING)
    report = replayed(tmp_path, {"a": text[: text.rindex('"job_id"')], "b": nodes_text(cluster())})
    assert found(report) == KNOT
    assert len(notes(report, "a")) == 1


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(scontrol(RING), encoding="utf-8")
    (tmp_path / "b").write_bytes(nodes_text(cluster()).encode() + b"\nJobId=\xff\xfe JobState=\xc0\n")
    assert found(replay([str(tmp_path)]).report) == KNOT


def test_lines_that_end_as_on_windows(tmp_path: Path) -> None:
    for name, text in {"a": scontrol(RING), "b": nodes_text(cluster()), "c": squeue(RING)}.items():
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
    assert found(replay([str(tmp_path)]).report) == KNOT


@pytest.mark.parametrize("title", ["licences both ways", "more than the group's limit", "throttled array"])
def test_the_order_of_files_and_blocks_does_not_matter(title: str, tmp_path: Path) -> None:
    story = STORIES[title]
    draw = random.Random(title)  # noqa: S311  a seeded draw of tests, no secret
    for turn in range(6):
        jobs = list(story.jobs)
        draw.shuffle(jobs)
        files = list(all_forms(jobs, story.nodes or cluster(), story.extra)["everything"].values())
        draw.shuffle(files)
        named = {f"{number}": content for number, content in enumerate(files)}
        assert found(replayed(tmp_path / str(turn), named)) == sorted(story.expected)


def mutated(draw: random.Random, content: bytes) -> bytes:
    """The bytes with some damage: cut, doubled, flipped, lines lost, numbers grown, marks removed."""
    damaged = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(damaged) or 1), draw.randint(1, 400)
        match draw.randrange(7):
            case 0:
                del damaged[at:]
            case 1:
                del damaged[at : at + length]
            case 2:
                damaged[at:at] = damaged[max(at - length, 0) : at]
            case 3:
                damaged[at : at + 3] = bytes(draw.randrange(256) for _ in range(3))
            case 4:
                damaged = bytearray(bytes(damaged).replace(draw.choice([b"=", b"|", b",", b":", b'"', b"["]), b"", 3))
            case 5:
                damaged = bytearray(bytes(damaged).replace(b"1", b"99999999999999999999", draw.randint(1, 9)))
            case _:
                lines = bytes(damaged).split(b"\n")
                draw.shuffle(lines)
                damaged = bytearray(b"\n".join(lines))
        damaged = damaged or bytearray(b"\n")
    return bytes(damaged)


def test_nothing_breaks_it() -> None:
    files = sorted(path for path in RECORDINGS.glob("*/*") if path.name not in ("README.md", "expected.yaml"))
    draw = random.Random(20260104)  # noqa: S311  a seeded draw of tests, no secret
    for _ in range(300):
        chosen = draw.sample(files, 3)
        contents = [mutated(draw, path.read_bytes()) for path in chosen]
        documents = [Document(index, f"f{index}", content) for index, content in enumerate(contents)]
        recording = SOURCE.read([one for one in documents if SOURCE.recognises(one)])
        for batch in recording.batches:
            assert batch.at_ns >= 0
        assert all(note.records >= 0 for note in recording.notes)


def test_a_job_that_is_listed_again_and_again_is_one_job(tmp_path: Path) -> None:
    """Thousands of listings one after the other, as a loop around squeue leaves them behind."""
    report = replayed(tmp_path, {"a": squeue(RING) * 2000, "b": nodes_text(cluster())})
    assert found(report) == KNOT
