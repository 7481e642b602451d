"""What a person can do where stopping somebody is no cure: by the kind of actor."""

from collections.abc import Sequence

from analyzer.model.ids import ActorId

CURES = {
    "webhook": "take the webhook away, or let it leave out the namespaces of the pods that it needs",
    "drain": "let the disruption budget allow an eviction, or move its pods by hand",
    "deletion": "see to that by hand",
}


def by_hand(members: Sequence[ActorId]) -> str:
    """The clause for the first member for whom there is one; "" if there is none."""
    cures = (CURES.get(member.partition("/")[0], "") for member in members)
    return next((cure for cure in cures if cure), "")
