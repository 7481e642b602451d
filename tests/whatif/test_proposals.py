"""What a replay proposes, asked as a hypothesis: it does what the proposal says."""

import os
from pathlib import Path

import pytest

from analyzer.engine import Engine
from analyzer.hypothesis import Evict, Turn, smallest_change, what_if
from analyzer.model.findings import Verdict
from analyzer.model.ids import ActorId
from analyzer.run import replay
from tests.replay.truth import parts_of

TESTS = Path(__file__).parents[1]
SHARED = Path(os.environ.get("KNOTWATCH_SHARED", TESTS.parent.parent / "shared"))
STORIES = sorted((TESTS / "facts_stories").glob("*.story"))
RECORDINGS = sorted(
    found
    for found in (*TESTS.glob("data/k8s/*"), *SHARED.glob("samples/facts/*"), *SHARED.glob("samples/k8s/*"))
    if found.is_dir()
)


def engine_of(recording: Path, folder: Path) -> Engine:
    if recording.is_dir():
        return replay([str(recording)]).engine
    text = parts_of(recording.read_text("utf-8"))[0]
    lines = [line for line in text.splitlines() if line.startswith("{")]
    facts = folder / ("facts.jsonl" if lines else "facts.yaml")
    facts.write_text("\n".join(lines) if lines else text, "utf-8")
    return replay([str(facts)]).engine


def proposals(engine: Engine) -> list[tuple[str, frozenset[ActorId], frozenset[ActorId]]]:
    """(finding, victims, who then runs) of every proposal about the present moment."""
    return [
        (one.finding.id, frozenset((action.actor, *action.together_with)), frozenset(action.then_runs))
        for one in engine.findings()
        if one.finding.verdict is not Verdict.LIVELOCK
        for action in one.finding.actions
        if action.then_runs
    ]


@pytest.mark.parametrize("recording", [*STORIES, *RECORDINGS], ids=lambda path: path.stem)
def test_evicting_who_is_proposed_lets_go_on_who_is_promised(recording: Path, tmp_path: Path) -> None:
    engine = engine_of(recording, tmp_path)
    for finding, victims, then_run in proposals(engine):
        answer = what_if(engine, [Evict(victim) for victim in sorted(victims)])
        stuck = set(answer.safety.stuck)
        assert not then_run & stuck, (finding, victims)
        assert set(answer.go_on) >= then_run, (finding, victims)
        turns = {one.finding.id: one.turn for one in answer.findings}
        remaining = [one.finding for one in answer.findings if one.turn is not Turn.RESOLVES]
        assert turns.get(finding) is Turn.RESOLVES or not any(victims & set(one.members) for one in remaining), victims


@pytest.mark.parametrize("recording", [*STORIES, *RECORDINGS], ids=lambda path: path.stem)
def test_the_smallest_change_of_why_starts_the_actor(recording: Path, tmp_path: Path) -> None:
    engine = engine_of(recording, tmp_path)
    view = engine.view()
    for name in sorted(view.stuck)[:20]:
        change = smallest_change(view, name)
        if change is not None:
            answer = what_if(engine, change.changes)
            assert name in answer.go_on, change.text
            assert answer.safety == change.safety, change.text


@pytest.mark.parametrize("recording", [*STORIES, *RECORDINGS], ids=lambda path: path.stem)
def test_nothing_is_changed_by_asking(recording: Path, tmp_path: Path) -> None:
    engine = engine_of(recording, tmp_path)
    before = (engine.findings(), engine.waiting(), engine.remarks)
    actors = dict(engine.view().system.actors)
    everybody = [Evict(name) for name in sorted(actors)]
    answer = what_if(engine, everybody)
    assert answer.safety.safe
    assert [one.turn for one in answer.findings if one.turn is not Turn.RESOLVES] == []
    assert (engine.findings(), engine.waiting(), engine.remarks) == before
    assert engine.view().system.actors == actors
    assert what_if(engine, everybody[::-1]) == answer
