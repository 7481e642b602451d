"""What a real Slurm does, collected as people do it, and what is said of it: loud beside quiet."""

import json
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.slurm_cluster.cluster import SlurmCluster

SECRET = "hunter2-of-the-cluster"  # noqa: S105  no secret: it must not come out


def collected(slurm: SlurmCluster, folder: Path) -> Path:
    """The archive that `knotwatch collect` makes of the cluster."""
    folder.mkdir(exist_ok=True)
    archive = folder / "collected.tar.gz"
    done = _knotwatch(slurm, "collect", "--from", "slurm", "--output", str(archive))
    assert done.returncode == 0, done.stderr
    return archive


def replayed(slurm: SlurmCluster, *paths: Path) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and findings of a replay."""
    done = _knotwatch(slurm, "replay", "--format", "json", *map(str, paths))
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)["findings"]


def _knotwatch(slurm: SlurmCluster, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  our own program
        [str(Path(sys.executable).with_name("knotwatch")), *words],
        env=slurm.environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def holders(slurm: SlurmCluster, *, waits: bool) -> list[int]:
    """Two jobs that hold one licence each, and submit a job that needs the other's; they wait for it, or not."""
    outer = []
    for mine, other in (("solver", "mesh"), ("mesh", "solver")):
        inner = f"sbatch {'--wait ' if waits else ''}-J sub-{other} -L {other}:1 -n1 --wrap 'sleep 1'"
        # One that does not wait works on; there is time to look at it.
        script = f"export DB_PASSWORD={SECRET}\nsleep 1\n{inner}\n{'' if waits else 'sleep 600'}"
        outer.append(slurm.submit(f"hold-{mine}", script, "-L", f"{mine}:1", "--gres=gpu:2", "-N1", "-n2"))
    slurm.until("both have submitted", lambda: bool(slurm.named("sub-mesh") and slurm.named("sub-solver")))
    inner_jobs = slurm.named("sub-mesh") + slurm.named("sub-solver")
    slurm.until("Slurm has tried both", lambda: all(slurm.state_of(job) == "PENDING Licenses" for job in inner_jobs))
    return sorted([*outer, *inner_jobs])


def of(finding: dict[str, Any], field: str) -> set[str]:
    return {name.rpartition("/")[2] for name in finding[field]}


def test_jobs_that_wait_for_jobs_that_wait_for_their_licences(slurm: SlurmCluster, tmp_path: Path) -> None:
    jobs = holders(slurm, waits=True)
    status, findings = replayed(slurm, collected(slurm, tmp_path))
    assert (status, [finding["verdict"] for finding in findings]) == (1, ["DEADLOCK"])
    assert of(findings[0], "members") == {str(job) for job in jobs}
    assert findings[0]["certainty"] == "proven"


def test_the_same_where_nobody_waits_for_the_jobs(slurm: SlurmCluster, tmp_path: Path) -> None:
    holders(slurm, waits=False)
    full = slurm.submit("full", "sleep 600", "-N4", "-c12", "--time=1:00:00")
    behind = slurm.submit("behind", "sleep 600", "-N4", "-c12", "--time=1:00:00")
    slurm.until("one runs", lambda: slurm.state_of(full).startswith("RUNNING"))
    slurm.until("one waits", lambda: slurm.state_of(behind) in ("PENDING Resources", "PENDING Priority"))
    assert replayed(slurm, collected(slurm, tmp_path)) == (0, [])


def test_preemption(slurm: SlurmCluster, tmp_path: Path) -> None:
    """A job that is taken off its nodes and queued again, for one of a partition that comes first: nothing is wrong."""
    low = slurm.submit("low", "sleep 600", "-N4", "-c12", "--requeue")
    slurm.until("it runs", lambda: slurm.state_of(low).startswith("RUNNING"))
    high = slurm.submit("high", "sleep 600", "-N4", "-c12", "-p", "urgent")
    before = collected(slurm, tmp_path / "before")
    slurm.until("it was taken off", lambda: slurm.state_of(low) == "PENDING BeginTime")
    slurm.until("the other runs", lambda: slurm.state_of(high).startswith("RUNNING"))
    after = collected(slurm, tmp_path / "after")
    for paths in ((before,), (after,), (before, after)):
        assert replayed(slurm, *paths) == (0, [])


def test_a_ring_that_is_cut(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Slurm refuses rings of dependencies, but not those through a singleton. Two archives are two moments."""
    first = slurm.submit("etl", "true", "--hold")
    second = slurm.submit("etl", "true", "--dependency=singleton")
    slurm.run("scontrol", "update", f"JobId={first}", f"Dependency=afterok:{second}")
    slurm.run("scontrol", "release", str(first))
    slurm.until("both wait", lambda: {slurm.state_of(job) for job in (first, second)} == {"PENDING Dependency"})
    ring = collected(slurm, tmp_path / "ring")
    status, findings = replayed(slurm, ring)
    assert (status, [of(finding, "members") for finding in findings]) == (1, [{str(first), str(second)}])
    slurm.run("scancel", str(second))
    # A job that depends on one that was cancelled can never start.
    slurm.run("scontrol", "update", f"JobId={first}", "Dependency=")
    slurm.until("the other has run", lambda: slurm.state_of(first).startswith("COMPLETED"))
    cut = collected(slurm, tmp_path / "cut")
    assert replayed(slurm, cut) == (0, [])
    assert replayed(slurm, ring, cut) == (0, [])  # it lasted for less than a minute


def test_no_secret_leaves(slurm: SlurmCluster, tmp_path: Path) -> None:
    comment = f"--comment=password={SECRET}"
    job = slurm.submit("secret", f"sleep 600 --token={SECRET}", f"--export=ALL,API_TOKEN={SECRET}", comment)
    slurm.until("it has begun", lambda: not slurm.state_of(job).startswith("PENDING"))
    with tarfile.open(collected(slurm, tmp_path)) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
        texts = {name: content.read().decode() for name, content in members if content is not None}
    assert any(f"JobId={job} " in text for text in texts.values())
    assert [name for name, text in texts.items() if SECRET in text] == []


@pytest.mark.parametrize(
    ("inner", "verdicts"),
    [("srun -n1 -c4 true", ["DEADLOCK"]), ("srun --overlap -n1 -c4 sleep 600", [])],
    ids=["waits for the step it runs in", "shares the step it runs in"],
)
def test_srun_inside_srun(slurm: SlurmCluster, tmp_path: Path, inner: str, verdicts: Sequence[str]) -> None:
    nested = slurm.submit("nested", f"srun -n1 -c4 sh -c '{inner}; true'", "-N1", "-n1", "-c4", "--gres=gpu:4")
    packed = slurm.submit("packed", "for i in 1 2 3; do srun --exact -n1 sleep 600 & done; wait", "-N1", "-n1")
    slurm.until("packing waits", lambda: f"StepId={packed}.TDB" in slurm.run("scontrol", "show", "step"))
    second = f"StepId={nested}.{'TDB' if verdicts else '1'} "
    slurm.until("the inner step is there", lambda: second in slurm.run("scontrol", "show", "step"))
    status, findings = replayed(slurm, collected(slurm, tmp_path))
    assert (status, [finding["verdict"] for finding in findings]) == (len(verdicts), verdicts)
    for finding in findings:
        assert of(finding, "members") == {f"{nested}.0", f"{nested}.TDB"}
        assert of(finding, "blocked_behind") == {str(nested)}
