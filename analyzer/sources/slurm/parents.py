"""Which running job waits for which job that was submitted from inside it.

Submitted from inside does not mean waited for: a job that submits its successor goes on and ends. So two things must
be shown. *That somebody waits*: `--wait` in the child's SubmitLine, or a live `sbatch --wait`. *Who*: the session that
the child was submitted from is that of the parent's script (process list), the `sbatch` runs in the parent's step
(listpids), or the parent's output says that it submitted the child. Where only the session's number is known, the
parent is told by what is left: the jobs that could be it, and whether host, name or process numbers fit.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from analyzer.model.events import Certainty, Citation
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.picture import STEPD, Picture
from analyzer.sources.slurm.records import ProcessRecord

_SBATCH = re.compile(r"(?:^|/|\s)sbatch(?=\s|$)")
_BLOCKING = re.compile(r"\S*?\b(?:srun|salloc)(?=\s|$)")
_LONG_WITHOUT_VALUE = frozenset(
    (
        *("--wait", "--hold", "--exclusive", "--overcommit", "--oversubscribe", "--parsable", "--quiet", "--requeue"),
        *("--no-requeue", "--verbose", "--test-only", "--contiguous", "--ignore-pbs", "--spread-job", "--reboot"),
        *("--use-min-nodes", "--get-user-env", "--no-kill", "--propagate", "--help", "--usage", "--version"),
        *("--kill-on-invalid-dep", "--nice", "--resv-ports", "--stepmgr"),
    )
)
_SHORT_WITHOUT_VALUE = frozenset("hHIkOQsuvVW")
_SCRIPT = re.compile(r"/job0*(\d+)/slurm_script\b")
_PID_APART_MAX = 100
"""A script's first process comes this soon after its session's; the numbers are given out one after the other."""

_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


class Link(Struct, frozen=True):
    """The parent waits for the child to end."""

    parent: str
    child: str
    certainty: Certainty
    citations: tuple[Citation, ...]


def waits_in(command: str) -> bool:
    """Whether this is an sbatch that waits for its job's end. Options of the script itself do not count.

    Quotes are lost in SubmitLine, so what follows `--wrap` is taken for the wrapped command.
    """
    found = _SBATCH.search(command)
    if found is None or command[: found.start()].strip().startswith(("srun", "salloc")):
        return False
    words = iter(command[found.end() :].split())
    for word in words:
        if word in ("--wait", "-W"):
            return True
        if not word.startswith("-") or word.startswith("--wrap"):
            return False  # the script, or what stands for it
        takes_next = (
            "=" not in word and word not in _LONG_WITHOUT_VALUE
            if word.startswith("--")
            else len(word) == 2 and word[1] not in _SHORT_WITHOUT_VALUE
        )
        if takes_next:
            next(words, "")
    return False


def links(picture: Picture) -> tuple[Link, ...]:
    """Every parent and child of which is known that the one waits for the other; sorted."""
    return _Links(picture).found()


class _Links:
    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._sessions = self._sessions_of_jobs()
        self._running = [job for job in picture.jobs.values() if job.running]

    def found(self) -> tuple[Link, ...]:
        children = [job for job in self._picture.jobs.values() if not job.ended and self._waited_for(job)]
        proven: dict[str, Link] = {}
        open_children: list[Job] = []
        for child in children:
            parent = self._parent(child)
            if parent is not None:
                proven[child.key] = Link(parent.key, child.key, Certainty.PROVEN, child.citations[:1])
            elif child.said.from_session is not None:
                open_children.append(child)
        inferred = self._infer(open_children, {link.parent for link in proven.values()})
        return tuple(sorted((*proven.values(), *inferred), key=lambda link: (link.parent, link.child)))

    def _sessions_of_jobs(self) -> dict[int, str]:
        """Sessions by number, with the job whose script or steps run in them."""
        sessions: dict[int, str] = {}
        owner = {pid.pid: pid.job for pid in self._picture.pids}
        for process in sorted(self._picture.processes.values(), key=lambda one: one.pid):
            if process.session is None:
                continue
            stepd, script = STEPD.search(process.command), _SCRIPT.search(process.command)
            job = stepd[1] if stepd else script[1] if script else owner.get(process.pid)
            if job is not None:
                sessions.setdefault(process.session, job)
        return sessions

    def _waited_for(self, child: Job) -> bool:
        line = child.said.submit_line
        if line is not None:  # srun and salloc wait for their allocation by nature
            return waits_in(line) or _BLOCKING.match(line) is not None
        return any(self._may_be(process, child) for process in self._waiting_sbatch())

    def _waiting_sbatch(self) -> Iterator[ProcessRecord]:
        for pid in sorted(self._picture.processes):
            process = self._picture.processes[pid]
            if waits_in(process.command):
                yield process

    def _may_be(self, process: ProcessRecord, child: Job) -> bool:
        """Whether this sbatch submitted the child: from the same session, and by name if it gives one."""
        if process.session is None or process.session != child.said.from_session:
            return False
        named = re.search(r"\s(?:-J\s*|--job-name[=\s]+)(\S+)", process.command)
        return named is None or named[1].strip("'\"") == child.said.name

    def _parent(self, child: Job) -> Job | None:
        """The running job from inside which the child was submitted, where that is shown."""
        session = child.said.from_session
        names: list[str] = []
        if session is not None and session in self._sessions:
            names.append(self._sessions[session])
        if session is not None:
            waiting = (process.pid for process in self._waiting_sbatch() if self._may_be(process, child))
            names += [owner[0] for pid in waiting if (owner := self._picture.owner(pid)) is not None]
        names += self._by_output(child)
        for name in names:
            job = self._picture.job(name)
            if job is not None and job.running and job.key != child.key:
                return job
        return None

    def _by_output(self, child: Job) -> Iterator[str]:
        """Jobs whose own output says that they submitted the child."""
        raw = str(child.said.raw_id) if child.said.raw_id is not None else child.key
        for output in self._picture.outputs:
            if raw in output.submitted:
                name = _last_part(output.path)
                for job in self._running:
                    if _last_part(_expanded(job)) == name:
                        yield job.key

    def _infer(self, children: Sequence[Job], taken: set[str]) -> list[Link]:
        """Parents told by what is left: see the head of this file."""
        sessions: dict[tuple[str, int], list[Job]] = {}
        for child in children:
            sessions.setdefault((child.said.from_host or "", child.said.from_session or 0), []).append(child)
        candidates = {
            session: [job for job in self._running if job.key not in taken and self._could_be(job, session, mine)]
            for session, mine in sessions.items()
        }
        found: list[Link] = []
        left: dict[tuple[str, int], list[Job]] = {}
        for session in sorted(sessions):
            fitting = [job for job in candidates[session] if self._fits(job, session, sessions[session])]
            if len(fitting) == 1:
                found += [_inferred(fitting[0], child) for child in sessions[session]]
                taken.add(fitting[0].key)
            else:
                left[session] = sessions[session]
        if len(left) < 2:
            return found
        remaining = {job.key: job for session in left for job in candidates[session] if job.key not in taken}
        # As many sessions as jobs that could be theirs, and the process numbers of one of these speak for it: each job
        # is somebody's parent. Whose, the order tells best, and for who is stuck it makes no difference.
        if (
            len(remaining) == len(left)
            and all({job.key for job in candidates[session]} >= remaining.keys() for session in left)
            and any(self._came_next(job, session[1]) for job in remaining.values() for session in left)
        ):
            parents = sorted(remaining.values(), key=lambda job: (job.said.start_ns or 0, job.order))
            for session, parent in zip(sorted(left), parents, strict=True):
                found += [_inferred(parent, child) for child in left[session]]
        return found

    def _could_be(self, job: Job, session: tuple[str, int], children: Sequence[Job]) -> bool:
        """Whether the session could be that of the job's script."""
        said = job.said
        if said.batch is False or said.from_session == session[1] or said.start_ns is None or job.completing:
            return False
        if any(child.said.user != said.user for child in children):
            return False
        if any(child.said.submit_ns is None or child.said.submit_ns < said.start_ns for child in children):
            return False
        if any(known == job.key or known == str(said.raw_id) for known in self._sessions.values()):
            return False  # its session is known, and it is another one
        used_before = any(
            one.said.from_session == session[1]
            and one.said.from_host == session[0]
            and (one.said.submit_ns or 0) < said.start_ns
            for one in self._picture.jobs.values()
        )
        return not used_before and self._host_fits(job, session[0])

    def _host_fits(self, job: Job, host: str) -> bool:
        """Whether the job's script runs on that host; a host that plays all nodes, or calls itself localhost, may."""
        name = job.said.batch_host or next(iter(job.said.nodes or ()), "")
        node = self._picture.nodes.get(name)
        if host in (name, *((node.host, node.address) if node is not None else ())):
            return True
        return host in _LOOPBACK and (node is None or node.address is None or node.address in _LOOPBACK)

    def _fits(self, job: Job, session: tuple[str, int], children: Sequence[Job]) -> bool:
        """What speaks for the job beside that it could be: its name begins the child's, or its processes came next."""
        if self._runs_alone_on(job, session[0]):
            return True
        name = job.said.name or ""
        if len(name) > 1 and all((child.said.name or "").startswith(name) for child in children):
            return True
        return len(self._running) == 1 and self._came_next(job, session[1])

    def _came_next(self, job: Job, session: int) -> bool:
        """Whether the job's script began right after the session did, by the numbers of its processes."""
        raw = str(job.said.raw_id)
        pids = [pid.pid for pid in self._picture.pids if pid.job == raw and pid.step == "batch"]
        return bool(pids) and 0 < min(pids) - session <= _PID_APART_MAX

    def _runs_alone_on(self, job: Job, host: str) -> bool:
        """Whether the host is one node, not a machine that plays several, and no other job's script runs there."""
        nodes = [node for node in self._picture.nodes.values() if host in (node.name, node.host, node.address)]
        return len(nodes) == 1 and host not in _LOOPBACK and self._host_fits(job, host)


def _inferred(parent: Job, child: Job) -> Link:
    return Link(parent.key, child.key, Certainty.SUSPECTED, child.citations[:1])


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]


def _expanded(job: Job) -> str:
    """The path of its output: squeue --json keeps %j."""
    said = job.said
    path = said.output or ""
    for sign, value in (("%j", said.raw_id), ("%A", said.array_id or said.raw_id), ("%a", said.array_tasks)):
        path = path.replace(sign, "" if value is None else str(value))
    return path.replace("%x", said.name or "")
