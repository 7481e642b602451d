"""Strict queues (StrictFIFO): who stands right ahead of whom.

Kueue orders by priority, then by the time of creation, or of the eviction after which a workload came back. Times have
seconds; who came in the same second as another is not taken to stand behind it.
"""

from bisect import bisect_left
from collections.abc import Mapping, Set

from analyzer.sources.kubernetes.kueue_workloads import WorkloadFacts


def _stands(one: WorkloadFacts) -> bool:
    """Whether it stands in its queue: Kueue takes out those in back-off and those that it cannot use at all."""
    return (
        not (one.reserved or one.over or one.backing_off)
        and one.active
        and one.said.reason != "Inadmissible"
        and "namespace doesn't match" not in one.said.message
        and all(check.state in {"Pending", "Ready"} for check in one.checks)
    )


class Lines:
    """Those who stand in queues, by LocalQueue (`namespace/name`), and who of them is ahead of each in a strict one."""

    def __init__(self) -> None:
        self._standing: dict[str, dict[str, WorkloadFacts]] = {}
        self._touched: set[str] = set()
        self._in_queue: dict[str, dict[str, str]] = {}
        self._ahead: dict[str, str] = {}

    def ahead(self, key: str) -> str:
        """The last one that certainly stands ahead of this one in a strict queue; "" for none."""
        return self._ahead.get(key, "")

    def behind(self, keys: Set[str]) -> list[str]:
        """Those right behind these."""
        return sorted(key for key, ahead in self._ahead.items() if ahead in keys)

    def put(self, one: WorkloadFacts) -> None:
        """Take the workload as it is now."""
        if _stands(one):
            self._standing.setdefault(one.local_queue, {})[one.key] = one
            self._touched.add(one.local_queue)

    def drop(self, one: WorkloadFacts) -> None:
        """It is gone, or about to be put anew."""
        if self._standing.get(one.local_queue, {}).pop(one.key, None) is not None:
            self._touched.add(one.local_queue)

    def settle(self, strict: Mapping[str, str], *, everything: bool) -> list[str]:
        """Find out anew where something is different; returns the keys of those behind somebody else than before.

        `strict`: by LocalQueue, the strict ClusterQueue that it leads to. O(those who stand in queues touched).
        """
        touched, self._touched = self._touched, set()
        queues = {strict[name] for name in touched if name in strict}
        if everything:
            queues = {*strict.values(), *self._in_queue}
        changed: set[str] = set()
        for queue in sorted(queues):
            there = [
                one for name in sorted(strict) if strict[name] == queue for one in self._standing.get(name, {}).values()
            ]
            before, now = self._in_queue.pop(queue, {}), _in_order(there)
            if now:
                self._in_queue[queue] = now
            changed.update(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
        if changed:
            self._ahead = {key: ahead for each in self._in_queue.values() for key, ahead in each.items()}
        return sorted(changed)


def _in_order(standing: list[WorkloadFacts]) -> dict[str, str]:
    """By key, the one right ahead, of those who have one. At the latest place: which time counts is configuration."""
    ranks = sorted((-one.priority, max(one.created_ns, one.evicted_ns), one.key) for one in standing)
    found: dict[str, str] = {}
    for one in standing:
        at = bisect_left(ranks, (-one.priority, one.created_ns, "")) - 1
        if at >= 0:
            found[one.key] = ranks[at][2]
    return found
