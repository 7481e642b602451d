"""Drains that a disruption budget keeps from their end (mechanism C4).

A drain evicts one pod after the other, and each eviction asks the budgets of the pod. A budget that wants all its pods
ready allows none, ever. One that wants some of them allows none while too few are ready; and if those that are not
ready wait for a node, be it the one that is drained and would come back, then the drain waits for the budget, the
budget for the pods, and the pods for the drain.

That a node is drained is taken from evictions that were refused while it is cordoned (audit log), from Karpenter's
words about it, or from its deletion; a cordon alone is somebody's decision, and a tight budget alone harms nobody.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Citation, Excuse, ExcuseKind, Lifetime, Wait
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Done, Never, Request, all_of, any_of
from analyzer.sources.kubernetes.actors import Built, actor_of, cited
from analyzer.sources.kubernetes.broken_containers import BROKEN_NS, broken
from analyzer.sources.kubernetes.budgets import counts_of, lets_unready_go, selects
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.objects import Event, Node, Pod, PodDisruptionBudget
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.services import KINDS, Labels, Services
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.kubernetes.waits import constraints_for

SLOW_NS = 300 * SECOND_NS
"""Evicted pods need their time to get ready elsewhere: a budget at its limit for less than this is ordinary."""

FRESH_NS = 600 * SECOND_NS
"""Who drains tries again within seconds (kubectl: 5 s), and Karpenter repeats its event within minutes. Nothing for
longer than this: the drain was given up."""

_BUDGET = "violate the pod's disruption budget"
_KARPENTER = "FailedDraining"
_VIOLATES = re.compile(r"evicting pod ([a-z0-9.-]+)/([a-z0-9.-]+) violates a PDB")


class Sign(Struct, frozen=True):
    """That somebody drains a node: since when, until when he said so (None: it holds until it is over), and where."""

    first_ns: int
    last_ns: int | None
    said: str
    citation: Citation


class Budget(Struct, frozen=True):
    """A disruption budget, and where it stands."""

    thing: PodDisruptionBudget
    citation: Citation

    @property
    def name(self) -> str:
        return f"{self.thing.metadata.namespace or 'default'}/{self.thing.metadata.name}"


class Kept(Struct, frozen=True):
    """A pod that stays on the node: what would let it go, and the pods that its budgets wait for."""

    request: Request
    awaited: tuple[str, ...]
    citations: tuple[Citation, ...]


class Drains(Mechanism):
    """Nodes that somebody drains, and the budgets that are asked."""

    kinds = KINDS | {"Event", "Node", "PodDisruptionBudget"}

    def __init__(self) -> None:
        self._services = Services()
        self._budgets: dict[str, dict[str, Budget]] = {}
        self._broken: dict[str, str] = {}
        self._unready_of: dict[str, tuple[list[str], list[ActorId]]] = {}
        self._refused: dict[str, Sign] = {}
        self._told: dict[str, Sign] = {}
        self._deleted: dict[str, Sign] = {}

    @property
    def awake(self) -> bool:
        return bool(self._budgets) and bool(self._refused or self._told or self._deleted)

    def take(self, seen: Seen) -> None:
        """A budget, a node that is deleted, words about a drain, or whose labels a template gives."""
        match seen.object:
            case PodDisruptionBudget() as budget:
                budgets = self._budgets.setdefault(budget.metadata.namespace or "default", {})
                if seen.gone:
                    budgets.pop(budget.metadata.name, None)
                else:
                    budgets[budget.metadata.name] = Budget(budget, seen.citation)
            case Node() as node:
                name, since_ns = node.metadata.name, parse_ns(node.metadata.deletion_timestamp)
                if seen.gone or since_ns is None:
                    self._deleted.pop(name, None)
                else:
                    self._deleted[name] = Sign(since_ns, None, "", seen.citation)
                if seen.gone:
                    self._told.pop(name, None)
            case Event() as event:
                if not seen.gone:
                    self._take_event(event, seen.citation)
            case _:
                self._services.take(seen)

    def _take_event(self, event: Event, citation: Citation) -> None:
        about = event.regarding
        last_ns = parse_ns(event.last_time) or 0
        now = Sign(parse_ns(event.first_time) or last_ns, last_ns, event.message, citation)
        violated = _VIOLATES.search(event.message)
        if about.kind == "Pod" and _BUDGET in event.message:
            key = f"{event.namespace}/{about.name}"
            self._refused[key] = _continued(self._refused.get(key), now)
        elif about.kind == "Node" and event.reason == _KARPENTER:
            self._told[about.name] = _continued(self._told.get(about.name), now)
            if violated is not None:
                key = f"{violated[1]}/{violated[2]}"
                self._refused[key] = _continued(self._refused.get(key), now)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod out of the ordinary: its labels. One that goes is no longer kept."""
        self._services.see(pod, record, gone=gone)
        if gone or record.leaving is not None:
            self._refused.pop(record.key, None)
        words, _ = ("", None) if gone or record.ready else broken(pod)
        if words:
            self._broken[record.key] = words
        else:
            self._broken.pop(record.key, None)

    def look(self, store: Store, now_ns: int) -> Look:
        """The drains that are held up, and the pods that would be helped by their end."""
        self._services.begin()
        self._unready_of.clear()
        actors: list[Built] = []
        burdens: dict[str, Burden] = {}
        for node, sign in sorted(self._drained(store, now_ns).items()):
            guarded = self._guarded_on(store, node)
            kept = [found for record in guarded if (found := self._kept(store, record)) is not None]
            if not kept:
                continue
            actor = ActorId(f"drain/node/{node}")
            actors.append(_drain(actor, node, sign, kept, now_ns))
            for key in sorted({key for one in kept for key in one.awaited} - burdens.keys()):
                if now_ns - sign.first_ns >= SLOW_NS and self._is_broken(store, key, now_ns):
                    never = Never(f"its container cannot run ({self._broken[key]})")
                    wait = Wait(request=never, since_ns=store.pods[key].created_ns)
                    burdens[key] = Burden(wait=wait, certainty=Certainty.SUSPECTED, citations=(sign.citation,))
                elif node in _cordoned_for(store, store.pods.get(key)):
                    burdens[key] = Burden(instead=Done(actor), citations=(sign.citation,))
        return Look(actors=tuple(actors), burdens=burdens) if actors else NOTHING

    # --- who drains -------------------------------------------------------------------------------------------------

    def _drained(self, store: Store, now_ns: int) -> dict[str, Sign]:
        """The nodes that are being drained, each with the eldest sign."""
        found: dict[str, Sign] = {}

        def note(node: str, sign: Sign) -> None:
            if not _is_stale(sign, now_ns) and (node not in found or sign.first_ns < found[node].first_ns):
                found[node] = sign

        for node, sign in sorted(self._deleted.items()):
            note(node, sign)
        for node, sign in sorted(self._told.items()):
            if _is_stale(sign, now_ns):
                del self._told[node]
            note(node, sign)
        for key, sign in sorted(self._refused.items()):
            if _is_stale(sign, now_ns):
                del self._refused[key]
                continue
            record = store.pods.get(key)
            facts = store.candidates.nodes.get(record.node) if record is not None else None
            if record is not None and record.stage is BOUND and facts is not None and facts.cordoned:
                note(record.node, sign)
        return found

    def _guarded_on(self, store: Store, node: str) -> Iterator[PodRecord]:
        """The pods on the node that evictions ask budgets about. Costs the pods of namespaces with budgets."""
        for namespace in sorted(self._budgets):
            for key in sorted(store.index.by_namespace.get(namespace, ())):
                record = store.pods[key]
                if record.node == node and record.stage is BOUND and record.leaving is None and not _stays(record):
                    yield record

    # --- what a budget waits for ------------------------------------------------------------------------------------

    def _kept(self, store: Store, record: PodRecord) -> Kept | None:
        """Why the pod stays; None if it may go, or nobody can know. One that has not started may always go."""
        labels = self._services.labels_of(store, record)
        if labels is None or not record.running:
            return None
        budgets = [
            budget
            for _, budget in sorted(self._budgets[record.namespace].items())
            if selects(budget.thing.spec.selector, labels)
        ]
        if not budgets:
            return None
        cited_budgets = (record.citation, *(budget.citation for budget in budgets))
        if len(budgets) > 1:
            names = " and ".join(budget.name for budget in budgets)
            why = f"PodDisruptionBudgets {names} both select {record.key}, and of such a pod no eviction is allowed"
            return Kept(_or_its_end(store, record, Never(why)), (), cited_budgets)
        [budget] = budgets
        thing = budget.thing
        counts = counts_of(thing, ())
        if counts.allowed > 0 or not counts.expected or (not record.ready and lets_unready_go(thing, counts)):
            return None
        if counts.desired >= counts.expected:
            why = (
                f"PodDisruptionBudget {budget.name} allows no eviction of {record.key} while it selects"
                f" {counts.expected}, of which {counts.desired} have to be ready"
            )
            return Kept(_or_its_end(store, record, Never(why)), (), cited_budgets)
        missing = counts.desired - counts.healthy + (1 if record.ready else 0)
        unready, makers = self._unready(store, record.namespace, thing)
        if missing <= 0 or len(unready) + len(makers) < counts.expected - counts.healthy:
            return None  # others that nobody has seen may get ready
        peers = tuple(sorted({*makers, *(actor_of(store, key) for key in unready)}))
        return Kept(_or_its_end(store, record, Arrivals(peers, missing)), tuple(unready), cited_budgets)

    def _is_broken(self, store: Store, key: str, now_ns: int) -> bool:
        return key in self._broken and now_ns - store.pods[key].created_ns >= BROKEN_NS

    def _unready(self, store: Store, namespace: str, budget: PodDisruptionBudget) -> tuple[list[str], list[ActorId]]:
        """The pods of the budget that are not ready, and controllers that are short of some. Looked for once a look."""
        name = f"{namespace}/{budget.metadata.name}"
        if name not in self._unready_of:

            def fits(labels: Labels) -> bool:
                return selects(budget.spec.selector, labels)

            unready = []
            for key in sorted(store.index.by_namespace.get(namespace, ())):
                record = store.pods[key]
                if record.ready or record.leaving is not None or record.stage not in {BOUND, PENDING}:
                    continue
                labels = self._services.labels_of(store, record)
                if labels is not None and fits(labels):
                    unready.append(key)
            self._unready_of[name] = unready, self._services.makers(store, namespace, fits)
        return self._unready_of[name]


