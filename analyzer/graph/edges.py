"""The plain wait-for graph as a list of edges, short enough to read."""

from collections.abc import Iterable, Mapping, Sequence

from analyzer.graph.waitfor import Target, WaitFor, WaitForGraph
from analyzer.model.ids import ActorId


def listed_edges(
    graph: WaitForGraph,
    cores: Sequence[Sequence[ActorId]],
    each_max: int,
    to_itself: Mapping[ActorId, Sequence[WaitFor]],
) -> dict[ActorId, list[WaitFor]]:
    """The edges of the plain wait-for graph by waiter, sorted; where one has more than `each_max`, the telling ones.

    These are: an edge on a shortest way to the first member of its core (so that the core keeps a ring), other edges
    inside the core, then the rest by name. `to_itself`: the edges of those who block themselves, always listed.
    """
    core_of = {graph.index[name]: number for number, core in enumerate(cores) for name in core}
    hops: dict[int, dict[int, Target]] = {}
    inside: dict[tuple[int, int], list[Target]] = {}
    found: dict[ActorId, list[WaitFor]] = {}
    for number, lacks in enumerate(graph.links):
        if not lacks:
            continue
        if sum(len(graph.lacks[lack].targets) for lack in lacks) <= each_max:
            targets = {target: None for lack in lacks for target in graph.lacks[lack].targets}
        else:
            targets = {}
            core = core_of.get(number)
            if core is not None:
                if core not in hops:
                    hops[core] = graph.hops([graph.index[name] for name in cores[core]])
                if number in hops[core]:
                    targets[hops[core][number]] = None
                for lack in lacks:
                    if (lack, core) not in inside:
                        members = (each for each in graph.lacks[lack].targets if core_of.get(each[0]) == core)
                        inside[lack, core] = list(members)
                    _fill(targets, inside[lack, core], number, each_max)
            for lack in lacks:
                _fill(targets, graph.lacks[lack].targets, number, each_max)
        name = graph.names[number]
        edges = [WaitFor(name, graph.names[to], over, amount) for to, over, amount in targets if to != number]
        edges += to_itself.get(name, ())
        found[name] = sorted(edges, key=_in_order)
    return found


def edges_of_one(graph: WaitForGraph, number: int, each_max: int) -> list[WaitFor]:
    """The edges of a waiter outside all cores, as `listed_edges` lists them."""
    targets: dict[Target, None] = {}
    lacks = [graph.lacks[lack].targets for lack in graph.links[number]]
    for each in lacks:
        _fill(targets, each, number, each_max if sum(map(len, lacks)) > each_max else len(targets) + len(each) + 1)
    name = graph.names[number]
    return sorted((WaitFor(name, graph.names[to], over, amount) for to, over, amount in targets), key=_in_order)


def _in_order(edge: WaitFor) -> tuple[str, str, int]:
    return edge.holder, edge.resource or "", edge.amount


def _fill(targets: dict[Target, None], more: Iterable[Target], itself: int, most: int) -> None:
    for target in more:
        if len(targets) >= most:
            return
        if target[0] != itself:
            targets[target] = None
