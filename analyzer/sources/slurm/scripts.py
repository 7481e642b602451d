"""Batch scripts: what `#SBATCH` lines ask for, as a record of a job that has just been queued."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.hostlists import expand
from analyzer.sources.slurm.records import JobRecord
from analyzer.sources.slurm.times import duration_s
from analyzer.sources.slurm.tres import gres, memory_bytes

FORM = "sbatch script"

_DIRECTIVE = re.compile(rb"^#SBATCH\s", re.MULTILINE)
_HEAD_BYTES = 1 << 16
_SHORT = {
    "J": "job-name",
    "p": "partition",
    "N": "nodes",
    "n": "ntasks",
    "c": "cpus-per-task",
    "G": "gpus",
    "t": "time",
    "A": "account",
    "q": "qos",
    "C": "constraint",
    "w": "nodelist",
    "x": "exclude",
    "d": "dependency",
    "L": "licenses",
    "a": "array",
    "o": "output",
    "e": "error",
    "D": "chdir",
}
_FLAGS = frozenset(("exclusive", "requeue", "no-requeue", "hold", "overcommit", "oversubscribe", "wait", "verbose"))
_OF_NO_CONCERN = frozenset(
    (
        *("output", "error", "chdir", "mail-type", "mail-user", "export", "open-mode", "requeue", "no-requeue"),
        *("comment", "verbose", "signal", "input", "profile", "time-min", "wckey", "wait", "exclusive", "hold"),
        *("job-name", "ntasks", "cpus-per-task", "ntasks-per-node", "time", "array"),
    )
)


class Script(Struct, kw_only=True):
    """What a script asks for. `ignored`: options that might matter and are not taken into account."""

    record: JobRecord
    ignored: list[str] = field(default_factory=list)


class ScriptError(Exception):
    """An option that cannot be meant; `line` counts from 1, the text is one sentence."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


def is_script(content: bytes | memoryview) -> bool:
    """Whether this is a batch script: an interpreter line, and `#SBATCH` below it."""
    head = bytes(content[:_HEAD_BYTES])
    return head.startswith(b"#!") and _DIRECTIVE.search(head) is not None


def read_script(text: str, citation: tuple[int, int]) -> Script:
    """The job that the script asks for; its id, its time and its place in the queue are for the caller to say."""
    record = JobRecord(form=FORM, citation=citation, state="PENDING", reason="Resources", batch=True)
    script = Script(record=record)
    tasks = tasks_each_node = None
    cpus_each_task = 1
    for line, name, value in _options(text):
        try:
            if name == "ntasks":
                tasks = _count(value)
            elif name == "ntasks-per-node":
                tasks_each_node = _count(value)
            elif name == "cpus-per-task":
                cpus_each_task = _count(value)
            elif name == "array":
                record.array_tasks, _, throttle = value.partition("%")
                record.throttle = _count(throttle) if throttle else None
            elif name in _FIELDS:
                key, reader = _FIELDS[name]
                setattr(record, key, reader(value))
            elif name == "exclusive":
                record.exclusive = True
        except ValueError:
            raise ScriptError(line, f'"--{name}={value}" is not understood.') from None
        if name not in _FIELDS and name not in _OF_NO_CONCERN:
            script.ignored.append(f"--{name}")
    if record.node_count is None and tasks_each_node is not None and tasks is not None:
        record.node_count = -(-tasks // tasks_each_node)
    record.task_count = tasks if tasks is not None else (record.node_count or 1) * (tasks_each_node or 1)
    record.cpus_each_node = cpus_each_task * (tasks_each_node or 1)
    if record.node_count == 1:
        record.cpus = cpus_each_task * record.task_count
    return script


def _options(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, long name, value) of every option before the first command."""
    for line, written in enumerate(text.splitlines(), 1):
        if not written.strip() or (written.startswith("#") and not written.startswith("#SBATCH")):
            continue
        if not written.startswith("#SBATCH"):
            return
        try:
            words = shlex.split(written.removeprefix("#SBATCH"), comments=True)
        except ValueError as error:
            raise ScriptError(line, f"this line is not understood: {error}.") from None
        yield from _of_line(line, words)


def _of_line(line: int, words: list[str]) -> Iterator[tuple[int, str, str]]:
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "hetjob":
            raise ScriptError(line, "scripts of heterogeneous jobs are not read here.")
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        elif word.startswith("-") and len(word) > 1:
            name, value = _SHORT.get(word[1], word[1:2]), word[2:].removeprefix("=")
            equals = "=" if value else ""
        else:
            raise ScriptError(line, f'"{word}" is no option.')
        if not equals and name not in _FLAGS and at < len(words) and not words[at].startswith("-"):
            value, at = words[at], at + 1
        yield line, name, value


def _count(text: str) -> int:
    """A number of at least one."""
    if not is_whole(text) or int(text) < 1:
        raise ValueError(text)
    return int(text)


def _nodes(text: str) -> int:
    """The fewest nodes of `4`, `2-8`."""
    return _count(text.partition("-")[0])


def _memory(text: str) -> int | None:
    amount = memory_bytes(text)
    if amount is None:
        raise ValueError(text)
    return amount or None


def _generic(text: str) -> dict[str, int]:
    amounts = gres(text)
    if not amounts and text.lower() != "none":
        raise ValueError(text)
    return amounts


def _cards(text: str) -> dict[str, int]:
    """`4`, `a100:4`."""
    return _generic(f"gpu:{text}")


def _limit(text: str) -> int:
    seconds = duration_s(text)
    if seconds is None:
        raise ValueError(text)
    return seconds


_FIELDS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "job-name": ("name", str),
    "partition": ("partition", str),
    "nodes": ("node_count", _nodes),
    "gres": ("gres_each_node", _generic),
    "gpus": ("gres_in_all", _cards),
    "gpus-per-node": ("gres_each_node", _cards),
    "gpus-per-task": ("gres_each_task", _cards),
    "mem": ("memory_each_node", _memory),
    "mem-per-cpu": ("memory_each_cpu", _memory),
    "account": ("account", str),
    "qos": ("qos", str),
    "constraint": ("features", str),
    "nodelist": ("required_nodes", expand),
    "exclude": ("excluded_nodes", expand),
    "dependency": ("dependency", str),
    "licenses": ("licences", str),
    "reservation": ("reservation", str),
    "time": ("limit_s", _limit),
}
