"""The smallest change that starts one actor, proven by the question that `knotwatch whatif` asks.

Tried in this order, the first that is proven is told:

1. one actor is stopped: one that is stuck, or one that runs for ever;
2. two of them are;
3. units are added, no more than are missing once everybody who can go on has ended.

Others need not be tried. Whoever runs and ends, or can go on and ends, gives back all that it holds anyway, so
stopping it adds nothing to what the actor can have; and neither does an actor that holds, and ends for, nothing that
the actor, or a stuck one that it needs, could use.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from analyzer.explain import words
from analyzer.explain.actions import price, price_in_words
from analyzer.explain.ever import Prospects, wanted
from analyzer.explain.needs import atoms, each_pod
from analyzer.graph.liveness import liveness
from analyzer.graph.placement import PodsShort, fits, shortage
from analyzer.graph.safety import Safety
from analyzer.graph.system import System
from analyzer.hypothesis.aftermath import Aftermath
from analyzer.hypothesis.changes import Change, Evict, Restate
from analyzer.hypothesis.outlook import Fate, Outlook
from analyzer.model.events import ActorObserved, Holds, Lifetime, ResourceObserved
from analyzer.model.ids import ActorId, ResourceId, resource_on
from analyzer.model.requests import Arrivals, Done
from analyzer.state.view import View

KEPT_FROM_MAX = 8
"""Stuck actors for which it is looked up what somebody keeps from them, to say it."""


class SmallestChange(Struct, frozen=True, kw_only=True):
    """What to do, in words and as changes; how the actor stands after them, and whether the whole is safe then."""

    text: str
    changes: tuple[Change, ...]
    outlook: Outlook
    safety: Safety


def smallest_change(view: View, name: ActorId) -> SmallestChange | None:
    """The first of the changes after which this stuck actor starts, at once or once others have ended; None if none.

    Costs what the victims that are tried would wake, and an evaluation from scratch for what is told.
    """
    actor = view.system.actors.get(name)
    if actor is None or actor.wait is None or name not in view.stuck:
        return None
    for text, changes in _candidates(view, actor):
        after = Aftermath(view, changes)
        outlook = after.outlook(name)
        if outlook.fate in {Fate.STARTS_NOW, Fate.WAITS}:
            return SmallestChange(text=text, changes=changes, outlook=outlook, safety=after.safety)
    return None


def _candidates(view: View, actor: ActorObserved) -> Iterator[tuple[str, tuple[Change, ...]]]:
    in_the_way = sorted(_in_the_way(view, actor), key=lambda one: _expense(view, one))
    waiters = (actor, *(one for one in in_the_way if one.actor in view.stuck))
    for victims in view.what_if.starting(actor.actor, (one.actor for one in in_the_way), among_stuck=view.stuck):
        yield _stop(view, waiters, victims), tuple(map(Evict, victims))
    more = _more_units(view, actor)
    if more is not None:
        yield more


# --- stopping somebody ------------------------------------------------------------------------------------------------


def _in_the_way(view: View, actor: ActorObserved) -> list[ActorObserved]:
    """The stuck and the endless whose units, or whose end, the actor or a stuck one that it needs could use.

    O(parts of requests + holds), each set of nodes once.
    """
    actors, stuck = view.system.actors, view.stuck
    found: dict[ActorId, None] = {actor.actor: None}
    asked: set[ResourceId] = set()
    todo = [actor]
    while todo:
        waiter = todo.pop()
        request = waiter.wait.request if waiter.wait is not None and waiter.actor in stuck else None
        if request is None:
            continue
        names: list[ActorId] = []
        for atom in atoms(request):
            if isinstance(atom, Done):
                names.append(atom.actor)
            elif isinstance(atom, Arrivals):
                names += atom.peers
        fresh = wanted((request,)) - asked
        asked |= fresh
        names += [holder for resource in sorted(fresh) for holder, _ in view.system.holders(resource)]
        for name in names:
            other = actors.get(name)
            if other is not None and name not in found and (name in stuck or other.lifetime is Lifetime.ENDLESS):
                found[name] = None
                todo.append(other)
    return [actors[name] for name in found if name != actor.actor]


def _expense(view: View, one: ActorObserved) -> tuple[bool, bool, bool, int, int, ActorId]:
    """What works is spared, then what would be made anew at once, then what holds nothing; then it is the cards."""
    return (one.actor not in view.stuck, one.recreated, not one.holds, one.gpus, one.priority, one.actor)


def _stop(view: View, waiters: Sequence[ActorObserved], victims: tuple[ActorId, ...]) -> str:
    """What to do to these, in words. `waiters`: the actor, and the stuck that it needs."""
    if len(victims) > 1:
        return f"Evict {words.listed(victims)} together."
    prospects, victim = Prospects(view), view.system.actors[victims[0]]
    if victim.actor in view.stuck:
        if victim.holds and prospects.lacks(victim).shortage.never:
            return f"Release what {victim.actor} holds."  # it does not run, so there is nothing to evict
    else:
        for keeper in (one for waiter in waiters[:KEPT_FROM_MAX] for one in prospects.kept(waiter).named):
            if keeper.holder == victim.actor:
                return f"Stop or move {keeper.holder}, which holds {words.units_of(keeper.amount, keeper.resource)}."
    lacked = {words.sort_of(edge.resource) for edge in view.edges_from(waiters[0].actor) if edge.resource}
    return f"Evict {victim.actor} ({price_in_words(price(view, victim), victim.holds, lacked)})."


# --- adding units -----------------------------------------------------------------------------------------------------


class _Missing(Struct, frozen=True):
    """Further units of a resource, or room for pods: what each piece adds, one after the other, and how it is told."""

    pieces: tuple[Holds, ...]
    resource: ResourceId | None
    each: tuple[tuple[str, int], ...] = ()

    def told(self, count: int) -> str:
        if self.resource is not None:
            return words.units_of(count, self.resource)
        return f"room for {words.counted(count, 'further pod')} of {each_pod(self.each)}"


def _more_units(view: View, actor: ActorObserved) -> tuple[str, tuple[Change, ...]] | None:
    """Units that will still be missing once everybody who can go on has ended, where they are asked for.

    Fewer are enough where they let others go on, or where only some parts of the request are needed: so each number is
    the least with which the actor starts, the rest being as it is. It costs a fixed point for each number tried.
    """
    missing = sorted(_missing(view, actor), key=lambda one: -len(one.pieces))
    counts = [len(one.pieces) for one in missing]

    def enough() -> bool:
        grown = _Grown(view.system, _sum(missing, counts))
        return actor.actor in liveness(grown, view.limits).live

    if not missing or not enough():
        return None
    for place, most in enumerate(counts):

        def suffices(count: int, place: int = place) -> bool:
            counts[place] = count
            return enough()

        counts[place] = bisect_left(range(most), True, key=suffices)  # noqa: FBT003  # what is looked for is the answer
    capacity = view.system.capacity
    grown = tuple(
        ResourceObserved(at_ns=view.now_ns, resource=resource, units=capacity.get(resource, 0) + units)
        for resource, units in sorted(_sum(missing, counts).items())
    )
    told = [one.told(count) for one, count in zip(missing, counts, strict=True) if count]
    return f"Add {words.listed(told)}.", (Restate(events=grown),)


def _missing(view: View, actor: ActorObserved) -> Iterator[_Missing]:
    if actor.wait is None:
        return
    free, actors, stuck = _in_the_end(view, actor), view.system.actors, view.stuck
    ended = {name for name, one in actors.items() if name not in stuck and one.lifetime is not Lifetime.ENDLESS}
    lacks = shortage(actor.wait.request, free, ended=ended, arrived=actors.keys() - stuck)
    for units in lacks.units:
        yield _Missing((((units.resource, 1),),) * (units.count - units.free), units.resource)
    for short in lacks.pods:
        rooms = (tuple((resource_on(kind, node), n) for kind, n in short.pods.each) for node in _places(short, free))
        yield _Missing(tuple(rooms), None, short.pods.each)


def _sum(missing: Sequence[_Missing], counts: Sequence[int]) -> dict[ResourceId, int]:
    extra: dict[ResourceId, int] = {}
    for one, count in zip(missing, counts, strict=True):
        for resource, units in (part for piece in one.pieces[:count] for part in piece):
            extra[resource] = extra.get(resource, 0) + units
    return extra


class _Grown:
    """A system with more units of some resources than there are."""

    def __init__(self, system: System, extra: Mapping[ResourceId, int]) -> None:
        self.capacity: Mapping[ResourceId, int] = {
            **system.capacity,
            **{resource: system.capacity.get(resource, 0) + units for resource, units in extra.items()},
        }
        self.used = system.used
        self.kept = system.kept
        self.actors = system.actors
        self.waiting = system.waiting
        self.preemptible = system.preemptible
        self.holders = system.holders


def _in_the_end(view: View, actor: ActorObserved) -> dict[ResourceId, int]:
    """What is free, of all that the actor could use, once whoever can go on has ended. Preemptible units are free."""
    system = view.system
    wait, holders = actor.wait, (system.actors[name] for name in sorted(view.stuck))
    if wait is None:
        return {}
    free = {
        resource: system.capacity.get(resource, 0) - view.endless_held(resource) for resource in wanted((wait.request,))
    }
    for one in holders:
        _give(free, one, -1)
    for one in system.preemptible.values() if wait.preempts else ():
        if one.priority < actor.priority and (one.actor in view.stuck or one.lifetime is Lifetime.ENDLESS):
            _give(free, one, 1)
    return {resource: max(units, 0) for resource, units in free.items()}


def _give(free: dict[ResourceId, int], actor: ActorObserved, sign: int) -> None:
    for resource, units in actor.holds:
        if resource in free:
            free[resource] += sign * units


def _places(short: PodsShort, free: dict[ResourceId, int]) -> Iterable[str]:
    """A node for each pod that does not fit: the first that may still take one, those with fewest first."""
    pods = short.pods
    missing = pods.count - short.fits
    if pods.per_node_max is None:
        return pods.among[:1] * missing
    fitting = {node: fits(replace(pods, among=(node,)), free) for node in sorted(pods.among)}
    left = [node for node, there in fitting.items() for _ in range(pods.per_node_max - there)]
    return left[:missing]
