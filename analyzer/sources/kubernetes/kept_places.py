"""Takes and ends the places that the scheduler keeps in its memory, and books the room they take (mechanism A2)."""

from collections.abc import Callable, Mapping

from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.gangs import Groups
from analyzer.sources.kubernetes.memberships import Memberships
from analyzer.sources.kubernetes.observations import PodReserved
from analyzer.sources.kubernetes.owners import Owners
from analyzer.sources.kubernetes.permits import permit_ends_ns
from analyzer.sources.kubernetes.records import PENDING, PodRecord
from analyzer.sources.kubernetes.reservations import Reservation, Reservations
from analyzer.sources.kubernetes.rooms import Rooms


class KeptPlaces:
    """The places kept now (`reservations`), with what depends on them kept in step."""

    def __init__(
        self,
        pods: Mapping[str, PodRecord],
        rooms: Rooms,
        terms: tuple[Memberships, Groups, Owners],
        dirty: Callable[[], Dirty],
    ) -> None:
        self.reservations = Reservations()
        self._pods = pods
        self._rooms = rooms
        self._memberships, self._groups, self._owners = terms
        self._dirty = dirty

    def place(self, record: PodRecord, count: int) -> None:
        """Book the room that is kept for this pending pod, or (-1) give it back."""
        kept = self.reservations.get(record.key)
        if kept is not None:
            self._rooms.place(kept.node, record.shape, count)

    def reserve(self, said: PodReserved) -> None:
        """The scheduler keeps a place; what it says again of a place that is still kept changes nothing."""
        if not said.node:
            return
        kept = self.reservations.get(said.pod)
        if kept is not None and kept.node == said.node and said.at_ns <= self._ends_ns(said.pod, kept):
            return
        self.end(said.pod, None)
        self.reservations.keep(
            said.pod,
            Reservation(node=said.node, at_ns=said.at_ns, timeout_ns=said.timeout_ns, citation=said.citation),
        )
        self._changed(said.pod, 1)

    def end(self, pod: str, at_ns: int | None) -> None:
        """The place is no longer kept; with a time, only if it was kept before that."""
        kept = self.reservations.get(pod)
        if kept is None or (at_ns is not None and at_ns < kept.at_ns):
            return
        self._changed(pod, -1)
        self.reservations.end(pod)

    def lapse(self, now_ns: int) -> None:
        """End the places whose time is over: the scheduler has given them up, even if its log was cut off before."""
        for pod, kept in self.reservations.all():
            if now_ns > self._ends_ns(pod, kept):
                self.end(pod, None)

    def _ends_ns(self, pod: str, kept: Reservation) -> int:
        return permit_ends_ns(kept, self._memberships.gangs.get(pod), self._groups, self._owners)

    def _changed(self, pod: str, count: int) -> None:
        dirty = self._dirty()
        dirty.pods.add(pod)
        record = self._pods.get(pod)
        if record is not None and record.stage is PENDING:
            self.place(record, count)
        gang = self._memberships.gangs.get(pod)
        if gang is not None:
            dirty.gangs.add(gang.key)
