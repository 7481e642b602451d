"""Keeps up what roll-outs do to pods, from one look at the cluster to the next."""

from analyzer.sources.kubernetes.actors import actor_of
from analyzer.sources.kubernetes.controllers import all_refused, standing_refusal
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.objects import Deployment
from analyzer.sources.kubernetes.owners import Owner, reference_key
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.rollouts import NO_PLAN, Blocked, Plan, plan_of
from analyzer.sources.kubernetes.singles import unattached
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import tried


class Rolling:
    """The plans of all roll-outs under way: by Deployment, and by pod (`plan_of`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._plans: dict[str, Plan] = {}
        self._counts: dict[str, tuple[bool, bool]] = {}
        self.plan_of: dict[str, Plan] = {}

    def spread(self, dirty: Dirty, *, refusing: bool) -> None:
        """Add to `dirty` the pods that fare differently since a ReplicaSet or its Deployment is different."""
        self._count_sets(dirty)
        self._roll(dirty, refusing=refusing)

    def _count_sets(self, dirty: Dirty) -> None:
        """Find the ReplicaSets that have more pods than they want, or siblings with pods, where that is new or over."""
        store = self._store
        touched = dirty.replica_sets
        for stem in dirty.left_sets.values():
            touched = touched | store.index.sets_of.get(stem, set())
        for uid in touched:
            keys = store.by_owner.get(uid)
            counts = None
            if keys:
                record = store.pods[next(iter(keys))]
                owner = store.owners.by_uid(uid)
                siblings = len(store.index.siblings(record))
                surplus = owner is not None and owner.wants is not None and len(keys) > owner.wants
                counts = (siblings > 1, surplus) if siblings > 1 or surplus else None
            if counts != self._counts.get(uid) or (counts is not None and counts[1]):
                dirty.pods.update(keys or ())
                if counts is None:
                    self._counts.pop(uid, None)
                else:
                    self._counts[uid] = counts
                    dirty.pods.update(
                        key for set_uid in store.index.siblings(record) for key in store.by_owner[set_uid]
                    )

    def _roll(self, dirty: Dirty, *, refusing: bool) -> None:
        """Look again at the Deployments whose pods have changed."""
        store = self._store
        touched: set[str] = set()
        if refusing and dirty.controllers:
            dirty.replica_sets.update(owner.uid for found in all_refused(store) if (owner := found.owner) is not None)
        for uid in dirty.replica_sets:
            owner = store.owners.by_uid(uid)
            if owner is not None and owner.parent is not None:
                touched.add(reference_key(owner.parent, owner.namespace))
        touched.update(self._plans)
        for uid in sorted(touched):
            plan = self._plan(uid)
            before = self._plans.get(uid, NO_PLAN)
            if plan == before:
                continue
            named = before.going | before.held | before.paused | plan.going | plan.held | plan.paused
            for key in before.going | before.held | before.paused:
                self.plan_of.pop(key, None)
            for key in plan.going | plan.held | plan.paused:
                self.plan_of[key] = plan
            dirty.pods.update(named)
            if plan == NO_PLAN:
                self._plans.pop(uid, None)
            else:
                self._plans[uid] = plan

    def _plan(self, uid: str) -> Plan:
        store = self._store
        owner = store.owners.by_uid(uid)
        if owner is None or not isinstance(owner.object, Deployment):
            return NO_PLAN
        sets = store.owners.children(uid)
        stopped = frozenset(child.uid for child in sets if standing_refusal(store, child) is not None)
        if sum(child.uid in store.by_owner for child in sets) + len(stopped) < 2:
            return NO_PLAN  # as with nearly all: nobody need look at its pods
        pods = {child.uid: self._pods_of(child) for child in sets}
        waiting = frozenset(record.key for found in pods.values() for record in found if self._blocked(record))
        return plan_of(owner.object, sets, pods, Blocked(waiting, stopped), lambda key: actor_of(store, key))

    def _pods_of(self, owner: Owner) -> list[PodRecord]:
        return [self._store.pods[key] for key in sorted(self._store.by_owner.get(owner.uid, ()))]

    def _blocked(self, record: PodRecord) -> bool:
        store = self._store
        if record.pending is not None:
            return tried(record, record.pending, store.activity.pod(record.key, record.uid))
        return bool(unattached(store, record))
