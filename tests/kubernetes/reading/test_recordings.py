"""Real recordings: all that was saved of one cluster tells the same story as the part that suffices."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from analyzer.sources.kubernetes.forms import form_of
from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.lines import RecordLines
from analyzer.sources.kubernetes.observations import Observation, Seen
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Complaint, Document
from tests.kubernetes.reading.written import FORMS, ahead, alive

DUMPS = ("cluster.json", "events.json", "nodes.json", "pods.json", "workloads.json")


def documents(folder: Path, names: Sequence[str] = ()) -> list[Document]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and (not names or path.name in names))
    contents = [(path.name, path.read_bytes()) for path in files if not names or path.parent == folder]
    return [Document(at, name, content) for at, (name, content) in enumerate(contents) if form_of(content) is not None]


def told(some: Sequence[Document]) -> tuple[list[Observation], list[Complaint], int | None]:
    found = Incident(some, ReadOptions())
    observations = ahead(found)
    found.finish()
    observations += [one for _, group in found.moments() for one in group]
    return observations, [complaint for note in found.notes for complaint in note.complaints], found.as_of_ns


@pytest.fixture(scope="module")
def recordings(root: Path) -> list[Path]:
    """Every folder of recordings among the shared samples ($KNOTWATCH_SHARED, else ../shared)."""
    samples = Path(os.environ.get("KNOTWATCH_SHARED", root.parent / "shared")) / "samples" / "k8s"
    if not samples.is_dir():
        pytest.skip("samples/k8s of the shared samples is not there: set KNOTWATCH_SHARED")
    return sorted(path for path in samples.iterdir() if path.is_dir())


def test_streams_and_dumps_end_alike(recordings: list[Path]) -> None:
    for folder in recordings:
        whole, complaints, as_of_ns = told(documents(folder))
        part, _, _ = told(documents(folder, DUMPS))
        assert alive(whole) == alive(part), folder.name
        assert complaints == [], folder.name
        assert as_of_ns is not None


def test_history_never_goes_back_and_the_order_of_files_is_nothing(recordings: list[Path]) -> None:
    for folder in recordings:
        some = documents(folder)
        observations = told(some)[0]
        times = [one.at_ns for one in observations]
        assert times == sorted(times), folder.name
        assert told(some[::-1])[0] == observations, folder.name


def test_every_citation_leads_to_a_line_that_names_what_it_is_about(recordings: list[Path]) -> None:
    for folder in recordings:
        some = {one.index: one for one in documents(folder)}
        lines = {index: RecordLines(one) for index, one in some.items()}
        rows = {index: bytes(one.content).decode().split("\n") for index, one in some.items()}
        for one in told(list(some.values()))[0]:
            document, record = one.citation
            line = lines[document].line_of(record)
            assert line is not None
            name = one.object.metadata.name if isinstance(one, Seen) else one.pod.rpartition("/")[2]
            assert any(name in row for row in rows[document][line - 1 : line + 400]), (folder.name, one.citation)


def test_a_recording_is_the_same_in_every_form(root: Path) -> None:

    folder = root / "tests" / "data" / "k8s" / "partial_gang"
    pods = json.loads((folder / "pods.json").read_bytes())["items"]
    plain = [one.object for one in told(documents(folder, ["pods.json"]))[0] if isinstance(one, Seen)]
    assert len(plain) == len(pods) == 12
    for name, form in FORMS.items():
        found = told([Document(0, name, form(pods))])[0]
        assert [one.object for one in found if isinstance(one, Seen)] == plain, name
