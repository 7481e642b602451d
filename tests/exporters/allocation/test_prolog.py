"""The prolog and epilog that we ship, run as slurmd runs them, and read as the exporter reads them."""

import os
import subprocess
from pathlib import Path

import pytest

from exporters.collectors.slurm_jobs import JobFiles
from exporters.rooted import tree_at
from tests.architecture.source_tree import ROOT
from tests.exporters.allocation.readings import moment


def run(script: str, folder: Path, job: int, gpus: str | None) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "KNOTWATCH_JOB_FOLDER": str(folder),
        "SLURM_JOB_ID": str(job),
        "SLURM_JOB_UID": "1000",
        **({} if gpus is None else {"SLURM_JOB_GPUS": gpus}),
    }
    subprocess.run([ROOT / "deploy" / "slurm" / script], env=environment, check=True, timeout=30)  # noqa: S603  our own scripts


def held(folder: Path) -> set[tuple[str, str]]:
    found = JobFiles(tree_at("/"), str(folder), interval_s=10, deadline_s=5).read(moment(0))
    return {(each.spelled, each.job) for each in found.value.held} if found.value is not None else set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "gpustat"


def test_what_a_job_gets_is_written_and_taken_back(folder: Path) -> None:
    run("prolog.sh", folder, 42, "0,3")
    assert held(folder) == {("nvidia0", "42"), ("nvidia3", "42")}
    run("epilog.sh", folder, 42, "0,3")
    assert list(folder.iterdir()) == []


def test_jobs_that_share_a_gpu_do_not_take_each_other_s_line(folder: Path) -> None:
    for job in (4, 42):
        run("prolog.sh", folder, job, "0")
    run("epilog.sh", folder, 4, "0")
    assert held(folder) == {("nvidia0", "42")}


def test_uuids_in_place_of_numbers_stand_for_themselves(folder: Path) -> None:
    """Since Slurm 25.11 there may be UUIDs: SlinkyProject/slurm-operator#112."""
    run("prolog.sh", folder, 42, "GPU-aaaa,MIG-bbbb")
    assert held(folder) == {("GPU-aaaa", "42"), ("MIG-bbbb", "42")}
    run("epilog.sh", folder, 42, None)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("gpus", [None, "", ",,", "../x", "GPU-/../../x", "a b"])
def test_what_is_no_gpu_writes_nothing_and_fails_nothing(folder: Path, gpus: str | None) -> None:
    run("prolog.sh", folder, 42, gpus)
    assert list(folder.iterdir()) == []
    assert list(folder.parent.iterdir()) == [folder]


def test_a_folder_that_cannot_be_made_does_not_cost_the_node(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run("prolog.sh", tmp_path / "file" / "x", 42, "0")
    run("epilog.sh", tmp_path / "file" / "x", 42, "0")
