"""What is kept of a Workload of Kueue (v1beta1, v1beta2): what it asks, what it was given, and how often in vain.

Conditions are believed only as far as others bear them out: "Admitted" says nothing about placement, the text of a
waiting Workload may be that of its last eviction, and quota is held as long as `status.admission` stands there.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.custom_fields import Stated, amounts, at, conditions, count, parts, text
from analyzer.sources.kubernetes.kueue_quota import Ask
from analyzer.sources.kubernetes.objects import Custom, OwnerReference, PodTemplate
from analyzer.sources.kubernetes.objects.pod import PodSpec
from analyzer.sources.kubernetes.pod_requests import shape_of
from analyzer.sources.kubernetes.records import controller_of
from analyzer.sources.kubernetes.times import parse_ns

UNSAID = Stated(holds=False, reason="", message="", since_ns=0)
LOOPING = frozenset({"PodsReadyTimeout", "Preempted", "AdmissionCheck", "NodeFailures"})
"""Reasons of evictions after which Kueue tries the same anew by itself."""

ROUND_MIN_NS = 2_000_000_000
"""No round is shorter: Kueue's back-off begins with seconds."""

_BARRED = (
    re.compile(r"flavor (\S+) doesn't match node affinity"),
    re.compile(r"untolerated taint .*? in flavor (\S+?)(?:,|;|$)"),
    re.compile(r"flavor (\S+) not found"),
)


class Granted(Struct, frozen=True):
    """Quota that is held: so many units of the resource in the flavour."""

    flavor: str
    resource: str
    units: int


class Rounds(Struct, frozen=True):
    """Evictions so far, with the times of the first (at the earliest) and the last."""

    count: int
    first_ns: int
    last_ns: int


class Part(Struct, frozen=True):
    """So many pods of one template; `fewest` would do (partial admission)."""

    count: int
    fewest: int
    spec: PodSpec


class Check(Struct, frozen=True):
    """What an admission check says of the workload: Pending, Ready, Retry or Rejected, and why."""

    name: str
    state: str
    message: str


class WorkloadFacts(Struct, frozen=True, kw_only=True):
    """One Workload. `label`: what people call it, its owner's name. `queue`: its LocalQueue.

    `given` is held of `cluster_queue` while `reserved`; with quota it is `admitted` once all `checks` are Ready.
    `retry_ns`: the end of its back-off, and `backing_off` until Kueue says that it is over. `ready`: its pods are, or
    have ended. `barred`: flavours that Kueue rules out for it.
    """

    key: str
    namespace: str
    label: str
    owner: OwnerReference | None
    owners: tuple[OwnerReference, ...]
    queue: str
    cluster_queue: str
    priority: int
    created_ns: int
    over: bool
    active: bool
    reserved: bool
    admitted: bool
    checks: tuple[Check, ...]
    given: tuple[Granted, ...]
    asks: tuple[Ask, ...]
    parts: tuple[Part, ...]
    said: Stated
    evicted: Stated
    evicted_ns: int
    backing_off: bool
    ready: bool
    unready: bool
    retry_ns: int | None
    rounds: Rounds | None
    barred: frozenset[str]
    limit_s: int | None
    citation: Citation

    @property
    def rejected(self) -> str:
        """Why an admission check has put an end to it, in Kueue's words; "" if none has.

        Kueue then deactivates it, as a person may do, too.
        """
        if not self.active:
            return self.evicted.message if self.evicted.reason == "DeactivatedDueToAdmissionCheck" else ""
        found = next((check for check in self.checks if check.state == "Rejected"), None)
        return "" if found is None else f"{found.name}: {found.message}"

    @property
    def waits(self) -> bool:
        """Whether it wants quota and has none."""
        return not (self.reserved or self.over) and (self.active or bool(self.rejected))

    @property
    def local_queue(self) -> str:
        """Its LocalQueue as `namespace/name`."""
        return f"{self.namespace}/{self.queue}"

    @property
    def unready_holder(self) -> bool:
        """Whether it has quota, and nobody says that its pods are ready."""
        return self.reserved and not self.over and not self.ready


def _template(pod_set: object) -> PodSpec:
    try:
        return msgspec.convert(at(pod_set, "template"), PodTemplate, strict=False).spec
    except (msgspec.ValidationError, TypeError):
        return PodSpec()


def _part(pod_set: object) -> Part:
    total = count(pod_set, "count")
    total = 1 if total is None else total
    fewest = count(pod_set, "minCount")
    return Part(total, total if fewest is None else min(fewest, total), _template(pod_set))


