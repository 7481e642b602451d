"""The smallest change that starts an actor: it does, by the question what if, and no smaller one of its kinds does."""

from collections import Counter
from itertools import combinations

import pytest

from analyzer.explain.needs import atoms
from analyzer.hypothesis import Evict, Fate, Restate, smallest_change, what_if
from analyzer.model.events import ActorObserved, Event, ResourceObserved
from analyzer.model.ids import ActorId
from analyzer.model.requests import KOutOfN, Pods
from tests.cli.running import run
from tests.properties.oracle import World
from tests.properties.worlds import world
from tests.whatif.test_laws import engine_of

WORLDS = range(700)


def goes_on(events: list[Event], name: ActorId, evicted: frozenset[ActorId] = frozenset()) -> bool:
    """By the slow oracle: whether the actor is served in some order once these are evicted."""
    whole = World(events, evicted)
    gone_on: frozenset[ActorId] = frozenset()
    while True:
        able = {
            one.actor
            for one in whole.actors.values()
            if one.wait is not None
            and one.actor not in gone_on | evicted
            and (one.wait.excuse is not None or whole.can_go_on(one, gone_on))
        }
        if not able:
            return name in gone_on
        gone_on |= able


def fewer(events: list[Event], grown: tuple[ResourceObserved, ...], actor: ActorObserved) -> list[Event]:
    """The world with all of these units but one; where they are room for pods, but the room for one."""
    assert actor.wait is not None
    pods = next((one for one in atoms(actor.wait.request) if isinstance(one, Pods)), None)
    units = {one.resource: one.units for one in grown}
    one_less = {grown[-1].resource: 1} if pods is None else {}
    for kind, need in () if pods is None else pods.each:
        last = max(name for name in units if name.startswith(f"{kind}/"))
        one_less[last] = need
    changed: list[Event] = [
        ResourceObserved(at_ns=1, resource=n, units=c - one_less.get(n, 0)) for n, c in units.items()
    ]
    return [*(one for one in events if not (isinstance(one, ResourceObserved) and one.resource in units)), *changed]


@pytest.mark.parametrize("preemption", [False, True])
def test_it_starts_the_actor_and_nothing_smaller_does(*, preemption: bool) -> None:
    told: Counter[str] = Counter()
    for number in WORLDS:
        events = world(number, preemption=preemption)
        engine = engine_of(events)
        view = engine.view()
        others = sorted(one.actor for one in events if isinstance(one, ActorObserved))
        for name in sorted(view.stuck):
            change = smallest_change(view, name)
            alone = [other for other in others if other != name and goes_on(events, name, frozenset((other,)))]
            rest = [other for other in others if other != name]
            pairs = not alone and any(goes_on(events, name, frozenset(two)) for two in combinations(rest, 2))
            stopped = sum(isinstance(one, Evict) for one in change.changes) if change is not None else 0
            assert stopped == (1 if alone else 2 if pairs else 0), (number, name, change)
            if change is None:
                continue
            answer = what_if(engine, change.changes)
            assert name in answer.go_on, (number, name, change.text)
            assert change.outlook.fate in {Fate.STARTS_NOW, Fate.WAITS}, (number, name)
            assert answer.safety == change.safety, (number, name)
            told[f"{stopped} stopped"] += 1
            for grown in (one for one in change.changes if isinstance(one, Restate) and " and room" not in change.text):
                actor = view.system.actors[name]
                if actor.wait is None or isinstance(actor.wait.request, KOutOfN):
                    continue  # parts that compete, or of which some would do, have no one measure
                told["units"] += 1
                units = tuple(one for one in grown.events if isinstance(one, ResourceObserved))
                assert not goes_on(fewer(events, units, actor), name), (number, name, change.text)
    assert min(told["1 stopped"], told["2 stopped"], told["units"]) > 10, told


def test_why_states_the_proof_as_whatif_does(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("facts")
    (folder / "knot.yaml").write_text(
        "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\nresources: {slot/x: 2}\nactors:\n"
        "  gang/r/a: {holds: {slot/x: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: slot/x, count: 1}}}\n"
        "  gang/r/b: {holds: {slot/x: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: slot/x, count: 1}}}\n"
        "  gang/r/c: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: slot/x, count: 2}}}\n"
    )
    told = " ".join(run("why", "gang/r/b", folder).stdout.split())
    assert "Evict gang/r/a" in told
    assert "After that gang/r/b could start now. Safe: all who wait can be served in one order" in told
    told = " ".join(run("why", "gang/r/c", folder).stdout.split())
    assert "waits, and will go on: gang/r/b must finish first. Safe" in told
    assert "Safe: all who wait" in run("whatif", folder, "--evict", "gang/r/a").stdout
