"""Looks at all mechanisms that are awake, before pods and gangs are looked at, and keeps what they say."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from analyzer.model.events import Certainty, Citation, Event, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Never, all_of, any_of
from analyzer.sources.kubernetes.actors import Built, merged
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.services import maker_of
from analyzer.sources.kubernetes.stating import Statements
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import foremost


class Looking:
    """What each mechanism says now. `burden_of`: what all of them together lay on each pod.

    `stopped`: controllers that by one of them make no pods until something has come.
    """

    def __init__(self, mechanisms: Iterable[Mechanism]) -> None:
        self._mechanisms = tuple(mechanisms)
        self._looks: list[Look] = [NOTHING] * len(self._mechanisms)
        self.burden_of: dict[str, Burden] = {}
        self.stopped: set[ActorId] = set()
        self._units: Mapping[ResourceId, tuple[int, tuple[Citation, ...]]] = {}

    def look(self, store: Store, dirty: Dirty, now_ns: int) -> None:
        """Ask all who are awake, or were; pods on which they lay something else than before are added to `dirty`."""
        asked = False
        for place, mechanism in enumerate(self._mechanisms):
            if mechanism.awake or self._looks[place] is not NOTHING:
                now = mechanism.look(store, now_ns)
                self._looks[place] = NOTHING if now == NOTHING else now
                asked = True
        if not asked:
            return
        by_pod: dict[str, list[Burden]] = {}
        for look in self._looks:
            for key, burden in look.burdens.items():
                by_pod.setdefault(key, []).append(burden)
        burdens = {key: _or_instead(_together(found)) for key, found in by_pod.items()}
        for key in burdens.keys() | self.burden_of.keys():
            if burdens.get(key) != self.burden_of.get(key):
                dirty.pods.add(key)
        self.burden_of.clear()
        self.burden_of.update(burdens)
        self._stop(store, dirty)

    def _stop(self, store: Store, dirty: Dirty) -> None:
        """Note which controllers make no pods; gangs that lack pods of one for which this has changed are `dirty`."""
        waits = (built.actor for look in self._looks for built in look.actors if built.actor.wait is not None)
        stopped = {actor.actor for actor in waits if actor.actor.startswith("controller/")}
        changed = stopped ^ self.stopped
        self.stopped.clear()
        self.stopped.update(stopped)
        if not changed:
            return
        for gang, uids in store.makers_by_gang.items():
            owners = (store.owners.by_uid(uid) for uid in uids)
            if any(owner is not None and maker_of(store, owner) in changed for owner in owners):
                dirty.gangs.add(gang)

    def changed_units(self) -> dict[ResourceId, tuple[int, tuple[Citation, ...]]]:
        """All units that mechanisms state, and none of those that they no longer state."""
        now = {resource: found for look in self._looks for resource, found in look.units.items()}
        before, self._units = self._units, now
        return {**dict.fromkeys(before, (0, ())), **now} if before or now else {}

    def actors(self) -> list[Built]:
        """The actors of all mechanisms, in the order of the mechanisms; who is named twice is what the first says."""
        found: dict[ActorId, Built] = {}
        for look in self._looks:
            for built in look.actors:
                found.setdefault(built.actor.actor, built)
        return list(found.values())

    def remark(self, statements: Statements, at_ns: int, events: list[Event]) -> None:
        """Say what mechanisms remark."""
        for place, look in enumerate(self._looks):
            statements.remark(f"mechanism/{place}", look.remarks, at_ns, events)


def _doubt(certainty: Certainty) -> bool:
    return certainty is Certainty.SUSPECTED


def _or_instead(burden: Burden) -> Burden:
    """The wait of a bound pod with what would do as well."""
    if burden.wait is None or burden.instead is None:
        return burden
    return replace(burden, wait=replace(burden.wait, request=any_of((burden.wait.request, burden.instead))))


def _without_echo(waits: list[Wait]) -> list[Wait]:
    """Of several who say that nothing helps, the first."""
    never = [one for one in waits if isinstance(one.request, Never)]
    return [one for one in waits if one not in never[1:]]


def _together(burdens: list[Burden]) -> Burden:
    """Burdens of several mechanisms on one pod, as one."""
    if len(burdens) == 1:
        return burdens[0]
    waits = _without_echo([one.wait for one in burdens if one.wait is not None])
    needs = [one.needs for one in burdens if one.needs is not None]
    instead = [one.instead for one in burdens if one.instead is not None]
    wait = waits[0] if waits else None
    if wait is not None and len(waits) > 1:
        wait = type(wait)(
            request=all_of(one.request for one in waits),
            since_ns=min(one.since_ns for one in waits),
            excuse=foremost(one.excuse for one in waits),
            said="; ".join(dict.fromkeys(one.said for one in waits if one.said)),
        )
    return Burden(
        holds=merged([one.holds for one in burdens]),
        wait=wait,
        needs=all_of(needs) if needs else None,
        instead=any_of(instead) if instead else None,
        excuse=foremost(one.excuse for one in burdens),
        renewed=any(one.renewed for one in burdens),
        overdue=any(one.overdue for one in burdens),
        losses=next((one.losses for one in burdens if one.losses is not None), None),
        # Where something else would do, it is that which decides; the rest says that it is needed.
        certainty=max((one.certainty for one in burdens if one.instead is not None or not instead), key=_doubt),
        citations=tuple(citation for one in burdens for citation in one.citations),
    )
