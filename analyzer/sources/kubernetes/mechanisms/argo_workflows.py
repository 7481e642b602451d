"""Workflows of Argo as far as locks go: what each says that it holds and waits for, and whether a step of it runs.

`status.synchronization` has what a workflow holds under its own name or that of a step. Its waits name who has the
lock: not the waiter, and as the controller's memory has it. Holders are `NAMESPACE/WORKFLOW`, `NAMESPACE/WORKFLOW/STEP`
or, before version 3.5, the bare name of the step (or of the workflow).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.custom_fields import at, count, parts, text
from analyzer.sources.kubernetes.objects import Custom
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

KIND = "Workflow.argoproj.io"

_FAR_S = 100 * 366 * 86_400
_OVER = frozenset({"Succeeded", "Failed", "Error"})
_STEP_OVER = frozenset({"Succeeded", "Failed", "Error", "Skipped", "Omitted"})
_LEAVES = frozenset({"Pod", "Container", "HTTP", "Plugin"})
_STATUS = re.compile(r"Waiting for (\S+) lock\b.*?Lock status: \d+/(\d+)")
"""How the controller says it: `Waiting for argo/ConfigMap/limits/gpus lock. Lock status: 0/2`."""


class Holder(Struct, frozen=True, order=True):
    """Who has a lock: a workflow (`namespace/name`), by one of its steps ("": by itself)."""

    workflow: str
    step: str


class WorkflowFacts(Struct, frozen=True, kw_only=True):
    """One workflow that has to do with locks or slots.

    `holds`: locks with the step that has each. `waits`: locks with their holders by the controller's word.
    `limits`: of semaphores, as its messages have them. `busy`: leaf steps under way (`pods` of them in pods), daemons
    (`daemons`) and steps that wait for a lock left aside; None: its steps are not in the object. `awaits_person`: the
    step that somebody has to resume. `stopped`: a person has told it to end. `ended_ns`: of steps that have ended.
    `moved_ns`: when a step last began or ended.
    """

    key: str
    uid: str
    phase: str
    created_ns: int
    started_ns: int
    over_ns: int | None
    deadline_s: int | None
    priority: int
    holds: tuple[tuple[str, Holder], ...]
    waits: tuple[tuple[str, tuple[Holder, ...]], ...]
    mutexes: frozenset[str]
    limits: tuple[tuple[str, int], ...]
    busy: int | None
    pods: int
    daemons: frozenset[str]
    parallelism: int | None
    awaits_person: str
    stopped: bool
    ended_ns: Mapping[str, int]
    moved_ns: int
    said: str
    citation: Citation

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.phase in _OVER

    @property
    def namespace(self) -> str:
        """Where it lives."""
        return self.key.partition("/")[0]


class _Steps(Struct):
    """What the steps of a workflow are doing, summed while they are gone through."""

    busy: int = 0
    pods: int = 0
    daemons: set[str] = set()
    awaits_person: str = ""
    ended_ns: dict[str, int] = {}
    moved_ns: int = 0
    messages: list[str] = []

    def take(self, key: str, step: object) -> None:
        phase, kind = text(step, "phase"), text(step, "type")
        ended_ns = parse_ns(text(step, "finishedAt")) or 0
        self.moved_ns = max(self.moved_ns, ended_ns, parse_ns(text(step, "startedAt")) or 0)
        if phase in _STEP_OVER:
            self.ended_ns[key] = ended_ns
            return
        self.messages.append(text(step, "message"))
        if kind == "Suspend":
            self.awaits_person = self.awaits_person or text(step, "displayName") or key
        waits = text(step, "synchronizationStatus", "waiting") or _STATUS.search(text(step, "message"))
        if kind not in _LEAVES or waits:
            return
        if at(step, "daemoned") is True:
            self.daemons.add(key)
            return
        self.busy += 1
        self.pods += kind == "Pod"


def workflow_of(thing: Custom, citation: Citation) -> WorkflowFacts | None:
    """The record of a workflow; None if it has to do with no lock and no slots. O(its steps)."""
    status, spec = thing.status, thing.spec
    namespace = thing.metadata.namespace or "default"
    key = f"{namespace}/{thing.metadata.name}"
    phase, said = text(status, "phase"), text(status, "message")
    locks = at(status, "synchronization")
    parallelism = count(spec, "parallelism")
    holds = _holding(locks, key)
    waits = _waiting(locks, key)
    if not holds and not waits and parallelism is None:
        return None
    steps = _Steps()
    nodes = at(status, "nodes")
    for name, step in sorted(nodes.items()) if isinstance(nodes, Mapping) else ():
        steps.take(str(name), step)
    hidden = bool(text(status, "compressedNodes") or text(status, "offloadNodeStatusVersion"))
    if at(spec, "suspend") is True:
        steps.awaits_person = steps.awaits_person or "its own field `suspend`"
    created_ns = parse_ns(thing.metadata.creation_timestamp) or 0
    return WorkflowFacts(
        key=key,
        uid=thing.metadata.uid,
        phase=phase,
        created_ns=created_ns,
        started_ns=parse_ns(text(status, "startedAt")) or created_ns,
        over_ns=parse_ns(text(status, "finishedAt")),
        deadline_s=_deadline_s(count(spec, "activeDeadlineSeconds")),
        priority=count(spec, "priority") or 0,
        holds=holds,
        waits=waits,
        mutexes=frozenset(text(one, "mutex") for part in ("holding", "waiting") for one in parts(locks, "mutex", part)),
        limits=tuple(sorted(_limits((said, *steps.messages)).items())),
        busy=None if hidden else steps.busy,
        pods=steps.pods,
        daemons=frozenset(steps.daemons),
        parallelism=parallelism,
        awaits_person=steps.awaits_person,
        stopped=bool(text(spec, "shutdown")),
        ended_ns=steps.ended_ns,
        moved_ns=max(steps.moved_ns, created_ns),
        said=said or next((one for one in steps.messages if "lock" in one), ""),
        citation=citation,
    )


def _deadline_s(said: int | None) -> int | None:
    """A deadline that is one: beyond a hundred years it is none."""
    return said if said is not None and 0 <= said < _FAR_S else None


def holder_of(holder: str, workflow: str) -> Holder:
    """The holder as the controller writes it; a bare name belongs to the workflow (`namespace/name`) that says it."""
    words = holder.split("/")
    if len(words) == 1:
        return Holder(workflow, "" if holder == workflow.partition("/")[2] else holder)
    return Holder(f"{words[0]}/{words[1]}", words[2] if len(words) > 2 else "")


def _entries(locks: object, part: str) -> Iterator[tuple[str, list[str]]]:
    for one in parts(locks, "mutex", part):
        yield text(one, "mutex"), [text(one, "holder")]
    for one in parts(locks, "semaphore", part):
        yield text(one, "semaphore"), [each for each in parts(one, "holders") if isinstance(each, str)]


def _holding(locks: Any, key: str) -> tuple[tuple[str, Holder], ...]:
    found = {(lock, holder_of(one, key)) for lock, holders in _entries(locks, "holding") for one in holders if one}
    return tuple(sorted(pair for pair in found if pair[0]))


def _waiting(locks: Any, key: str) -> tuple[tuple[str, tuple[Holder, ...]], ...]:
    found: dict[str, set[Holder]] = {}
    namespace = key.partition("/")[0]
    for lock, holders in _entries(locks, "waiting"):
        if lock:
            full = (one if "/" in one else f"{namespace}/{one}" for one in holders if one)
            found.setdefault(lock, set()).update(holder_of(one, key) for one in full)
    return tuple((lock, tuple(sorted(found[lock]))) for lock in sorted(found))


def _limits(messages: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for message in messages:
        match = _STATUS.search(message)
        if match is not None and len(match[2]) < len(str(SECOND_NS)):
            found[match[1]] = max(found.get(match[1], 0), int(match[2]))
    return found
