"""Events that a controller has written into its own log: with zap, the logger `events` repeats each of them.

    {"level":"debug","ts":"2026-11-30T12:55:51.02Z","logger":"events","msg":"Exceeded the PodsReady timeout ...",
     "type":"Normal","object":{"kind":"Workload","namespace":"team-red","name":"job-a-936c8",...},"reason":"..."}
    2026-11-30T12:55:51.021Z<tab>DEBUG<tab>events<tab>recorder.go:116<tab>Exceeded ...<tab>{"type":"Normal",...}

Kueue's log says nowhere else why a Workload waits. All other lines are left aside, among them those of level error,
which tell of conflicts that the next attempt resolves.
"""

import re
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from analyzer.sources.kubernetes.decoding import REFUSED
from analyzer.sources.kubernetes.journald import unwrapped
from analyzer.sources.kubernetes.log_text import PlainLog
from analyzer.sources.kubernetes.message_places import lines_at
from analyzer.sources.kubernetes.objects import Event, Metadata
from analyzer.sources.kubernetes.objects.metadata import LocalReference
from analyzer.sources.kubernetes.reading import Change
from analyzer.sources.kubernetes.structured_log import TIME
from analyzer.sources.mapped import Buffer

_LOGGER = "events"
_AT_LOGGER = re.compile(rb'"logger"\s*:\s*"events"|\tevents\t')
_TIME_MAX_S = 9_000_000_000
_WRITERS = (b"kueue",)
"""Whose logs are looked through: the name stands in their first lines."""

_BEGINNINGS = (
    "Created Workload: ",
    "Quota reserved in ClusterQueue ",
    "Admitted by ClusterQueue ",
    "couldn't assign flavors to pod set ",
    "failed to assign flavors to pod set ",
    "Exceeded the PodsReady timeout ",
    "Preempted to accommodate a workload ",
    "The workload ",
    "Workload ",
    "ClusterQueue ",
    "LocalQueue ",
    "At least one admission check",
    "resources ",
)
"""How the messages of these events begin: what is looked for in a log that something else has wrapped."""


class _Line(msgspec.Struct, frozen=True):
    """The line as JSON, or its tail on a console."""

    object: LocalReference | None = None
    reason: str = ""
    type: str = ""
    logger: str = _LOGGER
    msg: str = ""
    ts: str | float = ""


_DECODE = msgspec.json.Decoder(_Line).decode


def read_events(document: int, content: Buffer) -> list[Change]:
    """The events in the log of a controller that writes them there, in the order of the lines where each begins.

    What is said of an object again and again, and nothing else in between, is one event with a count, as in the API:
    the head of a strict queue that never fits is tried a hundred times a second.
    """
    log = unwrapped(content, _BEGINNINGS) or PlainLog(content)
    if not any(name in log.head.text for name in _WRITERS):
        return []
    found: list[Change] = []
    latest: dict[tuple[str, str, str], int] = {}
    for block in log.blocks():
        places = (one.start() for one in _AT_LOGGER.finditer(block.text))
        for number, start, end in lines_at(block.text, places):
            record = block.records[number]
            event = _event(block.text[start:end], document, record)
            if event is None:
                continue
            about = event.regarding
            key = (about.kind, about.namespace, about.name)
            place = latest.get(key)
            before = None if place is None else found[place].object
            if place is not None and isinstance(before, Event) and _alike(before) == _alike(event):
                again = replace(before, core_count=before.count + 1, last_timestamp=event.last_timestamp)
                found[place] = replace(found[place], object=again)
            else:
                latest[key] = len(found)
                found.append(Change(event, gone=False, record=record))
    return found


def _alike(event: Event) -> tuple[str, str]:
    return event.reason, event.message


def _event(line: bytes, document: int, record: int) -> Event | None:
    start = line.find(b"{")
    try:
        said = _DECODE(line[start:]) if start >= 0 else _Line()
    except REFUSED:
        return None
    before = line[:start].decode("utf-8", "replace").rstrip("\t").split("\t")
    on_console = len(before) >= 3
    if said.object is None or not said.object.name or said.logger != _LOGGER:
        return None
    if on_console and _LOGGER not in before[1:-1]:
        return None
    at = _time(before[0] if on_console else said.ts)
    if at is None:
        return None
    return Event(
        metadata=Metadata(
            name=said.object.name, namespace=said.object.namespace or "default", uid=f"log/{document}/{record}"
        ),
        type=said.type,
        reason=said.reason,
        core_message=before[-1] if on_console else said.msg,
        core_regarding=said.object,
        first_timestamp=at,
        last_timestamp=at,
    )


def _time(at: str | float) -> str | None:
    """A time as the API writes it: the last one in a text, or seconds since 1970; None if it is neither."""
    if isinstance(at, str):
        times = TIME.findall(at.encode())
        return times[-1].decode().replace(",", ".") if times else None
    return datetime.fromtimestamp(at, UTC).isoformat() if 0 < at < _TIME_MAX_S else None
