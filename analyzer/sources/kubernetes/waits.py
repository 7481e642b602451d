"""What pods without a node wait for, and why that may be no ground for a verdict just now."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from analyzer.model.events import Citation, Excuse, ExcuseKind
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, KOutOfN, Pods, Request, Units, all_of
from analyzer.sources.kubernetes.activity import PodActivity
from analyzer.sources.kubernetes.candidates import Constraints
from analyzer.sources.kubernetes.company import Company
from analyzer.sources.kubernetes.kueue_pods import awaited
from analyzer.sources.kubernetes.names import counted
from analyzer.sources.kubernetes.openings import nobody_near, open_now
from analyzer.sources.kubernetes.placing import Sort, Terms, asker_of, places, terms_for
from analyzer.sources.kubernetes.records import Pending, PodRecord, Try
from analyzer.sources.kubernetes.rooms import Class, objection, preempts
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS
from analyzer.sources.kubernetes.withheld import PLUGIN_NS

AUTOSCALING_NS = 900 * SECOND_NS
"""A scale-up that was announced is overdue after this: the cluster autoscaler's own time limit for a new node."""
RETURN_NS = 300 * SECOND_NS
"""A node that is not ready, or was cordoned, for less than this may be back soon: `NoExecute` is tolerated as long."""
PREEMPTION_NS = 300 * SECOND_NS
"""A nomination older than this, with nobody leaving its node, is no longer preemption under way."""
PARTS_MAX = 512
"""Mixed pods of one gang, not all of them needed, listed one by one; more are asked for as the least of them."""


class Need(Struct, frozen=True, kw_only=True):
    """What some pending pods ask for together. `recheck_ns`: when time alone may change the excuse."""

    request: Request
    since_ns: int
    said: str
    preempts: bool
    excuse: Excuse | None
    recheck_ns: int | None
    classes: tuple[Class | Company, ...]
    citations: tuple[Citation, ...]


_ORDER = (
    ExcuseKind.GATED,
    ExcuseKind.PREEMPTING,
    ExcuseKind.AUTOSCALING,
    ExcuseKind.DRAINING,
    ExcuseKind.STARTING,
    ExcuseKind.BLIND,
    ExcuseKind.DISPUTED,
)

UNTRIED = Excuse(ExcuseKind.STARTING, "the scheduler has not looked at it yet")


def foremost(excuses: Iterable[Excuse | None]) -> Excuse | None:
    """The excuse to show: what somebody is doing goes before what we cannot see, and that before a mere beginning."""
    found = [excuse for excuse in excuses if excuse is not None]
    return min(found, key=lambda excuse: (excuse == UNTRIED, _ORDER.index(excuse.kind), excuse.text), default=None)


def _soonest(*moments: int | None) -> int | None:
    return min((moment for moment in moments if moment is not None), default=None)


def constraints_for(store: Store, record: PodRecord, pending: Pending) -> Constraints:
    """The pod's constraints with those of its bound volumes."""
    pinned = store.volumes.pinned(record.namespace, record.claims) if record.claims else ()
    plain = pending.constraints
    if not pinned:
        return plain
    return Constraints(plain.selector, plain.terms, plain.tolerations, (*plain.pinned, *pinned))


def tried(record: PodRecord, pending: Pending, activity: PodActivity | None) -> bool:
    """Whether the scheduler has said that there is no place: by condition, event or log."""
    return pending.tried is Try.REFUSED or (
        pending.tried is Try.UNTRIED and activity is not None and activity.unplaced is not None and not record.node
    )


def said_of(pending: Pending, activity: PodActivity | None) -> tuple[str, int]:
    """The scheduler's latest words about the pod, and since when it finds no place."""
    unplaced = activity.unplaced if activity is not None else None
    if unplaced is None:
        return pending.said, pending.since_ns
    if pending.tried is Try.REFUSED:
        return (unplaced.text if unplaced.last_ns > pending.since_ns else pending.said), pending.since_ns
    return unplaced.text, unplaced.first_ns


def _claim_units(store: Store, record: PodRecord) -> tuple[Units, ...]:
    claims = store.volumes.claims(record.namespace, record.claims)
    return tuple(Units(claim.resource, 1) for claim in claims if claim.alone)


def _nominee(store: Store, record: PodRecord, pending: Pending, now_ns: int) -> Excuse | None:
    node = pending.nominated or store.nominated.get(record.key, "")
    if not node or node not in store.candidates.nodes:
        return None
    leaving = sorted(store.leaving_on.get(node, ()))
    if leaving:
        names = ", ".join(leaving[:3]) + (", ..." if len(leaving) > 3 else "")
        return Excuse(ExcuseKind.PREEMPTING, f"it is nominated to {node}, where {names} must end first")
    if now_ns - pending.since_ns < PREEMPTION_NS:
        return Excuse(ExcuseKind.PREEMPTING, f"preemption makes room for it on {node}")
    return None


