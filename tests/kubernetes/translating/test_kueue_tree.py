"""Cohorts, lending and borrowing: never stricter than Kueue's own reckoning, which is written out here once more."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.kueue_tree import Branch, Offer, Tree

QUEUES, COHORTS = ("q0", "q1", "q2", "q3"), ("c0", "c1", "c2")
F, R = "h100", "nvidia.com/gpu"


class Kueue:
    """Kueue's resource nodes (pkg/cache/scheduler/resource_node.go of v0.17), for one flavour and resource."""

    def __init__(self, queues: Mapping[str, Branch], cohorts: Mapping[str, Branch]) -> None:
        named = {branch.above for branch in (*queues.values(), *cohorts.values()) if branch.above}
        self.at = {("c", name): Branch("", ()) for name in named}
        self.at |= {("c", name): branch for name, branch in cohorts.items()}
        self.at |= {("q", name): branch for name, branch in queues.items()}
        self.usage = dict.fromkeys(self.at, 0)
        self.subtree: dict[tuple[str, str], int] = {}
        for node in self.at:
            self.quota(node)

    def offer(self, node: tuple[str, str]) -> Offer:
        return next(iter(self.at[node].offers), Offer(F, R, 0, None))

    def above(self, node: tuple[str, str]) -> tuple[str, str] | None:
        name = self.at[node].above
        return ("c", name) if name else None

    def quota(self, node: tuple[str, str]) -> int:
        if node not in self.subtree:
            children = [one for one in self.at if self.above(one) == node]
            lent = sum(self.quota(child) - self.local(child) for child in children)
            self.subtree[node] = self.offer(node).nominal + lent
        return self.subtree[node]

    def local(self, node: tuple[str, str]) -> int:
        lending = self.offer(node).lending
        return 0 if lending is None or self.above(node) is None else max(0, self.quota(node) - lending)

    def available(self, node: tuple[str, str]) -> int:
        above = self.above(node)
        if above is None:
            return self.quota(node) - self.usage[node]
        there, borrowing = self.available(above), self.offer(node).borrowing
        if borrowing is not None:
            stored, used = self.quota(node) - self.local(node), max(0, self.usage[node] - self.local(node))
            there = min(stored - used + borrowing, there)
        return max(0, self.local(node) - self.usage[node]) + there

    def potential(self, node: tuple[str, str]) -> int:
        above = self.above(node)
        if above is None:
            return self.quota(node)
        most, borrowing = self.local(node) + self.potential(above), self.offer(node).borrowing
        return most if borrowing is None else min(self.quota(node) + borrowing, most)

    def use(self, node: tuple[str, str], units: int) -> None:
        free = max(0, self.local(node) - self.usage[node])
        self.usage[node] += units
        above = self.above(node)
        if above is not None and units > free:
            self.use(above, units - free)


@st.composite
def branches(draw: st.DrawFn, above: tuple[str, ...]) -> Branch:
    limit = st.none() | st.integers(0, 8)
    parent = draw(st.sampled_from(("", *above)))
    has = draw(st.integers(0, 9)) > 0
    offers = (Offer(F, R, draw(st.integers(0, 12)), draw(limit), draw(limit)),) if has else ()
    return Branch(parent, offers)


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, Branch], dict[str, Branch]]:
    cohorts = {name: draw(branches(COHORTS[:at])) for at, name in enumerate(COHORTS) if draw(st.booleans())}
    queues = {}
    for name in QUEUES:
        made = draw(branches(COHORTS))
        queues[name] = Branch(made.above, made.offers or (Offer(F, R, 0, None),))
    return queues, cohorts


@given(tree=trees())
@settings(max_examples=400, deadline=None)
def test_the_most_is_kueues_maximum_capacity(tree: tuple[dict[str, Branch], dict[str, Branch]]) -> None:
    ours, theirs = Tree(*tree), Kueue(*tree)
    for name in QUEUES:
        assert ours.most(name, F, R) == theirs.potential(("q", name))


@given(tree=trees(), wanted=st.lists(st.tuples(st.sampled_from(QUEUES), st.integers(1, 9)), max_size=12))
@settings(max_examples=600, deadline=None)
def test_what_kueue_admits_finds_its_units_free(
    tree: tuple[dict[str, Branch], dict[str, Branch]], wanted: list[tuple[str, int]]
) -> None:
    ours, theirs = Tree(*tree), Kueue(*tree)
    free: dict[ResourceId, int] = {name: units for name, (units, _) in ours.capacities().items()}
    for queue, units in wanted:
        takes = dict(ours.takes(queue, F, R, units))
        fits = all(free[name] >= count for name, count in takes.items())
        if theirs.available(("q", queue)) >= units:
            assert fits, (queue, units)
            theirs.use(("q", queue), units)
            for name, count in takes.items():
                free[name] -= count


@given(tree=trees(), units=st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_what_can_never_be_admitted_never_fits(tree: tuple[dict[str, Branch], dict[str, Branch]], units: int) -> None:
    ours, theirs = Tree(*tree), Kueue(*tree)
    free = {name: most for name, (most, _) in ours.capacities().items()}
    for queue in QUEUES:
        fits = all(free[name] >= count for name, count in ours.takes(queue, F, R, units))
        assert fits == (units <= theirs.potential(("q", queue))), queue


def queue(above: str, nominal: int, borrowing: int | None = None, lending: int | None = None) -> Branch:
    return Branch(above, (Offer(F, R, nominal, borrowing, lending),))


def test_a_queue_without_limits_has_one_place() -> None:
    tree = Tree({"a": queue("all", 8), "b": queue("all", 8)}, {})
    assert list(tree.takes("a", F, R, 10)) == [(f"quota/cohort/all/{F}/{R}", 10)]
    assert tree.capacities()[ResourceId(f"quota/cohort/all/{F}/{R}")][0] == 16


def test_what_is_not_lent_stays_with_its_queue() -> None:
    tree = Tree({"a": queue("all", 8, lending=2), "b": queue("all", 8)}, {})
    assert list(tree.takes("a", F, R, 5)) == [(f"quota/cluster-queue/a/{F}/{R}", 5)]
    assert list(tree.takes("a", F, R, 9)) == [(f"quota/cluster-queue/a/{F}/{R}", 9), (f"quota/cohort/all/{F}/{R}", 3)]
    assert tree.most("b", F, R) == 10


@pytest.mark.parametrize("above", ["one", "two", "below"])
def test_a_ring_of_cohorts_lends_nothing(above: str) -> None:
    cohorts = {"one": queue("two", 8), "two": queue("one", 8), "below": queue("one", 8)}
    tree = Tree({"a": queue(above, 4)}, cohorts)
    assert tree.rings == {"one", "two"}
    assert tree.most("a", F, R) == (12 if above == "below" else 4)
