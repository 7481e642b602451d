"""Brought up to date or judged from scratch: the same answer, whatever happens."""

import pytest

from analyzer.graph.cores import Diagnoser, diagnose
from analyzer.graph.victims import WhatIf, releases
from analyzer.model.limits import Limits
from tests.properties.systems import state_of
from tests.properties.worlds import dice, next_events, world

STORIES = 400
STEPS = 12
BLOCKS = 4


@pytest.mark.parametrize("block", range(BLOCKS))
def test_an_incremental_answer_equals_one_from_scratch(block: int) -> None:
    steps = from_scratch = 0
    for number in range(block * STORIES // BLOCKS, (block + 1) * STORIES // BLOCKS):
        random = dice(number)
        state = state_of(world(number, preemption=number % 4 == 0))
        diagnoser = Diagnoser(Limits())
        diagnoser.diagnose(state, state.changes())
        for step in range(STEPS):
            for event in next_events(random, state, 2 + step):
                state.apply(event)
            found = diagnoser.diagnose(state, state.changes())
            assert found == diagnose(state, Limits()), (number, step)
            steps += 1
        from_scratch += diagnoser.from_scratch - 1
    assert from_scratch < steps / 2, "most steps are meant to be incremental, else this proves nothing"


def test_nothing_happened_costs_nothing() -> None:
    state = state_of(world(7))
    diagnoser = Diagnoser(Limits())
    first = diagnoser.diagnose(state, state.changes())
    assert diagnoser.diagnose(state, state.changes()) is first


def test_what_if_may_be_asked_of_a_situation_that_was_brought_up_to_date() -> None:
    asked = 0
    for number in range(1, 600, 2):
        random = dice(number)
        state = state_of(world(number))
        diagnoser = Diagnoser(Limits())
        diagnoser.diagnose(state, state.changes())
        for event in next_events(random, state, 2):
            state.apply(event)
        found = diagnoser.diagnose(state, state.changes())
        assert diagnoser.situation is not None
        what_if = WhatIf(diagnoser.situation)
        for core in found.cores:
            anew = releases(state, Limits(), core, among_stuck=found.stuck)
            assert what_if.releases(core, among_stuck=found.stuck) == anew, number
            asked += 1
    assert asked > 20
