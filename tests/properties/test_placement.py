"""Packing against trying each pod on each node."""

from collections import Counter
from random import Random

from analyzer.graph.liveness import liveness
from analyzer.graph.packing import Shape, pack
from analyzer.model.events import ActorObserved, Event, ResourceObserved, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Pods, all_of
from tests.properties.oracle import can_take
from tests.properties.systems import state_of
from tests.properties.worlds import dice


def _mixed(random: Random) -> tuple[dict[ResourceId, int], list[Pods]]:
    nodes = ("n1", "n2", "n3")
    free = {ResourceId(f"{kind}/{node}"): random.randint(0, 6) for kind in ("cpu", "gpu") for node in nodes}
    shapes = [
        Pods(
            random.randint(1, 3),
            tuple((kind, need) for kind in ("cpu", "gpu") if (need := random.randint(0, 3))) or (("cpu", 1),),
            tuple(random.sample(nodes, random.randint(1, 3))),
            random.choice((None, None, 1, 2)),
        )
        for _ in range(random.randint(2, 3))
    ]
    return free, shapes


def test_mixed_pods_fit_exactly_if_some_assignment_of_each_to_a_node_does() -> None:
    fitting = 0
    for number in range(4000):
        free, shapes = _mixed(dice(number))
        events: list[Event] = [ResourceObserved(at_ns=1, resource=name, units=free[name]) for name in sorted(free)]
        wait = Wait(request=all_of(shapes), since_ns=0)
        events.append(ActorObserved(at_ns=1, actor=ActorId("gang/red/a"), wait=wait))
        found = liveness(state_of(events), Limits())
        expected = can_take(list(shapes), Counter(free), Counter())
        assert (bool(found.live), found.exact) == (expected, True), number
        fitting += expected
    assert 400 < fitting < 3600


def test_a_search_that_is_given_up_says_so_and_errs_towards_silence() -> None:
    random = dice(1)
    nodes = [(random.randint(3, 9), random.randint(3, 9)) for _ in range(12)]
    shapes = [
        Shape(count, (random.randint(1, 3), random.randint(1, 3)), tuple(9 for _ in nodes)) for count in (9, 9, 9)
    ]
    bounded = pack(shapes, nodes, steps_max=1)
    assert bounded.fits
    assert not bounded.exact
