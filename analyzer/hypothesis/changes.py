"""Changes that a person may think of, and what they make of a copy of the state."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from analyzer.graph.system import System
from analyzer.hypothesis.moving import asking, candidates_with, moved, of_nodes_only, without, without_peers
from analyzer.model.events import ActorGone, ActorObserved, Event, Holds, ResourceObserved
from analyzer.model.ids import ActorId, ResourceId, place_of


class Evict(Struct, frozen=True):
    """The actor is stopped: it has ended, its units are free, and whoever needs it ready never sees it ready."""

    actor: ActorId


class Restate(Struct, frozen=True, kw_only=True):
    """Actors and resources as they would then be. `submitted`: those of the actors that are asked about.

    `nodes`: new places to which those may go as well who may go to every node of that kind there is (a source that
    knows better restates the actors, and names none).
    """

    events: tuple[ActorObserved | ActorGone | ResourceObserved, ...]
    submitted: tuple[ActorId, ...] = ()
    nodes: tuple[str, ...] = ()


class Kept(Struct, frozen=True):
    """Part of an actor that does not leave: what it keeps, who says so, and what would let it go."""

    actor: ActorId
    part: str
    keeps: Holds
    why: str
    cure: str


class Drain(Struct, frozen=True):
    """The node is emptied and takes nobody any more: who runs there needs the same again elsewhere.

    But those that are `kept` stay, and while they do the drain does not end.
    """

    node: str
    kept: tuple[Kept, ...] = ()


class Prioritise(Struct, frozen=True):
    """The actor's priority becomes this. One that is raised may preempt from then on."""

    actor: ActorId
    priority: int


Change = Evict | Restate | Drain | Prioritise


class Draft:
    """A copy of the state that changes are made to. `notes`: what had to be taken for granted, in sentences."""

    def __init__(self, system: System, now_ns: int) -> None:
        self._now_ns = now_ns
        self.units: dict[ResourceId, int] = dict(system.capacity)
        self.actors: dict[ActorId, ActorObserved] = dict(system.actors)
        self.submitted: list[ActorId] = []
        self.evicted: list[ActorId] = []
        self.moved: list[ActorId] = []
        self.staying: list[ActorId] = []
        self.unfinished: list[str] = []
        self.notes: list[str] = []

    def change(self, changes: Iterable[Change]) -> None:
        """Make all changes: first what comes, then what goes, then who is more important, whatever order was given.

        Whoever is submitted with something that then is not free does not have it, but needs it.
        """
        ordered = sorted(changes, key=_rank)
        for change in ordered:
            match change:
                case Restate():
                    self._restate(change)
                case Drain():
                    self._drain(change)
                case Evict():
                    self._evict(change.actor)
                case Prioritise():
                    self._prioritise(change)
                case _:
                    assert_never(change)
        self._let_submitted_ask()

    def events(self) -> Iterator[Event]:
        """Events that build this state from nothing."""
        for resource in sorted(self.units):
            yield ResourceObserved(at_ns=0, resource=resource, units=self.units[resource])
        for name in sorted(self.actors):
            yield self.actors[name]

    def _restate(self, change: Restate) -> None:
        before = dict(self.units)
        for event in change.events:
            if isinstance(event, ResourceObserved):
                self.units[event.resource] = event.units
            elif isinstance(event, ActorGone):
                self.actors.pop(event.actor, None)
            else:
                self.actors[event.actor] = event
        self.submitted += change.submitted
        if not change.nodes:
            return
        for name in sorted(self.actors):
            actor = self.actors[name]
            if actor.wait is not None and name not in change.submitted:
                request, choosy = candidates_with(actor.wait.request, change.nodes, before, self.units)
                if request is not actor.wait.request:
                    self.actors[name] = replace(actor, wait=replace(actor.wait, request=request))
                if choosy:
                    self.notes.append(
                        f"{name} names its nodes, and whether it may use {', '.join(change.nodes)} is not known: "
                        "it is taken not to."
                    )

    def _let_submitted_ask(self) -> None:
        submitted = sorted(dict.fromkeys(self.submitted), key=lambda name: -self.actors[name].priority)
        free = dict(self.units)
        for name, actor in self.actors.items():
            if name not in submitted:
                for resource, units in actor.holds:
                    free[resource] = free.get(resource, 0) - units
        for name in submitted:
            actor = self.actors[name]
            if all(free.get(resource, 0) >= units for resource, units in actor.holds):
                for resource, units in actor.holds:
                    free[resource] -= units
            else:
                self.actors[name] = asking(actor, self._now_ns)

    def _evict(self, name: ActorId) -> None:
        actor = self.actors.pop(name)
        self.evicted.append(name)
        if actor.recreated:
            self.notes.append(
                f"{name} would be made anew at once by its controller: evicting it helps only if others are served "
                "first."
            )
        self._nobody_waits_to_see_ready(name)

    def _nobody_waits_to_see_ready(self, name: ActorId) -> None:
        for other, actor in self.actors.items():
            if actor.wait is not None:
                request = without_peers(actor.wait.request, frozenset((name,)))
                if request is not actor.wait.request:
                    self.actors[other] = replace(actor, wait=replace(actor.wait, request=request))

    def _drain(self, change: Drain) -> None:
        node = change.node
        staying: dict[ActorId, dict[ResourceId, int]] = {}
        for one in change.kept:
            if one.actor in self.actors:
                kept = staying.setdefault(one.actor, {})
                for resource, units in one.keeps:
                    kept[resource] = kept.get(resource, 0) + units
                self.unfinished.append(
                    f"The drain of {node} cannot finish, {one.part} stays: {one.why}. {one.cure} would let it go."
                )
        self.staying += staying
        for resource in self.units:
            if place_of(resource) == node:
                self.units[resource] = sum(kept.get(resource, 0) for kept in staying.values())
        self.units = {resource: units for resource, units in self.units.items() if units}
        for name in sorted(self.actors):
            actor = self.actors[name]
            kept = staying.get(name, {})
            there = ((resource, units) for resource, units in actor.holds if place_of(resource) == node)
            lost = tuple((resource, left) for resource, units in there if (left := units - kept.get(resource, 0)) > 0)
            if not lost:
                continue
            if of_nodes_only(actor):
                self.actors[name] = replace(actor, holds=without(actor.holds, lost))
                continue
            self.actors[name] = moved(actor, lost, self.units, self._now_ns)
            self.moved.append(name)
        if self.moved:
            self.notes.append(
                f"Who leaves {node} is taken to fit on every other node that has what it needs: "
                "selectors and taints of what runs are not kept."
            )

    def _prioritise(self, change: Prioritise) -> None:
        actor = self.actors[change.actor]
        wait = actor.wait
        if wait is not None and change.priority > actor.priority and not wait.preempts:
            wait = replace(wait, preempts=True)
            self.notes.append(f"{change.actor} is taken to preempt those with less than {change.priority}.")
        self.actors[change.actor] = replace(actor, priority=change.priority, wait=wait)


def _rank(change: Change) -> tuple[int, str]:
    match change:
        case Restate():
            return (0, str(change.submitted))
        case Drain():
            return (1, change.node)
        case Evict():
            return (2, change.actor)
        case Prioritise():
            return (3, change.actor)
        case _:
            assert_never(change)
