"""Kueue's books: queues, cohorts and workloads as they stand, and what of them has to be looked at again."""

from collections.abc import Iterable, Mapping

from analyzer.model.events import Citation
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.custom_fields import text
from analyzer.sources.kubernetes.kueue_quota import Cohorts, QueueFacts, capacities, queue_of
from analyzer.sources.kubernetes.kueue_usage import Usage
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts, workload_of
from analyzer.sources.kubernetes.objects import Custom
from analyzer.sources.kubernetes.owners import Owners, reference_key
from analyzer.sources.kubernetes.pod_index import Index, add, discard
from analyzer.sources.kubernetes.records import PodRecord

GROUP = "kueue.x-k8s.io"


class Kueue:
    """All objects of Kueue. `dirty`: keys of Workloads to look at again. `moved`: the quota itself is different.

    `left`: Workloads that went, or changed owners, since that look.
    `unready`: keys of those that hold quota and whose pods are not known to be ready.
    """

    def __init__(self) -> None:
        self.workloads: dict[str, WorkloadFacts] = {}
        self.queues: dict[str, QueueFacts] = {}
        self.cohorts = Cohorts()
        self.dirty: set[str] = set()
        self.left: list[WorkloadFacts] = []
        self.moved = False
        self._refusing = False
        self.unready: set[str] = set()
        self._queued: set[str] = set()
        self._held_up: set[str] = set()
        self._usage = Usage()
        self._standing: dict[str, tuple[bool, bool]] = {}
        self._local: dict[str, tuple[str, bool]] = {}
        self._by_label: Index = {}
        self._by_owner: Index = {}
        self._of_pod: Index = {}
        self._units: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}

    def take(self, thing: Custom, citation: Citation, *, gone: bool) -> None:
        """Take an object as it is now; those that are not Kueue's are left alone. O(1) but for queues."""
        if thing.group != GROUP:
            return
        name = thing.metadata.name
        match thing.kind:
            case "Workload":
                self._take_workload(workload_of(thing, citation), gone=gone)
                return
            case "ClusterQueue":
                if gone:
                    self.queues.pop(name, None)
                else:
                    now = queue_of(thing, citation)
                    before = self.queues.get(name)
                    self.queues[name] = now
                    if before is not None and (before.cohort, before.offers, before.groups, before.stopped) == (
                        now.cohort,
                        now.offers,
                        now.groups,
                        now.stopped,
                    ):
                        return  # only its counts are different
            case "LocalQueue":
                key = f"{thing.metadata.namespace or 'default'}/{name}"
                now_local = (text(thing.spec, "clusterQueue"), text(thing.spec, "stopPolicy") not in {"", "None"})
                if not gone and self._local.get(key) == now_local:
                    return
                if gone:
                    self._local.pop(key, None)
                else:
                    self._local[key] = now_local
            case "Cohort":
                if gone:
                    self.cohorts.drop(name)
                else:
                    self.cohorts.put(thing)
            case _:
                return
        self.moved = True
        self.dirty.update(self.workloads)

    def _take_workload(self, now: WorkloadFacts, *, gone: bool) -> None:
        before = self.workloads.pop(now.key, None)
        if before is not None:
            self._forget(before)
            if gone or before.owners != now.owners:
                self.left.append(before)
        if not gone:
            self._keep(now)
        self.dirty.add(now.key)
        self.dirty.update(self._by_label.get(f"{now.namespace}/{now.label}", ()))
        if (now.key in self.unready) != (before is not None and before.unready_holder):
            self.dirty |= self._held_up
        for name in {now.cluster_queue, before.cluster_queue if before is not None else ""} & self.queues.keys():
            standing = self._usage.standing(self.queues[name])
            if self._standing.get(name) != standing:
                self._standing[name] = standing
                self.dirty |= self._queued

    def _keep(self, now: WorkloadFacts) -> None:
        self.workloads[now.key] = now
        add(self._by_label, f"{now.namespace}/{now.label}", now.key)
        for owner in now.owners:
            add(self._by_owner, reference_key(owner, now.namespace), now.key)
        self._usage.count(now, 1)
        if now.unready_holder:
            self.unready.add(now.key)
        if not now.reserved and not now.over:
            self._queued.add(now.key)
            if now.said.reason == "Waiting":
                self._held_up.add(now.key)

    def _forget(self, one: WorkloadFacts) -> None:
        discard(self._by_label, f"{one.namespace}/{one.label}", one.key)
        for owner in one.owners:
            discard(self._by_owner, reference_key(owner, one.namespace), one.key)
        self._usage.count(one, -1)
        for known in (self.unready, self._queued, self._held_up):
            known.discard(one.key)

    def lends(self, queue: QueueFacts) -> bool:
        """Whether Kueue may take quota back for the queue: some of its own is unused, and others have borrowed."""
        if not queue.reclaims or not self.root(queue) or not self._usage.standing(queue)[0]:
            return False
        others = (one for one in self.members(self.root(queue)) if one.name != queue.name)
        return any(self._usage.standing(one)[1] for one in others)

    def touch(self, owners: Owners, pods: Mapping[str, PodRecord], keys: Iterable[str]) -> None:
        """Something has happened to these pods: look again at the Workloads that they are, or were, of."""
        for key in keys:
            record = pods.get(key)
            if record is None:
                self.dirty |= self._of_pod.pop(key, set())
                continue
            found = self.of_pod(owners, record)
            if found:
                self._of_pod[key] = found
                self.dirty |= found

    def know_pods(self, one: WorkloadFacts, keys: Iterable[str]) -> None:
        """These pods are of the Workload: should one of them go, it is looked at again."""
        for key in keys:
            add(self._of_pod, key, one.key)

    def touch_owners(self, uids: Iterable[str]) -> None:
        """These controllers are different, so their Workloads may live longer or shorter."""
        for uid in uids:
            self.dirty |= self._by_owner.get(uid, set())

    def touch_refused(self, *, refusing: bool) -> None:
        """While another quota refuses pods, look at all who have quota here; once more when that is over."""
        if refusing or self._refusing:
            self.dirty.update(key for key, one in self.workloads.items() if one.reserved)
        self._refusing = refusing

    def of_pod(self, owners: Owners, record: PodRecord) -> set[str]:
        """The Workloads (keys) that the pod belongs to: by itself, by its controller, or by one above that."""
        found: set[str] = set(self._by_owner.get(record.uid, ())) if record.uid else set()
        if record.owner is not None:
            found |= self._by_owner.get(reference_key(record.owner, record.namespace), set())
            for owner in owners.line(record.owner, record.namespace).owners:
                if owner.parent is not None:
                    found |= self._by_owner.get(reference_key(owner.parent, record.namespace), set())
        return found

    def actor(self, one: WorkloadFacts) -> ActorId:
        """The Workload as an actor: by its owner's name, unless several go by it."""
        alike = [
            key
            for key in self._by_label.get(f"{one.namespace}/{one.label}", ())
            if key == one.key or not self.workloads[key].over
        ]
        return ActorId(f"workload/{one.namespace}/{one.label}" if len(alike) < 2 else f"workload/{one.key}")

    def queue(self, one: WorkloadFacts) -> tuple[QueueFacts | None, bool]:
        """The ClusterQueue that the Workload waits in or holds quota of, and whether a person has stopped its queue."""
        name, stopped = self._local.get(f"{one.namespace}/{one.queue}", ("", False))
        found = self.queues.get(one.cluster_queue or name)
        return found, stopped or (found is not None and found.stopped)

    def changed(self) -> dict[ResourceId, tuple[int, tuple[Citation, ...]]]:
        """All quota (units, and where it is written) if any of it is different; 0 of what there is no more."""
        if not self.moved:
            return {}
        self.moved = False
        before, self._units = self._units, capacities((one for _, one in sorted(self.queues.items())), self.cohorts)
        return {**dict.fromkeys(before, (0, ())), **self._units}

    def partial(self) -> bool:
        """Whether LocalQueues lead to ClusterQueues that were not handed over, which may be of any cohort."""
        return any(name not in self.queues for name, _ in self._local.values())

    def root(self, queue: QueueFacts) -> str:
        return self.cohorts.root(queue.cohort)

    def members(self, root: str) -> list[QueueFacts]:
        """The queues under a root cohort, sorted by name."""
        return [queue for _, queue in sorted(self.queues.items()) if root and self.root(queue) == root]
