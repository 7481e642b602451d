"""Who was evicted for whom, by events and by the scheduler's log: the raw facts behind loops of preemption (G1).

Names of pods do not live on, so a pod is known by whoever made it: by its owner as long as it was seen, else by the
event in which the controller tells of it (`Created pod: train-x7f2q`).
"""

import re
from collections import deque
from typing import TypeVar

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.objects import Event
from analyzer.sources.kubernetes.observations import PodPreempted
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.records import BOUND, PENDING, SUCCEEDED, PodRecord
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

WINDOW_NS = 3600 * SECOND_NS
"""Older losses no longer count (as `livelock_window_ns` has it)."""
SAME_NS = 60 * SECOND_NS
"""An event and a line of the log about one pod's eviction lie closer together than this; no pod is evicted, made anew
under the same name, placed and evicted again in less."""
MAKERS_MAX = 20_000
"""Pods whose makers are remembered: those that were heard of last."""
PLACED_MAX = 1_000
"""Pods placed on one node that are remembered; a loop is decided by the last few."""

_Key = TypeVar("_Key")
_Known = TypeVar("_Known")

_BY_SCHEDULER = re.compile(r"Preempted by (?:a pod|(?:pod )?(\S+))(?: on node (\S+?)\.?$)?")
_BY_VOLCANO = re.compile(r"Pod is evicted, because of (?:preempt|reclaim)")
_MADE = re.compile(r"(?:Created pod: |create Pod )(\S+)")

_TELLING = frozenset(
    {"Preempted", "Evict", "FailedScheduling", "Scheduled", "SuccessfulCreate", "Completed", "JobComplete"}
)
_GIVEN = re.compile(r".+-[bcdfghjklmnpqrstvwxz2456789]{5}")
"""A name as the API server completes it: five letters from an alphabet without vowels, so hardly a person's choice."""


