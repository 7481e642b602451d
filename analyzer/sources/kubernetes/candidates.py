"""Which nodes come into question for a pod: selector, required node affinity, taints, cordon, readiness, volumes.

Constraints and answers are interned: a thousand pods of one template share one `Constraints` and one tuple of names.
What depends on other pods (affinity between pods, topology spread) is added in `openings.py`.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from analyzer.sources.kubernetes.forgetful import Forgetful
from analyzer.sources.kubernetes.objects import Node, PodSpec, Requirement, Toleration
from analyzer.sources.kubernetes.objects.pod import NodeSelectorTerm
from analyzer.sources.kubernetes.quantities import units
from analyzer.sources.kubernetes.times import parse_ns

Terms = tuple[NodeSelectorTerm, ...]
"""One of them must hold. A term without any requirement holds for no node."""


class Constraints(Struct, frozen=True, cache_hash=True):
    """All that decides which nodes come into question. `terms` None: no required affinity.

    `pinned`: further terms that must hold, one entry per bound volume that can only be reached from some nodes.
    """

    selector: tuple[tuple[str, str], ...] = ()
    terms: Terms | None = None
    tolerations: tuple[Toleration, ...] = ()
    pinned: tuple[Terms, ...] = ()


class HardTaint(Struct, frozen=True):
    """A taint that keeps pods off (NoSchedule, NoExecute)."""

    key: str
    value: str
    effect: str


class NodeFacts(Struct, frozen=True, kw_only=True):
    """What of a node decides.

    `away_since_ns`: since when it cannot be used but may come back by itself (not ready, being set up). None: it is
    there. `cordoned_since_ns` is 0 where the moment is not known.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[HardTaint, ...]
    cordoned: bool
    cordoned_since_ns: int
    away_since_ns: int | None
    units: tuple[tuple[str, int], ...]


class Choice(Struct, frozen=True):
    """The nodes that come into question, and those that would but for being away or cordoned, with since when."""

    among: tuple[str, ...]
    away: tuple[tuple[str, int], ...] = ()
    cordoned: tuple[tuple[str, int], ...] = ()


_CORDON = HardTaint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_AWAY = (
    HardTaint("node.kubernetes.io/not-ready", "", "NoExecute"),
    HardTaint("node.kubernetes.io/not-ready", "", "NoSchedule"),
)
_AWAY_KEYS = frozenset(
    {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        # Set while a node is being set up, and taken off by whoever sets it up.
        "node.cloudprovider.kubernetes.io/uninitialized",
        "karpenter.sh/unregistered",
        "node.cilium.io/agent-not-ready",
        "node.kubernetes.io/network-unavailable",
    }
)


def node_facts(node: Node) -> NodeFacts:
    """What decides, out of a Node object. Heartbeats do not: a node that only ticked is equal to itself."""
    created_ns = parse_ns(node.metadata.creation_timestamp) or 0
    away_since: int | None = None
    for condition in node.status.conditions:
        if condition.type == "Ready" and condition.status != "True":
            away_since = parse_ns(condition.last_transition_time) or created_ns
    hard = []
    tainted_ns: int | None = None
    cordoned, cordoned_since = node.spec.unschedulable, 0
    for taint in node.spec.taints:
        if taint.effect not in {"NoSchedule", "NoExecute"}:
            continue
        if taint.key == _CORDON.key:
            cordoned, cordoned_since = True, parse_ns(taint.time_added) or 0
        elif taint.key in _AWAY_KEYS:
            since = parse_ns(taint.time_added)
            tainted_ns = created_ns if since is None else since
        else:
            hard.append(HardTaint(taint.key, taint.value, taint.effect))
    if away_since is None:  # the condition says since when more truly than a taint without a time
        away_since = tainted_ns
    available = node.status.allocatable or node.status.capacity
    return NodeFacts(
        name=node.metadata.name,
        labels=node.metadata.labels,
        taints=tuple(hard),
        cordoned=cordoned,
        cordoned_since_ns=cordoned_since,
        away_since_ns=away_since,
        units=tuple(sorted((kind, units(kind, quantity)) for kind, quantity in available.items())),
    )


def constraints_of(spec: PodSpec, pinned: tuple[Terms, ...] = ()) -> Constraints:
    """The constraints of one pod or template; `pinned` comes from its volumes."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    return Constraints(
        tuple(sorted(spec.node_selector.items())),
        required.node_selector_terms if required is not None else None,
        tuple(Toleration(key=t.key, operator=t.operator, value=t.value, effect=t.effect) for t in spec.tolerations),
        pinned,
    )


def _compares(have: str | None, operator: str, values: tuple[str, ...]) -> bool:
    try:
        return have is not None and (int(have) > int(values[0]) if operator == "Gt" else int(have) < int(values[0]))
    except (ValueError, IndexError):
        return False


def holds(requirement: Requirement, have: str | None, *, unknown: bool = True) -> bool:
    """Whether the requirement holds of a label with this value (None: there is no such label).

    `unknown`: what to say of an operator of the future: of nodes that they suit, of pods that they are not meant.
    """
    match requirement.operator:
        case "In":
            return have in requirement.values
        case "NotIn":
            return have not in requirement.values
        case "Exists":
            return have is not None
        case "DoesNotExist":
            return have is None
        case "Gt" | "Lt":
            return _compares(have, requirement.operator, requirement.values)
        case _:
            return unknown


def one_holds(terms: Iterable[NodeSelectorTerm], node: NodeFacts) -> bool:
    """Whether one of the terms holds of the node."""
    return any(
        (term.match_expressions or term.match_fields)
        and all(holds(requirement, node.labels.get(requirement.key)) for requirement in term.match_expressions)
        and all(
            requirement.key != "metadata.name" or holds(requirement, node.name) for requirement in term.match_fields
        )
        for term in terms
    )


def _named(terms: Terms) -> set[str] | None:
    """The nodes that the terms name, as those of a DaemonSet's pods do; None if one of them names none."""
    names: set[str] = set()
    for term in terms:
        fields = [
            field.values for field in term.match_fields if field.key == "metadata.name" and field.operator == "In"
        ]
        if not fields:
            return None
        names.update(fields[0])
    return names


