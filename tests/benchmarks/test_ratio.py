"""Ratios: the median of neighbouring runs, the collector off for both sides and restored afterwards."""

import gc

import pytest

from benchmarks.ratio import compare, ratio_of, seconds
from benchmarks.rows import Figure, duration


def test_a_ratio_is_the_median_of_pairs_with_its_spread() -> None:
    ratio = ratio_of([(1.0, 1.0), (3.0, 1.0), (4.0, 2.0)])
    assert (ratio.ratio, ratio.low, ratio.high) == (2.0, 1.0, 3.0)
    assert (ratio.subject_s, ratio.yardstick_s, ratio.runs) == (3.0, 1.0, 3)


def test_the_collector_is_off_while_time_is_taken_and_as_before_afterwards() -> None:
    states = []
    assert gc.isenabled()
    assert seconds(lambda: states.append(gc.isenabled())) >= 0
    assert states == [False]
    assert gc.isenabled()


def test_the_collector_comes_back_after_an_error() -> None:
    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        seconds(fail)
    assert gc.isenabled()


def test_both_sides_are_prepared_anew_and_run_in_turns() -> None:
    told: list[str] = []

    def spend(side: str) -> None:
        told.append(side)
        sum(range(20_000))

    compare(lambda: lambda: spend("subject"), lambda: lambda: spend("yardstick"), runs=2)
    assert told == ["subject", "yardstick", "subject", "yardstick", "yardstick", "subject"]


def test_a_figure_says_whether_its_bar_is_met() -> None:
    assert Figure(case="", value=2.0, bar=2.0).verdict == "ok"
    assert Figure(case="", value=2.1, bar=2.0).verdict == "missed"
    assert Figure(case="", value=2.1).verdict == ""


def test_durations_have_readable_units() -> None:
    assert [duration(value) for value in (2.5, 0.012, 3.4e-6, 0.0)] == ["2.5 s", "12 ms", "3.4 us", "0 us"]
