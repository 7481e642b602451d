"""State is a function of the latest restatements: order, duplicates and late ones do not show."""

from collections import Counter

from msgspec.structs import replace

from analyzer.model.events import (
    ActorGone,
    ActorObserved,
    Event,
    Lifetime,
    Remarked,
    RemarkKind,
    ResourceObserved,
)
from analyzer.model.ids import ResourceId
from analyzer.state.allocation import State
from tests.properties.systems import state_of
from tests.properties.worlds import NAMES, dice, next_events, world


def _history(number: int, steps: int = 15) -> tuple[State, list[Event]]:
    random = dice(number)
    told = world(number, preemption=number % 2 == 0)
    state = state_of(told)
    for step in range(steps):
        for event in next_events(random, state, 2 + step):
            told.append(event)
            state.apply(event)
    return state, told


def _sums(state: State) -> tuple[Counter[ResourceId], Counter[ResourceId]]:
    used: Counter[ResourceId] = Counter()
    kept: Counter[ResourceId] = Counter()
    for actor in state.actors.values():
        for resource, count in actor.holds:
            used[resource] += count
            if actor.wait is not None or actor.lifetime is Lifetime.ENDLESS:
                kept[resource] += count
    return used, kept


def test_the_sums_are_always_those_of_the_holds() -> None:
    for number in range(300):
        state, _ = _history(number)
        assert (Counter(state.used), Counter(state.kept)) == _sums(state), number
        assert all(state.used.values()), "a resource that nobody holds is not listed"
        assert state.waiting == {name: actor for name, actor in state.actors.items() if actor.wait is not None}


def test_a_state_rebuilds_itself_from_its_events() -> None:
    for number in range(200):
        state, _ = _history(number)
        assert state_of(list(state.as_events())) == state, number


def test_a_state_loaded_at_once_is_the_one_told_event_by_event() -> None:
    for number in range(300):
        told = _there(number)
        at_once, apart = State(), state_of(told)
        assert at_once.load(told), number
        for _ in range(10):
            assert (at_once, at_once.version, at_once.remarks) == (apart, apart.version, apart.remarks), number
            assert (at_once.waiting, at_once.preemptible) == (apart.waiting, apart.preemptible), number
            assert at_once.changes() == apart.changes(), number
            for event in next_events(dice(number), apart, 2):
                at_once.apply(event)
                apart.apply(event)


def test_a_state_that_has_emptied_can_be_loaded_too() -> None:
    state = State()
    for event in (
        ActorObserved(at_ns=1, actor=NAMES[0], holds=((ResourceId("gpu/n1"), 3),)),
        ActorGone(at_ns=2, actor=NAMES[0]),
    ):
        state.apply(event)
        assert len(state.holders(ResourceId("gpu/n1"))) == len(state.actors)
    held = ActorObserved(at_ns=3, actor=NAMES[1], holds=((ResourceId("gpu/n1"), 2),))
    assert state.load([held])
    assert state == state_of([held])
    assert state.holders(ResourceId("gpu/n1")) == ((NAMES[1], 2),)


def test_what_is_not_all_new_is_not_loaded_at_all() -> None:
    for number in range(100):
        told = _there(number)
        [name, *_] = [event.actor for event in told if isinstance(event, ActorObserved)]
        again = dice(number).choice(told[:-1])
        for more in (
            again,
            ActorGone(at_ns=2, actor=name),
            ResourceObserved(at_ns=1, resource=ResourceId("not/there"), units=0),
        ):
            state = State()
            assert not state.load([*told, more]), number
            assert (state, state.version) == (State(), 0), number
        state = state_of(told)
        assert not state.load([replace(told[0], at_ns=9)]), number
        assert state == state_of(told), number


def _there(number: int) -> list[Event]:
    """A world in which every resource exists, with a remark at its end."""
    told = world(number, preemption=number % 2 == 0)
    remark = Remarked(at_ns=1, kind=RemarkKind.BLIND_SPOT, subject="nodes", text="two nodes are missing")
    return [*(event for event in told if not isinstance(event, ResourceObserved) or event.units), remark]


def test_shuffled_duplicated_and_late_restatements_make_no_difference() -> None:
    for number in range(300):
        random = dice(number)
        told = world(number)
        again = [*told, *random.sample(told, len(told) // 2)]
        random.shuffle(again)
        late = [
            replace(event, at_ns=0, units=99) for event in told if isinstance(event, ResourceObserved) and event.units
        ]
        late_actors = [replace(event, at_ns=0, holds=()) for event in told if isinstance(event, ActorObserved)]
        assert state_of([*again, *late, *late_actors]) == state_of(told), number


def test_holders_are_those_who_hold_whenever_asked() -> None:
    for number in range(150):
        random = dice(number)
        state = state_of(world(number))
        for step in range(10):
            for event in next_events(random, state, 2 + step):
                state.apply(event)
            for resource in sorted(state.capacity):
                expected = [(name, dict(state.actors[name].holds).get(resource, 0)) for name in sorted(state.actors)]
                assert list(state.holders(resource)) == [(name, count) for name, count in expected if count]


def test_more_held_than_exists_is_remarked_and_counts_as_nothing_free() -> None:
    state = state_of(
        [
            ResourceObserved(at_ns=1, resource=ResourceId("gpu/n1"), units=2),
            ActorObserved(at_ns=1, actor=NAMES[0], holds=((ResourceId("gpu/n1"), 3),)),
        ]
    )
    [remark] = state.remarks
    assert (remark.subject, remark.text) == ("gpu/n1", "3 units are held, but only 2 exist")
    state.apply(ActorGone(at_ns=2, actor=NAMES[0]))
    assert state.remarks == ()


def test_changes_are_told_once_with_what_was_known_before() -> None:
    state = state_of(world(3))
    assert state.changes().everything
    assert not state.changes().actors
    known = state.actors[NAMES[0]]
    state.apply(replace(known, at_ns=5))
    state.apply(ActorGone(at_ns=6, actor=NAMES[0]))
    assert dict(state.changes().actors) == {NAMES[0]: known}
    assert not state.changes().actors