def _tolerates(toleration: Toleration, taint: HardTaint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "" | "Equal":
            return bool(toleration.key) and toleration.value == taint.value
        case _:
            return True  # comparing operators of newer versions: more places, more silent


def _tolerated(taint: HardTaint, tolerations: tuple[Toleration, ...]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def suits(constraints: Constraints, node: NodeFacts) -> bool:
    """Whether selector and required node affinity hold of the node."""
    labels = node.labels
    for key, value in constraints.selector:
        if labels.get(key) != value:
            return False
    return constraints.terms is None or one_holds(constraints.terms, node)


def tolerated(constraints: Constraints, node: NodeFacts) -> bool:
    """Whether the pod puts up with the node's taints: readiness and cordon are left aside."""
    return all(_tolerated(taint, constraints.tolerations) for taint in node.taints)


def admits(constraints: Constraints, node: NodeFacts) -> bool:
    """Whether the node comes into question by labels, taints and volumes: readiness and cordon are left aside."""
    return (
        suits(constraints, node)
        and (not constraints.pinned or all(one_holds(terms, node) for terms in constraints.pinned))
        and (not node.taints or tolerated(constraints, node))
    )


class Candidates:
    """All nodes, and the choice per constraint set: computed once, until a node changes in a way that decides."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeFacts] = {}
        self.version = 0
        self.lost_any = False
        self._choices: Forgetful[Constraints, Choice] = Forgetful()
        self._interned: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._interned_before: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._sorted: list[NodeFacts] | None = None
        self._by_label: dict[str, dict[str, list[NodeFacts]]] = {}

    def put(self, node: NodeFacts) -> bool:
        """Take the node as it is now; whether anything that decides is different."""
        if self.nodes.get(node.name) == node:
            return False
        self.nodes[node.name] = node
        self._forget()
        return True

    def drop(self, name: str) -> bool:
        """The node is gone; whether it was known."""
        if self.nodes.pop(name, None) is None:
            return False
        self.lost_any = True
        self._forget()
        return True

    def _forget(self) -> None:
        self._choices.clear()
        if self._interned:
            self._interned_before, self._interned = self._interned, {}
        self._by_label.clear()
        self._sorted = None
        self.version += 1

    def choose(self, constraints: Constraints) -> Choice:
        """The nodes for these constraints, sorted by name. O(nodes) the first time, O(1) after."""
        choice = self._choices.get(constraints)
        if choice is None:
            choice = self._choices[constraints] = self._look(constraints)
        return choice

    def shared(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The one tuple of these names that all who ask share, as long as it is asked for."""
        found = self._interned.get(names)
        if found is None:
            found = self._interned[names] = self._interned_before.get(names, names)
        return found

    def _worth_a_look(self, constraints: Constraints) -> Sequence[NodeFacts]:
        """The nodes that are named, or have the rarest of the labels, or all of them; sorted by name."""
        named = _named(constraints.terms) if constraints.terms is not None else None
        if named is not None:
            return [self.nodes[name] for name in sorted(named) if name in self.nodes]
        if self._sorted is None:
            self._sorted = [self.nodes[name] for name in sorted(self.nodes)]
        found: Sequence[NodeFacts] = self._sorted
        for key, value in constraints.selector:
            by_value = self._by_label.get(key)
            if by_value is None:
                by_value = self._by_label[key] = {}
                for node in self._sorted:
                    if key in node.labels:
                        by_value.setdefault(node.labels[key], []).append(node)
            with_label = by_value.get(value, ())
            found = with_label if len(with_label) < len(found) else found
        return found

    def _look(self, constraints: Constraints) -> Choice:
        among, away, cordoned = [], [], []
        ignores_cordon = _tolerated(_CORDON, constraints.tolerations)
        ignores_away = all(_tolerated(taint, constraints.tolerations) for taint in _AWAY)
        for node in self._worth_a_look(constraints):
            name = node.name
            if not admits(constraints, node):
                continue
            if node.away_since_ns is not None and not ignores_away:
                away.append((name, node.away_since_ns))
            elif node.cordoned and not ignores_cordon:
                cordoned.append((name, node.cordoned_since_ns))
            else:
                among.append(name)
        names = tuple(among)
        return Choice(self.shared(names), tuple(away), tuple(cordoned))
