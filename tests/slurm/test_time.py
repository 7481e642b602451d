"""Moments: local times beside absolute ones, and lists that were taken one after the other."""

from pathlib import Path

from tests.slurm.making import NOW, Job, cluster, found, nodes_text, queue_json, replayed, scontrol, squeue, stamp

RING = [
    Job(id=5, reason="Dependency", depends="afterok:6(unfulfilled)"),
    Job(id=6, reason="Dependency", depends="afterok:5(unfulfilled)"),
    Job(id=7, state="RUNNING", nodes=("gpu-0",), gpus=8),
]
SDIAG = "*****\nsdiag output at Mon Nov 30 15:33:20 2026 (1796045600)\nData since      Mon Nov 30 13:00:00 2026\n"


def in_zone(text: str, hours: int) -> str:
    """The text as a controller prints it whose clock is so many hours ahead of UTC."""
    for ago in range(700):
        text = text.replace(stamp(NOW - ago), "@" + stamp(NOW - ago + hours * 3600) + "@")
    return text.replace("@", "")


def test_sdiag_tells_the_zone(tmp_path: Path) -> None:
    report = replayed(tmp_path, {"a": in_zone(scontrol(RING), 2), "b": nodes_text(cluster()), "c": SDIAG})
    assert report.as_of == "2026-11-30T13:33:20Z"
    assert [finding.since for finding in report.findings] == ["2026-11-30T13:23:20Z"]


def test_json_tells_the_zone(tmp_path: Path) -> None:
    report = replayed(tmp_path, {"a": in_zone(scontrol(RING), -5), "b": nodes_text(cluster()), "c": queue_json(RING)})
    assert report.as_of == "2026-11-30T13:33:20Z"


def test_a_later_list_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    later = [Job(id=7, state="RUNNING", nodes=("gpu-0",), gpus=8), Job(id=8, ago=1, reason="Priority")]
    for form in (scontrol, queue_json):
        earlier = form(RING).replace(str(NOW - 5), str(NOW - 300)).replace(stamp(NOW - 5), stamp(NOW - 300))
        earlier = earlier.replace("RunTime=00:10:00", "RunTime=00:04:00")
        files = {"a": earlier, "b": nodes_text(cluster()), "c": form(later)}
        (finding,) = replayed(tmp_path / form.__name__, files).findings
        assert str(finding.state) == "resolved"


def test_one_file_for_each_job(tmp_path: Path) -> None:
    files = {f"job-{number}": scontrol([job]) for number, job in enumerate(RING)}
    assert found(replayed(tmp_path, files)) == [("DEADLOCK", ("5", "6"))]


def test_the_log_knows_of_an_end_that_the_lists_do_not(tmp_path: Path) -> None:
    log = f"[{stamp(NOW + 60)}.123] _job_complete: JobId=5 done\n"
    files = {"a": scontrol(RING), "b": nodes_text(cluster()), "c": log}
    assert found(replayed(tmp_path / "after", files)) == []
    files["c"] = log.replace(stamp(NOW + 60), stamp(NOW - 3600))
    assert found(replayed(tmp_path / "before", files)) == [("DEADLOCK", ("5", "6"))]


def test_the_log_alone_is_quiet(tmp_path: Path) -> None:
    log = (
        f"[{stamp(NOW - 60)}.000] _slurm_rpc_submit_batch_job: JobId=5 InitPrio=1 usec=250\n"
        f"[{stamp(NOW - 50)}.000] sched: Allocate JobId=5 NodeList=gpu-[0-1] #CPUs=2 Partition=train\n"
        f"[{stamp(NOW - 40)}.000] _slurm_rpc_submit_batch_job: JobId=6 InitPrio=1 usec=250\n"
    )
    report = replayed(tmp_path, {"a": log})
    assert found(report) == []
    assert [row.actor.rpartition("/")[2] for row in report.waiting] == ["6"]


def test_a_short_squeue_is_read(tmp_path: Path) -> None:
    rows = (
        "Mon Nov 30 13:33:20 2026\n"
        "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)\n"
        "                 9     train     late      ada  PENDING       0:00 UNLIMITED      1 "
        "(DependencyNeverSatisfied)\n"
        "                 7     train     work      ada  RUNNING      10:00 UNLIMITED      1 gpu-0\n"
    )
    report = replayed(tmp_path, {"a": rows, "b": squeue([])})
    assert found(report) == [("UNPLACEABLE", ("9",))]
    assert report.as_of == "2026-11-30T13:33:20Z"
