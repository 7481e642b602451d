"""Idle, allocated and idle, busy: what looks cover, and that what they do not cover is not made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from exporters.collectors.gpu_holders import Names
from exporters.followers.idleness import Idleness, Idler, Look
from exporters.subject import Key, Reading, Reason
from tests.exporters.idleness.making import (
    CHECKPOINT,
    DEBUGGED,
    GAP_S,
    HUNG,
    IDLE,
    INTERVAL_S,
    TRAINING,
    Acts,
    Books,
    Node,
    at,
    reading_of,
    series_of,
    uuid,
)

BARE = {"sm": None, "tensor": None, "dram": None}


def test_idle_time_grows_from_the_last_active_look() -> None:
    node = Node()
    node.run(100, TRAINING)
    assert node.seconds("idle_seconds") == 0
    node.run(300, IDLE)
    assert node.seconds("idle_seconds") == 300
    node.run(INTERVAL_S, TRAINING)
    assert node.seconds("idle_seconds") == 0


def test_one_kernel_on_one_multiprocessor_is_not_idle() -> None:
    """0.76 % of SM activity, below the floor, and residency 1: somebody works."""
    node = Node()
    node.run(300, DEBUGGED)
    assert node.seconds("idle_seconds") == 0


def test_a_hung_collective_is_not_idle() -> None:
    node = Node()
    node.run(300, HUNG)
    assert node.seconds("idle_seconds") == 0


def test_a_process_that_only_holds_memory_is_idle() -> None:
    """NVIDIA/gpu-operator#2880: finished workers that filled a card. Idle, which is something else than a leak."""
    node = Node()
    node.run(300, CHECKPOINT)
    assert node.seconds("idle_seconds") == 300 - INTERVAL_S


def test_without_counters_residency_tells_of_idleness_and_nothing_of_business() -> None:
    node = Node()
    node.run(100, replace(TRAINING, **BARE))
    node.run(300, replace(IDLE, **BARE))
    assert node.seconds("idle_seconds") == 300 - INTERVAL_S, "a sample of a second says nothing of what was before it"
    assert node.seconds("busy_seconds_total") is None
    assert node.seconds("observed_seconds_total") is None


def test_a_gpu_that_says_nothing_is_neither_idle_nor_active() -> None:
    node = Node()
    node.run(300, replace(IDLE, resident=None, **BARE))
    assert node.seconds("idle_seconds") is None
    assert node.seconds("allocated_idle_seconds") is None


def test_a_gap_is_unknown_while_it_lasts_and_idle_time_begins_anew_after_it() -> None:
    """A frozen or missing reading is not zero, and silence is not idleness."""
    node = Node()
    node.run(600, IDLE)
    busy = node.seconds("busy_seconds_total")
    node.run(INTERVAL_S, lambda _: Reason.LOST)
    assert node.seconds("idle_seconds") is None
    assert node.seconds("busy_seconds_total") == busy, "a count that is known does not vanish"
    node.run(3600, lambda _: Reason.LOST)
    node.run(100, IDLE)
    assert node.seconds("idle_seconds") == 100 - INTERVAL_S
    assert node.seconds("observed_seconds_total") == 600 - INTERVAL_S + 100 - INTERVAL_S


def test_a_counter_window_covers_a_gap_that_residency_does_not() -> None:
    """A look is missed; the next one's window is the mean over all of it."""
    for window_s, idle_s in ((100.0, 110.0), (None, 0.0)):
        idler = Idler(GAP_S)
        for second in (0.0, 10.0):
            idler.note(Look(active=False, sm=0.0, window_s=10.0, holders=None), second)
        idler.note(Look(active=False, sm=None if window_s is None else 0.0, window_s=window_s, holders=None), 110.0)
        assert idler.idle_s(110.0) == idle_s


def test_a_rate_over_any_window_is_the_mean_whatever_was_missed() -> None:
    node = Node()
    half = replace(TRAINING, sm=0.5)
    node.run(600, half)
    node.run(600, lambda _: Reason.TIMEOUT)
    node.run(600, half)
    busy, observed = node.seconds("busy_seconds_total"), node.seconds("observed_seconds_total")
    assert busy == pytest.approx(590.0)
    assert observed == pytest.approx(1180.0)


def test_held_and_idle_is_told_from_free_and_from_unknown() -> None:
    node = Node()
    node.run(300, IDLE)
    assert node.seconds("allocated_idle_seconds") is None, "nobody keeps books"
    node.books.names[0, None] = frozenset()
    node.run(300, IDLE)
    assert node.seconds("allocated_idle_seconds") == 0, "nobody holds it"
    node.books.names[0, None] = frozenset({"pod/a/notebook"})
    node.run(300, IDLE)
    assert node.seconds("allocated_idle_seconds") == 300 - INTERVAL_S
    assert node.seconds("idle_seconds") == 900 - INTERVAL_S
    node.run(INTERVAL_S, TRAINING)
    assert node.seconds("allocated_idle_seconds") == 0


@pytest.mark.parametrize(
    ("then", "goes_on"),
    [({"b"}, False), ({"a", "b"}, True), ({"a"}, True), (set[str](), False)],
    ids=["another", "one more", "the same", "nobody for a while"],
)
def test_idle_time_is_of_the_holder_that_is_there(then: set[str], *, goes_on: bool) -> None:
    node = Node()
    node.books.names[0, None] = frozenset({"a"})
    node.run(300, IDLE)
    node.books.names[0, None] = frozenset(then)
    node.run(INTERVAL_S, IDLE)
    node.books.names[0, None] = frozenset(then or {"a"})
    node.run(100, IDLE)
    assert node.seconds("allocated_idle_seconds") == (400.0 if goes_on else 100.0 - (0 if then else INTERVAL_S))


