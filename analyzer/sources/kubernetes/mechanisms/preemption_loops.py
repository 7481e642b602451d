"""Evicted again and again for somebody who does not get on by it either (mechanism G1).

A *round* is one eviction of a pod of the victim from a node, for one beneficiary; both are known by whoever makes their
pods, since names change. From events alone, from the scheduler's log, or with pods: what was told of rounds before the
recording began counts like what was watched. It is a loop if there are at least three rounds within an hour and the
beneficiary does not run: it has no node, or it was itself evicted in between. Where nobody says for whom (Volcano),
five rounds are asked for.

Said of the victim's pod if there is one, else of `controller/NAMESPACE/NAME`. A victim's pod that ended well, or its
Job's completion, is progress: rounds before it do not count.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from analyzer.model.events import ActorObserved, Certainty, Losses
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.mechanisms.evictions import Evictions, Loss, Maker
from analyzer.sources.kubernetes.names import controller_actor, pod_actor
from analyzer.sources.kubernetes.objects import Event, Pod
from analyzer.sources.kubernetes.observations import LogStatement, PodPreempted, Seen
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

ROUNDS_MIN = 3
"""As `livelock_rounds_min` has it."""
ROUNDS_FOR_NOBODY = 5
"""More where nobody says who gained by it: several who each ran would look the same."""
APART_NS = 1 * SECOND_NS
"""Evictions closer together are of one round: a gang makes room for all its pods at once."""
TOGETHER_NS = 10 * SECOND_NS
"""A victim that never lost two pods within this time has one pod, and where that was does not matter."""


class Round(Struct, frozen=True, kw_only=True):
    """One round, with the beneficiary (None: nobody knows)."""

    loss: Loss
    node: str
    by: Maker | None
    by_pod: str


class Loop(Struct, frozen=True, kw_only=True):
    """Rounds of one victim, and for whom it was evicted."""

    victim: Maker
    rounds: tuple[Round, ...]
    by: tuple[Maker, ...]


class PreemptionLoops:
    """Evictions as they were told, and the loops among them."""

    kinds = frozenset({"Event"})

    def __init__(self) -> None:
        self._evictions = Evictions()
        self._told: set[str] = set()
        self._rounds_of: dict[Maker, list[Round]] = {}
        self._looked_at = (-1, -1)
        self._asked: set[str] = set()

    @property
    def awake(self) -> bool:
        return self._evictions.any_lost

    def take(self, seen: Seen) -> None:
        if isinstance(seen.object, Event) and not seen.gone:
            self._evictions.take(seen.object, seen.citation)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:  # noqa: ARG002  the contract's signature
        if record.key in self._asked:
            self._looked_at = (-1, -1)
        if not gone:
            self._evictions.see(record)

    def hear(self, said: LogStatement) -> None:
        if isinstance(said, PodPreempted):
            self._evictions.hear(said)

    def look(self, store: Store, now_ns: int) -> Look:
        recent = self._evictions.recent(now_ns)
        if not recent and not self._told:
            return NOTHING
        actors: list[Built] = []
        burdens: dict[str, Burden] = {}
        rounds = self._rounds(store, recent)
        for loop in self._loops(store, rounds):
            losses = _losses(store, loop)
            pods = self._pods_of(store, loop.victim)
            citations = cited(one.loss.citation for one in loop.rounds)
            if pods:
                burdens[pods[0].key] = Burden(losses=losses, citations=citations)
            elif store.activity.refused(loop.victim.kind, loop.victim.namespace, loop.victim.name) is None:
                actors.append(_victim(loop.victim, losses, citations, now_ns))
        # A loop that was told and is none any more has to be taken back: what was counted stays otherwise. So has what
        # was counted by watching, where each round served somebody who needed it: no more than low priority.
        over = Losses(count=0, first_ns=0, last_ns=0, resources=())
        for key in self._told.union(self._served(store, rounds)) - burdens.keys():
            if key in store.pods:
                burdens[key] = Burden(losses=over)
        self._told = {key for key, burden in burdens.items() if burden.losses != over}
        return Look(actors=tuple(actors), burdens=burdens)

    def _served(self, store: Store, rounds: Mapping[Maker, Sequence[Round]]) -> Iterator[str]:
        """Pods of victims that were evicted for others alone who have a place by it and never lost one."""
        for victim, lost in rounds.items():
            if len(lost) < ROUNDS_MIN - 1:
                continue
            placed = all(one.by is not None and one.by not in rounds and self._has_place(store, one) for one in lost)
            came_back = {by for by, times in Counter(one.by for one in lost).items() if times >= ROUNDS_MIN}
            if placed and all(by is not None and self._evictions.done_ns(by) for by in came_back):
                yield from (record.key for record in self._pods_of(store, victim))

    def _rounds(self, store: Store, recent: Sequence[Loss]) -> Mapping[Maker, Sequence[Round]]:
        """The evictions of each victim since it last did its work, with whom they were for.

        Made anew only if something has changed that they rest on: who makes which pod does not change by the clock.
        """
        state = (self._evictions.changes, store.owners.names_changed)
        if state == self._looked_at:
            return self._rounds_of
        self._asked.clear()
        rounds: dict[Maker, list[Round]] = {}
        for loss in recent:
            victim = self._maker_of(store, loss.pod)
            if loss.at_ns <= self._evictions.done_ns(victim):
                continue
            by_pod = self._evictions.pod_of(loss.by)
            by = self._maker_of(store, by_pod) if by_pod else None
            node = self._evictions.node_of(loss)
            rounds.setdefault(victim, []).append(Round(loss=loss, node=node, by=by, by_pod=by_pod))
        self._rounds_of, self._looked_at = rounds, state
        return rounds

    def _loops(self, store: Store, rounds: Mapping[Maker, Sequence[Round]]) -> list[Loop]:
        found = []
        for victim in sorted(victim for victim, lost in rounds.items() if len(lost) >= ROUNDS_MIN):
            by_whom = sorted({one.by for one in rounds[victim] if one.by is not None})
            enough = [
                each
                for by in by_whom
                if len(each := _longest(self._in_vain(store, by, rounds[victim], rounds.get(by, ())))) >= ROUNDS_MIN
            ]
            nameless = _longest(_apart(self._come_back([one for one in rounds[victim] if one.by is None])))
            if len(nameless) >= (ROUNDS_MIN if self._serves_nobody(store, victim, nameless) else ROUNDS_FOR_NOBODY):
                enough.append(nameless)
            if enough:
                together = tuple(sorted((one for each in enough for one in each), key=lambda one: one.loss.at_ns))
                whom = tuple(sorted({one.by for one in together if one.by is not None}))
                found.append(Loop(victim=victim, rounds=together, by=whom))
        return found

    def _maker_of(self, store: Store, pod: str) -> Maker:
        """What comes back when the pod goes: its controller, by its name if nobody says it; else the pod itself."""
        namespace, _, name = pod.partition("/")
        maker = self._evictions.maker_of(pod)
        self._asked.add(pod)
        if maker is not None or pod in store.pods:
            return maker or Maker("Pod", namespace, name)
        stem = name.rpartition("-")[0]
        for kind, one in (("Job", stem), ("ReplicaSet", stem), ("StatefulSet", stem), ("Job", stem.rpartition("-")[0])):
            if one and store.owners.named(kind, namespace, one):
                return Maker(kind, namespace, one)
        return self._evictions.maker_of_name(pod) or Maker("Pod", namespace, name)

    def _in_vain(self, store: Store, by: Maker, rounds: Sequence[Round], own: Sequence[Round]) -> list[Round]:
        """The rounds from which the beneficiary has nothing, by time. `own`: those that it lost itself."""
        mine = [one for one in rounds if one.by == by]
        if len(_apart(own)) >= ROUNDS_MIN - 1:
            return _apart(mine)  # whatever it got, it lost again
        pods = self._pods_of(store, by)
        if self._evictions.done_ns(by) or (pods and all(record.stage is BOUND for record in pods)):
            return []
        in_vain = [one for one in mine if not self._has_place(store, one)]
        # Several pods of one Job that each make room once are no loop: the same one has to come back for more.
        pods_of_it = sorted({one.by_pod for one in in_vain})
        return max((_apart([one for one in in_vain if one.by_pod == pod]) for pod in pods_of_it), key=len, default=[])

    def _pods_of(self, store: Store, maker: Maker) -> list[PodRecord]:
        """The maker's pods that have not ended, those without a node first."""
        if maker.kind == "Pod":
            record = store.pods.get(f"{maker.namespace}/{maker.name}")
            records = [] if record is None else [record]
        else:
            owner = store.owners.named(maker.kind, maker.namespace, maker.name)
            uids = {self._evictions.uid_of(maker), "" if owner is None else owner.uid}
            records = [store.pods[key] for uid in sorted(uids) for key in store.by_owner.get(uid, ())]
        live = [record for record in records if record.stage in {BOUND, PENDING} and record.leaving is None]
        return sorted(live, key=lambda record: (record.stage is BOUND, record.key))

    def _come_back(self, rounds: Sequence[Round]) -> list[Round]:
        """Without those of pods that may have been there from the start: a large Job can lose one after the other."""
        kept: list[Round] = []
        lost: set[str] = set()
        for one in sorted(rounds, key=lambda one: one.loss.at_ns):
            pod = one.loss.pod
            if not kept or pod in lost or self._evictions.made_ns(pod) >= kept[-1].loss.at_ns:
                kept.append(one)
            lost.add(pod)
        return kept

    def _serves_nobody(self, store: Store, victim: Maker, rounds: Sequence[Round]) -> bool:
        """Whether it is known that only the victim's own pods were placed where room was made, round after round."""
        own = 0
        for one, later in pairwise(rounds):
            placed = self._evictions.placed_between(one.node, one.loss.at_ns, later.loss.at_ns)
            if any(self._maker_of(store, pod) != victim for pod in placed):
                return False
            own += bool(placed)
        return own >= ROUNDS_MIN - 1

    def _has_place(self, store: Store, one: Round) -> bool:
        """Whether the pod for which room was made has got a node."""
        record = store.pods.get(one.by_pod)
        placed = record is not None and record.stage is not PENDING
        return placed or self._evictions.placed_ns(one.by_pod) >= one.loss.at_ns - SECOND_NS  # written in whole seconds


