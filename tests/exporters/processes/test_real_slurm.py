"""A real slurmd with our prolog: jobs that hold GPUs, with processes and without, in cgroups of its own making."""

from collections.abc import Iterator

import pytest

from exporters.collectors.process_owners import ProcessOwners
from exporters.collectors.slurm_jobs import JobCgroups, JobFiles, job_folders
from exporters.rooted import tree_at
from tests.exporters.allocation.readings import moment
from tests.exporters.processes.slurm_node import SlurmNode, unusable

pytestmark = [pytest.mark.needs("slurm"), pytest.mark.xdist_group("slurm")]  # one at a time: all see the same /proc


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmNode]:
    folder = tmp_path_factory.mktemp("slurm")
    if (reason := unusable(folder)) is not None:
        pytest.skip(f"a real slurmd with device cgroups: {reason}")
    made = SlurmNode(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def held(node: SlurmNode) -> dict[str, list[str]]:
    """GPUs by job, as our collector reads what the prolog wrote."""
    found = JobFiles(tree_at("/"), str(node.jobs), interval_s=10, deadline_s=5).read(moment(0))
    jobs: dict[str, list[str]] = {}
    for each in found.value.held if found.value is not None else ():
        jobs.setdefault(each.job, []).append(each.spelled)
    return jobs


def of_the_job(node: SlurmNode, job: str) -> list[tuple[str, str]]:
    """Command and step of the job's processes. Another Slurm on this machine has jobs of the same numbers."""
    found = ProcessOwners(tree_at("/proc"), interval_s=15, deadline_s=15).read(moment(0)).value
    assert found is not None
    ours = set(node.processes())
    return [
        (each.command, each.owner.slurm_step)
        for pid, each in found.processes.items()
        if pid in ours and each.owner is not None and each.owner.slurm_job == job
    ]


def test_a_job_s_gpus_and_processes_are_its_own(node: SlurmNode) -> None:
    job = str(node.submit("sleep 600 & wait", "--gres=gpu:2"))
    node.until("the job runs", lambda: "RUNNING" in node.run("squeue", "-h", "-j", job, "-o", "%T"))
    node.until("its prolog has written", lambda: job in held(node))
    assert held(node)[job] == ["nvidia0", "nvidia1"]

    node.until("its processes are in its cgroup", lambda: ("sleep", "batch") in of_the_job(node, job))

    folders = {(found, user) for found, user, _ in job_folders(tree_at("/sys"))}
    assert (job, "0") in folders
    allowed = JobCgroups(tree_at("/sys"), tree_at("/proc"), interval_s=10, deadline_s=5).read(moment(0)).value
    assert allowed is not None
    # slurmd denies what is not the job's on top of "everything", and the kernel does not list what is denied.
    assert [each for each in allowed.held if each.job == job] == []
    assert not allowed.complete

    node.run("scancel", job)
    node.until("its epilog has taken it back", lambda: job not in held(node))
    assert not list(node.jobs.iterdir())


def test_a_job_that_runs_nothing_holds_its_gpus_all_the_same(node: SlurmNode) -> None:
    """guilbaults/slurm-job-exporter#65."""
    node.run("salloc", "--no-shell", "--gres=gpu:1", "--job-name=idle")
    (job,) = node.run("squeue", "-h", "-n", "idle", "-o", "%A").split()
    node.until("its prolog has written", lambda: job in held(node))
    assert held(node)[job] == ["nvidia0"]
    assert not of_the_job(node, job)
    node.run("scancel", job)
    node.until("its epilog has taken it back", lambda: job not in held(node))
