"""The fixed point against exhaustive search, and the laws that make it a fixed point."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analyzer.graph.liveness import liveness
from analyzer.model.events import ActorObserved, Event, ResourceObserved
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from tests.properties.oracle import World, let_go_on, live_by_search
from tests.properties.systems import NAMES, event_lists, seeded, state_of
from tests.properties.worlds import world

WORLDS = 4000
SOME = st.sets(st.sampled_from(NAMES), max_size=2).map(frozenset)


@seeded(250)
@given(event_lists())
def test_the_live_are_those_that_go_on_in_some_schedule(events: list[Event]) -> None:
    found = liveness(state_of(events), Limits())
    assert found.exact
    assert found.live == live_by_search(events)


@seeded(150)
@given(event_lists(preemption=True))
def test_units_of_less_important_preemptible_holders_can_be_had(events: list[Event]) -> None:
    assert liveness(state_of(events), Limits()).live == live_by_search(events)


@seeded(100)
@given(event_lists(preemption=True), SOME)
def test_without_is_the_world_in_which_they_are_evicted(events: list[Event], names: frozenset[ActorId]) -> None:
    assert liveness(state_of(events), Limits(), without=names).live == live_by_search(events, evicted=names)


@seeded(100)
@given(event_lists(preemption=True), SOME)
def test_given_is_the_world_in_which_they_wait_for_nothing(events: list[Event], names: frozenset[ActorId]) -> None:
    assert liveness(state_of(events), Limits(), given=names).live == live_by_search(let_go_on(events, names))


@seeded(100)
@given(event_lists(preemption=True))
def test_the_order_is_a_schedule(events: list[Event]) -> None:
    world = World(events)
    gone_on: frozenset[ActorId] = frozenset()
    for name in liveness(state_of(events), Limits()).order:
        assert world.can_go_on(world.actors[name], gone_on)
        gone_on |= {name}


@seeded(100)
@given(event_lists(preemption=True).flatmap(lambda events: st.tuples(st.just(events), st.permutations(events))))
def test_neither_set_nor_order_depend_on_the_order_of_events(both: tuple[list[Event], list[Event]]) -> None:
    told, shuffled = both
    assert liveness(state_of(told), Limits()) == liveness(state_of(shuffled), Limits())


@seeded(100)
@given(event_lists(preemption=True), st.sampled_from(NAMES))
def test_evicting_a_stuck_actor_never_makes_another_stuck(events: list[Event], victim: ActorId) -> None:
    before = liveness(state_of(events), Limits()).live
    assume(victim in state_of(events).waiting and victim not in before)
    after = liveness(state_of(events), Limits(), without=frozenset({victim})).live
    assert before <= after


@seeded(100)
@given(event_lists(preemption=True), st.integers(0, 4), st.integers(1, 3))
def test_more_units_never_make_anybody_stuck(events: list[Event], which: int, more: int) -> None:
    grown = list(events)
    known = grown[which]
    assert isinstance(known, ResourceObserved)
    grown[which] = ResourceObserved(at_ns=1, resource=known.resource, units=known.units + more)
    assert liveness(state_of(events), Limits()).live <= liveness(state_of(grown), Limits()).live


@seeded(50)
@given(event_lists())
def test_who_does_not_wait_is_not_judged(events: list[Event]) -> None:
    waiting = {event.actor for event in events if isinstance(event, ActorObserved) and event.wait is not None}
    assert liveness(state_of(events), Limits()).live <= waiting


@pytest.mark.parametrize("block", range(4))
def test_so_it_is_in_thousands_of_worlds(block: int) -> None:
    stuck = 0
    for number in range(block * WORLDS // 4, (block + 1) * WORLDS // 4):
        events = world(number, preemption=number % 3 == 0)
        expected = live_by_search(events)
        state = state_of(events)
        assert liveness(state, Limits()).live == expected, number
        stuck += len(expected) < len(state.waiting)
    assert stuck > WORLDS // 8
