"""Many events at once are the same events: an engine that takes them together says what one says that steps."""

from analyzer.engine import Engine
from analyzer.model.events import ActorGone, ActorObserved, Event, Tick, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import SECOND_NS
from analyzer.model.requests import Units
from tests.properties.systems import state_of
from tests.properties.worlds import dice, next_events, world


def test_taking_together_is_stepping_one_by_one() -> None:
    for number in range(150):
        random = dice(number)
        told = world(number, preemption=number % 2 == 0)
        state = state_of(told)
        together, apart = Engine(), Engine()
        for second in range(1, 8):
            together.take(told)
            for event in told:
                assert apart.step(event) == ()
            tick = Tick(at_ns=second * SECOND_NS, open_ended=second % 3 == 0)
            assert together.step(tick) == apart.step(tick), number
            assert together.findings() == apart.findings(), number
            assert together.waiting() == apart.waiting(), number
            assert together.remarks == apart.remarks, number
            told = [event for _ in range(3) for event in next_events(random, state, second * SECOND_NS)]
            for event in told:
                state.apply(event)


def test_rounds_are_counted_although_everybody_had_gone() -> None:
    """A controller makes its only pod anew, and nothing else is known in between."""
    slot = ((ResourceId("slot/x"), 1),)
    wait = Wait(request=Units(ResourceId("slot/x"), 1), since_ns=0)
    rounds: list[list[Event]] = []
    for number in range(4):
        name = ActorId(f"pod/red/worker-{number}")
        rounds += [
            [ActorObserved(at_ns=10 * number, actor=name, wait=wait, lineage="job/red/worker")],
            [ActorObserved(at_ns=10 * number + 1, actor=name, holds=slot, lineage="job/red/worker")],
            [ActorGone(at_ns=10 * number + 2, actor=name, evicted=True)],
        ]
    together, apart = Engine(), Engine()
    for events in rounds:
        together.take(events)
        for event in events:
            apart.step(event)
        assert together.step(Tick(at_ns=events[0].at_ns)) == apart.step(Tick(at_ns=events[0].at_ns))
    assert together.view().history.rounds == apart.view().history.rounds
    assert together.view().history.rounds["job/red/worker"].count == 3
