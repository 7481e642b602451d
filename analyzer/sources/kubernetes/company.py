"""What a pod says about other pods: which it must be near to, or apart from, and how it must lie with its like.

Terms are resolved against the pod that carries them (namespaces, keys taken from its own labels) and then hold nothing
of the pod itself, so that all pods of a Job share one `Company`.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from analyzer.sources.kubernetes.candidates import holds
from analyzer.sources.kubernetes.objects import LabelSelector, Requirement
from analyzer.sources.kubernetes.objects.pod import PodAffinityTerm, TopologySpread

Labels = Mapping[str, str]
Selector = tuple[Requirement, ...]
"""All of them must hold of a pod's labels; none at all: every pod."""

_NAME_LABEL = "kubernetes.io/metadata.name"
"""The label that every namespace has, whether or not its object was handed over."""


class Crowd(Struct, frozen=True, cache_hash=True):
    """Pods that a selector means, in the named namespaces and in those whose labels the second selector means.

    `unseen`: whether the second holds of a namespace whose object is not in the input.
    """

    selector: Selector
    namespaces: tuple[str, ...]
    wider: Selector | None = None
    unseen: bool = False


class Term(Struct, frozen=True, cache_hash=True):
    """Pods of a crowd, and the node label within one value of which they count."""

    key: str
    crowd: Crowd


class Spread(Struct, frozen=True, kw_only=True, cache_hash=True):
    """No value of the node label may have more than `max_skew` pods of the crowd beyond the one that has fewest.

    `counts`: whether the pod itself is one of them. `domains_min`: with fewer values than that, the fewest count as 0.
    `honors_affinity`, `honors_taints`: whether nodes that do not come into question anyway are left out of it.
    """

    key: str
    crowd: Crowd
    max_skew: int
    counts: bool
    domains_min: int
    honors_affinity: bool
    honors_taints: bool


class Company(Struct, frozen=True, kw_only=True, cache_hash=True):
    """All that depends on other pods. `repels`: terms that others carry and that mean this pod.

    `siblings`: the keys over which it must be apart from pods that are exactly like it. `near_itself`: it is one of
    those that it must be near to.
    """

    apart: tuple[Term, ...] = ()
    siblings: tuple[str, ...] = ()
    near: tuple[Term, ...] = ()
    near_itself: bool = False
    spread: tuple[Spread, ...] = ()
    repels: tuple[Term, ...] = ()


def _selector(said: LabelSelector, also: Iterable[Requirement] = ()) -> Selector:
    equal = (Requirement(key=key, operator="In", values=(value,)) for key, value in said.match_labels.items())
    found = {*equal, *said.match_expressions, *also}
    return tuple(sorted(found, key=lambda one: (one.key, one.operator, one.values)))


def _by_keys(labels: Labels, keys: Iterable[str], operator: str) -> list[Requirement]:
    return [Requirement(key=key, operator=operator, values=(labels[key],)) for key in keys if key in labels]


def means(selector: Selector, labels: Labels) -> bool:
    """Whether the selector means a pod, or a namespace, with these labels."""
    return all(holds(one, labels.get(one.key), unknown=False) for one in selector)


def crowd_has(crowd: Crowd, namespace: str, labels: Labels, namespaces: Mapping[str, Labels]) -> bool:
    """Whether a pod of this namespace with these labels is one of the crowd. `namespaces`: labels of those known."""
    if namespace not in crowd.namespaces:
        if crowd.wider is None:
            return False
        known = namespaces.get(namespace)
        if known is not None or all(one.key == _NAME_LABEL for one in crowd.wider):
            if not means(crowd.wider, {**(known or {}), _NAME_LABEL: namespace}):
                return False
        elif not crowd.unseen:
            return False
    return means(crowd.selector, labels)


