"""One system, judged: the fixed point, and the causes of those left over.

The stuck fall into *regions* that have nothing to do with each other: two of them are in one if they ask for the same
thing, or one holds something of what the other asks for, or names it as a peer. Whatever happens in one region leaves
the verdicts in the others as they are.
"""

from collections.abc import Container, Iterable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from analyzer.graph.atlas import leaves
from analyzer.graph.components import components
from analyzer.graph.edges import listed_edges
from analyzer.graph.fixpoint import Fixpoint
from analyzer.graph.judge import Judge
from analyzer.graph.liveness import give_back, root_supply, split_waiting
from analyzer.graph.region import Region
from analyzer.graph.regions import Interests, divide, peers_of
from analyzer.graph.supply import Supply
from analyzer.graph.system import System
from analyzer.graph.waitfor import WaitFor, WaitForGraph
from analyzer.model.events import ActorObserved, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Units

if TYPE_CHECKING:
    from analyzer.graph.certificate import Certificate


class Outlook(Enum):
    """What would let a stuck actor go on."""

    BY_OTHERS = auto()  # clearing all others
    BY_ITSELF = auto()  # that, and the units that it holds itself
    NEVER = auto()


class Situation:
    """The working parts of a diagnosis, kept so that it can be asked further questions and brought up to date.

    Three supplies stand on the system: `start` (nobody has gone on but the excused), `supply` (all live have gone on),
    `best` (all stuck are cleared, too). Waiting actors are in `order` (live) or in `region_of` (stuck).
    """

    def __init__(self, system: System, limits: Limits) -> None:
        self.system = system
        self.limits = limits
        self.actors = system.actors
        ready, pending = split_waiting(system)
        self.excused = set(ready)
        self.start = root_supply(system)
        give_back(self.start, system, ready)
        self.supply = self.start.copy()
        self.fixpoint = Fixpoint(system.actors, self.supply, pending, limits).run()
        self.order = [*ready, *(name for ready in self.fixpoint.rounds for name in ready)]
        self.first = set(self.fixpoint.rounds[0] if self.fixpoint.rounds else ())  # live at the start alone
        self.best = self.supply.copy()
        stuck = sorted(self.fixpoint.pending)
        for name in stuck:
            self.best.give(self.actors[name])
        self.regions: dict[int, Region] = {}
        self.region_of: dict[ActorId, int] = {}
        self.certificate: Certificate | None = None  # made when first needed
        self._numbers = 0
        self._live: set[ActorId] | None = None
        waiting = system.waiting
        self.referenced = {
            peer for actor in waiting.values() for peer in peers_of(actor)
        }  # now or once, by waiting ones
        self._lowest_preemptible = min((actor.priority for actor in system.preemptible.values()), default=None)
        self._highest_preempting = max(
            (actor.priority for actor in system.waiting.values() if actor.wait is not None and actor.wait.preempts),
            default=None,
        )
        self.judge_stuck(stuck)

    @property
    def live(self) -> set[ActorId]:
        """The waiting actors that can go on; not to be changed."""
        if self._live is None:
            self._live = set(self.order)
        return self._live

    def forget_live(self) -> None:
        """`order` has changed."""
        self._live = None

    def leave(self, name: ActorId) -> None:
        """A live actor waits no more, or for something else."""
        self.order.remove(name)
        self.fixpoint.inexact.discard(name)
        self.excused.discard(name)
        self.first.discard(name)
        self._live = None

    def refer(self, actor: ActorObserved) -> None:
        """Take note of whom this actor waits for."""
        self.referenced.update(peers_of(actor))

    def without_preemption(self, actor: ActorObserved) -> bool:
        """Whether this actor changes nothing about who could take what from whom. It is taken note of."""
        if actor.wait is not None and actor.wait.preempts:
            highest = self._highest_preempting
            self._highest_preempting = actor.priority if highest is None else max(highest, actor.priority)
        keeps = actor.preemptible and (actor.wait is not None or actor.lifetime is Lifetime.ENDLESS)
        if keeps:
            lowest = self._lowest_preemptible
            self._lowest_preemptible = actor.priority if lowest is None else min(lowest, actor.priority)
        if self._highest_preempting is None or self._lowest_preemptible is None:
            return True
        if self._highest_preempting <= self._lowest_preemptible:
            return True
        return self.start.levels.count > 0 and not (keeps and actor.holds)

    def gives_back(self, name: ActorId) -> bool:
        """Whether units come back when this one goes on."""
        actor = self.actors[name]
        return bool(actor.holds) and actor.lifetime is not Lifetime.ENDLESS

    def judge_stuck(self, names: Iterable[ActorId]) -> None:
        """Find why these are stuck; they are whole regions, or have nothing to do with those that are known."""
        for members, interests in divide(self.actors, sorted(names), self.supply.atlas):
            self._numbers += 1
            self.regions[self._numbers] = self._judged(Region(members, interests))
            for name in members:
                self.region_of[name] = self._numbers

    def add_alone(self, name: ActorId) -> bool:
        """Place a stuck actor that holds nothing and that nobody waits for, if that leaves the others as they are.

        That is so if it is unsatisfiable, or joins one region only.
        """
        asked = Interests()
        asked.add(self.actors[name], self.supply.atlas)
        alone = Region([name], asked)
        if self.outlook(name, alone) is Outlook.NEVER:
            alone.unsatisfiable = [name]
            alone.behind = {name: ()}
            self._numbers += 1
            self.regions[self._numbers] = alone
            self.region_of[name] = self._numbers
            return True
        joined = [number for number in self.regions if self.joins(asked, number)]
        if len(joined) != 1:
            return False
        region = self.regions[joined[0]]
        if not region.add_behind(name, asked, self.limits.edges_per_waiter_max):
            return False
        region.gauge(self.actors[name], self.supply, self.best, None)
        region.exact = region.exact and alone.exact
        self.region_of[name] = joined[0]
        return True

    def joins(self, asked: Interests, number: int) -> bool:
        """Whether somebody who asks for this has anything to do with the region."""
        region = self.regions[number]
        if asked.overlap(region.interests) or not asked.peers.isdisjoint(region.names):
            return True
        atlas = self.supply.atlas
        held = (resource for name in region.names for resource, _ in self.actors[name].holds)
        return any(asked.touched_by(resource, atlas) for resource in held)

    def dissolve(self, number: int) -> list[ActorId]:
        """Forget a region; its members are to be judged anew."""
        names = self.regions.pop(number).names
        for name in names:
            del self.region_of[name]
        return names

    def _judged(self, region: Region) -> Region:
        region.unsatisfiable = [name for name in region.names if self.outlook(name, region) is Outlook.NEVER]
        if len(region.unsatisfiable) == len(region.names):
            region.behind = dict.fromkeys(region.names, ())
            return region
        graph = self._graph(region.names, self.supply, region.unsatisfiable)
        region.cores = sorted(self._find_cores(graph, region))
        region.graph = graph
        region.edges = listed_edges(graph, region.cores, self.limits.edges_per_waiter_max, region.to_itself)
        region.behind = _behind(graph, region)
        return region

    def _graph(self, names: Sequence[ActorId], supply: Supply, silent: Iterable[ActorId] = ()) -> WaitForGraph:
        gone = self.fixpoint.pending
        return WaitForGraph(self.actors, names, supply, self.best, self.limits, gone=gone, silent=silent)

    def outlook(self, name: ActorId, region: Region) -> Outlook:
        """Whether this stuck actor could go on if every other stuck one were cleared, or by its own units besides.

        If by its own, the region learns of its edges to itself.
        """
        actor = self.actors[name]
        if actor.wait is None:
            return Outlook.BY_OTHERS
        request, level = actor.wait.request, self.best.levels.reach(actor)
        others = self.best.child() if actor.holds else None
        if others is not None:
            others.take(actor)
        supply = others if others is not None else self.best
        region.gauge(actor, self.supply, self.best, others)
        judge = Judge(self.actors, supply, {name}, self.limits, self.fixpoint.pending)
        if judge.met(request, level):
            region.exact = region.exact and judge.exact
            return Outlook.BY_OTHERS
        asked = _units_of_its_own(actor)
        if not asked:
            return Outlook.NEVER
        own = {resource: self.best.free(resource, level) - supply.free(resource, level) for resource in asked}
        judge = Judge(self.actors, supply, {name}, self.limits, self.fixpoint.pending, own=own)
        if not judge.met(request, level):
            return Outlook.NEVER
        region.exact = region.exact and judge.exact
        held, jointly = dict(actor.holds), supply.atlas.shares(request)
        short = (resource for resource in sorted(asked) if jointly or supply.free(resource, level) < asked[resource])
        region.to_itself[name] = [WaitFor(name, name, resource, held[resource]) for resource in short]
        return Outlook.BY_ITSELF

    def _find_cores(self, graph: WaitForGraph, region: Region) -> list[tuple[ActorId, ...]]:
        found = []
        todo = rings(graph, region.to_itself)
        while todo:
            members = todo.pop()
            local = self._all_but(members)
            region.exact = region.exact and not local.inexact
            left = sorted(local.pending)
            if len(left) == len(members):
                found.append(tuple(left))
            elif left:
                todo += rings(self._graph(left, local.supply), region.to_itself)
        return found

    def _all_but(self, members: Sequence[ActorId]) -> Fixpoint:
        """The fixed point over the members if everybody else who is stuck were cleared, and each of them in turn."""
        supply = self.best.child()
        for name in members:
            supply.take(self.actors[name])
        return Fixpoint(self.actors, supply, members, self.limits, self.fixpoint.pending).run()


