"""Rings that only the order of a queue closes: nobody in them need be stopped, somebody need be let past.

A wait for those ahead (`Arrivals.order`) is soft: the holder has nothing that the waiter needs. A core is one of order
if its members could all go on were they not held to it. After the soft edges of PostgreSQL's lock manager
(src/backend/storage/lmgr/README), which cures such a ring by another order of the queue.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from analyzer.graph.liveness import liveness
from analyzer.graph.system import System
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, KOutOfN, Request


def ahead_of(request: Request) -> Iterator[ActorId]:
    """Everybody whom the request waits for only because they are ahead."""
    match request:
        case Arrivals(order=True):
            yield from request.peers
        case KOutOfN():
            for part in request.parts:
                yield from ahead_of(part)
        case _:
            pass  # units, ends and arrivals that are needed for themselves


def unordered(request: Request) -> Request:
    """The request without its waits for those ahead."""
    match request:
        case Arrivals(order=True):
            return KOutOfN(0, ())
        case KOutOfN():
            return KOutOfN(request.k, tuple(map(unordered, request.parts)))
        case _:
            return request


def only_by_order(system: System, limits: Limits, members: Sequence[ActorId]) -> bool:
    """Whether these stuck actors could all go on in some other order. As costly as `liveness`, if any of them is so."""
    waiting = {name: system.waiting[name] for name in members if name in system.waiting}
    freed = {
        name: replace(actor, wait=replace(actor.wait, request=unordered(actor.wait.request)))
        for name, actor in waiting.items()
        if actor.wait is not None and any(ahead_of(actor.wait.request))
    }
    return bool(freed) and liveness(_Otherwise(system, freed), limits).live.issuperset(members)


class _Otherwise:
    """The same system, but for some actors, who hold the same and are in the same maps."""

    def __init__(self, system: System, others: dict[ActorId, ActorObserved]) -> None:
        self._system = system
        self.capacity = system.capacity
        self.used = system.used
        self.kept = system.kept
        self.actors: Mapping[ActorId, ActorObserved] = {**system.actors, **others}
        self.waiting: Mapping[ActorId, ActorObserved] = {**system.waiting, **others}
        self.preemptible = system.preemptible

    def holders(self, resource: ResourceId) -> Iterable[tuple[ActorId, int]]:
        return self._system.holders(resource)
