"""A finding with its sentences: summary, actions with prices, details. Asked for only where somebody will read."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec.structs import replace

from analyzer.explain import dead_end, loop, ring, words
from analyzer.explain.actions import HOUR_NS, actions, advice
from analyzer.explain.by_hand import by_hand
from analyzer.explain.ever import Keeper, Kept, Prospects, wanted
from analyzer.explain.needs import atoms, needs, unknown_peers
from analyzer.model.events import ActorObserved, Certainty
from analyzer.model.findings import Action, Edge, Finding, Hardness, Verdict
from analyzer.model.ids import ActorId
from analyzer.model.requests import Pods, Units
from analyzer.state.view import View

MEMBERS_TOLD = 10
"""Members, or groups of them that are alike, that get a sentence; the rest is a number."""

MEMBERS_READ = 200
"""Members among whom those that are alike are looked for."""


def explained(prospects: Prospects, finding: Finding) -> Finding:
    """The finding as an operator reads it, at the view's moment. Facts of the detector stay as they are.

    Added: sentences, actions, and edges to endless holders, which are evidence but no members. One `prospects` serves
    all findings of a view.
    """
    match finding.verdict:
        case Verdict.LIVELOCK:
            return _livelock(prospects.view, finding)
        case Verdict.DEADLOCK | Verdict.ORPHANED_HOLD | Verdict.UNPLACEABLE:
            return _stuck(prospects, finding)
        case Verdict.HANG | Verdict.MISMATCH:
            return finding
        case _:
            assert_never(finding.verdict)


def _stuck(prospects: Prospects, finding: Finding) -> Finding:
    view = prospects.view
    members = [view.system.actors[member] for member in finding.members]
    kept = _all_kept(prospects, members)
    proposed = actions(view, finding.members, finding.blocked_behind)
    head, reasons = _headline(prospects, finding, members, kept)
    details = [
        *_member_sentences(view, finding, members),
        *reasons,
        *dead_end.who_keeps(kept),
        *_behind(finding),
        *_order_sentence(finding),
        *_action_sentences(finding, proposed),
        *_assumptions(view, finding, members),
        *_cost(view, finding),
        _wrong_if(finding, members, kept),
    ]
    return replace(
        finding,
        summary=_summary(view, finding, head, _advice(finding, proposed)),
        actions=proposed,
        edges=_with_keepers(prospects, finding, members, kept),
        details=tuple(details),
    )


def _headline(
    prospects: Prospects, finding: Finding, members: Sequence[ActorObserved], kept: Kept
) -> tuple[str, tuple[str, ...]]:
    """The first clause, and the sentences that prove it."""
    view = prospects.view
    if finding.root is None:
        return ring.headline(view, finding), ring.edge_sentences(view, finding)
    root = members[0]
    lacks = prospects.lacks(root)
    if finding.verdict is Verdict.ORPHANED_HOLD:
        return dead_end.orphan_headline(members, lacks), ()
    further = dead_end.reasons(view, root, lacks)[1:]  # the first one is the headline
    return dead_end.unplaceable_headline(view, members, lacks, kept), tuple(f"Besides, {reason}." for reason in further)


def _summary(view: View, finding: Finding, head: str, advised: str) -> str:
    parts = [head]
    if finding.blocked_behind:
        others = len(finding.blocked_behind)
        parts.append(f"{words.counted(others, 'other')} {'waits' if others == 1 else 'wait'} behind")
    if finding.strength is Hardness.SOFT and finding.dissolves_ns is not None:
        parts.append(f"a deadline dissolves this in {words.span(finding.dissolves_ns - view.now_ns)} at the latest")
    if advised:
        parts.append(advised)
    return "; ".join(parts) + "."


def _member_sentences(view: View, finding: Finding, members: Sequence[ActorObserved]) -> Iterable[str]:
    kinds = _kinds(finding)
    said: dict[str, list[ActorId]] = {}
    alike: dict[tuple[str, str], list[ActorObserved]] = {}
    for member in members[:MEMBERS_READ]:
        if member.wait is not None:
            asked = needs(member.wait.request, member.actor)
            alike.setdefault((words.held(member.holds, kinds), asked), []).append(member)
            if member.wait.said:
                said.setdefault(member.wait.said, []).append(member.actor)
    told = list(alike.items())[:MEMBERS_TOLD]
    for (holds, asked), same in told:
        yield _alike(view, same, holds, asked)
    rest = len(members) - sum(len(same) for _, same in told)
    if rest:
        yield f"{words.counted(rest, 'further member')} {'waits' if rest == 1 else 'wait'} likewise."
    for text, actors in said.items():
        whose = "Said about it" if len(said) == 1 else f"Said about {words.listed(actors)}"
        yield f'{whose}: "{text}"'


def _alike(view: View, same: Sequence[ActorObserved], holds: str, asked: str) -> str:
    """One sentence about members that hold and lack the same."""
    longest = words.span(max(view.now_ns - one.wait.since_ns for one in same if one.wait is not None))
    if len(same) == 1:
        return f"{same[0].actor} holds {holds} and has waited {longest} for {asked}."
    who = words.listed([one.actor for one in same], shown=2)
    return f"{who} each hold {holds} and have waited up to {longest} for {asked}."


def _kinds(finding: Finding) -> frozenset[str]:
    """What somebody in the finding lacks: of what they hold, only this and cards are worth naming."""
    resources = {edge.resource for edge in finding.edges if edge.resource is not None}
    return frozenset(map(words.sort_of, resources))


def _behind(finding: Finding) -> Iterable[str]:
    if finding.blocked_behind:
        names = words.listed(finding.blocked_behind, shown=MEMBERS_TOLD)
        yield f"Blocked behind, and free once this is cured: {names}."


def _advice(finding: Finding, proposed: Sequence[Action]) -> str:
    """What to do; for a deadlock that no eviction cures, that this is so."""
    orphans = len(finding.members) if finding.verdict is Verdict.ORPHANED_HOLD else 0
    if not proposed and (cure := by_hand(finding.members)):
        return cure
    if orphans and not proposed:
        return "release it" if orphans == 1 else "release all of them"
    if proposed or finding.verdict is not Verdict.DEADLOCK:
        return advice(proposed, _kinds(finding), orphans=orphans)
    if len(finding.members) == 1:
        return "it must ask for less, or give back what it holds first"
    if any(edge.resource is not None for edge in finding.edges):
        return "no eviction of one or two that we tried starts any other"
    return "stopping one of them helps none: the order in which they start must change"


def _order_sentence(finding: Finding) -> Iterable[str]:
    """Of a ring that no deadline ends and that is soft all the same: a queue's order closes it, and may be changed."""
    if finding.verdict is Verdict.DEADLOCK and finding.strength is Hardness.SOFT and finding.dissolves_ns is None:
        soft = [edge for edge in finding.edges if edge.hardness is Hardness.SOFT and edge.waiter in finding.members]
        if soft:
            yield (
                f"Only the order of a queue closes this ring: if {soft[0].waiter} may go before {soft[0].holder}, "
                "by priority or in a queue that is not strict, nobody need be stopped."
            )


