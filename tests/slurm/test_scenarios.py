"""Stories of one cluster, loud beside quiet, each told in every form that Slurm writes: the same verdict from all."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct, structs

from tests.slurm.making import (
    Job,
    Node,
    all_forms,
    associations,
    cluster,
    found,
    licences,
    processes,
    qos,
    replayed,
    reservation,
    sacct,
)

Found = list[tuple[str, tuple[str, ...]]]


class Story(Struct, kw_only=True):
    """What is there, and what must be said. `extra`: further files, beside jobs and nodes."""

    jobs: Sequence[Job]
    nodes: Sequence[Node] = ()
    extra: dict[str, str] = {}
    expected: Found = []
    without: tuple[str, ...] = ()
    """Forms in which something that the story needs cannot be told."""


def running(number: int, node: str | tuple[str, ...], gpus: int = 8, **more: object) -> Job:
    nodes = (node,) if isinstance(node, str) else node
    return Job(id=number, state="RUNNING", nodes=nodes, gpus=gpus, **more)  # type: ignore[arg-type]  # fields by name


def waiting(number: int, gpus: int = 8, reason: str = "Resources", **more: object) -> Job:
    return Job(id=number, reason=reason, gpus=gpus, **more)  # type: ignore[arg-type]  # fields by name


def ring(length: int) -> list[Job]:
    after = [5300 + (at + 1) % length for at in range(length)]
    return [
        Job(id=5300 + at, reason="Dependency", depends=f"afterok:{each}(unfulfilled)") for at, each in enumerate(after)
    ]


FULL = [running(1, "gpu-0"), running(2, "gpu-1"), running(3, "gpu-2"), running(4, "gpu-3")]
NO_SESSIONS = ("22.05 json", "24.05 json", "sinfo json", "sinfo", "squeue")
SUBMITTING = [
    running(11, "gpu-0", name="outer-a", licences="solver:2", session=50),
    running(12, "gpu-1", name="outer-b", licences="mesh:2", session=50),
    waiting(13, 1, "Licenses", name="inner-a", licences="mesh:2", session=101, line="sbatch --wait -L mesh:2 s.sh"),
    waiting(14, 1, "Licenses", name="inner-b", licences="solver:2", session=102, line="sbatch --wait -L solver:2 s.sh"),
]
SESSIONS = processes(
    (1001, 1, 101, "slurmstepd: [11.batch]"),
    (1002, 1001, 101, "/bin/sh /var/spool/job00011/slurm_script"),
    (1003, 1002, 101, "sbatch --wait -L mesh:2 s.sh"),
    (1004, 1, 102, "slurmstepd: [12.batch]"),
    (1005, 1004, 102, "/bin/sh /var/spool/job00012/slurm_script"),
    (1006, 1005, 102, "sbatch --wait -L solver:2 s.sh"),
)
SUB_JOBS = [
    running(11, "gpu-0"), running(12, "gpu-1"),
    waiting(13, session=101, line="sbatch --wait s.sh"), waiting(14, session=102, line="sbatch --wait s.sh"),
]  # fmt: skip
GROUP = [
    running(21, "gpu-0", qos="team"), running(22, "gpu-1", qos="team"),
    waiting(23, 8, "QOSGrpGRES", qos="team"), waiting(24, 8, "QOSGrpGRES", qos="team", count=3),
]  # fmt: skip


def het(parts: int, reason: str = "Resources") -> list[Job]:
    return [
        waiting(5502 + at, 4, reason if at == parts - 1 else "Resources", het=(5502, at), qos="two")
        for at in range(parts)
    ]


STORIES = {
    "queue behind running jobs": Story(jobs=[*FULL, waiting(5), waiting(6, reason="Priority")]),
    "fits and waits for its turn": Story(jobs=[*FULL[:3], waiting(5, 2, "Priority")]),
    "ring of two dependencies": Story(jobs=ring(2), expected=[("DEADLOCK", ("5300", "5301"))]),
    "ring of twelve": Story(jobs=ring(12), expected=[("DEADLOCK", tuple(str(5300 + at) for at in range(12)))]),
    "chain behind a running job": Story(
        jobs=[FULL[0], Job(id=5, reason="Dependency", depends="afterok:1(unfulfilled)"),
              Job(id=6, reason="Dependency", depends="afterany:5(unfulfilled)")]),
    "chain behind a held job": Story(
        jobs=[Job(id=5, reason="JobHeldUser"), Job(id=6, reason="Dependency", depends="afterok:5(unfulfilled)")]),
    "ring through a held job": Story(
        jobs=[Job(id=5, reason="JobHeldAdmin", depends="afterok:6(unfulfilled)"),
              Job(id=6, reason="Dependency", depends="afterok:5(unfulfilled)")]),
    "ring through a singleton": Story(
        jobs=[Job(id=5, name="etl", reason="Dependency", depends="afterok:6(unfulfilled)"),
              Job(id=6, name="etl", reason="Dependency", depends="singleton(unfulfilled)")],
        expected=[("DEADLOCK", ("5", "6"))]),
    "singletons of two users": Story(
        jobs=[Job(id=5, name="etl", user="bob", reason="Dependency", depends="afterok:6(unfulfilled)"),
              Job(id=6, name="etl", reason="Dependency", depends="singleton(unfulfilled)")]),
    "singleton chain": Story(
        jobs=[running(4, "gpu-0", name="etl"),
              Job(id=5, name="etl", reason="Dependency", depends="singleton(unfulfilled)"),
              Job(id=6, name="etl", reason="Dependency", depends="singleton(unfulfilled)")]),
    "depends on a failed job": Story(
        jobs=[Job(id=4, state="FAILED", reason="NonZeroExitCode"),
              Job(id=5, reason="DependencyNeverSatisfied", depends="afterok:4(failed)")],
        expected=[("UNPLACEABLE", ("5",))]),
    "depends on a failed job or another": Story(
        jobs=[Job(id=4, state="FAILED", reason="NonZeroExitCode"), FULL[0],
              Job(id=5, reason="Dependency", depends="afterok:4(failed)?afterok:1(unfulfilled)")]),
    "after the start of a job that waits for it": Story(
        jobs=[Job(id=5, reason="Dependency", depends="after:6(unfulfilled)"),
              Job(id=6, reason="Dependency", depends="after:5(unfulfilled)")],
        expected=[("DEADLOCK", ("5", "6"))]),
    "begins at a set time": Story(jobs=[*FULL, waiting(5, 8, "BeginTime")]),
    "not looked at yet": Story(jobs=[*SUBMITTING[:3], waiting(14, 1, "None", licences="solver:2", session=102,
                                                              line="sbatch --wait s.sh")],
                               extra={"ps": SESSIONS, "l": licences(solver=2, mesh=2),
                                      "s": sacct(SUBMITTING)}),
    "licences both ways": Story(
        jobs=SUBMITTING, extra={"ps": SESSIONS, "l": licences(solver=2, mesh=2)},
        expected=[("DEADLOCK", ("11", "12", "13", "14"))], without=NO_SESSIONS),
    "licences both ways, totals unknown": Story(
        jobs=SUBMITTING, extra={"ps": SESSIONS, "s": sacct(SUBMITTING)},
        expected=[("DEADLOCK", ("11", "12", "13", "14"))], without=NO_SESSIONS),
    "licences, one more than held": Story(
        jobs=SUBMITTING, extra={"ps": SESSIONS, "l": licences(solver=4, mesh=2)}),
    "licences, a stranger will give some back": Story(
        jobs=[*SUBMITTING, running(15, "gpu-2", licences="mesh:2")],
        extra={"ps": SESSIONS, "l": licences(solver=2, mesh=4)}),
    "submitted from inside, nobody waits": Story(
        jobs=SUBMITTING,
        extra={"ps": SESSIONS.replace("--wait ", ""), "l": licences(solver=2, mesh=2),
               "s": sacct([Job(id=job.id, state=job.state, line="sbatch s.sh") for job in SUBMITTING])}),
    "somebody at a login waits for jobs": Story(
        jobs=[running(11, "gpu-0", session=50), running(12, "gpu-1", session=50),
              waiting(13, 8, session=700, line="sbatch --wait s.sh"),
              waiting(14, 8, session=710, line="sbatch --wait s.sh")],
        nodes=cluster(2), extra={"s": sacct([Job(id=13, line="sbatch --wait s.sh", gpus=8, session=700),
                                             Job(id=14, line="sbatch --wait s.sh", gpus=8, session=710)])}),
    "both wait for their sub-jobs": Story(
        jobs=SUB_JOBS, nodes=cluster(2), extra={"ps": SESSIONS}, expected=[("DEADLOCK", ("11", "12", "13", "14"))],
        without=NO_SESSIONS),
    "both wait for their sub-jobs, a node is spare": Story(jobs=SUB_JOBS, nodes=cluster(3), extra={"ps": SESSIONS}),
    "both wait for their sub-jobs, a stranger will end": Story(
        jobs=[*SUB_JOBS, running(15, "gpu-2")], nodes=cluster(3), extra={"ps": SESSIONS}),
    "a node of the cloud has failed": Story(
        jobs=[waiting(5, 8, count=4)], nodes=cluster(4, gpu_3="DOWN+POWERED_DOWN+CLOUD")),
    "more than the group's limit": Story(
        jobs=GROUP, extra={"q": qos(team="GrpTRES=gres/gpu=16")}, expected=[("UNPLACEABLE", ("24",))]),
    "the group's limit is not known": Story(jobs=GROUP[:3]),
    "more than one job may have": Story(
        jobs=[waiting(5, 8, "QOSMaxGRESPerJob", count=3)], expected=[("UNPLACEABLE", ("5",))]),
    "a group's limit, held by who waits": Story(
        jobs=[running(11, ("gpu-0", "gpu-1"), qos="team", name="outer"),
              waiting(13, 8, "QOSGrpGRES", qos="team", session=101, line="sbatch --wait s.sh")],
        extra={"ps": SESSIONS, "q": qos(team="GrpTRES=gres/gpu=16")},
        expected=[("DEADLOCK", ("11", "13"))], without=NO_SESSIONS),
    "three components where two may run": Story(
        jobs=[running(1, "gpu-0"), *het(3, "QOSMaxJobsPerUserLimit")], extra={"q": qos(two="MaxJobsPU=2")},
        expected=[("UNPLACEABLE", ("5502",))]),
    "three components, limit unknown": Story(
        jobs=[running(1, "gpu-0"), *het(3, "QOSMaxJobsPerUserLimit")], expected=[("UNPLACEABLE", ("5502",))]),
    "two components where two may run": Story(
        jobs=[running(1, "gpu-0"), *het(2)], extra={"q": qos(two="MaxJobsPU=2")}),
    "four nodes wanted, two drained": Story(
        jobs=[waiting(5, 8, "Nodes required for job are DOWN, DRAINED", count=4)],
        nodes=cluster(4, gpu_2="IDLE+DRAIN", gpu_3="IDLE+DRAIN"), expected=[("UNPLACEABLE", ("5",))]),
    "two nodes wanted, two drained": Story(
        jobs=[running(1, "gpu-0"), waiting(5, 8, count=2)], nodes=cluster(4, gpu_2="IDLE+DRAIN", gpu_3="DOWN+DRAIN")),
    "a named node is drained": Story(
        jobs=[waiting(5, 1, "ReqNodeNotAvail, UnavailableNodes:gpu-3", needs_nodes=("gpu-3",))],
        nodes=cluster(4, gpu_3="IDLE+DRAIN"), expected=[("UNPLACEABLE", ("5",))]),
    "a named node restarts": Story(
        jobs=[waiting(5, 1, "ReqNodeNotAvail", needs_nodes=("gpu-3",))], nodes=cluster(4, gpu_3="DOWN+REBOOT_ISSUED")),
    "nodes sleep until they are wanted": Story(
        jobs=[waiting(5, 8, count=4)], nodes=cluster(4, gpu_2="IDLE+POWERED_DOWN", gpu_3="IDLE+POWERED_DOWN")),
    "a node is being cleaned up": Story(
        jobs=[*FULL[:3], Job(id=4, state="COMPLETING", nodes=("gpu-3",), gpus=8), waiting(5)]),
    "Slurm took what we think too large": Story(jobs=[waiting(5, 16)]),
    "throttled array": Story(
        jobs=[running(31, "gpu-0", 2, array=(30, "0"), throttle=1),
              Job(id=30, array=(30, "1-5"), throttle=1, reason="JobArrayTaskLimit", gpus=2),
              Job(id=40, reason="Dependency", depends="afterany:30_*(unfulfilled)")]),
    "two arrays that wait for each other": Story(
        jobs=[Job(id=30, array=(30, "0-5"), throttle=2, reason="Dependency", depends="afterok:40_*(unfulfilled)"),
              Job(id=40, array=(40, "0-5"), throttle=2, reason="Dependency", depends="afterok:30_*(unfulfilled)")],
        expected=[("DEADLOCK", ("30", "40"))]),
    "a throttled array whose running task waits for a later one": Story(
        jobs=[running(31, "gpu-0", 2, array=(30, "0"), throttle=1, session=50),
              Job(id=30, array=(30, "1-5"), throttle=1, reason="JobArrayTaskLimit", gpus=2),
              Job(id=40, reason="Dependency", depends="afterok:30_1(unfulfilled)", session=101)],
        extra={"ps": processes((1001, 1, 101, "slurmstepd: [31.batch]"), (1003, 1001, 101, "sbatch --wait s.sh"))},
        expected=[("DEADLOCK", ("30", "30_0", "40"))], without=NO_SESSIONS),
    "the same with room for a second task": Story(
        jobs=[running(31, "gpu-0", 2, array=(30, "0"), throttle=2, session=50),
              Job(id=30, array=(30, "1-5"), throttle=2, reason="Priority", gpus=2),
              Job(id=40, reason="Dependency", depends="afterok:30_1(unfulfilled)", session=101)],
        extra={"ps": processes((1001, 1, 101, "slurmstepd: [31.batch]"), (1003, 1001, 101, "sbatch --wait s.sh"))}),
    "more nodes than its reservation has, and Slurm took it": Story(
        jobs=[waiting(5, 8, count=3, reservation="night")], extra={"r": reservation("night", "gpu-0", "gpu-1")}),
    "a drained node without which its reservation is too small": Story(
        jobs=[waiting(5, 8, count=2, reservation="night")], nodes=cluster(4, gpu_1="IDLE+DRAIN"),
        extra={"r": reservation("night", "gpu-0", "gpu-1")}, expected=[("UNPLACEABLE", ("5",))]),
    "as many nodes as its reservation has": Story(
        jobs=[waiting(5, 8, count=2, reservation="night")], extra={"r": reservation("night", "gpu-0", "gpu-1")}),
    "a reservation that has not begun": Story(
        jobs=[waiting(5, 8, "Reservation", count=2, reservation="night")], nodes=cluster(4, gpu_1="IDLE+DRAIN"),
        extra={"r": reservation("night", "gpu-0", "gpu-1", state="INACTIVE")}),
    "a reservation of which nothing is known": Story(
        jobs=[waiting(5, 8, count=4, reservation="night")], nodes=cluster(4, gpu_1="IDLE+DRAIN")),
    "more than the account's limit": Story(
        jobs=[running(21, "gpu-0", account="team"), waiting(23, 8, "AssocGrpGRES", account="team", count=3)],
        extra={"q": associations(("team", "", "GrpTRES=gres/gpu=16"))}, expected=[("UNPLACEABLE", ("23",))]),
    "as much as the account's limit": Story(
        jobs=[running(21, "gpu-0", account="team"), waiting(23, 8, "AssocGrpGRES", account="team", count=2)],
        extra={"q": associations(("team", "", "GrpTRES=gres/gpu=16"))}),
    "an account's limit, held by who waits": Story(
        jobs=[running(11, ("gpu-0", "gpu-1"), account="team", name="outer"),
              waiting(13, 8, "AssocGrpGRES", account="team", session=101, line="sbatch --wait s.sh")],
        extra={"ps": SESSIONS, "q": associations(("team", "", "GrpTRES=gres/gpu=16"))},
        expected=[("DEADLOCK", ("11", "13"))], without=NO_SESSIONS),
    "the user's number of jobs in the account, held by who waits": Story(
        jobs=[running(11, "gpu-0", account="team", name="outer"),
              waiting(13, 8, "AssocMaxJobsLimit", account="team", session=101, line="sbatch --wait s.sh")],
        extra={"ps": SESSIONS, "q": associations(("team", "", "GrpJobs="), ("team", "ada", "MaxJobs=1"))},
        expected=[("DEADLOCK", ("11", "13"))], without=NO_SESSIONS),
    "the user may have one more job in the account": Story(
        jobs=[running(11, "gpu-0", account="team", name="outer"),
              waiting(13, 8, "AssocMaxJobsLimit", account="team", session=101, line="sbatch --wait s.sh")],
        extra={"ps": SESSIONS, "q": associations(("team", "", "GrpJobs="), ("team", "ada", "MaxJobs=2"))}),
    "may preempt": Story(
        jobs=[running(11, ("gpu-0", "gpu-1"), qos="low", name="outer"),
              waiting(13, 8, "Resources", qos="high", count=4, session=101, line="sbatch --wait s.sh")],
        extra={"ps": SESSIONS, "q": qos(high="Preempt=low", low="GrpTRES=gres/gpu=64")}),
    "whole nodes": Story(
        jobs=[running(11, "gpu-0", 0), running(12, "gpu-1", 0),
              waiting(13, 0, exclusive=True, session=101), waiting(14, 0, exclusive=True, session=102)],
        nodes=cluster(2), extra={"ps": SESSIONS}, expected=[("DEADLOCK", ("11", "12", "13", "14"))],
        without=NO_SESSIONS),
}  # fmt: skip


@pytest.mark.parametrize("title", STORIES)
def test_every_form_tells_the_same_story(title: str, tmp_path: Path) -> None:
    story = STORIES[title]
    said = {}
    for form, files in all_forms(story.jobs, story.nodes or cluster(), story.extra).items():
        report = replayed(tmp_path / form, files)
        assert [source for source in report.sources if source.skipped or not source.records] == [], form
        said[form] = found(report)
    told = {form: story.expected if form not in story.without else [] for form in said}
    assert said == told


def test_time_limits_make_a_ring_soft(tmp_path: Path) -> None:
    jobs = [structs.replace(job, limit=86400) for job in SUBMITTING]
    files = all_forms(jobs, cluster(), {"ps": SESSIONS, "l": licences(solver=2, mesh=2)})["scontrol"]
    (finding,) = replayed(tmp_path, files).findings
    assert str(finding.strength) == "soft"


def test_who_must_finish_first_is_named(tmp_path: Path) -> None:
    files = all_forms([*FULL, waiting(5)], cluster())["22.05 json"]
    (row,) = replayed(tmp_path, files).waiting
    assert set(row.first_to_finish) == {f"slurm-job/lab/{number}" for number in (1, 2, 3, 4)}


def test_a_plan_for_a_job_that_can_never_start_starves_another(tmp_path: Path) -> None:
    """The first has three components where two may run, and all nodes but one in its plan; the second could run."""
    never = [structs.replace(job, planned=(f"gpu-{at}",)) for at, job in enumerate(het(3, "QOSMaxJobsPerUserLimit"))]
    starved = [
        waiting(5505, 2, het=(5505, 0), qos="two", user="bob", planned=("gpu-3",)),
        waiting(5506, 2, het=(5505, 1), qos="two", user="bob"),
    ]
    running_now = [running(1, "gpu-0", 1)]
    files = all_forms([*running_now, *never, *starved], cluster(), {"q": qos(two="MaxJobsPU=2")})["scontrol"]
    (finding,) = replayed(tmp_path / "loud", files).findings
    assert str(finding.verdict) == "UNPLACEABLE"
    assert [actor.rpartition("/")[2] for actor in finding.members] == ["5502"]
    assert [actor.rpartition("/")[2] for actor in finding.blocked_behind] == ["5505"]
    allowed = all_forms([*running_now, *never[:2], *starved], cluster(), {"q": qos(two="MaxJobsPU=2")})["scontrol"]
    assert found(replayed(tmp_path / "quiet", allowed)) == []


def test_a_job_is_spoken_of_by_nodes_and_not_by_pods(tmp_path: Path) -> None:
    """Slurm gives nodes, or parts of them: nobody there knows what a pod is."""
    drained = cluster(4, gpu_3="IDLE+DRAIN")
    loud = [running(1, "gpu-0"), waiting(5, 8, count=2), waiting(6, 8, needs_nodes=("gpu-1",)), waiting(7, 8, count=4)]
    report = replayed(tmp_path, all_forms(loud, drained)["scontrol"])
    needs = {row.actor.rpartition("/")[2]: row.needs for row in report.waiting}
    assert needs["5"] == "2 nodes (of 3) with 8 gpu and 1 cpu each"
    assert needs["6"] == "8 gpu and 1 cpu on gpu-1"
    told = " ".join((*needs.values(), *(finding.summary for finding in report.findings)))
    assert " pod" not in told
    assert " node" in told
