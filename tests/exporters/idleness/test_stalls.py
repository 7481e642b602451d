"""A job that waits for ever looks busy to every tool of today. It is found; and whoever only seems so is not."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from exporters.config import Stall
from exporters.followers.stalls import INGREDIENTS
from exporters.subject import Key, Reason
from tests.exporters.idleness.making import (
    CHECKPOINT,
    DEBUGGED,
    EVALUATION,
    GAP_S,
    GIGABYTE,
    HUNG,
    IDLE,
    INTERVAL_S,
    STARVED,
    TRAINING,
    Acts,
    Node,
    uuid,
)

HOLD_S = Stall().hold_s
SETTLE_S = 60.0
"""What links take to be known as quiet, and the first look."""


def stalled(node: Node, number: int = 0) -> float | None:
    return node.seconds("stalled_seconds", number)


@pytest.fixture
def node() -> Node:
    node = Node(gpus=8)
    node.run(600, TRAINING)
    assert stalled(node) == 0
    return node


def test_a_hung_collective_is_counted_on_every_gpu(node: Node) -> None:
    node.run(600, HUNG)
    for number in node.numbers:
        seconds = stalled(node, number)
        assert seconds is not None
        assert 600 - SETTLE_S - INTERVAL_S <= seconds <= 600
        assert node.seconds("idle_seconds", number) == 0, "to a rule about idleness it looks busy"
        assert node.seconds("stall_detection_supported", number) == 1
        for name in INGREDIENTS:
            assert node.seconds("stall_ingredient", number, name) == 1


def test_it_ends_with_the_first_look_at_work(node: Node) -> None:
    node.run(600, HUNG)
    node.run(INTERVAL_S, TRAINING)
    assert [stalled(node, number) for number in node.numbers] == [0] * 8


def test_a_hang_of_hours_does_not_forget_that_there_was_traffic(node: Node) -> None:
    node.run(4 * 3600, HUNG)
    assert (stalled(node) or 0) > 4 * 3600 - SETTLE_S - INTERVAL_S


NOT_STALLED: dict[str, Callable[[int], Acts]] = {
    "checkpoint": lambda _: CHECKPOINT,
    "checkpoint of one rank": lambda number: CHECKPOINT if number == 0 else HUNG,
    "waiting for data": lambda _: STARVED,
    "one rank waiting for data": lambda number: STARVED if number == 3 else HUNG,
    "evaluation": lambda _: EVALUATION,
    "evaluation on one rank": lambda number: EVALUATION if number == 0 else HUNG,
    "a debugger after the training": lambda _: DEBUGGED,
    "compiling": lambda _: replace(CHECKPOINT, power=130.0),
    "nobody": lambda _: IDLE,
    "inference by memory": lambda _: replace(HUNG, dram=0.6),
}


@pytest.mark.parametrize("name", NOT_STALLED)
def test_what_only_looks_like_it_is_not_counted(node: Node, name: str) -> None:
    """The twin of the hung collective: all else is alike, the time too."""
    for _ in range(120):
        node.run(INTERVAL_S, NOT_STALLED[name])
        assert not any(stalled(node, number) for number in node.numbers)
    assert [stalled(node, number) for number in node.numbers] == [0] * 8, "and this is known"


@pytest.mark.parametrize("fresh", [True, False])
def test_a_kernel_under_a_debugger_is_not_counted(*, fresh: bool) -> None:
    node = Node()
    if not fresh:
        node.run(2 * 3600, IDLE)
    for _ in range(500):
        node.run(INTERVAL_S, DEBUGGED)
        assert not stalled(node)


def test_bubbles_of_a_pipeline_are_not_counted_and_longer_waits_are(node: Node) -> None:
    for _ in range(20):
        node.run(50, replace(HUNG, nvlink=0.0, rdma=0.0))
        assert stalled(node) == 0
        node.run(20, TRAINING)
        assert stalled(node) == 0
    node.run(50 + 2 * SETTLE_S, HUNG)
    assert stalled(node) != 0


LIFTED = {
    "kernel_resident": {"resident": 0.9},
    "sm_low": {"sm": 0.31},
    "tensor_low": {"tensor": 0.011},
    "memory_low": {"dram": 0.051},
    "links_quiet": {"nvlink": 0.02 * 50 * GIGABYTE},
    "power_low": {"power": 351.0},
}
UNKNOWN = {
    "kernel_resident": {"resident": None},
    "sm_low": {"sm": None},
    "tensor_low": {"tensor": None},
    "memory_low": {"dram": None},
    "power_low": {"power": None},
}


@pytest.mark.parametrize("name", INGREDIENTS)
def test_without_one_ingredient_it_is_no_stall(name: str) -> None:
    node = Node()
    node.run(600, TRAINING)
    node.run(600, replace(HUNG, **LIFTED[name]))
    assert stalled(node) == 0
    assert node.seconds("stall_signature_seconds") == 0
    assert node.seconds("stall_ingredient", 0, name) == 0


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_read_makes_it_unknown_not_zero(name: str) -> None:
    node = Node()
    node.run(600, TRAINING)
    node.run(600, replace(HUNG, **UNKNOWN[name]))
    assert stalled(node) is None
    assert node.seconds("stall_ingredient", 0, name) is None
    assert node.seconds("stall_detection_supported") == 0


def test_rdma_traffic_alone_tells_too() -> None:
    node = Node()
    node.run(600, replace(TRAINING, nvlink=None))
    node.run(600, replace(HUNG, nvlink=None, rdma=0.5 * GIGABYTE))
    assert stalled(node) == 0
    node.run(600, replace(HUNG, nvlink=None))
    assert (stalled(node) or 0) > HOLD_S


def test_without_counters_it_says_nothing_about_a_gpu_that_looks_busy() -> None:
    """A card before Hopper: residency is all that there is. That it is not stalled can be known, that it is cannot."""
    bare = {"sm": None, "tensor": None, "dram": None}
    node = Node()
    node.run(600, replace(TRAINING, **bare))
    node.run(600, replace(HUNG, **bare))
    assert stalled(node) is None
    assert node.seconds("stall_detection_supported") == 0
    node.run(INTERVAL_S, replace(CHECKPOINT, **bare))
    assert stalled(node) == 0


def test_a_gap_is_unknown_and_what_comes_after_it_begins_anew() -> None:
    node = Node()
    node.run(600, TRAINING)
    node.run(600, HUNG)
    node.run(INTERVAL_S, lambda _: Reason.TIMEOUT)
    assert stalled(node) is None
    node.run(600, lambda _: Reason.TIMEOUT)
    node.run(30, HUNG)
    assert stalled(node) == 0
    node.run(300, HUNG)
    assert HOLD_S < (stalled(node) or 0) <= 330


def test_silence_is_unknown_too() -> None:
    node = Node()
    node.run(600, TRAINING)
    node.run(600, HUNG)
    node.now_s += GAP_S
    assert stalled(node) is not None
    node.now_s += 1
    assert stalled(node) is None


def test_a_restart_in_the_midst_of_a_hang_makes_it_unknown(node: Node) -> None:
    node.run(600, HUNG)
    node.restart()
    node.run(1200, HUNG)
    assert stalled(node) is None
    assert node.seconds("stall_ingredient", 0, "links_quiet") is None


def test_a_dead_rank_excuses_nobody(node: Node) -> None:
    """Its process is gone, and the others wait for it; the twin of a checkpoint of one rank."""
    node.run(600, lambda number: IDLE if number == 0 else HUNG)
    assert stalled(node, 0) == 0
    assert (stalled(node, 1) or 0) > HOLD_S


def test_where_processes_cannot_be_seen_an_empty_list_is_no_death(node: Node) -> None:
    hidden = replace(HUNG, pids=())
    node.run(600, lambda number: IDLE if number == 0 else hidden)
    assert stalled(node, 1) == 0


def test_a_rank_that_rests_excuses_for_a_while_only(node: Node) -> None:
    rest_s = node.wanted.rest_s
    node.run(rest_s - INTERVAL_S, lambda number: CHECKPOINT if number == 0 else HUNG)
    assert stalled(node, 1) == 0
    node.run(2 * INTERVAL_S, lambda number: CHECKPOINT if number == 0 else HUNG)
    assert (stalled(node, 1) or 0) > rest_s - SETTLE_S - INTERVAL_S
    assert stalled(node, 0) == 0


@pytest.mark.parametrize(("other", "counted"), [("job-2", True), ("job-1", False)])
def test_another_job_on_the_node_excuses_nobody(node: Node, other: str, *, counted: bool) -> None:
    for number in node.numbers:
        node.books.names[number, None] = frozenset({"job-1" if number < 4 else other})
    node.run(600, lambda number: HUNG if number < 4 else TRAINING)
    assert [bool(stalled(node, number)) for number in node.numbers] == [counted] * 4 + [False] * 4


def test_holders_that_are_not_known_make_it_silent(node: Node) -> None:
    node.run(600, lambda number: HUNG if number < 4 else TRAINING)
    assert [stalled(node, number) for number in node.numbers] == [0] * 8


def test_a_debugger_begun_where_processes_cannot_be_seen() -> None:
    """In a container the list is empty: the holder stands for the processes, else a look at an empty GPU does."""
    for held in (True, False):
        node = Node()
        node.books.names[0, None] = frozenset({"pod-a"}) if held else None
        node.run(600, replace(TRAINING, pids=()))
        node.books.names[0, None] = frozenset({"pod-b"}) if held else None
        node.run(0 if held else INTERVAL_S, IDLE)
        for _ in range(60):
            node.run(INTERVAL_S, replace(DEBUGGED, pids=()))
            assert not stalled(node)


def test_the_hour_belongs_to_processes_of_which_one_is_left(node: Node) -> None:
    """The next job's processes are all others; the twin has one left of those who talked."""
    node.run(INTERVAL_S, replace(HUNG, pids=(77, 78)))
    node.run(600, DEBUGGED)
    assert not stalled(node)
    twin = Node()
    twin.run(600, TRAINING)
    twin.run(INTERVAL_S, replace(HUNG, pids=(1, 77)))
    twin.run(600, replace(HUNG, pids=(77,)))
    assert (stalled(twin) or 0) > HOLD_S


