"""Gangs: one actor for all members, which waits until as many of them as declared have a place."""

from collections.abc import Sequence

from msgspec import Struct

from analyzer.model.events import ActorObserved, Citation, Excuse, ExcuseKind, Lifetime, Wait
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Never, Request, all_of
from analyzer.sources.kubernetes.actors import Built, cited, lifetime_of, merged, overdue
from analyzer.sources.kubernetes.controllers import refused_request, short_of, standing_refusal
from analyzer.sources.kubernetes.gang_burdens import burdened_certainty, burdened_wait, burdens_of
from analyzer.sources.kubernetes.gangs import Gang, Terms, member_of, template_member, terms_of
from analyzer.sources.kubernetes.names import controller_actor, gang_actor, pod_actor
from analyzer.sources.kubernetes.owners import Owner, reference_key
from analyzer.sources.kubernetes.records import BOUND, SUCCEEDED, PodRecord
from analyzer.sources.kubernetes.services import maker_of
from analyzer.sources.kubernetes.singles import Context, build_bound, holds_of, live, remark_of
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import Need, foremost, need_of


class Roll(Struct, frozen=True, kw_only=True):
    """The members of a gang, sorted by how far they are. `orphans`: overdue to go, each an actor of its own."""

    bound: tuple[PodRecord, ...]
    kept: tuple[PodRecord, ...]
    pending: tuple[PodRecord, ...]
    leaving: tuple[PodRecord, ...]
    orphans: tuple[PodRecord, ...]
    succeeded: int
    recheck_ns: int | None

    @property
    def holding(self) -> tuple[PodRecord, ...]:
        return (*self.bound, *self.kept, *self.pending, *self.leaving)


def roll_of(context: Context, records: Sequence[PodRecord]) -> Roll:
    """Sort the members."""
    store = context.store
    bound: list[PodRecord] = []
    kept: list[PodRecord] = []
    pending: list[PodRecord] = []
    leaving: list[PodRecord] = []
    orphans: list[PodRecord] = []
    recheck_ns: int | None = None
    for record in live(records):
        if record.leaving is not None or record.key in store.preempted:
            why, again_ns = overdue(store, record, context.now_ns)
            (orphans if why else leaving).append(record)
            if again_ns is not None:
                recheck_ns = again_ns if recheck_ns is None else min(recheck_ns, again_ns)
        elif record.stage is BOUND:
            bound.append(record)
        elif store.reservations.get(record.key) is not None:
            kept.append(record)
        else:
            pending.append(record)
    return Roll(
        bound=tuple(bound),
        kept=tuple(kept),
        pending=tuple(pending),
        leaving=tuple(leaving),
        orphans=tuple(orphans),
        succeeded=sum(record.stage is SUCCEEDED for record in records),
        recheck_ns=recheck_ns,
    )


def makers_of(store: Store, gang: Gang, records: Sequence[PodRecord]) -> tuple[Owner, ...]:
    """The controllers that make this gang's pods, sorted by name."""
    found = {uid: owner for uid in store.makers_by_gang.get(gang.key, ()) if (owner := store.owners.by_uid(uid))}
    for record in records:
        owner = store.owners.get(record.owner, record.namespace)
        if owner is not None:
            found[owner.uid] = owner
    return tuple(sorted(found.values(), key=lambda owner: (owner.name, owner.kind, owner.uid)))


class Lack(Struct, frozen=True, kw_only=True):
    """What a gang lacks beside places for pods that exist: pods that nobody has made."""

    parts: tuple[Request, ...] = ()
    excuse: Excuse | None = None
    since_ns: int | None = None
    creators: tuple[Owner, ...] = ()
    citations: tuple[Citation, ...] = ()


def _promised(makers: Sequence[Owner], records: Sequence[PodRecord], terms: Terms) -> tuple[int | None, str]:
    """How many members there will ever be at one time, and who says so; None if nobody can know."""
    known = {owner.uid for owner in makers}
    if not makers or any(owner.wants is None for owner in makers):
        return None, ""
    if any(record.owner is None or reference_key(record.owner, record.namespace) not in known for record in records):
        return None, ""
    if not terms.apart:
        return None, ""
    total = sum(owner.wants or 0 for owner in makers)
    said = " and ".join(f"{owner.kind} {owner.name} makes {owner.wants}" for owner in makers[:3])
    return total, said


