"""The layout: nobody on top of anybody else, those at fault on the left, the same for the same graph."""

from collections.abc import Sequence
from itertools import combinations
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from analyzer.sinks.layout import Layout, islands, layout

SIZE = (120.0, 46.0)
NODES = [f"n{number}" for number in range(12)]
ARROWS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=40, unique=True)


def laid(names: Sequence[str], arrows: Sequence[tuple[str, str]], rings: Sequence[Sequence[str]] = ()) -> Layout:
    return layout(dict.fromkeys(names, SIZE), arrows, rings)


@given(arrows=ARROWS, wide=st.dictionaries(st.sampled_from(NODES), st.floats(60, 400), max_size=12))
def test_no_two_boxes_overlap_and_all_are_on_the_paper(arrows: list[tuple[str, str]], wide: dict[str, float]) -> None:
    sizes = {name: (wide.get(name, SIZE[0]), SIZE[1]) for name in NODES}
    done = layout(sizes, arrows)
    assert set(done.centres) == set(NODES)
    for one, other in combinations(NODES, 2):
        (x, y), (there, below) = done.centres[one], done.centres[other]
        apart = abs(x - there) >= (sizes[one][0] + sizes[other][0]) / 2, abs(y - below) >= SIZE[1]
        assert any(apart), (one, other)
    for name, (x, y) in done.centres.items():
        assert sizes[name][0] / 2 - 0.01 <= x <= done.width - sizes[name][0] / 2 + 0.01
        assert SIZE[1] / 2 - 0.01 <= y <= done.height - SIZE[1] / 2 + 0.01


@given(arrows=ARROWS, order=st.permutations(NODES))
def test_the_order_in_which_it_is_told_changes_nothing(arrows: list[tuple[str, str]], order: list[str]) -> None:
    assert laid(NODES, arrows) == laid(order, sorted(arrows, key=lambda arrow: order.index(arrow[0])))


@given(arrows=ARROWS)
def test_who_waits_stands_to_the_right_of_whom_it_waits_for(arrows: list[tuple[str, str]]) -> None:
    done = laid(NODES, arrows)
    for waiter, holder in arrows:
        if done.blocks[waiter] != done.blocks[holder]:
            assert done.centres[waiter][0] > done.centres[holder][0]


def test_those_who_wait_for_each_other_share_a_block() -> None:
    done = laid("abcd", [("a", "b"), ("b", "a"), ("c", "a"), ("d", "c")])
    assert done.blocks["a"] == done.blocks["b"]
    assert len({done.blocks[name] for name in "abcd"}) == 3


def test_a_ring_stands_around_a_middle_in_its_order() -> None:
    order = "aecbd"
    arrows = [(waiter, order[(place + 1) % 5]) for place, waiter in enumerate(order)]
    done = laid("abcde", arrows, [order])
    points = [done.centres[name] for name in order]
    middle = (sum(x for x, _ in points) / 5, sum(y for _, y in points) / 5)
    turns = [
        (x - middle[0]) * (below - middle[1]) - (y - middle[1]) * (there - middle[0])
        for (x, y), (there, below) in zip(points, [*points[1:], points[0]], strict=True)
    ]
    assert all(turn > 0 for turn in turns), "always the same way round"


def test_an_arrow_that_passes_others_has_a_lane_of_its_own() -> None:
    done = laid("abc", [("c", "b"), ("b", "a"), ("c", "a")])
    (enters, leaves) = done.lanes["c", "a"]
    assert enters[0] > leaves[0]
    y = done.centres["b"][1]
    assert abs(enters[1] - y) > SIZE[1] / 2, "beside the box that it passes"
    assert ("b", "a") not in done.lanes


def test_islands_come_by_size() -> None:
    assert islands(["a", "b", "c", "d", "e"], [("d", "e"), ("e", "c")]) == [["c", "d", "e"], ["a"], ["b"]]


def test_thousands_that_wait_for_one_are_folded_into_a_screen_and_quickly() -> None:
    names = ["root", *(f"p{number:04d}" for number in range(2000))]
    begin_s = process_time()
    done = laid(names, [(name, "root") for name in names[1:]])
    assert process_time() - begin_s < 20, "a matter of a second; far more is a matter of another order"
    assert 0.8 < done.width / done.height < 4


def test_a_crowd_in_one_knot_is_a_grid() -> None:
    names = [f"p{number:02d}" for number in range(60)]
    done = laid(names, [(waiter, holder) for waiter in names for holder in names if waiter != holder])
    assert done.width / done.height < 4
    assert len({x for x, _ in done.centres.values()}) < 12
