"""What every actor event is made of: names, holds, lifetimes, and why a pod that must go is still there."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from analyzer.model.events import ActorObserved, Citation, Holds, Lifetime, Remarked
from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.kubernetes.company import Company
from analyzer.sources.kubernetes.forgetful import Forgetful
from analyzer.sources.kubernetes.names import NamesByNode, counted, gang_actor, pod_actor
from analyzer.sources.kubernetes.owners import reference_key
from analyzer.sources.kubernetes.pod_index import deployment_of
from analyzer.sources.kubernetes.pod_requests import Shape
from analyzer.sources.kubernetes.quotas import Booked, Scoped
from analyzer.sources.kubernetes.records import BOUND, PodRecord
from analyzer.sources.kubernetes.rooms import Class
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

GRACE_NS = 300 * SECOND_NS
"""How long past its due time a pod may stay while a kubelet, a controller or a drain is at work on it."""
CITATIONS_MAX = 20
_SHAPES_MAX = 8192
"""Shapes of pods of which what they hold is remembered, each for all nodes."""

ROUTINE_FINALIZERS = frozenset(
    {
        "batch.kubernetes.io/job-tracking",
        "foregroundDeletion",
        "orphan",
        "kueue.x-k8s.io/managed",
        "kueue.x-k8s.io/resource-in-use",
        "kubernetes.io/pvc-protection",
        "resource.kubernetes.io/delete-protection",
        "scheduling.k8s.io/podgroup-protection",
    }
)

"""Finalizers that a controller of every cluster takes off within seconds."""


class Built(Struct, frozen=True, kw_only=True):
    """An actor as it is to be stated, what to remark about it, when to look again, and which classes it waits in."""

    actor: ActorObserved
    remarks: tuple[Remarked, ...] = ()
    recheck_ns: int | None = None
    classes: tuple[Class | Company, ...] = ()

    @property
    def watched(self) -> bool:
        """Whether anything but the actor's own pods can change it: it waits, or a clock runs."""
        return self.actor.wait is not None or self.recheck_ns is not None


