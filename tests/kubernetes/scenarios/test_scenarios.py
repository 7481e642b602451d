"""Every text says its truth: `incident.py` and `history.py` describe the lines, `tests/replay/truth.py` the rest."""

from pathlib import Path

import pytest

from tests.kubernetes.scenarios.history import write_history
from tests.kubernetes.scenarios.incident import Incident
from tests.replay.reports import bad_citations, report_of
from tests.replay.truth import compare, parts_of

FOLDER = Path(__file__).parent
SCENARIOS = sorted(FOLDER.glob("*/*.scenario"))
HISTORIES = sorted(FOLDER.glob("*/*.history"))
MECHANISMS = (
    *(
        "a1",
        "a2",
        "a3",
        "a4",
        "a5",
        "a6",
        "a7",
        "b1",
        "b2",
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
        "d1_gpus",
        "d1_volumes",
        "d2",
    ),
    *("dra", "e1", "e2", "f1", "g1", "g2", "h1", "h2", "kueue"),
    *("d3", "placement", "nowhere", "unstartable", "node_refusals"),
)


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_name)
def test_scenario_tells_the_truth(scenario: Path, tmp_path: Path) -> None:
    given, truth = parts_of(scenario.read_text("utf-8"))
    report = report_of([Incident(given).write(tmp_path / "incident")])
    not_read = [s for s in report["sources"] if s["kind"] == "not understood" or s["skipped"]]
    assert not not_read
    assert compare(truth, report) == []
    assert bad_citations(report, tmp_path) == []


@pytest.mark.parametrize("history", HISTORIES, ids=_name)
def test_history_tells_the_truth(history: Path, tmp_path: Path) -> None:
    given, truth = parts_of(history.read_text("utf-8"))
    assert compare(truth, report_of([write_history(given, tmp_path / "incident")])) == []


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_mechanism_has_loud_and_quiet_scenarios(mechanism: str) -> None:
    truths = [parts_of(path.read_text("utf-8"))[1] for path in SCENARIOS if path.parent.name.startswith(mechanism)]
    loud = sum(any(claim.state == "open" for claim in truth.claims) for truth in truths)
    assert loud >= 1
    assert len(truths) - loud >= 2
