"""A scheduler that stands still behind a renewed lease, and schedulers of which there is no sign (mechanism H2).

kube-scheduler tries a new pod within moments, and writes a condition on it if it finds no place. So a pod that has
neither a node nor that condition after ten minutes was never tried. If the scheduler has renewed its lease up to the
end and has tried, bound or refused nobody since, its loop is dead while its heart beats:
`controller/kube-system/kube-scheduler` never goes on, and the pods are behind it. If it has done anything since, or
there is no lease, it is a remark at most: the pods may starve behind others, or belong to a scheduler whose signs were
not handed over.

Pods that no scheduler need try yet are left aside: gated ones, members of gangs, pods with claims for devices.
"""

from collections.abc import Mapping

from msgspec import Struct

from analyzer.model.events import ActorObserved, Citation, Lifetime, Remarked, RemarkKind, Wait
from analyzer.model.requests import Arrivals, Never
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.objects import Event, Lease, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import PENDING, PodRecord, Try
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

DEFAULT = "default-scheduler"
IDLE_NS = 600 * SECOND_NS
"""The scheduler looks at a new pod at once, and at all that it refused at least every five minutes: ten without any
attempt, with pods that it never tried, is no back-off."""
FRESH_NS = 60 * SECOND_NS
"""A leader renews its lease every two seconds and loses it after fifteen; lists are fetched one after the other."""
_LEASES = {DEFAULT: ("kube-system", "kube-scheduler")}
_SIGNS = frozenset({"Scheduled", "FailedScheduling", "Preempted"})


class Untried(Struct, frozen=True, kw_only=True):
    """A pod that its scheduler has not tried."""

    scheduler: str
    created_ns: int
    citation: Citation


class Renewed(Struct, frozen=True):
    """When a leader last renewed its lease."""

    at_ns: int
    citation: Citation


class IdleScheduler:
    """Leases, untried pods, and the last signs of each scheduler."""

    kinds = frozenset({"Lease", "Event"})

    def __init__(self) -> None:
        self._untried: dict[str, Untried] = {}
        self._leases: dict[tuple[str, str], Renewed] = {}
        self._signs: dict[str, int] = {}
        self._log_ns = 0

    @property
    def awake(self) -> bool:
        return bool(self._untried)

    def take(self, seen: Seen) -> None:
        match seen.object:
            case Lease(metadata=about, spec=spec) if about.namespace != "kube-node-lease":
                renewed_ns = parse_ns(spec.renew_time)
                if seen.gone or renewed_ns is None:
                    self._leases.pop((about.namespace, about.name), None)
                else:
                    self._leases[about.namespace, about.name] = Renewed(renewed_ns, seen.citation)
            case Event() as event if event.reason in _SIGNS:
                self._note(event.component, parse_ns(event.last_time) or 0)
            case _:
                pass

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        self._untried.pop(record.key, None)
        scheduler = pod.spec.scheduler_name or DEFAULT
        if gone or record.stage is not PENDING or record.pending is None or record.leaving is not None:
            if record.started_ns is not None and not gone:
                self._note(scheduler, record.started_ns)
            return
        if record.pending.tried is Try.REFUSED:
            self._note(scheduler, record.pending.since_ns)
        elif record.pending.tried is Try.UNTRIED and not record.pending.said and not pod.spec.resource_claims:
            self._untried[record.key] = Untried(
                scheduler=scheduler, created_ns=record.created_ns, citation=record.citation
            )

    def hear(self, said: LogStatement) -> None:
        self._log_ns = max(self._log_ns, said.at_ns)

    def _note(self, scheduler: str, at_ns: int) -> None:
        self._signs[scheduler] = max(at_ns, self._signs.get(scheduler, 0))

    def look(self, store: Store, now_ns: int) -> Look:
        waiting: dict[str, dict[str, Untried]] = {}
        for key, one in self._untried.items():
            if key not in store.gangs and not store.activity.speaks_of(key):
                waiting.setdefault(one.scheduler, {})[key] = one
        if not waiting:
            return NOTHING
        actors: list[Built] = []
        burdens: dict[str, Burden] = {}
        remarks: list[Remarked] = []
        for scheduler in sorted(waiting):
            pods = waiting[scheduler]
            if now_ns - min(one.created_ns for one in pods.values()) <= IDLE_NS:
                continue
            place = _LEASES.get(scheduler) or self._place_of(scheduler)
            lease = self._leases.get(place)
            sign_ns = self._last_sign_ns(store, scheduler)
            if sign_ns and now_ns - sign_ns <= IDLE_NS:
                continue  # it works, if not on these
            if lease is not None and now_ns - lease.at_ns <= FRESH_NS:
                built = _standing(place, lease, pods, sign_ns, now_ns)
                actors.append(built)
                needs = Arrivals((built.actor.actor,), 1)
                burdens.update({key: Burden(needs=needs, overdue=True, citations=(lease.citation,)) for key in pods})
            else:
                remarks.append(_silent(scheduler, lease, pods, now_ns))
        return Look(actors=tuple(actors), burdens=burdens, remarks=tuple(remarks))

    def _place_of(self, scheduler: str) -> tuple[str, str]:
        """Where a scheduler with a name of its own has its lease: called like it, in whatever namespace it lives."""
        places = sorted(place for place in self._leases if place[1] == scheduler)
        return places[0] if len(places) == 1 else ("kube-system", scheduler)

    def _last_sign_ns(self, store: Store, scheduler: str) -> int:
        """When the scheduler was last known to do anything. O(pods), so only asked where some are overdue."""
        own_ns = max(self._signs.get(scheduler, 0), self._log_ns)
        if scheduler != DEFAULT:
            return own_ns
        # Of an ordinary running pod it is not kept who placed it: any start counts, which errs towards silence.
        starts = (record.started_ns for record in store.pods.values() if record.started_ns is not None)
        return max(own_ns, max(starts, default=0))


