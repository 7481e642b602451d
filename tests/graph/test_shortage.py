"""What a request lacks, in numbers that sentences are made of."""

from analyzer.graph.placement import PodsShort, Shortage, UnitsShort, fits, shortage
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, Never, Pods, Units, all_of, any_of

FREE = {ResourceId("gpu/n1"): 6, ResourceId("gpu/n2"): 3, ResourceId("cpu/n1"): 8, ResourceId("quota/red"): 1}


def test_nothing_is_lacking() -> None:
    assert shortage(Units(ResourceId("gpu/n1"), 6), FREE) == Shortage()


def test_each_unmet_part_of_an_and_is_listed() -> None:
    pods = Pods(2, (("cpu", 1), ("gpu", 4)), ("n1", "n2", "n3"))
    found = shortage(all_of([Units(ResourceId("quota/red"), 2), pods, Done(ActorId("pod/x/y"))]), FREE)
    assert found.units == (UnitsShort(ResourceId("quota/red"), 2, 1),)
    assert found.pods == (PodsShort(pods, 1, (("cpu", 2), ("gpu", 2))),)
    assert found.done == ("pod/x/y",)


def test_an_or_that_is_met_lacks_nothing() -> None:
    assert shortage(any_of([Never("gone"), Units(ResourceId("gpu/n2"), 3)]), FREE) == Shortage()


def test_peers_are_those_that_one_is_told() -> None:
    peers = (ActorId("a"), ActorId("b"))
    assert shortage(Arrivals(peers, 2), FREE, arrived=peers) == Shortage()
    assert shortage(Arrivals(peers, 2), FREE, arrived=peers[:1]).arrivals == (Arrivals(peers, 2),)


def test_parts_that_fit_only_one_by_one_are_short_jointly() -> None:
    both = all_of([Pods(1, (("gpu", 4),), ("n1",)), Units(ResourceId("gpu/n1"), 3)])
    assert shortage(both, FREE) == Shortage(jointly=True)


def test_pods_are_counted_node_by_node_within_their_bound() -> None:
    assert fits(Pods(9, (("gpu", 2),), ("n1", "n2")), FREE) == 4
    assert fits(Pods(9, (("gpu", 2),), ("n1", "n2"), 1), FREE) == 2
    assert fits(Pods(9, (("gpu", 2),), ("n1", "n1")), FREE) == 3