def _action_sentences(finding: Finding, proposed: Sequence[Action]) -> Iterable[str]:
    done = "Releasing what is held by" if finding.verdict is Verdict.ORPHANED_HOLD else "Evicting"
    kinds = _kinds(finding) if proposed else ()
    for action in proposed:
        runs = words.listed(action.then_runs)
        vain = ", if its controller is kept from making it anew at once" if action.cost.useless else ""
        joint = f", together with {words.listed(action.together_with)}" if action.together_with else ""
        frees = f"frees {words.held(action.frees, kinds)}{_lost(action)}{vain}"
        yield f"{done} {action.actor}{joint} {frees}; then runs: {runs}."


def _lost(action: Action) -> str:
    hours = action.cost.gpu_hours_lost
    if not action.cost.gpus or hours == 0.0:
        return ""
    return f" and loses {'work that we cannot price' if hours is None else words.gpu_hours(hours)}"


def _assumptions(view: View, finding: Finding, members: Sequence[ActorObserved]) -> Iterable[str]:
    for assumption in sorted({edge.assumption for edge in finding.edges if edge.assumption}):
        yield f"Taken for granted: {assumption}."
    if finding.certainty is Certainty.SUSPECTED and not any(edge.assumption for edge in finding.edges):
        suspected = words.listed([one.actor for one in members if one.certainty is Certainty.SUSPECTED])
        yield f"Suspected only: what {suspected} needs at once is inferred, not declared."
    unknown = sorted({peer for member in members for peer in unknown_peers(member, view.system.actors)})
    if unknown:
        yield f"Not in the input, and counted as ended or ready: {words.listed(unknown)}."
    if finding.method == "necessary":
        yield "Some placements were too large to search: their necessary conditions decided, and count as met."
    if len(finding.edges) >= view.limits.edges_max:
        yield f"Only the first {view.limits.edges_max} edges are listed."


def _cost(view: View, finding: Finding) -> Iterable[str]:
    hours = 0.0
    for name in (*finding.members, *finding.blocked_behind):
        actor = view.system.actors[name]
        if actor.wait is not None and not actor.working:
            hours += actor.gpus * max(view.now_ns - actor.wait.since_ns, 0) / HOUR_NS
    if finding.idle_gpus:
        gpus = words.counted(finding.idle_gpus, "GPU")
        yield f"Cost so far: {gpus} held by actors that wait, {words.gpu_hours(hours)} in all."


