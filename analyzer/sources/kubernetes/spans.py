"""First and last time of every document, and the end of the whole recording."""

from collections.abc import Sequence

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.clock import JUMP_NS, Clock, Testimony
from analyzer.sources.kubernetes.long_list import LongList
from analyzer.sources.kubernetes.moments import latest_ns, pods_span_ns
from analyzer.sources.kubernetes.objects import KubeObject, Pod
from analyzer.sources.kubernetes.reading import Reading
from analyzer.sources.kubernetes.timeline import identity, version_of
from analyzer.sources.kubernetes.times import parse_ns


class Spans:
    """Hears all times of all objects once, then those of logs, as their years become known.

    Objects of the long lists are heard while those are gone through.
    """

    def __init__(self, readings: Sequence[Reading], long_lists: Sequence[LongList]) -> None:
        self._clock = Clock()
        self._long_lists = long_lists
        self.first_ns: dict[int, int] = {}
        self.last_ns: dict[int, int] = {}
        self._complained = False
        for reading in readings:
            for listing in reading.listings:
                self.hear_objects(reading, listing.objects, listing.records)
            self.hear_objects(
                reading,
                [change.object for change in reading.changes],
                [change.record for change in reading.changes],
            )
            self.hear_all(reading, reading.times, believed=True)

    def hear_all(self, reading: Reading, times: Sequence[int], *, believed: bool) -> None:
        """Times of a document that come from a clock of its own; `believed`: it needs no second witness."""
        if not times:
            return
        self._widen(reading.document, min(times), max(times))
        for witness in range(2 if believed else 1):
            self._clock.hear(Testimony(max(times), ("document", reading.document, witness), (reading.document, 0)))

    def as_of(self, readings: Sequence[Reading]) -> int | None:
        """The latest time that can be believed; a lone clock in the future is complained about once."""
        best, jump = self._clock.best, self._clock.lone_jump
        if jump is None or _is_vouched(jump, readings, self._long_lists):
            return best.at_ns if best is not None else None
        if not self._complained:
            self._complained = True
            self._complain(jump, readings)
        return self._clock.second_ns

    def hear_objects(self, reading: Reading, objects: Sequence[KubeObject], records: Sequence[int]) -> None:
        """The objects' own times; the document's span and the clock take note of them."""
        pods = [found for found in objects if type(found) is Pod]
        span = pods_span_ns(pods) if pods and len(pods) == len(objects) else None
        if span is not None and not self._clock.worth_hearing(span[1]):
            self._widen(reading.document, *span)
            return
        times = [latest_ns(found) for found in objects]
        known = [at_ns for at_ns in times if at_ns is not None]
        if not known:
            return
        self._widen(reading.document, min(known), max(known))
        if self._clock.worth_hearing(max(known)):
            for found, record, at_ns in zip(objects, records, times, strict=True):
                if at_ns is not None and self._clock.worth_hearing(at_ns):
                    self._clock.hear(_testimony(found, at_ns, (reading.document, record)))

    def _widen(self, document: int, first_ns: int, last_ns: int) -> None:
        self.first_ns[document] = min(first_ns, self.first_ns.get(document, first_ns))
        self.last_ns[document] = max(last_ns, self.last_ns.get(document, last_ns))

    def _complain(self, jump: Testimony, readings: Sequence[Reading]) -> None:
        for reading in readings:
            if reading.document == jump.citation[0]:
                days = (jump.at_ns - (self._clock.second_ns or 0)) // JUMP_NS
                text = (
                    f"the clock of {jump.called} is {days} days ahead of all others: its time is left out of account."
                )
                reading.complain(0, text)


def _testimony(found: KubeObject, at_ns: int, citation: Citation) -> Testimony:
    who, created_ns = identity(found), parse_ns(found.metadata.creation_timestamp)
    return Testimony(at_ns, who, citation, f"{who[0]} {who[2]}", version_of(found), created_ns)


def _is_vouched(jump: Testimony, readings: Sequence[Reading], long_lists: Sequence[LongList]) -> bool:
    """Whether the API server itself testifies: the object was created then, and none was written later."""
    if jump.created_ns is None or jump.at_ns - jump.created_ns > JUMP_NS:
        return False
    newest, version = 0, jump.version
    for reading in readings:
        objects = [found for listing in reading.listings for found in listing.objects]
        objects.extend(change.object for change in reading.changes)
        for found in objects:
            newest = max(newest, version_of(found))
            if identity(found) == jump.who:
                version = max(version, version_of(found))
    for one in long_lists:
        newest = max(newest, one.outline().newest_version)
    return 0 < newest <= version
