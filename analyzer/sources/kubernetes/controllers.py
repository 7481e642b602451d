"""Controllers whose pods a quota refuses, and quota that is booked without pods (mechanisms B2, H1).

A pod that is refused at creation never exists: only an event of its controller tells of it.
"""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Excuse, ExcuseKind, Lifetime, Wait
from analyzer.model.requests import Never, Request, Units, all_of
from analyzer.sources.kubernetes.activity import CreateRefused
from analyzer.sources.kubernetes.actors import Built, booked, cited
from analyzer.sources.kubernetes.candidates import constraints_of
from analyzer.sources.kubernetes.names import controller_actor, quota_actor
from analyzer.sources.kubernetes.objects import Job, OwnerReference
from analyzer.sources.kubernetes.owners import Owner
from analyzer.sources.kubernetes.placing import place
from analyzer.sources.kubernetes.pod_requests import shape_of
from analyzer.sources.kubernetes.quantities import units
from analyzer.sources.kubernetes.quotas import Quota
from analyzer.sources.kubernetes.records import BOUND, PENDING
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

REFUSED_MIN_NS = 60 * SECOND_NS
"""Refused for less than this is ordinary: controllers try again after seconds, and the quota's bookings lag."""

BOOKS_LATE_NS = 300 * SECOND_NS
"""The quota controller counts anew at least this often (`--resource-quota-sync-period`)."""


class Refused(Struct, frozen=True, kw_only=True):
    """A controller with a standing refusal, and how many pods it is short of. `owner` None: only its event is known."""

    kind: str
    namespace: str
    name: str
    owner: Owner | None
    short: int
    refused: CreateRefused


def short_of(store: Store, owner: Owner) -> int:
    """How many pods the controller has still to make; one where it does not say how many it wants."""
    if owner.over:
        return 0
    if owner.wants is None:
        return 1  # an operator's job: how many pods it still owes is a question of its gang
    wants = owner.wants
    if isinstance(owner.object, Job) and owner.completions is not None:
        wants = min(wants, owner.completions - owner.object.status.succeeded)
    records = (store.pods[key] for key in store.by_owner.get(owner.uid, ()))
    alive = sum(record.stage in {BOUND, PENDING} and record.leaving is None for record in records)
    return wants - alive


def standing_refusal(store: Store, owner: Owner) -> Refused | None:
    """The refusal of this controller, None if it has made pods since or is short of none."""
    refused = store.activity.refused(owner.kind, owner.namespace, owner.name)
    if refused is None or refused.last_ns < owner.created_ns:
        return None
    short = short_of(store, owner)
    if short <= 0:
        return None
    return Refused(
        kind=owner.kind, namespace=owner.namespace, name=owner.name, owner=owner, short=short, refused=refused
    )


def all_refused(store: Store) -> Iterable[Refused]:
    """Every controller with a standing refusal, sorted. One that is not in the input counts as short of one pod."""
    for kind, namespace, name in store.activity.all_refused():
        owner = store.owners.named(kind, namespace, name)
        if owner is not None:
            found = standing_refusal(store, owner)
            if found is not None:
                yield found
        elif not store.owners.knows(kind, namespace):
            refused = store.activity.refused(kind, namespace, name)
            if refused is not None:
                yield Refused(kind=kind, namespace=namespace, name=name, owner=None, short=1, refused=refused)


def refused_request(store: Store, found: Refused, count: int, now_ns: int) -> tuple[Request, Excuse | None]:
    """What is needed to make so many of the refused pods and place them, and what excuses it.

    Only what the refusal names is asked of the quota: that is what was short.
    """
    refusal = found.refused.refusal
    quota = store.quotas.find(found.namespace, refusal.quota)
    parts: list[Request] = []
    excuse = None
    if quota is None or not quota.understood:
        excuse = Excuse(
            ExcuseKind.BLIND, f"the quota {refusal.quota} is not in the input, or its scopes are not understood"
        )
    else:
        parts.extend(
            Units(quota.resource(counted), units(counted, asked) * count) for counted, asked in refusal.requested
        )
    if found.owner is not None and found.owner.template is not None and store.candidates.nodes:
        spec = found.owner.template.spec
        parts.append(place(shape_of(spec), store.candidates.choose(constraints_of(spec)).among, count))
    if excuse is None and now_ns - found.refused.first_ns < REFUSED_MIN_NS:
        excuse = Excuse(ExcuseKind.STARTING, "refused by a quota a moment ago: its controller tries again")
    return all_of(parts), excuse


