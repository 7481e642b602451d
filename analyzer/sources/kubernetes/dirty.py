"""What has to be looked at again after some observations."""

from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.pod_index import PodIndex
from analyzer.sources.kubernetes.records import PodRecord


class Dirty:
    """What has to be looked at again. `waiting`: everybody who waits, since what they may get is different.

    `arrived`: plain pods that came in and were not heard of before, by the uid of their controller; whoever is in
    `pods` as well has had something else happen to it since. `owners` (uids of controllers) and `namespaces`: all their
    pods may fare differently.
    """

    def __init__(self) -> None:
        self.pods: set[str] = set()
        self.arrived: dict[str, list[PodRecord]] = {}
        self.owners: set[str] = set()
        self.namespaces: set[str] = set()
        self.replica_sets: set[str] = set()
        self.left_sets: dict[str, str] = {}
        self.gangs: set[str] = set()
        self.nodes: set[str] = set()
        self.unknown_nodes: set[str] = set()
        self.quotas: set[tuple[str, str]] = set()
        self.claims: set[str] = set()
        self.controllers = False
        self.waiting = False

    def arrive(self, record: PodRecord) -> None:
        """A plain pod came in that nothing was heard of before."""
        owner = record.owner
        uid = "" if owner is None else owner.uid or reference_key(owner, record.namespace)
        found = self.arrived.get(uid)
        if found is None:
            self.arrived[uid] = [record]
        else:
            found.append(record)

    def widen(self, index: PodIndex) -> None:
        """Name the pods of `owners` and `namespaces`; who has just arrived is looked at anyway."""
        arrived = self.arrived
        for uid, records in arrived.items():
            owner = records[0].owner
            if owner is not None and owner.kind == "ReplicaSet":
                self.replica_sets.add(uid)
        for uid in self.owners:
            keys = index.by_owner.get(uid)
            if keys is not None:
                self.pods.update(keys.difference([record.key for record in arrived.get(uid, ())]))
        if self.namespaces:
            just_come = {record.key for records in arrived.values() for record in records}
            for name in self.namespaces:
                self.pods.update(index.by_namespace.get(name, set()) - just_come)
