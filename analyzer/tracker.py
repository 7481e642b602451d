"""Findings over time: what was found at this tick, against what was found before. Pure: values in, values out.

A finding opens once it has been true for `hold_ns` of event time, and resolves at the first tick at which it is no
longer found. The hold time is counted from the later of two moments: when the finding's last edge closed, and when we
first saw it. At the very first evaluation there is no earlier look to compare with, so the former decides alone.

Three exceptions, each with its reason:
- A tick with `open_ended` waives the hold time: the input ends there without a clock, so the state may have lasted.
- A livelock spans its hold time by itself: several rounds were seen, one after the other.
- A core that grows or shrinks is a finding with another id. Where the old one was open and vanishes at the very tick
  at which the new one appears, and one holds all members of the other, the new one opens at once: those who are in
  both have been stuck all along.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from analyzer.model.events import Tick
from analyzer.model.findings import ChangeKind, Finding, FindingChange, Verdict
from analyzer.model.limits import Limits


class Tracked(Struct, frozen=True):
    """A finding that was true at the last tick. `opened_ns` is None while its hold time runs."""

    finding: Finding
    first_seen_ns: int
    opened_ns: int | None


Tracking = Mapping[str, Tracked]
"""What is true just now, by finding id, in sorted order."""


def track(
    before: Tracking | None, found: Iterable[Finding], tick: Tick, limits: Limits
) -> tuple[dict[str, Tracked], tuple[FindingChange, ...]]:
    """What is true now and what changed: resolved, then opened, then updated ones, each sorted by members and id.

    `before` is None at the very first evaluation. Cost: the findings, and for each new one those that vanished.
    """
    now = {finding.id: finding for finding in sorted(found, key=lambda finding: finding.id)}
    earlier = before or {}
    vanished = [old for key, old in earlier.items() if key not in now and old.opened_ns is not None]
    tracking: dict[str, Tracked] = {}
    changes = [_change(ChangeKind.RESOLVED, old, tick) for old in vanished]
    for key, finding in now.items():
        old = earlier.get(key)
        if old is None:
            first_seen_ns = finding.since_ns if before is None else tick.at_ns
            old = Tracked(finding, first_seen_ns, None)
        opened_ns = old.opened_ns
        if opened_ns is None and (_held(finding, old, tick, limits) or _carries_on(finding, vanished)):
            opened_ns = tick.at_ns
        tracking[key] = current = Tracked(finding, old.first_seen_ns, opened_ns)
        if old.opened_ns is None and opened_ns is not None:
            changes.append(_change(ChangeKind.OPENED, current, tick))
        elif opened_ns is not None and finding is not old.finding and _visible(finding) != _visible(old.finding):
            changes.append(_change(ChangeKind.UPDATED, current, tick))
    order = (ChangeKind.RESOLVED, ChangeKind.OPENED, ChangeKind.UPDATED)
    changes.sort(key=lambda change: (order.index(change.kind), change.finding.members, change.finding.id))
    return tracking, tuple(changes)


def opens_ns(tracked: Tracked, limits: Limits) -> int:
    """When a finding that stays as it is will have stood for its hold time."""
    begun_ns = tracked.finding.since_ns
    if tracked.finding.verdict is not Verdict.LIVELOCK:
        begun_ns = max(begun_ns, tracked.first_seen_ns)
    return begun_ns + limits.hold_ns


def _change(kind: ChangeKind, tracked: Tracked, tick: Tick) -> FindingChange:
    opened_ns = tick.at_ns if tracked.opened_ns is None else tracked.opened_ns
    return FindingChange(kind=kind, at_ns=tick.at_ns, finding=tracked.finding, opened_ns=opened_ns)


def _held(finding: Finding, tracked: Tracked, tick: Tick, limits: Limits) -> bool:
    """Whether it has been true for long enough to open."""
    return tick.open_ended or tick.at_ns >= opens_ns(Tracked(finding, tracked.first_seen_ns, None), limits)


def _carries_on(finding: Finding, vanished: Iterable[Tracked]) -> bool:
    """Whether an open finding of this rule vanished at this tick whose members hold all of these, or the reverse."""
    members = set(finding.members)
    return any(
        old.finding.rule == finding.rule
        and (members.issuperset(old.finding.members) or members.issubset(old.finding.members))
        for old in vanished
    )


def _visible(finding: Finding) -> tuple[object, ...]:
    """What an operator would notice: not the sentences and prices, which age with every tick."""
    return (
        finding.since_ns,
        finding.strength,
        finding.certainty,
        finding.dissolves_ns,
        finding.members,
        finding.blocked_behind,
        finding.edges,
        finding.idle_gpus,
        finding.method,
    )
