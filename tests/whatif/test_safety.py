"""The banker's answer against all orders there are."""

import pytest
from msgspec.structs import replace

from analyzer.graph.safety import Safety, safety
from analyzer.model.events import ActorObserved, Event, Lifetime, ResourceObserved
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from tests.properties.oracle import World, live_by_search
from tests.properties.systems import state_of
from tests.properties.worlds import dice, world
from tests.whatif.oracle import Taken, ends_of_all_orders, takings, with_taken

WORLDS = 3000


def crowded_world(number: int) -> list[Event]:
    """A world in which services queue for little: most waiters are endless and hold nothing yet."""
    random = dice(number)
    events: list[Event] = []
    for event in world(number, preemption=number % 5 == 0):
        if isinstance(event, ActorObserved) and event.wait is not None and random.random() < 0.7:
            events.append(replace(event, lifetime=Lifetime.ENDLESS, holds=()))
        elif isinstance(event, ResourceObserved):
            events.append(replace(event, units=max(event.units, 2)))
        else:
            events.append(event)
    return events


def _waiting(events: list[Event]) -> dict[ActorId, ActorObserved]:
    return {one.actor: one for one in events if isinstance(one, ActorObserved) and one.wait is not None}


def _fewest_left(events: list[Event], able: frozenset[ActorId]) -> tuple[int, int]:
    """The fewest of these that any order leaves out: finite ones first."""
    endless = {name for name, one in _waiting(events).items() if one.lifetime is Lifetime.ENDLESS}
    return min((len(able - endless - served), len((able & endless) - served)) for served in ends_of_all_orders(events))


@pytest.mark.parametrize("block", range(4))
def test_the_order_found_leaves_out_as_few_as_any(block: int) -> None:
    crowded = 0
    for number in range(block * WORLDS // 4, (block + 1) * WORLDS // 4):
        events = crowded_world(number) if number % 2 else world(number, preemption=number % 5 == 0)
        found = safety(state_of(events), Limits())
        waiting = _waiting(events)
        ends = ends_of_all_orders(events)
        assert found.exact, number
        assert found.safe == (frozenset(waiting) in ends), number
        assert set(found.stuck) == set(waiting) - live_by_search(events), number
        endless = {name for name in found.left_over if waiting[name].lifetime is Lifetime.ENDLESS}
        left = (len(found.left_over) - len(endless), len(endless))
        assert left == _fewest_left(events, frozenset(waiting) - frozenset(found.stuck)), number
        crowded += bool(found.left_over)
    assert crowded > 20


def test_the_order_is_one_that_can_be_gone() -> None:
    for number in range(400):
        events = crowded_world(number)
        order = safety(state_of(events), Limits()).order
        assert len(order) == len(set(order)), number
        assert can_be_gone(World(events), order, frozenset(), ()), number


def can_be_gone(world: World, order: tuple[ActorId, ...], served: frozenset[ActorId], taken: Taken) -> bool:
    if not order:
        return True
    actor = world.actors[order[0]]
    return any(
        can_be_gone(world, order[1:], served | {actor.actor}, with_taken(taken, actor, more))
        for more in takings(world, actor, served, taken)
    )


def test_same_answer_twice() -> None:
    def twice(number: int) -> tuple[Safety, Safety]:
        events = crowded_world(number)
        return safety(state_of(events), Limits()), safety(state_of(events[::-1]), Limits())

    for number in range(200):
        first, second = twice(number)
        assert first == second, number
