"""Which nodes are open to a pod that depends on other pods, now and once others are gone (README.md, "Company")."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from msgspec import Struct

from analyzer.model.events import Lifetime
from analyzer.model.requests import Arrivals, Done, Pods
from analyzer.sources.kubernetes.actors import actor_of, lifetime_of
from analyzer.sources.kubernetes.candidates import Constraints
from analyzer.sources.kubernetes.company import Company, Term, in_words
from analyzer.sources.kubernetes.names import gang_actor, pod_actor
from analyzer.sources.kubernetes.neighbours import Members
from analyzer.sources.kubernetes.pod_requests import Shape
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.spreading import FREE, Price, Spreading
from analyzer.sources.kubernetes.store import Store

PEERS_MAX = 64
"""Waiting pods, one of which somebody must be near to, that are named; of more, one is sure to find a place."""


class Asker(Struct, frozen=True, kw_only=True):
    """Pods that are alike and wait: what depends on others, where else they may go, and what each asks for.

    `own`: their gang ("" for none). `reach`: pods of a lower priority make room for them (None: nobody does).
    """

    company: Company
    constraints: Constraints
    shape: Shape
    place: Callable[[int, tuple[str, ...]], Pods]
    own: str = ""
    reach: int | None = None
    lasting: bool = True


class Prices(Struct, frozen=True, kw_only=True):
    """Per node what it costs; a node that is not named stays shut for good, `shut` says why and how many are.

    `one_of`: all pods of the asker must lie within one value of this node label ("" for none).
    """

    by_node: Mapping[str, Price]
    shut: Mapping[str, int]
    one_of: str = ""


def end_of(store: Store, record: PodRecord, asker: Asker) -> Price | None:
    """What must come true for this bound pod to be gone; None if it stays for good."""
    key = record.key
    if asker.reach is not None and record.priority < asker.reach:
        return FREE
    going = record.leaving is not None or key in store.preempted
    gang = store.gangs.get(key)
    if gang is not None and not going:
        return None if gang.key == asker.own else frozenset((Done(gang_actor(gang.key)),))
    unsure = going or key in store.by_parent or any(key in known for known in store.neighbours.restless)
    if not unsure and lifetime_of(store, record)[0] is Lifetime.ENDLESS:
        return None
    return FREE if record.plain and not unsure else frozenset((Done(pod_actor(key)),))


def prices_of(store: Store, asker: Asker, among: Sequence[str], count: int) -> Prices:
    """What each of these nodes costs. O(nodes x terms + pods that they mean)."""
    nodes, company = store.candidates.nodes, asker.company
    rules: list[tuple[str, Callable[[Mapping[str, str]], Price | None]]] = []
    for term in company.apart:
        why = f"pods that it must not be beside ({in_words(term.crowd)}) run for good"
        rules.append((why, _kept_off(store, asker, term, store.neighbours.members(term.crowd))))
    for term in company.repels:
        why = "pods that must not have it beside them run for good"
        rules.append((why, _kept_off(store, asker, term, store.neighbours.carriers(term))))
    near = Nearness(store, asker)
    if company.near:
        whom = " and ".join(in_words(term.crowd) for term in company.near)
        rules.append((f"no pod runs that it must be near to ({whom})", near.price))
    for spread in company.spread if asker.lasting else ():
        spreading = Spreading(store, asker.constraints, company.spread, spread)
        spreading.count(lambda record: end_of(store, record, asker))
        why = f"it would lie too unevenly over {spread.key} with its like ({in_words(spread.crowd)})"
        rules.append((why, spreading.prices(lambda k, there: asker.place(k, there), count, among)))
    found: dict[str, Price] = {}
    shut: Counter[str] = Counter()
    for node in among:
        labels = nodes[node].labels
        total = FREE
        for why, rule in rules:
            price = rule(labels)
            if price is None:
                shut[why] += 1
                break
            total = total | price if price else total
        else:
            found[node] = total
    return Prices(by_node=found, shut=shut, one_of=near.one_of if count > 1 else "")


def _kept_off(store: Store, asker: Asker, term: Term, members: Members) -> Callable[[Mapping[str, str]], Price | None]:
    """A rule: no member within the node's value of the key. A node without the key has no bounds."""
    by_value: dict[str, Price | None] = {}
    for node, keys in members.by_node.items():
        facts = store.candidates.nodes.get(node)
        value = facts.labels.get(term.key) if facts is not None else None
        if value is None:
            continue
        total = by_value.get(value, FREE)
        for key in keys:
            end = end_of(store, store.pods[key], asker) if total is not None else None
            total = None if total is None or end is None else total | end
        by_value[value] = total
    return lambda labels: by_value.get(labels.get(term.key, ""), FREE) if term.key in labels else FREE


