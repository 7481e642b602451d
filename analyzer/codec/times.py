"""Moments as text and as nanoseconds since 1970 UTC. The text form is RFC 3339."""

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

SECOND_NS = 1_000_000_000

_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?\s*(Z|z|[+-]\d\d:?\d\d)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_NS = 2**63  # the year 2262: what a signed 64-bit count of nanoseconds holds, as JSON decoders expect


def parse_time(text: str) -> int | None:
    """Nanoseconds since 1970 UTC of an RFC 3339 time in the years 1970 to 2262; None if the text is none.

    A blank may stand for the T, and a missing zone means UTC (as in YAML). Digits beyond nanoseconds are dropped.
    """
    match = _RFC_3339.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=_zone(zone))
        whole = moment - _EPOCH
    except (ValueError, OverflowError):
        return None
    at_ns = (whole.days * 86_400 + whole.seconds) * SECOND_NS + int((fraction or "").ljust(9, "0"))
    return at_ns if 0 <= at_ns < _LAST_NS else None


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def format_time(at_ns: int) -> str:
    """RFC 3339 in UTC with Z; a fraction only where there is one, without trailing zeros."""
    seconds, nanoseconds = divmod(at_ns, SECOND_NS)
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    return f"{_whole(seconds)}{fraction}Z"


@lru_cache(maxsize=1024)  # thousands wait since the same few moments
def _whole(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
