"""What an actor waits for: a closed set of monotone conditions over free units and over other actors.

Monotone: more free units, or more actors able to go on, never make a met request unmet. All of liveness
(`analyzer/graph/README.md`) rests on that, and a property test holds it.

A request is *joint*: the parts of `KOutOfN` that are chosen must be met together, out of the same free units.
Two parts that each ask 4 of 8 cards on one node are met by 8 free cards, not by 4.
"""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.model.ids import ActorId, ResourceId


class Units(Struct, frozen=True, tag="units", tag_field="is"):
    """So many further units of one resource."""

    resource: ResourceId
    count: int


class Pods(Struct, frozen=True, tag="pods", tag_field="is"):
    """So many further placements: each takes `each` (kind, units) on one node of `among`.

    `each` is sorted by kind. `per_node_max` bounds how many of them one node may take (a host port, a spread
    rule); None means no bound. An empty `among` can never be met.
    """

    count: int
    each: tuple[tuple[str, int], ...]
    among: tuple[str, ...]
    per_node_max: int | None = None


class Done(Struct, frozen=True, tag="done", tag_field="is"):
    """That actor ends. An endless actor never does; one that nobody has heard of counts as ended."""

    actor: ActorId


class Arrivals(Struct, frozen=True, omit_defaults=True, tag="arrivals", tag_field="is"):
    """At least `quorum` of the peers can go on (they need not end).

    `order`: they are merely ahead in a queue. Another order would do as well as their going on, so the wait is soft.
    """

    peers: tuple[ActorId, ...]
    quorum: int
    order: bool = False


class Never(Struct, frozen=True, tag="never", tag_field="is"):
    """Nothing that happens in the cluster meets this; `why` says so in words."""

    why: str


class KOutOfN(Struct, frozen=True, tag="k_out_of_n", tag_field="is"):
    """At least `k` of the parts, met together."""

    k: int
    parts: "tuple[Request, ...]"


Request = Units | Pods | Done | Arrivals | Never | KOutOfN


def all_of(parts: Iterable[Request]) -> Request:
    """Every part (AND). A single part stands for itself; no part at all is always met."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else KOutOfN(len(parts), parts)


def any_of(parts: Iterable[Request]) -> Request:
    """One of the parts (OR). No part at all can never be met."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else KOutOfN(1, parts)
