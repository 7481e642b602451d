"""What an actor of a facts file waits for: `needs` to a request.

    {units: RESOURCE, count: N}                                     so many further units
    {pods: N, each: {KIND: N, ...}, among: [NODE, ...]}             placements on KIND/NODE; per_node_max: optional
    {done: ACTOR}                                                   that actor ends
    {ready: [ACTOR, ...], quorum: N}                                that many of them can go on; default all
    {never: "why"}                                                  nothing that happens here meets it
    {all: [...]}  {any: [...]}  {at_least: {k: N, of: [...]}}       nested, met together; a bare list means all

Anything else is a fault with its place.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units, all_of, any_of
from analyzer.sources.facts.fields import Fault, Place, mapping, name, nearest, sequence, whole, words

_NESTING_MAX = 32


def request_of(value: object, place: Place, depth: int = 0) -> Request:
    """The request that `needs` states; raises Fault at the first thing that cannot be meant."""
    if depth > _NESTING_MAX:
        raise Fault(place, f"needs are nested more than {_NESTING_MAX} levels deep.")
    if isinstance(value, list):
        return all_of(_parts(value, place, depth))
    stated = mapping(value, place)
    kinds = [key for key in stated if key in _READERS]
    if len(kinds) != 1:
        known = tuple(_READERS)
        if kinds:
            raise Fault(place, f"one request says one thing, here {' and '.join(kinds)}: write them as a list.")
        hint = nearest(next(iter(stated)), known) if stated else f"; known are {', '.join(known)}."
        raise Fault(place, f"this request says none of the things that can be waited for{hint}")
    return _READERS[kinds[0]](stated, place, depth)


def resources_named(request: Request) -> Iterator[ResourceId]:
    """Every resource whose units the request asks for by name (not those of placements)."""
    match request:
        case Units(resource=resource):
            yield resource
        case KOutOfN(parts=parts):
            for part in parts:
                yield from resources_named(part)
        case Pods() | Done() | Arrivals() | Never():
            return


def nodes_named(request: Request) -> Iterator[str]:
    """Every node that a placement of the request may take."""
    match request:
        case Pods(among=among):
            yield from among
        case KOutOfN(parts=parts):
            for part in parts:
                yield from nodes_named(part)
        case Units() | Done() | Arrivals() | Never():
            return


def _units(stated: dict[str, object], place: Place, _depth: int) -> Request:
    mapping(stated, place, ("units", "count"))
    if "count" not in stated:
        raise Fault(place, 'how many units are needed? Add "count".')
    resource = ResourceId(name(stated["units"], (*place, "units")))
    return Units(resource, whole(stated["count"], (*place, "count")))


def _pods(stated: dict[str, object], place: Place, _depth: int) -> Request:
    mapping(stated, place, ("pods", "each", "among", "per_node_max"))
    for key, what in (("each", "what one pod takes"), ("among", "the nodes that may take them")):
        if key not in stated:
            raise Fault(place, f'pods need "{key}": {what}.')
    each = mapping(stated["each"], (*place, "each"))
    shape = sorted((name(kind, (*place, "each")), whole(each[kind], (*place, "each", kind))) for kind in each)
    nodes = sequence(stated["among"], (*place, "among"))
    among = sorted({name(node, (*place, "among", at)) for at, node in enumerate(nodes)})
    per_node_max = stated.get("per_node_max")
    bound = None if per_node_max is None else whole(per_node_max, (*place, "per_node_max"), least=1)
    return Pods(whole(stated["pods"], (*place, "pods")), tuple(shape), _one_of_equals(tuple(among)), bound)


@lru_cache(maxsize=1024)
def _one_of_equals(among: tuple[str, ...]) -> tuple[str, ...]:
    """The same tuple for the same nodes, so that a thousand waiting actors share one list."""
    return among


def _done(stated: dict[str, object], place: Place, _depth: int) -> Request:
    mapping(stated, place, ("done",))
    return Done(ActorId(name(stated["done"], (*place, "done"))))


def _ready(stated: dict[str, object], place: Place, _depth: int) -> Request:
    mapping(stated, place, ("ready", "quorum"))
    listed = sequence(stated["ready"], (*place, "ready"))
    peers = sorted({ActorId(name(peer, (*place, "ready", at))) for at, peer in enumerate(listed)})
    if "quorum" not in stated:
        return Arrivals(tuple(peers), len(peers))
    quorum = whole(stated["quorum"], (*place, "quorum"))
    if quorum > len(peers):
        raise Fault((*place, "quorum"), f"the quorum of {quorum} is more than the {len(peers)} actors listed.")
    return Arrivals(tuple(peers), quorum)


def _never(stated: dict[str, object], place: Place, _depth: int) -> Request:
    mapping(stated, place, ("never",))
    return Never(words(stated["never"], (*place, "never")) or "no reason is given")


def _all(stated: dict[str, object], place: Place, depth: int) -> Request:
    mapping(stated, place, ("all",))
    return all_of(_parts(stated["all"], (*place, "all"), depth))


def _any(stated: dict[str, object], place: Place, depth: int) -> Request:
    mapping(stated, place, ("any",))
    parts = _parts(stated["any"], (*place, "any"), depth)
    if not parts:
        raise Fault((*place, "any"), 'one of nothing can never be met: list the ways, or say {never: "why"}.')
    return any_of(parts)


def _at_least(stated: dict[str, object], place: Place, depth: int) -> Request:
    """`{at_least: {k: 2, of: [...]}}`, or `{at_least: 2, of: [...]}`."""
    if isinstance(stated["at_least"], dict):
        mapping(stated, place, ("at_least",))
        inner, within, key = stated["at_least"], (*place, "at_least"), "k"
    else:
        inner, within, key = stated, place, "at_least"
    mapping(inner, within, (key, "of"))
    for wanted, what in ((key, "how many of them"), ("of", "the list to choose from")):
        if wanted not in inner:
            raise Fault(within, f'at_least needs "{wanted}": {what}.')
    k = whole(inner[key], (*within, key))
    parts = _parts(inner["of"], (*within, "of"), depth)
    if k > len(parts):
        raise Fault(within, f"at least {k} of {len(parts)} can never be met: list more, or ask for fewer.")
    return KOutOfN(k, parts)


def _parts(value: object, place: Place, depth: int) -> tuple[Request, ...]:
    return tuple(request_of(part, (*place, at), depth + 1) for at, part in enumerate(sequence(value, place)))


_READERS: dict[str, Callable[[dict[str, object], Place, int], Request]] = {
    "units": _units,
    "pods": _pods,
    "done": _done,
    "ready": _ready,
    "never": _never,
    "all": _all,
    "any": _any,
    "at_least": _at_least,
}