def _scaling(activity: PodActivity | None, now_ns: int) -> tuple[Excuse | None, int | None]:
    if activity is None or activity.scaling is None:
        return None, None
    scaling, refusal = activity.scaling, activity.not_scaling
    if refusal is not None and refusal.last_ns > scaling.last_ns:
        return None, None
    overdue_ns = scaling.last_ns + AUTOSCALING_NS
    if now_ns >= overdue_ns:
        return None, None
    return Excuse(ExcuseKind.AUTOSCALING, f"an autoscaler makes room: {scaling.text}"), overdue_ns


def _returning(store: Store, constraints: Constraints, now_ns: int) -> tuple[Excuse | None, int | None]:
    choice = store.candidates.choose(constraints)
    for name, since_ns in choice.away:
        if now_ns - since_ns < RETURN_NS:
            text = f"{name} is not ready, for less than {RETURN_NS // SECOND_NS} s"
            return Excuse(ExcuseKind.STARTING, text), since_ns + RETURN_NS
    for name, since_ns in choice.cordoned:
        if since_ns and now_ns - since_ns < RETURN_NS:
            return Excuse(ExcuseKind.DRAINING, f"{name} was cordoned just now"), since_ns + RETURN_NS
        going = [
            key
            for key in sorted(store.leaving_on.get(name, ()))
            if (leaving := store.pods[key].leaving) is not None
            and leaving.disruption
            and now_ns < leaving.due_ns + RETURN_NS
        ]
        if going:
            return Excuse(ExcuseKind.DRAINING, f"{name} is being drained: {going[0]} is leaving it"), now_ns + RETURN_NS
    return None, None


def _withheld(
    store: Store, record: PodRecord, constraints: Constraints, now_ns: int
) -> tuple[Excuse | None, int | None]:
    """A node that would do has what is asked for and does not offer it, for so short a time that it may do so again."""
    among = store.candidates.choose(constraints).among
    for (node, kind), (units, since_ns) in store.withheld.of(record.shape.each, among).items():
        if now_ns - since_ns < PLUGIN_NS:
            text = f"{node} offers none of its {units} {kind}: whether its device plugin is gone or just restarts, no"
            return Excuse(ExcuseKind.BLIND, f"{text} single moment tells"), since_ns + PLUGIN_NS
    return None, None


def _volume_excuse(store: Store, record: PodRecord, said: str) -> Excuse | None:
    if not record.claims:
        return None
    missing = store.volumes.missing(record.namespace, record.claims)
    if missing:
        return Excuse(
            ExcuseKind.BLIND, f"it waits for the claim {missing[0]} to be made: no such claim is in the input"
        )
    if "unbound immediate" in said:
        return Excuse(ExcuseKind.BLIND, "it waits for a claim to be bound to a volume, which is the provisioner's work")
    return None


def excuse_for(
    store: Store, record: PodRecord, pending: Pending, now_ns: int, *, together: int = 1, starting: bool = True
) -> tuple[Excuse | None, int | None]:
    """Why this pending pod is no ground for a verdict now, and when to ask again.

    `together`: as in `objection`. `starting`: whether not having been tried yet is such a reason (not for a gang that
    the scheduler will not try).
    """
    activity = store.activity.pod(record.key, record.uid)
    said, _ = said_of(pending, activity)
    if pending.tried is Try.GATED:
        return Excuse(ExcuseKind.GATED, f"scheduling gates: {', '.join(pending.gates)}"), None
    constraints = constraints_for(store, record, pending)
    nominee = _nominee(store, record, pending, now_ns)
    if nominee is not None:
        return nominee, max(now_ns, pending.since_ns) + PREEMPTION_NS
    scaling, again_ns = _scaling(activity, now_ns)
    if scaling is not None:
        return scaling, again_ns
    returning, again_ns = _returning(store, constraints, now_ns)
    if returning is not None:
        return returning, again_ns
    withheld, again_ns = _withheld(store, record, constraints, now_ns)
    if withheld is not None:
        return withheld, again_ns
    if not tried(record, pending, activity):
        return (UNTRIED, None) if starting else (None, None)
    volume = _volume_excuse(store, record, said)
    if volume is not None:
        return volume, None
    doubt = store.devices.doubt(record.key, record.shape)
    if doubt:
        return Excuse(ExcuseKind.BLIND, doubt), None
    company = store.neighbours.company_of(record)
    asker = asker_of(Sort(record.shape, constraints, (), company), terms_for(store, record, None)) if company else None
    whom = nobody_near(store, asker) if asker is not None else ""
    if whom:
        return Excuse(ExcuseKind.BLIND, f"it must be near a pod with {whom}, and there is none in the input"), None
    opened = None if asker is None else partial(open_now, store, asker)
    return (
        objection(said, record.shape, constraints, store.rooms, store.candidates, together=together, opened=opened),
        None,
    )


