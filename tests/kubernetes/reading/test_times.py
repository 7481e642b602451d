"""Times as the API and people write them."""

import pytest

from analyzer.sources.kubernetes.times import parse_ns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("1970-01-01T00:00:01.123456789Z", 1_123_456_789),
        ("1970-01-01T01:00:01+01:00", 1_000_000_000),
        ("1970-01-01T00:00:01.25-00:30", 1_801_250_000_000),
        ("1970-01-01T00:00:01", 1_000_000_000),
        ("yesterday", None),
        ("", None),
        (None, None),
        ("2026-13-01T00:00:00Z", None),
    ],
)
def test_times(text: str | None, expected: int | None) -> None:
    assert parse_ns(text) == expected
