"""Limits of QOS and associations, and licences, as resources: what exists, who holds how much, who needs how much.

A limit counts only where limits are enforced (the configuration says so, or somebody waits for one). Of a limit that is
not in the input a reason still tells that what is used and what is wanted are together more than it. So it is taken as
one unit less than that, which is the most that it can be, and the more silent.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from analyzer.model.events import Excuse, ExcuseKind
from analyzer.model.ids import ResourceId
from analyzer.model.requests import Never, Request, Units, any_of
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.limit_texts import JOBS
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.reasons import LICENCES, LimitReason, ReasonClass, classify, limit_of
from analyzer.sources.slurm.records import LimitRecord
from analyzer.sources.slurm.tres import gres_of, licences

_WHAT = {"cpu": "cpu", "mem": "mem", "node": "node", "billing": "billing", "jobs": JOBS}


class Claim(Struct, frozen=True):
    """Units of one limit that a job holds or needs."""

    resource: ResourceId
    units: int


class Quotas:
    """Every limit that counts, with its units."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self.capacity: dict[ResourceId, int] = {}
        self._running = [job for job in picture.jobs.values() if job.running]
        self._guess_licences()
        self._guessed: dict[str, tuple[Claim, ...]] = {}
        self._guess_limits()

    def holds(self, job: Job) -> dict[ResourceId, int]:
        """What a running job holds of licences and limits."""
        held = {_licence(name): units for name, units in licences(job.said.licences or "")[0].items()}
        if not job.completing:
            for claim in self._claims(job):
                held[claim.resource] = claim.units
        return {resource: units for resource, units in held.items() if units > 0 and resource in self.capacity}

    def needs(self, job: Job) -> list[Request]:
        """What a pending job needs of licences and limits."""
        amounts, either = licences(job.said.licences or "")
        parts: list[Request] = [
            Units(_licence(name), units)
            for name, units in sorted(amounts.items())
            if units > 0 and _licence(name) in self.capacity
        ]
        if either and parts:
            parts = [any_of(parts)]
        claims = {claim.resource: claim.units for claim in (*self._claims(job), *self._guessed.get(job.key, ()))}
        parts += [Units(resource, units) for resource, units in sorted(claims.items()) if units > 0]
        return parts

    def never(self, job: Job) -> Never | None:
        """Whether the job alone is more than its QOS or association lets one job have."""
        if not self._picture.enforced:
            return None
        for record in self._records(job):
            for name, limit in sorted(record.each_job.items()):
                wanted = _amounts(job).get(name, 0)
                if wanted > limit:
                    return Never(f"it asks for {wanted:,} {name}, and {_owner(record)} allows {limit:,} for one job")
        return None

    def excuse(self, job: Job) -> Excuse | None:
        """The job waits for a limit of which nothing is known."""
        reason = job.said.reason or ""
        if classify(reason)[0] is not ReasonClass.LIMIT or self._told(job, limit_of(reason)):
            return None
        if self._guessed.get(job.key):
            return None
        return Excuse(ExcuseKind.BLIND, f"{reason}: what that limit is stands in none of the files")

    def _claims(self, job: Job) -> Iterator[Claim]:
        """Every limit that the job falls under, with what it takes of it.

        Of limits of one kind that of the partition's QOS goes before the job's own, and that before the accounts'.
        """
        if not self._picture.enforced:
            return
        amounts = _amounts(job)
        taken: set[tuple[str, str]] = set()
        for record in self._records(job):
            for scope, limits, name in _scopes(record, job):
                for what, limit in limits.items():
                    if (scope, what) in taken:
                        continue
                    resource = ResourceId(f"{name}/{what}")
                    self.capacity[resource] = max(limit, 0)
                    yield Claim(resource, amounts.get(what, 0))
            if record.qos is not None:
                taken |= {(scope, what) for scope, limits, _ in _scopes(record, job) for what in limits}

    def _records(self, job: Job) -> list[LimitRecord]:
        """The job's QOS, that of its partition, its association, and the accounts above it."""
        limits, said = self._picture.limits, job.said
        partition = self._picture.partitions.get(said.partition or "")
        found = [limits.get(("", "", name)) for name in (partition.qos if partition else None, said.qos) if name]
        account = said.account or ""
        found.append(limits.get((account, said.user or "", "")) if said.user else None)
        seen: set[str] = set()
        while account and account not in seen:
            seen.add(account)
            record = limits.get((account, "", ""))
            found.append(record)
            account = (record.parent or "") if record is not None else ""
        return [record for record in found if record is not None]

    def _told(self, job: Job, reason: LimitReason | None) -> bool:
        """Whether a limit of this kind is among those known for the job."""
        if reason is None:
            return False
        for record in self._records(job):
            if (record.qos is not None) is not reason.qos:
                continue
            for scope, limits, _ in _scopes(record, job):
                if scope == reason.scope and any(_is_what(what, reason.what) for what in limits):
                    return True
        return False

    def _guess_licences(self) -> None:
        used: dict[str, int] = {}
        wanted: dict[str, int] = {}
        for job in self._picture.jobs.values():
            amounts, _ = licences(job.said.licences or "")
            for name, units in amounts.items():
                if job.running:
                    used[name] = used.get(name, 0) + units
                elif job.pending and job.said.reason == LICENCES:
                    wanted[name] = min(wanted.get(name, units), units)
        for name, record in sorted(self._picture.licences.items()):
            self.capacity[_licence(name)] = record.total
        for name in sorted(used.keys() & wanted.keys()):
            if name not in self._picture.licences:
                most = max((licences(job.said.licences or "")[0].get(name, 0) for job in self._jobs()), default=0)
                self.capacity[_licence(name)] = max(used[name] + wanted[name] - 1, most)

    def _jobs(self) -> Sequence[Job]:
        return [job for job in self._picture.jobs.values() if not job.ended]

    def _guess_limits(self) -> None:
        """Limits that only a reason tells of; what all who are running use of each is known if they are listed."""
        listed = any(job.running or "scontrol show job" in job.forms for job in self._picture.jobs.values())
        for job in self._picture.jobs.values():
            reason = limit_of(job.said.reason or "") if job.pending else None
            if reason is None or classify(job.said.reason or "")[0] is not ReasonClass.LIMIT or self._told(job, reason):
                continue
            together = self._together(job)
            guessed = self._guess(job, reason, together)
            if guessed is not None and listed:
                for claim, one in zip(guessed, together, strict=True):
                    self._guessed[one.key] = (claim,)

    def _together(self, job: Job) -> Sequence[Job]:
        """The components of a heterogeneous job count each by itself, and start together."""
        het = job.said.het_id
        return [job] if het is None else [one for one in self._picture.jobs.values() if one.said.het_id == het]

    def _guess(self, job: Job, reason: LimitReason, together: Sequence[Job]) -> tuple[Claim, ...] | None:
        said = job.said
        owner = said.qos if reason.qos else said.account
        whose: str | None = said.account if reason.scope == "account" else said.user
        if reason.scope == "group":
            whose = ""
        if not owner or whose is None:
            return None
        wanted: dict[str, int] = {}
        for one in together:
            for what, units in _amounts(one).items():
                if _is_what(what, reason.what):
                    wanted[what] = wanted.get(what, 0) + units
        if not wanted:
            return None
        what = min(wanted, key=lambda name: (":" in name, name))
        holders = [one for one in self._running if _same_group(one, job, reason)]
        used = sum(_amounts(one).get(what, 0) for one in holders)
        if not used and not (reason.what == "jobs" and len(together) > 1):
            return None  # who uses it up is not in the files
        place = f"{'qos' if reason.qos else 'account'}/{owner}" + (f"/{whose}" if whose else "")
        resource = ResourceId(f"{place}/{what}")
        self.capacity[resource] = max(self.capacity.get(resource, 0), used + wanted[what] - 1)
        for one in holders:
            before = self._guessed.get(one.key, ())
            claim = Claim(resource, _amounts(one).get(what, 0))
            if claim not in before:
                self._guessed[one.key] = (*before, claim)
        return tuple(Claim(resource, _amounts(one).get(what, 0)) for one in together)

    def guessed_holds(self, job: Job) -> dict[ResourceId, int]:
        """What a running job holds of limits that only reasons tell of."""
        return {claim.resource: claim.units for claim in self._guessed.get(job.key, ()) if claim.units > 0}

    def shared_needs(self, together: Iterable[Job]) -> list[Request]:
        """Needs of all components of one job, added up for each resource: they count together."""
        sums: dict[ResourceId, int] = {}
        others: list[Request] = []
        for job in together:
            for part in self.needs(job):
                if isinstance(part, Units):
                    sums[part.resource] = sums.get(part.resource, 0) + part.count
                else:
                    others.append(part)
        return [*(Units(resource, units) for resource, units in sorted(sums.items())), *others]


