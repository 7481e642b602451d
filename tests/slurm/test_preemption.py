"""Units that Slurm may take from jobs that run: they count as obtainable, as far as they are enough, and no further."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.slurm.making import Job, cluster, found, licences, nodes_text, partition, processes, qos, replayed, scontrol

NODES = cluster(2)
SESSIONS = processes(
    (1001, 1, 101, "slurmstepd: [11.batch]"),
    (1003, 1001, 101, "sbatch --wait s.sh"),
    (1004, 1, 102, "slurmstepd: [12.batch]"),
    (1006, 1004, 102, "sbatch --wait s.sh"),
)
KNOT = [("DEADLOCK", ("11", "12", "13", "14"))]


def jobs(outer: str, inner: str, *further: Job, **of_inner: object) -> list[Job]:
    """Two jobs that fill a node each and wait for a job that needs one; partitions are also their QOS."""
    return [
        Job(id=11, state="RUNNING", nodes=("gpu-0",), gpus=8, session=50, partition=outer, qos=outer),
        Job(id=12, state="RUNNING", nodes=("gpu-1",), gpus=8, session=50, partition=outer, qos=outer),
        Job(id=13, gpus=8, reason="Resources", session=101, partition=inner, qos=inner, **of_inner),  # type: ignore[arg-type]  # fields by name
        Job(id=14, gpus=8, reason="Resources", session=102, partition=inner, qos=inner, **of_inner),  # type: ignore[arg-type]  # fields by name
        *further,
    ]


def config(preempt_type: str) -> str:
    return f"Configuration data as of 2026-11-30T13:33:20\nPreemptType             = {preempt_type}\n\n"


def partitions(low: int, high: int, mode: str = "REQUEUE") -> str:
    return partition(NODES, "low", tier=low, preempt_mode=mode) + partition(NODES, "high", tier=high)


def said(folder: Path, told: Sequence[Job], *files: str) -> list[tuple[str, tuple[str, ...]]]:
    extra = {f"extra-{number}": text for number, text in enumerate(files)}
    return found(
        replayed(folder, {"jobs": scontrol(told), "nodes": nodes_text(NODES), "ps": SESSIONS, **extra})
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tiers", "mode", "kind", "expected"),
    [
        ((1, 10), "REQUEUE", "preempt/partition_prio", []),
        ((1, 10), "CANCEL", "preempt/partition_prio", []),
        ((1, 1), "REQUEUE", "preempt/partition_prio", KNOT),
        ((10, 1), "REQUEUE", "preempt/partition_prio", KNOT),
        ((1, 10), "OFF", "preempt/partition_prio", KNOT),
        ((1, 10), "REQUEUE", "preempt/none", KNOT),
    ],
)
def test_partitions(
    tiers: tuple[int, int], mode: str, kind: str, expected: list[tuple[str, tuple[str, ...]]], tmp_path: Path
) -> None:
    assert said(tmp_path, jobs("low", "high"), partitions(*tiers, mode), config(kind)) == expected


def test_without_a_configuration_either_way_counts(tmp_path: Path) -> None:
    assert said(tmp_path, jobs("low", "high"), partitions(1, 10)) == []


@pytest.mark.parametrize(
    ("named", "kind", "expected"),
    [
        ("low", "preempt/qos", []),
        ("other", "preempt/qos", KNOT),
        ("low", "preempt/partition_prio", KNOT),
    ],
)
def test_qos(named: str, kind: str, expected: list[tuple[str, tuple[str, ...]]], tmp_path: Path) -> None:
    limits = qos(high=f"Preempt={named}", low="GrpTRES=gres/gpu=64")
    assert said(tmp_path, jobs("low", "high"), partitions(1, 1), limits, config(kind)) == expected


def test_what_may_be_taken_is_too_little(tmp_path: Path) -> None:
    """Only one card may be taken: the two are as stuck as without it."""
    small = Job(id=15, state="RUNNING", nodes=("gpu-0",), gpus=1, partition="low", qos="low")
    told = jobs("normal", "high", small)
    told[0] = Job(id=11, state="RUNNING", nodes=("gpu-0",), gpus=7, session=50, partition="normal", qos="normal")
    files = (partitions(1, 10) + partition(NODES, "normal", tier=10), config("preempt/partition_prio"))
    assert said(tmp_path / "loud", told, *files) == KNOT
    told[0] = Job(id=11, state="RUNNING", nodes=("gpu-0",), gpus=7, session=50, partition="low", qos="low")
    assert said(tmp_path / "quiet", told, *files) == []


def test_a_licence_is_not_to_be_had_by_preemption(tmp_path: Path) -> None:
    told = [
        Job(id=11, state="RUNNING", nodes=("gpu-0",), gpus=1, session=50, partition="low", licences="mesh:1"),
        Job(id=13, gpus=8, reason="Licenses", session=101, partition="high", licences="mesh:1"),
    ]
    files = (partitions(1, 10), config("preempt/partition_prio"))
    assert said(tmp_path / "loud", told, *files, licences(mesh=1)) == [("DEADLOCK", ("11", "13"))]
    assert said(tmp_path / "quiet", told, *files, licences(mesh=2)) == []
