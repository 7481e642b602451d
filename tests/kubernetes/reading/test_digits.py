"""Texts that look like numbers to one function of the language and not to another."""

import pytest

from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.times import parse_ns


@pytest.mark.parametrize(
    ("text", "whole"), [("0", True), ("9" * 18, True), ("9" * 19, False), ("²", False), ("", False)]
)
def test_a_whole_number_fits_and_has_plain_digits(text: str, *, whole: bool) -> None:
    assert is_whole(text) == whole
    if whole:
        assert int(text) >= 0


@pytest.mark.parametrize(
    "text",
    ["2026-01-02T03:04:05.1²Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-02T٣3:04:05Z"],
)
def test_what_is_no_time_of_a_cluster_is_no_time(text: str) -> None:
    assert parse_ns(text) is None