def _is_stale(sign: Sign, now_ns: int) -> bool:
    return sign.last_ns is not None and now_ns - sign.last_ns > FRESH_NS


def _continued(before: Sign | None, now: Sign) -> Sign:
    """The later of two, as old as the first if there was no long silence in between."""
    if before is None or before.last_ns is None or now.last_ns is None:
        return now
    early, late = (before, now) if before.last_ns <= now.last_ns else (now, before)
    joined = early.last_ns is not None and late.first_ns - early.last_ns <= FRESH_NS
    return Sign(min(early.first_ns, late.first_ns) if joined else late.first_ns, late.last_ns, late.said, late.citation)


def _or_its_end(store: Store, record: PodRecord, request: Request) -> Request:
    """Whoever ends by itself need not be evicted."""
    return any_of((request, Done(actor_of(store, record.key))))


def _stays(record: PodRecord) -> bool:
    """Whether a drain leaves the pod alone: a DaemonSet's, or the node's own."""
    return record.owner is not None and record.owner.kind in {"DaemonSet", "Node"}


def _cordoned_for(store: Store, record: PodRecord | None) -> tuple[str, ...]:
    """The nodes that a pod without a node could have if they were not cordoned."""
    if record is None or record.pending is None or record.leaving is not None:
        return ()
    return tuple(name for name, _ in store.candidates.choose(constraints_for(store, record, record.pending)).cordoned)


def _drain(actor: ActorId, node: str, sign: Sign, kept: list[Kept], now_ns: int) -> Built:
    excuse, recheck_ns = None, None
    if now_ns - sign.first_ns < SLOW_NS:
        text = f"{node} is being drained for less than {SLOW_NS // SECOND_NS} s"
        excuse, recheck_ns = Excuse(ExcuseKind.DRAINING, text), sign.first_ns + SLOW_NS
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=actor,
            wait=Wait(
                request=all_of(one.request for one in kept), since_ns=sign.first_ns, excuse=excuse, said=sign.said
            ),
            lifetime=Lifetime.FINITE,
            citations=cited((sign.citation, *(citation for one in kept for citation in one.citations))),
        ),
        recheck_ns=recheck_ns,
    )
