"""Actors that take turns in losing what they hold, and none gets on.

Detects: an actor that lost units and had to wait anew at least `livelock_rounds_min` times within
`livelock_window_ns`, as it was seen or as its own status counts, without its progress mark growing and without
ending. Actors whose rounds interleave over the same units are one finding.

Why it matters: every single moment looks like ordinary preemption, and every snapshot can be resolved. The GPUs are
busy, yet each round throws away the work of the one before.

Assumes: sources say what belongs together where pods are made anew under other names (lineage). Where no progress
mark is known, the finding is suspected.

Not reported: rounds after which the mark grew; actors that ended; preemption rarer than the window; an actor that has
been running for longer than twice its longest round, since then the loop is broken.

Remedy: hold one of them back until the other has got on; give them different priorities, or forbid preemption between
them; let them save their work more often than the rounds come.

Reference: livelock by mutual preemption; a soft deadlock that re-forms three times counts as one.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from msgspec import Struct

from analyzer.detectors.evidence import cited, finding_id, weakest
from analyzer.model.events import ActorObserved, Certainty
from analyzer.model.findings import Finding, Hardness, Rule, Severity, Verdict
from analyzer.model.ids import ResourceId
from analyzer.state.view import View

RULE = Rule(
    id="livelock",
    verdict=Verdict.LIVELOCK,
    severity=Severity.WARNING,
    summary="Actors lose their holds and wait anew, again and again, and none gets on.",
)


SAME_MOMENT = 10
"""Two losses are of one moment if less than so small a part of a round lies between them."""


class Loop(Struct, frozen=True):
    """The recent rounds of one actor, or of those that followed each other under one lineage (`key`).

    `actor` is the present one. `loud`: enough rounds to be a finding on their own.
    """

    key: str
    actor: ActorObserved
    times_ns: tuple[int, ...]
    lost: frozenset[ResourceId]
    begun_ns: int
    marked: bool
    loud: bool


def detect(view: View) -> Iterator[Finding]:
    """One finding per set of actors that lose the same units by turns.

    Cost: pairs of actors that lost the same resource.
    """
    loops = dict(_loops(view))
    if not any(loop.loud for loop in loops.values()):
        return
    for members in _groups(loops):
        if any(loops[member].loud for member in members):
            yield _finding(view, [loops[member] for member in members])


def _loops(view: View) -> Iterator[tuple[str, Loop]]:
    limits = view.limits
    for key in sorted(view.history.rounds):
        rounds = view.history.rounds[key]
        state = view.system.actors.get(rounds.actor)
        recent = [one for one in rounds.kept if one.at_ns >= view.now_ns - limits.livelock_window_ns]
        if state is None or len(recent) < max(2, limits.livelock_rounds_min - 1):
            continue
        times_ns = tuple(one.at_ns for one in recent)
        longest_ns = max(later - earlier for earlier, later in pairwise(times_ns))
        if state.wait is None and view.now_ns - times_ns[-1] > 2 * longest_ns:
            continue
        yield (
            key,
            Loop(
                key=key,
                actor=state,
                times_ns=times_ns,
                lost=frozenset(resource for one in recent for resource in one.lost),
                begun_ns=rounds.begun_ns,
                marked=rounds.progress is not None,
                loud=len(recent) >= limits.livelock_rounds_min,
            ),
        )


def _groups(loops: Mapping[str, Loop]) -> list[tuple[str, ...]]:
    """Actors joined with those whose rounds interleave with theirs over the same units. All sorted."""
    leader = {actor: actor for actor in loops}

    def find(actor: str) -> str:
        while leader[actor] != actor:
            leader[actor] = leader[leader[actor]]
            actor = leader[actor]
        return actor

    losers: dict[ResourceId, list[str]] = {}
    for actor, loop in loops.items():
        for resource in sorted(loop.lost):
            losers.setdefault(resource, []).append(actor)
    for resource in sorted(losers):
        for one, other in combinations(losers[resource], 2):
            first, second = find(one), find(other)
            if first != second and _interleave(loops[one], loops[other]):
                leader[max(first, second)] = min(first, second)
    groups: dict[str, list[str]] = {}
    for actor in sorted(loops):
        groups.setdefault(find(actor), []).append(actor)
    return sorted(tuple(group) for group in groups.values())


def _interleave(one: Loop, other: Loop) -> bool:
    """Whether, in nearly every round of the one that lost less often, the other lost as well, at another moment.

    Who loses at the same moment is a fellow victim of somebody else, and does not take turns.
    """
    fewer, more = sorted((one, other), key=lambda loop: (len(loop.times_ns), loop.key))
    gaps = list(pairwise(fewer.times_ns))
    shared = sum(any(_is_inside(lost_ns, earlier, later) for lost_ns in more.times_ns) for earlier, later in gaps)
    return shared >= max(1, len(gaps) - 1)


def _is_inside(at_ns: int, earlier_ns: int, later_ns: int) -> bool:
    margin_ns = (later_ns - earlier_ns) // SAME_MOMENT
    return earlier_ns + margin_ns < at_ns < later_ns - margin_ns


def _finding(view: View, loops: Sequence[Loop]) -> Finding:
    members = tuple(sorted(loop.actor.actor for loop in loops))
    certain = all(loop.marked for loop in loops)
    return Finding(
        id=finding_id(RULE, [loop.key for loop in loops], None),
        rule=RULE.id,
        verdict=RULE.verdict,
        strength=Hardness.HARD,
        certainty=weakest(loop.actor for loop in loops) if certain else Certainty.SUSPECTED,
        since_ns=min(loop.begun_ns for loop in loops),
        members=members,
        blocked_behind=(),
        cleared=(),
        root=None,
        edges=(),
        cycle=members if len(members) > 1 else (),
        idle_gpus=0,
        summary="",
        actions=(),
        citations=cited(view, (loop.actor for loop in loops), ()),
    )
