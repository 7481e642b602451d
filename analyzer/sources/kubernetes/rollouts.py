"""Roll-outs: which old pods wait until new ones are ready, because the Deployment may not do with fewer.

The old pods give their places back, but only when a new one is ready; the new ones may need just those places or
volumes. That is a ring of one Deployment with itself (mechanism D1).
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from analyzer.model.ids import ActorId
from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.names import controller_actor
from analyzer.sources.kubernetes.objects import Deployment, ReplicaSet
from analyzer.sources.kubernetes.owners import Owner
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord

_REVISION = "deployment.kubernetes.io/revision"


class Plan(Struct, frozen=True):
    """What a roll-out does to pods (by key): `going` end by themselves; `held` end when one of `awaited` is ready.

    `paused`: pods of the present template that a person has stopped half-way. `since_ns`: when it came to a halt.
    """

    going: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    awaited: tuple[ActorId, ...] = ()
    paused: frozenset[str] = frozenset()
    since_ns: int = 0


NO_PLAN = Plan()


def share(value: int | str | None, default: str, whole: int, *, up: bool) -> int:
    """A number of pods, or a percentage of `whole` rounded up or down. A text that is neither counts as the default."""
    if isinstance(value, int):
        return max(0, value)
    text = (value or default).strip()
    if is_whole(text):
        return int(text)
    digits = text.removesuffix("%")
    if not is_whole(digits):
        digits = default.removesuffix("%")
    return (int(digits) * whole + (99 if up else 0)) // 100


def budget(deployment: Deployment) -> tuple[int, int]:
    """How many pods may be missing, and how many too many. Both zero is not possible: then one may be missing."""
    replicas = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    rolling = deployment.spec.strategy.rolling_update if deployment.spec.strategy is not None else None
    missing = share(rolling.max_unavailable if rolling is not None else None, "25%", replicas, up=False)
    surplus = share(rolling.max_surge if rolling is not None else None, "25%", replicas, up=True)
    if not missing and not surplus:
        missing = 1
    return min(missing, replicas), surplus


def newest(deployment: Deployment, replica_sets: Iterable[Owner]) -> Owner | None:
    """The ReplicaSet of the present template: by revision, and the younger of equals."""

    def rank(owner: Owner) -> tuple[int, int, str]:
        text = owner.object.metadata.annotations.get(_REVISION, "")
        return (int(text) if is_whole(text) else 0), owner.created_ns, owner.name

    sets = sorted((owner for owner in replica_sets if isinstance(owner.object, ReplicaSet)), key=rank)
    wanted = deployment.metadata.annotations.get(_REVISION)
    for owner in sets:
        if wanted and owner.object.metadata.annotations.get(_REVISION) == wanted:
            return owner
    return sets[-1] if sets else None


class Blocked(Struct, frozen=True):
    """Who holds a roll-out up: pods without a place or a volume, or (refused at creation) their controller."""

    pods: frozenset[str] = frozenset()
    controllers: frozenset[str] = frozenset()


def plan_of(
    deployment: Deployment,
    replica_sets: Iterable[Owner],
    pods: Mapping[str, list[PodRecord]],
    blocked: Blocked,
    actor_of: Callable[[str], ActorId],
) -> Plan:
    """What the roll-out does. `pods`: by uid of ReplicaSet. `blocked.controllers`: uids of ReplicaSets.

    The budget is the deployment controller's (`reconcileOldReplicaSets`): it takes down old pods as long as all pods
    less those of the present template that are not available yet exceed the fewest that must be available.
    """
    sets = tuple(replica_sets)
    present = newest(deployment, sets)
    if present is None:
        return NO_PLAN
    live = {
        uid: [pod for pod in found if pod.stage in {BOUND, PENDING} and pod.leaving is None]
        for uid, found in pods.items()
    }
    former = [pod for uid, found in live.items() if uid != present.uid for pod in found]
    current = live.get(present.uid, [])
    keys = frozenset(pod.key for pod in former)
    if not former:
        return NO_PLAN
    if deployment.spec.paused:
        return Plan(paused=frozenset(pod.key for pod in current if pod.key in blocked.pods))
    stopped = present.uid in blocked.controllers
    if not stopped and not any(pod.key in blocked.pods for pod in current):
        return Plan(going=keys)
    if deployment.spec.strategy is not None and deployment.spec.strategy.type == "Recreate":
        return Plan(going=keys)
    replicas = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    fewest = replicas - budget(deployment)[0]
    ready = sum(pod.ready for pod in current)
    wanted = len(current) if present.wants is None else max(present.wants, len(current))
    spare = len(former) + wanted - fewest - (wanted - ready)
    if spare > 0 and (ready + sum(pod.ready for pod in former) > fewest or not all(pod.ready for pod in former)):
        return Plan(going=keys)
    awaited = {actor_of(pod.key) for pod in current if not pod.ready}
    if stopped:
        awaited.add(controller_actor(deployment.metadata.namespace or "default", deployment.metadata.name))
    return Plan(
        held=keys,
        awaited=tuple(sorted(awaited)),
        since_ns=min((pod.created_ns for pod in current if not pod.ready), default=present.created_ns),
    )
