"""How evenly pods must lie over the values of a node label: what can be proven of it (README.md, "Company")."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from analyzer.model.requests import Pods, Request
from analyzer.sources.kubernetes.candidates import Constraints, suits, tolerated
from analyzer.sources.kubernetes.company import Spread, crowd_has
from analyzer.sources.kubernetes.objects import Deployment
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.store import Store

LOWS_MAX = 4
"""Values that must be filled up first, named in one request; of more, nothing is asked."""
Price = AbstractSet[Request]
"""What must come true before a node is open to a pod, all of it. Nothing: it is open, or will be by itself."""

FREE: Price = frozenset()


class Spreading:
    """The values that count, and how many of the crowd each has: now, and of those that stay for good."""

    def __init__(self, store: Store, constraints: Constraints, together: Sequence[Spread], spread: Spread) -> None:
        self._store = store
        self._spread = spread
        keys = {one.key for one in together}
        self.now: dict[str, int] = {}
        self._stay: dict[str, int] = {}
        self._nodes: dict[str, list[str]] = {}
        self._value_of: dict[str, str] = {}
        shut_out: set[str] = set()
        for name, facts in store.candidates.nodes.items():
            if not keys <= facts.labels.keys() or (spread.honors_affinity and not suits(constraints, facts)):
                continue
            mine = facts.labels[spread.key]
            if spread.honors_taints and (
                facts.cordoned or facts.away_since_ns is not None or not tolerated(constraints, facts)
            ):
                shut_out.add(mine)
                continue
            self.now.setdefault(mine, 0)
            self._nodes.setdefault(mine, []).append(name)
            self._value_of[name] = mine
        self._few = len(shut_out | self.now.keys()) < spread.domains_min
        members = store.neighbours.members(spread.crowd)
        self._waiting = members.waiting
        self._members = [
            (store.pods[key], value)
            for node, keys_there in members.by_node.items()
            if (value := self._value_of.get(node)) is not None
            for key in keys_there
            if store.pods[key].leaving is None
        ]
        for _, value in self._members:
            self.now[value] += 1

    def count(self, end_of: Callable[[PodRecord], Price | None]) -> None:
        """Find out which of them stay for good."""
        for record, value in self._members:
            if end_of(record) is None:
                self._stay[value] = self._stay.get(value, 0) + 1

    def fits_now(self, labels: Mapping[str, str]) -> bool:
        """Whether one pod more may come to such a node as things stand."""
        value = labels.get(self._spread.key)
        if value is None:
            return False
        fewest = 0 if self._few else min(self.now.values(), default=0)
        return self.now.get(value, 0) + self._spread.counts - fewest <= self._spread.max_skew

    def prices(
        self, place: Callable[[int, tuple[str, ...]], Pods], count: int, among: Iterable[str]
    ) -> Callable[[Mapping[str, str]], Price | None]:
        """A rule: what must come true for one pod more on a node with this label; None: it never can.

        `place`: the request of so many pods like it on such nodes.
        """
        known: dict[str, Price | None] = {}
        usable = frozenset(among)

        def price(labels: Mapping[str, str]) -> Price | None:
            value = labels.get(self._spread.key)
            if value is None:
                return None
            if value not in known:
                known[value] = self._price(value, place if count == 1 else None, usable)
            return known[value]

        return price

    def _price(
        self, value: str, place: Callable[[int, tuple[str, ...]], Pods] | None, usable: frozenset[str]
    ) -> Price | None:
        level = self._stay.get(value, 0) + self._spread.counts - self._spread.max_skew
        if level <= 0:
            return FREE
        if self._few:
            return None  # the fewest count as 0, whatever comes
        lows = {one: level - n for one, n in self.now.items() if one != value and n < level}
        lacking = sum(lows.values()) - (len(self._waiting) - self._spread.counts)
        if lacking > 0:
            return None if lacking > self._unmade() else FREE
        if not lows or place is None or len(lows) > LOWS_MAX or not self._alike():
            return FREE
        return frozenset(
            place(n, tuple(node for node in sorted(self._nodes[one]) if node in usable)) for one, n in lows.items()
        )

    def _unmade(self) -> int:
        """How many pods of the crowd, at most, are still to be made by their controllers. O(controllers)."""
        store, crowd = self._store, self._spread.crowd
        missing = 0
        for owner in store.owners.all():
            if owner.template is None or owner.over or isinstance(owner.object, Deployment):
                continue  # a Deployment makes ReplicaSets
            if crowd_has(crowd, owner.namespace, owner.template.metadata.labels, store.neighbours.namespaces):
                missing += max(0, (owner.wants or 0) - len(store.by_owner.get(owner.uid, ())))
        return missing

    def _alike(self) -> bool:
        """Whether all who wait and count ask for the same, so that what one of them needs is what each does."""
        records = [self._store.pods[key] for key in self._waiting]
        asked = {
            (record.shape, record.pending.constraints if record.pending is not None else None, record.claims)
            for record in records
        }
        return len(asked) == 1
