"""Every bound of the core, with a name, a unit and a reason. One frozen value, made at the rim."""

from msgspec import Struct

SECOND_NS = 1_000_000_000


class Limits(Struct, frozen=True, kw_only=True):
    """Thresholds of the engine. Defaults are what `knotwatch replay` uses."""

    hold_ns: int = 60 * SECOND_NS
    """How long a finding must be true before it opens: longer than a scheduler's back-off (10 s) and a gang's usual
    creation lag (60 to 90 s in public reports begins with pods that nobody has tried to place, which is no wait)."""

    livelock_rounds_min: int = 3
    """How often an actor must lose its holds and wait anew before that is a loop (a soft deadlock that re-forms three
    times is a livelock)."""

    livelock_window_ns: int = 3600 * SECOND_NS
    """Rounds older than this no longer count: slow, rare preemption is ordinary business."""

    first_to_finish_max: int = 20
    """How many actors a row of `waiting` names; the rest is a number."""

    placement_steps_max: int = 20_000
    """Search steps that one mixed placement may take before its necessary conditions alone decide (more silent)."""

    victims_max: int = 64
    """Single victims tried per core before the cheapest by price alone are kept: each try is one fixed point."""
