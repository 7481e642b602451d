"""Rings that only the order of a queue closes."""

from hypothesis import given
from hypothesis import strategies as st

from analyzer.detectors.deadlock import RULE
from analyzer.engine import Engine
from analyzer.graph.cores import diagnose
from analyzer.graph.order import ahead_of, only_by_order, unordered
from analyzer.model.events import Tick
from analyzer.model.findings import Finding, Hardness
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Request, Units, all_of
from tests.graph.test_examples import GPU, actor, system

A, B = ActorId("a"), ActorId("b")


def found(*needs: Request) -> Finding:
    """The one ring of `a` and `b`, who need these."""
    engine = Engine(Limits(hold_ns=0))
    state = system({"gpu/all": 2}, *(actor(name, need) for name, need in zip((A, B), needs, strict=True)))
    for event in state.as_events():
        engine.step(event)
    engine.step(Tick(at_ns=10**9, open_ended=True))
    (one,) = engine.findings()
    assert one.finding.rule == RULE.id
    return one.finding


def test_whoever_merely_stands_behind_makes_the_ring_soft() -> None:
    ring = found(Arrivals((B,), 1), all_of((Arrivals((A,), 1, order=True), Units(GPU, 2))))
    assert ring.strength is Hardness.SOFT
    assert ring.dissolves_ns is None
    assert [(edge.waiter, edge.hardness) for edge in ring.edges] == [(A, Hardness.HARD), (B, Hardness.SOFT)]
    assert any("if b may go before a" in detail for detail in ring.details)


def test_the_same_ring_is_hard_if_the_other_is_needed_for_itself() -> None:
    ring = found(Arrivals((B,), 1), all_of((Arrivals((A,), 1), Units(GPU, 2))))
    assert ring.strength is Hardness.HARD
    assert not any("order of a queue" in detail for detail in ring.details)


def test_a_ring_that_closes_without_the_order_too_is_hard() -> None:
    ring = found(Done(B), all_of((Arrivals((A,), 1, order=True), Done(A))))
    assert ring.strength is Hardness.HARD


def test_those_ahead_are_told_from_those_needed() -> None:
    request = all_of((Arrivals((A,), 1, order=True), KOutOfN(1, (Arrivals((B,), 1), Units(GPU, 1)))))
    assert list(ahead_of(request)) == [A]
    assert list(ahead_of(unordered(request))) == []


@given(
    st.lists(st.sampled_from(("a", "b", "c")), min_size=3, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3)
)
def test_a_ring_is_of_order_alone_if_it_is_gone_without_it(peers: list[str], order: list[bool]) -> None:
    names = [ActorId(name) for name in ("a", "b", "c")]
    needs = [Arrivals((ActorId(peer),), 1, order=by) for peer, by in zip(peers, order, strict=True)]
    state = system({}, *(actor(name, need) for name, need in zip(names, needs, strict=True)))
    without = system({}, *(actor(name, unordered(need)) for name, need in zip(names, needs, strict=True)))
    stuck_anyway = diagnose(without, Limits()).stuck
    for core in diagnose(state, Limits()).cores:
        assert only_by_order(state, Limits(), core) is set(core).isdisjoint(stuck_anyway)