def test_the_tail_of_the_job_before_is_not_the_next_one_s_traffic() -> None:
    """Between two looks the training ends and a debugger begins: the counter's step is the training's."""
    node = Node()
    node.run(600, TRAINING)
    node.run(INTERVAL_S, replace(DEBUGGED, nvlink=50 * GIGABYTE, rdma=20 * GIGABYTE))
    node.run(600, DEBUGGED)
    assert node.seconds("links_of_peak_ratio") is None
    assert not stalled(node)


def test_a_counter_that_begins_anew_is_no_traffic() -> None:
    node = Node()
    node.run(600, TRAINING)
    node.run(300, HUNG)
    node.driver_loaded(0)
    node.run(INTERVAL_S, HUNG)
    assert stalled(node) is None, "of this look the rate is not known"
    node.run(INTERVAL_S, HUNG)
    assert (stalled(node) or 0) > 200


def test_thresholds_are_settings() -> None:
    node = Node(wanted=Stall(hold_s=500.0, sm_ratio=0.1))
    node.run(600, TRAINING)
    node.run(600, HUNG)
    assert stalled(node) == 0, "0.15 is not below 0.1"
    node.run(300, replace(HUNG, sm=0.05))
    assert stalled(node) == 0, "not long enough"
    assert (node.seconds("stall_signature_seconds") or 0) > 250
    node.run(300, replace(HUNG, sm=0.05))
    assert (stalled(node) or 0) >= 500