class Maker(Struct, frozen=True, order=True):
    """What comes back when a pod goes: its controller, or (kind Pod) itself."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class Loss(Struct, frozen=True, kw_only=True):
    """One eviction: of which pod (`uid` "": not said), from which node ("": not said), for whom (a pod, a uid, "")."""

    at_ns: int
    pod: str
    uid: str
    node: str
    by: str
    citation: Citation


class Evictions:
    """Evictions within the window, and what is known of pods and makers. `changes` counts what may change a round."""

    def __init__(self) -> None:
        self.changes = 0
        self._losses: dict[str, list[Loss]] = {}
        self._in_order: list[Loss] = []
        self._sorted_at = -1
        self._makers: dict[str, Maker] = {}
        self._by_name: dict[tuple[str, str], Maker] = {}
        self._uids: dict[Maker, str] = {}
        self._made_ns: dict[str, int] = {}
        self._nodes: dict[str, str] = {}
        self._by_uid: dict[str, str] = {}
        self._placed_ns: dict[str, int] = {}
        self._placed_on: dict[str, deque[tuple[int, str]]] = {}
        self._done_ns: dict[Maker, int] = {}

    def take(self, event: Event, citation: Citation) -> None:
        """Take an event. O(1)."""
        if event.reason not in _TELLING:
            return
        about = event.regarding
        namespace = event.namespace
        at_ns = parse_ns(event.last_time) or 0
        if about.kind == "Pod":
            self._take_of_pod(event, f"{namespace}/{about.name}", at_ns, citation)
        elif event.reason == "SuccessfulCreate":
            made = _MADE.search(event.message)
            if made is not None:
                self._made(f"{namespace}/{made[1]}", Maker(about.kind, namespace, about.name), at_ns)
        elif event.reason in {"Completed", "JobComplete"}:
            self._done(Maker(about.kind, namespace, about.name), at_ns)

    @property
    def any_lost(self) -> bool:
        """Whether any eviction within the window is known."""
        return bool(self._losses)

    def _take_of_pod(self, event: Event, pod: str, at_ns: int, citation: Citation) -> None:
        reason, uid = event.reason, event.regarding.uid
        if reason == "FailedScheduling" and uid:
            self._known_as(uid, pod)
        elif reason == "Scheduled" and self._losses:
            _remember(self._placed_ns, pod, at_ns)
            node = event.message.rpartition(" to ")[2]
            on = self._placed_on.get(node) or deque(maxlen=PLACED_MAX)
            on.append((at_ns, pod))
            _remember(self._placed_on, node, on)
        elif reason == "Preempted":
            match = _BY_SCHEDULER.search(event.message)
            if match is not None:
                related = event.related
                by = match[1] or ""
                if related is not None and related.kind == "Pod" and related.name:
                    by = f"{related.namespace or pod.partition('/')[0]}/{related.name}"
                self._lose(Loss(at_ns=at_ns, pod=pod, uid=uid, node=match[2] or "", by=by, citation=citation))
        elif reason == "Evict" and _BY_VOLCANO.search(event.message):
            self._lose(Loss(at_ns=at_ns, pod=pod, uid=uid, node="", by="", citation=citation))

    def hear(self, said: PodPreempted) -> None:
        """Take a line of the scheduler's log."""
        told = Loss(at_ns=said.at_ns, pod=said.pod, uid="", node=said.node, by=said.preemptor, citation=said.citation)
        self._lose(told)

    def see(self, record: PodRecord) -> None:
        """Take a pod as it is, unless it runs: who made it, where it was; one that has done its work is progress."""
        if record.stage is BOUND and record.leaving is None:
            if record.started_ns is not None:
                _remember(self._placed_ns, record.key, record.started_ns)
            return
        owner = record.owner
        if owner is not None:
            maker = Maker(owner.kind, record.namespace, owner.name)
            self._made(record.key, maker, record.created_ns)
            _remember(self._uids, maker, reference_key(owner, record.namespace))
            if record.stage is SUCCEEDED and record.ended_ns is not None:
                self._done(maker, max(record.ended_ns, self._done_ns.get(maker, 0)))
        if record.stage is PENDING and record.uid:
            self._known_as(record.uid, record.key)
        elif record.stage is BOUND and self._nodes.get(record.key) != record.node:
            _remember(self._nodes, record.key, record.node)
            self.changes += 1

    def _known_as(self, uid: str, pod: str) -> None:
        if self._by_uid.get(uid) != pod:
            _remember(self._by_uid, uid, pod)
            self.changes += 1

    def _done(self, maker: Maker, at_ns: int) -> None:
        if self._done_ns.get(maker) != at_ns:
            _remember(self._done_ns, maker, at_ns)
            self.changes += 1

    def _made(self, pod: str, maker: Maker, at_ns: int) -> None:
        name = (maker.namespace, maker.name)
        if self._makers.pop(pod, None) != maker or self._by_name.get(name) != maker:
            self.changes += 1
        self._makers[pod] = maker
        _remember(self._by_name, name, maker)
        self._made_ns[pod] = max(at_ns, self._made_ns.get(pod, 0))
        if len(self._makers) > MAKERS_MAX:
            oldest = next(iter(self._makers))
            del self._makers[oldest]
            self._nodes.pop(oldest, None)
            self._made_ns.pop(oldest, None)

    def _lose(self, loss: Loss) -> None:
        of_pod = self._losses.setdefault(loss.pod, [])
        for place in range(len(of_pod) - 1, -1, -1):
            known = of_pod[place]
            if _is_same(known, loss):
                if not (known.by and known.node and known.uid):
                    self.changes += 1
                    of_pod[place] = Loss(
                        at_ns=known.at_ns,
                        pod=known.pod,
                        uid=known.uid or loss.uid,
                        node=known.node or loss.node,
                        by=known.by or loss.by,
                        citation=known.citation,
                    )
                return
        self.changes += 1
        of_pod.append(loss)

    def recent(self, now_ns: int) -> list[Loss]:
        """The losses within the window, by time; older ones are forgotten. O(1) as long as nothing has changed."""
        if self._sorted_at != self.changes or (self._in_order and now_ns - self._in_order[0].at_ns > WINDOW_NS):
            everything = (loss for of_pod in self._losses.values() for loss in of_pod)
            within = (loss for loss in everything if now_ns - loss.at_ns <= WINDOW_NS)
            self._in_order = sorted(within, key=lambda loss: (loss.at_ns, loss.pod))
            self._losses = {}
            for loss in self._in_order:
                self._losses.setdefault(loss.pod, []).append(loss)
            self.changes += 1
            self._sorted_at = self.changes
        return self._in_order

    def maker_of(self, pod: str) -> Maker | None:
        """Who made this pod, as far as it was seen or told; None if nobody said."""
        return self._makers.get(pod)

    def maker_of_name(self, pod: str) -> Maker | None:
        """Who made it by its name: a controller of which others tell, else whoever gives names that end like that.

        Of pods that a controller makes fast, k8s events name the first few and then one for many.
        """
        namespace, _, name = pod.partition("/")
        stem = name.rpartition("-")[0]
        for one in (stem, stem.rpartition("-")[0]):
            known = self._by_name.get((namespace, one))
            if known is not None:
                return known
        return Maker("Controller", namespace, stem) if _GIVEN.fullmatch(name) else None

    def made_ns(self, pod: str) -> int:
        """When the pod was made, 0 if nobody said."""
        return self._made_ns.get(pod, 0)

    def uid_of(self, maker: Maker) -> str:
        """By what its pods are found, "" if none was seen."""
        return self._uids.get(maker, "")

    def pod_of(self, by: str) -> str:
        """The pod (`namespace/name`) that is meant by a name or a uid; "" if nobody knows."""
        return by if "/" in by else self._by_uid.get(by, "")

    def node_of(self, loss: Loss) -> str:
        """From which node the pod was evicted, "" if nobody knows."""
        return loss.node or self._nodes.get(loss.pod, "")

    def placed_ns(self, pod: str) -> int:
        """When the pod got a node, as it was told or seen (0: neither)."""
        return self._placed_ns.get(pod, 0)

    def placed_between(self, node: str, from_ns: int, to_ns: int) -> list[str]:
        """The pods that were placed on the node in that time, by events."""
        return [pod for at_ns, pod in self._placed_on.get(node, ()) if from_ns < at_ns <= to_ns]

    def done_ns(self, maker: Maker) -> int:
        """When a pod of it last did its work, or all of them had (0: not that anybody saw)."""
        return self._done_ns.get(maker, 0)


def _remember(known: dict[_Key, _Known], key: _Key, value: _Known) -> None:
    """Note it as the last that was heard of; beyond the limit whoever was noted first is forgotten."""
    known.pop(key, None)
    known[key] = value
    if len(known) > MAKERS_MAX:
        del known[next(iter(known))]


def _is_same(one: Loss, other: Loss) -> bool:
    """Whether two losses of pods of one name are one: by the pod's identity, else by their times."""
    if one.uid and other.uid:
        return one.uid == other.uid
    return abs(one.at_ns - other.at_ns) < SAME_NS
