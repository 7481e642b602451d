"""Claims for devices (DRA): what pods hold and ask for by them, added to their plain requests.

A claim of one pod is part of the pod's request; devices of an allocated claim are held by the first pod that it is
reserved for. Thus a device is a unit on a node like any other, and gangs, rings and dead ends over devices follow.
"""

from collections.abc import Iterable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.candidates import Constraints, NodeFacts, Terms
from analyzer.sources.kubernetes.custom_fields import at, count, parts, text
from analyzer.sources.kubernetes.device_slices import Slices, driver_of, slice_of
from analyzer.sources.kubernetes.objects import Custom, Pod
from analyzer.sources.kubernetes.objects.pod import NodeSelectorTerm
from analyzer.sources.kubernetes.pod_index import Index, add, discard
from analyzer.sources.kubernetes.pod_requests import Amounts, Shape
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord

GROUP = "resource.k8s.io"
_BY_CLASS = "deviceclass.resource.kubernetes.io/"
"""Before the name of a class: an extended resource that stands for devices of the class."""


class Allocated(Struct, frozen=True):
    """One device that a claim was given."""

    driver: str
    pool: str


class ClaimFacts(Struct, frozen=True, kw_only=True):
    """One claim: devices asked for by class, those given, the pods (names) that it is reserved for.

    `odd`: its requests are of a form that is not understood. `terms`: the nodes from which the given can be reached.
    """

    key: str
    namespace: str
    asks: tuple[tuple[str, int], ...]
    odd: bool
    allocated: bool
    given: tuple[Allocated, ...]
    terms: Terms
    users: tuple[str, ...]
    citation: Citation


class _Seen(Struct, frozen=True):
    """A pod with claims (keys; "" where it is not known which), and its record without devices."""

    claims: tuple[str, ...]
    plain: PodRecord


def _terms(allocation: object) -> Terms:
    try:
        found = msgspec.convert(parts(allocation, "nodeSelector", "nodeSelectorTerms"), tuple[NodeSelectorTerm, ...])
    except msgspec.ValidationError:
        return ()
    return found


def claim_of(thing: Custom, citation: Citation) -> ClaimFacts:
    """The record of a ResourceClaim (v1beta1, v1beta2, v1)."""
    namespace = thing.metadata.namespace or "default"
    asks: dict[str, int] = {}
    odd = False
    for request in parts(thing.spec, "devices", "requests"):
        exactly = at(request, "exactly") or request
        wanted = text(exactly, "deviceClassName")
        odd |= not wanted or bool(parts(request, "firstAvailable")) or at(exactly, "capacity") is not None
        if at(exactly, "adminAccess") is True:
            continue  # an observer: it takes nothing from anybody
        number = count(exactly, "count") or 1
        asks[wanted] = asks.get(wanted, 0) + (1 if text(exactly, "allocationMode") == "All" else number)
    allocation = at(thing.status, "allocation")
    given = tuple(
        Allocated(text(one, "driver"), text(one, "pool"))
        for one in parts(allocation, "devices", "results")
        if at(one, "adminAccess") is not True and not at(one, "shareID")
    )
    users = parts(thing.status, "reservedFor")
    return ClaimFacts(
        key=f"{namespace}/{thing.metadata.name}",
        namespace=namespace,
        asks=tuple(sorted(asks.items())),
        odd=odd,
        allocated=allocation is not None,
        given=given,
        terms=_terms(allocation),
        users=tuple(sorted(text(one, "name") for one in users if text(one, "resource") in {"", "pods"})),
        citation=citation,
    )


