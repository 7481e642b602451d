"""A real loop of preemption is told from any part of its recording that shows it, with its count and period."""

from pathlib import Path

import pytest

from tests.replay.reports import Report, report_of

FOLDER = Path(__file__).parents[2] / "data" / "k8s" / "preemption_loop"
PODS = "pod/team-blue/background-57dfb8ff5f-p6ffl"
OWNER = "controller/team-blue/background-57dfb8ff5f"
ROUNDS = 36


def _report(*names: str) -> Report:
    return report_of([FOLDER / name for name in names])


@pytest.mark.parametrize(
    ("names", "member"),
    [
        (("events.json",), OWNER),
        (("events.json", "kube-scheduler.log"), OWNER),
        (("pods.json", "events.json"), PODS),
        (("nodes.json", "pods.json", "workloads.json", "kube-scheduler.log"), PODS),
        (("nodes.json", "pods.json", "workloads.json", "events.json", "kube-scheduler.log"), PODS),
    ],
    ids=lambda names: "+".join(names) if isinstance(names, tuple) else "",
)
def test_any_part_that_shows_it_suffices(names: tuple[str, ...], member: str) -> None:
    findings = _report(*names)["findings"]
    assert [(one["verdict"], one["state"], one["members"]) for one in findings] == [("LIVELOCK", "open", [member])]
    assert "about every 2 s" in findings[0]["summary"]
    assert f"{ROUNDS} times" in findings[0]["summary"] or f"{ROUNDS - 1} times" in findings[0]["summary"]
    assert any("each time for Job team-red/urgent" in detail for detail in findings[0]["details"])


def test_objects_alone_show_no_loop() -> None:
    """One moment of it is ordinary preemption."""
    assert _report("nodes.json", "pods.json", "workloads.json")["findings"] == []