def test_a_gpu_that_is_gone_leaves_nothing_behind(node: Node) -> None:
    for follower in node.followers:
        follower.forget(Key("gpu", uuid(2)))
    assert not [key for key in node.series() if key[1] == uuid(2)]


def always(act: Acts | Reason) -> Callable[[int], Acts | Reason]:
    """The same for every GPU."""
    return lambda _number: act


ACTS = st.sampled_from([TRAINING, HUNG, CHECKPOINT, EVALUATION, STARVED, DEBUGGED, IDLE, replace(HUNG, sm=None)])
STEPS = st.lists(st.tuples(st.integers(1, 30), st.one_of(ACTS, st.just(Reason.LOST))), min_size=1, max_size=12)


@given(STEPS)
def test_whatever_happens_it_is_never_longer_than_what_was_seen(steps: list[tuple[int, Acts | Reason]]) -> None:
    """Neither is ever longer than the last unbroken run of looks that may show it, and the one never than the other."""
    node = Node()
    run_s = 0.0
    for looks, act in steps:
        for _ in range(looks):
            node.run(INTERVAL_S, always(act))
            may = isinstance(act, Acts) and (act in (HUNG, DEBUGGED) or act.sm is None)
            run_s = run_s + INTERVAL_S if may else 0.0
            signature_s, stalled_s = node.seconds("stall_signature_seconds"), stalled(node)
            assert (signature_s is None) == (stalled_s is None)
            assert 0 <= (stalled_s or 0) <= (signature_s or 0) <= max(run_s - INTERVAL_S, 0)
            assert stalled_s in {None, 0, signature_s}
            if isinstance(act, Reason):
                assert signature_s is None


SHARES = st.sampled_from([None, 0.0, 0.005, 0.2, 0.6, 1.0])
ANY_ACTS = st.builds(
    Acts,
    resident=SHARES,
    sm=SHARES,
    tensor=SHARES,
    dram=SHARES,
    power=st.sampled_from([None, 0.0, 100.0, 600.0]),
    limit=st.sampled_from([None, 0.0, 700.0]),
    nvlink=st.sampled_from([None, 0.0, 10.0, 50 * GIGABYTE]),
    rdma=st.sampled_from([None, 0.0, 50 * GIGABYTE]),
    pids=st.sampled_from([None, (), (1,), (2, 3)]),
)


@given(st.lists(st.tuples(ANY_ACTS, ANY_ACTS, st.integers(1, 8)), min_size=1, max_size=10))
def test_whatever_a_gpu_says_values_are_in_their_bounds_in_any_order(
    steps: list[tuple[Acts, Acts, int]],
) -> None:
    """Anything may be missing at any time. Which of two GPUs is told of first does not matter."""
    found = []
    for order in ((0, 1), (1, 0)):
        node = Node(gpus=2)
        node.numbers = order
        pages = []
        for first, second, looks in steps:
            node.run(looks * INTERVAL_S, first, second)
            pages.append(node.series())
            for key, value in pages[-1].items():
                assert 0 <= value < 1e6, key
                assert value <= 1 or key[0].endswith(("_seconds", "_seconds_total")), key
        found.append(pages)
    assert found[0] == found[-1]
