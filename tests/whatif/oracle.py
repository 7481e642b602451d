"""The banker's question answered slowly: every order, every choice of parts, every place, taking what is taken.

Builds on `tests.properties.oracle`, which shares no code with `analyzer.graph`.
"""

from collections import Counter
from collections.abc import Iterator

from analyzer.model.events import ActorObserved, Event, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Pods, Units
from tests.properties.oracle import World

Taken = tuple[tuple[ResourceId, int], ...]


def ends_of_all_orders(events: list[Event]) -> set[frozenset[ActorId]]:
    """The sets of waiting actors served in some order, at any point of it; an endless one keeps what it takes."""
    world = World(events)
    waiting = [actor for actor in world.actors.values() if actor.wait is not None]
    seen: set[tuple[frozenset[ActorId], Taken]] = set()
    todo: list[tuple[frozenset[ActorId], Taken]] = [(frozenset(), ())]
    while todo:
        moment = todo.pop()
        if moment in seen:
            continue
        seen.add(moment)
        served, taken = moment
        for actor in waiting:
            if actor.actor not in served:
                after = served | {actor.actor}
                todo.extend((after, with_taken(taken, actor, more)) for more in takings(world, actor, served, taken))
    return {served for served, _ in seen}


def with_taken(taken: Taken, actor: ActorObserved, more: Counter[ResourceId]) -> Taken:
    """What is taken for good once this actor is served."""
    kept = Counter(dict(taken))
    if actor.lifetime is Lifetime.ENDLESS:
        kept.update(more)
    return tuple(sorted(kept.items()))


def takings(
    world: World, waiter: ActorObserved, served: frozenset[ActorId], taken: Taken
) -> Iterator[Counter[ResourceId]]:
    """Everything that the waiter could take to be served now, in every way."""
    assert waiter.wait is not None
    free = world.free_for(waiter, served)
    free.subtract(Counter(dict(taken)))
    free = Counter({resource: max(0, count) for resource, count in free.items()})
    for demand in world.demands(waiter.wait.request, served):
        pods = [(number, one) for number, one in enumerate(demand) if isinstance(one, Pods) for _ in range(one.count)]
        units: Counter[ResourceId] = Counter()
        for one in demand:
            if isinstance(one, Units):
                units[one.resource] += one.count
        if all(free[resource] >= count for resource, count in units.items()):
            yield from _places(pods, free, units, Counter())


def _places(
    singles: list[tuple[int, Pods]],
    free: Counter[ResourceId],
    taken: Counter[ResourceId],
    placed: Counter[tuple[int, str]],
) -> Iterator[Counter[ResourceId]]:
    if not singles:
        yield Counter({resource: count for resource, count in taken.items() if count})
        return
    number, pod = singles[0]
    for node in pod.among:
        if pod.per_node_max is not None and placed[number, node] >= pod.per_node_max:
            continue
        more = Counter(taken)
        for kind, need in pod.each:
            more[ResourceId(f"{kind}/{node}")] += need
        if all(more[resource] <= free[resource] for resource in more):
            yield from _places(singles[1:], free, more, placed + Counter({(number, node): 1}))
