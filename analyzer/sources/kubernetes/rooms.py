"""Whether the scheduler's words fit what the objects show.

Something may hold units that is not in the files (a reservation in scheduler memory, pods of a namespace that was not
dumped), or the scheduler has not looked again yet. Either way nobody can judge, so there is no verdict.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from analyzer.model.events import Excuse, ExcuseKind
from analyzer.sources.kubernetes.candidates import Candidates, Constraints
from analyzer.sources.kubernetes.messages import Reason, ReasonKind, parse
from analyzer.sources.kubernetes.pod_requests import Shape

Class = tuple[Shape, Constraints]

_MODELLED = frozenset({ReasonKind.SHORT, ReasonKind.CANDIDATE, ReasonKind.PORTS, ReasonKind.ATTACH, ReasonKind.COMPANY})
"""Reasons that the objects must bear out."""

_FEW = 64
"""So many answers may be kept for nobody."""


class Rooms:
    """Units in use per node, as pods of shapes, and for each class of waiting pod a node that has room for it."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._pods: dict[str, dict[Shape, int]] = {}
        self._free: dict[str, dict[str, int]] = {}
        self._found: dict[Class, str] = {}
        self._changed: set[str] = set()
        self._version = -1

    def place(self, node: str, shape: Shape, count: int) -> None:
        """So many pods of this shape more (or fewer) on the node. O(1)."""
        on_node = self._pods.get(node)
        if on_node is None:
            on_node = self._pods[node] = {}
        left = on_node.get(shape, 0) + count
        if left:
            on_node[shape] = left
        else:
            on_node.pop(shape, None)
            if not on_node:
                del self._pods[node]
        self._changed.add(node)

    def used(self, node: str) -> dict[str, int]:
        """Units per kind that pods have on the node."""
        total: dict[str, int] = {}
        for shape, count in self._pods.get(node, {}).items():
            for kind, units in shape.each:
                total[kind] = total.get(kind, 0) + units * count
        return total

    def touched(self) -> set[str]:
        """The nodes where something was placed or left since the last `refresh`."""
        return set(self._changed)

    def free(self, node: str) -> Mapping[str, int]:
        """Free units per kind by the objects; below 0 where more is placed than there is."""
        found = self._free.get(node)
        if found is None:
            facts = self._candidates.nodes.get(node)
            found = dict(facts.units) if facts is not None else {}
            for shape, count in self._pods.get(node, {}).items():
                for kind, units in shape.each:
                    found[kind] = found.get(kind, 0) - units * count
                for port in shape.ports:
                    found[port] = found.get(port, 1) - count
            self._free[node] = found
        return found

    def has_room(self, node: str, shape: Shape) -> bool:
        """Whether one pod of this shape fits on the node as the objects stand."""
        free = self.free(node)
        for kind, units in shape.each:
            if free.get(kind, 0) < units:
                return False
        return not shape.ports or all(free.get(port, 1) >= 1 for port in shape.ports)

    def room_for(self, shape: Shape, constraints: Constraints) -> str:
        """A node that has room for such a pod now, "" if there is none; the first by name. Remembered until told."""
        self._freshen()
        key = (shape, constraints)
        found = self._found.get(key)
        if found is None:
            among = self._candidates.choose(constraints).among
            found = self._found[key] = next((node for node in among if self.has_room(node, shape)), "")
        return found

    def room_for_all(
        self, shape: Shape, constraints: Constraints, count: int, is_open: Callable[[str], bool] = lambda _: True
    ) -> str:
        """A node with room if so many such pods fit at once as the objects stand, "" if they do not. O(candidates).

        `is_open`: whether a node comes into question as other pods lie.
        """
        self._freshen()
        left, first = count, ""
        for node in filter(is_open, self._candidates.choose(constraints).among):
            free = self.free(node)
            fit = min((free.get(kind, 0) // units for kind, units in shape.each), default=0)
            if shape.ports:
                fit = min(fit, 1) if self.has_room(node, shape) else 0
            if fit > 0:
                first = first or node
                left -= fit
                if left <= 0:
                    return first
        return ""

    def _freshen(self) -> None:
        if self._version != self._candidates.version:
            self._version = self._candidates.version
            self._free.clear()
            self._found.clear()
        if self._changed:
            self.refresh()

    def refresh(self) -> set[Class]:
        """Look again at nodes where something was placed or left; the classes of which something else is true now.

        Where there is no room that is a new answer alone. Where there is room, how much of it and for how many pods
        is told as well, so any of its nodes will do.
        """
        changed, self._changed = self._changed, set()
        for node in changed:
            self._free.pop(node, None)
        if not changed or not self._found:
            return set()
        differ = set()
        for (shape, constraints), node in self._found.items():
            among = self._candidates.choose(constraints).among
            here = changed.intersection(among)
            if not here:
                continue
            now = next((name for name in (among if node else sorted(here)) if self.has_room(name, shape)), "")
            if now or node:
                differ.add((shape, constraints))
                self._found[shape, constraints] = now
        return differ

    def forget(self, keep: Collection[object]) -> None:
        """Drop the answers for classes that nobody is in any more, if there are many. O(1), amortized."""
        if len(self._found) > 2 * len(keep) + _FEW:
            self._found = {key: node for key, node in self._found.items() if key in keep}


def preempts(said: str, priority: int, *, never: bool) -> bool:
    """Whether units of preemptible holders of lower priority count: not if the scheduler found no victims."""
    if never:
        return False
    victims = parse(said).victims if said else None
    return priority > 0 if victims is None else victims


def _shorts(reasons: Iterable[Reason]) -> list[Reason]:
    return [reason for reason in reasons if reason.kind is ReasonKind.SHORT]


def objection(
    said: str,
    shape: Shape,
    constraints: Constraints,
    rooms: Rooms,
    candidates: Candidates,
    *,
    together: int = 1,
    opened: Callable[[], Iterable[Callable[[str], bool]]] | None = None,
) -> Excuse | None:
    """Why the scheduler's words and the objects do not fit together, None if they do.

    `together`: so many such pods must find room at once, since the scheduler places a whole gang or nobody; 0 if that
    cannot be asked (pods of several shapes). `opened` finds out which nodes are open to the pod as other pods lie, in
    one way or another; None if that does not depend on other pods.
    """
    if not candidates.nodes:
        return Excuse(ExcuseKind.BLIND, "no node is in the input: hand over `kubectl get nodes -o json` too")
    verdict = parse(said)
    known = len(candidates.nodes)
    if verdict.nodes is not None and verdict.nodes > known and not candidates.lost_any:
        return Excuse(ExcuseKind.BLIND, f"the scheduler speaks of {verdict.nodes} nodes, {known} are in the input")
    among = candidates.choose(constraints).among
    shorts = _shorts(verdict.reasons)
    crowded = [reason for reason in verdict.reasons if reason.kind is ReasonKind.COMPANY]
    # Each node is told by what it lacks first: other pods are looked at where there is room.
    reached = max((reason.count or 0 for reason in shorts), default=0) + sum(reason.count or 0 for reason in crowded)
    if verdict.nodes == known and reached > len(among):
        # Shortage is the last thing it looks at: those nodes passed selectors and taints.
        return Excuse(
            ExcuseKind.DISPUTED,
            f"the scheduler looked for room on {reached} nodes, by the objects only {len(among)} come into question",
        )
    if not together or not verdict.reasons:
        return None
    if not all(reason.kind in _MODELLED for reason in verdict.reasons):
        return None
    node = rooms.room_for(shape, constraints)
    if node and opened is not None and crowded:
        found = (rooms.room_for_all(shape, constraints, max(1, together), is_open) for is_open in opened())
        node = next(filter(None, found), "")
    elif node and together > 1:
        node = rooms.room_for_all(shape, constraints, together)
    if not node:
        return None
    words = ", ".join(f"{reason.count} {reason.text}" if reason.count else reason.text for reason in verdict.reasons)
    free = rooms.free(node)
    named = [kind for kind, _ in shape.each if any(reason.resource == kind for reason in shorts)]
    have = ", ".join(f"{free.get(kind, 0)} {kind}" for kind in named or [kind for kind, _ in shape.each if "/" in kind])
    return Excuse(
        ExcuseKind.DISPUTED,
        f'the scheduler says "{words}", but by the objects {have or "room for it"} '
        f"{'are' if have else 'is'} free on {node}: it has not looked again yet, or something holds them that is not "
        "in these files (a reservation in scheduler memory, pods of a namespace that was not handed over)",
    )
