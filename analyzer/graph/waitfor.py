"""The wait-for graph of the stuck: who cannot go on before whom.

Thousands of waiters may look at the same nodes, held by thousands of others. So the graph has a second sort of
vertex, the *lack*: one shortage ("gpu/node-7", "4 pods of this shape") with its holders, shared by all waiters that
have it.
Paths and components are the same as in the plain graph, its size is the sum and not the product.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from analyzer.graph.atlas import leaves
from analyzer.graph.judge import Judge
from analyzer.graph.supply import Pool, Supply
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units

Target = tuple[int, ResourceId | None, int]


class WaitFor(Struct, frozen=True, order=True):
    """The waiter cannot go on before the holder does.

    The holder has `amount` units of the resource; or, with resource None and amount 0, must itself end or arrive.
    """

    waiter: ActorId
    holder: ActorId
    resource: ResourceId | None
    amount: int


def _useful(pool: Pool, node: str, count: int) -> int:
    """How many of `count` pods this node could take."""
    position = pool.layout.positions.get(node)
    return 0 if position is None else min(count, pool.at(position))


def _by_number(target: Target) -> tuple[int, str, int]:
    return target[0], target[1] or "", target[2]


class Lack:
    """One shortage: who has what is short, and the waiters that are short of it."""

    __slots__ = ("sources", "targets")

    def __init__(self, targets: list[Target]) -> None:
        self.targets = targets
        self.sources: list[int] = []


class WaitForGraph:
    """Lacks of the stuck `names` (sorted) within `supply`, their holders, and the links between.

    `best` is the supply if all were cleared. What not even that could meet is no lack: nobody to wait for. Those in
    `silent` (unsatisfiable) get no lacks at all, so that paths end at them. `gone`: cleared as soon as they are not
    in `names`.
    """

    def __init__(
        self,
        actors: Mapping[ActorId, ActorObserved],
        names: Sequence[ActorId],
        supply: Supply,
        best: Supply,
        limits: Limits,
        *,
        gone: Container[ActorId],
        silent: Iterable[ActorId] = (),
    ) -> None:
        self.actors = actors
        self.names = list(names)
        self.index = {name: number for number, name in enumerate(names)}
        self.lacks: list[Lack] = []
        self.links: list[list[int]] = [[] for _ in names]
        self._supply, self._best = supply, best
        self._judge = Judge(actors, supply, self.index, limits, gone)
        self._itself: set[ActorId] = set()
        self._hopeful = Judge(actors, best, self._itself, limits, gone)
        self._numbers: dict[object, int] = {}
        self._holders: dict[ResourceId, list[tuple[int, int]]] = {}
        self._held_by_kind: dict[str, list[tuple[str, ResourceId]]] = {}
        self._in_lacks_found: dict[int, list[int]] | None = None
        self._list_holders()
        silent = set(silent)
        for number, name in enumerate(names):
            if name not in silent:
                self.links[number] = self.lacks_of(name)
                for lack in self.links[number]:
                    self.lacks[lack].sources.append(number)

    def _list_holders(self) -> None:
        for number, name in enumerate(self.names):
            for resource, count in self.actors[name].holds:
                if count > 0:
                    self._holders.setdefault(resource, []).append((number, count))
        for resource in self._holders:
            kind, node = self._supply.atlas.split(resource)
            self._held_by_kind.setdefault(kind, []).append((node, resource))

    def lacks_of(self, name: ActorId) -> list[int]:
        """The lacks of one waiter, by number, each once. It need not be among `names`."""
        actor = self.actors[name]
        if actor.wait is None:
            return []
        request = actor.wait.request
        level = self._supply.levels.reach(actor)
        self._itself.clear()
        self._itself.add(name)
        found: dict[int, None] = {}
        if self._supply.atlas.shares(request):
            self._joint_lacks(request, level, found)
        else:
            self._lacks(request, level, found)
        return list(found)

    def _lacks(self, request: Request, level: int, found: dict[int, None]) -> None:
        if self._judge.met_alone(request, level) or not self._hopeful.met_alone(request, level):
            return
        match request:
            case KOutOfN():
                for part in request.parts:
                    self._lacks(part, level, found)
            case Units():
                self._add(("units", request.resource, level), found, lambda: self._of(request.resource, level))
            case Pods():
                key = ("pods", self._supply.key(request, level), request.count)
                self._add(key, found, lambda: self._of_pods(request, level))
            case Done() | Arrivals():
                self._peers(request, found)
            case Never():
                pass
            case _:
                assert_never(request)

    def _peers(self, request: Done | Arrivals, found: dict[int, None]) -> None:
        peers = (request.actor,) if isinstance(request, Done) else request.peers
        self._add(("peers", peers), found, lambda: self._of_peers(peers))

    def _joint_lacks(self, request: Request, level: int, found: dict[int, None]) -> None:
        """Parts compete: short is every unit of which all parts together might use more than there is."""
        units: dict[ResourceId, int] = {}
        pods: list[Pods] = []
        for leaf in self._hopeful_leaves(request, level):
            if isinstance(leaf, Units):
                units[leaf.resource] = units.get(leaf.resource, 0) + leaf.count
            elif isinstance(leaf, Pods):
                pods.append(leaf)
            elif not self._judge.met_alone(leaf, level):
                self._lacks(leaf, level, found)
        shapes = tuple((self._supply.key(each, level), each.count) for each in pods)
        key = ("joint", tuple(sorted(units.items())), shapes, level)
        self._add(key, found, lambda: self._of_joint(units, pods, level))

    def _hopeful_leaves(self, request: Request, level: int) -> list[Units | Pods | Done | Arrivals | Never]:
        """Leaves of all parts that could ever be met."""
        if not self._hopeful.met_alone(request, level):
            return []
        if not isinstance(request, KOutOfN):
            return leaves(request)
        return [leaf for part in request.parts for leaf in self._hopeful_leaves(part, level)]

    def _add(self, key: object, found: dict[int, None], targets: Callable[[], list[Target]]) -> None:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.lacks)
            self.lacks.append(Lack(sorted(targets(), key=_by_number)))
        found[number] = None

    def _of(self, resource: ResourceId, level: int) -> list[Target]:
        """The stuck who would give back units of it, without those from whom the waiter may take them anyway."""
        found: list[Target] = []
        for number, count in self._holders.get(resource, ()):
            actor = self.actors[self.names[number]]
            if not (level and actor.preemptible and self._supply.levels.first_above(actor) <= level):
                found.append((number, resource, count))
        return found

    def _of_peers(self, peers: Iterable[ActorId]) -> list[Target]:
        return [(self.index[peer], None, 0) for peer in dict.fromkeys(peers) if peer in self.index]

    def _of_pods(self, pods: Pods, level: int) -> list[Target]:
        found: list[Target] = []
        now, then = self._supply.pool(pods, level), self._best.pool(pods, level)
        for kind, need in pods.each:
            for node, resource in self._held_by_kind.get(kind, ()):
                useful = _useful(then, node, pods.count)
                if useful > _useful(now, node, pods.count) and self._supply.free(resource, level) < useful * need:
                    found.extend(self._of(resource, level))
        return found

    def _of_joint(self, units: Mapping[ResourceId, int], pods: Sequence[Pods], level: int) -> list[Target]:
        needed = dict(units)
        for each in pods:
            then = self._best.pool(each, level)
            for kind, need in each.each:
                for node, resource in self._held_by_kind.get(kind, ()):
                    useful = _useful(then, node, each.count)
                    if useful:
                        needed[resource] = needed.get(resource, 0) + useful * need
        found: list[Target] = []
        for resource, count in needed.items():
            if self._supply.free(resource, level) < count:
                found.extend(self._of(resource, level))
        return found

    def successors(self) -> list[list[int]]:
        """Actors by number, then lacks; an edge from an actor to its lacks, from a lack to its holders."""
        count = len(self.names)
        actors = [[count + lack for lack in lacks] for lacks in self.links]
        return actors + [[number for number, _, _ in lack.targets] for lack in self.lacks]

    def append(self, name: ActorId) -> int:
        """One more waiter, for which nobody waits; its number."""
        number = len(self.names)
        self.names.append(name)
        self.links.append(self.lacks_of(name))
        self.index[name] = number
        self._in_lacks_found = None
        for lack in self.links[number]:
            self.lacks[lack].sources.append(number)
        return number

    def waited_for_by(self, number: int) -> set[int]:
        """Everybody to whom a path leads from this waiter; O(links)."""
        seen: set[int] = set()
        lacks_seen: set[int] = set()
        todo = [number]
        while todo:
            for lack in self.links[todo.pop()]:
                if lack not in lacks_seen:
                    lacks_seen.add(lack)
                    for target, _, _ in self.lacks[lack].targets:
                        if target not in seen:
                            seen.add(target)
                            todo.append(target)
        return seen

    def waiters_on(self, roots: Iterable[int]) -> set[int]:
        """Everybody from whom a path leads to one of the roots; O(links)."""
        seen = set(roots)
        todo = list(seen)
        lacks_seen: set[int] = set()
        in_lacks = self._in_lacks()
        while todo:
            for lack in in_lacks.get(todo.pop(), ()):
                if lack not in lacks_seen:
                    lacks_seen.add(lack)
                    for source in self.lacks[lack].sources:
                        if source not in seen:
                            seen.add(source)
                            todo.append(source)
        return seen

    def _in_lacks(self) -> dict[int, list[int]]:
        found = self._in_lacks_found
        if found is None:
            found = {}
            for number, lack in enumerate(self.lacks):
                for target, _, _ in lack.targets:
                    lacks = found.setdefault(target, [])
                    if not lacks or lacks[-1] != number:
                        lacks.append(number)
            self._in_lacks_found = found
        return found

    def hops(self, members: Sequence[int]) -> dict[int, Target]:
        """For each other member one edge on a shortest way to the first, inside the members."""
        inside = set(members)
        in_lacks = self._in_lacks()
        found: dict[int, Target] = {}
        seen: set[int] = set()
        frontier = [members[0]]
        while frontier:
            following = []
            for number in frontier:
                for lack in in_lacks.get(number, ()):
                    if lack not in seen:
                        seen.add(lack)
                        target = next(each for each in self.lacks[lack].targets if each[0] == number)
                        for source in self.lacks[lack].sources:
                            if source in inside and source != members[0] and source not in found and source != number:
                                found[source] = target
                                following.append(source)
            frontier = following
        return found
