"""Every scenario text, read as written; shuffled, doubled and replayed from its journal it gives the same bytes."""

import os
import random
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from analyzer.engine import Engine
from analyzer.model.events import Event, Tick
from tests.scenarios.reading import change_text, end_text
from tests.scenarios.story import DIVIDER, Line, moments, parse_lines

FOLDER = Path(__file__).parent
SCENARIOS = sorted(FOLDER.glob("*/*.scenario"))
UPDATE = "KNOTWATCH_UPDATE"
Arrange = Callable[[list[Line]], list[Line]]


def play(lines: list[Line], *, repeat: bool = False) -> tuple[str, list[Event]]:
    """What an operator reads, and every event that the engine saw."""
    engine, told, journal = Engine(), [], []
    for events, ticks in moments(lines):
        for event in (*events, *(events if repeat else ()), *ticks):
            journal.append(event)
            told += [change_text(change) for change in engine.step(event)]
    return "".join(told) + end_text(engine), journal


def halves(path: Path) -> tuple[str, str]:
    """Story and expectation."""
    story, _, expected = path.read_text().partition(f"\n{DIVIDER}\n")
    return story, expected


def shuffled(lines: list[Line], seed: int) -> list[Line]:
    """Lines of equal time in another order; ticks stay where time puts them."""
    dice = random.Random(seed)  # noqa: S311 - seeded on purpose, a test must be repeatable
    mixed: list[Line] = []
    for _, same in groupby(lines, key=lambda line: line.at_ns):
        moment = list(same)
        dice.shuffle(moment)
        mixed += moment
    return mixed


def replayed(journal: list[Event]) -> str:
    """The same reading from the events as lines of JSON."""
    decoder = msgspec.json.Decoder(Event)
    engine, told = Engine(), []
    for line in [msgspec.json.encode(event) for event in journal]:
        told += [change_text(change) for change in engine.step(decoder.decode(line))]
    return "".join(told) + end_text(engine)


ALL = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in SCENARIOS]


@pytest.mark.parametrize("path", ALL)
def test_reads_as_written(path: Path) -> None:
    story, expected = halves(path)
    told, _ = play(parse_lines(story))
    if os.environ.get(UPDATE):
        path.write_text(f"{story}\n{DIVIDER}\n{told}")
        return
    assert told == expected


@pytest.mark.parametrize("path", ALL)
def test_order_repetition_and_replay_change_nothing(path: Path) -> None:
    story, _ = halves(path)
    lines = parse_lines(story)
    told, journal = play(lines)
    for seed in range(3):
        assert play(shuffled(lines, seed))[0] == told
    assert play(lines, repeat=True)[0] == told
    assert replayed(journal) == told


@pytest.mark.parametrize("path", ALL)
def test_quiet_stories_are_named_quiet(path: Path) -> None:
    _, expected = halves(path)
    loud = any(line.split()[1:2] == ["opened"] for line in expected.splitlines())
    assert loud != path.stem.startswith("quiet_")


def test_every_rule_has_loud_and_quiet_stories() -> None:
    for folder in {path.parent for path in SCENARIOS}:
        quiet = [path for path in folder.glob("*.scenario") if path.stem.startswith("quiet_")]
        assert quiet, folder.name
        assert len(quiet) < len(list(folder.glob("*.scenario"))), folder.name


def test_every_journal_ends_with_a_look() -> None:
    for path in SCENARIOS:
        _, journal = play(parse_lines(halves(path)[0]))
        assert isinstance(journal[-1], Tick), path.name
