"""Real recordings against the truth beside them, and parts of them: less input may make us quieter, never louder.

Four recordings are kept in `tests/data/slurm`; the whole collection is read from `$KNOTWATCH_SHARED` (default:
`../shared`) and skipped by name where it is missing.
"""

import os
import random
import shutil
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.codec.report import Report
from analyzer.errors import UnreadableError
from analyzer.run import replay

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("KNOTWATCH_SHARED", ROOT.parent / "shared")) / "samples" / "slurm"
BESIDE = ("expected.yaml", "README.md")
KEPT = sorted(path.parent for path in (ROOT / "tests" / "data" / "slurm").glob("*/expected.yaml"))
NAMES = ("chain_submit", "fragmented", "licenses", "nested_srun", "nested_wait", "qos_limit")
TEXT_SUFFICES = NAMES
JSON_SUFFICES = ("chain_submit", "fragmented")


def truth_of(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    return loaded


def inputs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name not in BESIDE)


def said(files: list[Path]) -> Report | None:
    try:
        return replay([str(path) for path in files]).report
    except UnreadableError:
        return None


def problems(truth: dict[str, Any], report: Report) -> list[str]:
    """What the report has too much or lacks."""
    found = [(str(f.verdict), {*f.members, *f.blocked_behind}, set(f.members)) for f in report.findings]
    wrong: list[str] = []
    for want in truth["findings"]:
        may = [*want["stuck"], *want.get("stuck_may", ())]
        fitting = [
            one
            for one in found
            if one[0] == want["verdict"]
            and all(any(fnmatchcase(actor, each) for each in may) for actor in one[1])
            and all(any(fnmatchcase(actor, each) for actor in one[1]) for each in want["stuck"])
            and all(any(fnmatchcase(actor, each) for actor in one[2]) for each in want.get("members", ()))
        ]
        wrong += [] if fitting else [f"no {want['verdict']} {want['stuck']}"]
        if fitting:
            found.remove(fitting[0])
    wrong += [f"false alarm: {verdict} {sorted(stuck)}" for verdict, stuck, _ in found]
    rows = {row.actor: row.first_to_finish for row in report.waiting}
    for who, whom in (truth.get("waiting") or {}).items():
        mine = [first for actor, first in rows.items() if fnmatchcase(actor, who)]
        if not mine or (whom and not any(fnmatchcase(one, each) for first in mine for one in first for each in whom)):
            wrong.append(f"{who} waits for {mine}, not {whom}")
    return wrong


def named(report: Report | None) -> set[tuple[str, str]]:
    """Every finding and everybody in it, whatever the cluster is called where no file names it."""
    findings = report.findings if report is not None else ()
    return {
        (str(f.verdict), actor.partition("/")[0] + "/" + actor.rpartition("/")[2])
        for f in findings
        for actor in (*f.members, *f.blocked_behind)
    }


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.name)
def test_kept_recordings(folder: Path) -> None:
    report = said(inputs(folder))
    assert report is not None
    assert problems(truth_of(folder), report) == []


@pytest.mark.parametrize("name", NAMES)
def test_shared_recordings(name: str) -> None:
    if not (SHARED / name).exists():
        pytest.skip(f"the shared recording {name} is not here")
    report = said(inputs(SHARED / name))
    assert report is not None
    assert problems(truth_of(SHARED / name), report) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_one_form_that_suffices_gives_the_same(name: str, form: str) -> None:
    if not (SHARED / name).exists():
        pytest.skip(f"the shared recording {name} is not here")
    files = [path for path in inputs(SHARED / name) if (path.suffix == ".json") == (form == "json")]
    report = said(files)
    assert report is not None
    if name in (JSON_SUFFICES if form == "json" else TEXT_SUFFICES):
        assert problems(truth_of(SHARED / name), report) == []
    else:
        assert named(report) <= named(said(inputs(SHARED / name)))


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.name)
def test_less_input_is_never_louder(folder: Path) -> None:
    files = inputs(folder)
    everything = named(said(files))
    draw = random.Random(folder.name)  # noqa: S311  a seeded draw of tests, no secret
    for left_out in files:
        assert named(said([path for path in files if path != left_out])) <= everything, left_out.name
    for _ in range(25):
        some = [path for path in files if draw.random() < 0.5] or files[:1]
        assert named(said(some)) <= everything, [path.name for path in some]


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("qos_limit", ("sacctmgr_show_qos.psv",)),
        ("qos_limit", ("scontrol_show_assoc_mgr.txt",)),
        ("qos_limit", ("scontrol_show_job.txt",)),
        ("licenses", ("scontrol_show_licenses.txt",)),
        ("licenses", ("ps.txt",)),
        ("licenses", ("sacct_all.psv",)),
        ("licenses", ("scontrol_listpids.txt", "slurmctld.log", "squeue.json", "sinfo.json")),
        ("nested_srun", ("scontrol_listpids.txt",)),
        ("nested_srun", ("ps.txt", "squeue.json", "sinfo.json", "slurmctld.log")),
        ("nested_wait", ("scontrol_listpids.txt", "squeue.json")),
    ],
)
def test_what_another_file_tells_as_well_is_not_missed(name: str, left_out: tuple[str, ...]) -> None:
    folder = next(each for each in KEPT if each.name == name)
    report = said([path for path in inputs(folder) if path.name not in left_out])
    assert report is not None
    assert problems(truth_of(folder), report) == []


def test_names_of_files_tell_nothing(tmp_path: Path) -> None:
    folder = next(each for each in KEPT if each.name == "nested_wait")
    for number, path in enumerate(inputs(folder)):
        shutil.copy(path, tmp_path / f"{97 - number}.dump")
    report = said(sorted(tmp_path.iterdir()))
    assert report is not None
    assert problems(truth_of(folder), report) == []


def test_every_citation_leads_to_the_job_it_speaks_of() -> None:
    folder = next(each for each in KEPT if each.name == "licenses")
    report = said(inputs(folder))
    assert report is not None
    for finding in report.findings:
        assert finding.citations
        for citation in finding.citations:
            assert citation.line is not None
            lines = (
                (folder.parent / citation.path).read_text("utf-8").splitlines()
                if "/" in citation.path
                else (folder / citation.path).read_text("utf-8").splitlines()
            )
            near = "\n".join(lines[citation.line - 1 : citation.line + 60])
            assert any(member.rpartition("/")[2] in near for member in finding.members)
