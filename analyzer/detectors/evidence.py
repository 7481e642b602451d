"""What every detector over waits states alike: edges, witness, idle cards, citations, strength, certainty.

Detectors state facts. Their sentences and prices are written by `analyzer.explain`, once a finding opens or changes.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from analyzer.graph.order import ahead_of, only_by_order
from analyzer.graph.paths import witness_cycle
from analyzer.graph.waitfor import WaitFor
from analyzer.model.events import ActorObserved, Certainty, Citation, Lifetime
from analyzer.model.findings import Edge, Finding, Hardness, Rule
from analyzer.model.ids import ActorId
from analyzer.state.view import View


def finding_id(rule: Rule, members: Sequence[str], root: ActorId | None) -> str:
    """The same for the same members of the same rule, in every run: "k-" and 12 hexadecimal digits."""
    text = "\n".join((rule.id, *sorted(members), *(("", root) if root is not None else ())))
    return "k-" + sha256(text.encode()).hexdigest()[:12]


def about_waits(
    rule: Rule,
    view: View,
    members: tuple[ActorId, ...],
    behind: tuple[ActorId, ...],
    *,
    root: ActorId | None,
    identity: str = "",
) -> Finding:
    """The finding that these members are stuck, all that is known about it but its sentences. `members` are sorted.

    With a root each member is a dead end of its own, and `root` is the first. `identity`: what the id is made of where
    members may come and go. Cost: the edges of members and of those behind, or less if nothing about them has changed.
    """
    behind_each = tuple(view.diagnosis.behind.get(member, ()) for member in members)
    return view.earlier.finding(
        (rule.id, members, identity),
        (members, behind) if root is None else behind_each,
        lambda: _stated(rule, view, members, behind, root=root, identity=identity),
    )


def _stated(
    rule: Rule,
    view: View,
    members: tuple[ActorId, ...],
    behind: tuple[ActorId, ...],
    *,
    root: ActorId | None,
    identity: str,
) -> Finding:
    actors = view.system.actors
    edges = _edges(view, members, behind)
    stuck = [actors[actor] for actor in (*members, *behind)]
    own = [actors[member] for member in members]
    ends_ns = [member.until_ns for member in own if member.lifetime is Lifetime.DATED and member.until_ns is not None]
    dated = len(ends_ns) == len(own) if root is not None else bool(ends_ns)
    soft = dated or (root is None and only_by_order(view.system, view.limits, members))
    closed_ns = [_closed_ns(view, member) for member in own]
    return Finding(
        id=finding_id(rule, (identity,), None) if identity else finding_id(rule, members, root),
        rule=rule.id,
        verdict=rule.verdict,
        strength=Hardness.SOFT if soft else Hardness.HARD,
        certainty=weakest(own),
        since_ns=max(closed_ns) if root is None else min(closed_ns),
        members=members,
        blocked_behind=behind,
        cleared=(),
        root=root,
        edges=edges,
        cycle=_witness(view, members) if root is None else (),
        idle_gpus=sum(actor.gpus for actor in stuck if actor.wait is not None and not actor.working),
        summary="",
        actions=(),
        citations=cited(view, own, (actors[edge.holder] for edge in edges if edge.holder in actors)),
        dissolves_ns=_dissolves_ns(ends_ns, root=root) if dated else None,
        method="exact" if view.diagnosis.exact else "necessary",
    )


def weakest(members: Iterable[ActorObserved]) -> Certainty:
    """Suspected if what is known about any of them is."""
    return Certainty.SUSPECTED if any(one.certainty is Certainty.SUSPECTED for one in members) else Certainty.PROVEN


def cited(view: View, members: Iterable[ActorObserved], holders: Iterable[ActorObserved]) -> tuple[Citation, ...]:
    """Records that the members' state was read from, then the holders', up to the limit; sorted, each once."""
    chosen: dict[Citation, None] = {}
    for actor in (*members, *holders):
        for citation in actor.citations:
            if len(chosen) < view.limits.citations_max:
                chosen[citation] = None
    return tuple(sorted(chosen))


def edge_key(edge: Edge | WaitFor) -> tuple[ActorId, ActorId, str]:
    """The order in which edges are listed."""
    return (edge.waiter, edge.holder, edge.resource or "")


def _dissolves_ns(ends_ns: Sequence[int], *, root: ActorId | None) -> int:
    """One end opens a ring; of dead ends each must end."""
    return min(ends_ns) if root is None else max(ends_ns)


def _closed_ns(view: View, member: ActorObserved) -> int:
    """When this member's last edge closed: it began to wait, or we saw its holds or its request change since."""
    began_ns = member.wait.since_ns if member.wait is not None else member.at_ns
    changed_ns = view.history.changed_ns(member.actor)
    return began_ns if changed_ns is None else max(began_ns, changed_ns)


def _witness(view: View, members: tuple[ActorId, ...]) -> tuple[ActorId, ...]:
    """A shortest ring through the members; a member that is alone waits for itself."""
    return members if len(members) == 1 else witness_cycle(_among(view, members), members)


def _among(view: View, members: Sequence[ActorId]) -> tuple[WaitFor, ...]:
    inside = frozenset(members)
    return tuple(edge for member in members for edge in view.edges_from(member) if edge.holder in inside)


def _edges(view: View, members: Sequence[ActorId], behind: Sequence[ActorId]) -> tuple[Edge, ...]:
    """Edges among members, then of those behind them, up to the limit; sorted."""
    inside = frozenset((*members, *behind))
    chosen: list[WaitFor] = []
    for waiter in (*members, *behind):
        if len(chosen) >= view.limits.edges_max:
            break
        chosen += (edge for edge in view.edges_from(waiter) if edge.holder in inside)
    return tuple(sorted((_edge(view, edge) for edge in chosen[: view.limits.edges_max]), key=edge_key))


def _edge(view: View, edge: WaitFor) -> Edge:
    waiter, holder = view.system.actors[edge.waiter], view.system.actors[edge.holder]
    return Edge(
        waiter=edge.waiter,
        holder=edge.holder,
        resource=edge.resource,
        amount=edge.amount,
        hardness=Hardness.SOFT if holder.lifetime is Lifetime.DATED or _merely_ahead(waiter, edge) else Hardness.HARD,
        since_ns=waiter.wait.since_ns if waiter.wait is not None else waiter.at_ns,
        assumption=_assumption(waiter, holder),
    )


def _merely_ahead(waiter: ActorObserved, edge: WaitFor) -> bool:
    """Whether the holder has nothing that the waiter needs and only stands before it."""
    return edge.resource is None and waiter.wait is not None and edge.holder in ahead_of(waiter.wait.request)


def _assumption(waiter: ActorObserved, holder: ActorObserved) -> str:
    """What this edge takes for granted, in words."""
    taken = []
    if holder.lifetime is Lifetime.UNKNOWN:
        taken.append(f"how long {holder.actor} lives is not known: it waits as long as that")
    if waiter.certainty is Certainty.SUSPECTED:
        taken.append(f"that {waiter.actor} needs all of this at once is inferred, not declared")
    return "; ".join(taken)
