"""Sentences about a deadlock: who holds what, who waits for whom, and why nobody outside helps."""

from collections.abc import Container, Iterable, Sequence
from itertools import pairwise

from analyzer.explain import words
from analyzer.explain.needs import atoms
from analyzer.model.events import ActorObserved, Wait
from analyzer.model.findings import Edge, Finding
from analyzer.model.ids import ActorId, ResourceId, kind_of, place_of
from analyzer.model.requests import Done, KOutOfN, Pods, Request, Units
from analyzer.state.view import View


def headline(view: View, finding: Finding) -> str:
    """What is wrong, as one clause without advice: who, what they hold, and that none can go on."""
    members = finding.members
    if len(members) == 1:
        return _blocks_itself(view, view.system.actors[members[0]])
    if 1 < len(finding.cycle) <= words.NAMES_SHOWN and any(edge.resource is None for edge in _ring(finding)):
        return _in_a_ring(view, finding)
    inside = frozenset(members)
    edges = [edge for edge in finding.edges if edge.resource is not None and edge.holder in inside]
    pods = [atom for member in members for atom in _asked(view.system.actors[member]) if isinstance(atom, Pods)]
    on_nodes = {kind for one in pods for kind, _ in one.each}
    sorts = {edge.resource: _sort(edge.resource, on_nodes) for edge in edges if edge.resource is not None}
    sort = words.principal(sorts.values())
    pool = sorted(resource for resource in sorts if sorts[resource] == sort)
    amounts = [_held_of(view.system.actors[member], pool) for member in members]
    lack_it = {edge.waiter for edge in edges if edge.resource is not None and sorts[edge.resource] == sort}
    differ = len(members) <= words.NAMES_SHOWN and len(lack_it) < len(members)
    if sort is None or differ or not all(amounts):
        return _in_a_ring(view, finding)
    total = sum(view.system.capacity.get(resource, 0) for resource in pool)
    whole = _of_pool(total, sort, pool)
    lack = _lack(view, members, pool[0])
    return f"{_who(members)} {_hold(amounts, pool[0])} {whole} and {lack}: {_none(members)} can go on"


def edge_sentences(view: View, finding: Finding) -> tuple[str, ...]:
    """One sentence per edge that closes the circle, in its order; without a witness, one per edge among members."""
    inside = frozenset(finding.members)
    ring = _ring(finding) or [edge for edge in finding.edges if edge.waiter in inside and edge.holder in inside]
    pairs = dict.fromkeys((edge.waiter, edge.holder) for edge in ring)
    return tuple(
        f"{waiter} {waits_for(view, view.system.actors[waiter], holder, _between(finding.edges, waiter, holder))}."
        for waiter, holder in pairs
    )


def waits_for(view: View, waiter: ActorObserved, holder: ActorId, edges: Sequence[Edge], name: str = "") -> str:
    """What one waits for from the other: "waits for node_slot/all, of which B holds 43", "waits for B to end"."""
    name = name or holder
    held = {edge.resource: edge.amount for edge in edges if edge.resource is not None}
    sort = words.principal(map(words.sort_of, held))
    if sort is None:
        ends = waiter.wait is not None and any(
            isinstance(atom, Done) and atom.actor == holder for atom in atoms(waiter.wait.request)
        )
        return f"waits for {name} to {'end' if ends else 'be ready'}"
    resources = [resource for resource in held if words.sort_of(resource) == sort]
    if words.on_nodes(sort):
        places = words.listed([place_of(resource) for resource in resources])
        amount = words.amount(sum(held[resource] for resource in resources), sort)
        return f"waits for {words.named(sort)} on {places}, of which {name} holds {amount}"
    things = [resource for resource in held if not words.on_a_node(resource)]
    if len(things) > 1:
        return f"waits for {words.listed([words.units_of(held[thing], thing) for thing in things])}, held by {name}"
    (thing,) = things
    if held[thing] == view.system.capacity.get(thing, 0):
        return f"waits for {thing}, which {name} holds"
    return f"waits for {thing}, of which {name} holds {words.amount_of(held[thing], thing)}"


def _blocks_itself(view: View, member: ActorObserved) -> str:
    own = dict(member.holds)
    asked = [atom for atom in _asked(member) if isinstance(atom, Units) and own.get(atom.resource, 0)]
    told = [
        f"{words.units_of(atom.count, atom.resource)} beside the {words.amount_of(own[atom.resource], atom.resource)}"
        f" that it holds itself, of {words.amount_of(view.system.capacity.get(atom.resource, 0), atom.resource)}"
        for atom in asked
    ]
    return f"{member.actor} blocks itself: it needs {words.listed(told) or 'what only it can give'}"


