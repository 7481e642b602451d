"""Kubernetes objects in, restatements of actors and resources out: the deciding half of the source.

`apply` takes observations in the order of their times, `restate` gives the events for all that is different now. It
costs what has changed: an ordinary running pod is looked at once, a waiting one whenever what it may get is different.
"""

from collections.abc import Sequence
from operator import attrgetter

from analyzer.model.events import ActorObserved, Event
from analyzer.model.ids import ActorId
from analyzer.sources.kubernetes.actors import Built, HoldsCache
from analyzer.sources.kubernetes.company import Company
from analyzer.sources.kubernetes.controllers import all_refused, build_phantom, build_refused
from analyzer.sources.kubernetes.device_actors import look_at_claims, settle_devices
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.gang_actors import build_gang
from analyzer.sources.kubernetes.gangs import gang_of, template_member
from analyzer.sources.kubernetes.kueue_actors import look_at_workloads
from analyzer.sources.kubernetes.kueue_pods import kept_back
from analyzer.sources.kubernetes.lone_needs import LoneNeeds
from analyzer.sources.kubernetes.looking import Looking
from analyzer.sources.kubernetes.mechanisms import MECHANISMS
from analyzer.sources.kubernetes.names import pod_actor
from analyzer.sources.kubernetes.observations import Listed, Observation
from analyzer.sources.kubernetes.plain_pods import PlainPods
from analyzer.sources.kubernetes.records import BOUND
from analyzer.sources.kubernetes.rolling import Rolling
from analyzer.sources.kubernetes.rooms import Class
from analyzer.sources.kubernetes.singles import Context, attached_to, build_single, unattached
from analyzer.sources.kubernetes.stating import Statements
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.supplies import Supplies

_ACTOR = attrgetter("actor")

_CONTROLLERS = "controllers/"
"""Where the actors of refused controllers come from, beside `pod/KEY` and `gang/KEY`."""

_MECHANISMS = "mechanisms/"
"""Where the actors of all mechanisms come from."""


