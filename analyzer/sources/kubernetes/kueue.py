"""Kueue's books: queues, cohorts and workloads as they stand, and what of them has to be looked at again."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from analyzer.model.events import Citation
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.custom_fields import text
from analyzer.sources.kubernetes.kueue_heard import Heard
from analyzer.sources.kubernetes.kueue_order import Lines
from analyzer.sources.kubernetes.kueue_quota import QueueFacts, queue_of
from analyzer.sources.kubernetes.kueue_tree import Branch, Tree, cohort_of
from analyzer.sources.kubernetes.kueue_usage import Usage
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts, workload_of
from analyzer.sources.kubernetes.objects import Custom, Event
from analyzer.sources.kubernetes.owners import Owners, reference_key
from analyzer.sources.kubernetes.pod_index import Index, add, discard
from analyzer.sources.kubernetes.records import PodRecord

GROUP = "kueue.x-k8s.io"


class Kueue:
    """All objects of Kueue. `dirty`: keys of Workloads to look at again. `moved`: the quota itself is different.

    `left`: Workloads that went, or changed owners, since that look.
    `shown`: whether any Workload was ever in the input; else only events speak of them.
    `unready`: keys of those that hold quota and whose pods are not known to be ready.
    """

    def __init__(self) -> None:
        self.workloads: dict[str, WorkloadFacts] = {}
        self.queues: dict[str, QueueFacts] = {}
        self.cohorts: dict[str, Branch] = {}
        self.flavors: dict[str, Custom] = {}
        self.lines = Lines()
        self.heard = Heard()
        self.shown = False
        self.dirty: set[str] = set()
        self.left: list[WorkloadFacts] = []
        self.moved = False
        self._refusing = False
        self.unready: set[str] = set()
        self._queued: set[str] = set()
        self._held_up: set[str] = set()
        self._usage = Usage()
        self._standing: dict[str, tuple[bool, bool]] = {}
        self._by_holder = False
        self._local: dict[str, tuple[str, bool]] = {}
        self._by_label: Index = {}
        self._by_owner: Index = {}
        self._of_pod: Index = {}
        self._units: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
        self._tree: Tree | None = None
        self._names: dict[str, ActorId] = {}
        self._renamed: set[str] = set()
        self._stale = True

    def take(self, thing: Custom, citation: Citation, *, gone: bool) -> None:
        """Take an object as it is now; those that are not Kueue's are left alone. O(1) but for queues."""
        if thing.group != GROUP:
            return
        name = thing.metadata.name
        match thing.kind:
            case "Workload":
                self.shown = True
                self._take_workload(workload_of(thing, citation), gone=gone)
                return
            case "ClusterQueue":
                if gone:
                    self.queues.pop(name, None)
                else:
                    now = queue_of(thing, citation)
                    before = self.queues.get(name)
                    self.queues[name] = now
                    if before is not None and replace(before, citation=citation) == now:
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
            case "ResourceFlavor":
                if gone:
                    self.flavors.pop(name, None)
                else:
                    self.flavors[name] = thing
                return  # Kueue has told its Workloads already which of them suit
            case "Cohort":
                if gone:
                    self.cohorts.pop(name, None)
                else:
                    self.cohorts[name] = cohort_of(thing)
            case _:
                return
        self.moved = self._stale = True
        self._tree = None
        self._by_holder = any(
            one.within == "LowerOrNewerEqualPriority" or one.reclaims == "LowerPriority" for one in self.queues.values()
        )
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
        self._name_anew(now if before is None else before)
        self._name_anew(now)
        if gone:
            self._names.pop(now.key, None)
            self.heard.forget(now.key)
        if (now.key in self.unready) != (before is not None and before.unready_holder):
            self.dirty |= self._held_up
        for name in {now.cluster_queue, before.cluster_queue if before is not None else ""} & self.queues.keys():
            standing = self._usage.standing(self.queues[name])
            if self._standing.get(name) != standing or self._by_holder:
                self._standing[name] = standing
                self.dirty |= self._queued

    def _name_anew(self, one: WorkloadFacts) -> None:
        """Those who go by one owner's name are looked at again, and whoever waits for them if their names change."""
        alike = self._by_label.get(f"{one.namespace}/{one.label}", set())
        self.dirty.update(alike)
        for key in alike:
            name = self.actor(self.workloads[key])
            if self._names.get(key) != name:
                self._names[key] = name
                self._renamed.add(key)

    def _keep(self, now: WorkloadFacts) -> None:
        self.workloads[now.key] = now
        add(self._by_label, f"{now.namespace}/{now.label}", now.key)
        for owner in now.owners:
            add(self._by_owner, reference_key(owner, now.namespace), now.key)
        self._usage.count(now, 1)
        self.lines.put(now)
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
        self.lines.drop(one)
        for known in (self.unready, self._queued, self._held_up):
            known.discard(one.key)

    def hear(self, event: Event, citation: Citation) -> None:
        """Take an event, be it about a Workload or not. O(1)."""
        key = self.heard.take(event, citation)
        if key:
            self.dirty.add(key)

    def holders(self) -> Iterator[WorkloadFacts]:
        """All who hold quota, in a fixed order."""
        return self._usage.all()

    def may_reclaim(self, queue: QueueFacts, priority: int) -> bool:
        """Whether Kueue may take quota back for this: some of the queue's own is unused, and others have borrowed.

        With the policy LowerPriority only from workloads of lower priority.
        """
        if not queue.reclaims or not queue.cohort or not self._usage.standing(queue)[0]:
            return False
        root = self.tree.path(queue.name)[-1]
        others = (one for _, one in sorted(self.queues.items()) if one.name != queue.name and one.cohort)
        borrowers = (one for one in others if self.tree.path(one.name)[-1] == root and self._usage.standing(one)[1])
        return any(queue.reclaims != "LowerPriority" or self._usage.lowest(one.name) < priority for one in borrowers)

    def may_displace(self, queue: QueueFacts, one: WorkloadFacts) -> bool:
        """Whether its queue lets it preempt a workload of the same priority that came later, and there is one."""
        return queue.within == "LowerOrNewerEqualPriority" and self._usage.newer(queue.name, one)

    @property
    def tree(self) -> Tree:
        """The cohorts and queues as they are now."""
        if self._tree is None:
            self._tree = Tree({name: queue.branch for name, queue in self.queues.items()}, self.cohorts)
        return self._tree

    def ringed(self, queue: QueueFacts) -> bool:
        """Whether the cohorts above the queue lead into a ring."""
        kind, name = self.tree.path(queue.name)[-1]
        above = queue.cohort if kind == "cluster-queue" else self.cohorts[name].above if name in self.cohorts else ""
        return above in self.tree.rings

    def settle(self) -> None:
        """Mark those who stand behind somebody else in a strict queue than before, or behind one of another name."""
        strict = {
            local: name for local, (name, _) in self._local.items() if name in self.queues and self.queues[name].strict
        }
        everything, self._stale = self._stale, False
        self.dirty.update(self.lines.settle(strict, everything=everything))
        renamed, self._renamed = self._renamed, set()
        if renamed:
            self.dirty |= self._held_up
            self.dirty.update(self.lines.behind(renamed))

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
        name, stopped = self._local.get(one.local_queue, ("", False))
        found = self.queues.get(one.cluster_queue or name)
        return found, stopped or (found is not None and found.stopped)

    def changed(self) -> dict[ResourceId, tuple[int, tuple[Citation, ...]]]:
        """All quota (units, and where it is written) if any of it is different; 0 of what there is no more."""
        if not self.moved:
            return {}
        self.moved = False
        before, self._units = self._units, self.tree.capacities()
        return {**dict.fromkeys(before, (0, ())), **self._units}

    def partial(self) -> bool:
        """Whether LocalQueues lead to ClusterQueues that were not handed over, which may be of any cohort."""
        return any(name not in self.queues for name, _ in self._local.values())
