"""What disruption budgets keep on a node that is drained: a drain evicts, and an eviction asks the budget.

The API server looks at one pod at a time. It lets go whoever has ended, is being deleted or has no node yet; refuses a
pod that several budgets select; and else asks the one budget whether it allows a disruption just now. Of a budget that
allows one, all pods can go, one after the other as others get ready elsewhere; of one that allows none, none.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from analyzer.sources.kubernetes.candidates import holds
from analyzer.sources.kubernetes.objects import LabelSelector, Pod, PodDisruptionBudget


class Guarded(Struct, frozen=True):
    """What a budget looks at in a pod. `bound`: to this node, and neither ended nor being deleted."""

    key: str
    labels: Mapping[str, str]
    node: str
    bound: bool
    ready: bool

    @property
    def namespace(self) -> str:
        return self.key.partition("/")[0]


class Refusal(Struct, frozen=True):
    """A pod (`namespace/name`) that a drain does not get rid of: why, and what would let it go, as clauses."""

    pod: str
    why: str
    cure: str


def guarded(pod: Pod) -> Guarded:
    """The pod as budgets see it."""
    about, status = pod.metadata, pod.status
    gone = status.phase in {"Succeeded", "Failed"} or about.deletion_timestamp is not None
    ready = any(one.type == "Ready" and one.status == "True" for one in status.conditions)
    key = f"{about.namespace or 'default'}/{about.name}"
    return Guarded(key, about.labels, pod.spec.node_name, bool(pod.spec.node_name) and not gone, ready)


def refusals(
    pods: Iterable[Guarded], budgets: Iterable[PodDisruptionBudget], nodes: Iterable[str]
) -> dict[str, tuple[Refusal, ...]]:
    """By node, the pods on it that stay if it is drained, sorted by name. Leave out those that a drain leaves alone."""
    by_namespace: dict[str, list[Guarded]] = {}
    for pod in pods:
        by_namespace.setdefault(pod.namespace, []).append(pod)
    by_pod: dict[str, list[tuple[PodDisruptionBudget, Sequence[Guarded]]]] = {}
    for budget in sorted(budgets, key=_name):
        selected = [
            one for one in by_namespace.get(_namespace(budget), ()) if selects(budget.spec.selector, one.labels)
        ]
        for one in selected:
            by_pod.setdefault(one.key, []).append((budget, selected))
    found: dict[str, tuple[Refusal, ...]] = {}
    for node in sorted(set(nodes)):
        there = sorted(
            (one for each in by_namespace.values() for one in each if one.node == node), key=lambda one: one.key
        )
        asked = (_asked(one, by_pod[one.key]) for one in there if one.bound and one.key in by_pod)
        found[node] = tuple(refusal for refusal in asked if refusal is not None)
    return found


def _asked(pod: Guarded, asked: Sequence[tuple[PodDisruptionBudget, Sequence[Guarded]]]) -> Refusal | None:
    """What the API server says to the eviction of the pod; None if it goes."""
    if len(asked) > 1:
        names = " and ".join(_name(budget) for budget, _ in asked)
        return Refusal(
            pod.key,
            f"PodDisruptionBudgets {names} both select it, and of such a pod no eviction is allowed",
            "a selector that leaves it to one of them",
        )
    [(budget, selected)] = asked
    counts = counts_of(budget, selected)
    if counts.allowed > 0 or (not pod.ready and lets_unready_go(budget, counts)):
        return None
    name, limit = _name(budget), _limit(budget)
    if counts.desired >= counts.expected:
        return Refusal(
            pod.key,
            f"PodDisruptionBudget {name} ({limit}) allows no eviction while it selects {counts.expected}, "
            f"of which {counts.desired} have to be ready",
            f"one more ready pod that {name} selects, or another limit",
        )
    missing = counts.desired + 1 - counts.healthy
    return Refusal(
        pod.key,
        f"PodDisruptionBudget {name} ({limit}) allows no eviction now: {counts.healthy} of its {counts.expected} "
        f"are ready, and {counts.desired} have to be",
        f"{missing} more of them getting ready",
    )


class Counts(Struct, frozen=True):
    """Pods that a budget expects, those that are ready, those that have to be, and how many may go just now."""

    expected: int
    healthy: int
    desired: int
    allowed: int


def counts_of(budget: PodDisruptionBudget, selected: Sequence[Guarded]) -> Counts:
    """As its controller counted them; by the pods themselves where it has not (a budget without a status)."""
    status = budget.status
    if status.expected_pods or status.desired_healthy or status.current_healthy or status.disruptions_allowed:
        return Counts(status.expected_pods, status.current_healthy, status.desired_healthy, status.disruptions_allowed)
    there = [one for one in selected if one.bound]
    healthy, expected = sum(one.ready for one in there), len(there)
    desired = _desired(budget, expected)
    return Counts(expected, healthy, desired, max(0, healthy - desired))


def _desired(budget: PodDisruptionBudget, expected: int) -> int:
    if budget.spec.max_unavailable is not None:
        return max(0, expected - _scaled(budget.spec.max_unavailable, expected))
    return expected if budget.spec.min_available is None else _scaled(budget.spec.min_available, expected)


def _scaled(limit: int | str, expected: int) -> int:
    """A number as it stands, a percentage of the pods rounded up, as the controller does it."""
    text = str(limit).strip()
    share = text.removesuffix("%")
    if not share.isdecimal() or len(share) > len("1000000"):
        return 0
    return int(share) if share == text else -(-expected * int(share) // 100)


def lets_unready_go(budget: PodDisruptionBudget, counts: Counts) -> bool:
    """Whether a pod that is not ready may be evicted although the budget allows no disruption."""
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return counts.healthy >= counts.desired > 0


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether the selector fits; an empty one fits all, none fits nothing."""
    return selector is not None and (
        all(labels.get(key) == value for key, value in selector.match_labels.items())
        and all(holds(one, labels.get(one.key), unknown=False) for one in selector.match_expressions)
    )


def _namespace(budget: PodDisruptionBudget) -> str:
    return budget.metadata.namespace or "default"


def _name(budget: PodDisruptionBudget) -> str:
    return f"{_namespace(budget)}/{budget.metadata.name}"


def _limit(budget: PodDisruptionBudget) -> str:
    if budget.spec.max_unavailable is not None:
        return f"maxUnavailable {budget.spec.max_unavailable}"
    return f"minAvailable {budget.spec.min_available}"
