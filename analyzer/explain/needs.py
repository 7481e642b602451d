"""A request in words."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from analyzer.explain import words
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units

NOBODY = ActorId("")
POD, NODE = "pod", "node"
_PLANNED = (("plan", 1),)
"""A place in the plan of a Slurm job that starts on all its nodes or none."""


def needs(request: Request, waiter: ActorId = NOBODY) -> str:
    """What must be true for the waiter to go on: "2 pods of 8 gpu each on 4 nodes", "the end of pod/x/y".

    Whose request it is decides what its placements are called: a Slurm job has no pods, it needs nodes.
    """
    match request:
        case Units():
            return words.units_of(request.count, request.resource)
        case Pods():
            return _on_whole_nodes(request) if words.takes_nodes(waiter) else _pods(request)
        case Done():
            return f"the end of {request.actor}"
        case Arrivals():
            return _arrivals(request)
        case Never():
            return f"an end that never comes ({request.why})" if request.why else "an end that never comes"
        case KOutOfN():
            return _parts(request, waiter)
        case _:
            assert_never(request)


def atoms(request: Request) -> Iterator[Units | Pods | Done | Arrivals | Never]:
    """The leaves of a request, in the order in which it states them."""
    if isinstance(request, KOutOfN):
        for part in request.parts:
            yield from atoms(part)
    else:
        yield request


def unknown_peers(actor: ActorObserved, known: Mapping[ActorId, object]) -> tuple[ActorId, ...]:
    """Actors it waits for that the input does not name. They count as ended or arrived, and a text must say so."""
    if actor.wait is None:
        return ()
    peers: set[ActorId] = set()
    for atom in atoms(actor.wait.request):
        match atom:
            case Done():
                peers.add(atom.actor)
            case Arrivals():
                peers.update(atom.peers)
            case Units() | Pods() | Never():
                pass
    return tuple(sorted(peer for peer in peers if peer not in known))


def each_pod(each: tuple[tuple[str, int], ...]) -> str:
    """What one pod takes, cards first: "4 gpu and 8 cpu". That it takes one place among a node's pods goes unsaid."""
    counted = [part for part in each if part != ("pods", 1)]
    ordered = sorted(counted, key=lambda kind: (not words.is_gpu(kind[0]), kind[0]))
    return words.listed([words.units(count, kind) for kind, count in ordered]) or "no counted resource"


def _pods(request: Pods) -> str:
    nodes = len(request.among)
    if nodes == 0:
        where = ""  # no candidate, be it that there is none or that none is in the input: the reason says which
    elif nodes == 1:
        where = f" on {request.among[0]}"
    else:
        where = f" on {'one of ' if request.count == 1 else ''}{nodes:,} nodes"
    spread = (
        f", at most {request.per_node_max} on each" if request.per_node_max is not None and request.count > 1 else ""
    )
    return f"{so_many(request)}{where}{spread}"


def _on_whole_nodes(request: Pods) -> str:
    """The same of a job that is given nodes: "2 nodes (of 4) with 8 gpu each", "8 gpu on any of 4 nodes"."""
    nodes = len(request.among)
    if nodes == 1:
        return f"{so_many(request, NODE) if request.count > 1 else each_pod(request.each)} on {request.among[0]}"
    if _anywhere(request):
        return so_many(request, NODE) + (f" on any of {nodes:,} nodes" if nodes else "")
    return so_many(request, NODE, f" (of {nodes:,})" if nodes else "")


def so_many(request: Pods, noun: str = POD, of_how_many: str = "") -> str:
    """How many of which size, without where: "2 pods of 8 gpu each", "1 node with 8 gpu", "16 gpu"."""
    if noun == POD:
        return f"{words.counted(request.count, noun)} of {_each(request)}"
    if request.each == _PLANNED:
        return f"{words.counted(request.count, 'further node')} in its plan"
    if not _anywhere(request):
        return f"{words.counted(request.count, noun)}{of_how_many} with {_each(request)}"
    if len(request.each) == 1 and request.each[0][1] == 1:
        return words.units(request.count, request.each[0][0])
    return f"{words.counted(request.count, 'part')} of {_each(request)}"


def _each(request: Pods) -> str:
    return f"{each_pod(request.each)}{' each' if request.count > 1 else ''}"


def _anywhere(request: Pods) -> bool:
    """Whether several of these may lie on one node."""
    return request.per_node_max is None and request.count > 1 and request.each != _PLANNED


def _arrivals(request: Arrivals) -> str:
    if not request.peers:
        return f"{request.quorum} of nobody to be ready"
    if request.quorum >= len(request.peers):
        return f"{words.listed(request.peers)} to be ready"
    quorum = "one" if request.quorum == 1 else f"{request.quorum:,}"
    return f"{quorum} of {words.listed(request.peers, last='or')} to be ready"


def _parts(request: KOutOfN, waiter: ActorId) -> str:
    parts = request.parts
    if request.k == 1 and not all(isinstance(part, Never) for part in parts):
        # One way of several: that another never comes is a reason, told where reasons are told.
        parts = tuple(part for part in parts if not isinstance(part, Never))
    texts = [_grouped(part, waiter) for part in parts]
    if request.k <= 0:
        return "nothing"
    if request.k > len(texts):
        return f"{request.k} of only {len(texts)} possibilities"
    if request.k == len(texts):
        return words.listed(texts)
    if request.k == 1:
        return f"either {words.listed(texts, last='or')}"
    return f"{request.k} of these: {words.listed(texts)}"


def _grouped(part: Request, waiter: ActorId) -> str:
    text = needs(part, waiter)
    return f"({text})" if isinstance(part, KOutOfN) and len(part.parts) > 1 else text
