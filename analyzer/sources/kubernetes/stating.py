"""Remembers what was last said of each actor, resource and subject, and says only what is different now."""

from collections.abc import Sequence

from msgspec.structs import replace

from analyzer.model.events import ActorGone, ActorObserved, Citation, Event, Remarked, RemarkKind, ResourceObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.actors import Built


class Statements:
    """What stands in the engine's books by our word. `actors`: as they were last stated."""

    def __init__(self) -> None:
        self.actors: dict[ActorId, ActorObserved] = {}
        self._units: dict[ResourceId, int] = {}
        self._remarks: dict[tuple[RemarkKind, str], str] = {}
        self._remarked: dict[str, tuple[tuple[RemarkKind, str], ...]] = {}

    def actor(self, now: ActorObserved, events: list[Event]) -> None:
        """The actor as it is now; the same as before, but for the time, says nothing."""
        before = self.actors.get(now.actor)
        if before is None or replace(before, at_ns=now.at_ns) != now:
            self.actors[now.actor] = now
            events.append(now)

    def built(self, done: Sequence[Built], at_ns: int, events: list[Event]) -> None:
        """Actors with what is to be remarked about them."""
        for one in done:
            self.actor(one.actor, events)
            if one.remarks or one.actor.actor in self._remarked:
                self.remark(one.actor.actor, one.remarks, at_ns, events)

    def end(self, actor: ActorId, at_ns: int, events: list[Event], *, evicted: bool) -> None:
        """The actor is gone; one that was never stated says nothing."""
        before = self.actors.pop(actor, None)
        if before is not None:
            events.append(ActorGone(at_ns=at_ns, actor=actor, evicted=evicted, citations=before.citations))
            self.remark(actor, (), at_ns, events)

    def units(
        self, resource: ResourceId, amount: int, citations: tuple[Citation, ...], at_ns: int, events: list[Event]
    ) -> None:
        """How many units exist."""
        if self._units.get(resource, 0) != amount:
            if amount:
                self._units[resource] = amount
            else:
                del self._units[resource]
            events.append(ResourceObserved(at_ns=at_ns, resource=resource, units=amount, citations=citations))

    def remark(self, teller: str, remarks: tuple[Remarked, ...], at_ns: int, events: list[Event]) -> None:
        """All that is remarked because of one actor, node list or mechanism; what it no longer says is withdrawn."""
        keys = tuple((remark.kind, remark.subject) for remark in remarks)
        for key in self._remarked.get(teller, ()):
            if key not in keys and key in self._remarks:
                del self._remarks[key]
                events.append(Remarked(at_ns=at_ns, kind=key[0], subject=key[1], text=""))
        for remark in remarks:
            if self._remarks.get((remark.kind, remark.subject)) != remark.text:
                self._remarks[remark.kind, remark.subject] = remark.text
                events.append(remark)
        if keys:
            self._remarked[teller] = keys
        else:
            self._remarked.pop(teller, None)
