"""How much quota each ClusterQueue has in use, which decides whether others have borrowed what is its own."""

from analyzer.sources.kubernetes.kueue_quota import QueueFacts, nominal_of
from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts


class Usage:
    """Sums over the Workloads that hold quota. The status of a lender says nothing of what is lent."""

    def __init__(self) -> None:
        self._used: dict[str, dict[str, int]] = {}

    def count(self, one: WorkloadFacts, sign: int) -> None:
        """Add (1) or take away (-1) what the Workload holds."""
        if one.reserved and not one.over:
            used = self._used.setdefault(one.cluster_queue, {})
            for granted in one.given:
                used[granted.resource] = used.get(granted.resource, 0) + sign * granted.units

    def standing(self, queue: QueueFacts) -> tuple[bool, bool]:
        """Whether the queue has some of its own quota left unused, and whether it uses more than its own of any."""
        used, own = self._used.get(queue.name, {}), nominal_of(queue)
        return (
            any(used.get(kind, 0) < units for kind, units in own.items()),
            any(units > own.get(kind, 0) for kind, units in used.items()),
        )
