"""Local times as absolute ones: what the controller's clock was ahead of UTC, and every record shifted by it."""

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from analyzer.model.limits import SECOND_NS
from analyzer.sources.slurm.jobs import shifted
from analyzer.sources.slurm.records import Reading


def make_absolute(readings: Sequence[Reading], offset_s: int | None) -> None:
    """Shift all that is still in local time, in place; `offset_s` is what the reader gave, None if nothing."""
    offset = offset_s if offset_s is not None else _offset(readings)
    for reading in readings:
        if reading.local:
            _shift(reading, offset)


def _offset(readings: Sequence[Reading]) -> int:
    """What local time is ahead of UTC: from sdiag, else from jobs that are told in both; 0 where nothing tells."""
    stated = [reading.offset_s for reading in readings if reading.offset_s is not None]
    if stated:
        return _quarter(min(stated))
    absolute = {
        record.raw_id: record.submit_ns
        for reading in readings
        if not reading.local
        for record in reading.jobs
        if record.raw_id is not None and record.submit_ns is not None
    }
    apart = Counter(
        _quarter((record.submit_ns - absolute[record.raw_id]) // SECOND_NS)
        for reading in readings
        if reading.local
        for record in reading.jobs
        if record.raw_id in absolute and record.submit_ns is not None
    )
    return min(apart, key=lambda one: (-apart[one], one), default=0)


def _quarter(seconds: int) -> int:
    return round(seconds / 900) * 900


def _shift(reading: Reading, offset_s: int) -> None:
    reading.local = False
    if not offset_s:
        return
    away_ns = offset_s * SECOND_NS
    for job in reading.jobs:
        shifted(job, offset_s)
    for each in (*reading.steps, *reading.reservations):
        for name in ("start_ns", "end_ns"):
            moment = getattr(each, name, None)
            if moment is not None:
                setattr(each, name, moment - away_ns)
    reading.stamps = [(line, moment - away_ns) for line, moment in reading.stamps]
    reading.first_ns = None if reading.first_ns is None else reading.first_ns - away_ns
    reading.last_ns = None if reading.last_ns is None else reading.last_ns - away_ns
    reading.log = [
        structs.replace(line, at_ns=None if line.at_ns is None else line.at_ns - away_ns) for line in reading.log
    ]
