"""Both renderings of a plan lead to what was planted, as engine events and as Kubernetes files; tiny rows run."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from analyzer.model.events import Event, Tick
from benchmarks import engine, incremental, replay
from benchmarks.dump import Form, write_dump
from benchmarks.journal import Writer, churn, lines
from benchmarks.plan import AS_OF_NS, Plan, make_plan
from benchmarks.rows import Scale
from benchmarks.table import line, markdown
from benchmarks.truth import check, found

PLANS = [make_plan(300, seed=2), make_plan(1000), make_plan(1000, stuck_share=1.0, seed=5)]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.pods}-{plan.seed}")
def test_the_engine_finds_what_was_planted(plan: Plan) -> None:
    engine.knowing(plan, looked=True)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.pods}-{plan.seed}")
@pytest.mark.parametrize("form", Form)
def test_the_replay_of_the_dump_finds_what_was_planted(plan: Plan, form: Form, tmp_path: Path) -> None:
    write_dump(plan, tmp_path / "dump", form=form)
    replay.prove(plan, tmp_path / "dump")


def test_an_ordinary_day_changes_no_finding() -> None:
    known = engine.knowing(PLANS[1], looked=True)
    for event in churn(PLANS[1], 3000):
        known.step(event)
    known.step(Tick(at_ns=AS_OF_NS + 10**10, open_ended=True))
    check(PLANS[1], found(one.finding for one in known.findings()), len(known.waiting()))


def test_journal_lines_say_what_the_events_say() -> None:
    events = list(Writer(PLANS[0]).events())
    assert [msgspec.json.decode(one, type=Event) for one in lines(events)] == events


@pytest.mark.parametrize("make", incremental.HAPPENINGS, ids=lambda make: make.__name__)
def test_what_happens_is_undone_again(make: incremental.Make) -> None:
    plan = PLANS[1]
    known = engine.knowing(plan, looked=True)
    for turn in range(2):
        incremental.taken(known, make(plan, Writer(plan), turn), iter([2 * turn + 1, 2 * turn + 2]))
    known.step(Tick(at_ns=AS_OF_NS + 10**12, open_ended=True))
    check(plan, found(one.finding for one in known.findings()), len(known.waiting()))


def test_a_row_runs_and_prints_its_figures(tmp_path: Path) -> None:
    scale = Scale(sizes=(300, 400), runs=1, folder=str(tmp_path))
    figures = engine.ROW.measure(scale)
    assert [line(one) for one in figures]
    assert markdown([(engine.ROW, figures)]).count("`engine`") == len(figures)


def test_the_command_measures_one_row_and_speaks_json(root: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "memory", "--pods", "1000", "--runs", "1", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=root)  # noqa: S603  our own command
    [row] = msgspec.json.decode(done.stdout)["rows"]
    assert row["row"] == "memory"
    assert {one["verdict"] for one in row["figures"]} == {"ok"}
