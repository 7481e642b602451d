"""Pods that the scheduler places and the node refuses, made anew and refused again (a livelock by owner and node).

The kubelet has the last word: devices that are gone, NUMA alignment that cannot be had (`TopologyAffinityError`), room
that the scheduler counted otherwise (`OutOfcpu`). The refused pod fails, its controller makes another, the scheduler
sees the same room and sends it to the same node. Every single picture looks healthy.

Refused pods stay as failed pods, each with its node, its reason and its time, so one picture tells of all rounds.
"""

from collections.abc import Sequence

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Citation, Losses, Remarked, RemarkKind
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Look, Mechanism
from analyzer.sources.kubernetes.names import controller_actor, counted
from analyzer.sources.kubernetes.objects import OwnerReference, Pod
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import BOUND, FAILED, PENDING, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

ROUNDS_MIN = 3
"""As `livelock_rounds_min` has it."""
SPAN_NS = 600 * SECOND_NS
"""A kubelet that starts refuses pods until its device plugins have come back, dozens within a minute. What goes on for
ten minutes is no start."""
OVER_NS = 3600 * SECOND_NS
"""Refusals older than this no longer count (as `livelock_window_ns` has it)."""
RECENT_NS = 900 * SECOND_NS
"""Without a refusal for so long, and without a pod that waits, the controller has given up or got through. A Job waits
at most six minutes between two tries."""

_REFUSALS = ("UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError", "ResourceAlignmentError")
_OUT_OF = "OutOf"
"""What the kubelet writes before a kind of units: OutOfcpu, OutOfnvidia.com/gpu."""


class Refusal(Struct, frozen=True, kw_only=True):
    """One pod that a node refused: when, why, whose, and what of the node it was about."""

    at_ns: int
    node: str
    reason: str
    owner: OwnerReference
    namespace: str
    resource: ResourceId
    priority: int
    citation: Citation


class NodeRefusals(Mechanism):
    """Pods that nodes refused, by key."""

    kinds = frozenset()

    def __init__(self) -> None:
        self._refusals: dict[str, Refusal] = {}

    @property
    def awake(self) -> bool:
        return len(self._refusals) >= ROUNDS_MIN

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod out of the ordinary. One that is taken away was refused all the same: its round counts for an hour."""
        reason = pod.status.reason
        refused = record.stage is FAILED and (reason in _REFUSALS or reason.startswith(_OUT_OF))
        if not refused or record.owner is None or gone:
            return
        kind = reason.removeprefix(_OUT_OF) if reason.startswith(_OUT_OF) else ""
        kinds = [each for each, _ in record.shape.each]
        kind = kind if kind in kinds else next((each for each in kinds if "/" in each), "pods")
        self._refusals[f"{record.key} {record.uid}"] = Refusal(
            at_ns=record.started_ns or record.ended_ns or record.created_ns,
            node=record.node,
            reason=reason,
            owner=record.owner,
            namespace=record.namespace,
            resource=ResourceId(f"{counted(kind)}/{record.node}"),
            priority=record.priority,
            citation=record.citation,
        )

    def look(self, store: Store, now_ns: int) -> Look:
        self._refusals = {key: one for key, one in self._refusals.items() if now_ns - one.at_ns <= OVER_NS}
        actors: dict[ActorId, Built] = {}
        for rounds in self._loops():
            last = rounds[-1]
            over = now_ns - last.at_ns > RECENT_NS and not _unplaced(store, last)
            told_of = store.activity.refused(last.owner.kind, last.namespace, last.owner.name) is not None
            if not (over or told_of or _got_through(store, last)):
                built = _maker(rounds, now_ns)
                actors.setdefault(built.actor.actor, built)
        return Look(actors=tuple(actors.values())) if actors else NOTHING

    def _loops(self) -> list[list[Refusal]]:
        """Rounds of one owner on one node, by time, where there are enough of them over a long enough time."""
        found: dict[tuple[str, str], list[Refusal]] = {}
        for key in sorted(self._refusals, key=lambda key: (self._refusals[key].at_ns, key)):
            one = self._refusals[key]
            found.setdefault((reference_key(one.owner, one.namespace), one.node), []).append(one)
        return [
            rounds
            for _, rounds in sorted(found.items())
            if len(rounds) >= ROUNDS_MIN and rounds[-1].at_ns - rounds[0].at_ns >= SPAN_NS
        ]


def _pods_of(store: Store, refusal: Refusal) -> list[PodRecord]:
    keys = store.by_owner.get(reference_key(refusal.owner, refusal.namespace), ())
    return [record for key in sorted(keys) if (record := store.pods[key]).leaving is None]


def _unplaced(store: Store, refusal: Refusal) -> list[PodRecord]:
    """The owner's pods that do not run yet, by name: one of them is the next to be refused."""
    return [one for one in _pods_of(store, refusal) if one.stage is PENDING or (one.stage is BOUND and not one.running)]


def _got_through(store: Store, last: Refusal) -> bool:
    """Whether the node has taken a pod of the owner since."""
    return any(
        one.running and one.node == last.node and (one.started_ns or 0) > last.at_ns for one in _pods_of(store, last)
    )


def _maker(rounds: Sequence[Refusal], now_ns: int) -> Built:
    """The controller whose pods these were: what comes back, whatever the pods are called."""
    last = rounds[-1]
    actor = controller_actor(last.namespace, last.owner.name)
    who = f"{last.owner.kind} {last.namespace}/{last.owner.name}"
    citations = cited(one.citation for one in reversed(rounds))
    text = f"{last.node} has refused {len(rounds)} pods of {who} that the scheduler placed there ({last.reason})"
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=actor,
            losses=Losses(count=len(rounds), first_ns=rounds[0].at_ns, last_ns=last.at_ns, resources=(last.resource,)),
            priority=last.priority,
            progress=0,
            certainty=Certainty.SUSPECTED,
            owner=who,
            citations=citations,
        ),
        remarks=(Remarked(at_ns=now_ns, kind=RemarkKind.INCONSISTENCY, subject=actor, text=text, citations=citations),),
    )
