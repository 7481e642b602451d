"""The whole way from paths to a report: the contract, and the same bytes for the same incident."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from analyzer.codec.report import encode_report
from analyzer.codec.schema import schema_text
from analyzer.codec.times import parse_time
from analyzer.model.limits import Limits
from analyzer.run import Options, replay
from tests.rim.stories import KNOT, STORIES, written

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema_text()))


def report(path: Path, options: Options | None = None) -> dict[str, object]:
    made: dict[str, object] = json.loads(encode_report(replay([str(path)], options).report))
    VALIDATOR.validate(made)
    return made


@pytest.mark.parametrize("story", STORIES)
def test_every_report_keeps_its_contract(tmp_path: Path, story: str) -> None:
    made = report(written(tmp_path, story))
    assert list(made) == ["schema", "as_of", "sources", "findings", "waiting", "history", "remarks", "window"]
    assert made["as_of"] == "2026-01-14T09:00:00Z"


def test_a_recording_of_a_real_cluster_keeps_the_contract(root: Path) -> None:
    made = report(root / "tests" / "data" / "k8s" / "partial_gang")
    findings = made["findings"]
    assert isinstance(findings, list)
    assert [finding["verdict"] for finding in findings] == ["DEADLOCK"]
    assert findings[0]["citations"]
    for citation in findings[0]["citations"]:
        lines = (root / "tests" / "data" / "k8s" / citation["path"]).read_text().split("\n")
        assert lines[citation["line"] - 1].strip(), "a citation leads to a line that says something"


def test_findings_have_the_fields_of_the_contract_in_order(tmp_path: Path) -> None:
    findings = report(written(tmp_path, "knot"))["findings"]
    assert isinstance(findings, list)
    assert {finding["verdict"] for finding in findings} == {"DEADLOCK", "UNPLACEABLE", "ORPHANED_HOLD"}
    for finding in findings:
        assert list(finding)[:20] == [
            "id", "rule", "verdict", "strength", "certainty", "state", "opened_at", "since", "resolved_at", "layers",
            "members", "blocked_behind", "cleared", "root", "edges", "idle_gpus", "summary", "actions", "citations",
            "cycle",
        ]  # fmt: skip
        assert finding["state"] == "open"
        assert finding["resolved_at"] is None
    knot = next(finding for finding in findings if finding["verdict"] == "DEADLOCK")
    assert knot["members"] == ["gang/blue/b", "gang/red/a"]
    assert knot["blocked_behind"] == ["pod/green/c"]
    assert knot["citations"] == [{"path": "incident/facts.yaml", "line": line} for line in (5, 9)]
    red = next(action for action in knot["actions"] if action["actor"] == "gang/red/a")
    assert red["cost"]["gpu_hours_lost"] == 16


def test_a_finding_that_passed_is_resolved_and_in_the_history(tmp_path: Path) -> None:
    made = report(written(tmp_path, "resolved"))
    findings, history = made["findings"], made["history"]
    assert isinstance(findings, list)
    assert isinstance(history, list)
    assert [(finding["state"], finding["resolved_at"]) for finding in findings] == [
        ("resolved", "2026-01-14T08:20:00Z")
    ]
    assert [(row["at"], row["change"]) for row in history] == [
        ("2026-01-14T08:01:00Z", "opened"),  # when its hold time is over, though nobody wrote a line then
        ("2026-01-14T08:20:00Z", "resolved"),
    ]
    assert {row["id"] for row in history} == {findings[0]["id"]}
    assert {row["stuck"] for row in history} == {2}
    assert made["window"] is None


def test_a_moment_asked_for_ends_the_replay_there(tmp_path: Path) -> None:
    incident = written(tmp_path, "resolved")
    made = report(incident, Options(at_ns=parse_time("2026-01-14T08:10:00Z")))
    findings = made["findings"]
    assert isinstance(findings, list)
    assert made["as_of"] == "2026-01-14T08:10:00Z"
    assert [finding["state"] for finding in findings] == ["open"]
    early = report(incident, Options(at_ns=parse_time("2026-01-14T08:00:30Z")))
    assert early["findings"] == [], "it has not been true for the hold time"
    eager = report(incident, Options(at_ns=parse_time("2026-01-14T08:00:30Z"), limits=Limits(hold_ns=0)))
    assert eager["findings"] != []


def test_one_file_an_actor_in_any_order_is_one_incident(tmp_path: Path) -> None:
    import yaml

    whole = yaml.safe_load(KNOT)
    folder = tmp_path / "incident"
    folder.mkdir()
    head = {"schema": whole["schema"], "as_of": "2026-01-14T09:00:00Z"}
    (folder / "units.json").write_text(json.dumps({**head, "resources": whole["resources"]}))
    for number, (actor, state) in enumerate(whole["actors"].items()):
        text = json.dumps({**head, "actors": {actor: state}}, default=lambda moment: moment.isoformat())
        (folder / f"{number}.json").write_text(text)
    paths = sorted(str(path) for path in folder.iterdir())
    forwards, backwards = (encode_report(replay(order).report) for order in (paths, [*reversed(paths), paths[0]]))
    assert forwards == backwards
    apart, together = json.loads(forwards), report(written(tmp_path / "whole", "knot"))
    assert [finding["summary"] for finding in apart["findings"]] == [
        finding["summary"]
        for finding in together["findings"]  # type: ignore[attr-defined]  # JSON is not typed
    ]


def test_the_seed_of_hashes_changes_nothing(tmp_path: Path) -> None:
    incident = str(written(tmp_path, "knot"))
    told = set()
    for seed in ("0", "1", "2"):
        for form in ("json", "text"):
            command = [sys.executable, "-m", "analyzer", "replay", "--format", form, incident]
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            done = subprocess.run(command, capture_output=True, env=environment, check=False)  # noqa: S603  our own command
            told.add((form, done.stdout))
    assert len(told) == 2


def test_the_collector_is_as_it_was_after_a_replay_that_failed_as_well(tmp_path: Path) -> None:
    seen: list[bool] = []

    def fail(stage: str, _events: int) -> None:
        seen.append(gc.isenabled())
        if stage == "explaining":
            raise KeyboardInterrupt

    assert gc.isenabled()
    with pytest.raises(KeyboardInterrupt):
        replay([str(written(tmp_path, "knot"))], progress=fail)
    assert gc.isenabled()
    assert not any(seen)
    gc.disable()
    try:
        replay([str(tmp_path)])
        assert not gc.isenabled(), "somebody further out has decided"
    finally:
        gc.enable()


def test_an_input_without_anybody_says_so(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text("schema: knotwatch.facts/v1\nresources: {gpu/n1: 8}\n")
    remarks = report(tmp_path)["remarks"]
    assert isinstance(remarks, list)
    assert [(remark["kind"], remark["subject"]) for remark in remarks] == [("blind_spot", "actors")]
    assert report(written(tmp_path / "full", "queue"))["remarks"] == []
