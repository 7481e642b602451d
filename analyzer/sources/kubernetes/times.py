"""Times of the API as nanoseconds: RFC 3339 texts, remembered, since a cluster repeats the same few thousand."""

from datetime import UTC, datetime
from functools import lru_cache

SECOND_NS = 1_000_000_000

_BEYOND_NS = 1 << 63
_SECONDS_END = 19  # of `2026-01-02T03:04:05`


@lru_cache(maxsize=65536)
def parse_ns(text: str | None) -> int | None:
    """Nanoseconds since 1970 UTC of an RFC 3339 time (`2026-01-02T03:04:05.678901Z`); None if it is absent or no time.

    Fractions may have any number of digits; a time without a zone is UTC. What does not fit into 64 bits, before the
    year 1678 or after 2262, is no time of a cluster.
    """
    if not text or not text.isascii():
        return None
    fraction_ns = 0
    zone = text[_SECONDS_END:]
    if zone.startswith("."):
        digits = zone[1:]
        end = next((index for index, letter in enumerate(digits) if not letter.isdigit()), len(digits))
        fraction_ns = int((digits[:end] + "000000000")[:9])
        zone = digits[end:]
    try:
        moment = datetime.fromisoformat(text[:_SECONDS_END] + zone)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    at_ns = (elapsed.days * 86_400 + elapsed.seconds) * SECOND_NS + fraction_ns
    return at_ns if abs(at_ns) < _BEYOND_NS else None
