"""Limits of QOS and associations: tables of sacctmgr, and the text of `scontrol show assoc_mgr`.

assoc_mgr writes `limit(used)`, and `N` for none. Who is in a list of users or accounts there got the QOS's own limit.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import structs

from analyzer.model.events import Citation
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.records import LimitRecord
from analyzer.sources.slurm.states import given
from analyzer.sources.slurm.tables import Row
from analyzer.sources.slurm.times import duration_s
from analyzer.sources.slurm.tres import MEM, memory_bytes, tres

JOBS = "jobs"
"""The name under which numbers of jobs stand beside amounts of trackable resources."""

_LIMITS = ("group", "each_job", "each_node", "each_user", "each_account", "own")
_WITH_USED = re.compile(r"([\w/:.\-]+)=([^,(\s]*)\(([^)]*)\)")
_FIELD = re.compile(r"(\w+)=(\S*)")
_NAME_ID = re.compile(r"(.*?)\(\d+\)")


def qos_row(row: Row, citation: Citation) -> LimitRecord | str:
    """A row of `sacctmgr show qos`."""
    cells = row.cells
    name = cells.get("NAME", "")
    if not name:
        return "a QOS without a name is left out."
    return LimitRecord(
        citation=citation,
        qos=name,
        group=_with_jobs(_first(cells, "GRPTRES"), cells.get("GRPJOBS", "")),
        each_job=tres(_first(cells, "MAXTRESPERJOB", "MAXTRES", "MAXTRESPJ")),
        each_node=tres(_first(cells, "MAXTRESPERNODE", "MAXTRESPN")),
        each_user=_with_jobs(
            _first(cells, "MAXTRESPU", "MAXTRESPERUSER"), _first(cells, "MAXJOBSPU", "MAXJOBSPERUSER")
        ),
        each_account=_with_jobs(
            _first(cells, "MAXTRESPA", "MAXTRESPERACCOUNT"), _first(cells, "MAXJOBSPA", "MAXJOBSPERACCOUNT")
        ),
        wall_s=duration_s(_first(cells, "MAXWALL", "MAXWALLDURATIONPERJOB")),
        preempts=tuple(part for part in cells.get("PREEMPT", "").split(",") if part.strip()),
    )


def association_row(row: Row, citation: Citation) -> LimitRecord | str:
    """A row of `sacctmgr show assoc`."""
    cells = row.cells
    account = cells.get("ACCOUNT", "").strip()
    if not account:
        return "an association without an account is left out."
    return LimitRecord(
        citation=citation,
        account=account,
        user=given(cells.get("USER")),
        partition=given(cells.get("PARTITION")),
        parent=given(cells.get("PARENTNAME") or cells.get("PAR NAME")),
        group=_with_jobs(_first(cells, "GRPTRES"), cells.get("GRPJOBS", "")),
        each_job=tres(_first(cells, "MAXTRES", "MAXTRESPERJOB", "MAXTRESPJ")),
        each_node=tres(_first(cells, "MAXTRESPERNODE", "MAXTRESPN")),
        own=_with_jobs("", cells.get("MAXJOBS", "")),
        wall_s=duration_s(_first(cells, "MAXWALL")),
    )


def assoc_mgr(lines: Sequence[tuple[int, str]], document: int) -> list[LimitRecord]:
    """All records of `scontrol show assoc_mgr`."""
    found: list[LimitRecord] = []
    current: LimitRecord | None = None
    for number, line in lines:
        text = line.strip()
        if text.startswith("QOS="):
            current = LimitRecord(citation=(document, number), qos=_bare(text[4:].split(" ")[0]))
            found.append(current)
        elif text.startswith("ClusterName="):
            said = dict(_FIELD.findall(text))
            current = LimitRecord(
                citation=(document, number),
                account=given(said.get("Account")),
                user=given(_bare(said.get("UserName", ""))),
                partition=given(said.get("Partition")),
            )
            found.append(current)
        elif current is not None:
            _assoc_line(current, text)
    return [each for each in found if each.qos or each.account]


def _assoc_line(record: LimitRecord, text: str) -> None:
    """One line of a record: `GrpTRES=cpu=N(2),gres/gpu=16(16)`, `MaxTRESPJ=gres/gpu=16`, `MaxJobsPU=2(1) ...`."""
    label, _, rest = text.partition("=")
    match label:
        case "GrpTRES":
            record.group.update(_limited(rest))
        case "MaxTRESPJ":
            record.each_job.update(_limited(rest) or tres(rest))
        case "MaxTRESPN":
            record.each_node.update(_limited(rest) or tres(rest))
        case "MaxTRESPU":
            record.each_user.update(_limited(rest))
        case "MaxTRESPA":
            record.each_account.update(_limited(rest))
        case "ParentAccount":
            record.parent = given(rest.partition("(")[0].split(" ")[0])
        case "GrpJobs":
            record.group.update(_jobs(text, "GrpJobs"))
        case "MaxJobs":
            record.own.update(_jobs(text, "MaxJobs"))
        case "MaxJobsPU":
            record.each_user.update(_jobs(text, "MaxJobsPU"))
        case "MaxJobsPA":
            record.each_account.update(_jobs(text, "MaxJobsPA"))
        case _:
            pass


def _limited(text: str) -> dict[str, int]:
    """Of `cpu=N(3),gres/gpu=16(20)` the limits that are set."""
    amounts: dict[str, int] = {}
    for name, limit, _ in _WITH_USED.findall(text):
        if is_whole(limit):
            amounts[name] = (memory_bytes(limit) or 0) if name == MEM else int(limit)
    return amounts


def _jobs(text: str, label: str) -> dict[str, int]:
    found = re.search(rf"\b{label}=(\d{{1,9}})(?:\(|\s|$)", text)
    return {JOBS: int(found[1])} if found else {}


def _with_jobs(amounts: str, jobs: str) -> dict[str, int]:
    limits = tres(amounts)
    if is_whole(jobs.strip()) and len(jobs) < 10:
        limits[JOBS] = int(jobs)
    return limits


def _first(cells: dict[str, str], *labels: str) -> str:
    return next((cells[label] for label in labels if cells.get(label)), "")


def _bare(text: str) -> str:
    found = _NAME_ID.fullmatch(text)
    return found[1] if found else text


def merged(records: Iterable[LimitRecord]) -> dict[tuple[str, str, str], LimitRecord]:
    """One record for each QOS `("", "", qos)` and association `(account, user, "")`: limits told twice are one."""
    found: dict[tuple[str, str, str], LimitRecord] = {}
    for record in records:
        if record.partition:
            continue  # holds in that partition alone: left out, which is the more silent
        key = ("", "", record.qos) if record.qos else (record.account or "", record.user or "", "")
        before = found.get(key)
        if before is None:
            found[key] = structs.replace(record, **{name: dict(getattr(record, name)) for name in _LIMITS})
            continue
        for limits in _LIMITS:
            mine = getattr(before, limits)
            for name, limit in getattr(record, limits).items():
                mine[name] = max(mine.get(name, 0), limit)
        before.parent = before.parent or record.parent
        before.preempts = before.preempts or record.preempts
    return found
