"""What each ClusterQueue has in use, and by whom: it decides whether others have borrowed what is its own."""

from collections.abc import Iterator

from analyzer.sources.kubernetes.kueue_quota import QueueFacts, nominal_of
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts


class Usage:
    """Sums over the Workloads that hold quota. The status of a lender says nothing of what is lent."""

    def __init__(self) -> None:
        self._used: dict[str, dict[str, int]] = {}
        self._by: dict[str, dict[str, WorkloadFacts]] = {}

    def count(self, one: WorkloadFacts, sign: int) -> None:
        """Add (1) or take away (-1) what the Workload holds."""
        if not one.reserved or one.over:
            return
        used = self._used.setdefault(one.cluster_queue, {})
        for granted in one.given:
            used[granted.resource] = used.get(granted.resource, 0) + sign * granted.units
        holders = self._by.setdefault(one.cluster_queue, {})
        if sign > 0:
            holders[one.key] = one
        else:
            holders.pop(one.key, None)

    def all(self) -> Iterator[WorkloadFacts]:
        """All who hold quota, by queue and name."""
        for queue in sorted(self._by):
            for key in sorted(self._by[queue]):
                yield self._by[queue][key]

    def standing(self, queue: QueueFacts) -> tuple[bool, bool]:
        """Whether the queue has some of its own quota left unused, and whether it uses more than its own of any."""
        used, own = self._used.get(queue.name, {}), nominal_of(queue)
        return (
            any(used.get(kind, 0) < units for kind, units in own.items()),
            any(units > own.get(kind, 0) for kind, units in used.items()),
        )

    def lowest(self, queue: str) -> int:
        """The lowest priority of those who hold quota of the queue, which holds some."""
        return min((one.priority for one in self._by.get(queue, {}).values()), default=0)

    def newer(self, queue: str, than: WorkloadFacts) -> bool:
        """Whether somebody of the same priority who came later holds quota of the queue."""
        holders = self._by.get(queue, {}).values()
        return any(one.priority == than.priority and one.created_ns > than.created_ns for one in holders)
