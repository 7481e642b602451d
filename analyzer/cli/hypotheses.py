"""From what a person typed to changes of the state: names are resolved, files are read and translated."""

from collections.abc import Sequence

from msgspec import Struct

from analyzer.cli.naming import the_node, the_one
from analyzer.codec.whatif import AskedRow
from analyzer.errors import UsageError
from analyzer.hypothesis import Change, Drain, Evict, Kept, Prioritise, Restate
from analyzer.model.ids import kind_of, place_of
from analyzer.run import Replay
from analyzer.sources.document import open_documents
from analyzer.sources.facts.source import SOURCE as FACTS
from analyzer.sources.facts.submission import submitted_facts, submitted_nodes
from analyzer.sources.kubernetes.draining import staying
from analyzer.sources.kubernetes.source import SOURCE as KUBERNETES
from analyzer.sources.kubernetes.submission import only_nodes, submitted_manifests
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document
from analyzer.sources.slurm.scripts import is_script
from analyzer.sources.slurm.source import SOURCE as SLURM
from analyzer.sources.slurm.submission import submitted_scripts
from analyzer.sources.submission import Submission, refused

_BOOKS = ("quota", "volume")
"""Kinds whose last part is the name of a book or a claim, never of a node."""


class Wishes(Struct, frozen=True, kw_only=True):
    """What was typed, as it was typed."""

    evict: tuple[str, ...] = ()
    submit: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    add_node: tuple[str, ...] = ()
    priority: tuple[tuple[str, int], ...] = ()


class Hypothesis(Struct, frozen=True):
    """The changes, how they are told, and what the sources took for granted."""

    changes: tuple[Change, ...]
    asked: tuple[AskedRow, ...]
    notes: tuple[str, ...]


def hypothesis_of(wishes: Wishes, done: Replay, options: ReadOptions) -> Hypothesis:
    """Everything that was typed, as changes. Raises UsageError or UnreadableError at the first that cannot be meant."""
    view = done.engine.view()
    system = view.system
    submissions = _submissions(wishes, done, options)
    actors = {*system.actors, *(name for one in submissions for name in one.actors)}
    nodes = {place_of(name) for name in system.capacity if place_of(name) and kind_of(name).split("/")[0] not in _BOOKS}
    asked = [AskedRow("submit", path) for path in wishes.submit]
    asked += [AskedRow("add-node", path) for path in wishes.add_node]
    changes: list[Change] = [Restate(events=one.events, submitted=one.actors, nodes=one.nodes) for one in submissions]
    drained = tuple(dict.fromkeys(the_node(wanted, nodes) for wanted in wishes.drain))
    kept = _kept(done, drained, options)
    for node in drained:
        changes.append(Drain(node, kept.get(node, ())))
        asked.append(AskedRow("drain", node))
    for name in dict.fromkeys(the_one(wanted, system.actors) for wanted in wishes.evict):
        changes.append(Evict(name))
        asked.append(AskedRow("evict", name))
    evicted = {change.actor for change in changes if isinstance(change, Evict)}
    for wanted, priority in wishes.priority:
        name = the_one(wanted, actors)
        if name in evicted:
            raise UsageError(f"{name} cannot be evicted and given a priority at once.")
        changes.append(Prioritise(name, priority))
        asked.append(AskedRow("priority", name, priority))
    return Hypothesis(tuple(changes), tuple(asked), tuple(note for one in submissions for note in one.notes))


def _kept(done: Replay, nodes: Sequence[str], options: ReadOptions) -> dict[str, tuple[Kept, ...]]:
    """By node, what disruption budgets keep on it."""
    real = next((mine for source, mine in done.by_source if source is KUBERNETES), ())
    if not nodes or not real:
        return {}
    found = staying(real, nodes, options, done.engine.view().now_ns)
    return {
        node: tuple(Kept(one.actor, f"pod {one.pod}", one.keeps, one.why, one.cure) for one in stays)
        for node, stays in found.items()
    }


def _submissions(wishes: Wishes, done: Replay, options: ReadOptions) -> list[Submission]:
    view = done.engine.view()
    found: list[Submission] = []
    manifests: list[Document] = []
    scripts: list[Document] = []
    for document in _opened(wishes.submit, 0):
        if is_script(document.content):
            scripts.append(document)
        elif FACTS.recognises(document) is not None:
            found.append(submitted_facts(document, view.system.capacity, view.now_ns))
        else:
            manifests.append(_manifest(document))
    for document in _opened(wishes.add_node, 1 << 16):
        if FACTS.recognises(document) is not None:
            found.append(submitted_nodes(document, view.now_ns))
        else:
            only_nodes(_manifest(document), options)
            manifests.append(document)
    if manifests:
        real = next((mine for source, mine in done.by_source if source is KUBERNETES), ())
        if not real:
            raise UsageError(
                f"{manifests[0].path} is a Kubernetes manifest, and there are no Kubernetes objects in the input: "
                "say it as facts (schema: knotwatch.facts/v1)."
            )
        found.append(submitted_manifests(real, manifests, options, view.now_ns))
    if scripts:
        real = next((mine for source, mine in done.by_source if source is SLURM), ())
        if not real:
            raise UsageError(f"{scripts[0].path} is a batch script, and there is no output of Slurm in the input.")
        found.append(submitted_scripts(real, scripts, options, view.now_ns))
    return found


def _opened(paths: Sequence[str], first: int) -> list[Document]:
    """The documents under the paths, in the order given. One that cannot be read refuses the whole."""
    documents: list[Document] = []
    for path in paths:
        opened = open_documents((path,))
        for note in opened.unread:
            reason = note.complaints[0].text if note.complaints else "cannot be read"
            raise refused(opened.paths[note.index], 0, reason)
        if not opened.documents:
            raise refused(path, 0, "there is no file in it.")
        documents += [Document(first + len(documents), one.path, one.content) for one in opened.documents]
    return documents


def _manifest(document: Document) -> Document:
    if KUBERNETES.recognises(document) is None:
        raise refused(
            document.path,
            0,
            "is neither facts (schema: knotwatch.facts/v1), nor a Kubernetes manifest nor a batch script.",
        )
    return document
