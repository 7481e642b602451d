"""Pods that have their node and cards, and whose containers have never started and will not start by themselves.

An image that is being pulled, a container that is being made: that is starting up, and quiet. An image that cannot be
pulled, or a Secret or ConfigMap that a container needs and nobody made, holds the cards of the pod, and of its whole
gang, for nothing. The kubelet tries again for ever, so it may yet succeed: therefore it takes half an hour, and is
suspected; proven only where the name of the image is none. docs/decisions/0010.
"""

from msgspec import Struct

from analyzer.model.events import Certainty, Citation, Wait
from analyzer.model.requests import Never
from analyzer.sources.kubernetes.broken_containers import BROKEN
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.records import BOUND, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

UNSTARTED_NS = 1800 * SECOND_NS
"""A large image takes minutes, and a registry that was away is back within the half hour that Kueue gives pods to get
ready (`waitForPodsReady.timeout`)."""

HOPELESS = frozenset({"InvalidImageName"})
"""What no second try can cure."""


class Unstarted(Struct, frozen=True):
    """A pod that never started: since when it has its node, why, and whether a further try may succeed."""

    since_ns: int
    why: str
    hopeless: bool
    citation: Citation


class Unstartable(Mechanism):
    """Bound pods with cards of which a container cannot be started."""

    kinds = frozenset()

    def __init__(self) -> None:
        self._pods: dict[str, Unstarted] = {}

    @property
    def awake(self) -> bool:
        return bool(self._pods)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod out of the ordinary; those without cards hold nothing that others would miss."""
        found = None
        if not gone and record.stage is BOUND and record.leaving is None and record.shape.gpus and not record.ready:
            found = _unstarted(pod, record)
        if found is None:
            self._pods.pop(record.key, None)
        else:
            self._pods[record.key] = found

    def look(self, store: Store, now_ns: int) -> Look:
        burdens = {
            key: Burden(
                wait=Wait(request=Never(one.why), since_ns=one.since_ns),
                certainty=Certainty.PROVEN if one.hopeless else Certainty.SUSPECTED,
                citations=(one.citation,),
            )
            for key, one in sorted(self._pods.items())
            if now_ns - one.since_ns >= UNSTARTED_NS and key in store.pods
        }
        return Look(burdens=burdens) if burdens else NOTHING


def _unstarted(pod: Pod, record: PodRecord) -> Unstarted | None:
    """Why the pod has never started; None if it has, or is just about to."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if record.started_ns is None or any(one.restart_count for one in statuses):
        return None
    # Containers start one after the other: the one that does not has been waiting since the one before it ended.
    ended = (one.state.terminated for one in pod.status.init_container_statuses if one.state is not None)
    times = (parse_ns(one.finished_at) for one in ended if one is not None)
    since_ns = max((record.started_ns, *(at_ns for at_ns in times if at_ns is not None)))
    for one in statuses:
        waiting = one.state.waiting if one.state is not None else None
        if waiting is not None and waiting.reason in BROKEN:
            said = f"{waiting.reason}: {waiting.message}" if waiting.message else waiting.reason
            why = f"container {one.name} of pod {record.key} has never been able to start ({said})"
            return Unstarted(since_ns, why, waiting.reason in HOPELESS, record.citation)
    return None
