"""The smallest change that starts one actor, each candidate tried by asking the same question under a hypothesis."""

from collections.abc import Iterable, Iterator, Mapping

from analyzer.explain import words
from analyzer.explain.actions import price, price_in_words
from analyzer.explain.ever import Prospects
from analyzer.explain.needs import each_pod
from analyzer.explain.queue import FreeNow
from analyzer.graph.liveness import liveness
from analyzer.graph.placement import shortage
from analyzer.graph.system import System
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId, resource_on
from analyzer.state.view import View

KEEPERS_TRIED = 8
"""Endless holders whose leaving is tried, those with most units first."""


def smallest_change(view: View, actor: ActorObserved) -> str:
    """What starts a stuck actor: an eviction, an endless holder leaving, or more units; "" if nothing we tried."""
    return next((text for text in _candidates(view, actor) if text), "")


def _candidates(view: View, actor: ActorObserved) -> Iterator[str]:
    yield _one_eviction(view, actor)
    yield _one_keeper(view, actor)
    yield _more_units(view, actor)


def _one_eviction(view: View, actor: ActorObserved) -> str:
    reached = _reached(view, actor.actor)
    found = [
        release
        for release in view.what_if.releases(reached[1:], among_stuck=reached)
        if actor.actor in release.then_runs
    ]
    if not found:
        return ""
    if found[0].together_with:
        return f"Evict {words.listed([release.actor for release in found])} together."
    victims = [view.system.actors[release.actor] for release in found]
    cheapest = min(victims, key=lambda one: (one.recreated, not one.holds, one.gpus, one.priority, one.actor))
    if cheapest.holds and Prospects(view).lacks(cheapest).shortage.never:
        return f"Release what {cheapest.actor} holds."  # it does not run, so there is nothing to evict
    lacked = {words.sort_of(edge.resource) for one in reached for edge in view.edges_from(one) if edge.resource}
    return f"Evict {cheapest.actor} ({price_in_words(price(view, cheapest), cheapest.holds, lacked)})."


def _one_keeper(view: View, actor: ActorObserved) -> str:
    for keeper in Prospects(view).kept(actor).named[:KEEPERS_TRIED]:
        if _starts(view, view.system, actor, without=(keeper.holder,)):
            return f"Stop or move {keeper.holder}, which holds {words.units_of(keeper.amount, keeper.resource)}."
    return ""


def _more_units(view: View, actor: ActorObserved) -> str:
    """Units that are missing now, added where they are asked for; said only if that is proven to start the actor."""
    if actor.wait is None:
        return ""
    actors = view.system.actors
    lacks = shortage(actor.wait.request, FreeNow(view), ended=(), arrived=actors)
    extra: dict[ResourceId, int] = {}
    told = []
    for units in lacks.units:
        extra[units.resource] = extra.get(units.resource, 0) + units.count - units.free
        told.append(words.units_of(units.count - units.free, units.resource))
    for short in lacks.pods:
        missing = short.pods.count - short.fits
        if not short.pods.among:
            return ""
        for kind, count in short.pods.each:
            resource = resource_on(kind, short.pods.among[0])
            extra[resource] = extra.get(resource, 0) + count * missing
        told.append(f"room for {words.counted(missing, 'further pod')} of {each_pod(short.pods.each)}")
    if not extra or not _starts(view, _Grown(view.system, extra), actor):
        return ""
    return f"Add {words.listed(told)}."


def _starts(view: View, system: System, actor: ActorObserved, without: Iterable[ActorId] = ()) -> bool:
    return actor.actor in liveness(system, view.limits, without=frozenset(without)).live


def _reached(view: View, start: ActorId) -> list[ActorId]:
    """The actor, and the stuck that it waits for, directly or through others: nearest first, then by name."""
    seen = {start: None}
    row = [start]
    while row:
        following = sorted({edge.holder for actor in row for edge in view.edges_from(actor)})
        row = [actor for actor in following if actor not in seen]
        seen.update(dict.fromkeys(row))
    return list(seen)


class _Grown:
    """A system with more units of some resources than there are."""

    def __init__(self, system: System, extra: Mapping[ResourceId, int]) -> None:
        self._system = system
        self.capacity: Mapping[ResourceId, int] = {
            **system.capacity,
            **{resource: system.capacity.get(resource, 0) + units for resource, units in extra.items()},
        }
        self.used = system.used
        self.kept = system.kept
        self.actors = system.actors
        self.waiting = system.waiting
        self.preemptible = system.preemptible

    def holders(self, resource: ResourceId) -> Iterable[tuple[ActorId, int]]:
        return self._system.holders(resource)
