"""ComputeDomains of NVIDIA's DRA driver: pods that start only when so many nodes have one of them (mechanism F1).

A ComputeDomain asks for `numNodes`. Its daemon comes up on every node where a pod with a channel of the domain is
placed (a claim from the domain's template), and pods are held back at `ContainerCreating` until daemons on all those
nodes have found each other: `numNodes: 4, nodes seen: 2`. So a placed pod waits for others to get places on as many
further nodes as are missing; if fewer pods than that will ever be made, it waits for ever. With `numNodes: 0` nobody
waits.
"""

from msgspec import Struct

from analyzer.model.events import Certainty, Citation, Excuse, ExcuseKind, Wait
from analyzer.model.requests import Arrivals, Never, Request, all_of
from analyzer.sources.kubernetes.actors import actor_of, cited
from analyzer.sources.kubernetes.custom_fields import count, parts, text
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.objects import Custom, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

KIND = "ComputeDomain.resource.nvidia.com"
GATHERING_NS = 300 * SECOND_NS
"""Daemons of a domain find each other within minutes, also with hundreds of nodes (eight were reported for 256)."""


class Domain(Struct, frozen=True, kw_only=True):
    """One ComputeDomain: how many nodes it asks for, how many it has seen, whether it is ready."""

    key: str
    template: str
    nodes: int
    seen: int
    ready: bool
    citation: Citation


class ComputeDomains:
    """Domains, and the pods that have a channel of one."""

    kinds = frozenset({KIND})

    def __init__(self) -> None:
        self._domains: dict[str, Domain] = {}
        self._pods: dict[str, set[str]] = {}

    @property
    def awake(self) -> bool:
        return bool(self._domains)

    def take(self, seen: Seen) -> None:
        thing = seen.object
        if not isinstance(thing, Custom):
            return
        namespace = thing.metadata.namespace or "default"
        key = f"{namespace}/{thing.metadata.name}"
        self._domains.pop(key, None)
        if not seen.gone:
            self._domains[key] = Domain(
                key=key,
                template=f"{namespace}/{text(thing.spec, 'channel', 'resourceClaimTemplate', 'name')}",
                nodes=count(thing.spec, "numNodes") or 0,
                seen=len(parts(thing.status, "nodes")),
                ready=text(thing.status, "status") == "Ready",
                citation=seen.citation,
            )

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        for claim in pod.spec.resource_claims:
            if claim.resource_claim_template_name:
                template = f"{record.namespace}/{claim.resource_claim_template_name}"
                pods = self._pods.setdefault(template, set())
                (pods.discard if gone else pods.add)(record.key)

    def hear(self, said: LogStatement) -> None:
        """The scheduler's log says nothing about domains."""

    def look(self, store: Store, now_ns: int) -> Look:
        burdens: dict[str, Burden] = {}
        for key in sorted(self._domains):
            domain = self._domains[key]
            records = [store.pods[pod] for pod in sorted(self._pods.get(domain.template, ())) if pod in store.pods]
            live = [record for record in records if record.stage in {BOUND, PENDING} and record.leaving is None]
            if domain.nodes and not domain.ready:
                burdens.update(_burdens(store, domain, live, now_ns))
        return Look(burdens=burdens) if burdens else NOTHING


def _burdens(store: Store, domain: Domain, live: list[PodRecord], now_ns: int) -> dict[str, Burden]:
    """What the pods of a domain that are held back wait for."""
    placed = {record.node for record in live if record.stage is BOUND}
    held_back = [record for record in live if record.stage is BOUND and not record.running]
    pending = [record for record in live if record.stage is PENDING]
    lacking = domain.nodes - len(placed)
    if lacking <= 0 or not held_back:
        return {}
    newest_ns = max(record.created_ns for record in live)
    missing = lacking - len(pending)
    made, sure = _all_made(store, live)
    excuse = None
    if missing > 0 and (not made or now_ns - newest_ns < GATHERING_NS):
        excuse = Excuse(ExcuseKind.STARTING, f"{missing} more pods of the ComputeDomain {domain.key} may be coming")
    burdens = {}
    for record in held_back:
        own = actor_of(store, record.key)
        peers = tuple(sorted({actor_of(store, other.key) for other in pending} - {own}))
        wanted: list[Request] = []
        if missing > 0:
            wanted.append(Never(f"the ComputeDomain {domain.key} {_numbers(domain)}, and its pods are {len(live)}"))
        if peers:
            wanted.append(Arrivals(peers, min(lacking, len(peers))))
        if wanted:
            wait = Wait(
                request=all_of(wanted),
                since_ns=record.started_ns or record.created_ns,
                excuse=excuse,
                said=f"numNodes: {domain.nodes}, nodes seen: {domain.seen}",
            )
            certainty = Certainty.PROVEN if sure or missing <= 0 else Certainty.SUSPECTED
            burdens[record.key] = Burden(wait=wait, certainty=certainty, citations=cited((domain.citation,)))
    return burdens


def _numbers(domain: Domain) -> str:
    return f"waits for {domain.nodes} nodes and has seen {domain.seen}"


def _all_made(store: Store, live: list[PodRecord]) -> tuple[bool, bool]:
    """Whether no further pod of the domain is to come, and whether a controller's word says so."""
    by_owner: dict[str, list[PodRecord]] = {}
    for record in live:
        by_owner.setdefault("" if record.owner is None else reference_key(record.owner, record.namespace), []).append(
            record
        )
    for uid, records in by_owner.items():
        if not uid:
            continue
        owner = store.owners.get(records[0].owner, records[0].namespace)
        if owner is None or owner.wants is None or owner.wants > len(records):
            return False, False
    return True, "" not in by_owner