def lack_of(context: Context, gang: Gang, terms: Terms, records: Sequence[PodRecord], missing: int) -> Lack:
    """Why `missing` members do not exist: never made, refused by a quota, made one after the other, or just coming."""
    store = context.store
    makers = [owner for owner in makers_of(store, gang, records) if not owner.over]
    promised, said = _promised(makers, live(records), terms)
    if promised is not None and terms.minimum is not None and promised < terms.minimum:
        never = Never(f"{terms.declared} asks for {terms.minimum} members, but {said} pods: the rest never comes")
        return Lack(parts=(never,), citations=tuple(owner.citation for owner in makers))
    refused = [found for owner in makers if (found := standing_refusal(store, owner)) is not None]
    if refused:
        parts, excuses = [], []
        for found in refused:
            knows = found.owner is not None and found.owner.wants is not None
            count = min(missing, found.short) if knows else missing
            request, excuse = refused_request(store, found, count, context.now_ns)
            parts.append(request)
            excuses.append(excuse)
        return Lack(
            parts=tuple(parts),
            excuse=foremost(excuses),
            since_ns=min(found.refused.first_ns for found in refused),
            citations=tuple(found.refused.citation for found in refused),
        )
    short = [owner for owner in makers if short_of(store, owner) > 0] if context.stopped else []
    if short and all(maker_of(store, owner) in context.stopped for owner in short):
        peers = tuple(sorted({maker_of(store, owner) for owner in short}))
        return Lack(parts=(Arrivals(peers, 1),), citations=tuple(owner.citation for owner in short))
    ordered = [owner for owner in makers if owner.ordered and _waits_for_ready(store, owner)]
    if ordered and terms.atomic:
        peers = tuple(controller_actor(owner.namespace, owner.name) for owner in ordered)
        return Lack(
            parts=(Arrivals(tuple(sorted(peers)), len(peers)),),
            creators=tuple(ordered),
            citations=tuple(owner.citation for owner in ordered),
        )
    return Lack(excuse=Excuse(ExcuseKind.STARTING, f"{missing} of its pods are still to be made"))


def _waits_for_ready(store: Store, owner: Owner) -> bool:
    """Whether an ordered controller has a pod that is not ready, so that it makes no further one."""
    return any(not store.pods[key].ready for key in store.by_owner.get(owner.uid, ()))


def _lifetime(store: Store, roll: Roll, terms: Terms) -> tuple[Lifetime, int | None, bool]:
    lifetimes, untils, recreated = set(), [], False
    for record in roll.holding:
        lifetime, until_ns, again = lifetime_of(store, record)
        if record.leaving is None:
            lifetimes.add(lifetime)
            # A gang of a Job is stopped by deleting the Job, and then nobody makes it anew.
            recreated |= again and record.owner is not None and record.owner.kind != "Job"
            if until_ns is not None:
                untils.append(until_ns)
    kept = [found for record in roll.kept if (found := store.reservations.get(record.key)) is not None]
    if kept and not roll.bound:
        ends_ns = max(one.at_ns + (terms.permit_ns if one.timeout_ns is None else one.timeout_ns) for one in kept)
        return Lifetime.DATED, ends_ns, recreated
    for lifetime in (Lifetime.ENDLESS, Lifetime.UNKNOWN, Lifetime.FINITE):
        if lifetime in lifetimes:
            return lifetime, None, recreated
    if untils:
        return Lifetime.DATED, max(untils), recreated
    return Lifetime.FINITE, None, recreated


def _wait_of(
    context: Context, gang: Gang, terms: Terms, roll: Roll, records: Sequence[PodRecord]
) -> tuple[Wait | None, Need | None, Lack]:
    """What the gang waits for; None if it has what was declared."""
    store, now_ns = context.store, context.now_ns
    have = len(roll.bound) + len(roll.kept) + roll.succeeded
    if terms.minimum is None:
        if not roll.pending:
            return None, None, Lack()
        need = need_of(store, roll.pending, 1, now_ns, atomic=True)
        blind = Excuse(
            ExcuseKind.BLIND,
            f"how many of {gang.name} must start together stands in an object that is not in the input",
        )
        return (
            Wait(request=need.request, since_ns=need.since_ns, excuse=need.excuse or blind, said=need.said),
            need,
            Lack(),
        )
    lacking = terms.minimum - have
    if lacking <= 0:
        return None, None, Lack()
    missing = lacking - len(roll.pending)
    lack = lack_of(context, gang, terms, records, missing) if missing > 0 else Lack()
    wanted: Need | None = None
    if roll.pending:
        wanted = need_of(
            store,
            roll.pending,
            min(lacking, len(roll.pending)),
            now_ns,
            atomic=terms.atomic,
            # A scheduler that takes all or nobody does not look at a gang that is not whole.
            starting=not (terms.atomic and lack.parts),
        )
    parts = ([wanted.request] if wanted is not None else []) + list(lack.parts)
    excuses = [wanted.excuse if wanted is not None else None]
    if wanted is None or lack.parts:
        excuses.append(lack.excuse)
    sinces = [
        moment for moment in (wanted.since_ns if wanted is not None else None, lack.since_ns) if moment is not None
    ]
    return (
        Wait(
            request=all_of(parts),
            since_ns=min(sinces, default=max((record.created_ns for record in records), default=now_ns)),
            preempts=wanted.preempts if wanted is not None else False,
            excuse=foremost(excuses),
            said=wanted.said if wanted is not None else "",
        ),
        wanted,
        lack,
    )