def _scopes(record: LimitRecord, job: Job) -> list[tuple[str, dict[str, int], str]]:
    said = job.said
    if record.qos is not None:
        place = f"qos/{record.qos}"
        found = [("group", record.group, place)]
        if said.user:
            found.append(("user", record.each_user, f"{place}/user/{said.user}"))
        if said.account:
            found.append(("account", record.each_account, f"{place}/account/{said.account}"))
        return found
    place = f"account/{record.account}" + (f"/user/{record.user}" if record.user else "")
    return [("group", record.group, place), ("own", record.own if record.user else {}, place)]


def _amounts(job: Job) -> dict[str, int]:
    """What the job takes, by name of trackable resource; one job is one of `jobs`."""
    said = job.said
    amounts = dict((said.allocated if job.running else None) or said.requested or said.allocated or {})
    if not amounts:
        count = max(said.node_count or 1, 1)
        amounts = {f"gres/{kind}": units * count for kind, units in (said.gres_each_node or {}).items()}
        amounts.update({f"gres/{kind}": units for kind, units in (said.gres_in_all or {}).items()})
        if said.cpus:
            amounts["cpu"] = said.cpus
        amounts["node"] = count
    if not gres_of(amounts) and job.running and said.each_node:
        for kinds in said.each_node.values():
            for kind, units in kinds.items():
                if kind not in ("cpu", "memory"):
                    amounts[f"gres/{kind}"] = amounts.get(f"gres/{kind}", 0) + units
    amounts[JOBS] = 1
    return amounts


def _same_group(one: Job, job: Job, reason: LimitReason) -> bool:
    mine, other = job.said, one.said
    same = other.qos == mine.qos if reason.qos else other.account == mine.account
    if reason.scope in ("user", "own"):
        same = same and other.user == mine.user
    elif reason.scope == "account":
        same = same and other.account == mine.account
    return same


def _is_what(name: str, what: str) -> bool:
    if what == "gres":
        return name.startswith("gres/")
    if what == "license":
        return name.startswith("license/")
    return name == _WHAT.get(what, what)


def _owner(record: LimitRecord) -> str:
    return f"QOS {record.qos}" if record.qos else f"account {record.account}"


def _licence(name: str) -> ResourceId:
    return ResourceId(f"license/{name}")