def _in_a_ring(view: View, finding: Finding) -> str:
    members, cycle = finding.members, finding.cycle
    name = words.short_names(members)
    head = f"{words.capital(words.group(members))} wait for each other and {_none(members)} can go on"
    if not 1 < len(cycle) <= words.NAMES_SHOWN:
        return f"{head}: {words.listed([name(member) for member in members])}"
    steps = [
        waits_for(view, view.system.actors[waiter], holder, _between(finding.edges, waiter, holder), name(holder))
        for waiter, holder in pairwise((*cycle, cycle[0]))
    ]
    told = "; ".join(f"{name(waiter)} {step}" for waiter, step in zip(cycle, steps, strict=True))
    return f"{head}: {told}"


def _who(members: Sequence[ActorId]) -> str:
    name = words.short_names(members)
    group = words.capital(words.group(members))
    if len(members) > words.NAMES_SHOWN:
        return group
    return f"{group}, {words.listed([name(member) for member in members])},"


def _hold(amounts: Sequence[int], resource: ResourceId) -> str:
    if len(amounts) > words.NAMES_SHOWN:
        return f"together hold {words.amount_of(sum(amounts), resource)}"
    return f"hold {words.listed([words.amount_of(amount, resource) for amount in amounts])}"


def _sort(resource: ResourceId, on_nodes: Container[str]) -> str:
    """As `words.sort_of`; and whatever pods are asked to be placed by sits on nodes, too."""
    return kind_of(resource) if kind_of(resource) in on_nodes else words.sort_of(resource)


def _of_pool(total: int, sort: str, pool: Sequence[ResourceId]) -> str:
    if len(pool) > 1:
        places = words.listed([place_of(one) for one in pool]) if len(pool) == 2 else f"{len(pool):,} nodes"
        return f"of the {words.units(total, sort)} on {places}"
    whole = words.units_of(total, pool[0])
    number, _, rest = whole.partition(" of ")
    return f"of the {number} {rest}" if rest and " " not in number else f"of the {whole}"


def _asked(actor: ActorObserved) -> Iterable[Request]:
    return atoms(actor.wait.request) if actor.wait is not None else ()


def _lack(view: View, members: Sequence[ActorId], resource: ResourceId) -> str:
    """How much more each waits for, where that is one number; else that each waits for the others."""
    asked = [_asked_of(view.system.actors[member].wait, resource) for member in members]
    amounts = [words.amount_of(count, resource) for count in asked if count]
    if len(members) <= words.NAMES_SHOWN and len(amounts) == len(members):
        return f"wait for {words.listed(amounts)} more"
    return f"each waits for what the other{' holds' if len(members) == 2 else 's hold'}"


def _asked_of(wait: Wait | None, resource: ResourceId) -> int | None:
    """Units of this sort that a wait asks for, if all of its parts must be met; None if there are alternatives."""
    if wait is None or not _is_plain(wait.request):
        return None
    total = 0
    for atom in atoms(wait.request):
        if isinstance(atom, Units) and words.sort_of(atom.resource) == words.sort_of(resource):
            total += atom.count
        elif isinstance(atom, Pods):
            total += atom.count * dict(atom.each).get(kind_of(resource), 0)
    return total


def _is_plain(request: Request) -> bool:
    if isinstance(request, KOutOfN):
        return request.k == len(request.parts) and all(map(_is_plain, request.parts))
    return True


def _none(members: Sequence[ActorId]) -> str:
    return "neither" if len(members) == 2 else "none"


def _held_of(actor: ActorObserved, pool: Iterable[ResourceId]) -> int:
    wanted = frozenset(pool)
    return sum(units for resource, units in actor.holds if resource in wanted)


def _ring(finding: Finding) -> list[Edge]:
    cycle = finding.cycle
    if len(cycle) < 2:
        return []
    steps = list(pairwise((*cycle, cycle[0])))
    return [edge for step in steps for edge in _between(finding.edges, *step)]


def _between(edges: Iterable[Edge], waiter: ActorId, holder: ActorId) -> list[Edge]:
    return [edge for edge in edges if edge.waiter == waiter and edge.holder == holder]