def build_gang(context: Context, gang: Gang, records: Sequence[PodRecord]) -> list[Built]:
    """The gang's actor, its orphans, and controllers that wait for it. Empty once all members have finished."""
    store, now_ns = context.store, context.now_ns
    roll = roll_of(context, records)
    built = [build_bound(context, record, pod_actor(record.key)) for record in roll.orphans]
    if not roll.holding:
        return built
    makers = makers_of(store, gang, records)
    members = [member_of(record, store.owners) for record in records] + [
        template_member(o) for o in makers if o.template
    ]
    terms = terms_of(gang, members, store.groups, store.owners)
    wait, need, lack = _wait_of(context, gang, terms, roll, records)
    placed = (*roll.bound, *roll.kept)
    bound, pending = burdens_of(context.burdens, placed), burdens_of(context.burdens, roll.pending)
    if (bound or pending) and terms.minimum is not None:
        have = len(roll.bound) + len(roll.kept) + len(roll.pending) + roll.succeeded
        wait = burdened_wait(wait, bound, pending, have - terms.minimum)
    lifetime, until_ns, recreated = _lifetime(store, roll, terms)
    actor = gang_actor(gang.key)
    kept = [found.citation for record in roll.kept if (found := store.reservations.get(record.key)) is not None]
    holders = (*roll.bound, *roll.kept, *(record for record in roll.leaving if record.stage is BOUND))
    remarks = remark_of(actor, wait.excuse if wait is not None else None, now_ns, need)
    built.insert(
        0,
        Built(
            actor=ActorObserved(
                at_ns=now_ns,
                actor=actor,
                holds=merged([holds_of(context, record) for record in roll.holding]),
                wait=wait,
                lifetime=lifetime,
                until_ns=until_ns,
                gpus=sum(record.shape.gpus for record in holders),
                priority=max(record.priority for record in roll.holding),
                preemptible=True,
                recreated=recreated,
                certainty=burdened_certainty(terms.certainty, (*bound, *pending)),
                running_since_ns=min((r.started_ns for r in roll.bound if r.started_ns is not None), default=None),
                losses=next((one.losses for one in (*pending, *bound) if one.losses is not None), None),
                citations=cited(
                    (
                        *(record.citation for record in records),
                        *kept,
                        *(owner.citation for owner in makers),
                        *(need.citations if need is not None else ()),
                        *lack.citations,
                        *(citation for one in (*bound, *pending) for citation in one.citations),
                    )
                ),
            ),
            remarks=remarks,
            recheck_ns=_sooner(roll.recheck_ns, need.recheck_ns if need is not None else None),
            classes=need.classes if need is not None else (),
        ),
    )
    built.extend(_creator(context, owner, actor, records) for owner in lack.creators)
    return built


def _sooner(one: int | None, other: int | None) -> int | None:
    return min((moment for moment in (one, other) if moment is not None), default=None)


def _creator(context: Context, owner: Owner, gang: ActorId, records: Sequence[PodRecord]) -> Built:
    """A controller that makes its next pod only when the ones before are ready (mechanism A5)."""
    return Built(
        actor=ActorObserved(
            at_ns=context.now_ns,
            actor=controller_actor(owner.namespace, owner.name),
            wait=Wait(request=Arrivals((gang,), 1), since_ns=max(record.created_ns for record in records)),
            lifetime=Lifetime.ENDLESS,
            citations=(owner.citation,),
        )
    )