class Nearness:
    """Where the pods are that somebody must be near to, and whether they will be elsewhere.

    `nobody`: there are none, not even waiting ones, and the asker is none itself.
    """

    def __init__(self, store: Store, asker: Asker) -> None:
        self._keys = [term.key for term in asker.company.near]
        self.nobody = False
        self.one_of = ""
        self._here: list[set[str]] = [set() for _ in self._keys]
        self._elsewhere: Price | None = FREE
        if not self._keys:
            return
        crowds = [store.neighbours.members(term.crowd) for term in asker.company.near]
        waiting = set.intersection(*(members.waiting for members in crowds))
        bound = [
            (node, key)
            for node, keys in crowds[0].by_node.items()
            for key in keys
            if all(key in members.by_node.get(node, ()) for members in crowds[1:])
        ]
        for node, _ in bound:
            facts = store.candidates.nodes.get(node)
            for values, label in zip(self._here, self._keys, strict=True):
                if facts is not None and label in facts.labels:
                    values.add(facts.labels[label])
        self._elsewhere = self._price_elsewhere(store, asker, [key for _, key in bound], waiting)

    def _price_elsewhere(
        self, store: Store, asker: Asker, bound: Iterable[str], waiting: AbstractSet[str]
    ) -> Price | None:
        ends = {key: end_of(store, store.pods[key], asker) for key in bound}
        itself = asker.company.near_itself
        if not ends and itself:
            self.one_of = self._keys[0]  # the first of them may go anywhere, and takes the others along
            return FREE
        # A pod that ends may be followed by another of its controller, anywhere; not so one of a gang.
        if any(end is not None and key not in store.gangs for key, end in ends.items()):
            return FREE
        if ends and None not in ends.values():
            # Once all of them are gone, the asker is the first.
            return frozenset(atom for end in ends.values() if end is not None for atom in end) if itself else FREE
        peers = {actor_of(store, key) for key in waiting} - {gang_actor(asker.own)}
        if peers:
            return FREE if len(peers) > PEERS_MAX else frozenset((Arrivals(tuple(sorted(peers)), 1),))
        self.nobody = not ends
        return None if ends else FREE

    def price(self, labels: Mapping[str, str]) -> Price | None:
        """A rule: a pod of those within the node's value of each key; a node must have all the keys."""
        if any(key not in labels for key in self._keys):
            return None
        here = all(labels[key] in values for key, values in zip(self._keys, self._here, strict=True))
        return FREE if here else self._elsewhere

    def now(self, labels: Mapping[str, str], *, itself: bool) -> bool:
        """Whether it is near to them on such a node as things stand."""
        if any(key not in labels for key in self._keys):
            return False
        if not any(self._here):
            return itself or not self._keys
        return all(labels[key] in values for key, values in zip(self._keys, self._here, strict=True))


def open_now(store: Store, asker: Asker) -> tuple[Callable[[str], bool], ...]:
    """Whether a node is open to such a pod as things stand, all else aside.

    Several answers if all that wait must lie within one domain, and it may be any: one for each of them.
    """
    company = asker.company
    shut: list[tuple[str, set[str]]] = []
    for term, members in (
        *((term, store.neighbours.members(term.crowd)) for term in company.apart),
        *((term, store.neighbours.carriers(term)) for term in company.repels),
    ):
        known = (store.candidates.nodes.get(node) for node in members.by_node)
        shut.append((term.key, {one.labels[term.key] for one in known if one is not None and term.key in one.labels}))
    near = Nearness(store, asker)
    spreads = [Spreading(store, asker.constraints, company.spread, spread) for spread in company.spread]

    def is_open(node: str) -> bool:
        labels = store.candidates.nodes[node].labels
        return (
            not any(labels.get(key) in values for key, values in shut)
            and near.now(labels, itself=company.near_itself)
            and all(spread.fits_now(labels) for spread in spreads)
        )

    if not near.one_of:
        return (is_open,)
    nodes, key = store.candidates.nodes, near.one_of
    domains: dict[str, set[str]] = {}
    for name, facts in nodes.items():
        if key in facts.labels:
            domains.setdefault(facts.labels[key], set()).add(name)
    return tuple(partial(_both, is_open, domains[value]) for value in sorted(domains))


def _both(is_open: Callable[[str], bool], within: AbstractSet[str], node: str) -> bool:
    return node in within and is_open(node)


def nobody_near(store: Store, asker: Asker) -> str:
    """Whom it must be near to, in words, if there is nobody like that at all; "" otherwise."""
    if not asker.company.near or not Nearness(store, asker).nobody:
        return ""
    return " and ".join(in_words(term.crowd) for term in asker.company.near)
