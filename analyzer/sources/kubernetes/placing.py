"""Places for pods that are alike, as a request: which nodes, and what must come true before one of them is open."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.events import Lifetime
from analyzer.model.requests import KOutOfN, Never, Pods, Request, Units, all_of, any_of
from analyzer.sources.kubernetes.actors import lifetime_of
from analyzer.sources.kubernetes.candidates import Constraints
from analyzer.sources.kubernetes.company import Company
from analyzer.sources.kubernetes.names import counted
from analyzer.sources.kubernetes.nowhere import nowhere
from analyzer.sources.kubernetes.openings import Asker, Prices, prices_of
from analyzer.sources.kubernetes.pod_requests import Shape
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.spreading import FREE, Price
from analyzer.sources.kubernetes.store import Store

OPTIONS_MAX = 16
"""Sets of nodes at different prices that one request lists; the nodes of all others count as open (more silent)."""
ATOMS_MAX = 4
"""Different things that may have to come true for several pods at once: 16 combinations. Of more, the others count as
true (more silent)."""
DOMAINS_MAX = 8
"""Values of a node label that a request lists one by one; of more, only what holds for each node is asked."""


class Sort(Struct, frozen=True, cache_hash=True):
    """What pods have in common that are alike: each takes this, and these volumes, on such nodes, in such company."""

    shape: Shape
    constraints: Constraints
    claims: tuple[Units, ...] = ()
    company: Company | None = None


class Terms(Struct, frozen=True):
    """Of whom the pods are: their gang ("" for none), whom they may preempt, and whether no more like them will come.

    As in `Asker`.
    """

    own: str = ""
    reach: int | None = None
    lasting: bool = True


def terms_for(store: Store, record: PodRecord, reach: int | None) -> Terms:
    """The terms of a pending pod and its like."""
    gang = store.gangs.get(record.key)
    lasting = gang is not None or record.owner is None or lifetime_of(store, record)[0] is Lifetime.ENDLESS
    return Terms("" if gang is None else gang.key, reach, lasting)


def place(shape: Shape, among: tuple[str, ...], count: int) -> Pods:
    """So many places for pods of this shape. A host port can be had once a node."""
    each = tuple(
        sorted((*((counted(kind), units) for kind, units in shape.each), *((port, 1) for port in shape.ports)))
    )
    return Pods(count, each, among, per_node_max=1 if shape.ports else None)


def asker_of(sort: Sort, terms: Terms) -> Asker | None:
    """Who asks which nodes are open; None if that does not depend on other pods."""
    if sort.company is None:
        return None
    return Asker(
        company=sort.company,
        constraints=sort.constraints,
        shape=sort.shape,
        place=lambda count, among: place(sort.shape, among, count),
        own=terms.own,
        reach=terms.reach,
        lasting=terms.lasting,
    )


def places(store: Store, sort: Sort, count: int, terms: Terms) -> Request:
    """So many places for pods of this sort, volumes aside. O(1) without company, else as `prices_of`."""
    among = store.candidates.choose(sort.constraints).among
    if not among:
        why = nowhere(store.candidates, sort.constraints)
        return _none(sort, count, f"no node is a candidate: {why}") if why else place(sort.shape, among, count)
    asker = asker_of(sort, terms)
    if asker is None:
        request = place(sort.shape, among, count)
        why = _withheld(store, sort.shape, among)
        return any_of((request, Never(why))) if why else request
    prices = prices_of(store, asker, among, count)
    if not prices.shut and not any(prices.by_node.values()):
        return _apart(store, asker, among, count, prices.one_of)
    options = [
        all_of((_apart(store, asker, store.candidates.shared(nodes), count, prices.one_of), *_in_order(price)))
        for price, nodes in _options(prices, count)
    ]
    if not options:
        told = [f"on {_nodes(n)} {why}" for why, n in sorted(prices.shut.items(), key=lambda one: (-one[1], one[0]))]
        return _none(sort, count, f"no node is open to it: {', '.join(told)}")
    return any_of(options)


def _withheld(store: Store, shape: Shape, among: tuple[str, ...]) -> str:
    """That nodes do not offer what they have, in words, if that is why none of them offers what is asked for."""
    withheld = store.withheld.of(shape.each, among)
    kinds = sorted({kind for _, kind in withheld})
    for kind in kinds:
        if not any(dict(store.candidates.nodes[node].units).get(kind) for node in among):
            nodes = [(node, units) for (node, one), (units, _) in withheld.items() if one == kind]
            node, units = nodes[0]
            more = f" (nor do {_nodes(len(nodes) - 1)} more)" if len(nodes) > 1 else ""
            return f"{node} has {units} {kind} and offers none of them{more}: its device plugin is gone"
    return ""


def _none(sort: Sort, count: int, why: str) -> Request:
    """No place, and why: as a possibility that never comes, beside one for nodes that may yet be made."""
    return any_of((place(sort.shape, (), count), Never(why)))


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count:,} nodes"


def _in_order(price: Price) -> list[Request]:
    return sorted(price, key=lambda one: (type(one).__name__, repr(one)))


def _options(prices: Prices, count: int) -> list[tuple[Price, tuple[str, ...]]]:
    """Sets of nodes that are open at one price, cheapest first. For several pods a dearer set has the cheaper ones."""
    by_price: dict[Price, list[str]] = {}
    for node, price in _bounded(prices.by_node, count).items():
        by_price.setdefault(price, []).append(node)
    wanted = set(by_price)
    if count > 1:
        for price in list(by_price):
            wanted |= {frozenset(price | other) for other in wanted}
    found = []
    for price in sorted(wanted, key=lambda one: (len(one), [repr(atom) for atom in _in_order(one)])):
        if count == 1:
            nodes = by_price[price]
        else:
            nodes = [node for other, there in by_price.items() if other <= price for node in there]
        found.append((price, tuple(sorted(nodes))))
    return found


def _bounded(by_node: Mapping[str, Price], count: int) -> Mapping[str, Price]:
    """The prices, so few different ones that they can be listed."""
    if count == 1:
        kept = _foremost(by_node.values(), OPTIONS_MAX - 1)
        return {node: price if price in kept else FREE for node, price in by_node.items()}
    atoms = _foremost((frozenset((atom,)) for price in by_node.values() for atom in price), ATOMS_MAX)
    known = frozenset(atom for one in atoms for atom in one)
    return {node: frozenset(price & known) for node, price in by_node.items()}


def _foremost(prices: Iterable[Price], most: int) -> set[Price]:
    """The commonest of them."""
    counts = Counter(prices)
    if len(counts) <= most:
        return set(counts)
    order = sorted(counts, key=lambda one: (-counts[one], [repr(atom) for atom in _in_order(one)]))
    return set(order[:most])


def _apart(store: Store, asker: Asker, nodes: tuple[str, ...], count: int, one_of: str) -> Request:
    """Places on these nodes for pods that may have to be all in one domain, or each in another."""
    if one_of:
        domains = _by_value(store, nodes, one_of)
        if len(domains) <= DOMAINS_MAX:
            inside = partial(_apart, store, asker, count=count, one_of="")
            return any_of(inside(store.candidates.shared(tuple(domains[value]))) for value in sorted(domains))
    wanted = asker.place(count, nodes)
    if count == 1 or not asker.company.siblings:
        return wanted
    for key in asker.company.siblings:
        domains = _by_value(store, nodes, key)
        if sum(map(len, domains.values())) < len(nodes):
            continue  # where a node has no such label, nobody is kept apart
        if len(domains) < count:
            why = f"each of {count} pods needs another {key}, and only {len(domains)} come into question"
            return any_of((asker.place(count, ()), Never(why)))
        if len(domains) < len(nodes) and len(domains) <= DOMAINS_MAX:
            there = (store.candidates.shared(tuple(domains[value])) for value in sorted(domains))
            return KOutOfN(count, tuple(asker.place(1, names) for names in there))
    return replace(wanted, per_node_max=1)


def _by_value(store: Store, nodes: Sequence[str], key: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in nodes:
        value = store.candidates.nodes[node].labels.get(key)
        if value is not None:
            found.setdefault(value, []).append(node)
    return found
