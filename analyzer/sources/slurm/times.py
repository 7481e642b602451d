"""Moments and durations as Slurm writes them. Text times are local and carry no zone: the caller shifts them."""

import re
from calendar import timegm
from datetime import UTC, datetime

from analyzer.model.limits import SECOND_NS

UNLIMITED_S = -1
"""A time limit that is no limit, as opposed to None: not known."""

_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
_DURATION = re.compile(r"(?:(\d{1,7})-)?(\d{1,9})(?::(\d\d))?(?::(\d\d))?(?:\.\d+)?")
_CTIME = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})")
_DATE = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?: (AM|PM))?(?: [A-Z][\w+-]{1,5})? (\d{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH_MAX = 1 << 34


def moment_ns(text: str) -> int | None:
    """`2026-11-30T13:29:39[.983]` as if it were UTC; None for Unknown, N/A, None, (null) and what is no time.

    A zone in the text is applied; then the time is absolute already, which the caller cannot see. Slurm writes none.
    """
    found = _STAMP.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    try:
        whole = timegm(datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timetuple())
    except ValueError:
        return None
    zone = found[8]
    if zone and zone != "Z":
        away = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        whole -= -away if zone[0] == "-" else away
    return whole * SECOND_NS + int((found[7] or "0").ljust(9, "0"))


def ctime_ns(text: str) -> int | None:
    """`Mon Nov 30 13:32:23 2026`, as sdiag and `squeue -l` head their output; local time."""
    found = _CTIME.search(text)
    if found is None or found[1] not in _MONTHS:
        return None
    month = _MONTHS.index(found[1]) + 1
    return moment_ns(f"{found[6]}-{month:02}-{int(found[2]):02}T{found[3]}:{found[4]}:{found[5]}")


def heading_ns(line: str) -> tuple[int, int | None] | None:
    """A line that is a moment and nothing else, as `date`, `date -Is` and `squeue -l` write it: local time.

    With what it is ahead of UTC, in seconds, where the line says so in figures.
    """
    text = line.strip()
    named = _DATE.fullmatch(text)
    if named is not None and named[1] in _MONTHS:
        hour = int(named[3]) % 12 + 12 * (named[6] == "PM") if named[6] else int(named[3])
        day = f"{named[7]}-{_MONTHS.index(named[1]) + 1:02}-{int(named[2]):02}"
        at_ns = moment_ns(f"{day}T{hour:02}:{named[4]}:{named[5]}")
        return None if at_ns is None else (at_ns, None)
    if _STAMP.fullmatch(text) is None:
        return None
    bare = re.sub(r"(?:Z|[+-]\d\d:?\d\d)$", "", text)
    local_ns, absolute_ns = moment_ns(bare), moment_ns(text)
    if local_ns is None or absolute_ns is None:
        return None
    return local_ns, None if bare == text else (local_ns - absolute_ns) // SECOND_NS


def epoch_ns(seconds: object) -> int | None:
    """Seconds since 1970; 0 and nonsense are unknown."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < _EPOCH_MAX:
        return None
    return int(seconds) * SECOND_NS


def duration_s(text: str) -> int | None:
    """`1-00:00:00`, `04:00:00`, `2:37`, `UNLIMITED`; None for what is not set."""
    text = text.strip()
    if text.upper() in ("UNLIMITED", "INFINITE"):
        return UNLIMITED_S
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    days, first, second, third = (int(part) if part is not None else None for part in found.groups())
    if days is not None:  # D-HH[:MM[:SS]]
        return days * 86400 + (first or 0) * 3600 + (second or 0) * 60 + (third or 0)
    if third is not None:
        return (first or 0) * 3600 + (second or 0) * 60 + third
    if second is not None:
        return (first or 0) * 60 + second
    return (first or 0) * 60  # a bare number is minutes
