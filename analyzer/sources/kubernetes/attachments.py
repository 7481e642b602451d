"""How many volumes a node can attach (CSI), as units of the node that pods with claims take.

A node has so many `DRIVER/attachments` as its CSINode says. A volume that several pods of a node share is counted for
the first of them alone, and one that several pods have is asked for by nobody: both let us see more room than there
is, never less.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from analyzer.sources.kubernetes.candidates import NodeFacts
from analyzer.sources.kubernetes.custom_fields import count, parts, text
from analyzer.sources.kubernetes.objects import Custom
from analyzer.sources.kubernetes.pod_index import Index
from analyzer.sources.kubernetes.pod_requests import Amounts, Shape
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.volumes import Volumes

SUFFIX = "/attachments"
UNBOUNDED = 1_000_000
"""What a node has of a driver that says no limit there, or is not there: more than any pod asks for."""


class Attachments:
    """Limits by node, and what pods take of them."""

    def __init__(self, pods: Mapping[str, PodRecord], by_claim: Index, volumes: Volumes) -> None:
        self._pods = pods
        self._by_claim = by_claim
        self._volumes = volumes
        self._limits: dict[str, dict[str, int]] = {}
        self._shapes: dict[tuple[Shape, Amounts], Shape] = {}
        self.drivers: frozenset[str] = frozenset()
        self._stale: set[str] = set()
        self._stale_nodes: set[str] | None = set()  # None: all

    def take(self, thing: Custom, *, gone: bool) -> None:
        """Take a CSINode as it is now; other objects are left alone. O(1) unless a driver is new."""
        if thing.kind != "CSINode" or thing.group != "storage.k8s.io":
            return
        name = thing.metadata.name
        now: dict[str, int] = {}
        for driver in () if gone else parts(thing.spec, "drivers"):
            limit = count(driver, "allocatable", "count")
            if limit is not None and text(driver, "name"):
                now[text(driver, "name")] = limit
        if now == self._limits.get(name, {}):
            return
        if self._stale_nodes is not None:
            self._stale_nodes.add(name)
        if now:
            self._limits[name] = now
        else:
            self._limits.pop(name, None)
        drivers = frozenset(driver for found in self._limits.values() for driver in found)
        if drivers != self.drivers:
            self.drivers = drivers
            self._stale_nodes = None
            self._stale.update(key for keys in self._by_claim.values() for key in keys)

    def on_node(self, facts: NodeFacts) -> NodeFacts:
        """The node with its limits among its units."""
        if not self.drivers and not any(kind.endswith(SUFFIX) for kind, _ in facts.units):
            return facts
        limits = self._limits.get(facts.name, {})
        plain = ((kind, n) for kind, n in facts.units if not kind.endswith(SUFFIX))
        more = ((driver + SUFFIX, limits.get(driver, UNBOUNDED)) for driver in self.drivers)
        units = tuple(sorted((*plain, *more)))
        return facts if units == facts.units else replace(facts, units=units)

    def touch(self, record: PodRecord) -> None:
        """The pod came, went or changed: whoever shares a claim with it may count a volume, or no longer."""
        if self.drivers and record.claims:
            for claim in record.claims:
                self._stale.update(self._by_claim.get(f"{record.namespace}/{claim}", ()))

    def touch_claim(self, claim: str) -> None:
        """The claim (key), its volume or its class is different; "" for any."""
        if self.drivers:
            keys = self._by_claim.get(claim, ()) if claim else {key for keys in self._by_claim.values() for key in keys}
            self._stale.update(keys)

    def settle(self, nodes: Iterable[str]) -> tuple[list[str], list[PodRecord]]:
        """Which of the nodes have other limits, and pods that take another number of attachments, as they are now.

        O(what may be different).
        """
        changed = sorted(nodes if self._stale_nodes is None else self._stale_nodes.intersection(nodes))
        self._stale_nodes = set()
        stale, self._stale = sorted(self._stale), set()
        found = []
        for key in stale:
            record = self._pods.get(key)
            if record is not None and record.stage in {BOUND, PENDING}:
                now = self._fit(record)
                if now is not record:
                    found.append(now)
        return changed, found

    def _fit(self, record: PodRecord) -> PodRecord:
        wanted: dict[str, int] = {}
        for claim in self._volumes.claims(record.namespace, record.claims):
            driver = self._volumes.driver(claim)
            if driver in self.drivers and self._counts(record, claim.key):
                wanted[driver + SUFFIX] = wanted.get(driver + SUFFIX, 0) + 1
        shape = record.shape
        extra = tuple(sorted(wanted.items()))
        if tuple(one for one in shape.each if one[0].endswith(SUFFIX)) == extra:
            return record
        found = self._shapes.get((shape, extra))
        if found is None:
            plain = (one for one in shape.each if not one[0].endswith(SUFFIX))
            found = Shape(tuple(sorted((*plain, *extra))), shape.limits, shape.ports, shape.gpus)
            self._shapes[shape, extra] = found
        return replace(record, shape=found)

    def _counts(self, record: PodRecord, claim: str) -> bool:
        """Whether this pod is the one that takes an attachment for the claim."""
        bound = [
            other
            for key in self._by_claim.get(claim, ())
            if (other := self._pods.get(key)) is not None and other.stage is BOUND
        ]
        if record.stage is PENDING:
            return self._by_claim.get(claim, set()) <= {record.key}
        return record.key == min((other.key for other in bound if other.node == record.node), default=record.key)
