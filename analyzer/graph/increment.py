"""From one judged situation to the next, where the changes are of a kind whose effect is certain and local.

README.md, section "After one event", has the kinds and why each step keeps the answer equal to one from scratch.
Anything else is refused, and the caller starts anew.
"""

from collections import Counter
from collections.abc import Container, Iterable
from enum import Enum, auto

from msgspec import Struct

from analyzer.graph.certificate import Certificate
from analyzer.graph.regions import Interests
from analyzer.graph.situation import Situation
from analyzer.graph.system import Changes
from analyzer.model.events import ActorObserved, Holds, Lifetime
from analyzer.model.ids import ActorId, ResourceId


class Update(Struct, frozen=True):
    """What is different afterwards: who is live, and anything about the stuck. `taken`: changes that mattered."""

    live: bool
    regions: bool
    taken: int


class Role(Enum):
    """What an actor is to the fixed point."""

    AWAY = auto()  # not there, or running and finite: its units come back in any case
    LASTING = auto()  # running for good
    LIVE = auto()
    STUCK = auto()
    WAITING = auto()  # to be judged


class Change(Struct, frozen=True):
    """One actor before and after."""

    name: ActorId
    before: ActorObserved | None
    after: ActorObserved | None
    was: Role
    role: Role


class Increment:
    """Brings a situation up to date. If `apply` gives None, the situation is of no more use."""

    def __init__(self, situation: Situation, changes: Changes) -> None:
        self._situation = situation
        self._changes = changes
        self._more: Counter[ResourceId] = Counter()  # of `supply`, by resource; below 0: less
        self._more_at_start: Counter[ResourceId] = Counter()
        self._touched: dict[ResourceId, None] = {}
        self._gone_for_good: dict[ResourceId, None] = {}  # of `best` alone: an endless one that was stuck keeps them
        self._affected: dict[int, None] = {}
        self._newly_stuck: list[ActorId] = []
        self._arrived: list[ActorId] = []

    def apply(self) -> Update | None:
        """Take the changes in, or refuse them."""
        changed = [change for name in self._changes.actors if (change := self._change(name)) is not None]
        changed.sort(key=lambda change: change.name)
        for change in changed:
            if change.role is Role.WAITING and change.after is not None:
                self._situation.refer(change.after)
        if not all(self._is_certain(change) for change in changed):
            return None
        live_before = self._situation.live
        stuck_before = len(self._situation.region_of)
        for change in changed:
            self._shift(change)
        self._reread()
        lighter = [self._leave(change) for change in changed]
        if not self._still_live(changed) or not self._judge_new(changed):
            return None
        freed = self._situation.fixpoint.resume(self._arrived)
        self._situation.order += freed
        self._situation.forget_live()
        self._keep_for_good(freed)
        regions = self._rejudge(freed, changed)
        live = self._situation.live != live_before
        regions = regions or any(lighter) or len(self._situation.region_of) != stuck_before
        return Update(live, regions, len(changed) + len(self._changes.resources))

    def _change(self, name: ActorId) -> Change | None:
        before, after = self._changes.actors[name], self._situation.actors.get(name)
        role = _role(after)
        was = _role(before)
        if was is Role.WAITING:
            was = Role.STUCK if name in self._situation.region_of else Role.LIVE
        if (was is Role.AWAY and role is Role.AWAY) or (
            before is not None and after is not None and _alike(before, after)
        ):
            return None
        return Change(name, before, after, was, role)

    def _is_certain(self, change: Change) -> bool:
        situation = self._situation
        for actor in (change.before, change.after):
            if actor is not None and not situation.without_preemption(actor):
                return False
        referenced = change.name in situation.referenced
        after = change.after
        if change.role is Role.WAITING and after is not None:
            if after.holds and not (change.was is Role.LIVE and _gives_back(change.before) and _gives_back(after)):
                return False
            if referenced and (change.was in (Role.AWAY, Role.LASTING) or _ends(change.before) != _ends(after)):
                return False
        if change.role is Role.LASTING and referenced:
            return change.was is not Role.AWAY and not (change.was is Role.LIVE and _ends(change.before))
        return True

    def _shift(self, change: Change) -> None:
        """Correct what was recorded as given back; the system's own sums already show the change."""
        situation = self._situation
        held = change.before.holds if change.before is not None else ()
        holds = change.after.holds if change.after is not None else ()
        if change.was is Role.LIVE and _ends(change.before):
            situation.supply.shift(held, -1)
            situation.best.shift(held, -1)
            if change.name in situation.excused:
                situation.start.shift(held, -1)
            else:
                self._count(self._more_at_start, held, 1)
        elif change.was is not Role.AWAY:
            self._count(self._more, held, 1)
            self._count(self._more_at_start, held, 1)
            if change.was is Role.STUCK:
                situation.best.shift(held, -1)
                if change.role is Role.LASTING:
                    self._gone_for_good.update(dict.fromkeys(resource for resource, _ in holds))
        if change.role is Role.WAITING and holds:
            situation.supply.shift(holds, 1)
            situation.best.shift(holds, 1)
            if _is_excused(change.after):
                situation.start.shift(holds, 1)
            else:
                self._count(self._more_at_start, holds, -1)
        elif change.role is Role.LASTING:
            self._count(self._more, holds, -1)
            self._count(self._more_at_start, holds, -1)
        self._touched.update(dict.fromkeys(resource for resource, _ in (*held, *holds)))

    def _count(self, counter: Counter[ResourceId], holds: Holds, sign: int) -> None:
        for resource, count in holds:
            counter[resource] += sign * count

    def _reread(self) -> None:
        situation = self._situation
        for resource, before in self._changes.resources.items():
            more = situation.system.capacity.get(resource, 0) - before
            self._more[resource] += more
            self._more_at_start[resource] += more
            self._touched[resource] = None
        if self._touched:
            for supply in (situation.start, situation.supply, situation.best):
                supply.reread(self._touched)

    def _leave(self, change: Change) -> bool:
        """The actor is no longer what it was; true if it was stuck and its region could simply forget it."""
        situation = self._situation
        name = change.name
        if change.was is Role.LIVE:
            situation.leave(name)
        if change.role is not Role.WAITING:
            self._arrived.append(name)
        if change.was is not Role.STUCK:
            return False
        situation.fixpoint.drop(name)
        number = situation.region_of.pop(name)
        region = situation.regions[number]
        waited_for = name in situation.referenced or any(name in core for core in region.cores)
        if waited_for or (change.before is not None and change.before.holds):
            self._affected[number] = None
            region.names.remove(name)
            return False
        region.forget(name)
        if not region.names:
            del situation.regions[number]
            self._affected.pop(number, None)
        return True

    def _still_live(self, changed: Iterable[Change]) -> bool:
        """Whether all who were live are so for certain, and those of them that hold something new."""
        situation = self._situation
        shrunk = [name for name in self._touched if self._more_at_start[name] < 0 or self._more[name] < 0]
        waiters = [change.after for change in changed if change.role is Role.WAITING and change.after is not None]
        growing = [actor for actor in waiters if actor.holds]
        if not shrunk and not growing:
            return True
        certificate = self._certificate()
        for actor in growing:
            if _is_excused(actor):
                situation.excused.add(actor.actor)
            elif not certificate.met_at_start(actor):
                return False
            else:
                certificate.add([actor.actor])
            situation.order.append(actor.actor)
        situation.forget_live()
        return certificate.holds(shrunk)

    def _certificate(self) -> Certificate:
        situation = self._situation
        if situation.certificate is None:
            situation.certificate = Certificate(situation)
        return situation.certificate

    def _judge_new(self, changed: Iterable[Change]) -> bool:
        """Judge the waiters that hold nothing by what there is when all live have gone on."""
        situation = self._situation
        waiters = [
            (change, change.after)
            for change in changed
            if change.role is Role.WAITING and change.after is not None and not change.after.holds
        ]
        situation.fixpoint.pending.update(after.actor for _, after in waiters if not _is_excused(after))
        for change, after in waiters:
            if _is_excused(after):
                situation.excused.add(after.actor)
            elif change.was is Role.LIVE and after.actor in situation.referenced:
                if not self._certificate().met_at_start(after):
                    return False  # others may be live by it, and it by them
                self._certificate().add([after.actor])
                situation.fixpoint.drop(after.actor)
            elif not situation.fixpoint.add(after.actor):
                self._newly_stuck.append(after.actor)
                continue
            elif situation.certificate is not None and situation.certificate.met_at_start(after):
                situation.certificate.add([after.actor])
            situation.order.append(after.actor)
            self._arrived.append(after.actor)
        return True

    def _keep_for_good(self, freed: Iterable[ActorId]) -> None:
        """Endless ones that are stuck no more keep their units under every hypothesis."""
        for name in freed:
            actor = self._situation.actors[name]
            if actor.lifetime is Lifetime.ENDLESS and actor.holds:
                self._situation.best.take(actor)
                self._gone_for_good.update(dict.fromkeys(resource for resource, _ in actor.holds))

    def _rejudge(self, freed: Iterable[ActorId], changed: Iterable[Change]) -> bool:
        """Find the causes anew in every region that the changes reach; true if there is one."""
        situation = self._situation
        gone = set(freed)
        names = [name for name in self._newly_stuck if name not in gone]
        affected = dict(self._affected)
        for name in gone:
            number = situation.region_of.get(name)
            if number is not None:
                affected[number] = None
        resources = [resource for resource in self._touched if self._matters(resource)]
        resources += (resource for resource in self._gone_for_good if resource not in resources)
        peers = {change.name for change in changed}
        for number, region in situation.regions.items():
            if number not in affected and (
                not region.interests.peers.isdisjoint(peers)
                or region.reached_by(resources, situation.supply, situation.best)
            ):
                affected[number] = None
        light = [name for name in names if name not in situation.referenced] if not affected else []
        names = [name for name in names if not (name in light and situation.add_alone(name))]
        names += self._dissolved(affected, gone)
        joining = Interests()
        for name in names:
            joining.add(situation.actors[name], situation.supply.atlas)
        if names:
            names += self._dissolved([number for number in situation.regions if situation.joins(joining, number)], gone)
        situation.judge_stuck(names)
        return bool(affected or names or light)

    def _dissolved(self, numbers: Iterable[int], gone: Container[ActorId]) -> list[ActorId]:
        return [name for number in numbers for name in self._situation.dissolve(number) if name not in gone]

    def _matters(self, resource: ResourceId) -> bool:
        """Whether there is more or less of it for the stuck, or was for a moment of this step."""
        return self._more[resource] != 0 or resource in self._changes.resources or self._more_at_start[resource] != 0


def _role(actor: ActorObserved | None) -> Role:
    if actor is None:
        return Role.AWAY
    if actor.wait is not None:
        return Role.WAITING
    return Role.LASTING if actor.lifetime is Lifetime.ENDLESS else Role.AWAY


def _ends(actor: ActorObserved | None) -> bool:
    return actor is None or actor.lifetime is not Lifetime.ENDLESS


def _gives_back(actor: ActorObserved | None) -> bool:
    return actor is not None and _ends(actor)


def _is_excused(actor: ActorObserved | None) -> bool:
    return actor is not None and actor.wait is not None and actor.wait.excuse is not None


def _alike(before: ActorObserved, after: ActorObserved) -> bool:
    """Whether both are the same to the fixed point."""
    if _ends(before) != _ends(after) or before.holds != after.holds or (before.wait is None) != (after.wait is None):
        return False
    if before.priority != after.priority or before.preemptible != after.preemptible:
        return False
    if before.wait is None or after.wait is None:
        return True
    return (
        _is_excused(before) == _is_excused(after)
        and before.wait.preempts == after.wait.preempts
        and before.wait.request == after.wait.request
    )