def need_of(
    store: Store,
    records: Sequence[PodRecord],
    count: int,
    now_ns: int,
    *,
    atomic: bool = False,
    starting: bool = True,
    priority: int = 0,
) -> Need:
    """What is needed so that `count` of these pending pods get a place. `records` is not empty."""
    queued = awaited(store, records)
    if queued:
        return _kept_back(records, queued)
    together = 1
    if atomic:
        together = count if len({record.shape for record in records}) == 1 else 0
    by_sort: dict[Sort, list[PodRecord]] = {}
    excuses: list[Excuse | None] = []
    recheck_ns: int | None = None
    sinces, words = [], []
    reach: int | None = None  # priorities below which others make room
    citations: list[Citation] = []
    for record in records:
        pending = record.pending
        if pending is None:
            continue
        activity = store.activity.pod(record.key, record.uid)
        said, since_ns = said_of(pending, activity)
        sort = Sort(
            record.shape,
            constraints_for(store, record, pending),
            _claim_units(store, record) if record.claims else (),
            store.neighbours.company_of(record),
        )
        by_sort.setdefault(sort, []).append(record)
        sinces.append(since_ns)
        words.append(said)
        importance = priority or record.priority
        if preempts(said, importance, never=pending.never_preempts):
            reach = importance if reach is None else max(reach, importance)
        excuse, again_ns = excuse_for(store, record, pending, now_ns, together=together, starting=starting)
        excuses.append(excuse)
        recheck_ns = _soonest(recheck_ns, again_ns)
        citations.append(record.citation)
        citations.extend(activity.citations() if activity is not None else ())
    # Fewer than all are needed: those who are excused may be just the ones that go on.
    excused = foremost(excuses) if sum(excuse is None for excuse in excuses) < count else None
    terms = {
        sort: terms_for(store, found[0], reach) if sort.company is not None else Terms()
        for sort, found in by_sort.items()
    }
    return Need(
        request=_request(store, by_sort, count, len(records), terms),
        since_ns=min(sinces, default=0),
        said=next((text for text in words if text), ""),
        preempts=reach is not None,
        excuse=excused,
        recheck_ns=recheck_ns,
        classes=(
            *dict.fromkeys((sort.shape, sort.constraints) for sort in by_sort),
            *dict.fromkeys(sort.company for sort in by_sort if sort.company is not None),
        ),
        citations=tuple(citations),
    )


def _kept_back(records: Sequence[PodRecord], workloads: tuple[ActorId, ...]) -> Need:
    """What pods need that Kueue keeps back until their Workloads have quota."""
    return Need(
        request=Arrivals(workloads, len(workloads)),
        since_ns=min(record.created_ns for record in records),
        said="",
        preempts=False,
        excuse=None,
        recheck_ns=None,
        classes=(),
        citations=tuple(record.citation for record in records),
    )


def _request(
    store: Store, by_sort: Mapping[Sort, list[PodRecord]], count: int, total: int, terms: Mapping[Sort, Terms]
) -> Request:
    if count >= total or (len(by_sort) == 1 and not next(iter(by_sort)).claims):
        parts: list[Request] = []
        for sort, records in by_sort.items():
            parts.append(places(store, sort, min(count, len(records)), terms[sort]))
            parts.extend(Units(claim.resource, claim.count * len(records)) for claim in sort.claims)
        return all_of(parts)
    if total > PARTS_MAX:
        return _least(store, by_sort, count)
    singles: list[Request] = []
    for sort, records in by_sort.items():
        one = all_of((places(store, sort, 1, terms[sort]), *sort.claims))
        singles.extend(one for _ in records)
    return KOutOfN(count, tuple(singles))


def _least(store: Store, by_sort: Iterable[Sort], count: int) -> Request:
    """So many pods that ask for no more than any of these, anywhere where one of them may go: at most as much."""
    sorts = list(by_sort)
    shapes = [dict(sort.shape.each) for sort in sorts]
    kinds = sorted(set(shapes[0]).intersection(*shapes))
    each = tuple((counted(kind), min(shape[kind] for shape in shapes)) for kind in kinds)
    nodes = {node for sort in sorts for node in store.candidates.choose(sort.constraints).among}
    return Pods(count, tuple(sorted(each)), tuple(sorted(nodes)))
