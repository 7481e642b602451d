"""Sentences about a livelock: how often, how fast, and what is thrown away."""

from itertools import pairwise

from analyzer.explain import words
from analyzer.model.events import ActorObserved
from analyzer.model.findings import Finding
from analyzer.model.ids import ActorId
from analyzer.state.history import Rounds
from analyzer.state.view import View


def headline(view: View, finding: Finding) -> str:
    """Who loses what it holds, how often and how regularly, and that none gets on."""
    members = finding.members
    rounds = [_rounds(view, member) for member in members]
    count = max(one.count for one in rounds)
    period = words.span(period_ns(rounds))
    if len(members) == 1:
        return (
            f"{members[0]} has lost what it held {count:,} times, about every {period},"
            " and had to wait anew each time without getting on"
        )
    name = words.short_names(members)
    who = f"{words.capital(words.group(members))}, {words.listed([name(member) for member in members])},"
    return f"{who} lose their holds by turns, up to {count:,} times and about every {period}, and none gets on"


def round_sentences(view: View, finding: Finding) -> tuple[str, ...]:
    """One sentence per member: its rounds, what it lost, its progress mark."""
    return tuple(
        _sentence(view.system.actors[member], _rounds(view, member), view.now_ns) for member in finding.members
    )


def advice(view: View, finding: Finding) -> str:
    """Whom to hold back: the least important, and of these the one with the fewest cards.

    Only one whose absence leaves another that can go on: who is stuck for other reasons would not get on by it.
    Words and no action: to evict one is what the loop does anyway, and its controller makes it anew.
    """
    if len(finding.members) < 2:
        actor = view.system.actors[finding.members[0]]
        if actor.losses is not None and actor.progress == 0:
            return "it has not got ready in any of these rounds: find out what keeps it from starting"
        return "keep it from being preempted until it has got on, or have it save its work more often"
    able = [member for member in finding.members if member not in view.stuck]
    useful = [member for member in finding.members if any(other != member for other in able)]
    if not useful:
        return "forbid preemption between them, or give them different priorities"
    held_back = min(useful, key=lambda member: _importance(view.system.actors[member]))
    return f"hold {held_back} back until another has got on, or forbid preemption between them"


def period_ns(rounds: list[Rounds]) -> int:
    """The middle one of the times between losses of one actor, over all of them; 0 if nobody lost twice."""
    gaps = sorted(later.at_ns - earlier.at_ns for one in rounds for earlier, later in pairwise(one.kept))
    return gaps[len(gaps) // 2] if gaps else 0


def _rounds(view: View, member: ActorId) -> Rounds:
    state = view.system.actors[member]
    return view.history.rounds[state.lineage or state.actor]


def _importance(actor: ActorObserved) -> tuple[int, int, ActorId]:
    return (actor.priority, actor.gpus, actor.actor)


def _sentence(actor: ActorObserved, rounds: Rounds, now_ns: int) -> str:
    lost = words.listed(sorted({resource for one in rounds.kept for resource in one.lost}))
    mark = (
        "no progress mark is known" if rounds.progress is None else f"its progress mark stands at {rounds.progress:,}"
    )
    doing = "waits" if actor.wait is not None else f"holds {words.held(actor.holds)}"
    since = words.span(now_ns - rounds.begun_ns)
    whom = f", each time for {rounds.by}" if rounds.by else ""
    what = f" ({lost})" if lost else ""
    return f"{actor.actor} lost units {rounds.count:,} times in {since}{what}{whom}; {mark}; just now it {doing}."