def terms_of(
    said: Iterable[PodAffinityTerm], namespace: str, labels: Labels, *, unseen: bool = False
) -> tuple[Term, ...]:
    """The terms of a pod with these labels, sorted. A term without a selector means nobody: it is left out."""
    found = set()
    for one in said:
        if one.label_selector is None or not one.topology_key:
            continue
        also = (*_by_keys(labels, one.match_label_keys, "In"), *_by_keys(labels, one.mismatch_label_keys, "NotIn"))
        wider = None if one.namespace_selector is None else _selector(one.namespace_selector)
        named = tuple(sorted(set(one.namespaces))) or (() if wider is not None else (namespace,))
        found.add(Term(one.topology_key, Crowd(_selector(one.label_selector, also), named, wider, unseen)))
    return tuple(sorted(found, key=_order))


def spreads_of(said: Iterable[TopologySpread], namespace: str, labels: Labels) -> tuple[Spread, ...]:
    """The hard spread constraints of a pod with these labels, in their order."""
    found = []
    for one in said:
        if one.label_selector is None or not one.topology_key or one.max_skew < 1:
            continue
        crowd = Crowd(_selector(one.label_selector, _by_keys(labels, one.match_label_keys, "In")), (namespace,))
        found.append(
            Spread(
                key=one.topology_key,
                crowd=crowd,
                max_skew=one.max_skew,
                counts=means(crowd.selector, labels),
                domains_min=one.min_domains or 1,
                honors_affinity=one.node_affinity_policy != "Ignore",
                honors_taints=one.node_taints_policy == "Honor",
            )
        )
    return tuple(found)


def _order(term: Term) -> tuple[object, ...]:
    crowd = term.crowd
    wider = () if crowd.wider is None else tuple((one.key, one.operator, one.values) for one in crowd.wider)
    means_whom = tuple((one.key, one.operator, one.values) for one in crowd.selector)
    return (term.key, crowd.namespaces, means_whom, crowd.wider is not None, wider)


def sorted_terms(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms, each once, in an order that is always the same."""
    return tuple(sorted(set(terms), key=_order))


def company_of(
    said: tuple[tuple[PodAffinityTerm, ...], tuple[PodAffinityTerm, ...], tuple[TopologySpread, ...]],
    namespace: str,
    labels: Labels,
    namespaces: Mapping[str, Labels],
    repels: Iterable[Term],
) -> Company | None:
    """The company of a pod that says this (apart, near, spread); None if nothing of it depends on other pods."""

    def is_in(term: Term) -> bool:
        return crowd_has(term.crowd, namespace, labels, namespaces)

    said_apart, said_near, said_spread = said
    apart = terms_of(said_apart, namespace, labels)
    # Where it is not known whether a namespace is meant, somebody there may be the one to be near to.
    near = terms_of(said_near, namespace, labels, unseen=True)
    spread = spreads_of(said_spread, namespace, labels)
    repelling = sorted_terms(repels)
    if not (apart or near or spread or repelling):
        return None
    return Company(
        apart=apart,
        siblings=tuple(sorted({term.key for term in apart if is_in(term)})),
        near=near,
        near_itself=bool(near) and all(is_in(term) for term in near),
        spread=spread,
        repels=repelling,
    )


def in_words(crowd: Crowd) -> str:
    """Whom the crowd means: "app=web", "gpu In (a, b) and not x"."""
    return " and ".join(_WORDS.get(one.operator, _other)(one) for one in crowd.selector) or "any label"


def _other(one: Requirement) -> str:
    return f"{one.key} {one.operator} ({', '.join(one.values)})"


_WORDS: dict[str, Callable[[Requirement], str]] = {
    "In": lambda one: f"{one.key}={one.values[0]}" if len(one.values) == 1 else _other(one),
    "NotIn": lambda one: f"{one.key}!={one.values[0]}" if len(one.values) == 1 else _other(one),
    "Exists": lambda one: one.key,
    "DoesNotExist": lambda one: f"no {one.key}",
}