def _wrong_if(finding: Finding, members: Sequence[ActorObserved], kept: Kept) -> str:
    """What would prove it wrong, so that a reader can check before acting."""
    match finding.verdict:
        case Verdict.DEADLOCK if len(finding.members) == 1:
            return (
                f"This would be wrong if {finding.members[0]} can start with less, or gives back what it holds first."
            )
        case Verdict.DEADLOCK:
            return (
                "This would be wrong if somebody who is not in this input gives back what they lack,"
                " if one of them can start with less, or if it will end although it waits."
            )
        case Verdict.ORPHANED_HOLD:
            who, what = (finding.root, "it") if len(finding.members) == 1 else ("them", "them")
            return f"This would be wrong if somebody is still finishing {who}, or removes {what}."
        case _ if not any(map(_asks_for_units, members)):
            return f"This would be wrong if somebody is already at work on {words.listed(finding.members, shown=1)}."
        case _:
            leaves = ", if an endless holder leaves," if kept.named else ""
            who = finding.root if len(finding.members) == 1 else "they"
            return f"This would be wrong if capacity is being added{leaves} or if {who} can do with less."


def _asks_for_units(member: ActorObserved) -> bool:
    asked = atoms(member.wait.request) if member.wait is not None else ()
    return any(isinstance(atom, Units | Pods) for atom in asked)


def _all_kept(prospects: Prospects, members: Sequence[ActorObserved]) -> Kept:
    """Endless holders of what any member lacks; of several members the longest list stands for all."""
    kept = [prospects.kept(member) for member in members[:MEMBERS_TOLD]]
    if len(kept) == 1:
        return kept[0]
    found: dict[ActorId, Keeper] = {}
    for keeper in (keeper for one in kept for keeper in one.named):
        if keeper.holder not in found or found[keeper.holder].total < keeper.total:
            found[keeper.holder] = keeper
    named = sorted(found.values(), key=lambda keeper: (-keeper.total, keeper.holder))
    fullest = max(kept, key=lambda one: one.more_units)
    return Kept(tuple(named[: prospects.view.limits.assumed_holders_max]), fullest.more, fullest.more_units)


def _with_keepers(
    prospects: Prospects, finding: Finding, members: Sequence[ActorObserved], kept: Kept
) -> tuple[Edge, ...]:
    """The edges, and from the members that lack it one to each endless holder, named as an assumption."""
    if not kept.named:
        return finding.edges
    holders = {keeper.holder for keeper in kept.named}
    added = [
        Edge(
            waiter=member.actor,
            holder=keeper.holder,
            resource=keeper.resource,
            amount=keeper.amount,
            hardness=Hardness.HARD,
            since_ns=member.wait.since_ns if member.wait is not None else member.at_ns,
            assumption=f"{keeper.holder} is treated as endless: it never gives this back by itself",
        )
        for member in members[:MEMBERS_TOLD]
        for keeper in prospects.kept(member).named
        if keeper.holder in holders
    ]
    edges = {(edge.waiter, edge.holder, edge.resource or ""): edge for edge in (*added, *finding.edges)}
    return tuple(edges[key] for key in sorted(edges))


def _livelock(view: View, finding: Finding) -> Finding:
    actors = [view.system.actors[member] for member in finding.members]
    advised = loop.advice(view, finding)
    details = [*loop.round_sentences(view, finding)]
    if finding.certainty is Certainty.SUSPECTED:
        details.append("Suspected only: no progress mark of theirs is known, so they may have got on unseen.")
    details.append("This would be wrong if work done in one round is kept for the next.")
    return replace(
        finding,
        summary=f"{loop.headline(view, finding)}; {advised}.",
        idle_gpus=sum(actor.gpus for actor in actors if actor.wait is not None and not actor.working),
        edges=tuple(_loop_edges(actors)),
        details=tuple(details),
    )


def _loop_edges(actors: Sequence[ActorObserved]) -> Iterable[Edge]:
    """Who waits just now for units that another of them holds. Soft: the next round turns them over."""
    for waiter in actors:
        if waiter.wait is None:
            continue
        asked = wanted([waiter.wait.request])
        for holder in actors:
            for resource, amount in holder.holds if holder is not waiter else ():
                if resource in asked:
                    yield Edge(
                        waiter=waiter.actor,
                        holder=holder.actor,
                        resource=resource,
                        amount=amount,
                        hardness=Hardness.SOFT,
                        since_ns=waiter.wait.since_ns,
                    )