def _asks(thing: Custom, pod_sets: Sequence[Part]) -> tuple[Ask, ...]:
    """Totals by pod set: as Kueue counts them where it says so, else by the templates."""
    names = [text(one, "name") for one in parts(thing.spec, "podSets")]
    by_name = dict(zip(names, pod_sets, strict=True))
    said = {text(one, "name"): amounts(one, "resources") for one in parts(thing.status, "resourceRequests")}
    found = []
    for name, made in by_name.items():
        total = said.get(name)
        if total is None:
            total = tuple((kind, n * made.count) for kind, n in shape_of(made.spec).each)
        if made.fewest < made.count:
            total = tuple((kind, n * made.fewest // made.count) for kind, n in total)
        found.append(Ask(name, total))
    return tuple(found)


def _given(thing: Custom) -> tuple[Granted, ...]:
    """Quota that is booked: what pods that have ended gave back ahead of the rest is left out."""
    back = {text(one, "name"): count(one, "count") or 0 for one in parts(thing.status, "reclaimablePods")}
    found = []
    for one in parts(thing.status, "admission", "podSetAssignments"):
        flavors = at(one, "flavors")
        pods = count(one, "count") or 0
        left = max(pods - back.get(text(one, "name"), 0), 0)
        for kind, units in amounts(one, "resourceUsage"):
            flavor = text(flavors, kind)
            if flavor and units:
                found.append(Granted(flavor, kind, -(-units * left // pods) if pods else units))
    return tuple(found)


def _rounds(thing: Custom, said: dict[str, Stated], created_ns: int) -> Rounds | None:
    stated = count(thing.status, "requeueState", "count") or 0
    counted = sum(
        count(one, "count") or 0
        for one in parts(thing.status, "schedulingStats", "evictions")
        if text(one, "reason") in LOOPING
    )
    total, last = max(stated, counted), said.get("Evicted", UNSAID)
    if not total or not last.since_ns:
        return None
    # While its pods never got ready, this condition keeps the time of the first round.
    ready = said.get("PodsReady", UNSAID)
    first_ns = ready.since_ns if ready.since_ns and not ready.holds else created_ns
    if last.since_ns - first_ns < (total - 1) * ROUND_MIN_NS:
        return None  # they were ready since some of these rounds
    return Rounds(total, first_ns, last.since_ns)


def workload_of(thing: Custom, citation: Citation) -> WorkloadFacts:
    """The record of a Workload. Whatever it lacks makes us more silent."""
    about, status = thing.metadata, thing.status
    namespace = about.namespace or "default"
    owner = controller_of(about.owner_references)
    said = conditions(status)
    created_ns = parse_ns(about.creation_timestamp) or 0
    pod_sets = tuple(_part(one) for one in parts(thing.spec, "podSets"))
    reservation, ready = said.get("QuotaReserved", UNSAID), said.get("PodsReady", UNSAID)
    finished = said.get("Finished", UNSAID)
    evicted = said.get("Evicted", UNSAID)
    requeued = said.get("Requeued")
    return WorkloadFacts(
        key=f"{namespace}/{about.name}",
        namespace=namespace,
        label=owner.name if owner is not None else about.name,
        owner=owner,
        owners=about.owner_references,
        queue=text(thing.spec, "queueName"),
        cluster_queue=text(status, "admission", "clusterQueue"),
        priority=count(thing.spec, "priority") or 0,
        created_ns=created_ns,
        over=finished.holds,
        active=at(thing.spec, "active") is not False,
        reserved=at(status, "admission") is not None,
        admitted=said.get("Admitted", UNSAID).holds,
        checks=tuple(
            Check(text(one, "name"), text(one, "state"), text(one, "message"))
            for one in parts(status, "admissionChecks")
        ),
        given=_given(thing),
        asks=_asks(thing, pod_sets),
        parts=pod_sets,
        said=reservation,
        evicted=evicted if evicted.holds else UNSAID,
        evicted_ns=evicted.since_ns,
        backing_off=requeued is not None and not requeued.holds,
        ready=ready.holds,
        unready="PodsReady" in said and not ready.holds,
        retry_ns=parse_ns(text(status, "requeueState", "requeueAt")),
        rounds=_rounds(thing, said, created_ns),
        barred=frozenset(name for pattern in _BARRED for name in pattern.findall(reservation.message)),
        limit_s=count(thing.spec, "maximumExecutionTimeSeconds"),
        citation=citation,
    )
