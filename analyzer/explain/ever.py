"""What one actor could have at the very most: if everybody else who is stuck were cleared.

This is the hypothesis behind *unsatisfiable* (`analyzer/graph/README.md`), repeated here to put numbers into sentences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest, nsmallest

from msgspec import Struct

from analyzer.explain import words
from analyzer.explain.needs import atoms
from analyzer.graph.placement import PodsShort, Shortage, shortage
from analyzer.model.events import ActorObserved, Lifetime
from analyzer.model.ids import ActorId, ResourceId, kind_of, resource_on
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from analyzer.state.view import View


class Others:
    """Everybody but one actor; or of these only those who can end, or are stuck and can be stopped."""

    def __init__(self, view: View, actor: ActorId, *, ending: bool) -> None:
        self._actors = view.system.actors
        self._stuck = view.stuck
        self._actor = actor
        self._ending = ending

    def __contains__(self, actor: object) -> bool:
        if actor == self._actor:
            return False
        known = self._actors.get(actor)  # type: ignore[call-overload]  # whatever is asked, the answer is a plain no
        if known is None or not self._ending or known.lifetime is not Lifetime.ENDLESS:
            return True
        return known.actor in self._stuck


class EverFree(Mapping[ResourceId, int]):
    """Units that could ever be free, with some more or fewer of a few resources. Computed when asked; never negative.

    `known` is shared by all of one view: units that no endless actor keeps.
    """

    def __init__(self, view: View, known: dict[ResourceId, int], change: Mapping[ResourceId, int]) -> None:
        self._view = view
        self._known = known
        self._change = change

    def __getitem__(self, resource: ResourceId) -> int:
        return self.get(resource)

    def get(self, resource: ResourceId, default: object = 0) -> int:
        """The same: there is an answer for every resource. Asked for every node, so it does all the work by itself."""
        del default
        units = self._known.get(resource)
        if units is None:
            units = self._view.system.capacity.get(resource, 0) - self._view.endless_held(resource)
            self._known[resource] = units
        if resource in self._change:
            units += self._change[resource]
        return units if units > 0 else 0

    def __iter__(self) -> Iterator[ResourceId]:
        return iter(self._view.system.capacity)

    def __len__(self) -> int:
        return len(self._view.system.capacity)


class Keeper(Struct, frozen=True):
    """An endless holder of something that a waiter lacks: the most it has on one resource, and of that kind in all."""

    holder: ActorId
    resource: ResourceId
    amount: int
    total: int


class Kept(Struct, frozen=True):
    """Endless holders of what somebody lacks: those with most units by name, and how many more there are."""

    named: tuple[Keeper, ...] = ()
    more: int = 0
    more_units: int = 0


class Room(Struct, frozen=True):
    """Why pods do not fit, in numbers of one kind: units that exist on the nodes, and what can ever be free there.

    `pieces` are the largest free amounts on single nodes, largest first, at most `PIECES_MAX` and one more.
    """

    short: PodsShort
    kind: str
    exists: int
    free: int
    pieces: tuple[int, ...]


class Lacks(Struct, frozen=True):
    """What an actor lacks for good, with the room there is for each set of pods that does not fit."""

    shortage: Shortage
    rooms: tuple[Room, ...]


class Prospects:
    """Answers under the hypothesis, for one view. Actors that ask for the same share the work: O(nodes) per request."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._not_endless: dict[ResourceId, int] = {}
        self._lacks: dict[object, Lacks] = {}
        self._kept: dict[object, Kept] = {}
        self._fitting: dict[tuple[str, int, int], int] = {}

    def lacks(self, actor: ActorObserved) -> Lacks:
        """What the actor lacks even if everybody else who can end had ended; nothing for one that does not wait."""
        if actor.wait is None:
            return Lacks(Shortage(), ())
        asked = _asked(actor)
        peers = any(isinstance(atom, Done | Arrivals) for atom in asked)
        reach = actor.priority if actor.wait.preempts else None
        key = (_shape(actor.wait.request), actor.holds, reach, actor.actor if peers else None)
        if key not in self._lacks:
            free = self._free_for(actor)
            short = shortage(
                actor.wait.request,
                free,
                ended=Others(self.view, actor.actor, ending=True),
                arrived=Others(self.view, actor.actor, ending=False),
            )
            rooms = (_room(self.view, one, free) for one in short.pods)
            self._lacks[key] = Lacks(short, tuple(room for room in rooms if room is not None))
        return self._lacks[key]

    def _free_for(self, actor: ActorObserved) -> Mapping[ResourceId, int]:
        """Units that could be free for this actor once all others who can end have ended.

        Its own units do not count for the pods it asks for: they run on them. Where it asks for units by name that it
        holds itself, they count, since it would have them if it gave them back: that is a deadlock with itself.
        """
        named = {atom.resource for atom in _asked(actor) if isinstance(atom, Units)}
        change = {resource: -units for resource, units in actor.holds if resource not in named}
        for resource, units in _preemptible(self.view, actor).items():
            change[resource] = change.get(resource, 0) + units
        return EverFree(self.view, self._not_endless, change)

    def kept(self, waiter: ActorObserved) -> Kept:
        """Who keeps for good what the waiter lacks. O(holds of endless actors) per set of nodes and kind."""
        if waiter.wait is None:
            return Kept()
        named, on_nodes = self._lacked(waiter)
        key = (named, tuple(sorted((kind, id(among)) for kind, among in on_nodes)))
        if key not in self._kept:
            lacked = named.union(*({resource_on(kind, node) for node in among} for kind, among in on_nodes))
            self._kept[key] = self._keepers_of(lacked)
        return self._kept[key]

    def _keepers_of(self, lacked: frozenset[ResourceId]) -> Kept:
        if not any(self.view.endless_held(resource) > 0 for resource in lacked):
            return Kept()
        found: list[Keeper] = []
        for actor in self.view.system.actors.values():
            if actor.lifetime is Lifetime.ENDLESS and actor.actor not in self.view.stuck:
                found += _keeper(actor, lacked)
        most = nsmallest(self.view.limits.assumed_holders_max, found, key=lambda one: (-one.total, one.holder))
        units = sum(keeper.total for keeper in found) - sum(keeper.total for keeper in most)
        return Kept(tuple(most), len(found) - len(most), units)

    def _lacked(self, waiter: ActorObserved) -> tuple[frozenset[ResourceId], list[tuple[str, tuple[str, ...]]]]:
        """Resources of which too little can be had before a waiter gets on; of pods the first kind that is short."""
        named: set[ResourceId] = set()
        on_nodes: dict[tuple[str, int], tuple[str, tuple[str, ...]]] = {}
        for atom in _asked(waiter):
            if isinstance(atom, Units):
                if _obtainable(self.view, atom.resource) < atom.count:
                    named.add(atom.resource)
            elif isinstance(atom, Pods):
                short = [kind for kind, count in atom.each if self._places(kind, count, atom.among) < atom.count]
                kind = words.principal(short)
                if kind is not None:
                    on_nodes[kind, id(atom.among)] = (kind, atom.among)
        return frozenset(named), list(on_nodes.values())

    def _places(self, kind: str, count: int, nodes: tuple[str, ...]) -> int:
        """How often `count` units of the kind fit on these nodes before anybody who waits gets on."""
        if count <= 0:
            return 1 << 62
        key = (kind, count, id(nodes))
        if key not in self._fitting:
            capacity, kept = self.view.system.capacity.get, self.view.system.kept.get
            there = (resource_on(kind, node) for node in nodes)
            self._fitting[key] = sum(max(capacity(one, 0) - kept(one, 0), 0) // count for one in there)
        return self._fitting[key]


PIECES_MAX = 8
"""Free amounts on single nodes that a sentence spells out."""


def wanted(requests: Iterable[Request]) -> frozenset[ResourceId]:
    """All resources of which these requests could use units, on any node."""
    resources: set[ResourceId] = set()
    for request in requests:
        for atom in atoms(request):
            match atom:
                case Units():
                    resources.add(atom.resource)
                case Pods():
                    resources.update(resource_on(kind, node) for kind, _ in atom.each for node in atom.among)
                case Done() | Arrivals() | Never():
                    pass
    return frozenset(resources)


def _shape(request: Request) -> object:
    """A key that equal requests share; tuples of nodes by identity, since sources share them and they are long."""
    if isinstance(request, KOutOfN):
        return (request.k, *map(_shape, request.parts))
    if isinstance(request, Pods):
        return (request.count, request.each, id(request.among), request.per_node_max)
    return request


def _room(view: View, short: PodsShort, free: Mapping[ResourceId, int]) -> Room | None:
    pods = short.pods
    kind = words.principal([kind for kind, nodes in short.short if nodes] or [kind for kind, _ in pods.each])
    if kind is None or not pods.among:
        return None
    blocks = [free.get(resource_on(kind, node), 0) for node in pods.among]
    exists = sum(view.system.capacity.get(resource_on(kind, node), 0) for node in pods.among)
    pieces = nlargest(PIECES_MAX + 1, (block for block in blocks if block))
    return Room(short, kind, exists, sum(blocks), tuple(pieces))


def _keeper(holder: ActorObserved, lacked: frozenset[ResourceId]) -> Iterable[Keeper]:
    parts = [(units, resource) for resource, units in holder.holds if resource in lacked]
    if parts:
        amount, resource = min(parts, key=lambda part: (not words.is_gpu(kind_of(part[1])), -part[0], part[1]))
        total = sum(units for units, other in parts if kind_of(other) == kind_of(resource))
        yield Keeper(holder.actor, resource, amount, total)


def _obtainable(view: View, resource: ResourceId) -> int:
    return max(view.system.capacity.get(resource, 0) - view.system.kept.get(resource, 0), 0)


def _preemptible(view: View, actor: ActorObserved) -> dict[ResourceId, int]:
    """Units of endless holders that this actor may preempt."""
    taken: dict[ResourceId, int] = {}
    if actor.wait is None or not actor.wait.preempts:
        return taken
    for holder in view.system.preemptible.values():
        if holder.actor not in view.stuck and holder.lifetime is Lifetime.ENDLESS and holder.priority < actor.priority:
            for resource, units in holder.holds:
                taken[resource] = taken.get(resource, 0) + units
    return taken


def _asked(actor: ActorObserved) -> Sequence[Units | Pods | Done | Arrivals | Never]:
    return tuple(atoms(actor.wait.request)) if actor.wait is not None else ()
