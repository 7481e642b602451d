"""Batch scripts as hypotheses, on top of a real recording of Slurm: four nodes of eight cards."""

from pathlib import Path

import pytest

from analyzer.sources.slurm.scripts import read_script
from tests.cli.running import run
from tests.whatif.asking import Rows, ask, fates

RECORDED = Path(__file__).parents[1] / "data" / "slurm"
LICENCES = RECORDED / "licenses"
JOB = "slurm-job/lab/5206"


def script(*options: str) -> str:
    return "#!/bin/bash\n# a comment\n" + "".join(f"#SBATCH {option}\n" for option in options) + "\nsrun train\n"


def submitted(tmp_path: Path, *options: str, more: tuple[str, ...] = ()) -> Rows:
    return ask(tmp_path, LICENCES, "--submit", "{job}", *more, job=script("-p train", *options))


def test_what_fits_starts_now_and_what_is_too_large_never_does(tmp_path: Path) -> None:
    for options, fate in (
        (("--nodes=1", "--gres=gpu:8"), "starts_now"),
        (("--nodes=1", "--gres=gpu:16"), "never"),
        (("-N 2", "--gpus-per-node=4"), "starts_now"),
        (("-N 9", "--gpus-per-node=4"), "never"),
        (("-G 16",), "starts_now"),
        (("-G 33",), "never"),
        (("-N1", "-w gpu-0", "--gres gpu:1"), "starts_now"),
        (("-L mesh:2",), "never"),
        (("-d afterany:5201",), "never"),
        (("-d afterany:5203",), "waits"),
    ):
        assert fates(submitted(tmp_path, *options))[JOB] == fate, options


def test_evicting_the_holder_of_the_licence_lets_it_wait_in_line(tmp_path: Path) -> None:
    rows = submitted(tmp_path, "-L mesh:1", more=("--evict", "5201", "--evict", "5202"))
    assert fates(rows)[JOB] in ("starts_now", "waits")
    assert rows["safe"]


def test_the_job_gets_a_name_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    notes = submitted(tmp_path, "--gres=gpu:1", "--switches=1")["notes"]
    assert notes == [f"job.yaml is called {JOB} here.", "Not taken into account of job.yaml: --switches."]


def test_two_scripts_are_two_jobs(tmp_path: Path) -> None:
    whole = script("-p train", "-N1", "--gres=gpu:8")
    rows = ask(tmp_path, LICENCES, "--submit", "{one}", "--submit", "{two}", one=whole, two=whole)
    assert set(fates(rows)) == {JOB, "slurm-job/lab/5207"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-p nowhere",), "there is no partition nowhere in the input"),
        (("-p train", "--nodes=many"), 'job.sh:4: "--nodes=many" is not understood.'),
        (("-p train", "--mem=lots"), 'job.sh:4: "--mem=lots" is not understood.'),
        (("-p train", "-w gpu-77"), "there is no node gpu-77"),
        (("-p train", "hetjob"), "heterogeneous"),
        (("-p 'train",), "job.sh:3:"),
        (("train",), '"train" is no option'),
    ],
)
def test_what_cannot_be_meant_is_refused(options: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(script(*options))
    result = run("whatif", LICENCES, "--submit", tmp_path / "job.sh")
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert result.stderr.rstrip().rpartition("\n")[2].startswith("knotwatch: job.sh")


def test_a_script_needs_slurm(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(script("-p train"))
    result = run("whatif", RECORDED.parent / "k8s" / "partial_gang", "--submit", tmp_path / "job.sh")
    assert (result.exit_code, "there is no output of Slurm" in result.stderr) == (2, True)


def test_options_are_read_as_sbatch_reads_them() -> None:
    text = script(
        "-J name --partition train   # why",
        "-n 8 --ntasks-per-node=4 -c2",
        "--mem=4G --time=1-00:00:00",
        '--constraint "a100&ib" -x gpu-[1-2]',
        "--array=1-10%2 -L solver:2,mesh",
    )
    record = read_script(text + "#SBATCH --nodes=77\n", (0, 0)).record
    assert (record.name, record.partition, record.features) == ("name", "train", "a100&ib")
    assert (record.node_count, record.task_count, record.cpus_each_node) == (2, 8, 8)
    assert (record.memory_each_node, record.limit_s) == (4 << 30, 86400)
    assert record.excluded_nodes == ("gpu-1", "gpu-2")
    assert (record.array_tasks, record.throttle, record.licences) == ("1-10", 2, "solver:2,mesh")
