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

    history_rounds_max: int = 32
    """Rounds kept per actor, newest first to stay: enough for a period; older ones are only counted."""

    history_actors_max: int = 20_000
    """Actors whose losses are remembered at once; beyond it those with the oldest last loss are forgotten first."""

    victims_woken_max: int = 20_000
    """Actors that all tries for one core together may start, on paper, before no further victim is tried: in a knot of
    thousands any victim starts thousands, and a handful of proposals is enough."""

    edges_per_waiter_max: int = 50
    """Wait-for edges listed per waiter: 5,000 waiters short of the same 5,000 holders would make 25 million. Edges
    inside the waiter's own core come first, and the ring through the core is kept (`analyzer/graph/edges.py`)."""

    edges_max: int = 200
    """Edges that one finding lists: those among its members first, then those of actors behind. Nobody reads more."""

    assumed_holders_max: int = 20
    """Endless holders that a finding names as edges, those with most units first; the text gives the number left."""

    citations_max: int = 60
    """Citations of one finding: members first, then holders."""

    why_depth_max: int = 12
    """Steps that a chain of reasons goes down; each actor is explained once."""
