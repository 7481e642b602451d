"""Unsatisfiable, core and blocked behind, each against its definition asked of the oracle, and against networkx."""

from random import Random

import networkx
import pytest

from analyzer.graph.cores import Diagnosis, diagnose
from analyzer.graph.paths import witness_cycle
from analyzer.graph.victims import releases
from analyzer.model.events import ActorObserved, Event, ResourceObserved, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Units, all_of, any_of
from tests.properties.oracle import World, hypothetically, live_by_search
from tests.properties.systems import state_of
from tests.properties.worlds import dice, world

WORLDS = 2500
BLOCKS = 5


def _judged(number: int) -> tuple[list[Event], frozenset[ActorId], Diagnosis]:
    events = world(number, preemption=number % 3 == 0)
    waiting = frozenset(event.actor for event in events if isinstance(event, ActorObserved) and event.wait is not None)
    return events, waiting, diagnose(state_of(events), Limits())


def _in_cores(found: Diagnosis) -> frozenset[ActorId]:
    return frozenset(name for core in found.cores for name in core)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_class_is_what_its_definition_says(block: int) -> None:
    seen = {"by itself": 0, "core": 0, "unsatisfiable": 0, "behind": 0}
    for number in range(block * WORLDS // BLOCKS, (block + 1) * WORLDS // BLOCKS):
        events, waiting, found = _judged(number)
        live = live_by_search(events)
        assert (found.live, frozenset(found.stuck)) == (live, waiting - live), number
        stuck = waiting - live
        for name in stuck:
            others = World(hypothetically(events, live=live, cleared=stuck - {name}))
            waiter = others.actors[name]
            by_itself = others.can_go_on(waiter, frozenset(), by_itself=True)
            assert by_itself == (name not in found.unsatisfiable), (number, name)
            blocks_itself = by_itself and not others.can_go_on(waiter, frozenset())
            assert blocks_itself == any(edge.waiter == edge.holder == name for edge in found.edges), (number, name)
            assert not blocks_itself or name in _in_cores(found), (number, name)
            assert blocks_itself or (name,) not in found.cores, (number, name)
            seen["by itself"] += blocks_itself
        for core in found.cores:
            rest = hypothetically(events, live=live, cleared=stuck - set(core))
            assert live_by_search(rest).isdisjoint(core), (number, core)
        roots = _in_cores(found) | set(found.unsatisfiable)
        cured = hypothetically(events, live=live, cleared=roots)
        assert live_by_search(cured) == stuck - roots, f"clearing the roots clears all: {number}"
        behind = {name for names in found.behind.values() for name in names}
        assert behind == set(found.stuck) - roots, number
        assert set(found.behind) == set(found.unsatisfiable) | {core[0] for core in found.cores}, number
        seen["core"] += len(found.cores)
        seen["unsatisfiable"] += len(found.unsatisfiable)
        seen["behind"] += len(behind)
    assert min(seen.values()) > 20, f"the worlds are too dull to prove anything: {seen}"


def test_each_core_has_a_witness_along_its_edges() -> None:
    cores = 0
    for number in range(WORLDS):
        found = _judged(number)[2]
        for core in found.cores:
            ring = witness_cycle(found.edges, core)
            steps = {(edge.waiter, edge.holder) for edge in found.edges}
            assert len(ring) > 1 or ring == core, number
            assert set(ring) <= set(core), number
            assert ring[0] == min(ring), number
            assert all((ring[i], ring[(i + 1) % len(ring)]) in steps for i in range(len(ring))), number
            cores += 1
    assert cores > 100


def test_releases_name_exactly_whom_removing_the_victim_starts() -> None:
    tried = 0
    for number in range(0, WORLDS, 2):
        events, _, found = _judged(number + 1)
        for group in (*found.cores, *((name,) for name in found.unsatisfiable)):
            for release in releases(state_of(events), Limits(), group, among_stuck=found.stuck):
                victims = frozenset({release.actor, *release.together_with})
                after = live_by_search(events, evicted=victims)
                assert set(release.then_runs) == after & set(found.stuck), number
                assert release.then_runs, number
                tried += 1
    assert tried > 50


def _single_units(random: Random, *, alternatives: bool) -> tuple[list[Event], networkx.DiGraph]:
    """Each actor holds a lock of its own and asks for some locks of others, all of them or any one."""
    names = [ActorId(f"gang/red/{number}") for number in range(random.randint(2, 8))]
    graph: networkx.DiGraph = networkx.DiGraph()
    graph.add_nodes_from(names)
    events: list[Event] = []
    for name in names:
        lock = ResourceId(f"lock/{name[-1]}")
        wanted = random.sample([other for other in names if other != name], random.randint(0, min(2, len(names) - 1)))
        graph.add_edges_from((name, other) for other in wanted)
        parts = [Units(ResourceId(f"lock/{other[-1]}"), 1) for other in wanted]
        request = any_of(parts) if alternatives else all_of(parts)
        wait = Wait(request=request, since_ns=0) if wanted else None
        events.append(ResourceObserved(at_ns=1, resource=lock, units=1))
        events.append(ActorObserved(at_ns=1, actor=name, holds=((lock, 1),), wait=wait))
    return events, graph


def test_with_pure_and_the_cores_are_the_components_with_a_cycle() -> None:
    found_any = 0
    for number in range(1500):
        events, graph = _single_units(dice(number), alternatives=False)
        cyclic = sorted(tuple(sorted(each)) for each in networkx.strongly_connected_components(graph) if len(each) > 1)
        assert list(diagnose(state_of(events), Limits()).cores) == cyclic, number
        found_any += bool(cyclic)
    assert found_any > 200


def test_with_pure_or_the_cores_are_the_knots() -> None:
    found_any = 0
    for number in range(1500):
        events, graph = _single_units(dice(number), alternatives=True)
        knots = sorted(tuple(sorted(each)) for each in networkx.attracting_components(graph) if len(each) > 1)
        assert list(diagnose(state_of(events), Limits()).cores) == knots, number
        found_any += bool(knots)
    assert found_any > 200
