"""What a report says about rounds that only the status of a Workload tells of."""

from pathlib import Path

from tests.kubernetes.scenarios.incident import Incident
from tests.replay.reports import report_of
from tests.replay.truth import parts_of

SCENARIO = Path(__file__).parent / "kueue" / "evicted_again_and_again.scenario"


def test_the_number_of_rounds_and_their_period_are_told_and_no_preemption(tmp_path: Path) -> None:
    given, _ = parts_of(SCENARIO.read_text("utf-8"))
    (finding,) = report_of([Incident(given).write(tmp_path / "incident")])["findings"]
    assert "6 times, about every 72 s" in finding["summary"]
    assert "preempt" not in finding["summary"]
    assert finding["certainty"] == "proven"