def _units_of_its_own(actor: ActorObserved) -> dict[ResourceId, int]:
    """Resources that the actor asks for by name and holds itself, with the largest count that it asks for."""
    held = {resource for resource, count in actor.holds if count > 0}
    asked: dict[ResourceId, int] = {}
    if actor.wait is not None and held:
        for leaf in leaves(actor.wait.request):
            if isinstance(leaf, Units) and leaf.resource in held:
                asked[leaf.resource] = max(asked.get(leaf.resource, 0), leaf.count)
    return asked


def _behind(graph: WaitForGraph, region: Region) -> dict[ActorId, tuple[ActorId, ...]]:
    roots = {graph.index[name] for name in region.unsatisfiable}
    roots.update(graph.index[name] for core in region.cores for name in core)
    found = {}
    for group in sorted((*((name,) for name in region.unsatisfiable), *region.cores)):
        reached = graph.waiters_on(graph.index[name] for name in group)
        found[group[0]] = tuple(graph.names[number] for number in sorted(reached - roots))
    return found


def rings(graph: WaitForGraph, alone: Container[ActorId]) -> list[list[ActorId]]:
    """The actors of each strongly connected component: at least two of them, or one of `alone`."""
    count = len(graph.names)
    found = []
    for component in components(graph.successors()):
        members = [graph.names[number] for number in component if number < count]
        if len(members) > 1 or (members and members[0] in alone):
            found.append(members)
    return found
