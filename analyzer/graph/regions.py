"""Which of the stuck can have anything to do with each other, judged by names alone."""

from collections.abc import Iterable, Mapping, Sequence

from analyzer.graph.atlas import Atlas, Layout, leaves
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, Pods, Units

LAYOUTS_MAX = 64
"""Distinct sets of candidate nodes that are told apart; with more of them all the stuck make one region."""


class Interests:
    """What some actors ask for: resources, candidate nodes (by layout), and peers."""

    def __init__(self) -> None:
        self.resources: set[ResourceId] = set()
        self.layouts: dict[int, Layout] = {}
        self.peers: set[ActorId] = set()

    def touched_by(self, resource: ResourceId, atlas: Atlas) -> bool:
        """Whether units of this resource might matter to any of them."""
        if resource in self.resources:
            return True
        node = atlas.split(resource)[1]
        return any(node in layout.positions for layout in self.layouts.values())

    def overlap(self, other: "Interests") -> bool:
        """Whether both ask for the same."""
        return not self.resources.isdisjoint(other.resources) or not self.layouts.keys().isdisjoint(other.layouts)

    def include(self, other: "Interests") -> None:
        """Ask for what the other asks for, too."""
        self.resources |= other.resources
        self.layouts.update(other.layouts)
        self.peers |= other.peers

    def add(self, actor: ActorObserved, atlas: Atlas) -> None:
        """Count in what this actor asks for."""
        if actor.wait is None:
            return
        for leaf in leaves(actor.wait.request):
            if isinstance(leaf, Units):
                self.resources.add(leaf.resource)
            elif isinstance(leaf, Pods):
                layout = atlas.layout(leaf.among)
                self.layouts[id(layout)] = layout
            elif isinstance(leaf, Done):
                self.peers.add(leaf.actor)
            elif isinstance(leaf, Arrivals):
                self.peers.update(leaf.peers)


def divide(
    actors: Mapping[ActorId, ActorObserved], names: Sequence[ActorId], atlas: Atlas
) -> list[tuple[list[ActorId], Interests]]:
    """The regions of these stuck actors, each with what its members ask for. O(leaves + holds * layouts)."""
    asked = {}
    for name in names:
        asked[name] = Interests()
        asked[name].add(actors[name], atlas)
    layouts = {number: layout for each in asked.values() for number, layout in each.layouts.items()}
    groups = _Groups()
    if len(layouts) > LAYOUTS_MAX:
        for name in names:
            groups.join(name, "all")
    resources = {resource for each in asked.values() for resource in each.resources}
    for name, each in asked.items():
        for key in (*each.resources, *each.layouts, *(peer for peer in each.peers if peer in asked)):
            groups.join(name, key)
        if len(layouts) <= LAYOUTS_MAX:
            for key in _held(actors[name], resources, layouts, atlas):
                groups.join(name, key)
    found: dict[object, tuple[list[ActorId], Interests]] = {}
    for name in names:
        members, interests = found.setdefault(groups.find(name), ([], Interests()))
        members.append(name)
        interests.include(asked[name])
    return list(found.values())


def _held(
    actor: ActorObserved, resources: set[ResourceId], layouts: Mapping[int, Layout], atlas: Atlas
) -> Iterable[object]:
    nodes: dict[str, None] = {}
    for resource, _ in actor.holds:
        if resource in resources:
            yield resource
        nodes[atlas.split(resource)[1]] = None
    for node in nodes:
        for number, layout in layouts.items():
            if node in layout.positions:
                yield number


class _Groups:
    """Disjoint sets (union-find with path halving) of anything hashable."""

    def __init__(self) -> None:
        self._parents: dict[object, object] = {}

    def find(self, one: object) -> object:
        parents = self._parents
        parent = parents.setdefault(one, one)
        while parent is not one:
            above = parents[parent]
            parents[one] = above
            one, parent = above, parents[above]
        return one

    def join(self, one: object, other: object) -> None:
        self._parents[self.find(one)] = self.find(other)


def peers_of(actor: ActorObserved) -> Iterable[ActorId]:
    """Whom the actor's request names."""
    if actor.wait is not None:
        for leaf in leaves(actor.wait.request):
            if isinstance(leaf, Done):
                yield leaf.actor
            elif isinstance(leaf, Arrivals):
                yield from leaf.peers
