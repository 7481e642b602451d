"""Requests as scenario texts write them: `units gpu/n1 4`, `all(units q 1; pods 3 of gpu 4, cpu 8 on n1 n2)`."""

from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units, all_of, any_of


def parse_request(text: str) -> Request:
    """One request, in one of these forms.

    units RESOURCE COUNT | pods COUNT of KIND N, KIND N on NODE... [max N] | pods COUNT of KIND N on nothing
    done ACTOR | ready QUORUM of ACTOR... | never WHY
    all(R; R) | any(R; R) | at least K(R; R)
    """
    text = text.strip()
    head, paren, _ = text.partition("(")
    if paren and text.endswith(")") and head.split()[:1] in (["all"], ["any"], ["at"]):
        parts = [parse_request(part) for part in _split(text[len(head) + 1 : -1])]
        words = head.split()
        if words == ["all"]:
            return all_of(parts)
        return any_of(parts) if words == ["any"] else KOutOfN(int(words[2]), tuple(parts))
    verb, _, rest = text.partition(" ")
    match verb:
        case "units":
            resource, count = rest.split()
            return Units(ResourceId(resource), int(count))
        case "pods":
            return _pods(rest)
        case "done":
            return Done(ActorId(rest.strip()))
        case "ready":
            quorum, _, peers = rest.partition(" of ")
            return Arrivals(tuple(ActorId(peer) for peer in peers.split()), int(quorum))
        case "never":
            return Never(rest.strip())
        case _:
            raise ValueError(f"no such request: {text}")


def _pods(rest: str) -> Pods:
    count, _, rest = rest.partition(" of ")
    each, _, where = rest.partition(" on ")
    nodes, _, bound = where.partition(" max ")
    kinds = (part.split() for part in each.split(","))
    return Pods(
        count=int(count),
        each=tuple(sorted((kind, int(units)) for kind, units in kinds)),
        among=() if nodes.strip() == "nothing" else tuple(nodes.split()),
        per_node_max=int(bound) if bound else None,
    )


def _split(text: str) -> list[str]:
    """Parts between semicolons that stand outside parentheses."""
    parts, depth, begin = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ";" and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    return [*parts, text[begin:]]
