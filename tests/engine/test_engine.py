"""The engine: lazy where it is quiet, the same in every order, honest about prices."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer import explain
from analyzer.detectors import DETECTORS
from analyzer.detectors.page import HEADINGS, rules_page
from analyzer.engine import Engine
from analyzer.model.events import ActorGone, Remarked, RemarkKind, Tick
from analyzer.model.findings import ChangeKind, Finding
from analyzer.model.ids import ActorId
from analyzer.model.limits import SECOND_NS, Limits
from tests.engine.play import played
from tests.scenarios.story import moments, parse_lines

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def only(engine: Engine) -> Finding:
    (opened,) = engine.findings()
    return opened.finding


def test_a_quiet_tick_writes_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("asked for a sentence")

    monkeypatch.setattr(explain, "explained", refuse)
    monkeypatch.setattr(explain, "waiting_rows", refuse)
    played("0s capacity slot/x 1\n1s hold job/a slot/x 1\n2s wait job/b units slot/x 1\n10s tick\n20s tick")


def test_nothing_known_is_nothing_found() -> None:
    engine = Engine()
    assert engine.step(Tick(at_ns=0, open_ended=True)) == ()
    assert (engine.findings(), engine.waiting(), list(engine.remarks)) == ((), (), [])


def test_remarks_are_kept_and_withdrawn() -> None:
    engine = Engine()
    remark = Remarked(at_ns=0, kind=RemarkKind.BLIND_SPOT, subject="nodes", text="no nodes were handed over")
    engine.step(remark)
    assert list(engine.remarks) == [remark]
    engine.step(Remarked(at_ns=1, kind=RemarkKind.BLIND_SPOT, subject="nodes", text=""))
    assert list(engine.remarks) == []


RING = """
    0s capacity slot/x 4
    1s hold gang/a slot/x 2
    1s hold gang/b slot/x 2
    2s wait gang/a units slot/x 2
    2s wait gang/b units slot/x 2
