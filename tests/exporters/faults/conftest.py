"""A world for each test, over the fake driver library."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from exporters.nvml import library
from exporters.nvml.driver import Pynvml
from exporters.nvml.node import NODE
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.faults.chaos import heal
from tests.exporters.faults.world import World

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(
    fake_nvml: FakeNvml, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeWorld]:
    """Makes a world from a seed. Its folder's name is short, as paths of sockets have to be."""
    monkeypatch.setattr(library, "QUIET_WAIT_S", 0.01)
    made: list[World] = []

    def make(seed: int = 0, *, cards: int = 3) -> World:
        folder: Path = tmp_path_factory.mktemp("w")
        world = World(fake_nvml, folder, Random(seed), cards=cards)  # noqa: S311  chance for a test, the same each time
        made.append(world)
        return world

    yield make
    for world in made:
        heal(world)  # so that no thread stays in a call
        world.office.crew.close()
        world.close()
    NODE.answered_by(Pynvml)
