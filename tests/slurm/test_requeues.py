"""Jobs that are preempted and queued again, over and over: a loop, once it is known how often within how long."""

from pathlib import Path

import pytest
from msgspec import structs

from analyzer.codec.report import Report
from tests.slurm.making import NOW, Job, cluster, found, moved, nodes_text, replayed, scontrol, stamp

LOOP = [("LIVELOCK", ("20",))]
OTHER = Job(id=10, state="RUNNING", nodes=("gpu-1",), gpus=8, ago=3000)
FULL = [Job(id=number, state="RUNNING", nodes=(f"gpu-{number}",), gpus=8, ago=3000 - number) for number in range(1, 4)]


def victim(restarts: int, **more: object) -> Job:
    """It was queued again two minutes ago, which is its time of submission now."""
    return Job(id=20, gpus=8, reason="Resources", restarts=restarts, ago=120, **more)  # type: ignore[arg-type]  # fields by name


def said(folder: Path, *jobs: Job, **files: str) -> Report:
    return replayed(folder, {"jobs": scontrol(jobs), "nodes": nodes_text(cluster()), **files})


def test_often_within_the_hour(tmp_path: Path) -> None:
    """The job with the lower number was submitted 50 minutes ago: all four rounds were since then."""
    assert found(said(tmp_path, OTHER, victim(4))) == LOOP


@pytest.mark.parametrize(
    ("restarts", "other"),
    [
        (1, OTHER),
        (2, OTHER),
        (4, Job(id=10, state="RUNNING", nodes=("gpu-1",), gpus=8, ago=30 * 86400)),
        (4, Job(id=30, state="RUNNING", nodes=("gpu-1",), gpus=8, ago=3000)),
        (4, Job(id=10, state="RUNNING", nodes=("gpu-1",), gpus=8, ago=3000, restarts=1)),
    ],
    ids=["once", "twice", "in a month", "only later jobs are known", "the earlier job was queued again itself"],
)
def test_quiet(restarts: int, other: Job, tmp_path: Path) -> None:
    assert found(said(tmp_path, other, victim(restarts))) == []


def test_it_has_been_running_since(tmp_path: Path) -> None:
    runs = Job(id=20, state="RUNNING", nodes=("gpu-2",), gpus=8, restarts=4, ago=3000)
    assert found(said(tmp_path, Job(id=10, state="RUNNING", nodes=("gpu-1",), gpus=8, ago=3500), runs)) == []


def test_held_after_all(tmp_path: Path) -> None:
    held = structs.replace(victim(4), reason="JobHeldUser")
    assert found(said(tmp_path / "held", OTHER, held)) == []
    delayed = structs.replace(victim(4), reason="BeginTime")
    assert found(said(tmp_path / "kept back for two minutes", OTHER, delayed)) == LOOP


def log(*minutes_ago: int) -> str:
    lines = []
    for minutes in minutes_ago:
        at = stamp(NOW - minutes * 60)
        lines.append(f"[{at}.100] preempted JobId=20 has been requeued to reclaim resources for JobId=21")
        lines.append(f"[{at}.200] Requeuing JobId=20")
    return "\n".join(lines) + "\n"


def test_the_log_tells_when(tmp_path: Path) -> None:
    assert found(said(tmp_path / "often", victim(3), log=log(40, 20, 2))) == LOOP
    assert found(said(tmp_path / "twice", victim(2), log=log(20, 2))) == []
    assert found(said(tmp_path / "seldom", victim(3), log=log(3000, 1500, 2))) == []


def accounting(*minutes_ago: int) -> str:
    """`sacct -D`: every run has its own row."""
    rows = ["JobID|JobIDRaw|JobName|User|State|Submit|Start|End|NNodes|NodeList"]
    for earlier, minutes in zip((minutes_ago[0] + 20, *minutes_ago), minutes_ago, strict=False):
        begun, ended = stamp(NOW - earlier * 60 + 30), stamp(NOW - minutes * 60)
        rows.append(f"20|20|job|ada|PREEMPTED|{stamp(NOW - earlier * 60)}|{begun}|{ended}|1|gpu-0")
    rows.append(f"20|20|job|ada|PENDING|{stamp(NOW - 120)}|Unknown|Unknown|1|None assigned")
    return "\n".join(rows) + "\n"


def test_accounting_tells_when(tmp_path: Path) -> None:
    assert found(said(tmp_path / "often", victim(3), acct=accounting(40, 20, 2))) == LOOP
    assert found(said(tmp_path / "twice", victim(2), acct=accounting(20, 2))) == []
    waiting_left_out = "\n".join(accounting(40, 20, 2).splitlines()[:-1]) + "\n"  # until it is eligible again
    assert found(said(tmp_path / "left out", victim(3), acct=waiting_left_out)) == LOOP
    assert found(replayed(tmp_path / "alone", {"acct": accounting(40, 20, 2), "n": nodes_text(cluster())})) == LOOP


def test_seen_again_and_again(tmp_path: Path) -> None:
    """Five lists, ten minutes apart: it runs, waits, runs, waits... and nobody says how often it was restarted."""

    def lists(rounds: str) -> dict[str, str]:
        runs = Job(id=20, state="RUNNING", nodes=("gpu-0",), gpus=8, ago=60)
        waits = Job(id=20, gpus=8, reason="Resources", ago=60)
        files = {
            f"jobs-{number}": moved(scontrol([*FULL, runs if each == "r" else waits]), number * 600).replace(
                f"SubmitTime={stamp(NOW - 60)}", f"SubmitTime={stamp(NOW - 60 + number * 600)}"
            )
            for number, each in enumerate(rounds)
        }
        return {**files, "nodes": nodes_text(cluster())}

    assert found(replayed(tmp_path / "loop", lists("rwrwrw"))) == LOOP
    assert found(replayed(tmp_path / "once", lists("rwrrrr"))) == []
    assert found(replayed(tmp_path / "waits", lists("wwwwww"))) == []
