"""One actor of a facts file as far as its entry was understood.

Each field is read on its own. A fault in one leaves the others, and makes us more silent, never louder: the wait is not
judged, and unless the fault is in the wait itself or in a mere figure, nothing counts as held for good.
"""

from collections.abc import Callable, Mapping
from typing import Any

from analyzer.model.events import ActorObserved, Certainty, Citation, Excuse, ExcuseKind, Lifetime, Wait
from analyzer.model.ids import ActorId, ResourceId, kind_of
from analyzer.model.requests import Request, all_of
from analyzer.sources.facts.fields import Fault, Place, flag, mapping, moment, name, nearest, whole, words
from analyzer.sources.facts.needs import request_of

ENDINGS = ("ended", "gone")


class Draft:
    """An actor's state as its fields say it, with the defaults of the format, and what was wrong with them."""

    def __init__(self, actor: ActorId, at_ns: int | None, citations: tuple[Citation, ...]) -> None:
        self._actor = actor
        self._at_ns = at_ns
        self._citations = citations
        self._fields: dict[str, Any] = {}
        self._endures = True  # what it says about how long it holds things can be relied on
        self._wait: Wait | None = None
        self.faults: list[Fault] = []
        self.since_stated = True

    @property
    def waits(self) -> bool:
        """Whether it waits, for whatever it may be."""
        return self._wait is not None

    @property
    def latest_ns(self) -> int:
        """The latest past moment that its fields mention, 0 if none."""
        since_ns = self._wait.since_ns if self._wait and self.since_stated else 0
        return max(since_ns, self._fields.get("running_since_ns") or 0, self._fields.get("checkpoint_ns") or 0)

    def read(self, stated: Mapping[str, object], place: Place, faults: list[Fault]) -> None:
        """Take what can be taken; `faults` were found before."""
        self.faults = faults
        self._endures = not faults
        for key, value in stated.items():
            if key == "waits":
                continue
            try:
                self._field(key, value, (*place, key))
            except Fault as fault:
                faults.append(fault)
                self._endures = self._endures and key in _FIGURES
        if stated.get("waits") is not None:
            self._wait = self._waiting(stated["waits"], (*place, "waits"))

    def observed(self) -> ActorObserved:
        """The state as an event."""
        fields, wait = self._fields, self._wait
        if self.faults:
            if not self._endures:
                fields["lifetime"], fields["until_ns"] = Lifetime.UNKNOWN, None
            if wait is not None:
                wait = not_judged(wait, self.faults[0].text)
        if "gpus" not in fields:
            fields["gpus"] = sum(
                units for resource, units in fields.get("holds", ()) if kind_of(resource).endswith("gpu")
            )
        return ActorObserved(at_ns=self._at_ns or 0, actor=self._actor, wait=wait, citations=self._citations, **fields)

    def _field(self, key: str, value: object, place: Place) -> None:
        if key == "holds":
            self._fields["holds"] = self._holds(value, place)
        elif key == "lifetime":
            self._fields["lifetime"], self._fields["until_ns"] = _lifetime(value, place)
        elif key in _FIELDS:
            field, reader = _FIELDS[key]
            self._fields[field] = reader(value, place)
        elif key not in ENDINGS:
            raise Fault(place, f'the key "{key}" is not known here{nearest(key, _KEYS)}')

    def _holds(self, value: object, place: Place) -> tuple[tuple[ResourceId, int], ...]:
        if value is None:
            return ()
        held: list[tuple[ResourceId, int]] = []
        for key, units in mapping(value, place).items():
            try:
                resource = ResourceId(name(key, place))
                if whole(units, (*place, key)):
                    held.append((resource, units))  # type: ignore[arg-type]  # checked the line above
            except Fault as fault:
                self.faults.append(fault)
                self._endures = False
        held.sort()
        return tuple(held)

    def _waiting(self, value: object, place: Place) -> Wait | None:
        """The wait, and whether it says since when; where it does not, its place in time does (`source._dated`)."""
        faults = self.faults
        try:
            stated = mapping(value, place)
        except Fault as fault:
            faults.append(fault)
            stated = {}
        else:
            for key in stated:
                if key not in _WAIT_KEYS:
                    faults.append(Fault((*place, key), f'the key "{key}" is not known here{nearest(key, _WAIT_KEYS)}'))
            if "needs" not in stated and not faults:
                faults.append(Fault(place, 'a wait needs "needs": what must be there for it to go on.'))
        since_ns = self._taken(stated, "since", place, moment, None)
        self.since_stated = since_ns is not None
        preempts = self._fields.get("priority") is not None
        return Wait(
            request=self._taken(stated, "needs", place, request_of, _UNKNOWN),
            since_ns=since_ns if since_ns is not None else self._at_ns or 0,
            preempts=self._taken(stated, "preempts", place, flag, preempts),
            said=self._taken(stated, "said", place, words, ""),
        )

    def _taken(self, stated: Mapping[str, object], key: str, place: Place, reader: "_Reader", otherwise: Any) -> Any:
        if key not in stated:
            return otherwise
        try:
            return reader(stated[key], (*place, key))
        except Fault as fault:
            self.faults.append(fault)
            return otherwise


def not_judged(wait: Wait, because: str) -> Wait:
    """The wait with the excuse that it was not understood; one that has an excuse keeps it."""
    if wait.excuse is not None:
        return wait
    return Wait(
        request=wait.request,
        since_ns=wait.since_ns,
        preempts=wait.preempts,
        said=wait.said,
        excuse=Excuse(ExcuseKind.BLIND, f"not judged: {because.rstrip('.')}"),
    )


_Reader = Callable[[object, Place], Any]

_UNKNOWN: Request = all_of(())  # met by anything; only ever beside an excuse


def _lifetime(value: object, place: Place) -> tuple[Lifetime, int | None]:
    match value:
        case "finite" | "endless" | "unknown":
            return Lifetime(value), None
        case dict():
            stated = mapping(value, place, ("until",))
            if "until" in stated:
                return Lifetime.DATED, moment(stated["until"], (*place, "until"))
        case _:
            pass
    raise Fault(place, "a lifetime is finite, endless, unknown or {until: TIME}.")


def _certainty(value: object, place: Place) -> Certainty:
    if value not in ("proven", "suspected"):
        raise Fault(place, "certainty is proven or suspected.")
    return Certainty(value)


def _priority(value: object, place: Place) -> int:
    """Priorities may be below zero, as in Kubernetes."""
    return -whole(-value, place) if isinstance(value, int) and value < 0 else whole(value, place)


_FIELDS: Mapping[str, tuple[str, _Reader]] = {
    "gpus": ("gpus", whole),
    "priority": ("priority", _priority),
    "preemptible": ("preemptible", flag),
    "recreated": ("recreated", flag),
    "certainty": ("certainty", _certainty),
    "running_since": ("running_since_ns", moment),
    "checkpoint": ("checkpoint_ns", moment),
    "progress": ("progress", whole),
    "owner": ("owner", words),
}
_FIGURES = frozenset(("gpus", "recreated", "certainty", "running_since", "checkpoint", "progress", "owner"))
_KEYS = ("lifetime", "holds", "waits", *_FIELDS, *ENDINGS)
_WAIT_KEYS = ("since", "needs", "said", "preempts")
