"""The questions that are asked of a changed copy of the state, beside the same questions asked of the state itself."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from analyzer import explain
from analyzer.engine import Engine
from analyzer.explain import words
from analyzer.explain.queue import Queue
from analyzer.graph.safety import Safety, safety
from analyzer.graph.ways import Way
from analyzer.hypothesis.changes import Change, Draft, Evict, Prioritise
from analyzer.hypothesis.starting import start
from analyzer.model.events import Event, Holds, Tick
from analyzer.model.findings import Finding, Verdict
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from analyzer.state.view import View

REASONS_MAX = 6
"""Reasons that are told for one actor; `knotwatch why` has the whole chain of what is real."""


class Fate(StrEnum):
    """How an actor stands after the changes."""

    STARTS_NOW = "starts_now"
    RUNS = "runs"
    WAITS = "waits"
    NEVER = "never"
    NOT_JUDGED = "not_judged"
    EVICTED = "evicted"


class Outlook(Struct, frozen=True, kw_only=True):
    """What becomes of one actor that was named or submitted.

    `units`: what it takes if it starts now, what it frees if it is evicted, else what it holds. `waits_for`: who must
    finish first (empty where it could start). `reasons`: why it never goes on, or is not judged. `change`: the smallest
    further change that would start it, if it never goes on.
    """

    actor: ActorId
    fate: Fate
    units: Holds = ()
    needs: str = ""
    waits_for: tuple[ActorId, ...] = ()
    reasons: tuple[str, ...] = ()
    note: str = ""
    change: str = ""


class Turn(StrEnum):
    """What becomes of a finding."""

    OPENS = "opens"
    RESOLVES = "resolves"
    REMAINS = "remains"


class FindingFate(Struct, frozen=True):
    """A finding and its turn. One that remains with other members is shown as it would then be."""

    turn: Turn
    finding: Finding


class Answer(Struct, frozen=True, kw_only=True):
    """All answers to one question. Tuples of actors are sorted.

    `go_on`: stuck before, not any more. `get_stuck`: not stuck before, but then. `loops`: livelocks that are open now;
    they are a matter of history, so they are not asked about. `notes`: what was taken for granted.
    """

    at_ns: int
    outlooks: tuple[Outlook, ...]
    findings: tuple[FindingFate, ...]
    go_on: tuple[ActorId, ...]
    get_stuck: tuple[ActorId, ...]
    safety: Safety
    loops: tuple[Finding, ...]
    notes: tuple[str, ...]


def what_if(engine: Engine, changes: Sequence[Change], limits: Limits) -> Answer:
    """Make the changes to a copy of the engine's state, let start who then can at once, and ask again.

    Nothing of the engine changes. Both sides are judged from the state alone, without hold times. Costs two evaluations
    from scratch.
    """
    view = engine.view()
    now_ns = view.now_ns
    before = _judged(Draft(view.system, now_ns).events(), now_ns, limits)
    draft = Draft(view.system, now_ns)
    draft.change(changes)
    took = start(draft.actors, draft.units, draft.submitted, limits, now_ns)
    after = _judged(draft.events(), now_ns, limits)
    then = after.view()
    safe = safety(then.system, limits)
    named = [
        *draft.submitted,
        *(change.actor for change in changes if isinstance(change, Prioritise)),
        *draft.moved,
        *draft.evicted,
    ]
    was_stuck, is_stuck = view.stuck, then.stuck
    return Answer(
        at_ns=now_ns,
        outlooks=tuple(_outlooks(view, then, dict.fromkeys(named), took, safe)),
        findings=_turns(_found(before), _found(after)),
        go_on=tuple(sorted(name for name in was_stuck - is_stuck if name in then.system.actors)),
        get_stuck=tuple(sorted(name for name in is_stuck - was_stuck if name in view.system.actors)),
        safety=safe,
        loops=_loops(engine, changes),
        notes=tuple(draft.notes),
    )


def _judged(events: Iterable[Event], now_ns: int, limits: Limits) -> Engine:
    """An engine that has just come to know this state, and knows nothing of what was before."""
    engine = Engine(limits)
    for event in events:
        engine.step(event)
    engine.step(Tick(at_ns=now_ns, open_ended=True))
    return engine


def _found(engine: Engine) -> list[Finding]:
    return [one.finding for one in engine.findings()]


def _loops(engine: Engine, changes: Sequence[Change]) -> tuple[Finding, ...]:
    evicted = {change.actor for change in changes if isinstance(change, Evict)}
    open_now = (one.finding for one in engine.findings() if one.finding.verdict is Verdict.LIVELOCK)
    return tuple(finding for finding in open_now if not evicted.issuperset(finding.members))


def _turns(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[FindingFate, ...]:
    """Each finding once: those that open, those that remain, those that resolve."""
    remain = [finding for finding in after if any(_same(finding, old) for old in before)]
    opens = [finding for finding in after if finding not in remain]
    resolves = [old for old in before if not any(_same(finding, old) for finding in after)]
    return (
        *(FindingFate(Turn.OPENS, finding) for finding in opens),
        *(FindingFate(Turn.REMAINS, finding) for finding in remain),
        *(FindingFate(Turn.RESOLVES, finding) for finding in resolves),
    )


def _same(finding: Finding, old: Finding) -> bool:
    """Whether it is the same trouble: of one rule, and the members of one are among the other's."""
    one, other = set(finding.members), set(old.members)
    return finding.rule == old.rule and (one <= other or one >= other)


def _outlooks(
    view: View, then: View, named: Iterable[ActorId], took: dict[ActorId, Way], safe: Safety
) -> Iterator[Outlook]:
    queue = Queue(then)
    for name in named:
        actor = then.system.actors.get(name)
        if actor is None:
            yield Outlook(actor=name, fate=Fate.EVICTED, units=view.system.actors[name].holds)
        elif name in took:
            yield Outlook(actor=name, fate=Fate.STARTS_NOW, units=took[name])
        elif actor.wait is None:
            yield Outlook(actor=name, fate=Fate.RUNS, units=actor.holds)
        elif name in then.stuck:
            yield _never(then, name, actor.holds, explain.needs(actor.wait.request))
        elif actor.wait.excuse is not None:
            because, asked = (actor.wait.excuse.text,), explain.needs(actor.wait.request)
            yield Outlook(actor=name, fate=Fate.NOT_JUDGED, units=actor.holds, needs=asked, reasons=because)
        else:
            row = queue.row(actor, actor.wait)
            yield Outlook(
                actor=name,
                fate=Fate.WAITS if row.first_to_finish or row.note else Fate.STARTS_NOW,
                units=actor.holds,
                needs=row.needs,
                waits_for=row.first_to_finish,
                note=_left_over(name, safe) or row.note,
            )


def _left_over(name: ActorId, safe: Safety) -> str:
    if name not in safe.left_over:
        return ""
    rivals = [other for other in safe.left_over if other != name]
    beside = f", nor do {words.listed(rivals)}" if rivals else ""
    return f"not if others that never end are served first: in no order found does it find room{beside}"


def _never(then: View, name: ActorId, holds: Holds, needs: str) -> Outlook:
    answer = explain.why(then, name)
    told = tuple(reason.text.removesuffix(" (see above)") for reason in answer.reasons[:REASONS_MAX])
    reasons = told or (answer.answer,)
    return Outlook(actor=name, fate=Fate.NEVER, units=holds, needs=needs, reasons=reasons, change=answer.change)
