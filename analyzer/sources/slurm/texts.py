"""A text document to records. One file may hold several outputs one after the other; each begins where its kind shows.

Scontrol's blocks begin with their key, tables with their heading, log lines with their stamp. A line that belongs to
nothing is passed over: people paste prompts and remarks between outputs.
"""

import re
from collections.abc import Callable, Sequence

from analyzer.model.events import Citation
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm import block_texts, job_texts, limit_texts
from analyzer.sources.slurm.jobs import key_of
from analyzer.sources.slurm.log_texts import is_output_line, log_line, take_log_line, take_output_line
from analyzer.sources.slurm.records import JobList, JobRecord, ListedPid, ProcessRecord, Reading
from analyzer.sources.slurm.sheets import NODES, PARTITIONS, SHEETS, node_row
from analyzer.sources.slurm.tables import headings, read_table
from analyzer.sources.slurm.times import ctime_ns, duration_s, heading_ns

_BLOCK = re.compile(r"\s{0,4}(JobId|NodeName|PartitionName|ReservationName|LicenseName|StepId)=")
_PIDS = re.compile(r"PID\s+JOBID\s+STEPID\s")
_PROCESSES = re.compile(r"(?=.*\bPID\b)(?=.*\b(?:PPID|SESS|SID|STAT)\b)(?=.*\b(?:COMMAND|CMD|ARGS)\b)[A-Z%+\s]+$")
_SDIAG = re.compile(r"(?:sdiag output at|Data since|Job states ts:) .*")
_EPOCH = re.compile(r"\((\d{9,11})\)")
_CONFIG = re.compile(r"Configuration data as of (\S+)")
_SETTING = re.compile(r"(\w+)\s+= (.*)")
_ASSOC = "Current Association Manager state"
NOTHING = re.compile(r"No (jobs|job steps|nodes|partitions|reservations|licenses|steps) in the system|No reservations")
_HEADING_BEGINS = frozenset("CMTWFS2")
_HEADED = re.compile(r"CLUSTER: (\S+)\s*$")
_SETTINGS = frozenset(("ClusterName", "SelectType", "AccountingStorageEnforce", "Licenses", "PreemptType"))

_BLOCKS: dict[str, tuple[str, str, Callable[[str, Citation], object]]] = {
    "JobId": ("scontrol show job", "jobs", job_texts.from_scontrol),
    "NodeName": ("scontrol show node", "nodes", block_texts.node),
    "PartitionName": ("scontrol show partition", "partitions", block_texts.partition),
    "ReservationName": ("scontrol show reservation", "reservations", block_texts.reservation),
    "LicenseName": ("scontrol show licenses", "licences", block_texts.licence),
    "StepId": ("scontrol show step", "steps", block_texts.step),
}

Numbered = tuple[int, str]


def begins(line: str) -> str | None:
    """What kind of output begins at this line: "block", "pids", "processes", "assoc", "config", "sdiag", or a sheet."""
    if _BLOCK.match(line):
        return "block"
    if _PIDS.match(line):
        return "pids"
    if line.startswith(_ASSOC):
        return "assoc"
    if _CONFIG.match(line):
        return "config"
    if _SDIAG.match(line):
        return "sdiag"
    if _PROCESSES.match(line):
        return "processes"
    if "|" in line or line[:1].isspace() or line[:1].isupper():
        names = headings(line)
        for sheet in SHEETS:
            if sheet.fits(names):
                return sheet.kind
    return None


def read_text(reading: Reading, text: str) -> None:
    """Fill the reading with everything that the text holds."""
    part: list[Numbered] = []
    kind: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.rstrip("\r")
        logged = log_line(line) if line[:1] in ("[", *"0123456789JFMASOND") else None
        inside = kind == "block" and line[:1] == " " and "=" in line and not _BLOCK.match(line)
        heading = None if logged is not None or line[:1] not in _HEADING_BEGINS else _heading(line)
        fresh = None if logged is not None or inside or heading is not None else begins(line)
        ends = logged is not None or fresh is not None or heading is not None or is_output_line(line)
        if ends or (kind == "block" and not line.strip()):
            _close(reading, kind, part)
            kind, part = fresh, []
        if logged is not None:
            take_log_line(reading, number, logged)
        elif is_output_line(line):
            take_output_line(reading, number, line)
        elif heading is not None:
            _take_heading(reading, number, heading)
        elif NOTHING.match(line):
            reading.count("empty list")
        elif kind is not None:
            part.append((number, line))
    _close(reading, kind, part)


def _heading(line: str) -> str | tuple[int, int | None] | None:
    """The cluster of which, or the moment at which, all that follows was printed."""
    headed = _HEADED.match(line)
    return headed[1] if headed is not None else heading_ns(line)


def _take_heading(reading: Reading, number: int, heading: str | tuple[int, int | None]) -> None:
    if isinstance(heading, str):
        reading.headed.append((number, heading))
        return
    local_ns, offset_s = heading
    reading.stamped(number, local_ns)
    if offset_s is not None:
        reading.offset_s = offset_s


