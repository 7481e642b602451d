"""Webhooks that nobody answers for, and the controllers that can make no pods meanwhile (mechanism C3).

A webhook with `failurePolicy: Fail` is asked before any pod is stored. If no pod stands behind its Service, nothing
that it looks at is made; and if that includes its own pods, it never will be. Two webhooks may need each other in the
same way, and so may a network plug-in and a webhook.

That a webhook is not answered is taken from what controllers say about their last try, and only as long as the Service
has no ready endpoint and the webhook is still in force for the controller's namespace.
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from analyzer.model.events import ActorObserved, Citation, Excuse, ExcuseKind, Lifetime, Wait
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Never, Request
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.budgets import selects
from analyzer.sources.kubernetes.controllers import short_of, standing_refusal
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.objects import (
    DaemonSet,
    Event,
    MutatingWebhookConfiguration,
    Namespace,
    Node,
    OwnerReference,
    Pod,
    ValidatingWebhookConfiguration,
)
from analyzer.sources.kubernetes.objects.admission import Webhook
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.owners import Owner
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.services import KINDS, Services, maker_of, said_to_have
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.kubernetes.waits import constraints_for

REFUSED_MIN_NS = 60 * SECOND_NS
"""Refused for less than this is ordinary while a webhook's pod is replaced: controllers try again after seconds."""

ABSENT_MIN_NS = 300 * SECOND_NS
"""A webhook without a Service, or with nobody to make its pods, may be half installed, or half removed, for so long."""

STALE_NS = 1800 * SECOND_NS
"""Controllers try again at least every 1,000 s (`MaxRetryDelay` of their queues); an older refusal says nothing."""

SAID_MAX = 300
_FAILED = re.compile(r'failed calling webhook "([^"]+)"')
_SERVICE = re.compile(r"https?://([a-z0-9-]+)\.([a-z0-9-]+)\.svc\b")
_NO_SERVICE = '" not found'
"""How the API server ends its words about a webhook whose Service does not exist (`service "hook" not found`)."""
_NETWORK = re.compile(r"cni plugin|NetworkPluginNotReady|network plugin is not ready", re.IGNORECASE)
"""What a node says as long as nobody has set up its network."""
_Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration


class Refused(Struct, frozen=True, kw_only=True):
    """A controller whose pods a webhook keeps from being made, by its own last words. `service`: name, namespace.

    `missing`: in these words the API server found no such Service.
    """

    kind: str
    namespace: str
    name: str
    webhook: str
    service: tuple[str, str] | None
    first_ns: int
    last_ns: int
    said: str
    missing: bool
    citation: Citation


class Unanswered(Struct, frozen=True):
    """A Service that webhooks need and that does not answer: what it waits for, and what proves that."""

    request: Request
    citations: tuple[Citation, ...] = ()

    @property
    def pods(self) -> tuple[str, ...]:
        """The pods that could answer, once they run."""
        peers = self.request.peers if isinstance(self.request, Arrivals) else ()
        return tuple(peer.removeprefix("pod/") for peer in peers if peer.startswith("pod/"))


