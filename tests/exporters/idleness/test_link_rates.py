"""Rates of links, and the highest of the last hour: against their definitions over random histories."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from exporters.collectors.link_rates import HOUR_S, MINUTE_S, RATE_MAX, Highest, Meter
from exporters.subject import Key, Reading, Reason
from tests.exporters.idleness.making import GIGABYTE, HUNG, INTERVAL_S, TRAINING, Node

STEPS = st.lists(st.tuples(st.floats(0.0, 1000.0), st.floats(0.0, 1e9)), min_size=1, max_size=200)


@given(STEPS)
def test_the_highest_is_that_of_the_last_hour_and_a_minute(steps: list[tuple[float, float]]) -> None:
    highest, seen, clock_s = Highest(), [], 0.0
    for step, rate in steps:
        clock_s += step
        highest.note(rate, clock_s)
        seen.append((clock_s, rate))
        least = max((each for when, each in seen if when >= clock_s - HOUR_S), default=0.0)
        most = max((each for when, each in seen if when >= clock_s - HOUR_S - MINUTE_S), default=0.0)
        assert least <= highest.value(clock_s) <= most


def test_what_is_kept_of_an_hour_is_bounded_though_it_stands_still() -> None:
    highest = Highest()
    for number in range(10_000):
        highest.note(1e9 / (1 + number), 5.0)
    assert len(highest._minutes) == 1


COUNTS = st.lists(st.tuples(st.floats(0.1, 60.0), st.floats(0.0, 1e12), st.booleans()), min_size=1, max_size=60)


@given(COUNTS, st.sampled_from([0.0, 10.0, 30.0]))
def test_a_rate_is_never_negative_nor_more_than_any_step_allows(
    steps: list[tuple[float, float, bool]], span_s: float
) -> None:
    """Also over counters that begin anew, in the middle of a span and unseen."""
    meter, count, mono_s, fastest = Meter(span_s), 0.0, 0.0, 0.0
    for step, added, anew in steps:
        mono_s += step
        count = added if anew else count + added
        fastest = max(fastest, added / step)
        meter.note(count, mono_s)
        rate = meter.rate(mono_s, math.inf)
        assert rate is None or 0.0 <= rate.value <= fastest * (1 + 1e-6) + 1e-6


def test_a_step_that_no_link_can_make_is_no_rate() -> None:
    meter = Meter(0.0)
    meter.note(0.0, 0.0)
    meter.note(2 * RATE_MAX * 10.0, 10.0)
    assert meter.rate(10.0, 60.0) is None
    meter.note(2 * RATE_MAX * 10.0 + 50.0, 20.0)
    rate = meter.rate(20.0, 60.0)
    assert rate is not None
    assert rate.value == 5.0


def test_an_rdma_device_that_is_gone_is_quiet_and_one_that_is_silent_is_unknown() -> None:
    """Firmware that died takes its device away, and the job hangs for it."""
    for reason, known in ((Reason.NOT_FOUND, True), (Reason.TIMEOUT, False)):
        node = Node()
        node.run(600, replace(TRAINING, nvlink=None))
        for _ in range(60):
            node.tell(Key("rdma", "mlx5_0"), Reading(value=None, up=False, reason=reason))
            node.run(INTERVAL_S, replace(HUNG, nvlink=None, rdma=None))
        stalled = node.seconds("stalled_seconds")
        assert (stalled or 0) > 500 if known else stalled is None


def test_traffic_over_the_device_of_another_gpu_is_not_its_own() -> None:
    node = Node(gpus=2)
    node.run(600, TRAINING)
    assert node.seconds("links_of_peak_ratio", 0) == pytest.approx(1.0)
    node.run(300, HUNG, TRAINING)
    assert node.seconds("links_of_peak_ratio", 0) == pytest.approx(60_000 / (20 * GIGABYTE), rel=0.01)
    assert node.seconds("links_of_peak_ratio", 1) == pytest.approx(1.0)
