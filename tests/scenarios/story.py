"""Scenario texts: a story in lines of time and fact, a divider, what an operator reads.

    # Two gangs, each holding half of the node that the other needs whole.
     0s  capacity gpu/n1 8
     1s  hold     gang/a gpu/n1 4
     3s  wait     gang/a units gpu/n1 4
    64s  tick
    ----
    64s  opened   deadlock {gang/a, gang/b}; ...

Verbs: `capacity RESOURCE N`, `hold ACTOR RESOURCE N [RESOURCE N...]` (sets these holds), `drop ACTOR` (holds nothing),
`wait ACTOR REQUEST` (since this line; `requests.py` has the forms), `since ACTOR TIME`, `run ACTOR` (waits no more),
`end ACTOR`, `evict ACTOR` (it goes without having done its work), `owner ACTOR WORDS`, `set ACTOR key=value...`
(until, lineage, gpus, priority, progress, running_since, checkpoint; words: endless, unknown, preemptible, working,
preempts, recreated, suspected), `excuse ACTOR KIND TEXT`, `tick`, `files end` (a tick of an input without a clock),
`late TIME ACTOR RESOURCE N...` (an old restatement that arrives now). Every line restates the actor as a whole at its
time; lines of one time are one moment, in whatever order they stand.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.events import (
    ActorGone,
    ActorObserved,
    Certainty,
    Event,
    Excuse,
    ExcuseKind,
    Lifetime,
    ResourceObserved,
    Tick,
    Wait,
)
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import SECOND_NS
from tests.scenarios.requests import parse_request

DIVIDER = "----"
_RANKS = {"end": 0, "evict": 0, "drop": 0, "run": 0, "hold": 1, "wait": 1, "set": 2, "since": 2, "excuse": 2}
_UNITS_NS = {"s": SECOND_NS, "m": 60 * SECOND_NS, "h": 3600 * SECOND_NS}


class Line(Struct, frozen=True):
    """One fact at a time. `number` is its line in the text, for citations."""

    at_ns: int
    verb: str
    rest: str
    number: int


def parse_time(text: str) -> int:
    """`64s`, `10m`, `2h`, `1.5s` in nanoseconds."""
    return int(float(text[:-1]) * _UNITS_NS[text[-1]])


def parse_lines(text: str) -> list[Line]:
    """The story part, comments and empty lines left out, in order of time (equal times as written)."""
    lines = []
    for number, raw in enumerate(text.splitlines(), start=1):
        if raw.strip() and not raw.lstrip().startswith("#"):
            at, verb, *rest = raw.split(None, 2)
            lines.append(Line(parse_time(at), verb, rest[0].strip() if rest else "", number))
    return sorted(lines, key=lambda line: line.at_ns)


def moments(lines: Iterable[Line]) -> Iterator[tuple[list[Event], list[Tick]]]:
    """For each time what changed, and the ticks to follow. Events of one moment are about different things."""
    actors: dict[ActorId, ActorObserved] = {}
    for at_ns, same in groupby(lines, key=lambda line: line.at_ns):
        events: dict[str, Event] = {}
        late: list[Event] = []
        ticks = []
        for line in sorted(same, key=lambda line: _RANKS.get(line.verb, 3)):
            match line.verb:
                case "tick" | "files":
                    ticks.append(Tick(at_ns=at_ns, open_ended=line.verb == "files"))
                case "capacity":
                    name, units = line.rest.split()
                    cited = ((0, line.number),)
                    events[name] = ResourceObserved(
                        at_ns=at_ns, resource=ResourceId(name), units=int(units), citations=cited
                    )
                case "late":
                    at, name, *holds = line.rest.split()
                    late.append(ActorObserved(at_ns=parse_time(at), actor=ActorId(name), holds=_holds(holds)))
                case "end" | "evict":
                    actor = ActorId(line.rest)
                    actors.pop(actor, None)
                    events[actor] = ActorGone(at_ns=at_ns, actor=actor, evicted=line.verb == "evict")
                case _:
                    actor = ActorId(line.rest.split()[0])
                    known = actors.get(actor, ActorObserved(at_ns=at_ns, actor=actor))
                    rest = line.rest[len(actor) :].strip()
                    now = _told(known, line, rest)
                    lines_told = tuple(sorted({*now.citations, (0, line.number)}))
                    events[actor] = actors[actor] = replace(now, at_ns=at_ns, citations=lines_told)
        ends_first = sorted(events.values(), key=lambda event: not isinstance(event, ActorGone))
        yield [*ends_first, *late], ticks


def _told(actor: ActorObserved, line: Line, rest: str) -> ActorObserved:
    match line.verb:
        case "hold":
            return replace(actor, holds=_holds(rest.split(), dict(actor.holds)))
        case "drop":
            return replace(actor, holds=())
        case "run":
            return replace(actor, wait=None)
        case "wait":
            return replace(actor, wait=Wait(request=parse_request(rest), since_ns=line.at_ns))
        case "since":
            return replace(actor, wait=replace(_wait(actor), since_ns=parse_time(rest)))
        case "owner":
            return replace(actor, owner=rest)
        case "excuse":
            kind, _, text = rest.partition(" ")
            return replace(actor, wait=replace(_wait(actor), excuse=Excuse(ExcuseKind(kind), text)))
        case "set":
            for word in rest.split():
                actor = _set(actor, *word.partition("=")[::2])
            return actor
        case _:
            raise ValueError(f"line {line.number}: no such verb: {line.verb}")


def _set(actor: ActorObserved, key: str, value: str) -> ActorObserved:
    match key:
        case "endless" | "unknown" | "finite":
            return replace(actor, lifetime=Lifetime(key))
        case "until":
            return replace(actor, lifetime=Lifetime.DATED, until_ns=parse_time(value))
        case "gpus" | "priority" | "progress":
            return replace(actor, **{key: int(value)})
        case "running_since" | "checkpoint":
            return replace(actor, **{f"{key}_ns": parse_time(value)})
        case "lineage":
            return replace(actor, lineage=value)
        case "preemptible" | "recreated" | "working":
            return replace(actor, **{key: True})
        case "suspected":
            return replace(actor, certainty=Certainty.SUSPECTED)
        case "preempts":
            return replace(actor, wait=replace(_wait(actor), preempts=True))
        case _:
            raise ValueError(f"no such attribute: {key}")


def _wait(actor: ActorObserved) -> Wait:
    if actor.wait is None:
        raise ValueError(f"{actor.actor} does not wait")
    return actor.wait


def _holds(words: list[str], known: dict[ResourceId, int] | None = None) -> tuple[tuple[ResourceId, int], ...]:
    holds = dict(known or {})
    for resource, units in zip(words[::2], words[1::2], strict=True):
        holds[ResourceId(resource)] = int(units)
    return tuple(sorted((resource, units) for resource, units in holds.items() if units))
