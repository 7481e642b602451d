"""Small pieces of the text report: moments, counts, lists of names, a proposal with its price."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from analyzer.codec.report import ActionRow, CostRow
from analyzer.codec.times import parse_time
from analyzer.explain import words
from analyzer.model.ids import ResourceId, kind_of
from analyzer.sinks.console import indented

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS_MAX = 12
"""Rows of one list; the rest is a number, and JSON has all."""

LINES_MAX = 8
NAMES_MAX = 4
WAYS_MAX = 3
"""Proposals shown: they are sorted, and nobody reads the ninth at night."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
"""What Kubernetes takes for a name."""

USELESS = "useless by itself: its controller makes it anew at once; suspend that, or scale it down"


def action_text(action: ActionRow, needed: Collection[str], *, orphan: bool) -> str:
    """Whom to stop, what then happens, what it costs: one line each."""
    act, effect, price = action_parts(action, needed, orphan=orphan)
    useless = USELESS if action.cost.useless else ""
    return "\n".join(line for line in (act, effect, f"price: {price}", useless) if line)


def action_parts(action: ActionRow, needed: Collection[str], *, orphan: bool) -> tuple[str, str, str]:
    """Whom to stop, what then happens, what it costs.

    Of what is freed, those kinds are named that somebody waits for; all of them if it is none of these.
    """
    freed = [(ResourceId(resource), count) for resource, count in action.frees.items()]
    of_use = [(resource, count) for resource, count in freed if kind_of(resource) in needed]
    frees = words.held(of_use or freed) if freed else ""
    then = f"then {names(action.then_runs, WAYS_MAX)} can go on" if action.then_runs else ""
    effect = "; ".join(part for part in (f"frees {frees}" if frees else "", then) if part)
    return _act(action, orphan=orphan), effect, _price(action.cost)


def commands(action: ActionRow) -> list[str]:
    """What to type to do exactly that, where a command does it."""
    if action.cost.useless:
        return []
    return [command for command in map(_command, (action.actor, *action.together_with)) if command]


def joined(actions: Sequence[ActionRow]) -> list[ActionRow]:
    """Each proposal once: those that help only together become one, with what all of them free and cost."""
    by_actor = {action.actor: action for action in actions}
    shown: list[ActionRow] = []
    told: set[frozenset[str]] = set()
    for action in actions:
        group = frozenset((action.actor, *action.together_with))
        if group in told:
            continue
        told.add(group)
        others = [by_actor[other] for other in action.together_with if other in by_actor]
        shown.append(replace(action, frees=_summed([action, *others]), cost=_cost_of([action, *others])))
    return shown


def _summed(actions: Sequence[ActionRow]) -> dict[str, int]:
    frees: Counter[str] = Counter()
    for action in actions:
        frees.update(action.frees)
    return dict(sorted(frees.items()))


def _cost_of(actions: Sequence[ActionRow]) -> CostRow:
    hours = [action.cost.gpu_hours_lost for action in actions]
    known = [hour for hour in hours if hour is not None]
    return CostRow(
        gpu_hours_lost=sum(known) if len(known) == len(hours) else None,
        gpus=sum(action.cost.gpus for action in actions),
        priority=max(action.cost.priority for action in actions),
        useless=any(action.cost.useless for action in actions),
    )


def _act(action: ActionRow, *, orphan: bool) -> str:
    """What is to be done, in one line. The books of a quota and what is dead already cannot be stopped."""
    if action.actor.startswith("quota/"):
        return f"Have the books of {action.actor} counted anew"
    if orphan:
        return f"Release what is held by {action.actor}"
    joint = f", together with {names(action.together_with, NAMES_MAX)}" if action.together_with else ""
    return f"{'Give up' if action.actor.startswith('drain/') else 'Stop'} {action.actor}{joint}"


def _price(cost: CostRow) -> str:
    if cost.gpu_hours_lost:
        return f"{cost.gpu_hours_lost:,.1f} GPU-hours of work on {gpus(cost.gpus)}"
    if cost.gpu_hours_lost is None:
        return f"the work of {gpus(cost.gpus)} since its start, which is not known"
    return "no GPU work"


def _command(actor: str) -> str | None:
    """Only a single pod is one object under this very name; what is behind a gang, people know better.

    A name that Kubernetes would not take comes from nowhere good, and is not handed on to somebody's shell.
    """
    parts = actor.split("/")
    if not all(map(_NAME.fullmatch, parts)):
        return None
    match parts:
        case ["drain", "node", node]:
            return f"kubectl uncordon {node}"
        case ["pod", namespace, name]:
            return f"kubectl delete pod {name} --namespace {namespace}"
        case _:
            return None


def names(listed: Sequence[str], most: int) -> str:
    """The first of them, and how many more there are: "a", "a and b", "a, b and 12 more"."""
    return words.listed(listed, shown=most)


def more(count: int, what: str, most: int = ROWS_MAX) -> "list[RenderableType]":
    """The line below a list that was cut; none if it was not."""
    return [indented(f"and {count - most:,} more {what}".rstrip())] if count > most else []


def plural(noun: str, count: int) -> str:
    """The noun for so many; of a noun with a relative clause, the noun before "that" changes."""
    if count == 1:
        return noun
    head, that, clause = noun.partition(" that ")
    return f"{words.plural(head)}{that}{clause}"


def gpus(count: int) -> str:
    """So many GPUs."""
    return f"{count:,} {plural('GPU', count)}"


def clock(time: str) -> str:
    """An RFC 3339 time of a report for people: no fractions, and seconds only where there are some."""
    text = time.replace("T", " ").removesuffix("Z").partition(".")[0]
    return f"{text.removesuffix(':00') if text.count(':') > 1 else text} UTC"


def span_between(since: str, until: str | None) -> int | None:
    """Nanoseconds from one time of a report to another, never less than none; None if one is not known."""
    begin = parse_time(since)
    end = None if until is None else parse_time(until)
    return None if begin is None or end is None else max(0, end - begin)
