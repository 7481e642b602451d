"""srun inside srun: loud where the waiting step runs inside the step that holds what it wants, quiet elsewhere."""

from pathlib import Path

import pytest

from tests.slurm.making import Job, cluster, found, nodes_text, processes, replayed, scontrol

JOB = Job(id=51, state="RUNNING", nodes=("gpu-0",), gpus=8, cpus=8)
KNOT = [("DEADLOCK", ("51.0", "51.TDB"))]


def step(number: str, cpus: int, pid: int, state: str = "RUNNING") -> str:
    return (
        f"StepId=51.{number} UserId=0 StartTime=2026-11-30T13:28:58 TimeLimit=UNLIMITED\n"
        f"   State={state} Partition=train NodeList=gpu-0\n   Nodes=1 CPUs={cpus} Tasks=1 Name=run.sh Network=(null)\n"
        f"   TRES=(null)\n   SrunHost:Pid=gpu-0:{pid}\n"
    )


def listed(*rows: tuple[int, str]) -> str:
    heading = "PID      JOBID    STEPID   LOCALID GLOBALID"
    return "\n".join([heading, *(f"{pid:<8} 51       {number:<8} -       -" for pid, number in rows)]) + "\n"


def files(steps: str, pids: str, **more: str) -> dict[str, str]:
    return {"jobs": scontrol([JOB]), "nodes": nodes_text(cluster()), "steps": steps, "pids": pids, **more}


OUTER, INNER = step("0", 8, 500), step("TDB", 8, 600, "PENDING")
UNDER_STEP = listed((500, "batch"), (600, "0"))


def test_a_step_waits_inside_the_step_that_holds_all(tmp_path: Path) -> None:
    report = replayed(tmp_path, files(OUTER + INNER, UNDER_STEP))
    assert found(report) == KNOT
    assert report.findings[0].blocked_behind == ("slurm-job/lab/51",) or report.findings[0].blocked_behind


def test_retries_leave_entries_behind_that_count_once(tmp_path: Path) -> None:
    assert found(replayed(tmp_path, files(OUTER + INNER * 5, UNDER_STEP))) == KNOT


def test_a_process_list_tells_the_step_as_well(tmp_path: Path) -> None:
    tree = processes(
        (400, 1, 400, "slurmstepd: [51.batch]"),
        (500, 400, 400, "srun ./outer.sh"),
        (450, 1, 450, "slurmstepd: [51.0]"),
        (460, 450, 450, "/bin/sh ./outer.sh"),
        (600, 460, 450, "srun ./inner.sh"),
    )
    made = {"jobs": scontrol([JOB]), "nodes": nodes_text(cluster()), "steps": OUTER + INNER, "ps": tree}
    assert found(replayed(tmp_path, made)) == KNOT


@pytest.mark.parametrize(
    ("steps", "pids"),
    [
        pytest.param(OUTER + INNER, listed((500, "batch"), (600, "batch")), id="packing: both from the batch script"),
        pytest.param(OUTER + INNER, listed((500, "batch")), id="nobody says where it runs"),
        pytest.param(step("0", 4, 500) + step("TDB", 4, 600, "PENDING"), UNDER_STEP, id="there is room beside it"),
        pytest.param(
            step("0", 4, 500) + step("1", 4, 501) + step("TDB", 4, 600, "PENDING"),
            listed((500, "batch"), (501, "batch"), (600, "0")),
            id="another step will end and give back enough",
        ),
        pytest.param(OUTER + step("1", 8, 600), UNDER_STEP, id="it overlaps: both run"),
        pytest.param(OUTER + INNER + step("1", 8, 600), UNDER_STEP, id="it was made in the meantime"),
        pytest.param(INNER, UNDER_STEP, id="the outer step is not there any more"),
    ],
)
def test_quiet(steps: str, pids: str, tmp_path: Path) -> None:
    assert found(replayed(tmp_path, files(steps, pids))) == []


def test_three_deep(tmp_path: Path) -> None:
    steps = step("0", 8, 500) + step("1", 8, 550) + step("TDB", 2, 600, "PENDING")
    pids = listed((500, "batch"), (550, "0"), (600, "1"))
    assert found(replayed(tmp_path, files(steps, pids))) == [("DEADLOCK", ("51.0", "51.1", "51.TDB"))]


WAITS = "srun: Job 51 step creation temporarily disabled, retrying (Requested nodes are busy)\n"


def test_over_once_the_output_says_that_the_step_was_made(tmp_path: Path) -> None:
    assert found(replayed(tmp_path / "a", files(OUTER + INNER, UNDER_STEP, out=WAITS))) == KNOT
    made = WAITS + "srun: Step created for job 51\n"
    assert found(replayed(tmp_path / "b", files(OUTER + INNER, UNDER_STEP, out=made))) == []
    newer = WAITS + "srun: Step created for StepId=51.1\n"
    assert found(replayed(tmp_path / "c", files(OUTER + INNER, UNDER_STEP, out=newer))) == []


def test_the_line_alone_proves_nothing(tmp_path: Path) -> None:
    made = {"jobs": scontrol([JOB]), "nodes": nodes_text(cluster()), "out": WAITS}
    assert found(replayed(tmp_path, made)) == []


@pytest.mark.parametrize(("age", "expected"), [(600, [("DEADLOCK", ("51.0", "51.TDB"))]), (5, [])])
def test_refused_for_long_though_processors_are_free(age: int, expected: object, tmp_path: Path) -> None:
    """The outer step has all cards and half of the processors; the inner one wants the other half, and a card."""
    rows = processes((600, 460, 450, "srun ./inner.sh")).replace("157", str(age))
    steps = step("0", 4, 500) + step("TDB", 4, 600, "PENDING")
    assert found(replayed(tmp_path, files(steps, UNDER_STEP, ps=rows))) == expected
