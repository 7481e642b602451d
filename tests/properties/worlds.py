"""Random systems made from one number: cheap enough for thousands, and the number replays a failure."""

from random import Random

from msgspec.structs import replace

from analyzer.model.events import (
    ActorGone,
    ActorObserved,
    Event,
    Excuse,
    ExcuseKind,
    Lifetime,
    ResourceObserved,
    Wait,
)
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from analyzer.state.allocation import State
from tests.properties.systems import RESOURCES

NAMES = tuple(ActorId(f"gang/red/{letter}") for letter in "abcdef")
SHAPES = ((("gpu", 1),), (("gpu", 2),), (("cpu", 1), ("gpu", 1)), (("cpu", 2),))
AMONG = (("n1",), ("n1", "n2"), ("n2",))


def dice(number: int) -> Random:
    """Random choices that this number replays."""
    return Random(number)  # noqa: S311  # no secret depends on it


def world(number: int, *, preemption: bool = False) -> list[Event]:
    """Every other one is tight: what exists is little more than what is held, so that rings are common."""
    random = dice(number)
    make = tight if number % 2 else loose
    return make(random, preemption=preemption)


def loose(random: Random, *, preemption: bool) -> list[Event]:
    events: list[Event] = [ResourceObserved(at_ns=1, resource=name, units=random.randint(0, 4)) for name in RESOURCES]
    for name in NAMES[: random.randint(1, 5)]:
        holds = {random.choice(RESOURCES): random.randint(1, 2) for _ in range(random.randint(0, 2))}
        request = _request(random, NAMES, 2) if random.random() < 0.85 else None
        endless = random.random() < 0.25
        events.append(_actor(random, name, holds, request, endless=endless, preemption=preemption))
    return events


def tight(random: Random, *, preemption: bool) -> list[Event]:
    names = NAMES[: random.randint(2, 5)]
    holds = {
        name: {random.choice(RESOURCES): random.randint(1, 2) for _ in range(random.randint(0, 2))} for name in names
    }
    held = {resource: sum(each.get(resource, 0) for each in holds.values()) for resource in RESOURCES}
    units = {resource: held[resource] + random.choice((0, 0, 0, 1)) for resource in RESOURCES}
    events: list[Event] = [ResourceObserved(at_ns=1, resource=name, units=units[name]) for name in RESOURCES]
    for name in names:
        others = tuple(other for other in names if other != name)
        request = _request(random, others, 2) if random.random() < 0.95 else None
        endless = random.random() < 0.2
        events.append(_actor(random, name, holds[name], request, endless=endless, preemption=preemption))
    return events


def _actor(
    random: Random,
    name: ActorId,
    holds: dict[ResourceId, int],
    request: Request | None,
    *,
    endless: bool,
    preemption: bool,
) -> ActorObserved:
    wait = None
    if request is not None:
        wait = Wait(request=request, since_ns=0, preempts=preemption and random.random() < 0.5)
    return ActorObserved(
        at_ns=1,
        actor=name,
        holds=tuple(sorted(holds.items())),
        wait=wait,
        lifetime=Lifetime.ENDLESS if endless else random.choice((Lifetime.FINITE, Lifetime.UNKNOWN)),
        priority=random.randint(0, 2) if preemption else 0,
        preemptible=preemption and random.random() < 0.5,
    )


def _request(random: Random, peers: tuple[ActorId, ...], depth: int) -> Request:
    if depth and random.random() < 0.4:
        parts = tuple(_request(random, peers, depth - 1) for _ in range(random.randint(1, 3)))
        return KOutOfN(random.randint(1, len(parts)), parts)
    kind = random.random()
    if kind < 0.45:
        return Units(random.choice(RESOURCES), random.randint(1, 2))
    if kind < 0.75:
        return Pods(
            random.randint(1, 3), random.choice(SHAPES), random.choice(AMONG), random.choice((None, None, 1, 2))
        )
    if kind < 0.86:
        return Done(random.choice(peers))
    if kind < 0.98:
        some = tuple(random.sample(peers, random.randint(1, min(3, len(peers)))))
        return Arrivals(some, random.randint(1, len(some)))
    return Never("gone")


def next_events(random: Random, state: State, at_ns: int) -> list[Event]:
    """One or two things that happen to this state: restatements, ends, placements, excuses, capacity."""
    events: list[Event] = []
    for _ in range(random.choice((1, 1, 1, 2))):
        fresh = [event for event in world(random.randrange(1 << 30)) if isinstance(event, ActorObserved)]
        event = replace(random.choice(fresh), actor=random.choice(NAMES), at_ns=at_ns)
        known = state.actors.get(event.actor)
        kind = random.random()
        if kind < 0.2:
            events.append(ActorGone(at_ns=at_ns, actor=event.actor))
        elif kind < 0.35:
            events.append(replace(event, holds=()))
        elif kind < 0.5:
            events.append(replace(event, wait=None))
        elif kind < 0.7 and known is not None:
            events.append(replace(known, at_ns=at_ns, wait=known.wait if kind < 0.6 else None))
        elif kind < 0.75 and known is not None and known.wait is not None:
            excuse = Excuse(ExcuseKind.GATED, "held back on purpose")
            events.append(replace(known, at_ns=at_ns, wait=replace(known.wait, excuse=excuse)))
        elif kind < 0.85:
            units = random.randint(0, 5)
            events.append(ResourceObserved(at_ns=at_ns, resource=random.choice(RESOURCES), units=units))
        else:
            events.append(event)
    return events
