"""Requests under other circumstances: without a peer, with further nodes, anew after a place was lost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from msgspec.structs import replace

from analyzer.explain import words
from analyzer.model.events import ActorObserved, Holds, Wait
from analyzer.model.ids import ActorId, ResourceId, kind_of, place_of, resource_on
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units, all_of

_NODE_BOUND_OWNERS = ("DaemonSet ", "Node ")
"""Owners whose pods belong to one node and go with it."""


def without_peers(request: Request, gone: frozenset[ActorId]) -> Request:
    """The request once these have ended without ever having been ready; the same object if it does not name them."""
    match request:
        case Arrivals():
            peers = tuple(peer for peer in request.peers if peer not in gone)
            if len(peers) == len(request.peers):
                return request
            if len(peers) < request.quorum:
                missing = " and ".join(peer for peer in request.peers if peer in gone)
                return Never(f"{missing} would have to be ready, and is evicted")
            return Arrivals(peers, request.quorum)
        case KOutOfN():
            parts = tuple(without_peers(part, gone) for part in request.parts)
            same = all(one is other for one, other in zip(parts, request.parts, strict=True))
            return request if same else KOutOfN(request.k, parts)
        case Units() | Pods() | Done() | Never():
            return request
        case _:
            assert_never(request)


def candidates_with(
    request: Request, nodes: Sequence[str], before: Mapping[ResourceId, int], after: Mapping[ResourceId, int]
) -> tuple[Request, bool]:
    """The request with the nodes among its candidates where that is certain, and whether it may be where it is not.

    Certain: the candidates are all nodes that had what one pod asks for. Nodes that lack some of it never matter.
    """
    match request:
        case Pods():
            fitting = [node for node in nodes if _offers(node, request, after) and node not in request.among]
            if not fitting:
                return request, False
            everywhere = {place_of(resource) for resource in before if kind_of(resource) in dict(request.each)}
            if any(_offers(node, request, before) for node in everywhere.difference(request.among)):
                return request, True
            return replace(request, among=tuple(sorted({*request.among, *fitting}))), False
        case KOutOfN():
            found = [candidates_with(part, nodes, before, after) for part in request.parts]
            parts = tuple(part for part, _ in found)
            same = all(one is other for one, other in zip(parts, request.parts, strict=True))
            return (request if same else KOutOfN(request.k, parts)), any(choosy for _, choosy in found)
        case Units() | Arrivals() | Done() | Never():
            return request, False
        case _:
            assert_never(request)


def _offers(node: str, pods: Pods, units: Mapping[ResourceId, int]) -> bool:
    return all(units.get(resource_on(kind, node), 0) >= need for kind, need in pods.each)


def of_nodes_only(actor: ActorObserved) -> bool:
    """Whether it belongs to its node: a daemon, or what the node itself runs. Nobody places it elsewhere."""
    return actor.owner.startswith(_NODE_BOUND_OWNERS)


def moved(actor: ActorObserved, lost: Holds, units: Mapping[ResourceId, int], now_ns: int) -> ActorObserved:
    """The actor once it has lost these holds (all on one node): it waits for the same again on other nodes.

    How its pods share what it lost is known if it is one pod, or if it waits for more pods of a shape that divides
    it. Else only its cards are asked for, one by one, which any true division could do with.
    """
    again = _again(actor, {kind_of(resource): count for resource, count in lost}, units)
    wait = actor.wait
    if wait is None:
        wait = Wait(request=again, since_ns=now_ns, preempts=actor.priority > 0)
    else:
        wait = replace(wait, request=_together(again, wait.request))
    left = without(actor.holds, lost)
    lost_cards = sum(count for resource, count in lost if words.is_gpu(kind_of(resource)))
    return replace(actor, holds=left, wait=wait, gpus=max(0, actor.gpus - lost_cards), working=bool(left))


def without(holds: Holds, lost: Holds) -> Holds:
    """What is left of the holds."""
    gone = dict(lost)
    return tuple((resource, left) for resource, units in holds if (left := units - gone.get(resource, 0)) > 0)


def _together(again: Request, request: Request) -> Request:
    """Both; equal pods on equal nodes as one placement, which reads better and is found faster."""
    if (
        isinstance(again, Pods)
        and isinstance(request, Pods)
        and (again.each, again.among, again.per_node_max) == (request.each, request.among, request.per_node_max)
    ):
        return replace(request, count=request.count + again.count)
    return all_of((again, request))


def asking(actor: ActorObserved, now_ns: int) -> ActorObserved:
    """The actor without what it holds: it needs all of that first."""
    parts: tuple[Request, ...] = tuple(Units(resource, count) for resource, count in actor.holds)
    if actor.wait is None:
        wait = Wait(request=all_of(parts), since_ns=now_ns)
    else:
        wait = replace(actor.wait, request=all_of((*parts, actor.wait.request)))
    return replace(actor, holds=(), gpus=0, wait=wait, running_since_ns=None)


def _again(actor: ActorObserved, lost: Mapping[str, int], units: Mapping[ResourceId, int]) -> Request:
    each = tuple(sorted(lost.items()))
    if actor.actor.startswith("pod/"):
        return Pods(1, each, _nodes_with(each, units))
    for pods in () if actor.wait is None else _placements(actor.wait.request):
        needs = {kind: need for kind, need in pods.each if need > 0}
        count = min((lost.get(kind, 0) // need for kind, need in needs.items()), default=0)
        if count and {kind: need * count for kind, need in needs.items()} == dict(lost):
            return Pods(count, pods.each, pods.among, pods.per_node_max)
    cards = {kind: count for kind, count in lost.items() if words.is_gpu(kind)} or dict(lost)
    return all_of(Pods(count, ((kind, 1),), _nodes_with(((kind, 1),), units)) for kind, count in sorted(cards.items()))


def _placements(request: Request) -> Iterator[Pods]:
    if isinstance(request, Pods):
        yield request
    elif isinstance(request, KOutOfN):
        for part in request.parts:
            yield from _placements(part)


def _nodes_with(each: tuple[tuple[str, int], ...], units: Mapping[ResourceId, int]) -> tuple[str, ...]:
    """Nodes that offer all of these kinds, be it enough or not."""
    first = each[0][0]
    nodes = sorted(place_of(resource) for resource in units if kind_of(resource) == first)
    return tuple(node for node in nodes if all(resource_on(kind, node) in units for kind, _ in each))
