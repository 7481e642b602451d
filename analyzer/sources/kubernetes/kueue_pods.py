"""The pods of Workloads, among them those that Kueue keeps from the scheduler: they wait for their Workload."""

from collections.abc import Sequence

from analyzer.model.ids import ActorId
from analyzer.sources.kubernetes.kueue import GROUP
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord, Try
from analyzer.sources.kubernetes.store import Store


def pods_of(store: Store, one: WorkloadFacts) -> list[PodRecord]:
    """The pods of the Workload that have not finished, sorted by name."""
    keys: set[str] = set()
    for owner in one.owners:
        if owner.kind == "Pod":
            keys.add(f"{one.namespace}/{owner.name}")
        else:
            for uid in store.owners.below(reference_key(owner, one.namespace)):
                keys |= store.by_owner.get(uid, set())
    found = (store.pods.get(key) for key in sorted(keys))
    return [record for record in found if record is not None and record.stage in {BOUND, PENDING}]


def _held_back(record: PodRecord) -> bool:
    pending = record.pending
    return pending is not None and pending.tried is Try.GATED and all(gate.startswith(GROUP) for gate in pending.gates)


def awaited(store: Store, records: Sequence[PodRecord]) -> tuple[ActorId, ...]:
    """The Workloads without quota for which all these pods are kept back, sorted; none if it is otherwise with any."""
    found: set[ActorId] = set()
    for record in records:
        keys = store.kueue.of_pod(store.owners, record) if store.kueue.workloads and _held_back(record) else set()
        waiting = {store.kueue.actor(one) for key in keys if (one := store.kueue.workloads[key]).waits}
        if not waiting:
            return ()
        found |= waiting
    return tuple(sorted(found))


def kept_back(store: Store) -> set[str]:
    """The pods (keys) that Kueue keeps back and whose Workloads are different now, or have gone."""
    kueue = store.kueue
    there = (kueue.workloads[key] for key in kueue.dirty if key in kueue.workloads)
    return {record.key for one in (*there, *kueue.left) for record in pods_of(store, one) if _held_back(record)}
