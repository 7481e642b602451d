"""What a person may tell the sources about their input, where the input itself does not say it."""

from msgspec import Struct


class ReadOptions(Struct, frozen=True, kw_only=True):
    """Year and zone of times that carry none (klog lines). None: found out from the neighbours' times."""

    year: int | None = None
    tz_offset_s: int | None = None
