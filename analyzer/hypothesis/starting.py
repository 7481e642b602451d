"""Who of the submitted could start this very moment, and the state once they have."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec.structs import replace

from analyzer.explain import words
from analyzer.graph.atlas import Atlas
from analyzer.graph.judge import Judge
from analyzer.graph.supply import Levels, RootSupply
from analyzer.graph.ways import Way, ways
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId, kind_of
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units, all_of

_MET: Request = all_of(())


def start(
    actors: dict[ActorId, ActorObserved],
    units: Mapping[ResourceId, int],
    submitted: Sequence[ActorId],
    limits: Limits,
    now_ns: int,
) -> dict[ActorId, Way]:
    """Let those of the submitted start who find all that they need free, and say what each took.

    The most important first, then in the order in which they were submitted; each takes its place from the rest.
    `actors` is changed: whoever starts holds what it took and waits no more. Nobody is preempted for it, and nobody
    starts whose wait could not be judged.
    """
    free = dict(units)
    for actor in actors.values():
        for resource, count in actor.holds:
            free[resource] = free.get(resource, 0) - count
    took: dict[ActorId, Way] = {}
    waiting = sorted(dict.fromkeys(submitted), key=lambda name: -actors[name].priority)
    progress = True
    while progress:
        progress = False
        for name in waiting:
            actor = actors[name]
            if actor.wait is None or actor.wait.excuse is not None:
                continue
            way = _way_now(actor.wait.request, actors, free, limits)
            if way is None:
                continue
            for resource, count in way:
                free[resource] -= count
            took[name] = way
            actors[name] = _started(actor, way, now_ns)
            progress = True
    return took


def _way_now(
    request: Request, actors: Mapping[ActorId, ActorObserved], free: Mapping[ResourceId, int], limits: Limits
) -> Way | None:
    judge = Judge({}, RootSupply(free, {}, Atlas(), Levels(())), (), limits)
    now = as_it_is(request, actors)
    return next(ways(judge, now, 0), None) if judge.met(now, 0) else None


def as_it_is(request: Request, actors: Mapping[ActorId, ActorObserved]) -> Request:
    """The request with ends and arrivals answered: who is there has not ended, who waits is not ready."""
    match request:
        case Done():
            return Never("") if request.actor in actors else _MET
        case Arrivals():
            ready = sum(peer not in actors or actors[peer].wait is None for peer in request.peers)
            return _MET if ready >= request.quorum else Never("")
        case KOutOfN():
            return KOutOfN(request.k, tuple(as_it_is(part, actors) for part in request.parts))
        case Units() | Pods() | Never():
            return request
        case _:
            assert_never(request)


def _started(actor: ActorObserved, way: Way, now_ns: int) -> ActorObserved:
    held = dict(actor.holds)
    for resource, count in way:
        held[resource] = held.get(resource, 0) + count
    cards = sum(count for resource, count in way if words.is_gpu(kind_of(resource)))
    return replace(
        actor,
        holds=tuple(sorted((resource, count) for resource, count in held.items() if count)),
        wait=None,
        gpus=actor.gpus + cards,
        running_since_ns=now_ns if actor.running_since_ns is None else actor.running_since_ns,
    )
