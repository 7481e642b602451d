"""The fast lane for actors: pods that run, belong to no gang and own nothing that others wait for.

Nearly all pods of a cluster are like that. What does not differ between pods of one controller is looked up once.
Contract: the actor is the one that `build_bound` would give, whichever way it is made.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.events import ActorObserved, Citation, Lifetime
from analyzer.model.ids import ActorId
from analyzer.sources.kubernetes.actors import HoldsCache, booked, cited, lifetime_of, lineage_of, owner_label
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.singles import Context


class _PerController(Struct, frozen=True):
    """What all pods of one controller share."""

    lifetime: Lifetime
    until_ns: int | None
    recreated: bool
    citations: tuple[Citation, ...]
    lineage: str | None  # None: each pod has its own
    owner: str


class PlainPods:
    """Builds actors of plain pods; what it remembers of controllers lasts for one look at the cluster."""

    def __init__(self, holds: HoldsCache) -> None:
        self._holds = holds
        self._controllers: dict[tuple[str, str, str], _PerController] = {}

    def begin(self) -> None:
        """A new look: controllers may be different."""
        self._controllers.clear()

    def build(self, context: Context, records: Iterable[PodRecord]) -> list[ActorObserved]:
        """The actors of these plain pods, in this order: they hold, and wait for nothing.

        Quickest where pods of one controller follow each other.
        """
        made: list[ActorObserved] = []
        store, now_ns = context.store, context.now_ns
        like: PodRecord | None = None
        for record in records:
            shape = record.shape
            if (
                like is None
                or record.owner is not like.owner
                or shape is not like.shape
                or record.restarts is not like.restarts
                or record.priority_class is not like.priority_class
                or record.namespace is not like.namespace
            ):
                like, shared = record, self._shared(context, record)
                held = self._holds.of(shape, booked(store, record, now_ns))
                lifetime, until_ns, recreated = shared.lifetime, shared.until_ns, shared.recreated
                lineage, owner, citations, gpus = shared.lineage, shared.owner, shared.citations, shape.gpus
            made.append(
                ActorObserved(
                    at_ns=now_ns,
                    actor=ActorId("pod/" + record.key),
                    holds=held[record.node],
                    lifetime=lifetime,
                    until_ns=until_ns,
                    gpus=gpus,
                    priority=record.priority,
                    preemptible=True,
                    recreated=recreated,
                    running_since_ns=record.started_ns,
                    lineage=lineage_of(store, record) if lineage is None else lineage,
                    owner=owner,
                    citations=(record.citation, *citations),
                )
            )
        return made

    def build_one(self, context: Context, record: PodRecord) -> ActorObserved:
        """The actor of a plain pod of which something may have been said."""
        made = self.build(context, (record,))[0]
        activity = context.store.activity.pod(record.key, record.uid)
        if activity is None:
            return made
        _, *owners = made.citations
        return replace(made, citations=cited((record.citation, *activity.citations(), *owners)))

    def _shared(self, context: Context, record: PodRecord) -> _PerController:
        store, owner = context.store, record.owner
        key = ("" if owner is None else reference_key(owner, record.namespace), record.namespace, record.restarts)
        found = self._controllers.get(key)
        if found is None:
            lifetime, until_ns, recreated = lifetime_of(store, record)
            owners = () if owner is None else store.owners.line(owner, record.namespace).owners
            found = self._controllers[key] = _PerController(
                lifetime,
                until_ns,
                recreated,
                tuple(one.citation for one in owners),
                None if owners and owners[0].indexed else lineage_of(store, record),
                owner_label(store, record),
            )
        return found
