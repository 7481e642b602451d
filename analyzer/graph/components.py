"""Strongly connected components of a graph of small integers."""

from collections.abc import Sequence


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components, each sorted, the list in reverse topological order (targets first).

    One depth-first pass (Tarjan 1972) with an explicit stack, so depth is no limit. O(nodes + edges).

    >>> components([[1], [0], [1]])
    [[0, 1], [2]]
    """
    count = len(successors)
    order = [0] * count  # when first seen, from 1; 0: not yet
    lowest = [0] * count
    on_stack = bytearray(count)
    stack: list[int] = []
    found: list[list[int]] = []
    clock = 0
    for root in range(count):
        if order[root]:
            continue
        path = [(root, 0)]
        while path:
            node, at = path.pop()
            if at == 0:
                clock += 1
                order[node] = lowest[node] = clock
                stack.append(node)
                on_stack[node] = 1
            elif lowest[successors[node][at - 1]] < lowest[node] and on_stack[successors[node][at - 1]]:
                lowest[node] = lowest[successors[node][at - 1]]
            targets = successors[node]
            while at < len(targets):
                target = targets[at]
                at += 1
                if not order[target]:
                    path.append((node, at))
                    path.append((target, 0))
                    break
                if on_stack[target] and order[target] < lowest[node]:
                    lowest[node] = order[target]
            else:
                if lowest[node] == order[node]:
                    found.append(_unwind(stack, on_stack, node))
    return found


def _unwind(stack: list[int], on_stack: bytearray, node: int) -> list[int]:
    component = []
    while True:
        member = stack.pop()
        on_stack[member] = 0
        component.append(member)
        if member == node:
            return sorted(component)
