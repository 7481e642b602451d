"""The span of many pods is that of each of them, whatever their times look like."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from analyzer.sources.kubernetes.moments import latest_ns, pods_span_ns
from analyzer.sources.kubernetes.objects import Pod
from tests.kubernetes.reading.written import pod

API_TIMES = st.integers(0, 59).map(lambda second: f"2026-01-02T03:00:{second:02}Z")
ODD_TIMES = st.sampled_from(
    ["", "2026-01-02T03:00:07.5Z", "2026-01-02T05:00:00+02:00", "yesterday, and so on", "2026-13"]
)
NEVER = st.none()


def pods(times: st.SearchStrategy[str]) -> st.SearchStrategy[list[Pod]]:
    one = st.builds(
        lambda created, started, deleted: msgspec.convert(
            pod("a", at=created, metadata={"deletionTimestamp": deleted}, status={"startTime": started}), Pod
        ),
        times,
        times,
        NEVER | times,
    )
    return st.lists(one, max_size=6)


def one_by_one(found: list[Pod]) -> tuple[int, int] | None:
    times = [at_ns for one in found if (at_ns := latest_ns(one)) is not None]
    return (min(times), max(times)) if times else None


@given(pods(API_TIMES))
def test_times_of_the_api(found: list[Pod]) -> None:
    span = pods_span_ns(found)
    assert span == one_by_one(found) or span is None
    if any(one.metadata.deletion_timestamp is None for one in found):
        assert span is not None


@given(pods(API_TIMES | ODD_TIMES))
def test_other_times_are_left_to_whoever_asks(found: list[Pod]) -> None:
    assert pods_span_ns(found) in (None, one_by_one(found))
