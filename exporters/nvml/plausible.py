"""Which numbers may be published: what a driver writes for "no value", and what cannot be, is absent.

Pure. The bounds are far beyond any card: they are there for rubbish, not for records.
"""

import math
import re

_UUID = re.compile(r"[!-~]{1,96}")
_ADDRESS = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?")

BLANKS = frozenset({-1, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 2.0**47, *(0x7FFFFFFF - n for n in range(16))})
"""All ones in 32 and 64 bits, with a sign and without, and the blanks of DCGM for doubles and 32-bit numbers."""

_BLANK_64_FIRST = 0x7FFFFFFFFFFFFFE0
"""From here on 64-bit blanks begin (0x7ffffffffffffff0 ... f5, and what a double makes of them)."""

PERCENT_MAX = 200
"""Drivers overshoot 100 by the skew of their sample times; what is further off is no percentage."""


def number(value: object, low: float = 0.0, high: float = math.inf) -> float | None:
    """The value as a finite number within the bounds, or None."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if value in BLANKS or not -_BLANK_64_FIRST < value < _BLANK_64_FIRST or math.isnan(value):
        return None
    return float(value) if low <= value <= high else None


def ratio(percent: object) -> float | None:
    """A percentage as a share from 0 to 1. Up to twice the whole counts as the whole, more as nothing."""
    found = number(percent, 0.0, PERCENT_MAX)
    return None if found is None else min(found, 100.0) / 100.0


def text(value: object, length_max: int = 96) -> str:
    """A name as a label: printable, without blanks around it, of bounded length; empty for what is none."""
    if not isinstance(value, str):
        return ""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in value)
    return shown.strip()[:length_max].strip()


def uuid_in(value: object) -> str:
    """A UUID as the driver writes them: plain characters; empty for what is none, since it would name another GPU."""
    return value if isinstance(value, str) and _UUID.fullmatch(value) else ""


def instance(value: object) -> int | None:
    """The number of a MIG instance; None where NVML writes that there is none."""
    return value if isinstance(value, int) and 0 <= value < 1024 else None


def pci_address(value: object) -> str:
    """An address as sysfs writes it (`0000:b3:00.0`), from all shapes that driver and kernel give; empty for none.

    A missing domain or function is 0: the kernel's lines mostly leave the function out.
    """
    found = _ADDRESS.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        return ""
    domain, bus, device, function = found.groups(default="0")
    return f"{int(domain, 16):04x}:{int(bus, 16):02x}:{int(device, 16):02x}.{function}"
