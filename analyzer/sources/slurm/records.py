"""What was read, in one form whatever wrote it. None means: this form does not say.

Text times are local: `Reading.local` tells whether the times of a record have yet to be shifted.
"""

from msgspec import Struct, field

from analyzer.model.events import Citation
from analyzer.sources.recording import Complaint

COMPLAINTS_MAX = 20
"""Complaints kept for one document; the rest is a number."""


class JobRecord(Struct, kw_only=True):
    """A job, an array task, the pending rest of an array, or one component of a heterogeneous job.

    `tasks` of an array are as written ("8", "10-15"). Amounts: bytes for memory, seconds for limits. `each_node` is
    what it holds there by kind. `exclusive`: it gets whole nodes.
    """

    form: str
    citation: Citation
    raw_id: int | None = None
    array_id: int | None = None
    array_tasks: str | None = None
    throttle: int | None = None
    het_id: int | None = None
    het_offset: int | None = None
    cluster: str | None = None
    name: str | None = None
    user: str | None = None
    account: str | None = None
    qos: str | None = None
    partition: str | None = None
    state: str | None = None
    reason: str | None = None
    detail: str | None = None
    dependency: str | None = None
    submit_ns: int | None = None
    eligible_ns: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    looked_ns: int | None = None
    limit_s: int | None = None
    run_s: int | None = None
    nodes: tuple[str, ...] | None = None
    planned_nodes: tuple[str, ...] | None = None
    required_nodes: tuple[str, ...] | None = None
    excluded_nodes: tuple[str, ...] | None = None
    node_count: int | None = None
    cpus: int | None = None
    task_count: int | None = None
    cpus_each_node: int | None = None
    memory_each_node: int | None = None
    memory_each_cpu: int | None = None
    requested: dict[str, int] | None = None
    allocated: dict[str, int] | None = None
    gres_each_node: dict[str, int] | None = None
    gres_in_all: dict[str, int] | None = None
    gres_each_task: dict[str, int] | None = None
    each_node: dict[str, dict[str, int]] | None = None
    licences: str | None = None
    reservation: str | None = None
    features: str | None = None
    exclusive: bool | None = None
    priority: int | None = None
    batch: bool | None = None
    batch_host: str | None = None
    from_host: str | None = None
    from_session: int | None = None
    submit_line: str | None = None
    output: str | None = None
    restarts: int | None = None


class NodeRecord(Struct, kw_only=True):
    """A node. `states` are words in capitals: IDLE, MIXED, DRAIN, DOWN..."""

    name: str
    citation: Citation
    host: str | None = None
    address: str | None = None
    states: frozenset[str] | None = None
    cpus: int | None = None
    memory_bytes: int | None = None
    gres: dict[str, int] | None = None
    partitions: tuple[str, ...] | None = None
    features: frozenset[str] | None = None
    reason: str | None = None
    used: dict[str, int] | None = None


class PartitionRecord(Struct, kw_only=True):
    """A partition: its nodes, whether it is up, what it allows."""

    name: str
    citation: Citation
    nodes: tuple[str, ...] | None = None
    up: bool | None = None
    exclusive: bool = False
    qos: str | None = None
    tier: int | None = None
    preempts: bool | None = None
    """Whether Slurm may take units from its jobs (PreemptMode); None: this form does not say."""


class ReservationRecord(Struct, kw_only=True):
    """A reservation: nodes for some jobs, for a time."""

    name: str
    citation: Citation
    nodes: tuple[str, ...] = ()
    start_ns: int | None = None
    end_ns: int | None = None
    active: bool | None = None


class LicenceRecord(Struct, kw_only=True):
    """How many units of a licence exist."""

    name: str
    citation: Citation
    total: int


class LimitRecord(Struct, kw_only=True):
    """The limits of a QOS or of an association (`qos` None then). Only what is set is in it."""

    citation: Citation
    qos: str | None = None
    account: str | None = None
    user: str | None = None
    partition: str | None = None
    parent: str | None = None
    group: dict[str, int] = field(default_factory=dict)
    each_job: dict[str, int] = field(default_factory=dict)
    each_node: dict[str, int] = field(default_factory=dict)
    each_user: dict[str, int] = field(default_factory=dict)
    each_account: dict[str, int] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)
    wall_s: int | None = None
    preempts: tuple[str, ...] = ()
    """Of a QOS: those whose jobs it may take units from."""


