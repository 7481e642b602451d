"""Sentences about an actor that can never go on: what it asks, what could ever be there, who keeps the rest."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from analyzer.explain import words
from analyzer.explain.ever import PIECES_MAX, Keeper, Kept, Lacks, Room
from analyzer.explain.needs import NODE, POD, atoms, needs, so_many
from analyzer.graph.placement import PodsShort, UnitsShort
from analyzer.model.events import ActorObserved, Holds, Lifetime
from analyzer.model.ids import ActorId, ResourceId, kind_of
from analyzer.model.requests import Arrivals, Never, Pods
from analyzer.state.view import View

NAME = "name/"
"""How resources begin that are no more than the name of who holds them."""
SUGGESTED = 3
"""Kinds of units that a misspelt one may have been meant for."""


def orphan_headline(roots: Sequence[ActorObserved], lacks: Lacks) -> str:
    """That it holds something, or each of them does, and will never give it back, and why."""
    if len(roots) > 1:
        holds = words.held(_together(roots))
        why = words.listed([why for why in lacks.shortage.never if why]) or "none of them has a step left"
        return f"{_who(roots)} hold {holds} and will never give that back: {why}"
    why = words.listed([why for why in lacks.shortage.never if why]) or "it has no step left"
    if all(resource.startswith(NAME) for resource, _ in roots[0].holds):
        return f"{roots[0].actor} never comes to its end: {why}"
    return f"{roots[0].actor} holds {words.held(roots[0].holds)} and will never give it back: {why}"


def unplaceable_headline(view: View, roots: Sequence[ActorObserved], lacks: Lacks, kept: Kept) -> str:
    """What it asks for, or the first of those that ask alike, and why that can never be, with its numbers."""
    root = roots[0]
    asked = tuple(atoms(root.wait.request)) if root.wait is not None else ()
    sorts = {type(atom) for atom in asked} - {Never}
    verb = "be placed" if sorts <= {Pods} and (sorts or not asked) else "go on"
    reason = reasons(view, root, lacks)[0]
    if len(roots) > 1 and reason.startswith("it "):
        reason = f"each {reason.removeprefix('it ').replace(', and it asks for', ', and each asks for')}"
    return f"{_who(roots)} can never {verb}: {reason}{_kept_by(kept)}"


def _who(roots: Sequence[ActorObserved]) -> str:
    """One by its name, several by their owner: "3 pods of Job team-red/pretrain"."""
    if len(roots) == 1:
        return roots[0].actor
    kinds = {words.actor_kind(root.actor) for root in roots}
    return f"{words.counted(len(roots), kinds.pop() if len(kinds) == 1 else 'actor')} of {roots[0].owner}"


def _together(roots: Iterable[ActorObserved]) -> Holds:
    held: dict[ResourceId, int] = {}
    for root in roots:
        for resource, units in root.holds:
            held[resource] = held.get(resource, 0) + units
    return tuple(sorted(held.items()))


def reasons(view: View, root: ActorObserved, lacks: Lacks) -> tuple[str, ...]:
    """Every part of the request that stays unmet for good, one clause each, the telling ones first."""
    shortage = lacks.shortage
    with_room = {id(room.short): room for room in lacks.rooms}
    told = [why for why in shortage.never if why]
    noun = NODE if words.takes_nodes(root.actor) else POD
    for short in shortage.pods:
        room = with_room.get(id(short))
        if room is not None:
            told.append(_no_room(view, room, noun))
        elif short.pods.among or not told:  # why there is no candidate was told
            told.append(_no_node(short, noun))
    told += [_units_short(view, root, short) for short in shortage.units]
    told += [_never_ends(view, root.actor, peer) for peer in shortage.done]
    told += [_never_arrives(root.actor, arrivals) for arrivals in shortage.arrivals]
    if not told and shortage.jointly:
        wanted = needs(root.wait.request, root.actor) if root.wait is not None else ""
        told.append(f"it needs {wanted}; each part could be met alone, but never all together")
    if not told:
        wanted = needs(root.wait.request, root.actor) if root.wait is not None else "nothing"
        told.append(f"it needs {wanted}, and cannot have it even once everything that can end has ended")
    return tuple(told)


def who_keeps(kept: Kept) -> tuple[str, ...]:
    """One sentence per endless holder of what is lacking, or for those who hold as much; then the number left out."""
    alike: dict[tuple[str, int], list[Keeper]] = {}
    for keeper in kept.named:
        alike.setdefault((words.sort_of(keeper.resource), keeper.total), []).append(keeper)
    lines = [_keep(keepers) for keepers in alike.values()]
    if kept.more:
        units = words.amount_of(kept.more_units, kept.named[0].resource)
        further = words.counted(kept.more, "further endless holder")
        lines.append(f"{further} {'keeps' if kept.more == 1 else 'keep'} {units} more.")
    return tuple(lines)


def _keep(keepers: Sequence[Keeper]) -> str:
    first = keepers[0]
    if len(keepers) == 1:
        in_all = f" ({_amount(first)} in all)" if first.total != first.amount else ""
        held = words.units_of(first.amount, first.resource)
        return f"{first.holder} holds {held}{in_all} and is treated as endless: it never gives this back by itself."
    sort = words.sort_of(first.resource)
    held = words.units(first.total, sort) if words.on_nodes(sort) else words.units_of(first.total, first.resource)
    who = words.listed([keeper.holder for keeper in keepers])
    return f"{who} each hold {held} and are treated as endless: they never give this back by themselves."


def _amount(keeper: Keeper) -> str:
    return words.amount_of(keeper.total, keeper.resource)


def _no_room(view: View, room: Room, noun: str) -> str:
    pods = room.short.pods
    asked = dict(pods.each).get(room.kind, 0) * pods.count
    asks = f"it asks for {words.amount(asked, room.kind)}"
    exist = words.units(room.exists, room.kind)
    where = f"on {pods.among[0]}" if len(pods.among) == 1 else f"on the {len(pods.among):,} nodes that it may use"
    largest = max(room.pieces, default=0)
    pieces = f"in pieces of at most {words.units(largest, room.kind)}{_pieces(room)}"
    if not room.exists:
        numbers = _no_such(view, room.kind, where)
    elif room.exists < asked:
        numbers = f"only {exist} exist {where}, and {asks}"
    elif room.free < asked:
        scattered = f" {pieces}" if len(room.pieces) > 1 else ""
        free_at_most = f"at most {words.amount(room.free, room.kind)} can ever be free{scattered}"
        numbers = f"of {exist} {where} {free_at_most}, and {asks}"
    elif len(pods.among) == 1:
        numbers = f"{words.units(room.free, room.kind)} can be free {where}"
    else:
        numbers = f"{words.units(room.free, room.kind)} can be free {where}, but {pieces}"
    needed = f"it needs {so_many(pods, noun)}, and {_fits(room.short)}"
    return f"{needed} even once everything that ends has ended: {numbers}"


def _no_such(view: View, kind: str, where: str) -> str:
    """That there is nothing of the kind, and what there is that is called alike or comes from the same maker."""
    kinds = {
        kind_of(resource) for resource, units in view.system.capacity.items() if units and words.on_a_node(resource)
    }
    if kind in kinds:
        return f"there is no {words.named(kind)} {where}"
    maker, _, _ = kind.partition("/")
    alike = [other for other in sorted(kinds) if "/" in other and other.partition("/")[0] == maker]
    near = get_close_matches(kind, alike or sorted(kinds), SUGGESTED, 0.6 if alike else 0.8)
    there = words.listed([*near, *(other for other in alike if other not in near)])
    return f"no node offers {words.named(kind)}{f' (nodes offer {there})' if there else ''}"


def _no_node(short: PodsShort, noun: str) -> str:
    if not short.pods.among:
        whom = "it" if short.pods.count == 1 else "them"
        return f"it needs {so_many(short.pods, noun)}, and no node is a candidate for {whom}"
    return f"it needs {so_many(short.pods, noun)}, and {_fits(short)}"


def _fits(short: PodsShort) -> str:
    if short.fits == 0:
        return "that fits nowhere" if short.pods.count == 1 else "none fits"
    return f"only {short.fits} of them {'fits' if short.fits == 1 else 'fit'}"


def _pieces(room: Room) -> str:
    if not 1 < len(room.pieces) <= PIECES_MAX or words.in_bytes(room.kind):
        return ""
    return f" ({' + '.join(words.amount(piece, room.kind) for piece in room.pieces)})"


def _units_short(view: View, root: ActorObserved, short: UnitsShort) -> str:
    exists = view.system.capacity.get(short.resource, 0)
    exist = words.amount_of(exists, short.resource)
    asked = words.units_of(short.count, short.resource)
    own = sum(units for resource, units in root.holds if resource == short.resource)
    if exists == 0:
        return f"it needs {asked}, and there is none of that at all"
    if short.count > exists:
        return f"it needs {asked}, and only {exist} exist{'s' if exists == 1 else ''}"
    if own and short.count + own > exists:
        holds = words.amount_of(own, short.resource)
        return f"it needs {asked} beside the {holds} that it holds itself, of {exist}"
    return f"it needs {asked}, and at most {words.amount_of(short.free, short.resource)} of {exist} can ever be free"


def _never_ends(view: View, waiter: ActorId, peer: ActorId) -> str:
    if peer == waiter:
        return "it waits for its own end"
    known = view.system.actors.get(peer)
    endless = known is not None and known.lifetime is Lifetime.ENDLESS
    return (
        f"it waits for the end of {peer}{', which is treated as endless: it never ends by itself' if endless else ''}"
    )


def _never_arrives(waiter: ActorId, arrivals: Arrivals) -> str:
    if waiter in arrivals.peers:
        return "it waits for itself to be ready"
    return f"it needs {arrivals.quorum} to be ready, and there are only {len(arrivals.peers)} that could"


def _kept_by(kept: Kept) -> str:
    if not kept.named:
        return ""
    shown = [f"{keeper.holder} ({_amount(keeper)})" for keeper in kept.named[:2]]
    rest = len(kept.named) - len(shown) + kept.more
    names = words.listed([*shown, *([f"{rest:,} more"] if rest else [])])
    return f"; the rest is kept for good by {names}"
