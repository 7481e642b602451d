"""Who stays on nodes that would be drained: what their disruption budgets say at a moment of the recording."""

from collections.abc import Iterable, Sequence

from analyzer.sources.kubernetes.actors import HoldsCache, actor_of
from analyzer.sources.kubernetes.budgets import Guarded, guarded, refusals
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.objects import KubeObject, Pod, PodDisruptionBudget
from analyzer.sources.kubernetes.told_again import told_again
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document
from analyzer.sources.submission import Stay

_NOT_EVICTED = ("DaemonSet", "Node")
"""Owners whose pods a drain leaves alone."""


def staying(real: Sequence[Document], nodes: Iterable[str], options: ReadOptions, now_ns: int) -> dict[str, list[Stay]]:
    """By node, the pods that budgets keep there, sorted by name, and what each holds. Reads the recording once more."""
    pods: dict[str, Guarded] = {}
    budgets: dict[tuple[str, str], PodDisruptionBudget] = {}

    def note(thing: KubeObject, *, gone: bool) -> None:
        if isinstance(thing, Pod):
            seen = guarded(thing)
            owners = {reference.kind for reference in thing.metadata.owner_references}
            if gone or not owners.isdisjoint(_NOT_EVICTED):
                pods.pop(seen.key, None)
            else:
                pods[seen.key] = seen
        elif isinstance(thing, PodDisruptionBudget):
            key = (thing.metadata.namespace, thing.metadata.name)
            if gone:
                budgets.pop(key, None)
            else:
                budgets[key] = thing

    cluster = Cluster()
    told_again(cluster, real, options, now_ns, note)
    holds = HoldsCache()
    found: dict[str, list[Stay]] = {}
    for node, refused in refusals(pods.values(), budgets.values(), nodes).items():
        found[node] = []
        for one in refused:
            record = cluster.store.pods.get(one.pod)
            if record is not None:
                kept = holds.on(node, record.shape, ())
                found[node].append(Stay(actor_of(cluster.store, one.pod), one.pod, kept, one.why, one.cure))
    return found