class Webhooks(Mechanism):
    """Refused controllers, the webhooks in force, and who could answer for them."""

    kinds = KINDS | {"Event", "Namespace", "Node", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}

    def __init__(self) -> None:
        self._services = Services()
        self._refused: dict[tuple[str, str, str], Refused] = {}
        self._made_ns: dict[tuple[str, str, str], int] = {}
        self._configurations: dict[tuple[type, str], tuple[_Configuration, Citation]] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._offline: set[str] = set()

    @property
    def awake(self) -> bool:
        return bool(self._refused)

    def take(self, seen: Seen) -> None:
        """A controller's words, a webhook, a namespace's labels, or who may answer."""
        match seen.object:
            case Event() as event:
                if not seen.gone:
                    self._take_event(event, seen.citation)
            case MutatingWebhookConfiguration() | ValidatingWebhookConfiguration() as thing:
                key = (type(thing), thing.metadata.name)
                if seen.gone:
                    self._configurations.pop(key, None)
                else:
                    self._configurations[key] = (thing, seen.citation)
            case Namespace() as namespace:
                if seen.gone:
                    self._namespaces.pop(namespace.metadata.name, None)
                else:
                    self._namespaces[namespace.metadata.name] = namespace.metadata.labels
            case Node() as node:
                offline = not seen.gone and _is_offline(node)
                (self._offline.add if offline else self._offline.discard)(node.metadata.name)
            case _:
                self._services.take(seen)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod out of the ordinary: its labels."""
        self._services.see(pod, record, gone=gone)

    def look(self, store: Store, now_ns: int) -> Look:
        """The controllers that are refused, and the webhooks that they wait for."""
        self._services.begin()
        unanswered: dict[tuple[str, str], Unanswered | None] = {}
        waiting: dict[ActorId, list[tuple[Refused, Owner | None]]] = {}
        needed: dict[tuple[str, str], list[Refused]] = {}
        for key in sorted(self._refused):
            refused = self._refused[key]
            if now_ns - refused.last_ns > STALE_NS:
                del self._refused[key]
                self._made_ns.pop(key, None)
                continue
            owner = store.owners.named(*key)
            service = self._in_force(refused)
            if service is None or not _still_short(store, refused, owner):
                continue
            if service not in unanswered:
                unanswered[service] = self._unanswered(store, *service)
            if unanswered[service] is None:
                continue
            actor = controller_actor(refused.namespace, refused.name) if owner is None else maker_of(store, owner)
            waiting.setdefault(actor, []).append((refused, owner))
            needed.setdefault(service, []).append(refused)
        if not needed:
            return NOTHING
        actors = [
            _webhook(service, found, needed[service], now_ns)
            for service, found in sorted(unanswered.items())
            if found is not None and service in needed
        ]
        for actor, found_refused in sorted(waiting.items()):
            actors.append(self._controller(store, actor, found_refused, now_ns))
        daemons = tuple(
            sorted(
                actor
                for actor, pairs in waiting.items()
                if any(owner is not None and owner.kind == "DaemonSet" for _, owner in pairs)
            )
        )
        pods = sorted({pod for found in unanswered.values() if found is not None for pod in found.pods})
        helped = [key for key in pods if daemons and self._needs_network(store, key)]
        burdens = {key: Burden(instead=Arrivals(daemons, 1)) for key in helped}
        return Look(actors=tuple(actors), burdens=burdens)

    def _needs_network(self, store: Store, key: str) -> bool:
        """Whether a pod has no node only since the network of one that would do is not up: a DaemonSet brings it."""
        record = store.pods.get(key)
        if record is None or record.pending is None:
            return False
        choice = store.candidates.choose(constraints_for(store, record, record.pending))
        return not choice.among and any(name in self._offline for name, _ in choice.away)

    def _controller(
        self, store: Store, actor: ActorId, found: list[tuple[Refused, Owner | None]], now_ns: int
    ) -> Built:
        """A controller that waits for the webhook; of several ReplicaSets of a Deployment, by the one refused last."""
        refused, owner = max(found, key=lambda pair: (pair[0].last_ns, pair[0].name))
        lifetime, until_ns, label = Lifetime.UNKNOWN, None, ""
        citations = [refused.citation]
        if owner is not None:
            line = store.owners.line(OwnerReference(kind=owner.kind, name=owner.name, uid=owner.uid), owner.namespace)
            lifetime, until_ns, label = line.lifetime, line.until_ns, line.label
            citations.extend(one.citation for one in line.owners)
        first_ns = min(one.first_ns for one, _ in found)
        excuse, recheck_ns = _too_early(first_ns, REFUSED_MIN_NS, now_ns)
        service = self._in_force(refused)
        return Built(
            actor=ActorObserved(
                at_ns=now_ns,
                actor=actor,
                wait=Wait(
                    request=Arrivals((_actor(service),) if service is not None else (), 1),
                    since_ns=first_ns,
                    excuse=excuse,
                    said=refused.said,
                ),
                lifetime=lifetime,
                until_ns=until_ns,
                owner=label,
                citations=cited(citations),
            ),
            recheck_ns=recheck_ns,
        )

    # --- what is said -----------------------------------------------------------------------------------------------

    def _take_event(self, event: Event, citation: Citation) -> None:
        about = event.regarding
        key = (about.kind, event.namespace, about.name)
        last_ns = parse_ns(event.last_time) or 0
        failed = _FAILED.search(event.message)
        if failed is None or not event.reason.startswith("FailedCreate"):
            if event.reason == "SuccessfulCreate" and key in self._refused:
                self._made_ns[key] = max(last_ns, self._made_ns.get(key, 0))
                if last_ns > self._refused[key].last_ns:
                    del self._refused[key]
            return
        before = self._refused.get(key)
        if before is not None and before.last_ns > last_ns:
            return
        first_ns = parse_ns(event.first_time) or last_ns
        if before is not None and before.webhook == failed[1]:
            first_ns = min(first_ns, before.first_ns)
        first_ns = max(first_ns, self._made_ns.get(key, 0))
        service = _SERVICE.search(event.message)
        self._refused[key] = Refused(
            kind=key[0],
            namespace=key[1],
            name=key[2],
            webhook=failed[1],
            service=(service[1], service[2]) if service is not None else None,
            first_ns=first_ns,
            last_ns=last_ns,
            said=event.message[:SAID_MAX],
            missing=_NO_SERVICE in event.message,
            citation=citation,
        )

    # --- the webhook ------------------------------------------------------------------------------------------------

    def _in_force(self, refused: Refused) -> tuple[str, str] | None:
        """The Service (name, namespace) of the webhook that refuses these pods; None if it does so no longer."""
        found = list(self._named(refused.webhook))
        if not found:
            return None if self._configurations else refused.service
        for webhook in found:
            if webhook.failure_policy == "Fail" and self._looks_at(webhook, refused.namespace):
                service = webhook.client_config.service
                return (service.name, service.namespace) if service is not None else None
        return None

    def _named(self, name: str) -> Iterator[Webhook]:
        for key in sorted(self._configurations, key=lambda key: (key[0].__name__, key[1])):
            for webhook in self._configurations[key][0].webhooks:
                if webhook.name == name:
                    yield webhook

    def _looks_at(self, webhook: Webhook, namespace: str) -> bool:
        selector = webhook.namespace_selector
        if selector is None:
            return True
        labels = self._namespaces.get(namespace)
        if labels is None:
            keys = {*selector.match_labels, *(one.key for one in selector.match_expressions)}
            if keys - {"kubernetes.io/metadata.name"}:
                return True  # its labels are not in the input, and it was refused: so they fitted
            labels = {"kubernetes.io/metadata.name": namespace}
        return selects(selector, labels)

    def _unanswered(self, store: Store, name: str, namespace: str) -> Unanswered | None:
        """None if somebody answers, is about to, or cannot be known."""
        found = self._services.find(namespace, name)
        if found is None:
            missed = any(one.missing and one.service == (name, namespace) for one in self._refused.values())
            if not missed or not self._services.any_at_all:
                return None  # the API server knew it: it was not handed over
            return Unanswered(Never(f"there is no Service {namespace}/{name} to answer for it"))
        service, citation = found
        backing = self._services.answering(store, service)
        if backing.ready or not backing.known:
            return None
        citations = (citation, *backing.citations)
        if backing.peers:
            return Unanswered(Arrivals(backing.peers, 1), citations)
        why = f"no pod stands behind the Service {namespace}/{name}, and nobody makes one"
        return Unanswered(Never(why), citations)


def _webhook(service: tuple[str, str], found: Unanswered, needed: list[Refused], now_ns: int) -> Built:
    first_ns = min(one.first_ns for one in needed)
    excuse, recheck_ns = _too_early(
        first_ns, ABSENT_MIN_NS if isinstance(found.request, Never) else REFUSED_MIN_NS, now_ns
    )
    latest = max(needed, key=lambda one: (one.last_ns, one.citation))
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=_actor(service),
            wait=Wait(request=found.request, since_ns=first_ns, excuse=excuse),
            lifetime=Lifetime.ENDLESS,
            citations=cited((*found.citations, latest.citation)),
        ),
        recheck_ns=recheck_ns,
    )


def _actor(service: tuple[str, str]) -> ActorId:
    """A webhook goes by the Service that answers for it: several of one Service fare alike."""
    name, namespace = service
    return ActorId(f"webhook/{namespace}/{name}")


def _still_short(store: Store, refused: Refused, owner: Owner | None) -> bool:
    """Whether the controller still lacks the pods, and webhooks alone keep it from making them."""
    if owner is None:
        return not store.owners.knows(refused.kind, refused.namespace)
    if refused.last_ns < owner.created_ns or standing_refusal(store, owner) is not None:
        return False
    thing = owner.object
    if isinstance(thing, DaemonSet):
        return thing.status.current_number_scheduled < thing.status.desired_number_scheduled
    return short_of(store, owner) > said_to_have(store, owner)


def _is_offline(node: Node) -> bool:
    ready = next((one for one in node.status.conditions if one.type == "Ready"), None)
    return ready is not None and ready.status != "True" and _NETWORK.search(ready.message) is not None


def _too_early(first_ns: int, grace_ns: int, now_ns: int) -> tuple[Excuse | None, int | None]:
    if now_ns - first_ns >= grace_ns:
        return None, None
    return Excuse(ExcuseKind.STARTING, "its webhook has not answered for a moment only"), first_ns + grace_ns