def _apart(rounds: Sequence[Round]) -> list[Round]:
    """The first of those that follow each other closely on one node, by time."""
    kept: list[Round] = []
    last_ns: dict[str, int] = {}
    for one in sorted(rounds, key=lambda one: one.loss.at_ns):
        if one.loss.at_ns - last_ns.get(one.node, -APART_NS) >= APART_NS:
            kept.append(one)
        last_ns[one.node] = one.loss.at_ns
    return kept


def _longest(rounds: Sequence[Round]) -> list[Round]:
    """Those on the node where there are most, if the victim ever lost pods on several nodes at a time."""
    if all(later.loss.at_ns - one.loss.at_ns >= TOGETHER_NS for one, later in pairwise(rounds)):
        return list(rounds)
    by_node: dict[str, list[Round]] = {}
    for one in rounds:
        by_node.setdefault(one.node, []).append(one)
    return max((by_node[node] for node in sorted(by_node)), key=len, default=[])


def _losses(store: Store, loop: Loop) -> Losses:
    times = sorted(one.loss.at_ns for one in loop.rounds)
    resources = {_room(store, one.node) for one in loop.rounds if one.node}
    return Losses(
        count=len(times),
        first_ns=times[0],
        last_ns=times[-1],
        resources=tuple(sorted(resources)),
        by=", ".join(map(str, loop.by)),
    )


def _room(store: Store, node: str) -> ResourceId:
    """What of the node is fought over: its first extended resource, else a pod's place."""
    facts = store.candidates.nodes.get(node)
    kind = next((kind for kind, _ in facts.units if "/" in kind), "pods") if facts is not None else "pods"
    return ResourceId(f"{kind}/{node}")


def _victim(victim: Maker, losses: Losses, citations: tuple[tuple[int, int], ...], now_ns: int) -> Built:
    """The actor of a victim whose pods are not in the input."""
    alone = victim.kind == "Pod"
    name: ActorId = (
        pod_actor(f"{victim.namespace}/{victim.name}") if alone else controller_actor(victim.namespace, victim.name)
    )
    return Built(
        actor=ActorObserved(
            at_ns=now_ns,
            actor=name,
            losses=losses,
            certainty=Certainty.SUSPECTED,
            owner="" if alone else str(victim),
            citations=citations,
        )
    )
