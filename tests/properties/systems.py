"""Random small systems: everything that can be said about actors, over two nodes, a quota and a lock."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from analyzer.model.events import ActorObserved, Event, Lifetime, ResourceObserved, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from analyzer.state.allocation import State

RESOURCES = tuple(ResourceId(name) for name in ("gpu/n1", "gpu/n2", "cpu/n1", "cpu/n2", "quota/red"))
NAMES = tuple(ActorId(f"gang/red/{letter}") for letter in "abcde")
KNOWN_AND_NOT = (*NAMES, ActorId("gang/red/unheard-of"))


def seeded(examples: int) -> settings:
    """So many examples, the same in every run."""
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def units() -> st.SearchStrategy[Request]:
    return st.builds(Units, st.sampled_from(RESOURCES), st.integers(1, 3))


def pods() -> st.SearchStrategy[Request]:
    return st.builds(
        Pods,
        st.integers(1, 3),
        st.sampled_from(((("gpu", 1),), (("gpu", 2),), (("cpu", 1), ("gpu", 1)), (("cpu", 2),))),
        st.sampled_from((("n1",), ("n1", "n2"), ("n2",))),
        st.sampled_from((None, None, None, 1, 2)),
    )


def peers() -> st.SearchStrategy[Request]:
    some = st.lists(st.sampled_from(KNOWN_AND_NOT), min_size=1, max_size=3, unique=True).map(tuple)
    return st.one_of(
        st.builds(Done, st.sampled_from(KNOWN_AND_NOT)),
        some.flatmap(lambda names: st.builds(Arrivals, st.just(names), st.integers(1, len(names)))),
    )


def k_of(parts: st.SearchStrategy[Request]) -> st.SearchStrategy[Request]:
    some = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return some.flatmap(lambda each: st.builds(KOutOfN, st.integers(1, len(each)), st.just(each)))


def requests() -> st.SearchStrategy[Request]:
    leaf = st.one_of(units(), units(), pods(), pods(), peers(), st.just(Never("gone")))
    once = k_of(st.one_of(units(), pods(), peers()))
    return st.one_of(units(), pods(), peers(), once, k_of(st.one_of(leaf, once)))


HOLDS = st.dictionaries(st.sampled_from(RESOURCES), st.integers(1, 2), max_size=2).map(
    lambda holds: tuple(sorted(holds.items()))
)
LIFETIMES = st.sampled_from((Lifetime.FINITE, Lifetime.FINITE, Lifetime.UNKNOWN, Lifetime.ENDLESS))


@st.composite
def actors(
    draw: st.DrawFn, name: ActorId, *, preemption: bool = False, wanting: st.SearchStrategy[Request] | None = None
) -> ActorObserved:
    wait = None
    if draw(st.integers(0, 4)):
        preempts = preemption and draw(st.booleans())
        wait = Wait(request=draw(wanting if wanting is not None else requests()), since_ns=0, preempts=preempts)
    return ActorObserved(
        at_ns=1,
        actor=name,
        holds=draw(HOLDS),
        wait=wait,
        lifetime=draw(LIFETIMES),
        priority=draw(st.integers(0, 2)) if preemption else 0,
        preemptible=preemption and draw(st.booleans()),
    )


@st.composite
def event_lists(draw: st.DrawFn, *, preemption: bool = False, count: int = 5) -> list[Event]:
    """One restatement of every resource and of up to `count` actors."""
    events: list[Event] = [
        ResourceObserved(at_ns=1, resource=resource, units=draw(st.integers(0, 4))) for resource in RESOURCES
    ]
    events.extend(draw(actors(name, preemption=preemption)) for name in NAMES[: draw(st.integers(1, count))])
    return events


def state_of(events: list[Event]) -> State:
    state = State()
    for event in events:
        state.apply(event)
    return state
