"""Several clusters in one folder: what belongs to which, and names that keep their resources apart.

A record's cluster is what it says itself (`cluster` in JSON, the column of sacct and squeue), else the heading above it
(`CLUSTER: lab`, of `squeue -M`), else the only one that its document names (`meta.slurm.cluster`, the configuration,
the log's first lines), else that of all other documents of its folder, else the one whose jobs or nodes it lists. What
fits none of these is left out, with a sentence: limits and licences of one cluster say nothing about another.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from analyzer.model.events import ActorObserved, Event, Holds, ResourceObserved, Wait
from analyzer.model.ids import ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from analyzer.sources.slurm.records import Reading

_RECORDS = (
    *("jobs", "nodes", "partitions", "reservations", "licences", "limits", "steps", "processes", "pids", "outputs"),
    "log",
)


class Cluster(Struct, frozen=True):
    """Its name (None where no document names any), and what tells of it."""

    name: str | None
    readings: list[Reading]


def apart(readings: Sequence[Reading]) -> list[Cluster]:
    """One entry for each cluster, by name; the readings as they are where there is only one."""
    names = {name for reading in readings for name in _named(reading)}
    if len(names) < 2:
        return [Cluster(min(names, default=None), list(readings))]
    divided = [_divided(reading) for reading in readings]
    known: dict[str, list[Reading]] = {name: [] for name in sorted(names)}
    unknown: list[Reading] = []
    for parts in divided:
        for name, part in sorted(parts.items()):
            (known[name] if name else unknown).append(part)
    by_folder = _by_folder(known)
    marks = {name: _marks(parts) for name, parts in known.items()}
    for part in unknown:
        owner = by_folder.get(_folder(part)) or _by_content(part, marks)
        if owner is not None:
            known[owner].append(part)
        else:
            original = next(one for one in readings if one.document == part.document)
            original.lose(0, f"of which of the clusters {', '.join(known)} this is does not show: it is left out.")
    return [Cluster(name, sorted(parts, key=lambda one: one.document)) for name, parts in known.items()]


def _named(reading: Reading) -> set[str]:
    said = {job.cluster for job in reading.jobs if job.cluster} | {name for _, name in reading.headed}
    return said | _of_document(reading)


def _of_document(reading: Reading) -> set[str]:
    configured = reading.settings.get("ClusterName")
    return reading.clusters | ({configured} if configured else set())


def _divided(reading: Reading) -> dict[str, Reading]:
    """The reading by cluster; under "" what does not say."""
    alone = _of_document(reading)
    if not reading.headed and not {job.cluster for job in reading.jobs} - {None} - alone:
        return {next(iter(alone)) if len(alone) == 1 else "": reading}
    owners = {name for name in (*(job.cluster for job in reading.jobs), *(name for _, name in reading.headed)) if name}
    found: dict[str, Reading] = {}
    for name in sorted({*owners, *alone}):
        part = structs.replace(reading, clusters={name}, settings={}, lists=[], complaints=[])
        for where in _RECORDS:
            mine = [one for one in getattr(reading, where) if _owner(reading, one, owners | alone) == name]
            setattr(part, where, mine)
        found[name] = part
    return found


def _owner(reading: Reading, record: object, names: set[str]) -> str:
    own = getattr(record, "cluster", None)
    if own:
        return str(own)
    line = getattr(record, "citation", (0, 0))[1]
    above = [name for at, name in reading.headed if at <= line]
    if above:
        return above[-1]
    return next(iter(names)) if len(names) == 1 else ""


def _by_folder(known: dict[str, list[Reading]]) -> dict[str, str | None]:
    """The cluster of each folder all of whose documents that name one name the same."""
    found: dict[str, str | None] = {}
    for name, parts in known.items():
        for part in parts:
            folder = _folder(part)
            found[folder] = name if found.get(folder, name) == name else None
    return found


def _folder(reading: Reading) -> str:
    return reading.path.rpartition("/")[0]


def _marks(parts: Iterable[Reading]) -> set[tuple[str, object]]:
    """By what a cluster is known: its jobs with their names, its nodes, its partitions."""
    found: set[tuple[str, object]] = set()
    for part in parts:
        found |= _marks_of(part)
    return found


def _marks_of(part: Reading) -> set[tuple[str, object]]:
    found: set[tuple[str, object]] = {("job", (job.raw_id, job.name, job.user)) for job in part.jobs}
    found |= {("job", (job.raw_id, job.name, None)) for job in part.jobs}
    found |= {("id", pid.job) for pid in part.pids} | {("id", step.job) for step in part.steps}
    found |= {("id", str(job.raw_id)) for job in part.jobs}
    found |= {("node", node) for job in part.jobs for node in job.nodes or ()}
    found |= {("node", node.name) for node in part.nodes}
    found |= {("node", node) for partition in part.partitions for node in partition.nodes or ()}
    return found


def _by_content(part: Reading, marks: dict[str, set[tuple[str, object]]]) -> str | None:
    """The one cluster with which it shares most; None if that is none, or two."""
    mine = _marks_of(part)
    shared = Counter({name: len(mine & theirs) for name, theirs in marks.items()})
    (best, most), (_, second) = shared.most_common(2)
    return best if most > second else None


def named_apart(events: Iterable[Event], cluster: str) -> list[Event]:
    """The same events with resources and nodes called `NAME@CLUSTER`, since two clusters may both have a `gpu-0`."""
    return [_event(event, cluster) for event in events]


def _event(event: Event, cluster: str) -> Event:
    match event:
        case ResourceObserved():
            return structs.replace(event, resource=_name(event.resource, cluster))
        case ActorObserved():
            losses = event.losses
            if losses is not None:
                losses = structs.replace(losses, resources=tuple(_name(one, cluster) for one in losses.resources))
            return structs.replace(
                event, holds=_holds(event.holds, cluster), wait=_wait(event.wait, cluster), losses=losses
            )
        case _:
            return event


def _holds(holds: Holds, cluster: str) -> Holds:
    return tuple((_name(resource, cluster), units) for resource, units in holds)


def _wait(wait: Wait | None, cluster: str) -> Wait | None:
    return None if wait is None else structs.replace(wait, request=_request(wait.request, cluster))


def _request(request: Request, cluster: str) -> Request:
    match request:
        case Units():
            return structs.replace(request, resource=_name(request.resource, cluster))
        case Pods():
            return structs.replace(request, among=tuple(f"{node}@{cluster}" for node in request.among))
        case KOutOfN():
            return structs.replace(request, parts=tuple(_request(part, cluster) for part in request.parts))
        case Done() | Arrivals() | Never():
            return request


def _name(resource: ResourceId, cluster: str) -> ResourceId:
    return ResourceId(f"{resource}@{cluster}")
