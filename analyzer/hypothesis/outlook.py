"""How one actor would stand after the changes."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from analyzer import explain
from analyzer.explain import words
from analyzer.graph.safety import Safety
from analyzer.model.events import ActorObserved, Holds, Wait
from analyzer.model.ids import ActorId


class Fate(StrEnum):
    """How an actor stands after the changes."""

    STARTS_NOW = "starts_now"
    RUNS = "runs"
    WAITS = "waits"
    NEVER = "never"
    NOT_JUDGED = "not_judged"
    EVICTED = "evicted"


class Outlook(Struct, frozen=True, kw_only=True):
    """What becomes of one actor that was named or submitted.

    `units`: what it takes if it starts now, what it frees if it is evicted, else what it holds. `waits_for`: who must
    finish first (empty where it could start). `reasons`: why it never goes on, or is not judged. `change`: the smallest
    further change that would start it, if it never goes on.
    """

    actor: ActorId
    fate: Fate
    units: Holds = ()
    needs: str = ""
    waits_for: tuple[ActorId, ...] = ()
    reasons: tuple[str, ...] = ()
    note: str = ""
    change: str = ""


def awaited(
    actor: ActorObserved,
    wait: Wait,
    fate: Fate,
    *,
    waits_for: Iterable[ActorId] = (),
    reasons: tuple[str, ...] = (),
    note: str = "",
) -> Outlook:
    """The outlook of somebody who waits then."""
    return Outlook(
        actor=actor.actor,
        fate=fate,
        units=actor.holds,
        needs=explain.needs(wait.request, actor.actor),
        waits_for=tuple(waits_for),
        reasons=reasons,
        note=note,
    )


def left_over(name: ActorId, safe: Safety) -> str:
    """That the order which was found leaves it out, and with whom; "" if it does not."""
    if name not in safe.left_over:
        return ""
    rivals = [other for other in safe.left_over if other != name]
    beside = f", nor do {words.listed(rivals)}" if rivals else ""
    return f"not if others that never end are served first: in no order found does it find room{beside}"
