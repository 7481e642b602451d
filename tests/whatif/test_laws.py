"""What holds for every hypothesis, in random worlds."""

from msgspec.structs import replace

from analyzer.engine import Engine
from analyzer.graph.judge import Judge
from analyzer.graph.liveness import liveness, root_supply
from analyzer.graph.ways import ways
from analyzer.hypothesis import Change, Drain, Evict, Fate, Prioritise, Restate, what_if
from analyzer.model.events import ActorObserved, Event, Tick
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from tests.properties.oracle import World
from tests.properties.systems import state_of
from tests.properties.worlds import dice, world
from tests.whatif.oracle import takings

NEWCOMER = ActorId("gang/red/new")


def engine_of(events: list[Event]) -> Engine:
    engine = Engine()
    for event in events:
        engine.step(event)
    engine.step(Tick(at_ns=10, open_ended=True))
    return engine


def test_evicting_is_the_question_without_them() -> None:
    for number in range(600):
        events = world(number, preemption=number % 3 == 0)
        random = dice(number)
        names = sorted(event.actor for event in events if isinstance(event, ActorObserved))
        victims = frozenset(random.sample(names, random.randint(1, min(2, len(names)))))
        answer = what_if(engine_of(events), [Evict(name) for name in victims])
        state = state_of(events)
        live = liveness(state, Limits(), without=victims).live
        assert set(answer.safety.stuck) == set(state.waiting) - victims - live, number


def test_asking_for_nothing_changes_nothing() -> None:
    for number in range(200):
        events = world(number)
        answer = what_if(engine_of(events), [])
        assert (answer.go_on, answer.get_stuck, answer.outlooks) == ((), (), ()), number
        assert {one.turn.value for one in answer.findings} <= {"remains"}, number


def test_who_starts_now_finds_its_units_free() -> None:
    started = 0
    for number in range(600):
        events = world(number)
        newcomers = [one for one in world(number + 10_000) if isinstance(one, ActorObserved) and one.wait is not None]
        if not newcomers:
            continue
        newcomer = replace(newcomers[0], actor=NEWCOMER, holds=())
        answer = what_if(engine_of(events), [Restate(events=(newcomer,), submitted=(NEWCOMER,))])
        [outlook] = answer.outlooks
        if outlook.fate is Fate.STARTS_NOW and outlook.units:
            started += 1
            state = state_of(events)
            assert all(state.capacity[name] - state.used.get(name, 0) >= count for name, count in outlook.units), number
        is_stuck = NEWCOMER in answer.safety.stuck
        assert (outlook.fate is Fate.NEVER) == is_stuck, number
    assert started > 50


def test_draining_and_demoting_never_raise_anything_but_answers() -> None:
    for number in range(300):
        engine = engine_of(world(number, preemption=True))
        names = sorted(engine.view().system.actors)
        changes: list[Change] = [Drain("n1"), Prioritise(names[0], number % 5)]
        answer = what_if(engine, changes)
        assert answer == what_if(engine, changes[::-1]), number
        assert not any(resource.endswith("/n1") for one in answer.outlooks for resource, _ in one.units), number


def test_ways_are_all_ways_there_are() -> None:
    for number in range(600):
        events = world(number)
        state, whole = state_of(events), World(events)
        judge = Judge(state.actors, root_supply(state), frozenset(state.waiting), Limits())
        for name, actor in sorted(state.waiting.items()):
            assert actor.wait is not None
            found = [tuple(item for item in way if item[1]) for way in ways(judge, actor.wait.request, 0)]
            expected = {tuple(sorted(one.items())) for one in takings(whole, actor, frozenset(), ())}
            assert set(found) == expected, (number, name)
            assert judge.met(actor.wait.request, 0) == bool(expected), (number, name)