def build_refused(store: Store, found: Refused, now_ns: int) -> Built:
    """The actor of a controller that cannot make pods."""
    lifetime, until_ns, name = Lifetime.FINITE if found.kind == "Job" else Lifetime.UNKNOWN, None, found.name
    citations = [found.refused.citation]
    if found.owner is not None:
        line = store.owners.line(OwnerReference(kind=found.kind, name=found.name, uid=found.owner.uid), found.namespace)
        lifetime, until_ns, name = line.lifetime, line.until_ns, line.name
        citations.extend(owner.citation for owner in line.owners)
    request, excuse = refused_request(store, found, 1, now_ns)
    refusal = found.refused.refusal
    asked = ", ".join(f"{counted}={value}" for counted, value in refusal.requested)
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=controller_actor(found.namespace, name),
            wait=Wait(
                request=request,
                since_ns=found.refused.first_ns,
                excuse=excuse,
                said=f"exceeded quota: {refusal.quota}, requested: {asked}",
            ),
            lifetime=lifetime,
            until_ns=until_ns,
            citations=cited(citations),
        ),
        recheck_ns=found.refused.first_ns + REFUSED_MIN_NS if excuse is not None else None,
    )


def _covered(store: Store, namespace: str) -> bool:
    """Whether the pods of the namespace were handed over: some are there, or those of several others are."""
    return namespace in store.index.by_namespace or len(store.index.by_namespace) > 1


def build_phantom(store: Store, quota: Quota, refused: Iterable[Refused], now_ns: int) -> Built | None:
    """The actor that stands for bookings without pods, if they are what refuses somebody; else None."""
    waiting = [
        found
        for found in refused
        if found.namespace == quota.namespace
        and found.refused.refusal.quota == quota.name
        and now_ns - found.refused.first_ns >= REFUSED_MIN_NS
    ]
    if not waiting or not quota.understood or not _covered(store, quota.namespace):
        return None
    seen: dict[str, int] = {}
    for key in store.index.by_namespace.get(quota.namespace, ()):
        record = store.pods[key]
        # The books may be late: a pod that ended lately, or cannot say when, may still stand in them.
        ended_lately = record.ended_ns is None or now_ns - record.ended_ns < BOOKS_LATE_NS
        if record.stage in {BOUND, PENDING} or ended_lately:
            for resource, amount in booked(store, record, now_ns):
                seen[resource] = seen.get(resource, 0) + amount
    hard = dict(quota.hard)
    used = dict(quota.used)
    extra: dict[str, int] = {}
    for found in waiting:
        for counted, text in found.refused.refusal.requested:
            asked, here = units(counted, text), seen.get(quota.resource(counted), 0)
            if counted in hard and here + asked <= hard[counted] < used.get(counted, 0) + asked:
                extra[counted] = used[counted] - here
    if not extra:
        return None
    what = ", ".join(f"{amount} {counted}" for counted, amount in sorted(extra.items()))
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=quota_actor(quota.namespace, quota.name),
            holds=tuple(sorted((quota.resource(counted), amount) for counted, amount in extra.items())),
            wait=Wait(
                request=Never(f"the quota books {what} more than all pods of {quota.namespace} ask for"),
                since_ns=min(found.refused.first_ns for found in waiting),
            ),
            lifetime=Lifetime.FINITE,
            certainty=Certainty.SUSPECTED,
            citations=cited((quota.citation, *(found.refused.citation for found in waiting))),
        )
    )
