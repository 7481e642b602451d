"""How a speed is taken: against a yardstick, in turns with it, in the same process and under the same conditions.

These machines are shared and noisy, so a second means nothing by itself. Both sides run alternately, so that a busy
minute hits both; each run begins with a full garbage collection and has the collector switched off, on both sides
alike; time is the processor time of this process, so that a neighbour's work does not count. The figure is the
median of the ratios of neighbouring runs; its spread is their smallest and largest.
"""

import gc
from collections.abc import Callable
from statistics import median
from time import process_time

from msgspec import Struct

Work = Callable[[], object]
"""What is timed."""

Prepared = Callable[[], Work]
"""Makes ready, untimed, and returns what is to be timed."""


class Ratio(Struct, frozen=True, kw_only=True):
    """A subject against its yardstick; seconds are medians of the processor time of one run."""

    ratio: float
    low: float
    high: float
    subject_s: float
    yardstick_s: float
    runs: int


def seconds(work: Work) -> float:
    """Processor time of one call, collector off. What the call returns is freed outside the time."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        begun = process_time()
        result = work()
        ended = process_time()
    finally:
        if enabled:
            gc.enable()
    del result
    return ended - begun


def compare(subject: Prepared, yardstick: Prepared, runs: int) -> Ratio:
    """Both in turns, `runs` times each after one of each that does not count."""
    subject()()
    yardstick()()
    pairs = []
    for turn in range(runs):
        if turn % 2:
            yardstick_s = seconds(yardstick())
            pairs.append((seconds(subject()), yardstick_s))
        else:
            subject_s = seconds(subject())
            pairs.append((subject_s, seconds(yardstick())))
    return ratio_of(pairs)


def ratio_of(pairs: list[tuple[float, float]]) -> Ratio:
    """The figure from (subject, yardstick) seconds that were taken as neighbours."""
    ratios = [subject / yardstick for subject, yardstick in pairs]
    return Ratio(
        ratio=median(ratios),
        low=min(ratios),
        high=max(ratios),
        subject_s=median(subject for subject, _ in pairs),
        yardstick_s=median(yardstick for _, yardstick in pairs),
        runs=len(pairs),
    )
