"""All that is known of one job, put together from every form that speaks of it.

A field is taken from the form that knows best: scontrol, then squeue, then sacct. The state is another matter, since
the outputs were not taken at one instant: ended beats running beats pending, which is the more silent. The word of
sacct counts for a state only where it says that the job ended, or where nobody else speaks of the job (the rest of an
array is out of date there, and its reasons are old).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from analyzer.model.events import Citation
from analyzer.model.limits import SECOND_NS
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.hostlists import numbers
from analyzer.sources.slurm.records import JobRecord
from analyzer.sources.slurm.states import COMPLETING, ENDED, PENDING

_RANK = {"scontrol show job": 0, "squeue --json": 1, "squeue": 2, "sacct": 3, "sacct --json": 4, "slurmctld log": 5}
LIVE_FORMS = frozenset(("scontrol show job", "squeue --json", "squeue"))
"""Forms that tell of the present; sacct tells of the past as well."""

_NAMED_JOB = "scontrol show job"
_CITATIONS_MAX = 3
YEAR_S = 365 * 86400
"""What Slurm writes for a job that runs without a limit in a partition without one."""

_FIELDS = tuple(name for name in JobRecord.__struct_fields__ if name not in ("form", "citation", "state"))
_TIMES = ("submit_ns", "eligible_ns", "start_ns", "end_ns", "looked_ns")


class Job(Struct, kw_only=True):
    """A job: `key` is its id as people write it ("5700", "5701_8", "5701" for an array's pending rest, "5502+1")."""

    key: str
    said: JobRecord
    state: str
    citations: tuple[Citation, ...]
    forms: frozenset[str]
    lost_ns: tuple[int, ...] = ()
    """When earlier runs of it ended, after which it was queued again, as accounting tells."""
    lost_nodes: tuple[str, ...] = ()
    """Where the last of them ran."""

    @property
    def pending(self) -> bool:
        return self.state in PENDING

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def running(self) -> bool:
        """It holds its units: it runs, starts, is suspended or is being cleaned up."""
        return not self.pending and not self.ended

    @property
    def completing(self) -> bool:
        return self.state == COMPLETING

    @property
    def order(self) -> tuple[int, str]:
        """The order of ids: by number."""
        return (int(self.key.partition("_")[0].partition("+")[0]), self.key)

    @property
    def until_ns(self) -> int | None:
        """When its time limit ends it, None if it has none or it is not known."""
        said = self.said
        if said.limit_s is None or said.limit_s < 0 or said.limit_s >= YEAR_S:
            return None
        return said.start_ns + said.limit_s * SECOND_NS if said.start_ns is not None else said.end_ns


def latest_ns(said: JobRecord) -> int | None:
    """The latest moment that the record tells of and that is no forecast."""
    moments = [moment for moment in (said.submit_ns, said.looked_ns) if moment is not None]
    if said.start_ns is not None and said.state not in PENDING:
        running = said.state not in ENDED
        moments.append(said.start_ns + (said.run_s or 0) * SECOND_NS if running else said.start_ns)
    if said.state in ENDED and said.end_ns is not None:
        moments.append(said.end_ns)
    return max(moments, default=None)


def is_single(form: str, keys: Collection[str | None]) -> bool:
    """Whether this is one job that was asked for by its number, and says nothing about what else there is."""
    return form == _NAMED_JOB and len(keys) == 1


def shifted(record: JobRecord, offset_s: int) -> JobRecord:
    """The record with its local times as absolute ones."""
    for name in _TIMES:
        moment = getattr(record, name)
        if moment is not None:
            setattr(record, name, moment - offset_s * SECOND_NS)
    return record


def as_of(record: JobRecord, until_ns: int) -> JobRecord | None:
    """What accounting would have told of the job at that moment; None of a job that was not there yet."""
    if not record.form.startswith("sacct") or record.state in PENDING:
        later = record.form.startswith("sacct") and (record.submit_ns or 0) > until_ns
        return None if later else record
    if record.submit_ns is not None and record.submit_ns > until_ns:
        return None
    if record.start_ns is not None and record.start_ns <= until_ns:
        gone_on = record.end_ns is not None and record.end_ns > until_ns
        return structs.replace(record, state="RUNNING", end_ns=None) if gone_on else record
    ends = record.start_ns or record.end_ns
    if ends is None or ends <= until_ns:
        return record
    return structs.replace(record, state="PENDING", start_ns=None, end_ns=None, run_s=None, nodes=(), allocated=None)


def put_together(records: Iterable[JobRecord]) -> dict[str, Job]:
    """Jobs by key. The order in which records come does not matter."""
    grouped: dict[str, list[JobRecord]] = {}
    for record in records:
        key = key_of(record)
        if key is not None:
            grouped.setdefault(key, []).append(record)
    _drop_started_tasks(grouped)
    found = {}
    for key, same in sorted(grouped.items()):
        present, earlier = _runs(same)
        job = found[key] = _merged(key, present)
        ended = [run for run in earlier if run.end_ns is not None]
        job.lost_ns = tuple(sorted({run.end_ns for run in ended if run.end_ns is not None}))
        job.lost_nodes = next((run.nodes for run in reversed(ended) if run.nodes), ())
    return found


def _runs(same: Sequence[JobRecord]) -> tuple[Sequence[JobRecord], Sequence[JobRecord]]:
    """Records of the present run, and those of earlier ones (`sacct -D`): Slurm sets SubmitTime anew with each."""
    latest_ns = max((one.submit_ns for one in same if one.submit_ns is not None), default=0)
    earlier = [
        one
        for one in same
        if one.form.startswith("sacct")
        and one.state in ENDED
        and one.submit_ns is not None
        and latest_ns - one.submit_ns > SECOND_NS // 2
    ]
    if not earlier:
        return same, ()
    taken = set(map(id, earlier))
    return [one for one in same if id(one) not in taken], sorted(
        earlier, key=lambda one: (one.submit_ns or 0, one.form)
    )


def key_of(record: JobRecord) -> str | None:
    """Its id as people write it. The pending rest of an array goes by the array's id, whatever form lists it."""
    if record.het_id is not None:
        return f"{record.het_id}+{record.het_offset or 0}"
    if record.array_id is not None and record.array_tasks is not None:
        single = is_whole(record.array_tasks)
        rest = record.state in PENDING and record.raw_id in (None, record.array_id)
        return f"{record.array_id}" if rest or not single else f"{record.array_id}_{record.array_tasks}"
    return None if record.raw_id is None else str(record.raw_id)


def _drop_started_tasks(grouped: dict[str, list[JobRecord]]) -> None:
    """Leave out tasks that sacct goes on listing as pending, and of which something else says that they run."""
    started = {(one.array_id, one.array_tasks) for same in grouped.values() for one in same if one.state not in PENDING}
    for key, same in list(grouped.items()):
        if any(one.array_id is not None and one.state in PENDING for one in same):
            kept = [one for one in same if not _is_over(one, started)]
            if kept:
                grouped[key] = kept
            else:
                del grouped[key]


def _is_over(record: JobRecord, started: set[tuple[int | None, str | None]]) -> bool:
    """Whether every task of this pending record is known to have started."""
    if record.array_id is None or record.state not in PENDING or not record.form.startswith("sacct"):
        return False
    tasks = numbers(record.array_tasks or "")
    return bool(tasks) and all((record.array_id, str(task)) in started for task in tasks)


def _merged(key: str, same: Sequence[JobRecord]) -> Job:
    ordered = sorted(same, key=lambda one: (_RANK.get(one.form, 9), one.citation))
    state = _state(ordered)
    matching = [one for one in ordered if _phase(one.state or "") == _phase(state)]
    others = [one for one in ordered if _phase(one.state or "") != _phase(state)]
    fields: dict[str, object] = {}
    for name in _FIELDS:
        fields[name] = next((value for one in (*matching, *others) if (value := getattr(one, name)) is not None), None)
    if state in PENDING:
        # What a later form says of a job that has started since is no part of a job that waits.
        fields["start_ns"] = fields["end_ns"] = fields["run_s"] = None
        fields["nodes"] = ()
    rest = [one for one in ordered if one.array_tasks is not None and not is_whole(one.array_tasks)]
    if rest and key == str(rest[0].array_id):
        fields["array_tasks"] = rest[0].array_tasks
    first = (*matching, *others)[0]
    said = JobRecord(form=first.form, citation=first.citation, state=state, **fields)  # type: ignore[arg-type]  # by name
    citations = tuple(dict.fromkeys(one.citation for one in (*matching, *others)))[:_CITATIONS_MAX]
    return Job(key=key, said=said, state=state, citations=citations, forms=frozenset(one.form for one in ordered))


def _phase(state: str) -> int:
    return 0 if state in PENDING else 2 if state in ENDED else 1


def _state(ordered: Sequence[JobRecord]) -> str:
    live = [one for one in ordered if not one.form.startswith("sacct") and one.form != "slurmctld log"]
    counted = live or list(ordered)
    known, places = set(map(id, counted)), {id(one): place for place, one in enumerate(ordered)}
    counted += [one for one in ordered if one.state in ENDED and id(one) not in known and not _requeued(one, live)]
    best = max(counted, key=lambda one: (_phase(one.state or ""), one.state == COMPLETING, -places[id(one)]))
    return best.state or "PENDING"


def _requeued(ended: JobRecord, live: Sequence[JobRecord]) -> bool:
    """An end that belongs to an earlier run of a job that was queued again."""
    return any(
        one.state not in ENDED
        and ended.end_ns is not None
        and max(one.start_ns or 0 if one.state not in PENDING else 0, one.eligible_ns or 0) >= ended.end_ns
        for one in live
    )


def alias_of(jobs: Mapping[str, Job]) -> dict[str, str]:
    """Keys by every id under which a dependency may name the job: its raw id, its array task."""
    found: dict[str, str] = {}
    for key, job in jobs.items():
        if job.said.raw_id is not None:
            found.setdefault(str(job.said.raw_id), key)
        found[key] = key
    return found
