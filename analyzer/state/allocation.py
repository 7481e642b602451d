"""Who holds what, who waits for what, how much there is: the only place where state changes."""

from collections.abc import Iterator, Mapping, Sequence

from analyzer.graph.system import Changes
from analyzer.model.events import (
    ActorGone,
    ActorObserved,
    Event,
    Holds,
    Lifetime,
    Remarked,
    RemarkKind,
    ResourceObserved,
    Tick,
)
from analyzer.model.ids import ActorId, ResourceId

CHANGES_MAX = 4096
"""Actors and resources listed as changed before "everything": beyond that, starting anew is cheaper."""

UNFOLDED_MAX = 1 << 16
"""Changes of holds not yet added to `used`: beyond that, adding up all holds anew costs no more."""

INDEX_AGE_MAX = 1024
"""Actors restated since the index of holders was built before it is built anew: each of them is looked at per query."""


class State:
    """Actors, resources and the sums over holds, folded from events. Implements `analyzer.graph.system.System`.

    Level-triggered: an event replaces all that was known of its actor or resource, so a duplicate changes nothing,
    and one that is older than what is known is passed over. Costs O(holds) per event. A resource that is held
    beyond what exists is kept as stated and named in `remarks`; its negative rest counts as nothing free.
    """

    def __init__(self) -> None:
        self.capacity: dict[ResourceId, int] = {}
        self._used: dict[ResourceId, int] | None = {}
        self._unfolded: list[tuple[Holds, Holds]] = []
        self.kept: dict[ResourceId, int] = {}
        self.actors: dict[ActorId, ActorObserved] = {}
        self.waiting: dict[ActorId, ActorObserved] = {}
        self.preemptible: dict[ActorId, ActorObserved] = {}
        self.version = 0
        self._resources: dict[ResourceId, ResourceObserved] = {}
        self._remarks: dict[tuple[str, str], Remarked] = {}
        self._changed_actors: dict[ActorId, ActorObserved | None] = {}
        self._changed_resources: dict[ResourceId, int] = {}
        self._everything_changed = True
        self._index: dict[ResourceId, list[ActorId]] | None = None
        self._index_stale: set[ActorId] = set()

    def apply(self, event: Event) -> None:
        """Take in one event. `version` grows only if it changed anything that matters to who waits for whom."""
        match event:
            case ActorObserved():
                self._replace(event.actor, event)
            case ActorGone():
                known = self.actors.get(event.actor)
                if known is not None and known.at_ns <= event.at_ns:
                    self._replace(event.actor, None)
            case ResourceObserved():
                self._observe(event)
            case Remarked():
                self._remark(event)
            case Tick():
                pass

    def load(self, events: Sequence[Event]) -> bool:
        """Take in a whole cluster at once: the same as `apply` for each, several times as fast.

        Only where nothing is known yet and every event is the first of its actor or resource; else nothing is taken in,
        and the answer is false.
        """
        if self.actors or self._resources:
            return False
        seen = [event for event in events if type(event) is ActorObserved]
        exist = [event for event in events if type(event) is ResourceObserved and event.units]
        remarks = [event for event in events if type(event) is Remarked]
        actors = {event.actor: event for event in seen}
        resources = {event.resource: event for event in exist}
        if len(actors) + len(resources) + len(remarks) < len(events):
            return False  # something is told twice, or goes
        self.actors, self._resources = actors, resources
        self.capacity = {event.resource: event.units for event in exist}
        kept = [one for one in seen if one.wait is not None or one.lifetime is Lifetime.ENDLESS]
        for actor in kept:
            _add(self.kept, actor.holds)
        self._used, self._unfolded, self._index = None, [], None
        self.waiting = {one.actor: one for one in kept if one.wait is not None}
        self.preemptible = {one.actor: one for one in kept if one.preemptible}
        for remark in remarks:
            self._remark(remark)
        self._everything_changed = True
        self.version += len(kept) + len(resources)
        return True

    def _replace(self, name: ActorId, after: ActorObserved | None) -> None:
        before = self.actors.get(name)
        if after is not None and before is not None and (after.at_ns < before.at_ns or after == before):
            return
        was_kept = before is not None and (before.wait is not None or before.lifetime is Lifetime.ENDLESS)
        is_kept = after is not None and (after.wait is not None or after.lifetime is Lifetime.ENDLESS)
        held = before.holds if before is not None else ()
        holds = after.holds if after is not None else ()
        if held is not holds and held != holds:
            if self._used is not None:
                self._unfolded.append((held, holds))
                if len(self._unfolded) > UNFOLDED_MAX:
                    self._used, self._unfolded = None, []
            if self._index is not None:
                self._index_stale.add(name)
            if was_kept:
                _subtract(self.kept, held)
            if is_kept:
                _add(self.kept, holds)
        elif was_kept and not is_kept:
            _subtract(self.kept, held)
        elif is_kept and not was_kept:
            _add(self.kept, holds)
        if after is None:
            del self.actors[name]
        else:
            self.actors[name] = after
        if after is not None and after.wait is not None:
            self.waiting[name] = after
        elif before is not None and before.wait is not None:
            del self.waiting[name]
        if after is not None and is_kept and after.preemptible:
            self.preemptible[name] = after
        elif was_kept:
            self.preemptible.pop(name, None)
        if was_kept or is_kept:  # one that runs and will end, before and after, is nobody's concern
            self._note_actor(name, before)

    @property
    def used(self) -> dict[ResourceId, int]:
        """Units held by anybody. Added up when asked: the fixed point never asks, and most events change only this."""
        if self._used is None:
            self._used = dict(self.kept)
            for actor in self.actors.values():
                if actor.wait is None and actor.lifetime is not Lifetime.ENDLESS:
                    _add(self._used, actor.holds)
        for held, holds in self._unfolded:
            _subtract(self._used, held)
            _add(self._used, holds)
        self._unfolded = []
        return self._used

    def _note_actor(self, name: ActorId, before: ActorObserved | None) -> None:
        self.version += 1
        if self._everything_changed:
            return
        self._changed_actors.setdefault(name, before)
        if len(self._changed_actors) > CHANGES_MAX:
            self._forget_changes()

    def _forget_changes(self) -> None:
        self._everything_changed = True
        self._changed_actors = {}
        self._changed_resources = {}

    def _observe(self, event: ResourceObserved) -> None:
        known = self._resources.get(event.resource)
        if known is not None and event.at_ns < known.at_ns:
            return
        self._resources[event.resource] = event
        before = self.capacity.get(event.resource, 0)
        if event.units:
            self.capacity[event.resource] = event.units
        else:
            self.capacity.pop(event.resource, None)
            del self._resources[event.resource]
        if before == event.units:
            return
        self.version += 1
        if self._everything_changed:
            return
        self._changed_resources.setdefault(event.resource, before)
        if len(self._changed_resources) > CHANGES_MAX:
            self._forget_changes()

    def _remark(self, event: Remarked) -> None:
        key = (event.kind.value, event.subject)
        if event.text:
            self._remarks[key] = event
        else:
            self._remarks.pop(key, None)

    def changes(self) -> Changes:
        """What is different since this was last asked; the first answer is always "everything"."""
        changes = Changes(self._changed_actors, self._changed_resources, self._everything_changed)
        self._changed_actors = {}
        self._changed_resources = {}
        self._everything_changed = False
        return changes

    @property
    def remarks(self) -> tuple[Remarked, ...]:
        """What sources want said, and each resource of which more is held than exists. Sorted; O(resources)."""
        said = dict(self._remarks)
        for resource, used in self.used.items():
            units = self.capacity.get(resource, 0)
            if used > units:
                key = (RemarkKind.INCONSISTENCY.value, str(resource))
                said.setdefault(key, self._overbooked(resource, used, units))
        return tuple(said[key] for key in sorted(said))

    def _overbooked(self, resource: ResourceId, used: int, units: int) -> Remarked:
        known = self._resources.get(resource)
        text = f"{used} units are held, but only {units} exist" if known else f"{used} units are held, none are known"
        return Remarked(
            at_ns=known.at_ns if known else 0,
            kind=RemarkKind.INCONSISTENCY,
            subject=str(resource),
            text=text,
            citations=known.citations if known else (),
        )

    def holders(self, resource: ResourceId) -> tuple[tuple[ActorId, int], ...]:
        """Everybody who holds units of it, sorted by name.

        Needs an index over all holds, built by the first question and then kept usable: O(all holds) once, then
        O(holders + actors restated since). Replay without questions pays nothing.
        """
        if self._index is None or len(self._index_stale) > INDEX_AGE_MAX:
            self._index = self._build_index()
            self._index_stale = set()
        names = set(self._index.get(resource, ()))
        names.update(self._index_stale)
        found: list[tuple[ActorId, int]] = []
        for name in sorted(names):
            actor = self.actors.get(name)
            if actor is not None:
                found.extend((name, count) for held, count in actor.holds if held == resource)
        return tuple(found)

    def _build_index(self) -> dict[ResourceId, list[ActorId]]:
        index: dict[ResourceId, list[ActorId]] = {}
        for name, actor in self.actors.items():
            for resource, _ in actor.holds:
                index.setdefault(resource, []).append(name)
        return index

    def as_events(self) -> Iterator[Event]:
        """Events that rebuild an equal state, in a fixed order: resources, actors, remarks."""
        for resource in sorted(self._resources):
            yield self._resources[resource]
        for name in sorted(self.actors):
            yield self.actors[name]
        for key in sorted(self._remarks):
            yield self._remarks[key]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return list(self.as_events()) == list(other.as_events()) and self._sums() == other._sums()

    def _sums(self) -> tuple[Mapping[ResourceId, int], ...]:
        return self.capacity, self.used, self.kept


def _add(sums: dict[ResourceId, int], holds: tuple[tuple[ResourceId, int], ...]) -> None:
    for resource, count in holds:
        sums[resource] = sums.get(resource, 0) + count


def _subtract(sums: dict[ResourceId, int], holds: tuple[tuple[ResourceId, int], ...]) -> None:
    for resource, count in holds:
        rest = sums[resource] - count
        if rest:
            sums[resource] = rest
        else:
            del sums[resource]
