"""A rule is one stem in three places: its detector, its scenarios, its section of the rules page."""

import re

import pytest

from analyzer.detectors import DETECTORS, Detector
from analyzer.detectors.page import HEADINGS
from tests.architecture.source_tree import ROOT

STEMS = {detector.rule.id.replace("-", "_"): detector for detector in DETECTORS}


def test_every_detector_file_is_listed_under_its_own_name() -> None:
    folder = ROOT / "analyzer" / "detectors"
    with_rule = [path for path in folder.glob("*.py") if re.search(r"^RULE\b", path.read_text("utf-8"), re.MULTILINE)]
    assert sorted(path.stem for path in with_rule) == sorted(STEMS)


@pytest.mark.parametrize("stem", STEMS)
def test_every_rule_has_loud_and_quiet_scenarios(stem: str) -> None:
    folder = ROOT / "tests" / "scenarios" / stem
    outcomes = {path.name: path.read_text("utf-8").partition("\n----")[2] for path in folder.glob("*.scenario")}
    assert outcomes, f"tests/scenarios/{stem}/*.scenario is missing"
    rule = stem.replace("_", "-")
    loud = {name for name, outcome in outcomes.items() if re.search(rf"\bopened +{rule}\b", outcome)}
    assert loud, f"no scenario in which {rule} opens"
    assert outcomes.keys() - loud, f"no scenario in which {rule} keeps quiet"


@pytest.mark.parametrize("detector", STEMS.values(), ids=list(STEMS))
def test_every_rule_explains_itself(detector: Detector) -> None:
    assert [heading for heading in HEADINGS if f"\n\n{heading}: " not in detector.page] == []


def test_the_rules_page_has_every_rule_and_no_other() -> None:
    page = (ROOT / "docs" / "rules.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)$", page, re.MULTILINE) == [detector.rule.id for detector in DETECTORS]
