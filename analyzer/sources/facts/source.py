"""The facts source: documents to batches of events, in the order of time.

When something holds. What carries `at` holds from then on. What stands at the top level of a document without a
history is a snapshot, taken at the document's `as_of` (else at the latest time in it). Beside a history it is the
state before the first entry. Resources of a top level count from the start of the incident: units do not come into
being because somebody looked.

When two entries restate one subject at one time, `seq` decides, the larger wins. Without it neither place in the file
nor order of files may matter, so the more silent one wins: ended before running before waiting, and among equals the
one that is last by its own text.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import structs

from analyzer.codec.events import encode_event
from analyzer.model.events import ActorGone, ActorObserved, Event, Lifetime, ResourceObserved
from analyzer.model.ids import ResourceId, place_of
from analyzer.sources.facts.draft import not_judged
from analyzer.sources.facts.fields import nearest
from analyzer.sources.facts.needs import nodes_named, resources_named
from analyzer.sources.facts.reading import Reading, looks_like_facts
from analyzer.sources.facts.statements import Statement
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Batch, Document, FileNote, Recording

KIND = "facts"

_DEFAULT_OPTIONS = ReadOptions()
_COMPARED_MAX = 2000
_LIKENESS_MIN = 0.85  # names of nodes look alike; only a slip of the pen is worth a question

Subject = tuple[int, str]


class FactsSource:
    """Facts v1 in every form. Holds no state."""

    @property
    def name(self) -> str:
        return KIND

    def recognises(self, document: Document) -> str | None:
        return KIND if looks_like_facts(document.content) else None

    def read(self, documents: Sequence[Document], *, options: ReadOptions = _DEFAULT_OPTIONS) -> Recording:
        del options  # facts carry full times
        return FactsRecording([Reading(document) for document in documents])


class FactsRecording:
    """All facts documents of one incident, read, checked against each other and placed in time."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = {reading.document.index: reading for reading in readings}
        _settled(readings)
        stated_ns = max((reading.as_of_ns or 0 for reading in readings), default=0)
        entry_ns = max((reading.last_entry_ns for reading in readings), default=0)
        latest_ns = max((max(reading.latest_ns, reading.last_entry_ns) for reading in readings), default=0)
        # A wait that began after the stated moment is a clock that is ahead, not a later recording.
        stated_last = stated_ns > 0 and stated_ns >= entry_ns
        self._as_of_ns = (stated_ns if stated_last else max(stated_ns, latest_ns)) or None
        self._has_clock = stated_last and not any(
            _undated_wait(one) for reading in readings for one in reading.statements
        )
        self._placed = _placed(readings)

    @property
    def batches(self) -> Iterator[Batch]:
        waiting_since_ns: dict[str, int] = {}
        for at_ns, group in groupby(self._placed, key=lambda one: one[0]):
            chosen = (_winner([one[2] for one in same]) for _, same in groupby(group, key=lambda one: one[1]))
            yield Batch(at_ns, [_dated(statement, at_ns, waiting_since_ns) for statement in chosen])

    @property
    def notes(self) -> Sequence[FileNote]:
        return [self._note(reading) for reading in self._readings.values()]

    @property
    def as_of_ns(self) -> int | None:
        return self._as_of_ns

    @property
    def has_clock(self) -> bool:
        return self._has_clock

    def line_of(self, document: int, record: int) -> int | None:
        reading = self._readings.get(document)
        return None if reading is None else reading.line_of(record)

    def _note(self, reading: Reading) -> FileNote:
        times = [one.event.at_ns for one in reading.statements if one.timed]
        times += [reading.as_of_ns] if reading.as_of_ns is not None else []
        times = times or [time for time in (max(reading.latest_ns, reading.last_entry_ns),) if time]
        return FileNote(
            index=reading.document.index,
            kind=KIND,
            records=sum(not one.doubtful for one in reading.statements),
            skipped=reading.skipped,
            first_ns=min(times, default=None),
            last_ns=max(times, default=None),
            complaints=tuple(sorted(reading.complaints, key=lambda one: (one.line, one.text))),
        )


def _settled(readings: Sequence[Reading]) -> None:
    """Let no verdict rest on what nobody declared, or on an actor or a resource of which some entry was lost.

    A resource that is only named may be a slip of the pen, and to take it as absent would make us louder. So the actor
    stays with all it holds, and its wait is not judged.
    """
    unsure = _Unsure(readings)
    for reading in readings:
        for at, statement in enumerate(reading.statements):
            event = statement.event
            if not isinstance(event, ActorObserved):
                continue
            if event.actor in unsure.actors:
                event = structs.replace(event, lifetime=Lifetime.UNKNOWN, until_ns=None)
                reading.statements[at] = _excused(statement, event, "an entry of it has no place in time")
            fault = unsure.undeclared(event)
            if fault is not None:
                what, cure = fault
                judged = "" if event.wait is None else " Its wait is not judged."
                reading.doubt(reading.statements[at], f"{event.actor}: {what}: {cure}{judged}")
                reading.statements[at] = _excused(statement, event, what)


def _excused(statement: Statement, event: ActorObserved, because: str) -> Statement:
    wait = None if event.wait is None else not_judged(event.wait, because)
    return structs.replace(statement, event=structs.replace(event, wait=wait), doubtful=True)


