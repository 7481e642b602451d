"""Several moments in one folder: findings open, stay and resolve as the lists say; with what the log tells between."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from analyzer.codec.report import Report
from tests.slurm.making import (
    NOW,
    Job,
    cluster,
    found,
    licences,
    moved,
    nodes_text,
    processes,
    queue_json,
    replayed,
    sacct,
    scontrol,
    stamp,
)

RING = [
    Job(id=5, reason="Dependency", depends="afterok:6(unfulfilled)"),
    Job(id=6, reason="Dependency", depends="afterok:5(unfulfilled)"),
    Job(id=7, state="RUNNING", nodes=("gpu-0",), gpus=8),
]
UNTIED = [RING[0], Job(id=6, reason="Resources", gpus=8), RING[2]]
FORMS: Mapping[str, Callable[[Sequence[Job]], str]] = {"scontrol": scontrol, "squeue --json": queue_json}


def story(report: Report) -> list[tuple[str, int | None, int | None]]:
    """State, opening and end of every finding, in whole minutes from the first list on."""
    return [(str(finding.state), minute(finding.opened_at), minute(finding.resolved_at)) for finding in report.findings]


def minute(moment: str | None) -> int | None:
    if moment is None:
        return None
    return round((datetime.fromisoformat(moment).timestamp() - NOW) / 60)


def folder(form: str, *moments: Sequence[Job]) -> dict[str, str]:
    """One list every ten minutes; the nodes are told once."""
    lists = {f"list-{number}": moved(FORMS[form](jobs), number * 600) for number, jobs in enumerate(moments)}
    return {**lists, "nodes": nodes_text(cluster())}


@pytest.mark.parametrize("form", FORMS)
def test_a_ring_that_somebody_cut(form: str, tmp_path: Path) -> None:
    report = replayed(tmp_path / "cut", folder(form, UNTIED, RING, RING, UNTIED))
    assert [str(finding.verdict) for finding in report.findings] == ["DEADLOCK"]
    assert story(report) == [("resolved", 11, 30)]
    left = replayed(tmp_path / "left", folder(form, UNTIED, RING, RING))
    assert story(left) == [("open", 11, None)]


@pytest.mark.parametrize("form", FORMS)
def test_a_ring_of_jobs_that_are_gone(form: str, tmp_path: Path) -> None:
    report = replayed(tmp_path, folder(form, RING, [RING[2]]))
    assert story(report) == [("resolved", 0, 10)]


def test_the_order_and_names_of_files_do_not_matter(tmp_path: Path) -> None:
    files = folder("scontrol", UNTIED, RING, UNTIED)
    turned = {f"{9 - number}": text for number, text in enumerate(files.values())}
    assert story(replayed(tmp_path / "one", files)) == story(replayed(tmp_path / "other", turned))


def test_several_lists_in_one_file(tmp_path: Path) -> None:
    for form in FORMS:
        lists = [text for name, text in folder(form, UNTIED, RING, UNTIED).items() if name != "nodes"]
        report = replayed(tmp_path / form.split()[0], {"all": "\n".join(lists), "nodes": nodes_text(cluster())})
        assert story(report) == [("resolved", 11, 20)]


def test_a_loop_with_date_and_a_short_squeue(tmp_path: Path) -> None:
    """`while true; do date; squeue; sleep 600; done`: nothing but the line above a list tells its time."""
    heading = "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)"
    stuck = "    9     train late  ada PD 0:00     1 (DependencyNeverSatisfied)"
    works = "    7     train work  ada  R 10:00    1 gpu-0"
    for name, dates in {
        "date": ("Mon Nov 30 13:33:20 UTC 2026", "Mon Nov 30 13:43:20 UTC 2026", "Mon Nov 30 13:53:20 UTC 2026"),
        "iso": ("2026-11-30T13:33:20+00:00", "2026-11-30T13:43:20+00:00", "2026-11-30T13:53:20+00:00"),
    }.items():
        bodies = ("\n".join((heading, works)), "\n".join((heading, stuck, works)), "\n".join((heading, works)))
        text = "\n".join(f"{date}\n{body}" for date, body in zip(dates, bodies, strict=True))
        report = replayed(tmp_path / name, {"loop": text})
        assert [source.skipped for source in report.sources] == [0]
        assert story(report) == [("resolved", 11, 20)]


def test_rounds_of_a_loop_in_one_file(tmp_path: Path) -> None:
    """Nodes before jobs in each round: they belong to the list that follows them."""
    fit = [Job(id=8, gpus=8, count=4, reason="Resources")]
    rounds = [nodes_text(cluster(4, gpu_3=state)) + "\n" + moved(scontrol(fit), number * 600)
              for number, state in enumerate(("IDLE", "IDLE+DRAIN", "IDLE+DRAIN", "IDLE"))]  # fmt: skip
    report = replayed(tmp_path, {"loop": "\n".join(rounds)})
    assert [str(finding.verdict) for finding in report.findings] == ["UNPLACEABLE"]
    assert story(report) == [("resolved", 11, 30)]


def test_what_tells_no_time_belongs_to_its_folder(tmp_path: Path) -> None:
    fit = [Job(id=8, gpus=8, count=4, reason="Resources")]
    for number, state in enumerate(("IDLE+DRAIN", "IDLE")):
        part = tmp_path / f"round-{number}"
        part.mkdir()
        (part / "jobs").write_text(moved(scontrol(fit), number * 600), encoding="utf-8")
        (part / "nodes").write_text(nodes_text(cluster(4, gpu_3=state)), encoding="utf-8")
    report = replayed(tmp_path, {})
    assert story(report) == [("resolved", 0, 10)]


def test_what_tells_no_time_belongs_to_the_digits_of_its_name(tmp_path: Path) -> None:
    fit = [Job(id=8, gpus=8, count=4, reason="Resources")]
    files = {}
    for number, state in enumerate(("IDLE+DRAIN", "IDLE")):
        files[f"jobs-09{number}0.txt"] = moved(scontrol(fit), number * 600)
        files[f"nodes-09{number}0.txt"] = nodes_text(cluster(4, gpu_3=state))
    assert story(replayed(tmp_path, files)) == [("resolved", 0, 10)]


def test_two_forms_of_each_moment(tmp_path: Path) -> None:
    files = folder("scontrol", UNTIED, RING, UNTIED)
    files |= {f"json-{name}": text for name, text in folder("squeue --json", UNTIED, RING, UNTIED).items()}
    assert story(replayed(tmp_path, files)) == [("resolved", 11, 20)]


def test_the_log_between_two_lists(tmp_path: Path) -> None:
    log = f"[{stamp(NOW + 300)}.123] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=5 uid 0\n"
    files = {**folder("scontrol", RING, [RING[2]]), "log": log}
    assert story(replayed(tmp_path, files)) == [("resolved", 0, 5)]


def test_a_start_that_only_the_log_tells(tmp_path: Path) -> None:
    """The job that waited for a licence has begun between the lists: from then on nobody is stuck."""
    inner = {"session": 101, "line": "sbatch --wait -L mesh:2 s.sh", "gpus": 1, "reason": "Licenses"}
    jobs = [
        Job(id=11, state="RUNNING", nodes=("gpu-0",), gpus=8, licences="mesh:2", session=50),
        Job(id=13, licences="mesh:2", **inner),  # type: ignore[arg-type]  # fields by name
    ]
    ps = processes((1001, 1, 101, "slurmstepd: [11.batch]"), (1003, 1001, 101, "sbatch --wait -L mesh:2 s.sh"))
    extra = {"ps": ps, "licences": licences(mesh=2)}
    files = {**folder("scontrol", jobs, jobs), **extra}
    assert story(replayed(tmp_path / "without", files)) == [("open", 0, None)]
    files["log"] = f"[{stamp(NOW + 120)}.000] sched: Allocate JobId=13 NodeList=gpu-1 #CPUs=1 Partition=train\n"
    running = [jobs[0], Job(id=13, state="RUNNING", nodes=("gpu-1",), gpus=1, session=101, ago=480)]
    files |= {"list-1": moved(scontrol(running), 600)}
    assert story(replayed(tmp_path / "with", files)) == [("resolved", 0, 2)]


def test_sacct_of_later_tells_what_was_so_then(tmp_path: Path) -> None:
    """Accounting was asked after the last list: that a job was cancelled then changes nothing about the time before."""
    begun = stamp(NOW - 600)
    accounted = sacct([Job(id=5, state="CANCELLED"), *RING[1:]])
    accounted = accounted.replace(f"|{begun}|{begun}|{begun}|", f"|{begun}|Unknown|{stamp(NOW + 650)}|", 1)
    assert "CANCELLED" in accounted.splitlines()[1]
    report = replayed(tmp_path, {**folder("scontrol", RING, RING), "sacct": accounted})
    assert story(report) == [("open", 11, None), ("resolved", 0, 11)]
    assert found(report) == [("DEADLOCK", ("5", "6")), ("UNPLACEABLE", ("6",))]


def test_lists_of_two_people_one_after_the_other(tmp_path: Path) -> None:
    """Ten minutes lie between them, and they share no job: `squeue -u ada`, and then `squeue -u bob`."""
    his = [Job(id=8, user="bob"), Job(id=9, state="RUNNING", nodes=("gpu-1",), gpus=8, user="bob")]
    files = {"ada": queue_json(RING), "bob": moved(queue_json(his), 600), "nodes": nodes_text(cluster())}
    assert story(replayed(tmp_path / "two people", files)) == [("open", 10, None)]
    hers = [Job(id=8), Job(id=9, state="RUNNING", nodes=("gpu-1",), gpus=8)]
    files["bob"] = moved(queue_json(hers), 600)
    assert story(replayed(tmp_path / "the same", files)) == [("resolved", 0, 10)]


def test_one_job_in_detail_between_two_lists(tmp_path: Path) -> None:
    files = folder("squeue --json", RING, RING, RING)
    files["detail"] = moved(scontrol([RING[2]]), 900)
    assert story(replayed(tmp_path, files)) == [("open", 0, None)]


def test_a_job_that_was_asked_for_by_its_number_is_no_list_of_all(tmp_path: Path) -> None:
    files = {"all": scontrol(RING), "one": moved(scontrol([RING[2]]), 20), "nodes": nodes_text(cluster())}
    assert found(replayed(tmp_path / "another", files)) == [("DEADLOCK", ("5", "6"))]
    files["one"] = moved(scontrol([UNTIED[1]]), 20)
    assert found(replayed(tmp_path / "one of them", files)) == []


def test_lists_of_two_people_at_one_time_are_one_moment(tmp_path: Path) -> None:
    files: Mapping[str, str] = {
        "ada": scontrol([RING[0], RING[2]]),
        "bob": moved(scontrol([RING[1], Job(id=9, state="RUNNING", nodes=("gpu-1",), gpus=8)]), 20),
        "nodes": nodes_text(cluster()),
    }
    assert found(replayed(tmp_path, files)) == [("DEADLOCK", ("5", "6"))]
