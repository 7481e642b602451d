"""How long a scheduler keeps a place in its memory for a pod whose gang is not whole."""

from analyzer.sources.kubernetes.gangs import COSCHEDULING_PERMIT_NS, Gang, Groups, terms_of
from analyzer.sources.kubernetes.owners import Owners
from analyzer.sources.kubernetes.reservations import Reservation


def permit_ends_ns(kept: Reservation, gang: Gang | None, groups: Groups, owners: Owners) -> int:
    """When the scheduler gives the place up: as its log says, else as the gang's convention has it."""
    if kept.timeout_ns is not None:
        return kept.at_ns + kept.timeout_ns
    permit_ns = COSCHEDULING_PERMIT_NS if gang is None else terms_of(gang, (), groups, owners).permit_ns
    return kept.at_ns + permit_ns
