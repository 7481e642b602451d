"""One cluster over time: a look at every snapshot, and between two of them at what the controller's log tells.

Each look is a whole picture, translated anew; only what differs from the look before becomes an event. So a job that is
in the next list no more is gone, a licence that nobody asks for no more has no units, and a finding resolves where its
wait ended. Cost: one translation for each look; the log adds at most `_LOOKS_BETWEEN_MAX` looks between two snapshots.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct, structs

from analyzer.model.events import ActorGone, ActorObserved, Event, ResourceObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.recording import Batch
from analyzer.sources.slurm.actors import events
from analyzer.sources.slurm.clock import make_absolute
from analyzer.sources.slurm.clusters import Cluster, apart, named_apart
from analyzer.sources.slurm.jobs import alias_of
from analyzer.sources.slurm.picture import Picture, picture
from analyzer.sources.slurm.records import Reading
from analyzer.sources.slurm.snapshots import Snapshot, snapshots

_LOOKS_BETWEEN_MAX = 30
"""Looks between two lists at what only the log tells; more would cost more than they show."""


class Look(Struct, frozen=True):
    """A moment to look at: which snapshot tells of it, and up to when the log counts."""

    snapshot: Snapshot
    until_ns: int | None


class History:
    """All looks at one cluster, in order of time. `beside`: there are others, so its resources bear its name."""

    def __init__(self, cluster: Cluster, *, beside: bool) -> None:
        self._name = cluster.name
        self._beside = beside
        self._looks = list(_looks(snapshots(cluster.readings)))
        self._last = self._pictured(self._looks[-1])

    @property
    def as_of_ns(self) -> int | None:
        """The latest time in the documents."""
        return self._last.as_of_ns

    @property
    def latest(self) -> Picture:
        """The cluster at the end."""
        return self._last

    def batches(self) -> Iterator[Batch]:
        """What changed from look to look."""
        changes = _Changes()
        for look in self._looks:
            seen = self._last if look is self._looks[-1] else self._pictured(look)
            at_ns = seen.as_of_ns or 0
            told = events(seen, at_ns)
            if self._beside:
                told = named_apart(told, seen.cluster)
            found = changes.since_the_last(told, at_ns)
            if found:
                yield Batch(at_ns, found)

    def _pictured(self, look: Look) -> Picture:
        return picture(look.snapshot.readings, look.until_ns, self._name)


def histories(readings: Sequence[Reading], offset_s: int | None) -> list[History]:
    """One history for each cluster that the readings tell of. Makes their times absolute, in place."""
    ordered = sorted(readings, key=lambda one: one.document)
    make_absolute(ordered, offset_s)
    clusters = apart(ordered)
    return [History(cluster, beside=len(clusters) > 1) for cluster in clusters]


def latest_pictures(readings: Sequence[Reading], offset_s: int | None) -> list[Picture]:
    """Each cluster at the latest moment that the readings tell of it."""
    return [history.latest for history in histories(readings, offset_s)]


def _looks(found: Sequence[Snapshot]) -> Iterator[Look]:
    """Every snapshot at its time; between them, times of the log. The last one takes all that the files tell."""
    for snapshot, following in pairwise(found):
        at_ns, next_ns = snapshot.at_ns or 0, following.at_ns or 0
        yield Look(snapshot, at_ns)
        between = _told_between(snapshot, at_ns, next_ns)
        step = max(1, -(-len(between) // _LOOKS_BETWEEN_MAX))
        for told_ns in between[step - 1 :: step]:
            yield Look(snapshot, told_ns)
    yield Look(found[-1], None)


def _told_between(snapshot: Snapshot, first_ns: int, beyond_ns: int) -> list[int]:
    """When the log tells of a job in the snapshot that it started, ended or was queued again."""
    log = [line for reading in snapshot.readings for line in reading.log]
    times = {
        line.at_ns for line in log if line.what != "submitted" and line.at_ns and first_ns < line.at_ns < beyond_ns
    }
    if not times:
        return []
    aliases = alias_of(picture(snapshot.readings, first_ns).jobs)
    return sorted(
        {line.at_ns for line in log if line.at_ns in times and line.what != "submitted" and line.job in aliases}
        - {None}
    )


class _Changes:
    """What was told last of every actor and resource."""

    def __init__(self) -> None:
        self._actors: dict[ActorId, ActorObserved] = {}
        self._units: dict[ResourceId, int] = {}

    def since_the_last(self, now: Sequence[Event], at_ns: int) -> list[Event]:
        """Events of this look that say something new, after those that end what is not there any more."""
        actors = {event.actor: event for event in now if isinstance(event, ActorObserved)}
        units = {event.resource: event.units for event in now if isinstance(event, ResourceObserved)}
        found: list[Event] = [
            ActorGone(at_ns=at_ns, actor=name) for name in sorted(self._actors.keys() - actors.keys())
        ]
        found += [
            ResourceObserved(at_ns=at_ns, resource=resource, units=0)
            for resource in sorted(self._units.keys() - units.keys())
        ]
        for event in now:
            match event:
                case ActorObserved():
                    before = self._actors.get(event.actor)
                    if before is None or structs.replace(before, at_ns=at_ns) != event:
                        found.append(event)
                case ResourceObserved():
                    if self._units.get(event.resource) != event.units:
                        found.append(event)
                case _:
                    found.append(event)
        self._actors, self._units = actors, units
        return found