class Devices:
    """Claims, slices and classes, and the pods that have to do with them. `dirty`: claims to look at again."""

    def __init__(self) -> None:
        self.claims: dict[str, ClaimFacts] = {}
        self.slices = Slices()
        self.doubts: dict[str, str] = {}
        self.dirty: set[str] = set()
        self.classes_changed = False
        self._classes: dict[str, str] = {}
        self._counted: dict[str, str] = {}
        self._pods: dict[str, _Seen] = {}
        self._by_claim: Index = {}
        self._stale: set[str] = set()
        self._shapes: dict[tuple[Shape, Amounts], Shape] = {}

    # --- taking -----------------------------------------------------------------------------------------------------

    def take(self, thing: Custom, citation: Citation, *, gone: bool) -> None:
        """Take an object as it is now; those that are not about devices are left alone. O(its pods)."""
        if thing.group != GROUP:
            return
        name = thing.metadata.name
        match thing.kind:
            case "ResourceSlice":
                self.slices.put(name, None if gone else slice_of(thing))
            case "DeviceClass":
                self._classes.pop(name, None)
                self._counted.pop(name, None)
                if not gone:
                    self._classes[name] = driver_of(thing)
                    self._counted[name] = text(thing.spec, "extendedResourceName")
                self._stale.update(self._pods)
                self.classes_changed = True
            case "ResourceClaim":
                now = claim_of(thing, citation)
                if gone:
                    self.claims.pop(now.key, None)
                else:
                    self.claims[now.key] = now
                self.dirty.add(now.key)
                self._stale |= self._by_claim.get(now.key, set())
            case _:
                pass

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod as it is now. O(1) for one without claims."""
        before = self._pods.pop(record.key, None) if self._pods else None
        if before is not None:
            for claim in before.claims:
                discard(self._by_claim, claim, record.key)
            self.doubts.pop(record.key, None)
            self.dirty.update(before.claims)
            self._touch(before.claims)
        if gone or not pod.spec.resource_claims:
            return
        made = {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses}
        names = [one.resource_claim_name or made.get(one.name, "") for one in pod.spec.resource_claims]
        # A template may make no claim at all: then the status has an entry without a name.
        claims = tuple(
            f"{record.namespace}/{name}" if name else ""
            for name, one in zip(names, pod.spec.resource_claims, strict=True)
            if name or one.name not in made
        )
        self._pods[record.key] = _Seen(claims, record)
        for claim in claims:
            add(self._by_claim, claim, record.key)
        self.dirty.update(claims)
        self._touch(claims)
        self._stale.add(record.key)

    def _touch(self, claims: Iterable[str]) -> None:
        """Who else has these claims may hold, or ask for, their devices now."""
        for claim in claims:
            if claim:
                self._stale |= self._by_claim.get(claim, set())

    # --- what follows -----------------------------------------------------------------------------------------------

    def on_node(self, facts: NodeFacts) -> NodeFacts:
        """The node with its devices among its units."""
        devices = self.slices.on(facts.name)
        plain = [(kind, n) for kind, n in facts.units if kind not in self.slices.ever]
        units = tuple(sorted((*plain, *devices.items())))
        return facts if units == facts.units else replace(facts, units=units)

    def settle(self) -> tuple[set[str], list[PodRecord], set[str]]:
        """Nodes whose devices are different, pods whose requests may be, and pods about which a doubt has come or gone.

        O(what changed), and all pods with claims if a slice or a class has.
        """
        if self.slices.changed:
            self._stale.update(self._pods)
            self.dirty.update(self.claims)
        nodes = self.slices.settle()
        stale, self._stale = sorted(key for key in self._stale if key in self._pods), set()
        before = [self.doubts.get(key) for key in stale]
        records = [self._fit(self._pods[key]) for key in stale]
        doubted = {key for key, was in zip(stale, before, strict=True) if was != self.doubts.get(key)}
        return nodes, records, doubted

    def _fit(self, seen: _Seen) -> PodRecord:
        plain = seen.plain
        self.doubts.pop(plain.key, None)
        extra: dict[str, int] = {}
        pins: list[Terms] = []
        for key in seen.claims:
            claim = self.claims.get(key)
            if plain.stage is BOUND and claim is not None and self.holder(claim) == plain.key:
                for one in claim.given:
                    extra[one.driver] = extra.get(one.driver, 0) + 1
            elif plain.stage is PENDING and claim is not None and claim.allocated:
                pins.extend((claim.terms,) if claim.terms else ())
            elif plain.stage is PENDING:
                self._ask(plain.key, key, claim, extra)
        record = plain
        if extra:
            record = replace(record, shape=self._shape(plain.shape, tuple(sorted(extra.items()))))
        if pins and record.pending is not None:
            asked = record.pending.constraints
            pinned = Constraints(asked.selector, asked.terms, asked.tolerations, (*asked.pinned, *pins))
            record = replace(record, pending=replace(record.pending, constraints=pinned))
        return record

    def _ask(self, pod: str, key: str, claim: ClaimFacts | None, extra: dict[str, int]) -> None:
        """Add what an unallocated claim asks for; a claim of several pods is asked for by the first alone."""
        if claim is None:
            self.doubts[pod] = f"a claim for devices that it has is not in the input{f': {key}' if key else ''}"
            return
        if min(self._by_claim.get(key, {pod})) != pod:
            return
        for name, number in claim.asks:
            driver = self._classes.get(name, name if name in self.slices.drivers else "")
            doubt = self.slices.doubt(driver) if driver else f"what the DeviceClass {name} selects is not understood"
            if claim.odd or doubt:
                self.doubts[pod] = doubt or f"what the claim {key} asks for is not understood"
                return
            extra[driver] = extra.get(driver, 0) + number
        if claim.odd:
            self.doubts[pod] = f"what the claim {key} asks for is not understood"

    def doubt(self, pod: str, shape: Shape) -> str:
        """Why what the pod (key) asks for cannot be counted, "" if it can."""
        for kind, _ in shape.each:
            if kind.startswith(_BY_CLASS) or ("/" in kind and kind in self._counted.values()):
                return f"{kind} is given out of devices of a DeviceClass, which is not understood"
        return self.doubts.get(pod, "")

    def has(self, pod: str, claim: str) -> bool:
        """Whether the pod (key) says that it has the claim (key)."""
        seen = self._pods.get(pod)
        return seen is not None and claim in seen.claims

    def holder(self, claim: ClaimFacts) -> str:
        """The pod (key) that stands for all who use the claim: the first by name that has a node; "" if none has."""
        users = (f"{claim.namespace}/{name}" for name in claim.users)
        return next((key for key in users if self.has(key, claim.key) and self._pods[key].plain.stage is BOUND), "")

    def _shape(self, shape: Shape, extra: Amounts) -> Shape:
        """One object for all pods with the same plain request and the same devices."""
        found = self._shapes.get((shape, extra))
        if found is None:
            gpus = shape.gpus + sum(n for driver, n in extra if "gpu" in driver)
            each = tuple(sorted((*shape.each, *extra)))
            found = self._shapes[shape, extra] = Shape(each, shape.limits, shape.ports, gpus)
        return found