def test_books_that_are_silent_make_it_unknown_and_change_nothing() -> None:
    node = Node()
    node.books.names[0, None] = frozenset({"a"})
    node.run(300, IDLE)
    node.books.names[0, None] = None
    node.run(100, IDLE)
    assert node.seconds("allocated_idle_seconds") is None
    node.books.names[0, None] = frozenset({"a"})
    node.run(100, IDLE)
    assert node.seconds("allocated_idle_seconds") == 490


def look_divided(
    follower: Idleness, second: float, born: str = "a", **instances: float | None
) -> dict[tuple[str, ...], float]:
    acts = Acts(resident=None, sm=None, tensor=None, dram=None)
    parts = {int(name[1:]): sm for name, sm in instances.items()}
    value = reading_of(0, acts, window_s=None, instances=parts, born=born)
    follower.note(Key("gpu", uuid(0)), Reading(value=value), at(second))
    return series_of(list(follower.samples(at(second))))


def test_instances_of_a_divided_gpu_are_idle_each_for_itself() -> None:
    books = Books()
    books.names = {(0, None): frozenset({"a", "b"}), (0, 1): frozenset({"a"}), (0, 2): frozenset()}
    follower = Idleness(books, floor=0.01, gap_s=GAP_S)
    found = {}
    for second in range(0, 110, 10):
        found = look_divided(follower, float(second), i1=0.0, i2=0.6)
    me = (uuid(0), "0")
    assert found["mig_idle_seconds", *me, "1"] == 100
    assert found["mig_allocated_idle_seconds", *me, "1"] == 100
    assert found["mig_idle_seconds", *me, "2"] == 0
    assert found["mig_busy_seconds_total", *me, "2"] == pytest.approx(60)
    assert found["mig_observed_seconds_total", *me, "1"] == 100
    assert found["idle_seconds", *me] == 0, "one of them works"
    assert ("busy_seconds_total", *me) not in found


def test_a_divided_gpu_is_idle_only_if_all_its_instances_are_known_to_be() -> None:
    for second_instance, idle in ((0.0, True), (None, False)):
        follower = Idleness(Books(), floor=0.01, gap_s=GAP_S)
        found = {}
        for second in range(0, 60, 10):
            found = look_divided(follower, float(second), i1=0.0, i2=second_instance)
        assert (("idle_seconds", uuid(0), "0") in found) is idle


def test_another_instance_under_the_same_number_begins_anew() -> None:
    follower = Idleness(Books(), floor=0.01, gap_s=GAP_S)
    for second in range(0, 110, 10):
        look_divided(follower, float(second), i1=0.0)
    found = look_divided(follower, 110.0, "b", i1=0.0)
    assert found["mig_idle_seconds", uuid(0), "0", "1"] == 0
    found = look_divided(follower, 120.0, "b", i3=0.0)
    assert {key[3] for key in found if key[0] == "mig_idle_seconds"} == {"3"}


HOLDERS: st.SearchStrategy[Names | None] = st.sampled_from([None, frozenset(), frozenset({"a"}), frozenset({"b"})])
LOOKS = st.lists(
    st.tuples(
        st.sampled_from([1.0, 10.0, 10.0, 10.0, 25.0, 40.0, 400.0]),
        st.sampled_from([None, 0.0, 0.005, 0.3, 1.0]),
        st.sampled_from([None, 0.0, 0.3]),
        HOLDERS,
    ),
    min_size=1,
    max_size=40,
)


Seen = tuple[float, float, bool | None]
"""When a look was, how long its window, and whether the GPU was active; None: not known."""


@given(LOOKS)
def test_it_is_as_the_definition_says(looks: list[tuple[float, float | None, float | None, Names | None]]) -> None:
    """Against the definition, said again over the whole history: the last idle run of looks that touch each other."""
    idler = Idler(GAP_S)
    second = 0.0
    history: list[Seen] = []
    for step, sm, resident, holders in looks:
        second += step
        known = [share for share in (sm, resident) if share is not None]
        active = any(share > 0.01 for share in known) if known else None
        idler.note(Look(active=active, sm=sm, window_s=step if sm is not None else None, holders=holders), second)
        if active is not None:
            history.append((second, step if sm is not None else 0.0, active))
            idle_s, allocated_s = idler.idle_s(second), idler.allocated_idle_s(second)
            assert idle_s == pytest.approx(second - _idle_from(history))
            assert (allocated_s is None) == (holders is None)
            assert 0 <= (allocated_s or 0) <= (idle_s or 0)
    assert 0 <= idler.busy_s <= (idler.observed_s or 0) <= second


def _idle_from(history: list[Seen]) -> float:
    """Since when it is idle: how far back looks go that are idle and leave nothing uncovered between them."""
    begin = history[-1][0]
    for place in range(len(history) - 1, -1, -1):
        second, window_s, active = history[place]
        if active:
            break
        since_before = second - history[place - 1][0] if place else 0.0
        begin = second - min(window_s, since_before)
        if place == 0 or since_before > max(GAP_S, window_s):
            break
    return begin
