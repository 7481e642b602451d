"""The same question answered slowly and obviously: try every schedule, every choice and every placement.

Shares no code with `analyzer.graph`; knows only the values of `analyzer.model`.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

from msgspec.structs import replace

from analyzer.model.events import ActorObserved, Event, Lifetime, ResourceObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units


class World:
    """What exists, and who is there. `gone_on` are waiting actors that a schedule has let go on.

    The evicted hold nothing, have ended and never arrive.
    """

    def __init__(self, events: list[Event], evicted: frozenset[ActorId] = frozenset()) -> None:
        self.evicted = evicted
        self.capacity: Counter[ResourceId] = Counter()
        self.actors: dict[ActorId, ActorObserved] = {}
        for event in events:
            if isinstance(event, ResourceObserved):
                self.capacity[event.resource] = event.units
            elif isinstance(event, ActorObserved):
                self.actors[event.actor] = event

    def still_holds(self, actor: ActorObserved, gone_on: frozenset[ActorId]) -> bool:
        if actor.actor in self.evicted:
            return False
        if actor.lifetime is Lifetime.ENDLESS:
            return True
        return actor.wait is not None and actor.actor not in gone_on

    def free_for(self, waiter: ActorObserved, gone_on: frozenset[ActorId]) -> Counter[ResourceId]:
        assert waiter.wait is not None
        free = Counter(self.capacity)
        for actor in self.actors.values():
            if not self.still_holds(actor, gone_on):
                continue
            if waiter.wait.preempts and actor.preemptible and actor.priority < waiter.priority:
                continue
            for resource, count in actor.holds:
                free[resource] -= count
        return free

    def has_arrived(self, name: ActorId, gone_on: frozenset[ActorId]) -> bool:
        if name in self.evicted:
            return False
        actor = self.actors.get(name)
        return actor is None or actor.wait is None or name in gone_on

    def has_ended(self, name: ActorId, gone_on: frozenset[ActorId]) -> bool:
        if name in self.evicted:
            return True
        actor = self.actors.get(name)
        return self.has_arrived(name, gone_on) and (actor is None or actor.lifetime is not Lifetime.ENDLESS)

    def demands(self, request: Request, gone_on: frozenset[ActorId]) -> Iterator[list[Units | Pods]]:
        """Every list of things that, taken together, meets the request."""
        match request:
            case Units() | Pods():
                yield [request]
            case Done():
                if self.has_ended(request.actor, gone_on):
                    yield []
            case Arrivals():
                if sum(self.has_arrived(peer, gone_on) for peer in request.peers) >= request.quorum:
                    yield []
            case Never():
                return
            case KOutOfN():
                for parts in combinations(request.parts, max(0, request.k)):
                    for lists in product(*(list(self.demands(part, gone_on)) for part in parts)):
                        yield [one for each in lists for one in each]

    def can_go_on(self, waiter: ActorObserved, gone_on: frozenset[ActorId], *, by_itself: bool = False) -> bool:
        """Whether its request is met; `by_itself`: its own units serve the `Units` parts of it, too."""
        assert waiter.wait is not None
        free = self.free_for(waiter, gone_on)
        own = Counter(dict(waiter.holds)) if by_itself else Counter[ResourceId]()
        return any(can_take(demand, free, own) for demand in self.demands(waiter.wait.request, gone_on))


def can_take(demand: list[Units | Pods], free: Counter[ResourceId], own: Counter[ResourceId]) -> bool:
    """Whether all can be taken at once, each pod tried on each node; `own` are further units that pods cannot use."""
    own = Counter({name: max(0, free[name] + count) - max(0, free[name]) for name, count in own.items()})
    free = Counter({resource: max(0, count) for resource, count in free.items()})
    for one in demand:
        if isinstance(one, Units):
            served = min(one.count, own[one.resource])
            own[one.resource] -= served
            free[one.resource] -= one.count - served
    if any(count < 0 for count in free.values()):
        return False
    singles = [(number, one) for number, one in enumerate(demand) if isinstance(one, Pods) for _ in range(one.count)]
    return can_place(singles, free, Counter())


def can_place(singles: list[tuple[int, Pods]], free: Counter[ResourceId], placed: Counter[tuple[int, str]]) -> bool:
    if not singles:
        return True
    number, pod = singles[0]
    for node in pod.among:
        if pod.per_node_max is not None and placed[number, node] >= pod.per_node_max:
            continue
        rest = Counter(free)
        for kind, need in pod.each:
            rest[ResourceId(f"{kind}/{node}")] -= need
        if all(rest[ResourceId(f"{kind}/{node}")] >= 0 for kind, _ in pod.each):
            placed[number, node] += 1
            if can_place(singles[1:], rest, placed):
                return True
            placed[number, node] -= 1
    return False


def live_by_search(events: list[Event], evicted: frozenset[ActorId] = frozenset()) -> frozenset[ActorId]:
    """Every waiting actor that goes on in at least one schedule: all orders are walked, as sets of those gone on."""
    world = World(events, evicted)
    waiting = [actor for actor in world.actors.values() if actor.wait is not None and actor.actor not in evicted]
    seen: set[frozenset[ActorId]] = set()
    todo: list[frozenset[ActorId]] = [frozenset()]
    live: set[ActorId] = set()
    while todo:
        gone_on = todo.pop()
        if gone_on in seen:
            continue
        seen.add(gone_on)
        for actor in waiting:
            if actor.actor not in gone_on and world.can_go_on(actor, gone_on):
                live.add(actor.actor)
                todo.append(gone_on | {actor.actor})
    return frozenset(live)


def hypothetically(events: list[Event], *, live: frozenset[ActorId], cleared: frozenset[ActorId]) -> list[Event]:
    """The world in which the live have gone on, these are cleared, and the other stuck ones will be once they go on."""
    mortal = [
        replace(event, lifetime=Lifetime.FINITE)
        if isinstance(event, ActorObserved) and event.wait is not None and event.actor not in live
        else event
        for event in events
    ]
    return let_go_on(mortal, live | cleared)


def let_go_on(events: list[Event], names: frozenset[ActorId]) -> list[Event]:
    """The same world in which these actors wait for nothing."""
    return [_running(event) if isinstance(event, ActorObserved) and event.actor in names else event for event in events]


def _running(actor: ActorObserved) -> ActorObserved:
    return ActorObserved(
        at_ns=actor.at_ns,
        actor=actor.actor,
        holds=actor.holds,
        lifetime=actor.lifetime,
        priority=actor.priority,
        preemptible=actor.preemptible,
    )
