"""Batch scripts as a hypothesis: what the translation says of the cluster with these jobs in the queue, and without.

The job gets the next free id. Whose it is does not stand in a script, so limits of users and of their accounts count
only as far as the script names an account or a QOS.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from analyzer.errors import UsageError
from analyzer.model.events import ActorObserved, Event, ExcuseKind, ResourceObserved
from analyzer.model.ids import ActorId
from analyzer.model.requests import Never
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document
from analyzer.sources.slurm.actors import events
from analyzer.sources.slurm.forms import JSON, form_of
from analyzer.sources.slurm.history import latest_pictures
from analyzer.sources.slurm.json_documents import read_json
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.records import JobRecord, Reading
from analyzer.sources.slurm.scripts import ScriptError, read_script
from analyzer.sources.slurm.texts import read_text
from analyzer.sources.submission import Submission, refused


def submitted_scripts(
    real: Sequence[Document], scripts: Sequence[Document], options: ReadOptions, now_ns: int
) -> Submission:
    """All that is different once these scripts are in the queue at that moment.

    Reads the recording once more. Raises UnreadableError for an option that cannot be meant, UsageError where the
    recording does not tell enough.
    """
    before, *others = latest_pictures(_readings(real), options.tz_offset_s)
    if others:
        names = ", ".join(one.cluster for one in (before, *others))
        raise UsageError(
            f"The input tells of several clusters ({names}): hand over the files of the one that is meant."
        )
    if not before.jobs or all(job.forms == {"slurmctld log"} for job in before.jobs.values()):
        raise UsageError(
            "There is no list of jobs in the input (squeue, scontrol show job): a script cannot be judged."
        )
    known = {one for job in before.jobs.values() for one in (job.order[0], job.said.raw_id or 0)}
    number = max(known)
    notes: list[str] = []
    queued: list[JobRecord] = []
    for document in scripts:
        number += 1
        record, about = _queued(document, before, number, now_ns)
        queued.append(record)
        notes += about
    told = Reading(document=scripts[0].index, path=scripts[0].path, local=False, jobs=queued)
    after = latest_pictures([*_readings(real), told], options.tz_offset_s)[0]
    old = {_subject(event): event for event in events(before, now_ns)}
    changed: list[ActorObserved | ResourceObserved] = [
        _refused_at_once(event)
        for event in events(after, now_ns)
        if isinstance(event, ActorObserved | ResourceObserved) and old.get(_subject(event)) != event
    ]
    actors = [ActorId(f"slurm-job/{after.cluster}/{record.raw_id}") for record in queued]
    named = [f"{one.path} is called {actor} here." for one, actor in zip(scripts, actors, strict=True)]
    return Submission(events=tuple(changed), actors=tuple(actors), notes=(*named, *notes))


def _readings(documents: Sequence[Document]) -> list[Reading]:
    found = []
    for document in documents:
        reading = Reading(document=document.index, path=document.path)
        content = str(document.content, "utf-8", "replace")
        (read_json if form_of(document.content) == JSON else read_text)(reading, content)
        found.append(reading)
    return found


def _queued(document: Document, before: Picture, number: int, now_ns: int) -> tuple[JobRecord, list[str]]:
    try:
        script = read_script(str(document.content, "utf-8", "replace"), (document.index, 0))
    except ScriptError as error:
        raise refused(document.path, error.line, error.text) from None
    record = script.record
    record.raw_id = number
    if record.array_tasks is not None:
        record.array_id = number
    record.submit_ns = record.looked_ns = now_ns
    record.cluster = before.cluster
    record.partition = _partition(document, before, record.partition)
    for node in (*(record.required_nodes or ()), *(record.excluded_nodes or ())):
        if before.nodes and node not in before.nodes:
            raise refused(document.path, 0, f"there is no node {node} in the input.")
    ignored = ", ".join(dict.fromkeys(script.ignored))
    return record, [f"Not taken into account of {document.path}: {ignored}."] if ignored else []


def _partition(document: Document, before: Picture, wanted: str | None) -> str:
    """The partition as written, else the only one there is."""
    nodes = (node.partitions or () for node in before.nodes.values())
    known = sorted({*before.partitions, *(name for names in nodes for name in names)})
    if wanted is None:
        if len(known) != 1:
            has = f": there are {', '.join(known)}" if known else ""
            raise refused(document.path, 0, f"names no partition{has}. Add `#SBATCH --partition=NAME`.")
        return known[0]
    for name in wanted.split(","):
        if known and name not in known:
            raise refused(document.path, 0, f"there is no partition {name} in the input: it has {', '.join(known)}.")
    return wanted


def _subject(event: Event) -> tuple[str, str]:
    match event:
        case ActorObserved():
            return ("actor", event.actor)
        case ResourceObserved():
            return ("resource", event.resource)
        case _:
            return (type(event).__name__, "")


def _refused_at_once(event: ActorObserved | ResourceObserved) -> ActorObserved | ResourceObserved:
    """A job in a recording has been taken by Slurm, so a doubt is ours. One on paper that fits nowhere is refused."""
    if isinstance(event, ResourceObserved) or event.wait is None or event.wait.excuse is None:
        return event
    if event.wait.excuse.kind is not ExcuseKind.DISPUTED:
        return event
    why = "none of the nodes of its partition is large enough: Slurm would refuse it"
    return replace(event, wait=replace(event.wait, request=Never(why), excuse=None))
