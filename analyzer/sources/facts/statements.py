"""Entries of a facts file to statements: one actor or one resource, restated whole, at a time or without one.

An entry with a fault in it is told, and still counts: an older statement must not live on in its place, and whoever
holds something must not vanish, or others look free. `draft.py` says how an actor is kept that was half understood.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from analyzer.model.events import ActorGone, ActorObserved, Citation, ResourceObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.facts.draft import ENDINGS, Draft
from analyzer.sources.facts.fields import Fault, Place, flag, mapping, moment, name, whole

_BESIDE = ("at", "seq", "schema", "as_of")


class Statement(Struct, frozen=True, kw_only=True):
    """What one entry says. The event's `at_ns` counts only where `timed`; else the source places it in time.

    `sequence` orders what is said about one subject at one time (`seq`). `since_stated`: the wait carries a time of
    its own. `latest_ns` is the latest past moment that the entry mentions, 0 if none. `doubtful`: told to be faulty.
    """

    event: ActorObserved | ActorGone | ResourceObserved
    timed: bool
    sequence: int
    since_stated: bool
    latest_ns: int
    doubtful: bool
    place: Place
    citation: Citation


Complain = Callable[[Fault], None]


class Entries:
    """Reads the entries of one document; what cannot be meant goes to `complain`, one entry at a time.

    Records are counted from 0 in the order of the document; `places` says where each begins. What the entries left
    unsaid: `unsure_resources`, of which not all is known, and `unsure_actors`, of whom some entry has no place in time.
    """

    def __init__(self, document: int, complain: Complain) -> None:
        self._document = document
        self._complain = complain
        self.places: list[Place] = []
        self.unsure_resources: set[ResourceId] = set()
        self.unsure_actors: set[ActorId] = set()

    def section(self, stated: dict[str, object], place: Place, at_ns: int | None, sequence: int) -> Iterator[Statement]:
        """Statements of a mapping's `resources` and `actors`."""
        readers: tuple[tuple[str, _Reader], ...] = (("resources", self._resource), ("actors", self._actor))
        for key, reader in readers:
            within = (*place, key)
            try:
                entries = mapping(stated.get(key) or {}, within)
            except Fault as fault:
                self._complain(fault)
                continue
            for entry, value in entries.items():
                try:
                    yield reader(entry, value, (*within, entry), at_ns, sequence)
                except Fault as fault:
                    self._complain(fault)

    def change(self, value: object, place: Place) -> Iterator[Statement]:
        """Statements of one entry of a history: an actor, a resource, or whole sections, `at` a time."""
        try:
            stated = mapping(value, place)
            try:
                if "at" not in stated:
                    raise Fault(place, 'an entry of a history needs "at": a time such as 2026-01-14T09:00:00Z.')
                at_ns = moment(stated["at"], (*place, "at"))
                sequence = whole(stated["seq"], (*place, "seq")) if "seq" in stated else 0
            except Fault:
                self._doubt(stated)
                raise
            rest = {key: item for key, item in stated.items() if key not in _BESIDE}
            if "actor" in rest:
                named = name(rest.pop("actor"), (*place, "actor"))
                yield self._actor(named, rest, place, at_ns, sequence)
            elif "resource" in rest:
                named = name(rest["resource"], (*place, "resource"))
                mapping(rest, place, ("resource", "units"))
                if "units" not in rest:
                    self._doubt(stated)
                    raise Fault(place, 'a resource needs "units": how many exist (0 if it is gone).')
                yield self._resource(named, rest["units"], (*place, "units"), at_ns, sequence)
            else:
                mapping(rest, place, ("actors", "resources", "actor", "resource"))
                yield from self.section(rest, place, at_ns, sequence)
        except Fault as fault:
            self._complain(fault)

    def _doubt(self, stated: dict[str, object]) -> None:
        """Remember whom an entry is about that cannot be told when it was true."""
        actors, resources = stated.get("actors"), stated.get("resources")
        named = [stated.get("actor"), *(actors if isinstance(actors, dict) else ())]
        self.unsure_actors.update(ActorId(actor) for actor in named if isinstance(actor, str))
        named = [stated.get("resource"), *(resources if isinstance(resources, dict) else ())]
        self.unsure_resources.update(ResourceId(resource) for resource in named if isinstance(resource, str))

    def _resource(self, named: str, value: object, place: Place, at_ns: int | None, sequence: int) -> Statement:
        name(named, place)
        try:
            units = whole(value, place)
        except Fault:
            self.unsure_resources.add(ResourceId(named))
            raise
        event = ResourceObserved(
            at_ns=at_ns or 0, resource=ResourceId(named), units=units, citations=(self._cite(place),)
        )
        return self._statement(event, at_ns, sequence, place)

    def _actor(self, named: str, value: object, place: Place, at_ns: int | None, sequence: int) -> Statement:
        actor = ActorId(name(named, place))
        cited = (self._cite(place),)
        faults: list[Fault] = []
        try:
            stated = {} if value is None else mapping(value, place)
            if any(flag(stated[key], (*place, key)) for key in ENDINGS if key in stated):
                gone = ActorGone(at_ns=at_ns or 0, actor=actor, citations=cited)
                return self._statement(gone, at_ns, sequence, place)
        except Fault as fault:
            faults.append(fault)
            stated = value if isinstance(value, dict) else {}
        draft = Draft(actor, at_ns, cited)
        draft.read(stated, place, faults)
        for found in faults:
            judged = " Its wait is not judged." if draft.waits else ""
            self._complain(Fault(found.place, f"{named}: {found.text}{judged}"))
        return self._statement(draft.observed(), at_ns, sequence, place, draft)

    def _cite(self, place: Place) -> Citation:
        self.places.append(place)
        return (self._document, len(self.places) - 1)

    def _statement(
        self,
        event: ActorObserved | ActorGone | ResourceObserved,
        at_ns: int | None,
        sequence: int,
        place: Place,
        draft: Draft | None = None,
    ) -> Statement:
        return Statement(
            event=event,
            timed=at_ns is not None,
            sequence=sequence,
            since_stated=draft is None or draft.since_stated,
            latest_ns=max(at_ns or 0, draft.latest_ns if draft else 0),
            doubtful=draft is not None and bool(draft.faults),
            place=place,
            citation=event.citations[0],
        )


_Reader = Callable[[str, object, Place, int | None, int], Statement]
