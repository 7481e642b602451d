"""Places that the scheduler keeps in its own memory for pods that the API shows without a node (mechanism A2).

Only its log tells: "waiting on permit" and the like. A reservation ends when the pod is bound, released, refused or
gone; a timeout of the scheduler dissolves it, so it is a dated hold.
"""

from msgspec import Struct

from analyzer.model.events import Citation


class Reservation(Struct, frozen=True, kw_only=True):
    """One kept place. `timeout_ns` None: the log does not say; the gang's convention does (`gangs.Terms`)."""

    node: str
    at_ns: int
    timeout_ns: int | None
    citation: Citation


class Reservations:
    """The places kept now, by pod (`namespace/name`)."""

    def __init__(self) -> None:
        self._kept: dict[str, Reservation] = {}

    def keep(self, pod: str, reservation: Reservation) -> None:
        """A place is kept."""
        self._kept[pod] = reservation

    def end(self, pod: str) -> None:
        """It is no longer kept."""
        self._kept.pop(pod, None)

    def get(self, pod: str) -> Reservation | None:
        """The place kept for this pod, None if there is none."""
        return self._kept.get(pod)

    def all(self) -> list[tuple[str, Reservation]]:
        """Every kept place with its pod, sorted."""
        return sorted(self._kept.items(), key=lambda entry: entry[0])
