"""What must start together: one row per convention, the first that fits a pod wins (README.md has the table).

A row says how a pod names its gang, and where the minimum is declared. A plain Job is no gang: its pods end one by
one. A gang that no row declares is only *suspected*: an Indexed Job whose containers start torchrun and the like.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from analyzer.model.events import Certainty
from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.objects import Custom
from analyzer.sources.kubernetes.owners import Owner, Owners
from analyzer.sources.kubernetes.records import IN_TREE_GROUP, NAME_LABELS, PodRecord
from analyzer.sources.kubernetes.times import SECOND_NS

COSCHEDULING_PERMIT_NS = 60 * SECOND_NS
IN_TREE_PERMIT_NS = 300 * SECOND_NS


class Member(Struct, frozen=True):
    """What a row looks at: a pod, or the template of pods that nobody has made yet."""

    namespace: str
    name: str
    marks: Mapping[str, str]
    owner: Owner | None
    owner_kind: str
    owner_name: str
    launches: bool


class Gang(Struct, frozen=True):
    """Which gang a pod is in, by which row of the table."""

    namespace: str
    name: str
    row: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class Terms(Struct, frozen=True, kw_only=True):
    """What is declared. `minimum` None: not known. `atomic`: the scheduler places all of the minimum or nobody.

    `permit_ns`: how long such a scheduler keeps places in its memory. `declared`: where the minimum stands.
    `apart`: it is a number of its own, so the controllers may make fewer pods than it asks for.
    """

    minimum: int | None
    atomic: bool = False
    permit_ns: int = COSCHEDULING_PERMIT_NS
    certainty: Certainty = Certainty.PROVEN
    declared: str = ""
    apart: bool = False


class Groups:
    """Objects that declare gangs (PodGroups of every maker, and operators' jobs), by kind and name."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str, str], Custom] = {}

    def put(self, thing: Custom) -> None:
        self._objects[self._key(thing)] = thing

    def drop(self, thing: Custom) -> None:
        self._objects.pop(self._key(thing), None)

    @staticmethod
    def _key(thing: Custom) -> tuple[str, str, str]:
        return f"{thing.kind}.{thing.group}", thing.metadata.namespace or "default", thing.metadata.name

    def get(self, kind: str, namespace: str, name: str) -> Custom | None:
        """`kind` is `Kind.group`, e.g. `PodGroup.scheduling.volcano.sh`."""
        return self._objects.get((kind, namespace, name))

    def knows(self, kind: str) -> bool:
        """Whether any object of the kind is in the input: if not, that one is missing says nothing."""
        return any(known == kind for known, _, _ in self._objects)


def whole(value: object) -> int | None:
    """A count in a custom object: a whole number, or its text; anything else is not known."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and is_whole(value.strip()):
        return int(value)
    return None


def _at(spec: object, *path: str) -> Any:
    for key in path:
        if not isinstance(spec, Mapping):
            return None
        spec = spec.get(key)
    return spec


def _parts(spec: object, *path: str) -> list[Any]:
    """The entries of a list in a custom object; nothing if there is no list there."""
    found = _at(spec, *path)
    return list(found) if isinstance(found, list | tuple) else []


def _named_parts(spec: object, *path: str) -> list[tuple[str, Any]]:
    """The entries of a mapping in a custom object, sorted by name; nothing if there is no mapping there."""
    found = _at(spec, *path)
    if not isinstance(found, Mapping):
        return []
    return [(str(name), found[name]) for name in sorted(found, key=str)]


def _first(marks: Mapping[str, str], *keys: str) -> str:
    return next((marks[key] for key in keys if marks.get(key)), "")


def _most(members: Sequence[Member], key: str) -> int | None:
    counts = [count for member in members if (count := whole(member.marks.get(key))) is not None]
    return max(counts, default=None)


# --- knotwatch.dev: the annotation that people add by hand ---------------------------------------------------------


def _own_name(member: Member) -> str:
    if whole(member.marks.get("knotwatch.dev/min-available")) is None:
        return member.marks.get("knotwatch.dev/gang", "")
    named = member.marks.get("knotwatch.dev/gang") or member.owner_name or _first(member.marks, *NAME_LABELS)
    return named or member.name.rstrip("0123456789").rstrip("-") or member.name


def _own_terms(_gang: Gang, members: Sequence[Member], _groups: Groups, _owners: Owners) -> Terms:
    minimum = _most(members, "knotwatch.dev/min-available")
    return Terms(minimum=minimum, declared="the annotation knotwatch.dev/min-available", apart=True)


# --- pod groups of gang schedulers ----------------------------------------------------------------------------------


def _in_tree_terms(gang: Gang, _members: Sequence[Member], groups: Groups, _owners: Owners) -> Terms:
    group = groups.get("PodGroup.scheduling.k8s.io", gang.namespace, gang.name)
    if group is None:
        return Terms(minimum=None, atomic=True, permit_ns=IN_TREE_PERMIT_NS)
    policy = _at(group.spec, "schedulingPolicy") or _at(group.spec, "policy") or {}
    minimum = whole(_at(policy, "gang", "minCount"))
    if minimum is None and _at(policy, "gang") is None:
        return Terms(minimum=0, declared=f"PodGroup {gang.name}: basic policy")
    return Terms(
        minimum=minimum,
        atomic=True,
        permit_ns=IN_TREE_PERMIT_NS,
        declared=f"PodGroup {gang.name}: minCount",
        apart=True,
    )


def _min_member_terms(kind: str) -> Callable[[Gang, Sequence[Member], Groups, Owners], Terms]:
    def terms(gang: Gang, members: Sequence[Member], groups: Groups, _owners: Owners) -> Terms:
        group = groups.get(kind, gang.namespace, gang.name)
        if group is None:
            declared = _most(members, "pod-group.scheduling.sigs.k8s.io/min-available")
            return Terms(minimum=declared, atomic=True)
        permit_s = whole(_at(group.spec, "scheduleTimeoutSeconds"))
        tasks = _at(group.spec, "minTaskMember")
        by_task = [count for count in map(whole, tasks.values()) if count] if isinstance(tasks, Mapping) else []
        minimum = whole(_at(group.spec, "minMember"))
        if minimum is None and not by_task:
            minimum = 0
        return Terms(
            minimum=max(minimum or 0, sum(by_task)),
            atomic=True,
            permit_ns=COSCHEDULING_PERMIT_NS if permit_s is None else permit_s * SECOND_NS,
            declared=f"PodGroup {gang.name}: minMember",
            apart=True,
        )

    return terms


def _koordinator_terms(gang: Gang, members: Sequence[Member], groups: Groups, owners: Owners) -> Terms:
    minimum = _most(members, "gang.scheduling.koordinator.sh/min-available")
    if minimum is None:
        return _min_member_terms("PodGroup.scheduling.sigs.k8s.io")(gang, members, groups, owners)
    return Terms(
        minimum=minimum, atomic=True, declared="the annotation gang.scheduling.koordinator.sh/min-available", apart=True
    )


def _kueue_terms(_gang: Gang, members: Sequence[Member], _groups: Groups, _owners: Owners) -> Terms:
    minimum = _most(members, "kueue.x-k8s.io/pod-group-total-count")
    return Terms(minimum=minimum, declared="the annotation kueue.x-k8s.io/pod-group-total-count", apart=True)


# --- operators' jobs: everything that they make starts together -----------------------------------------------------


def _leader_worker_name(member: Member) -> str:
    name, index = (
        member.marks.get("leaderworkerset.sigs.k8s.io/name"),
        member.marks.get("leaderworkerset.sigs.k8s.io/group-index"),
    )
    return f"{name}-{index}" if name and index else ""


def _leader_worker_terms(gang: Gang, members: Sequence[Member], groups: Groups, _owners: Owners) -> Terms:
    whole_set = groups.get("LeaderWorkerSet.leaderworkerset.x-k8s.io", gang.namespace, gang.name.rpartition("-")[0])
    size = None if whole_set is None else whole(_at(whole_set.spec, "leaderWorkerTemplate", "size"))
    if size is None:
        size = _most(members, "leaderworkerset.sigs.k8s.io/size")
    return Terms(minimum=size, declared="LeaderWorkerSet: leaderWorkerTemplate.size")


def _job_set_terms(gang: Gang, members: Sequence[Member], groups: Groups, _owners: Owners) -> Terms:
    job_set = groups.get("JobSet.jobset.x-k8s.io", gang.namespace, gang.name)
    if job_set is None:
        wanted = {m.owner.uid: m.owner.wants for m in members if m.owner is not None and m.owner.wants is not None}
        return Terms(
            minimum=sum(wanted.values()) or None, certainty=Certainty.SUSPECTED, declared="the Jobs of the JobSet"
        )
    total = 0
    for part in _parts(job_set.spec, "replicatedJobs"):
        at_once = whole(_at(part, "template", "spec", "parallelism"))
        completions = whole(_at(part, "template", "spec", "completions"))
        each = 1 if at_once is None else at_once
        replicas = whole(_at(part, "replicas"))
        total += (each if completions is None else min(each, completions)) * (1 if replicas is None else replicas)
    return Terms(minimum=total, declared=f"JobSet {gang.name}: replicatedJobs")


_REPLICA_FIELDS = (
    "pytorchReplicaSpecs",
    "tfReplicaSpecs",
    "mpiReplicaSpecs",
    "xgbReplicaSpecs",
    "paddleReplicaSpecs",
    "jaxReplicaSpecs",
)


def _training_terms(gang: Gang, _members: Sequence[Member], groups: Groups, _owners: Owners) -> Terms:
    jobs = ((kind, groups.get(f"{kind}.kubeflow.org", gang.namespace, gang.name)) for kind in sorted(TRAINING_KINDS))
    kind, job = next(((kind, job) for kind, job in jobs if job is not None), ("", None))
    if job is None:
        return Terms(minimum=None)
    declared = whole(_at(job.spec, "runPolicy", "schedulingPolicy", "minAvailable"))
    if declared is not None:
        return Terms(minimum=declared, declared=f"{kind} {gang.name}: schedulingPolicy.minAvailable")
    total = 0
    fewest_workers = whole(_at(job.spec, "elasticPolicy", "minReplicas"))
    for field in _REPLICA_FIELDS:
        for role, part in _named_parts(job.spec, field):
            replicas = whole(_at(part, "replicas"))
            replicas = 1 if replicas is None else replicas
            total += min(replicas, fewest_workers) if role == "Worker" and fewest_workers is not None else replicas
    if not total and kind == "MPIJob":  # v1alpha forms: a launcher and `replicas` workers
        total = 1 + (whole(_at(job.spec, "replicas")) or 0)
    return Terms(minimum=total or None, declared=f"{kind} {gang.name}: replicas")


def _training_name(member: Member) -> str:
    if member.owner_kind in TRAINING_KINDS:
        return member.owner_name
    parent = member.owner.parent if member.owner is not None else None
    if parent is not None and parent.kind in TRAINING_KINDS:  # the launcher of an MPIJob is a Job of its own
        return parent.name
    return _first(member.marks, "training.kubeflow.org/job-name", "mpi-job-name")


def _ray_terms(gang: Gang, _members: Sequence[Member], groups: Groups, _owners: Owners) -> Terms:
    cluster = groups.get("RayCluster.ray.io", gang.namespace, gang.name)
    if cluster is None:
        return Terms(minimum=None)
    total = 1
    scales = _at(cluster.spec, "enableInTreeAutoscaling") is True
    for part in _parts(cluster.spec, "workerGroupSpecs"):
        if _at(part, "suspend") is True:
            continue
        count = whole(_at(part, "minReplicas" if scales else "replicas"))
        hosts = whole(_at(part, "numOfHosts")) or 1
        total += (0 if count is None else count) * hosts
    return Terms(minimum=total, declared=f"RayCluster {gang.name}: the head and the fewest workers")


def _collective_name(member: Member) -> str:
    if member.owner_kind != "Job" or not member.launches:
        return ""
    if member.owner is not None and not member.owner.indexed:
        return ""
    return member.owner_name


def _collective_terms(_gang: Gang, members: Sequence[Member], _groups: Groups, _owners: Owners) -> Terms:
    wants = [member.owner.wants for member in members if member.owner is not None and member.owner.wants is not None]
    return Terms(
        minimum=max(wants, default=len(members)),
        certainty=Certainty.SUSPECTED,
        declared="an Indexed Job that starts a collective run (torchrun, mpirun, WORLD_SIZE, ...)",
    )


TRAINING_KINDS = frozenset({"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"})


class Row(Struct, frozen=True, kw_only=True):
    """One convention: `name_of` gives "" where it does not apply to the pod.

    `by_marks`: it cannot apply to a pod without marks.
    """

    row: str
    name_of: Callable[[Member], str]
    terms_of: Callable[[Gang, Sequence[Member], Groups, Owners], Terms]
    by_marks: bool = True


def _mark(*keys: str) -> Callable[[Member], str]:
    return lambda member: _first(member.marks, *keys)


ROWS: tuple[Row, ...] = (
    Row(row="knotwatch", name_of=_own_name, terms_of=_own_terms),
    Row(row="in-tree", name_of=_mark(IN_TREE_GROUP), terms_of=_in_tree_terms),
    Row(
        row="koordinator",
        name_of=lambda member: member.marks.get("gang.scheduling.koordinator.sh/name", "").rpartition("/")[2],
        terms_of=_koordinator_terms,
    ),
    Row(
        row="coscheduling",
        name_of=_mark(
            "scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name"
        ),
        terms_of=_min_member_terms("PodGroup.scheduling.x-k8s.io"),
    ),
    Row(
        row="volcano",
        name_of=_mark("scheduling.k8s.io/group-name"),
        terms_of=_min_member_terms("PodGroup.scheduling.volcano.sh"),
    ),
    Row(row="kai", name_of=_mark("pod-group-name"), terms_of=_min_member_terms("PodGroup.scheduling.run.ai")),
    Row(row="kueue pod group", name_of=_mark("kueue.x-k8s.io/pod-group-name"), terms_of=_kueue_terms),
    Row(row="leader and workers", name_of=_leader_worker_name, terms_of=_leader_worker_terms),
    Row(row="job set", name_of=_mark("jobset.sigs.k8s.io/jobset-name"), terms_of=_job_set_terms),
    Row(
        row="training job",
        name_of=_training_name,
        terms_of=_training_terms,
        by_marks=False,
    ),
    Row(row="ray", name_of=_mark("ray.io/cluster"), terms_of=_ray_terms),
    Row(row="collective job", name_of=_collective_name, terms_of=_collective_terms, by_marks=False),
)
_WITHOUT_MARKS = tuple(row for row in ROWS if not row.by_marks)
_BY_NAME = {row.row: row for row in ROWS}

NO_MARKS: Mapping[str, str] = {}


def member_of(record: PodRecord, owners: Owners) -> Member:
    """The pod as the table sees it."""
    owner = owners.get(record.owner, record.namespace)
    kind = record.owner.kind if record.owner is not None else ""
    name = ""
    if record.owner is not None:
        name = owners.line(record.owner, record.namespace).name if kind == "ReplicaSet" else record.owner.name
    launches = record.launches or (owner is not None and owner.launches)
    return Member(record.namespace, record.name, record.marks or NO_MARKS, owner, kind, name, launches)


def template_member(owner: Owner) -> Member:
    """The pods that a controller would make, as the table sees them."""
    return Member(owner.namespace, owner.name, owner.marks or NO_MARKS, owner, owner.kind, owner.name, owner.launches)


def gang_of(member: Member) -> Gang | None:
    """The gang of a pod by the first row that fits; None for a pod that stands for itself."""
    for row in ROWS if member.marks else _WITHOUT_MARKS:
        name = row.name_of(member)
        if name:
            return Gang(member.namespace, name, row.row)
    return None


def terms_of(gang: Gang, members: Sequence[Member], groups: Groups, owners: Owners) -> Terms:
    """What is declared for the gang."""
    return _BY_NAME[gang.row].terms_of(gang, members, groups, owners)
