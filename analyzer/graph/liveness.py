"""The fixed point over a whole system: which waiting actors can still go on."""

from collections.abc import Container, Iterable

from msgspec import Struct

from analyzer.graph.atlas import Atlas
from analyzer.graph.fixpoint import Fixpoint
from analyzer.graph.supply import Levels, RootSupply
from analyzer.graph.system import System
from analyzer.model.events import ActorObserved, Lifetime
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits

NOBODY: frozenset[ActorId] = frozenset()


class Liveness(Struct, frozen=True):
    """The waiting actors that can go on, in an order in which they do.

    `order` is by rounds: whoever can go on with what the rounds before gave back, each round sorted by name.
    `exact` is false if a placement was too large to search, and its necessary conditions decided.
    """

    live: frozenset[ActorId]
    order: tuple[ActorId, ...]
    exact: bool


def liveness(
    system: System, limits: Limits, *, without: frozenset[ActorId] = NOBODY, given: frozenset[ActorId] = NOBODY
) -> Liveness:
    """Who can still go on? `without`: as if these were evicted; `given`: as if these could go on (and, if finite, end).

    Neither are in the answer. The evicted have ended, but have not arrived for those who need them ready. Actors that
    wait with an excuse count as able to go on, before all others.
    O((waiters + watches) log waiters + nodes per distinct shape of pods).
    """
    supply = root_supply(system)
    ready, pending = split_waiting(system, without, given)
    give_back(supply, system, ready, given, without)
    fixpoint = Fixpoint(system.actors, supply, pending, limits, evicted=without).run()
    order = [name for group in (ready, *fixpoint.rounds) for name in group]
    return Liveness(frozenset(order), tuple(order), not fixpoint.inexact)


def root_supply(system: System) -> RootSupply:
    """What can be had before any waiting actor gets on."""
    levels = Levels(_within_reach(system))
    supply = RootSupply(system.capacity, system.kept, Atlas(), levels)
    if levels.count:
        for name in sorted(system.preemptible):
            supply.offer(system.preemptible[name])
    return supply


def _within_reach(system: System) -> Iterable[ActorObserved]:
    """The preemptible actors, if anybody waits who may take from one of them."""
    if not system.preemptible:
        return ()
    lowest = min(actor.priority for actor in system.preemptible.values())
    for actor in system.waiting.values():
        if actor.wait is not None and actor.wait.preempts and actor.priority > lowest:
            return system.preemptible.values()
    return ()


def split_waiting(
    system: System, without: Container[ActorId] = NOBODY, given: Container[ActorId] = NOBODY
) -> tuple[list[ActorId], list[ActorId]]:
    """The excused, who count as able to go on, and those to be judged; each sorted."""
    ready: list[ActorId] = []
    pending: list[ActorId] = []
    for name in sorted(system.waiting):
        if name in without or name in given:
            continue
        wait = system.waiting[name].wait
        (ready if wait is not None and wait.excuse is not None else pending).append(name)
    return ready, pending


def give_back(
    supply: RootSupply,
    system: System,
    ready: Iterable[ActorId],
    given: Iterable[ActorId] = NOBODY,
    without: Iterable[ActorId] = NOBODY,
) -> None:
    """What the excused and the hypothetical ones hold, and would not have given back anyway, comes back."""
    for name in (*ready, *sorted(given)):
        actor = system.waiting.get(name)
        if actor is not None and actor.lifetime is not Lifetime.ENDLESS:
            supply.give(actor)
    for name in sorted(without):
        actor = system.actors.get(name)
        if actor is not None and (actor.wait is not None or actor.lifetime is Lifetime.ENDLESS):
            supply.give(actor)