"""


@pytest.mark.parametrize(
    ("attributes", "order"),
    [
        ("", ["gang/a", "gang/b"]),
        ("3s set gang/a gpus=8 running_since=0s\n3s set gang/b gpus=4 running_since=0s", ["gang/b", "gang/a"]),
        (
            "3s set gang/a gpus=8 running_since=0s checkpoint=990s\n3s set gang/b gpus=4 running_since=0s",
            ["gang/a", "gang/b"],
        ),
        ("3s set gang/a priority=5", ["gang/b", "gang/a"]),
        ("3s set gang/a recreated\n3s set gang/b gpus=64 running_since=0s", ["gang/b", "gang/a"]),
    ],
)
def test_victims_are_offered_cheapest_first(attributes: str, order: list[str]) -> None:
    assert [action.actor for action in only(played(RING + attributes)).actions] == order


def test_the_price_is_counted_since_the_last_checkpoint() -> None:
    finding = only(played(RING + "3s set gang/a gpus=8 running_since=0s checkpoint=550s\n3s set gang/b gpus=4"))
    lost = {action.actor: action.cost.gpu_hours_lost for action in finding.actions}
    assert lost == {"gang/a": 1.0, "gang/b": None}
    assert finding.idle_gpus == 12
    assert any("12 GPUs held by actors that wait" in line for line in finding.details)


def test_every_member_is_cited_and_citations_are_bounded() -> None:
    finding = only(played(RING))
    assert finding.citations == ((0, 3), (0, 4), (0, 5), (0, 6))


def test_findings_can_be_asked_for_between_ticks() -> None:
    engine = played(RING)
    told = engine.findings()
    engine.step(ActorGone(at_ns=1001 * SECOND_NS, actor=ActorId("gang/a")))
    assert engine.findings() == told
    assert engine.view().diagnosis.stuck == ()
    assert engine.findings() == told
    assert [change.kind for change in engine.step(Tick(at_ns=1002 * SECOND_NS))] == [ChangeKind.RESOLVED]
    assert engine.findings() == ()


def test_ids_do_not_change_with_bystanders() -> None:
    behind = "3s wait gang/c units slot/x 1"
    assert only(played(RING)).id == only(played(RING + behind)).id
    assert only(played(RING + behind)).blocked_behind == ("gang/c",)


def test_one_hold_time_for_the_whole_engine() -> None:
    engine = Engine(Limits(hold_ns=0))
    assert engine.step(Tick(at_ns=5 * SECOND_NS)) == ()


def test_the_rules_page_has_every_heading_of_every_rule() -> None:
    page = rules_page()
    for detector in DETECTORS:
        section = page.partition(f"\n## {detector.rule.id}\n")[2].partition("\n## ")[0]
        assert [heading for heading in HEADINGS if f"- **{heading}.** " not in section] == []


@pytest.mark.parametrize("seed", ["0", "1", "77"])
def test_the_same_bytes_under_any_hash_seed(seed: str) -> None:
    code = (
        "import sys, pathlib\n"
        "from tests.scenarios.test_scenarios import SCENARIOS, halves, play\n"
        "from tests.scenarios.story import parse_lines\n"
        "sys.exit(any(play(parse_lines(halves(path)[0]))[0] != halves(path)[1] for path in SCENARIOS))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=SCENARIOS.parents[1], check=False)  # noqa: S603 - our own interpreter and code
    assert done.returncode == 0


def test_a_look_when_it_is_due_opens_what_stood_between_two_events() -> None:
    engine = Engine()
    for events, _ in moments(parse_lines(RING)):
        for event in events:
            engine.step(event)
    assert engine.step(Tick(at_ns=3 * SECOND_NS)) == ()
    assert engine.due_ns() == 62 * SECOND_NS
    assert [change.kind for change in engine.step(Tick(at_ns=62 * SECOND_NS))] == [ChangeKind.OPENED]
    assert engine.due_ns() is None


def test_cards_of_those_that_work_while_they_wait_are_not_idle() -> None:
    finding = only(
        played(RING + "3s set gang/a gpus=8 running_since=0s working\n3s set gang/b gpus=4 running_since=0s")
    )
    assert finding.idle_gpus == 4
    assert finding.actions[0].actor == "gang/a"
    assert finding.actions[0].cost.gpu_hours_lost == 0.0


def test_a_restated_member_is_looked_at_again() -> None:
    engine = played(RING)
    for events, _ in moments(parse_lines(RING + "1001s set gang/a gpus=8")):
        for event in events:
            engine.step(event)
    assert [change.kind for change in engine.step(Tick(at_ns=1002 * SECOND_NS))] == [ChangeKind.UPDATED]
    assert only(engine).idle_gpus == 8


def one_owner(pods: range) -> str:
    """A Job whose pods ask for more than a node has."""
    lines = ["0s capacity gpu/n1 4", "0s capacity gpu/n2 4"]
    for number in pods:
        lines.append(f"1s wait pod/red/train-{number:03} pods 1 of gpu 8 on n1 n2")
        lines.append(f"1s owner pod/red/train-{number:03} Job red/train")
    return "\n".join(lines)


def test_pods_of_one_owner_are_one_finding_whose_id_lasts_while_they_come_and_go() -> None:
    few, many, others = (only(played(one_owner(pods))) for pods in (range(2), range(100), range(50, 60)))
    assert few.id == many.id == others.id
    assert (len(many.members), many.root) == (100, ActorId("pod/red/train-000"))
    assert many.summary.startswith("100 pods of Job red/train can never be placed: each needs 1 pod of 8 gpu")
    assert few.id != only(played(one_owner(range(2)).replace("Job red/train", "Job blue/train"))).id
    assert few.id != only(played(one_owner(range(2)).replace("gpu 8", "gpu 7"))).id


def test_the_same_lack_on_other_nodes_is_a_finding_of_its_own() -> None:
    story = (
        one_owner(range(2))
        + "\n1s wait pod/red/train-900 pods 1 of gpu 8 on n1\n1s owner pod/red/train-900 Job red/train"
    )
    first, second = (opened.finding for opened in played(story).findings())
    assert first.members == (ActorId("pod/red/train-000"), ActorId("pod/red/train-001"))
    assert second.members == (ActorId("pod/red/train-900"),)
    assert first.id == only(played(one_owner(range(2)))).id != second.id


def test_who_waits_behind_any_of_an_owner_s_pods_is_behind_the_finding() -> None:
    story = one_owner(range(3)) + "\n0s capacity quota/red 16\n2s wait pod/red/late units quota/red 4"
    story += "\n1s hold pod/red/train-000 quota/red 8\n1s hold pod/red/train-002 quota/red 8"
    assert only(played(story)).blocked_behind == (ActorId("pod/red/late"),)
