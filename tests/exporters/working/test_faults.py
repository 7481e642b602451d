"""Whatever subjects do, at any time: one call in flight, a page that parses, and `up` and values as the truth is."""

import math
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse_text

from exporters.catalog.family import Sample
from exporters.subject import ReadError, Reading, Reason
from exporters.working.page import Form, Print
from tests.exporters.working.toys import HEAT, Toy, VirtualTime, lines_of

DEEDS: tuple[Callable[[random.Random, float], object], ...] = (
    lambda _chance, now_s: now_s,
    lambda _chance, now_s: now_s,
    lambda _chance, _now_s: OSError(22, "x"),
    lambda _chance, _now_s: ZeroDivisionError(),
    lambda _chance, _now_s: Reading(value=None, errors=(ReadError("call", "999"),)),
    lambda chance, _now_s: Reading(value=None, up=False, reason=chance.choice(sorted(Reason))),
    lambda _chance, _now_s: Reading(value=math.nan),
    lambda _chance, _now_s: Reading(value=b"rubbish"),
)
SPANS_S = (0.0, 0.0, 0.0, 0.3, 4.9, 5.1, 31.0, math.inf)


class Wild(Toy):
    """Does anything, takes any time, and remembers when it last gave a number."""

    def __init__(self, name: str, chance: random.Random) -> None:
        super().__init__(name, self._deed, takes_s=lambda _now_s: chance.choice(SPANS_S))
        self.chance = chance
        self.gave: list[float] = []

    def _deed(self, now_s: float) -> object:
        found = self.chance.choice(DEEDS)(self.chance, now_s)
        if isinstance(found, float):
            self.gave.append(found)
        return found

    def samples(self, value: Any) -> Iterable[Sample]:
        if self.chance.random() < 0.05:
            raise RuntimeError
        yield Sample(HEAT, (self.key.name,), value)
        if self.chance.random() < 0.05:
            yield Sample(HEAT, (self.key.name,), value)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_that_a_subject_does_makes_a_wrong_page(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  a test's chance, the same in every run
    time = VirtualTime()
    toys = [Wild(f"GPU-{n}", chance) for n in range(6)]
    present: list[Toy] = [*toys, Toy("steady")]
    office = time.office({"toys": lambda: list(present)})
    for _ in range(60):
        if chance.random() < 0.3:
            present[:] = [*chance.sample(toys, chance.randrange(7)), present[-1]]
        time.run(office, chance.uniform(0, 15))
        page = office.page.copy(Print(Form.TEXT), time.moment())
        assert page is not None
        assert list(parse_text(page.decode()))
        lines = lines_of(office)
        assert lines['knotwatch_gpu_up{uuid="steady"}'] == 1
        assert lines['knotwatch_gpu_toy_heat_celsius{uuid="steady"}'] == 42
        for toy in toys:
            name = f'{{uuid="{toy.key.name}"}}'
            heat = lines.get(f"knotwatch_gpu_toy_heat_celsius{name}")
            if heat is not None:
                assert lines[f"knotwatch_gpu_up{name}"] == 1, "no values of what is down"
                assert heat in toy.gave, "no value that was never read"
                assert time.now_s - heat <= 30, "no value that is older than three intervals"
    assert len(time.hands) <= 1 + 7 * 60
    assert sum(not hand.closed for hand in time.hands) <= 1 + 7