class _Unsure:
    """What is declared in any of the files, and of what not all is known."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.actors = frozenset(actor for reading in readings for actor in reading.unsure_actors)
        self._resources = frozenset(resource for reading in readings for resource in reading.unsure_resources)
        self._nodes = frozenset(place_of(resource) for resource in self._resources)
        self._declared: set[ResourceId] = set()
        for reading in readings:
            events = (one.event for one in reading.statements)
            self._declared.update(event.resource for event in events if isinstance(event, ResourceObserved))
        self._places = {place_of(resource) for resource in self._declared}
        compared = len(self._declared) <= _COMPARED_MAX
        self._alike = tuple(sorted(self._declared)) if compared else ()
        self._nodes_alike = tuple(sorted(self._places)) if compared else ()

    def undeclared(self, event: ActorObserved) -> tuple[str, str] | None:
        """What the actor names that cannot be relied on, and what to do about it; None if all is well."""
        for resource, _ in event.holds:
            if resource not in self._declared:
                return f"resource {resource} is held but not declared", _add(resource, self._alike)
        if event.wait is None:
            return None
        for resource in resources_named(event.wait.request):
            if resource not in self._declared:
                return f"resource {resource} is needed but not declared", _add(resource, self._alike)
            if resource in self._resources:
                return f"an entry of resource {resource} was not understood", "mend that entry."
        for node in nodes_named(event.wait.request):
            if node not in self._places:
                return f"node {node} is a candidate but not declared", _add(node, self._nodes_alike)
            if node in self._nodes:
                return f"an entry of node {node} was not understood", "mend that entry."
        return None


def _add(name: str, known: tuple[str, ...]) -> str:
    hint = nearest(name, known, _LIKENESS_MIN)
    return "add it under resources" + (hint if "did you mean" in hint else ".")


def _placed(readings: Sequence[Reading]) -> list[tuple[int, Subject, Statement]]:
    """Every statement with its time, sorted by time, then by subject (resources first)."""
    snapshots = {id(reading): _snapshot_ns(reading) for reading in readings}
    moments = [one.event.at_ns for reading in readings for one in reading.statements if one.timed]
    moments += [at_ns for at_ns in snapshots.values() if at_ns is not None]
    start_ns = min(moments, default=0)
    placed: list[tuple[int, Subject, Statement]] = []
    for reading in readings:
        snapshot_ns = snapshots[id(reading)]
        untimed_ns = start_ns if snapshot_ns is None else snapshot_ns
        placed += [
            (one.event.at_ns if one.timed else untimed_ns, _subject(one.event), one) for one in reading.statements
        ]
    placed.sort(key=lambda one: one[:2])
    seen: set[Subject] = set()
    for at, (at_ns, subject, one) in enumerate(placed):
        if subject not in seen and not one.timed and isinstance(one.event, ResourceObserved) and at_ns > start_ns:
            placed[at] = (start_ns, subject, one)
        seen.add(subject)
    placed.sort(key=lambda one: one[:2])
    return placed


def _snapshot_ns(reading: Reading) -> int | None:
    """When the document's top level was true; None for the start of the incident."""
    return None if reading.has_history else reading.as_of_ns or reading.latest_ns or None


def _subject(event: Event) -> Subject:
    match event:
        case ResourceObserved():
            return (0, event.resource)
        case ActorObserved() | ActorGone():
            return (1, event.actor)
        case _:
            raise AssertionError(event)


def _winner(same: Sequence[Statement]) -> Statement:
    """Of what is said about one subject at one time: the rule at the head of this file."""
    if len(same) == 1:
        return same[0]

    def order(one: Statement) -> tuple[int, int, bytes, tuple[int, ...]]:
        text = encode_event(structs.replace(one.event, at_ns=0, citations=()))
        return (one.sequence, _silence(one.event), text, tuple(-part for part in one.citation))

    return max(same, key=order)


def _silence(event: Event) -> int:
    match event:
        case ActorGone():
            return 2
        case ActorObserved(wait=None):
            return 1
        case _:
            return 0


def _undated_wait(statement: Statement) -> bool:
    """A wait in a state without history that does not say since when: nobody vouches for how long it has lasted."""
    event = statement.event
    waits = isinstance(event, ActorObserved) and event.wait is not None
    return waits and not statement.timed and not statement.since_stated


def _dated(statement: Statement, at_ns: int, waiting_since_ns: dict[str, int]) -> Event:
    """The event at its time. A wait that names no beginning goes on from the entry in which the actor began to wait."""
    event = statement.event
    if isinstance(event, ActorObserved) and event.wait is not None:
        since_ns = event.wait.since_ns
        if not statement.since_stated:
            since_ns = waiting_since_ns.get(event.actor, at_ns)
        waiting_since_ns[event.actor] = since_ns
        if event.at_ns == at_ns and event.wait.since_ns == since_ns:
            return event
        return structs.replace(event, at_ns=at_ns, wait=structs.replace(event.wait, since_ns=since_ns))
    if not isinstance(event, ResourceObserved):
        waiting_since_ns.pop(event.actor, None)
    return event if event.at_ns == at_ns else structs.replace(event, at_ns=at_ns)


SOURCE = FactsSource()
