"""The questions that are asked of a changed copy of the state, beside the same questions asked of the state itself."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from analyzer import explain
from analyzer.engine import Engine
from analyzer.graph.safety import Safety
from analyzer.hypothesis.aftermath import Aftermath, judged
from analyzer.hypothesis.changes import Change, Draft, Evict, Prioritise
from analyzer.hypothesis.outlook import Fate, Outlook
from analyzer.hypothesis.smallest import smallest_change
from analyzer.model.findings import Finding, Verdict
from analyzer.model.ids import ActorId
from analyzer.state.view import View

REASONS_MAX = 6
"""Reasons that are told for one actor; `knotwatch why` has the whole chain of what is real."""


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
    they are a matter of history, so they are not asked about. `unfinished`: drains that cannot end, why, and what would
    let them. `notes`: what was taken for granted.
    """

    at_ns: int
    outlooks: tuple[Outlook, ...]
    findings: tuple[FindingFate, ...]
    go_on: tuple[ActorId, ...]
    get_stuck: tuple[ActorId, ...]
    safety: Safety
    loops: tuple[Finding, ...]
    unfinished: tuple[str, ...]
    notes: tuple[str, ...]


def what_if(engine: Engine, changes: Sequence[Change]) -> Answer:
    """Make the changes to a copy of the engine's state, let start who then can at once, and ask again.

    Nothing of the engine changes. Both sides are judged from the state alone, without hold times. Costs two evaluations
    from scratch.
    """
    view = engine.view()
    now_ns = view.now_ns
    before = judged(Draft(view.system, now_ns).events(), now_ns, view.limits)
    after = Aftermath(view, changes)
    draft, then = after.draft, after.view
    named = [
        *draft.submitted,
        *(change.actor for change in changes if isinstance(change, Prioritise)),
        *draft.moved,
        *draft.staying,
        *draft.evicted,
    ]
    was_stuck, is_stuck = view.stuck, then.stuck
    return Answer(
        at_ns=now_ns,
        outlooks=tuple(_outlooks(view, after, dict.fromkeys(named))),
        findings=_turns(_found(before), _found(after.engine)),
        go_on=tuple(sorted(name for name in was_stuck - is_stuck if name in then.system.actors)),
        get_stuck=tuple(sorted(name for name in is_stuck - was_stuck if name in view.system.actors)),
        safety=after.safety,
        loops=_loops(engine, changes),
        unfinished=tuple(draft.unfinished),
        notes=tuple(draft.notes),
    )


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


def _outlooks(view: View, after: Aftermath, named: Iterable[ActorId]) -> Iterator[Outlook]:
    for name in named:
        if name not in after.view.system.actors:
            yield Outlook(actor=name, fate=Fate.EVICTED, units=view.system.actors[name].holds)
            continue
        outlook = after.outlook(name)
        yield _with_reasons(after.view, outlook) if outlook.fate is Fate.NEVER else outlook


def _with_reasons(then: View, outlook: Outlook) -> Outlook:
    answer = explain.why(then, outlook.actor)
    told = tuple(reason.text.removesuffix(" (see above)") for reason in answer.reasons[:REASONS_MAX])
    further = smallest_change(then, outlook.actor)
    return replace(outlook, reasons=told or (answer.answer,), change="" if further is None else further.text)