def _standing(place: tuple[str, str], lease: Renewed, pods: Mapping[str, Untried], sign_ns: int, now_ns: int) -> Built:
    """The actor of a scheduler whose lease is fresh and whose loop is dead."""
    number = f"{len(pods):,} pods that it has never tried wait" if len(pods) > 1 else "a pod that it never tried waits"
    since_ns = max(sign_ns, min(one.created_ns for one in pods.values()))
    minutes = (now_ns - since_ns) // (60 * SECOND_NS)
    idle = f"has tried, bound or refused nobody for {minutes:,} minutes"
    why = f"it renews its lease, but {idle}, and {number}: restart it"
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=controller_actor(*place),
            wait=Wait(request=Never(why), since_ns=since_ns),
            lifetime=Lifetime.ENDLESS,
            citations=cited((lease.citation, *(pods[key].citation for key in sorted(pods)))),
        )
    )


def _silent(scheduler: str, lease: Renewed | None, pods: Mapping[str, Untried], now_ns: int) -> Remarked:
    """What is said of a scheduler that shows no sign of life."""
    oldest = min(pods, key=lambda key: (pods[key].created_ns, key))
    minutes = (now_ns - pods[oldest].created_ns) // (60 * SECOND_NS)
    number = f"{len(pods):,} pods" if len(pods) > 1 else "1 pod"
    if lease is None:
        why = "there is no lease, no event and no log line of a scheduler of that name: is there one?"
    else:
        why = f"its lease was last renewed {(now_ns - lease.at_ns) // SECOND_NS:,} s before the end: it is down"
    return Remarked(
        at_ns=now_ns,
        kind=RemarkKind.BLIND_SPOT,
        subject=f"scheduler/{scheduler}",
        text=f"{number} wait to be tried by {scheduler}, {oldest} for {minutes:,} minutes; {why}",
        citations=(pods[oldest].citation,),
    )
