"""A recording told once more, up to a moment, to a cluster of its own."""

from collections.abc import Sequence
from typing import Protocol

from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.objects import KubeObject
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document


class Listener(Protocol):
    """Who hears of every object as it was seen."""

    def __call__(self, thing: KubeObject, *, gone: bool) -> None: ...


def told_again(
    cluster: Cluster, documents: Sequence[Document], options: ReadOptions, until_ns: int, listener: Listener
) -> None:
    """Tell all that was observed until then, and end with a restatement at that time."""
    incident = Incident(documents, options)
    for listed in incident.ahead():
        cluster.take(listed)
        for pod in listed.pods:
            listener(pod, gone=False)
    incident.finish()
    for at_ns, observations in incident.moments():
        if at_ns > until_ns:
            break
        for observation in observations:
            cluster.apply(observation)
            if isinstance(observation, Seen):
                listener(observation.object, gone=observation.gone)
        cluster.restate(at_ns)
    cluster.restate(until_ns)