class Cluster:
    """One cluster as its files show it. Pure: time is what it is told."""

    def __init__(self) -> None:
        mechanisms = tuple(make() for make in MECHANISMS)
        self.store = Store(mechanisms)
        self._said = Statements()
        self._looking = Looking(mechanisms)
        self._holds = HoldsCache()
        self._supplies = Supplies(self.store, self._holds)
        self._sources: dict[str, tuple[ActorId, ...]] = {}
        self._recheck: dict[str, int] = {}
        self._classes: dict[Class | Company, set[str]] = {}
        self._classes_of: dict[str, tuple[Class | Company, ...]] = {}
        self._companies: set[Company] = set()
        self._waiting: set[str] = set()
        self._watched: set[str] = set()
        self._plain = PlainPods(self._holds)
        self._rolling = Rolling(self.store)
        self._refusing = False
        self._contested: dict[str, tuple[str, ...]] = {}
        self.store.neighbours.restless = (self._rolling.plan_of, self._looking.burden_of)

    def apply(self, observation: Observation) -> None:
        """Take one observation."""
        self.store.apply(observation)

    def take(self, listed: Listed) -> None:
        """Take many pods at once."""
        self.store.take(listed)

    def restate(self, at_ns: int) -> list[Event]:
        """Everything that is different from what was last restated, as events at this time, in a fixed order."""
        store = self.store
        store.kept.lapse(at_ns)
        settle_devices(store)
        store.settle_attachments()
        dirty, store.dirty = store.dirty, Dirty()
        events: list[Event] = []
        self._plain.begin()
        self._spread(dirty, at_ns)
        others = {**store.kueue.changed(), **self._looking.changed_units()}
        self._supplies.restate(dirty, self._contested, others, self._said, at_ns, events)
        self._end_renewed(at_ns, events)
        needs = LoneNeeds(store, at_ns)
        context = Context(
            store,
            at_ns,
            needs,
            self._holds,
            self._rolling.plan_of,
            self._contested,
            self._looking.burden_of,
            self._looking.stopped,
        )
        arrived = self._look_at_arrived(context, dirty)
        done: list[Built] = []
        gone: list[ActorId] = []
        singles: list[str] = []
        for key in dirty.pods:
            gang = store.gangs.get(key)
            if gang is None:
                singles.append(key)
            else:
                dirty.gangs.add(gang.key)
                self._withdraw("pod/" + key, gone)
        plain: list[Event] = []
        self._look_at_pods(context, sorted(singles), done, gone, plain)
        for key in sorted(dirty.gangs):
            self._look_at_gang(context, key, done, gone)
        if self._refusing or _CONTROLLERS in self._sources:
            self._look_at_controllers(context, done, gone)
        self._note(_MECHANISMS, self._looking.actors(), done, gone)
        self._state_ends(done, gone, at_ns, events)
        events.extend(arrived)
        events.extend(plain)
        self._said.built(done, at_ns, events)
        self._look_at_books(context, dirty, events)
        self._looking.remark(self._said, at_ns, events)
        store.evicted.clear()
        store.rooms.forget(self._classes)
        return events

    # --- what has to be looked at -----------------------------------------------------------------------------------

    def _spread(self, dirty: Dirty, at_ns: int) -> None:
        """Add to `dirty` what fares differently because something else has changed, or because time has passed."""
        store = self.store
        dirty.widen(store.index)
        store.neighbours.see(dirty)
        for source, moment in list(self._recheck.items()):
            if moment <= at_ns:
                del self._recheck[source]
                self._mark(source, dirty)
        if dirty.waiting:
            for source in self._waiting:
                self._mark(source, dirty)
        dirty.unknown_nodes = {name for name in store.rooms.touched() if name not in store.candidates.nodes}
        for shape_and_constraints in store.rooms.refresh():
            for source in self._classes.get(shape_and_constraints, ()):
                self._mark(source, dirty)
        for key in list(dirty.pods):
            record = store.pods.get(key)
            if record is None or record.plain:
                continue
            for claim in record.claims:
                dirty.pods.update(store.by_claim.get(f"{record.namespace}/{claim}", ()))
            if record.leaving is not None:
                dirty.pods.update(self._nominated_to(record.node))
        dirty.pods.update(kept_back(store))
        self._contest(dirty)
        self._looking.look(store, dirty, at_ns)
        self._refusing = bool(store.activity.all_refused())
        self._rolling.spread(dirty, refusing=self._refusing)
        for company in store.neighbours.touched(dirty, self._companies):
            for source in self._classes[company]:
                self._mark(source, dirty)

    def _mark(self, source: str, dirty: Dirty) -> None:
        kind, _, key = source.partition("/")
        if kind == "gang":
            dirty.gangs.add(key)
        elif kind == "pod":
            dirty.pods.add(key)
        elif kind == "workload":
            self.store.kueue.dirty.add(key)
        elif kind == "claim":
            self.store.devices.dirty.add(key)
        else:
            dirty.controllers = True

    def _nominated_to(self, node: str) -> list[str]:
        store = self.store
        pending = (store.pods[key] for source in self._waiting if (key := source.partition("/")[2]) in store.pods)
        return [record.key for record in pending if record.pending is not None and record.pending.nominated == node]

    def _contest(self, dirty: Dirty) -> None:
        """Find the volumes that somebody cannot attach, and who has them."""
        store = self.store
        contested: dict[str, tuple[str, ...]] = {}
        for key in sorted(store.unstarted):
            record = store.pods[key]
            if record.claims:
                for claim in unattached(store, record):
                    contested[claim.key] = attached_to(store, claim, record)
        for claim_key in contested.keys() | self._contested.keys():
            if contested.get(claim_key) != self._contested.get(claim_key):
                dirty.claims.add(claim_key)
                dirty.pods.update(store.by_claim.get(claim_key, ()))
        self._contested.clear()
        self._contested.update(contested)

    # --- looking ----------------------------------------------------------------------------------------------------

    def _look_at_arrived(self, context: Context, dirty: Dirty) -> list[ActorObserved]:
        """The plain pods that came in and are not to be looked at for another reason: nothing was stated of them."""
        touched = dirty.pods
        found: list[ActorObserved] = []
        for records in dirty.arrived.values():
            if touched:
                records = [record for record in records if record.key not in touched]
            found.extend(self._plain.build(context, records))
        found.sort(key=_ACTOR)
        self._said.actors.update(zip(map(_ACTOR, found), found, strict=True))
        return found

    def _look_at_pods(
        self, context: Context, keys: list[str], done: list[Built], gone: list[ActorId], events: list[Event]
    ) -> None:
        store, plans, children, stated = context.store, self._rolling.plan_of, context.store.by_parent, self._said
        burdens = context.burdens
        for key in keys:
            record = store.pods.get(key)
            source = ActorId("pod/" + key)
            if (
                record is not None
                and record.plain
                and key not in plans
                and key not in children
                and key not in store.preempted
                and key not in burdens
            ):
                actor = self._plain.build_one(context, record)
                stated.actor(actor, events)
                if source in self._watched:
                    self._watch(source, ())
                    self._said.remark(source, (), context.now_ns, events)
                continue
            built = build_single(context, record) if record is not None else None
            if built is not None:
                done.append(built)
            elif source in stated.actors:
                gone.append(source)
            if source in self._watched or (built is not None and built.watched):
                self._watch(source, () if built is None else (built,))

    def _look_at_gang(self, context: Context, key: str, done: list[Built], gone: list[ActorId]) -> None:
        store = context.store
        keys = sorted(store.by_gang.get(key, ()))
        built: list[Built] = []
        if keys:
            built = build_gang(context, store.gang_by_key[key], [store.pods[pod] for pod in keys])
        self._note("gang/" + key, built, done, gone)

    def _look_at_controllers(self, context: Context, done: list[Built], gone: list[ActorId]) -> None:
        store = context.store
        refused = list(all_refused(store))
        built = []
        for found in refused:
            gang = None if found.owner is None else gang_of(template_member(found.owner))
            if gang is not None and any(store.pods[key].stage <= BOUND for key in store.by_gang.get(gang.key, ())):
                continue  # the gang itself waits for these pods
            built.append(build_refused(store, found, context.now_ns))
        for quota in store.quotas.all() if refused else ():
            phantom = build_phantom(store, quota, refused, context.now_ns)
            if phantom is not None:
                built.append(phantom)
        self._note(_CONTROLLERS, built, done, gone)

    def _look_at_books(self, context: Context, dirty: Dirty, events: list[Event]) -> None:
        """Last, since a Workload of Kueue waits for what its pods were just stated to wait for. Claims as well."""
        done: list[Built] = []
        gone: list[ActorId] = []
        for key, built in look_at_workloads(context, dirty, self._said.actors):
            self._note("workload/" + key, built, done, gone)
        for key, built in look_at_claims(context):
            self._note("claim/" + key, built, done, gone)
        self._state_ends(done, gone, context.now_ns, events)
        self._said.built(done, context.now_ns, events)

    def _withdraw(self, source: str, gone: list[ActorId]) -> None:
        """A pod that was an actor of its own has joined a gang."""
        if source in self._said.actors:
            gone.append(ActorId(source))
        if source in self._watched:
            self._watch(source, ())

    def _note(self, source: str, built: list[Built], done: list[Built], gone: list[ActorId]) -> None:
        """Remember which actors this source (a gang, all controllers) states: what it no longer states is gone."""
        before = self._sources.get(source, ())
        actors = tuple(one.actor.actor for one in built)
        gone.extend(actor for actor in before if actor not in actors)
        if actors:
            self._sources[source] = actors
        else:
            self._sources.pop(source, None)
        done.extend(built)
        self._watch(source, built)

    def _watch(self, source: str, built: Sequence[Built]) -> None:
        """Remember whether this source waits, when to ask it again, and what classes of pods it waits with."""
        for known in self._classes_of.pop(source, ()):
            self._classes[known].discard(source)
            if not self._classes[known]:
                del self._classes[known]
                if isinstance(known, Company):
                    self._companies.discard(known)
        self._recheck.pop(source, None)
        if not any(one.watched for one in built):
            self._watched.discard(source)
            self._waiting.discard(source)
            return
        self._watched.add(source)
        waits = any(one.actor.wait is not None for one in built)
        (self._waiting.add if waits else self._waiting.discard)(source)
        moments = [one.recheck_ns for one in built if one.recheck_ns is not None]
        if moments:
            self._recheck[source] = min(moments)
        classes = tuple(dict.fromkeys(one for each in built for one in each.classes))
        if classes:
            self._classes_of[source] = classes
            for one in classes:
                self._classes.setdefault(one, set()).add(source)
                if isinstance(one, Company):
                    self._companies.add(one)

    # --- stating ----------------------------------------------------------------------------------------------------

    def _state_ends(self, done: list[Built], gone: list[ActorId], at_ns: int, events: list[Event]) -> None:
        """First who is gone, so that whoever takes a place is told after whoever left it."""
        now_stated = {one.actor.actor for one in done} if gone else set()
        for actor in sorted(set(gone) - now_stated):
            self._end(actor, at_ns, events)

    def _end_renewed(self, at_ns: int, events: list[Event]) -> None:
        """Of a pod that was made anew under its old name nobody may have seen the end: what it went through is over.

        Told before anything is stated of the one that is there now, so that this one stands.
        """
        for key in sorted(self.store.renewed):
            self._end(pod_actor(key), at_ns, events)
        self.store.renewed.clear()

    def _end(self, actor: ActorId, at_ns: int, events: list[Event]) -> None:
        self._said.end(actor, at_ns, events, evicted=actor.partition("/")[2] in self.store.evicted)
