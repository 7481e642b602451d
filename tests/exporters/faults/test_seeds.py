"""Anything fails at any time, in any mixture: nothing breaks, nothing is made up, and afterwards all is as before.

A few lives by default; `KNOTWATCH_FUZZ_NODES=500` for the long run, `KNOTWATCH_FUZZ_SEED` to begin elsewhere.
"""

import os
from collections.abc import Callable

import pytest

from tests.exporters.faults.chaos import DEEDS, heal
from tests.exporters.faults.truth import Page
from tests.exporters.faults.verdict import OF_A_CARD, wrong
from tests.exporters.faults.world import World

pytestmark = pytest.mark.needs("c-compiler")

LIVES = int(os.environ.get("KNOTWATCH_FUZZ_NODES", "3"))
FIRST = int(os.environ.get("KNOTWATCH_FUZZ_SEED", "0"))
ROUNDS = 12
SPANS_S = (1.0, 5.0, 10.0, 25.0, 70.0)
RECOVERED_S = 320.0
"""Longer than any patience of the exporter: a full look at the list of GPUs comes every 300 s."""


@pytest.mark.parametrize("seed", range(FIRST, FIRST + LIVES))
def test_whatever_fails_the_page_is_true_and_recovers(make_world: Callable[..., World], seed: int) -> None:
    world = make_world(seed)
    world.run(30)
    assert wrong(world) == []
    assert set(world.ups().values()) == {1}
    healthy = shapes(world.page())
    done: list[str] = []
    for _ in range(ROUNDS):
        for _ in range(world.chance.randrange(4)):
            name = world.chance.choice(list(DEEDS))
            done.append(name)
            DEEDS[name](world)
        world.run(world.chance.choice(SPANS_S))
        found = wrong(world)
        assert found == [], f"after {done}"
    heal(world)
    world.run(RECOVERED_S, step_s=40.0)
    world.run(20)
    assert wrong(world) == []
    assert world.reasons() == {}, f"after {done}"
    missing = healthy - shapes(world.page())
    assert {(family, uuid) for family, uuid in missing if uuid not in world.refused_for_good} == set(), f"after {done}"


def shapes(page: Page) -> set[tuple[str, str]]:
    """Which families each card has values of."""
    return {(family, dict(labels)["uuid"]) for family, labels in page if family in OF_A_CARD}
