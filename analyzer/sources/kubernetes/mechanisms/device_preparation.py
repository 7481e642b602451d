"""Pods that have their devices by claim and never start, since their kubelet does not prepare them (mechanism F1).

The scheduler has allocated and reserved the claims, so the devices are the pod's; its containers are created only once
the kubelet has had the driver prepare them. Two signs that this does not come:

- `FailedPrepareDynamicResources`, again and again for five minutes and still lately (the driver is not registered, or
  refuses): proven;
- a quarter of an hour without a word of the kubelet after `Scheduled` (its connection to the driver hangs): suspected.

A pod of which the kubelet has said anything else (it pulls an image, mounts a volume) has got past that.
"""

from msgspec import Struct

from analyzer.model.events import Certainty, Citation, Wait
from analyzer.model.requests import Never
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.objects import Event, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import BOUND, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

FAILED = "FailedPrepareDynamicResources"
PREPARING_NS = 300 * SECOND_NS
"""A driver that is being installed or restarted is back by then; the kubelet tries anew every one to two minutes."""
SILENT_NS = 900 * SECOND_NS
"""The kubelet gives a driver 45 s to prepare devices, and says so when that fails."""
_PODS_MAX = 20_000
"""Pods of which events are remembered: those that were heard of last."""


class Told(Struct):
    """What events say of one pod: placed, first and last failure, and whether the kubelet said anything else."""

    placed_ns: int = 0
    first_ns: int = 0
    last_ns: int = 0
    text: str = ""
    further: bool = False
    citation: Citation | None = None


class DevicePreparation:
    """Bound pods with claims that do not run, and what events say of pods."""

    kinds = frozenset({"Event"})

    def __init__(self) -> None:
        self._unstarted: dict[str, str] = {}
        self._told: dict[tuple[str, str], Told] = {}

    @property
    def awake(self) -> bool:
        return bool(self._unstarted)

    def take(self, seen: Seen) -> None:
        event = seen.object
        if not isinstance(event, Event) or seen.gone:
            return
        placed, failed = event.reason == "Scheduled", event.reason == FAILED
        about = event.regarding
        if about.kind != "Pod" or not (placed or failed or event.component == "kubelet"):
            return
        told = self._of((f"{event.namespace}/{about.name}", about.uid))
        if not placed and not failed:
            # Also before `Scheduled`, which has fractions of a second where the kubelet's events have none.
            told.further = True
            return
        at_ns = parse_ns(event.last_time) or seen.at_ns
        if placed:
            told.placed_ns = at_ns
            return
        first_ns = parse_ns(event.first_time) or at_ns
        told.first_ns = min(first_ns, told.first_ns or first_ns)
        if at_ns >= told.last_ns:
            told.last_ns, told.text, told.citation = at_ns, event.message, seen.citation

    def _of(self, key: tuple[str, str]) -> Told:
        found = self._told.get(key)
        if found is None:
            found = self._told[key] = Told()
            if len(self._told) > _PODS_MAX:
                del self._told[next(iter(self._told))]
        return found

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        waits = record.stage is BOUND and not record.running and record.leaving is None and not gone
        if waits and pod.spec.resource_claims:
            self._unstarted[record.key] = record.uid
        else:
            self._unstarted.pop(record.key, None)

    def hear(self, said: LogStatement) -> None:
        """The scheduler's log says nothing about what kubelets do."""

    def look(self, store: Store, now_ns: int) -> Look:
        burdens = {}
        for key in sorted(self._unstarted):
            record = store.pods.get(key)
            told = self._told.get((key, self._unstarted[key]))
            if record is None or told is None or not _has_devices(store, record):
                continue
            node = store.candidates.nodes.get(record.node)
            if node is None or node.away_since_ns is not None:
                continue  # that is the node's trouble
            burden = _burden(record, told, now_ns)
            if burden is not None:
                burdens[key] = burden
        return Look(burdens=burdens) if burdens else NOTHING


def _has_devices(store: Store, record: PodRecord) -> bool:
    """Whether claims of the pod are allocated and reserved for it, and none that is known is not."""
    claims = [claim for claim in store.devices.claims.values() if store.devices.has(record.key, claim.key)]
    return bool(claims) and all(claim.allocated and record.name in claim.users for claim in claims)


def _burden(record: PodRecord, told: Told, now_ns: int) -> Burden | None:
    citations = () if told.citation is None else (told.citation,)
    if told.first_ns:
        lately = now_ns - told.last_ns <= PREPARING_NS and told.last_ns - told.first_ns >= PREPARING_NS
        if not lately or told.further or "ComputeDomain" in told.text:
            return None
        why = f"the kubelet of {record.node} cannot prepare its devices ({told.text})"
        return Burden(wait=Wait(request=Never(why), since_ns=told.first_ns, said=told.text), citations=citations)
    if told.further or not told.placed_ns or now_ns - told.placed_ns < SILENT_NS:
        return None
    why = f"the kubelet of {record.node} has said nothing of it since it was placed: its devices are not prepared"
    return Burden(wait=Wait(request=Never(why), since_ns=told.placed_ns), certainty=Certainty.SUSPECTED)
