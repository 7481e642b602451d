"""Who must finish first: the quiet half of a report. Rows share work where requests have the same shape."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import assert_never

from msgspec import Struct

from analyzer.explain import words
from analyzer.explain.needs import atoms, needs
from analyzer.graph.liveness import liveness
from analyzer.graph.placement import shortage
from analyzer.model.events import ActorObserved, Lifetime, Wait
from analyzer.model.findings import Waiting
from analyzer.model.ids import ActorId, ResourceId, kind_of, resource_on
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from analyzer.state.view import View

Shape = tuple[tuple[tuple[str, int], ...], int, int | None]
"""What a pod takes, the identity of its tuple of nodes (sources share one object), and the bound per node."""


def waiting_rows(view: View) -> tuple[Waiting, ...]:
    """A row for everybody who waits and will go on, or may: sorted by name. O(rows + shapes x nodes)."""
    queue = Queue(view)
    live = (view.system.waiting.get(actor) for actor in sorted(view.diagnosis.live))
    waiting = [(actor, actor.wait) for actor in live if actor is not None and actor.wait is not None]
    queue.foresee(wait.request for _, wait in waiting)
    return tuple(queue.row(actor, wait) for actor, wait in waiting)


class FreeNow(Mapping[ResourceId, int]):
    """Units nobody holds, computed per look-up; never negative."""

    def __init__(self, view: View) -> None:
        self._capacity = view.system.capacity
        self._used = view.system.used

    def __getitem__(self, resource: ResourceId) -> int:
        return max(self._capacity.get(resource, 0) - self._used.get(resource, 0), 0)

    def __iter__(self) -> Iterator[ResourceId]:
        return iter(self._capacity)

    def __len__(self) -> int:
        return len(self._capacity)


class Column(Struct, frozen=True):
    """One kind on a list of nodes: units that exist, are free, and can be had before anybody who waits gets on."""

    exist: list[int]
    free: list[int]
    soon: list[int]


class Answer(Struct, frozen=True):
    """What all hear who ask for the same and may preempt the same, whoever they are.

    `firsts` are those whose return, end or arrival is waited for, soonest first, none of them stuck: nobody if it could
    start right now. `running` if none of them waits. `stuck`: who may be preempted instead.
    """

    needs: str
    firsts: tuple[ActorId, ...] = ()
    stuck: tuple[ActorId, ...] = ()
    running: bool = True


class Queue:
    """Answers about waiting actors of one view. Keeps what it found per request, per shape and per resource."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._free = FreeNow(view)
        self._max = view.limits.first_to_finish_max
        self._order: dict[ActorId, int] | None = None
        self._answers: dict[tuple[object, bool, bool, int], Answer] = {}
        self._columns: dict[tuple[str, int], Column] = {}
        self._fits: dict[Shape, int] = {}
        self._holders: dict[ResourceId, list[tuple[ActorId, int]]] = {}
        self._lacked_on: dict[Shape, tuple[tuple[tuple[ResourceId, int], ...], ...]] = {}
        self._on_nodes: dict[tuple[Shape, bool, int], tuple[ActorId, ...]] = {}
        self._on_units: dict[tuple[ResourceId, int, bool, int], tuple[ActorId, ...]] = {}

    def foresee(self, requests: Iterable[Request]) -> None:
        """Find the holders of all that these lack in one pass: quicker than an index of everything that is held."""
        unlike = {_alike(request): request for request in requests}
        wanted: dict[ResourceId, list[tuple[ActorId, int]]] = {}
        for atom in (atom for request in unlike.values() for atom in atoms(request)):
            if isinstance(atom, Units | Pods) and not self._atom_met(atom):
                lacked = [(atom.resource, atom.count)] if isinstance(atom, Units) else chain(*self._lacked(atom))
                wanted.update((resource, []) for resource, _ in lacked)
        if wanted:
            for name, actor in self._view.system.actors.items():
                for resource, units in actor.holds:
                    if resource in wanted:
                        wanted[resource].append((name, units))
        self._holders = wanted

    def row(self, actor: ActorObserved, wait: Wait) -> Waiting:
        """What it needs and who must finish first; its excuse, or what was taken for granted, as the note."""
        answer = self._answer(actor, wait)
        firsts = self._firsts_for(actor.actor, answer)
        note = wait.excuse.text if wait.excuse is not None else self._note(firsts)
        return Waiting(
            actor=actor.actor,
            since_ns=wait.since_ns,
            needs=answer.needs,
            first_to_finish=firsts,
            note=note or (self._victims(answer, firsts) if wait.preempts else ""),
            excuse=wait.excuse.kind if wait.excuse is not None else None,
        )

    def first_to_finish(self, actor: ActorObserved) -> tuple[ActorId, ...]:
        """Nobody if it could start right now; else those whose return, end or arrival it waits for, soonest first."""
        return () if actor.wait is None else self._firsts_for(actor.actor, self._answer(actor, actor.wait))

    def _firsts_for(self, actor: ActorId, answer: Answer) -> tuple[ActorId, ...]:
        """Of those who come first, the ones that go on before this actor does; nobody waits for itself."""
        firsts = answer.firsts
        if not answer.running or actor in firsts:
            firsts = tuple(first for first in firsts if first != actor)
            firsts = tuple(first for first in firsts if self._goes_on_before(first, actor)) or firsts
        return firsts[: self._max]

    def _answer(self, actor: ActorObserved, wait: Wait) -> Answer:
        key = (_alike(wait.request), words.takes_nodes(actor.actor), *_reach(actor))
        if key not in self._answers:
            self._answers[key] = self._answered(actor, wait.request)
        return self._answers[key]

    def _answered(self, actor: ActorObserved, request: Request) -> Answer:
        if self._met_now(request):
            return Answer(needs(request, actor.actor))
        asked = list(atoms(request))
        lacking = [atom for atom in asked if not self._atom_met(atom)] or asked
        found = dict.fromkeys(first for atom in lacking for first in self._firsts(actor, atom))
        firsts = tuple(first for first in found if first not in self._view.stuck)
        taken = dict.fromkeys(first for atom in asked for first in self._firsts(actor, atom))
        stuck = tuple(first for first in taken if first in self._view.stuck)
        running = self._view.system.waiting.keys().isdisjoint(firsts)
        return Answer(needs(request, actor.actor), firsts, stuck, running)

    def _goes_on_before(self, first: ActorId, actor: ActorId) -> bool:
        """Whether it runs, or goes on before the actor in the order by rounds, which proves both live."""
        if first not in self._view.system.waiting:
            return True
        if self._order is None:  # asked anew: the diagnosis may have kept another order that is as good
            order = liveness(self._view.system, self._view.limits).order
            self._order = {name: position for position, name in enumerate(order)}
        last = len(self._order)
        return self._order.get(first, last) < self._order.get(actor, last)

    def _victims(self, answer: Answer, firsts: Sequence[ActorId]) -> str:
        """Who does not finish but makes room by being preempted: endless holders, else stuck ones."""
        actors = self._view.system.actors
        taken = [first for first in firsts if actors[first].lifetime is Lifetime.ENDLESS]
        taken = taken if firsts else list(answer.stuck)
        return f"goes on by preempting {words.listed(taken)}" if taken else ""

    def _note(self, firsts: Sequence[ActorId]) -> str:
        actors = self._view.system.actors
        unknown = [first for first in firsts if actors[first].lifetime is Lifetime.UNKNOWN]
        if firsts and len(unknown) == len(firsts):
            return f"waits as long as {words.listed(unknown, last='or')} lives: how long that is, is not known"
        return ""

    def _met_now(self, request: Request) -> bool:
        """Whether free units and actors that ended or run meet it, all parts together."""
        if not self._apart(request):
            return False
        drawn = [resources for resources in map(_draws_on, atoms(request)) if resources]
        if sum(map(len, drawn)) == len(frozenset().union(*drawn)):
            return True  # no two parts draw on the same units
        actors = self._view.system.actors
        lacks = shortage(request, self._free, ended=_Absent(actors), arrived=_Running(actors))
        return not (lacks.units or lacks.pods or lacks.done or lacks.arrivals or lacks.never or lacks.jointly)

    def _apart(self, request: Request) -> bool:
        if isinstance(request, KOutOfN):
            return sum(map(self._apart, request.parts)) >= request.k
        return self._atom_met(request)

    def _atom_met(self, atom: Units | Pods | Done | Arrivals | Never) -> bool:
        actors = self._view.system.actors
        match atom:
            case Units():
                return atom.count <= self._free[atom.resource]
            case Pods():
                return self._fitting(atom) >= atom.count
            case Done():
                return atom.actor not in actors
            case Arrivals():
                return sum(_has_arrived(actors, peer) for peer in atom.peers) >= atom.quorum
            case Never():
                return False
            case _:
                assert_never(atom)

    def _firsts(self, actor: ActorObserved, atom: Units | Pods | Done | Arrivals | Never) -> tuple[ActorId, ...]:
        actors = self._view.system.actors
        match atom:
            case Units():
                return self._holders_of(actor, atom.resource, atom.count)
            case Pods():
                return self._holders_on_nodes(actor, atom)
            case Done():
                return (atom.actor,) if atom.actor in actors else ()
            case Arrivals():
                return tuple(peer for peer in atom.peers if not _has_arrived(actors, peer))
            case Never():
                return ()
            case _:
                assert_never(atom)

    def _column(self, kind: str, among: tuple[str, ...]) -> Column:
        """Free, obtainable and existing units of a kind on these nodes, in their order. O(nodes), once."""
        key = (kind, id(among))
        if key not in self._columns:
            system = self._view.system
            resources = [resource_on(kind, node) for node in among]
            capacity, used, kept = system.capacity.get, system.used.get, system.kept.get
            exist = [capacity(one, 0) for one in resources]
            free = [max(units - used(one, 0), 0) for one, units in zip(resources, exist, strict=True)]
            soon = [units - kept(one, 0) for one, units in zip(resources, exist, strict=True)]
            self._columns[key] = Column(exist, free, soon)
        return self._columns[key]

    def _fitting(self, pods: Pods) -> int:
        """How many such pods fit on free units alone. O(nodes) per shape."""
        shape = _shape(pods)
        if shape not in self._fits:
            each = [(self._column(kind, pods.among).free, count) for kind, count in pods.each if count]
            counts = [[units // count for units in free] for free, count in each]
            on_nodes = map(min, zip(*counts, strict=True)) if counts else (pods.count for _ in pods.among)
            bound = pods.per_node_max
            self._fits[shape] = sum(on_nodes if bound is None else (min(bound, one) for one in on_nodes))
        return self._fits[shape]

    def _holders_of(self, actor: ActorObserved, resource: ResourceId, count: int) -> tuple[ActorId, ...]:
        key = (resource, count, *_reach(actor))
        if key not in self._on_units:
            short = count - self._free[resource]
            known = self._holders.get(resource)
            holders = [
                (self._rank(name, enough=units >= short), -units, name)
                for name, units in (self._view.system.holders(resource) if known is None else known)
                if self._comes_back(actor, name)
            ]
            self._on_units[key] = tuple(name for _, _, name in sorted(holders)[: self._max + 1])
        return self._on_units[key]

    def _holders_on_nodes(self, actor: ActorObserved, pods: Pods) -> tuple[ActorId, ...]:
        """Holders on the candidate nodes that need the least to take one more of the pods."""
        key = (_shape(pods), *_reach(actor))
        if key not in self._on_nodes:
            found: dict[ActorId, None] = {}
            for lacked in self._lacked(pods):
                for resource, count in lacked:
                    found.update(dict.fromkeys(self._holders_of(actor, resource, count)))
                if len(found) > self._max:
                    break
            self._on_nodes[key] = tuple(found)
        return self._on_nodes[key]

    def _lacked(self, pods: Pods) -> tuple[tuple[tuple[ResourceId, int], ...], ...]:
        """What one more of the pods would need that is not free, cards first: for each node, in the order to ask."""
        shape = _shape(pods)
        if shape not in self._lacked_on:
            on_nodes = []
            for node in self._nodes_by_need(pods):
                asked = ((resource_on(kind, node), count) for kind, count in pods.each)
                lacking = [(resource, count) for resource, count in asked if self._free[resource] < count]
                lacking.sort(key=lambda lack: (not words.is_gpu(kind_of(lack[0])), lack[0]))
                on_nodes.append(tuple(lacking))
            self._lacked_on[shape] = tuple(on_nodes)
        return self._lacked_on[shape]

    def _nodes_by_need(self, pods: Pods) -> list[str]:
        """Nodes where one more could fit: first those that running, finite holders can clear, least to clear first."""
        columns = [(self._column(kind, pods.among), count) for kind, count in pods.each if count]
        columns = [(column, count) for column, count in columns if min(column.free, default=0) < count]
        possible = [True] * len(pods.among)
        waits = [False] * len(pods.among)
        need = [0.0] * len(pods.among)
        for column, count in columns:
            for position, exist in enumerate(column.exist):
                if exist < count:
                    possible[position] = False
                elif column.free[position] < count:
                    need[position] = max(need[position], (count - column.free[position]) / count)
                    waits[position] = waits[position] or column.soon[position] < count
        ranked = (
            (waits[position], need[position], node)
            for position, node in enumerate(pods.among)
            if possible[position] and need[position]
        )
        return [node for _, _, node in nsmallest(self._max + 1, ranked)]

    def _comes_back(self, actor: ActorObserved, holder: ActorId) -> bool:
        """Whether the holder's units come back, or may be taken: it can go on and ends, or is less important."""
        state = self._view.system.actors[holder]
        if holder in self._view.stuck or state.lifetime is Lifetime.ENDLESS:
            return self._may_take(actor, state)
        return True

    def _may_take(self, actor: ActorObserved, holder: ActorObserved) -> bool:
        preempts, priority = _reach(actor)
        return preempts and holder.preemptible and holder.priority < priority

    def _rank(self, holder: ActorId, *, enough: bool) -> tuple[bool, bool, int]:
        """Running before waiting ones, those that suffice alone first, then by when they end at the latest."""
        state = self._view.system.actors[holder]
        until_ns = state.until_ns if state.lifetime is Lifetime.DATED and state.until_ns is not None else 1 << 63
        return (state.wait is not None, not enough, until_ns)


class _Absent:
    """Actors that the state does not know: they ended, or nobody has heard of them."""

    def __init__(self, actors: Mapping[ActorId, ActorObserved]) -> None:
        self._actors = actors

    def __contains__(self, actor: object) -> bool:
        return actor not in self._actors


class _Running(_Absent):
    """Actors that are unknown or do not wait."""

    def __contains__(self, actor: object) -> bool:
        return isinstance(actor, str) and _has_arrived(self._actors, ActorId(actor))


def _has_arrived(actors: Mapping[ActorId, ActorObserved], peer: ActorId) -> bool:
    state = actors.get(peer)
    return state is None or state.wait is None


def _reach(actor: ActorObserved) -> tuple[bool, int]:
    """Whether it may preempt, and if so from below which priority: what makes its answer differ from another's."""
    preempts = actor.wait is not None and actor.wait.preempts
    return (preempts, actor.priority if preempts else 0)


def _alike(request: Request) -> object:
    """A key that equal requests share; tuples of nodes by identity, since sources share them and they are long."""
    if isinstance(request, Pods):
        return (request.count, *_shape(request))
    if isinstance(request, KOutOfN):
        return (request.k, tuple(map(_alike, request.parts)))
    return request


def _shape(pods: Pods) -> Shape:
    return (pods.each, id(pods.among), pods.per_node_max)


def _draws_on(atom: Units | Pods | Done | Arrivals | Never) -> frozenset[object]:
    """What it draws on: its resource, or nodes as such, so that any two parts that place pods count as sharing."""
    match atom:
        case Units():
            return frozenset((atom.resource,))
        case Pods():
            return frozenset(("pods",))
        case Done() | Arrivals() | Never():
            return frozenset()
        case _:
            assert_never(atom)
