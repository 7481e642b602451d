"""A gang that is let in by the sum of what is free, and turned away when its pods are placed (mechanism A4).

A gang plugin keeps members in the Permit stage until the minimum has a place; if one member finds none, it rejects all
who wait (`optimistic rejection in PostFilter`), and the next try goes the same way. That is ordinary waiting as long as
there is too little room. It is a loop if by the objects there is room for all that are missing, the scheduler names no
shortage, and it went like that at least three times within an hour without anybody being bound.
"""

from collections import deque

from msgspec import Struct

from analyzer.model.events import Citation, Losses
from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.messages import ReasonKind, parse
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.observations import (
    LogStatement,
    PodBound,
    PodReleased,
    PodReserved,
    PodUnschedulable,
    Seen,
)
from analyzer.sources.kubernetes.records import PENDING, PodRecord, Try
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS
from analyzer.sources.kubernetes.waits import constraints_for

ROUNDS_MIN = 3
"""As `livelock_rounds_min` has it."""
WINDOW_NS = 3600 * SECOND_NS
ROUNDS_MAX = 64


class Rejected(Struct, frozen=True):
    """A member lost the place that was kept for it."""

    at_ns: int
    node: str
    citation: Citation


class PermitRounds:
    """By pod: the place that is kept for it, and when it lost such places."""

    kinds: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._rejected: dict[str, deque[Rejected]] = {}
        self._told: set[str] = set()

    @property
    def awake(self) -> bool:
        return bool(self._rejected)

    def take(self, seen: Seen) -> None:
        """Objects say nothing about places in the scheduler's memory."""

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:  # noqa: ARG002  the contract's signature
        if gone or record.stage is not PENDING:
            self._kept.pop(record.key, None)
            self._rejected.pop(record.key, None)

    def hear(self, said: LogStatement) -> None:
        match said:
            case PodReserved():
                self._kept[said.pod] = said.node
            case PodReleased() | PodUnschedulable():
                node = self._kept.pop(said.pod, None)
                if node:
                    rounds = self._rejected.setdefault(said.pod, deque(maxlen=ROUNDS_MAX))
                    rounds.append(Rejected(said.at_ns, node, said.citation))
            case PodBound():
                self._kept.pop(said.pod, None)
                self._rejected.pop(said.pod, None)
            case _:
                pass

    def look(self, store: Store, now_ns: int) -> Look:
        by_gang: dict[str, list[str]] = {}
        over_ns = now_ns - WINDOW_NS
        self._rejected = {pod: rounds for pod, rounds in self._rejected.items() if rounds[-1].at_ns >= over_ns}
        for pod in sorted(self._rejected):
            gang = store.gangs.get(pod)
            if gang is not None:
                by_gang.setdefault(gang.key, []).append(pod)
        burdens = {}
        for gang_key, pods in sorted(by_gang.items()):
            rounds = max((self._recent(pod, now_ns) for pod in pods), key=len)
            if len(rounds) >= ROUNDS_MIN and _has_room(store, gang_key):
                burdens[pods[0]] = Burden(losses=_losses(store, rounds), citations=(rounds[-1].citation,))
        over = Losses(count=0, first_ns=now_ns, last_ns=now_ns, resources=())
        told, self._told = self._told, set(burdens)
        burdens.update({pod: Burden(losses=over) for pod in told - burdens.keys() if pod in store.pods})
        return Look(burdens=burdens) if burdens else NOTHING

    def _recent(self, pod: str, now_ns: int) -> list[Rejected]:
        return [one for one in self._rejected[pod] if now_ns - one.at_ns <= WINDOW_NS]


def _has_room(store: Store, gang_key: str) -> bool:
    """Whether all pending members would find a place at once by the objects, and no word is of a shortage."""
    records = [store.pods[key] for key in sorted(store.by_gang.get(gang_key, ()))]
    pending = [record for record in records if record.stage is PENDING and record.pending is not None]
    refused = False
    for record in pending:
        activity = store.activity.pod(record.key, record.uid)
        unplaced = activity.unplaced.text if activity is not None and activity.unplaced is not None else ""
        for words in (unplaced, record.pending.said if record.pending is not None else ""):
            if any(reason.kind in {ReasonKind.SHORT, ReasonKind.PORTS} for reason in parse(words).reasons):
                return False
            refused |= bool(words)
        if record.pending is not None and record.pending.tried is Try.GATED:
            return False
    if not pending or not refused or len({record.shape for record in pending}) > 1:
        return False
    first = pending[0]
    if first.pending is None:
        return False
    return bool(store.rooms.room_for_all(first.shape, constraints_for(store, first, first.pending), len(pending)))


def _losses(store: Store, rounds: list[Rejected]) -> Losses:
    kinds = {
        node: next((kind for kind, _ in facts.units if "/" in kind), "pods")
        for node in {one.node for one in rounds}
        if (facts := store.candidates.nodes.get(node)) is not None
    }
    resources = tuple(sorted(ResourceId(f"{kinds.get(node, 'pods')}/{node}") for node in {one.node for one in rounds}))
    return Losses(count=len(rounds), first_ns=rounds[0].at_ns, last_ns=rounds[-1].at_ns, resources=resources)