class StepRecord(Struct, kw_only=True):
    """A step of a job. `step` is as written: 0, batch, extern, or TDB (sic) and TBD while it waits."""

    job: str
    step: str
    citation: Citation
    state: str
    cpus: int = 0
    amounts: dict[str, int] = field(default_factory=dict)
    start_ns: int | None = None
    host: str = ""
    pid: int = 0
    name: str = ""


class ProcessRecord(Struct, kw_only=True):
    """A line of a process list."""

    pid: int
    citation: Citation
    parent: int | None = None
    session: int | None = None
    age_s: int | None = None
    command: str = ""


class ListedPid(Struct, frozen=True):
    """A line of `scontrol listpids`: this process belongs to that step of that job."""

    pid: int
    job: str
    step: str
    citation: Citation


class OutputRecord(Struct, kw_only=True):
    """What a job's own output says of steps and of jobs submitted from inside. `waiting`: steps announced, not made."""

    path: str
    waiting: dict[str, int] = field(default_factory=dict)
    last_waits: dict[str, bool] = field(default_factory=dict)
    submitted: list[str] = field(default_factory=list)
    lines: dict[str, Citation] = field(default_factory=dict)


class LogRecord(Struct, frozen=True):
    """What the controller's log says became of a job: "submitted", "started", "ended", "requeued"."""

    at_ns: int | None
    what: str
    job: str
    nodes: tuple[str, ...]
    citation: Citation


class JobList(Struct, frozen=True):
    """The beginning of one list of jobs. `first` is how many jobs of the document were read before it."""

    form: str
    line: int
    first: int


class Reading(Struct, kw_only=True):
    """All that one document told."""

    document: int
    path: str
    local: bool = True
    kinds: dict[str, int] = field(default_factory=dict)
    jobs: list[JobRecord] = field(default_factory=list)
    nodes: list[NodeRecord] = field(default_factory=list)
    partitions: list[PartitionRecord] = field(default_factory=list)
    reservations: list[ReservationRecord] = field(default_factory=list)
    licences: list[LicenceRecord] = field(default_factory=list)
    limits: list[LimitRecord] = field(default_factory=list)
    steps: list[StepRecord] = field(default_factory=list)
    processes: list[ProcessRecord] = field(default_factory=list)
    pids: list[ListedPid] = field(default_factory=list)
    outputs: list[OutputRecord] = field(default_factory=list)
    log: list[LogRecord] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    clusters: set[str] = field(default_factory=set)
    lists: list[JobList] = field(default_factory=list)
    """Where lists of jobs begin, in the order of the document."""
    stamps: list[tuple[int, int]] = field(default_factory=list)
    """Moments at which an output was taken, where it says so, each with its line."""
    headed: list[tuple[int, str]] = field(default_factory=list)
    """Lines from which on everything is of the cluster of that name (`squeue -M`)."""
    first_ns: int | None = None
    last_ns: int | None = None
    offset_s: int | None = None
    """What local time was ahead of UTC, where a text gives both."""
    latest_kind: str = ""
    """What was understood last: a record of another kind begins another output."""
    listed: set[str | None] = field(default_factory=set)
    """Keys of the jobs in the list of jobs that was read last."""
    records: int = 0
    skipped: int = 0
    complaints: list[Complaint] = field(default_factory=list)
    complaints_left_out: int = 0

    def passed(self, at_ns: int) -> None:
        """The document speaks of this moment as gone."""
        self.first_ns = at_ns if self.first_ns is None else min(self.first_ns, at_ns)
        self.last_ns = at_ns if self.last_ns is None else max(self.last_ns, at_ns)

    def stamped(self, line: int, at_ns: int) -> None:
        """An output that stands here says that it was taken at this moment."""
        self.stamps.append((line, at_ns))
        self.passed(at_ns)

    def count(self, kind: str) -> None:
        """One more record of this kind was understood."""
        self.records += 1
        self.latest_kind = kind
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def lose(self, line: int, text: str) -> None:
        """One record could not be understood: the sentence, or its number if there are too many."""
        self.skipped += 1
        if len(self.complaints) < COMPLAINTS_MAX:
            self.complaints.append(Complaint(line, text))
        else:
            self.complaints_left_out += 1
