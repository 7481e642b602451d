"""Why Slurm says a job does not start, and what that is worth. One reason is shown of several.

| class | what it means for the verdict |
|---|---|
| GATED | a person or the clock decides: held, begin time, a reservation to come, a partition that is down |
| NEVER | about the job alone, and against a limit: no end of any job helps |
| LIMIT | a limit on what a group uses together: it is compared with what is known of the limit |
| DECAYING | a limit on time used: it comes back by itself, and its state is in no saved output |
| STARTING | somebody is at work: prolog, data staging, nodes being set up, not looked at yet |
| ORDINARY | queueing for units, licences, other jobs: the model decides |
"""

import re
from enum import Enum, auto

from msgspec import Struct


class ReasonClass(Enum):
    """What a reason means for the verdict; the table above."""

    GATED = auto()
    NEVER = auto()
    LIMIT = auto()
    DECAYING = auto()
    STARTING = auto()
    ORDINARY = auto()


class LimitReason(Struct, frozen=True):
    """Which limit a reason speaks of. `scope`: group, user, account or own; `what`: gres, cpu, mem, node, jobs..."""

    qos: bool
    scope: str
    what: str


DEPENDENCY_NEVER = "DependencyNeverSatisfied"
DEPENDENCY = "Dependency"
LICENCES = "Licenses"
ARRAY_LIMIT = "JobArrayTaskLimit"
BEGIN_TIME = "BeginTime"
"""A set time, or the two minutes for which Slurm keeps back a job that it has queued again."""

_GATED = {
    "JobHeldUser": "held by its user",
    "JobHeldAdmin": "held by an administrator",
    "JobHoldMaxRequeue": "held after too many requeues",
    "JobLaunchFailure": "held after it could not be launched",
    "BeginTime": "it begins at a set time",
    "Reservation": "its reservation has not begun",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition is inactive",
    "SystemFailure": "held after a failure of the system",
    "FedJobLock": "another cluster of the federation has it",
    "WaitingForScheduling": "not looked at yet",
    "QOSUsageThreshold": "its usage threshold is passed",
}
_NEVER = {
    "PartitionNodeLimit": "it asks for more nodes than its partition allows",
    "PartitionTimeLimit": "its time limit is longer than its partition allows",
    "InvalidAccount": "its account is not valid",
    "InvalidQOS": "its QOS is not valid",
    "AccountNotAllowed": "its account may not use the partition",
    "QOSNotAllowed": "its QOS may not use the partition",
    "BadConstraints": "no node fulfils its constraints",
    "MaxMemPerLimit": "it asks for more memory than its partition allows",
    "ReservationDeleted": "its reservation was deleted",
    "DependencyNeverSatisfied": "a job it depends on did not end as it must",
}
_STARTING = frozenset(
    ("Prolog", "Cleaning", "BurstBufferStageIn", "BurstBufferResources", "BurstBufferOperation", "NodesReconfig",
     "SchedDefer", "DelayBoot", "None")
)  # fmt: skip
_OF_THE_JOB = re.compile(r"(QOS|Assoc|Max)\w*?(PerJob|PerNode|Min[A-Z]\w*)(Limit)?$|QOSMin\w+|\w*WallDurationPerJob\w*")
_DECAYING = re.compile(r"\w*(Minutes|RunMin|GrpWall|TimeLimit)\w*")
_SHARED = re.compile(r"(QOS|Assoc)?(Grp|Max)(\w+?)(PerUser|PerAccount|PA|PU)?(Limit)?")
_WHAT = (("gres", "gres"), ("cpu", "cpu"), ("mem", "mem"), ("node", "node"), ("submit", "submit"), ("job", "jobs"),
         ("billing", "billing"), ("lic", "license"), ("energy", "energy"), ("bb", "bb"))  # fmt: skip


def classify(reason: str) -> tuple[ReasonClass, str]:
    """The class, and in words what the reason says (the reason itself where we have no better words)."""
    word = reason.strip()
    if word in _GATED:
        return ReasonClass.GATED, _GATED[word]
    if word in _NEVER:
        return ReasonClass.NEVER, f"{_NEVER[word]} ({word})"
    if word in _STARTING:
        return ReasonClass.STARTING, word
    if word.startswith(("QOS", "Assoc", "MaxGRES", "MaxCpu", "MaxJobs", "MaxMem", "MaxNode", "MaxBilling")):
        if _OF_THE_JOB.fullmatch(word):
            return ReasonClass.NEVER, f"it asks for more than one job may have ({word})"
        if _DECAYING.fullmatch(word):
            return ReasonClass.DECAYING, word
        return ReasonClass.LIMIT, word
    return ReasonClass.ORDINARY, word


def limit_of(reason: str) -> LimitReason | None:
    """Which limit it is: `QOSGrpGRES` is a group limit of the QOS on generic resources."""
    found = _SHARED.fullmatch(reason)
    if found is None:
        return None
    owner, group, what, each, _ = found.groups()
    word = next((name for start, name in _WHAT if what.lower().startswith(start)), None)
    if word is None:
        return None
    scope = "group" if group == "Grp" else "own"
    if each in ("PerUser", "PU"):
        scope = "user"
    elif each in ("PerAccount", "PA"):
        scope = "account"
    return LimitReason(owner != "Assoc", scope, word)