def _close(reading: Reading, kind: str | None, part: Sequence[Numbered]) -> None:
    """Read one output that has come to its end."""
    if not part or kind is None:
        return
    match kind:
        case "block":
            _block(reading, part)
        case "pids":
            _pids(reading, part[1:])
        case "processes":
            _processes(reading, part)
        case "assoc":
            found = limit_texts.assoc_mgr(part, reading.document)
            reading.limits += found
            for _ in found:
                reading.count("scontrol show assoc_mgr")
        case "config":
            _config(reading, part)
        case "sdiag":
            _sdiag(reading, part)
        case _:
            _sheet(reading, kind, part)


def _block(reading: Reading, part: Sequence[Numbered]) -> None:
    number, first = part[0]
    found = _BLOCK.match(first)
    if found is None:
        return
    kind, where, read = _BLOCKS[found[1]]
    record = read("\n".join(line for _, line in part), (reading.document, number))
    if isinstance(record, str):
        reading.lose(number, record)
        return
    if isinstance(record, JobRecord):
        _begin_list(reading, record, number)
    getattr(reading, where).append(record)
    reading.count(kind)


def _begin_list(reading: Reading, job: JobRecord, number: int) -> None:
    """Blocks of jobs have no heading: a list ends where another output begins, and where a job comes again."""
    last = reading.lists[-1] if reading.lists else None
    goes_on = last is not None and last.form == job.form and reading.latest_kind == job.form
    if goes_on and key_of(job) not in reading.listed:
        reading.listed.add(key_of(job))
        return
    reading.lists.append(JobList(job.form, number, len(reading.jobs)))
    reading.listed = {key_of(job)}


def _pids(reading: Reading, rows: Sequence[Numbered]) -> None:
    for number, line in rows:
        values = line.split()
        if len(values) < 3 or not is_whole(values[0].lstrip("-")):
            if line.strip():
                reading.lose(number, "this row of listpids has no process id and step: it is left out.")
            continue
        if is_whole(values[0]) and len(values[0]) < 12 and is_whole(values[1]):
            reading.pids.append(ListedPid(int(values[0]), values[1], values[2], (reading.document, number)))
        reading.count("scontrol listpids")


def _processes(reading: Reading, part: Sequence[Numbered]) -> None:
    names = part[0][1].split()
    places = {name: at for at, name in enumerate(names)}
    session = places.get("SESS", places.get("SID"))
    age = places.get("ELAPSED")
    for number, line in part[1:]:
        values = line.split(None, len(names) - 1)
        if not values:
            continue
        if len(values) < len(names) or not is_whole(values[places["PID"]]):
            reading.lose(number, "this row of the process list has too few values: it is left out.")
            continue
        reading.processes.append(
            ProcessRecord(
                pid=int(values[places["PID"]][:12]),
                citation=(reading.document, number),
                parent=_number(values, places.get("PPID")),
                session=_number(values, session),
                age_s=_age(values[age]) if age is not None else None,
                command=values[-1],
            )
        )
        reading.count("process list")


def _number(values: Sequence[str], place: int | None) -> int | None:
    return int(values[place][:12]) if place is not None and is_whole(values[place]) else None


def _age(text: str) -> int | None:
    """`ps -o etimes` gives seconds, `-o etime` gives [[D-]HH:]MM:SS."""
    return int(text[:12]) if is_whole(text) else duration_s(text)


def _config(reading: Reading, part: Sequence[Numbered]) -> None:
    for _, line in part:
        found = _SETTING.match(line)
        if found is not None and found[1] in _SETTINGS:
            reading.settings[found[1]] = found[2].strip()
    reading.count("scontrol show config")


def _sdiag(reading: Reading, part: Sequence[Numbered]) -> None:
    """Its first line gives the time twice, local and absolute: that is the zone of all texts."""
    line = part[0][1]
    local_ns, epoch = ctime_ns(line), _EPOCH.search(line)
    if line.startswith("sdiag") and local_ns is not None:
        reading.stamped(part[0][0], local_ns)
        if epoch is not None:
            reading.offset_s = local_ns // 10**9 - int(epoch[1])
    reading.count("sdiag")


def _sheet(reading: Reading, kind: str, part: Sequence[Numbered]) -> None:
    table = read_table(part)
    sheet = next(sheet for sheet in SHEETS if sheet.kind == kind)
    if kind == job_texts.SQUEUE:
        reading.lists.append(JobList(kind, part[0][0], len(reading.jobs)))
    reading.latest_kind = kind
    for number in table.misfits:
        reading.lose(number, f"this row does not fit the heading of {kind} in line {part[0][0]}: it is left out.")
    for row in table.rows:
        citation = (reading.document, row.line)
        if kind in (NODES, PARTITIONS):
            problem = node_row(reading, row, citation)
        else:
            found = sheet.read(row, citation)
            problem = found if isinstance(found, str) else None
            if found is not None and problem is None and sheet.where:
                getattr(reading, sheet.where).append(found)
        if problem:
            reading.lose(row.line, problem)
        else:
            reading.count(kind)