def cited(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """The first so many, each once."""
    return tuple(dict.fromkeys(citations))[:CITATIONS_MAX]


def actor_of(store: Store, key: str) -> ActorId:
    """The actor by which this pod is known."""
    gang = store.gangs.get(key)
    return pod_actor(key) if gang is None else gang_actor(gang.key)


class HoldsByNode(dict[str, Holds]):
    """What pods of one shape with one quota hold, by node; made when first asked for, sorted by resource."""

    def __init__(self, each: Mapping[str, tuple[NamesByNode, int]], quota: Booked) -> None:
        super().__init__()
        starts = sorted(f"{kind}/" for kind in each)
        self._names = [each[start[:-1]][0] for start in starts]
        self._amounts = [each[start[:-1]][1] for start in starts]
        self._quota = quota
        # Names of units are sorted as their kinds are, unless one kind goes on where another's node would stand.
        self._in_order = not quota and not any(two.startswith(one) for one, two in itertools.pairwise(starts))

    def __missing__(self, node: str) -> Holds:
        held = zip([names[node] for names in self._names], self._amounts, strict=True)
        made = self[node] = tuple(held) if self._in_order else tuple(sorted((*held, *self._quota)))
        return made


class HoldsCache:
    """Holds of a pod on a node: one tuple for all pods that are alike there, one text for each resource."""

    def __init__(self) -> None:
        self._known: Forgetful[tuple[Shape, Booked], HoldsByNode] = Forgetful(_SHAPES_MAX)
        self._names: dict[str, NamesByNode] = {}

    def of(self, shape: Shape, quota: Booked) -> HoldsByNode:
        """What pods of this shape hold with their quota."""
        found = self._known.get((shape, quota))
        if found is None:
            units = (*shape.each, *((port, 1) for port in shape.ports))
            each = {counted(kind): (self.names_of(kind), amount) for kind, amount in units}
            found = self._known[shape, quota] = HoldsByNode(each, quota)
        return found

    def names_of(self, kind: str) -> NamesByNode:
        """The names of the units of this kind."""
        found = self._names.get(kind)
        if found is None:
            found = self._names[kind] = NamesByNode(kind)
        return found

    def forget(self, node: str) -> None:
        """The node is gone, and nobody is on it. O(shapes)."""
        for held in self._known.values():
            held.pop(node, None)
        for kind, names in list(self._names.items()):
            names.pop(node, None)
            if not names:
                del self._names[kind]

    def on(self, node: str, shape: Shape, quota: Booked) -> Holds:
        """What a pod of this shape holds on the node ("" if it has none) with its quota, sorted by resource."""
        return self.of(shape, quota)[node] if node else quota


def merged(parts: Sequence[Holds]) -> Holds:
    """The sum of several holds, sorted by resource."""
    if len(parts) == 1:
        return parts[0]
    total: dict[ResourceId, int] = {}
    for part in parts:
        for resource, units in part:
            total[resource] = total.get(resource, 0) + units
    return tuple(sorted(total.items()))


def scoped(record: PodRecord) -> Scoped:
    """What of the pod decides whether a quota counts it."""
    return Scoped(record.shape, record.deadline_s is not None, record.priority_class)


def booked(store: Store, record: PodRecord, now_ns: int) -> Booked:
    """The quota that the pod books: none once it has finished, or is overdue to go (as the quota controller counts)."""
    if record.leaving is not None and record.leaving.due_ns < now_ns:
        return ()
    if not store.quotas.limits(record.namespace):
        return ()
    return store.quotas.booked(record.namespace, scoped(record))


def lifetime_of(store: Store, record: PodRecord) -> tuple[Lifetime, int | None, bool]:
    """Whether the pod ends by itself, by when at the latest, and whether it would be made anew at once."""
    if record.leaving is not None:
        return Lifetime.FINITE, None, False
    recreated = False
    if record.owner is not None:
        line = store.owners.line(record.owner, record.namespace)
        lifetime, until_ns, recreated = line.lifetime, line.until_ns, line.recreated
        if line.lifetime is Lifetime.UNKNOWN and record.restarts in {"Never", "OnFailure"}:
            lifetime = Lifetime.FINITE
        if _surplus(store, record):
            lifetime = Lifetime.FINITE
        elif _rolls_unseen(store, record):
            lifetime, recreated = Lifetime.UNKNOWN, False
    elif record.marks is not None and "kubernetes.io/config.mirror" in record.marks:
        lifetime, until_ns = Lifetime.ENDLESS, None
    else:
        lifetime, until_ns = (Lifetime.FINITE if record.restarts in {"Never", "OnFailure"} else Lifetime.UNKNOWN), None
    if record.deadline_s is not None and record.started_ns is not None and lifetime is not Lifetime.ENDLESS:
        own_ns = record.started_ns + record.deadline_s * SECOND_NS
        lifetime, until_ns = Lifetime.DATED, own_ns if until_ns is None else min(own_ns, until_ns)
    return lifetime, until_ns, recreated


def owner_label(store: Store, record: PodRecord) -> str:
    """Whom to ask about the pod: the top of its chain of controllers, "" if it has none."""
    return "" if record.owner is None else store.owners.line(record.owner, record.namespace).label


def lineage_of(store: Store, record: PodRecord) -> str:
    """What comes back under another name when this pod is made to go; "" where pods of the owner cannot be told apart.

    A controller that wants one pod is that pod. Of an Indexed Job, the index in the pod's name (`job-3-x7f2q`) is.
    """
    if record.owner is None:
        return ""
    owner = store.owners.get(record.owner, record.namespace)
    if owner is None:
        return ""
    line = f"{owner.kind.lower()}/{owner.namespace}/{owner.name}"
    if owner.wants == 1:
        return line
    if not owner.indexed:
        return ""
    index = record.name.removeprefix(f"{owner.name}-").partition("-")[0]
    return f"{line}/{index}" if index.isdigit() else ""


def _surplus(store: Store, record: PodRecord) -> bool:
    """Whether the pod's ReplicaSet has more pods than it wants: some will go, and we cannot say which."""
    if record.owner is None or record.owner.kind != "ReplicaSet":
        return False
    owner = store.owners.get(record.owner, record.namespace)
    if owner is None or owner.wants is None:
        return False
    keys = store.by_owner.get(reference_key(record.owner, record.namespace), ())
    if len(keys) <= owner.wants:
        return False
    live = sum(store.pods[key].stage is BOUND and store.pods[key].leaving is None for key in keys)
    return live > owner.wants


def _rolls_unseen(store: Store, record: PodRecord) -> bool:
    """Whether the pod's Deployment has pods of two templates and is not in the input: who knows what it does."""
    if record.owner is None or record.owner.kind != "ReplicaSet":
        return False
    if len(store.index.sets_of.get(deployment_of(record.namespace, record.owner), ())) < 2:
        return False
    owner = store.owners.get(record.owner, record.namespace)
    return owner is None or (owner.parent is not None and store.owners.get(owner.parent, record.namespace) is None)


def overdue(store: Store, record: PodRecord, now_ns: int) -> tuple[str, int | None]:
    """Why a pod that should be gone is still there ("" if that is in order so far), and when to ask again."""
    leaving = record.leaving
    if leaving is None:
        return "", None
    if now_ns <= leaving.due_ns:
        return "", leaving.due_ns + 1  # the quota's books change then
    if record.stage is not BOUND:
        return "", None
    foreign = tuple(name for name in leaving.finalizers if name not in ROUTINE_FINALIZERS)
    preempted = bool(leaving.disruption) or record.key in store.preempted
    in_grace = now_ns <= leaving.due_ns + GRACE_NS
    if in_grace and (preempted or not foreign):
        return "", leaving.due_ns + GRACE_NS + 1
    if foreign:
        again_ns = leaving.due_ns + GRACE_NS + 1 if in_grace else None
        return f"it was to be gone, but nobody takes off the finalizer {', '.join(foreign)}", again_ns
    node = store.candidates.nodes.get(record.node)
    if store.candidates.nodes and node is None:
        return f"it was to be gone, but its node {record.node} does not exist any more", None
    if node is not None and node.away_since_ns is not None:
        return f"it was to be gone, but its node {record.node} is not ready, so nobody confirms that it has ended", None
    if leaving.finalizers:
        return f"it was to be gone, but nobody takes off the finalizer {', '.join(leaving.finalizers)}", None
    return f"it was to be gone, but its node {record.node} does not confirm that it has ended", None
