"""Mechanisms say the same in whatever order objects stand in lists: nothing about a list says what came first."""

import random
from pathlib import Path

import pytest

from tests.kubernetes.scenarios.incident import Incident
from tests.replay.reports import report_of, verdicts_of
from tests.replay.truth import parts_of

FOLDERS = ("a3_*", "a4_*", "e1_*", "e2_*", "f1_*", "g1_*", "g2_*", "h2_*")
SCENARIOS = sorted(path for folder in FOLDERS for path in Path(__file__).parent.glob(f"{folder}/*.scenario"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_order_of_objects_does_not_matter(scenario: Path, tmp_path: Path) -> None:
    given = parts_of(scenario.read_text("utf-8"))[0]
    in_order = report_of([Incident(given).write(tmp_path / "in-order")])
    mixed = Incident(given)
    random.Random(7).shuffle(mixed.objects)  # noqa: S311  a fixed shuffle, not a secret
    assert verdicts_of(report_of([mixed.write(tmp_path / "mixed")])) == verdicts_of(in_order)
