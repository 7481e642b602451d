"""Manifests as a hypothesis: what the translation says of a cluster once they were applied, and what it said before.

The recording is told to a cluster of its own as in a replay; then come the manifests' objects and the pods that their
controllers would make. What is restated differently after that is the hypothesis.
"""

from collections.abc import Iterator, Sequence

from analyzer.codec.times import format_time
from analyzer.errors import UsageError
from analyzer.model.events import ActorGone, ActorObserved, ResourceObserved
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.decoding import kind_of_object
from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.kueue_submission import queued
from analyzer.sources.kubernetes.making import CannotMakeError, Maker
from analyzer.sources.kubernetes.objects import Custom, KubeObject, Node, Pod
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.told_again import told_again
from analyzer.sources.kubernetes.unfolding import unfolded
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document
from analyzer.sources.submission import Submission, refused


def submitted_manifests(
    real: Sequence[Document], manifests: Sequence[Document], options: ReadOptions, now_ns: int
) -> Submission:
    """All that is different once these manifests are applied at that moment, on top of what was recorded until then.

    Reads the recording once more. Raises UnreadableError for a manifest that is not wholly understood, UsageError for
    one whose objects are there already.
    """
    cluster = Cluster()
    maker = Maker(format_time(now_ns))

    def note(thing: KubeObject, *, gone: bool) -> None:
        if not gone:
            maker.learn(thing)

    told_again(cluster, real, options, now_ns, note)
    wanted = [(document, found) for document in manifests for found in _objects(document, options)]
    for _, found in wanted:
        maker.learn(found)
    before = set(cluster.store.pods)
    pods: list[str] = []
    workloads: list[str] = []
    for document, found in wanted:
        try:
            all_made = list(unfolded(maker, found, cluster.store.candidates))
            for made in queued(maker, cluster.store.kueue, all_made):
                _refuse_twice(cluster, document, made)
                cluster.apply(Seen(now_ns, made, gone=False, citation=(document.index, 0)))
                if isinstance(made, Custom) and made.kind == "Workload":
                    workloads.append(f"{made.metadata.namespace}/{made.metadata.name}")
                if isinstance(made, Pod):
                    pods.append(f"{made.metadata.namespace}/{made.metadata.name}")
        except CannotMakeError as error:
            raise refused(document.path, 0, f"{error}.") from None
    events = cluster.restate(now_ns)
    kept = tuple(event for event in events if isinstance(event, ActorObserved | ActorGone | ResourceObserved))
    kueue = cluster.store.kueue
    waiting = [kueue.actor(kueue.workloads[key]) for key in workloads if key in kueue.workloads]
    order: dict[str, int] = {name: place for place, name in enumerate(waiting)}
    order |= {f"pod/{key}": len(waiting) + place for place, key in enumerate(pods)}
    order |= {
        f"gang/{gang.key}": len(waiting) + place
        for place, key in enumerate(pods)
        if key not in before and (gang := cluster.store.gangs.get(key)) is not None
    }
    named = [event.actor for event in kept if isinstance(event, ActorObserved) and event.actor in order]
    return Submission(
        events=kept, actors=tuple(sorted(named, key=lambda name: (order[name], name))), notes=tuple(maker.notes)
    )


def _objects(document: Document, options: ReadOptions) -> Iterator[KubeObject]:
    """The objects of one manifest. Raises UnreadableError if any of it is not understood."""
    incident = Incident((document,), options)
    pods = [pod for listed in incident.ahead() for pod in listed.pods]
    incident.finish()
    for complaint in (complaint for note in incident.notes for complaint in note.complaints):
        raise refused(document.path, complaint.line, complaint.text)
    found = [one.object for _, seen in incident.moments() for one in seen if isinstance(one, Seen)]
    if not pods and not found:
        raise refused(document.path, 0, "there is no Kubernetes object in it.")
    yield from (*pods, *found)


def _refuse_twice(cluster: Cluster, document: Document, made: KubeObject) -> None:
    kind, metadata, store = kind_of_object(made), made.metadata, cluster.store
    there = (
        f"{metadata.namespace}/{metadata.name}" in store.pods
        if isinstance(made, Pod)
        else metadata.name in store.candidates.nodes
        if isinstance(made, Node)
        else store.owners.named(kind, metadata.namespace, metadata.name) is not None
    )
    if there:
        raise UsageError(
            f"{document.path}: {kind} {metadata.name} is in the input already: give it another name, "
            "or evict what is there and submit it under another name."
        )


def only_nodes(document: Document, options: ReadOptions) -> None:
    """Raises UnreadableError unless all objects of the manifest are nodes."""
    for found in _objects(document, options):
        if not isinstance(found, Node):
            raise refused(
                document.path, 0, f"a node is to be added, but a {kind_of_object(found)} is in it: use --submit."
            )
