"""Why no node at all comes into question for a pod, in words: the first thing that shuts out the last of them."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from analyzer.sources.kubernetes.candidates import Candidates, Constraints, NodeFacts, suits, tolerated
from analyzer.sources.kubernetes.objects import Requirement

SHOWN = 4
"""Names or values that a sentence lists; the rest is a number."""


def nowhere(candidates: Candidates, constraints: Constraints) -> str:
    """One clause, "" where no node is known. `constraints` are met by no node that can be used now. O(nodes)."""
    nodes = [candidates.nodes[name] for name in sorted(candidates.nodes)]
    choice = candidates.choose(constraints)
    if choice.away or choice.cordoned:
        told = [(choice.away, "not ready"), (choice.cordoned, "cordoned")]
        parts = [
            f"{_some([name for name, _ in found])} {'is' if len(found) == 1 else 'are'} {state}"
            for found, state in told
            if found
        ]
        return f"of the nodes that would do, {' and '.join(parts)}"
    if not nodes:
        return ""
    fitting: Sequence[NodeFacts] = nodes
    for key, value in constraints.selector:
        now = [node for node in fitting if node.labels.get(key) == value]
        if not now:
            return _no_label(nodes, fitting, key, (value,), constraints.selector)
        fitting = now
    suiting = [node for node in fitting if suits(constraints, node)]
    if not suiting:
        return _no_affinity(nodes, constraints)
    reaching = [node for node in suiting if tolerated(constraints, node)]
    if not reaching:
        taints = sorted({f"{taint.key}={taint.value}".rstrip("=") for node in suiting for taint in node.taints})
        them = "the only node that suits it has"
        if len(suiting) > 1:
            them = f"all {len(suiting):,} nodes that suit it have"
        return f"{them} a taint that it does not tolerate ({_some(taints)})"
    them = "the only node that suits it" if len(reaching) == 1 else f"none of the {len(reaching):,} nodes that suit it"
    return f"{them} {'does not reach' if len(reaching) == 1 else 'reaches'} all its volumes or devices"


def _no_label(
    nodes: Sequence[NodeFacts],
    fitting: Sequence[NodeFacts],
    key: str,
    values: tuple[str, ...],
    together: Sequence[tuple[str, str]] = (),
) -> str:
    """That no node has one of these values of the label, and which there are."""
    wanted = f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({', '.join(values)})"
    there = {node.labels[key] for node in nodes if key in node.labels}
    if not there:
        near = get_close_matches(key, sorted({label for node in nodes for label in node.labels}), 1)
        return f"no node has a label {key} (it asks for {wanted}{f'; there is {near[0]}' if near else ''})"
    if not there.isdisjoint(values) and len(fitting) < len(nodes):
        return f"no node has all of {_some([f'{label}={value}' for label, value in together])}"
    near = [one for value in values for one in get_close_matches(value, sorted(there), 1, 0.5)]
    others = [*dict.fromkeys(near), *sorted(there.difference(near))]
    return f"no node has {wanted}; nodes have {_some([f'{key}={one}' for one in others])}"


def _no_affinity(nodes: Sequence[NodeFacts], constraints: Constraints) -> str:
    wanted: dict[str, tuple[str, ...]] = {}
    for term in constraints.terms or ():
        lacking = [one for one in term.match_expressions if _wants(one) and not _is_there(nodes, one)]
        if not lacking:
            return "its required node affinity holds for none of the nodes that its selector and its volumes leave"
        wanted.setdefault(lacking[0].key, lacking[0].values)
    if not wanted:
        return "its required node affinity holds for no node"
    key = min(wanted)
    return f"{_no_label(nodes, nodes, key, wanted[key])} (required node affinity)"


def _wants(requirement: Requirement) -> bool:
    return requirement.operator == "In" and bool(requirement.values)


def _is_there(nodes: Iterable[NodeFacts], requirement: Requirement) -> bool:
    return any(node.labels.get(requirement.key) in requirement.values for node in nodes)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN:,} more" if len(names) > SHOWN else shown
