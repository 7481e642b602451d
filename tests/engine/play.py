"""Engines that have lived through a few lines of a story."""

from analyzer.engine import Engine
from tests.scenarios.story import moments, parse_lines


def played(story: str) -> Engine:
    """An engine after this story, in the form of the scenario texts; it ends with a tick at 1,000 s."""
    engine = Engine()
    for events, ticks in moments(parse_lines(f"{story}\n1000s tick")):
        for event in (*events, *ticks):
            engine.step(event)
    return engine
