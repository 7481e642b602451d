"""Who is read when: rhythm, calls that never return, subjects that come and go. In virtual time."""

import math
from typing import Any

import pytest

from exporters.config import Limit, Settings
from exporters.subject import Key, Moment, ReadError, Reading, Reason
from tests.exporters.working.toys import Toy, VirtualTime, lines_of

UP = 'knotwatch_gpu_up{uuid="%s"}'
HEAT = 'knotwatch_gpu_toy_heat_celsius{uuid="%s"}'


class Notes:
    """A follower that remembers what it was told."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, Reading[Any], float]] = []
        self.forgotten: list[str] = []

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        self.noted.append((key.name, reading, at.mono_s))

    def forget(self, key: Key) -> None:
        self.forgotten.append(key.name)

    def samples(self, now: Moment) -> tuple[()]:  # noqa: ARG002  the protocol gives the time
        return ()


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


def test_each_subject_is_read_in_its_own_rhythm(time: VirtualTime) -> None:
    slow, quick = Toy("slow"), Toy("quick", interval_s=1.0)
    time.run(time.office({"toys": lambda: [slow, quick]}), 30)
    assert slow.reads_s == [1000.0, 1010.0, 1020.0, 1030.0]
    assert len(quick.reads_s) == 31


def test_a_call_that_never_returns_costs_its_subject_and_no_other(time: VirtualTime) -> None:
    """NVIDIA/dcgm-exporter's page was lost as a whole when one entity failed; here seven of eight are served."""
    toys = [Toy(f"GPU-{n}", takes_s=lambda _now_s: 0.1) for n in range(8)]
    toys[5].takes_s = lambda now_s: math.inf if now_s > 1015 else 0.1
    office = time.office({"toys": lambda: toys})
    time.run(office, 15)
    assert all(lines_of(office)[UP % f"GPU-{n}"] == 1 for n in range(8))
    time.run(office, 15)  # the call began at 1020, and is overdue at 1025
    page = lines_of(office)
    assert [n for n in range(8) if page[UP % f"GPU-{n}"]] == [0, 1, 2, 3, 4, 6, 7]
    assert page['knotwatch_gpu_down_reason{reason="timeout",uuid="GPU-5"}'] == 1
    assert page['knotwatch_gpu_stuck_seconds{uuid="GPU-5"}'] == 10
    assert HEAT % "GPU-5" not in page
    assert HEAT % "GPU-4" in page
    assert page['knotwatch_exporter_collector_success{collector="gpu"}'] == 0


def test_a_stuck_subject_has_one_call_in_flight_and_its_turns_are_counted(time: VirtualTime) -> None:
    """nvidia_gpu_exporter#89, #405: each scrape of a node with a hung driver left one more stuck process."""
    stuck = Toy("GPU-a", takes_s=lambda _now_s: math.inf)
    office = time.office({"toys": lambda: [stuck]})
    time.run(office, 1000)
    for _ in range(100):
        lines_of(office)
    assert len(time.begun) == 1
    assert len(time.hands) == 2, "one for the list, one for the subject"
    assert lines_of(office)['knotwatch_exporter_collect_skipped_total{collector="gpu"}'] == 100


def test_a_subject_that_comes_back_is_read_again(time: VirtualTime) -> None:
    toy = Toy("GPU-a", takes_s=lambda now_s: 47.0 if now_s == 1010 else 0.0)
    notes = Notes()
    office = time.office({"toys": lambda: [toy]}, [notes])
    time.run(office, 40)
    assert lines_of(office)[UP % "GPU-a"] == 0
    time.run(office, 18)  # it returned at 1057, with what it had read
    page = lines_of(office)
    assert page[UP % "GPU-a"] == 1
    assert not any("stuck" in series or "down_reason" in series for series in page)
    time.run(office, 20)
    assert [at_s for at_s, _ in time.begun] == [1000, 1010, 1060, 1070]
    assert [(at_s, reading.reason) for _, reading, at_s in notes.noted[1:3]] == [
        (1015, Reason.TIMEOUT),
        (1057, Reason.NONE),
    ]


def test_a_value_is_withdrawn_when_it_was_not_read_for_three_intervals(time: VirtualTime) -> None:
    """NVIDIA/gpu-monitoring-tools#188: values stayed frozen at the last reading while the backend was gone."""
    toy = Toy("GPU-a", takes_s=lambda now_s: math.inf if now_s > 1000 else 0.0, interval_s=10.0, deadline_s=60.0)
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 30)
    assert HEAT % "GPU-a" in lines_of(office)
    time.run(office, 0.5)
    page = lines_of(office)
    assert HEAT % "GPU-a" not in page
    assert page['knotwatch_gpu_last_success_timestamp_seconds{uuid="GPU-a"}'] == 1_800_000_000


def test_a_value_that_is_read_each_second_is_withdrawn_after_ten(time: VirtualTime) -> None:
    toy = Toy("GPU-a", takes_s=lambda now_s: math.inf if now_s > 1000 else 0.0, interval_s=1.0, deadline_s=60.0)
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 10)
    assert HEAT % "GPU-a" in lines_of(office)
    time.run(office, 0.5)
    assert HEAT % "GPU-a" not in lines_of(office)


def test_three_failures_in_a_row_are_a_state_and_one_is_not(time: VirtualTime) -> None:
    """dcgm-exporter#190, #500: a GPU whose calls fail is up 0, not frozen."""
    toy = Toy("GPU-a", lambda now_s: OSError() if now_s >= 1010 else 42.0)
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 25)
    assert lines_of(office)[UP % "GPU-a"] == 1
    assert HEAT % "GPU-a" not in lines_of(office), "what was not read this time is absent"
    time.run(office, 10)
    page = lines_of(office)
    assert page[UP % "GPU-a"] == 0
    assert page['knotwatch_gpu_down_reason{reason="errors",uuid="GPU-a"}'] == 1
    assert page['knotwatch_exporter_read_errors_total{call="read",code="OSError"}'] == 3
    assert page['knotwatch_gpu_last_success_timestamp_seconds{uuid="GPU-a"}'] == 1_800_000_000
    toy.does = lambda _now_s: 41.0
    time.run(office, 10)
    assert lines_of(office)[UP % "GPU-a"] == 1


def test_errors_beside_a_value_are_no_failure(time: VirtualTime) -> None:
    toy = Toy("GPU-a", lambda _now_s: Reading(value=42.0, errors=(ReadError("temperature", "999"),)))
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 45)
    page = lines_of(office)
    assert page[UP % "GPU-a"] == 1
    assert page['knotwatch_exporter_read_errors_total{call="temperature",code="999"}'] == 5


def test_one_that_was_never_read_is_down_from_the_first_failure(time: VirtualTime) -> None:
    office = time.office({"toys": lambda: [Toy("GPU-a", lambda _now_s: ValueError())]})
    time.run(office, 1)
    assert lines_of(office)[UP % "GPU-a"] == 0


def test_a_subject_says_itself_that_it_is_lost(time: VirtualTime) -> None:
    lost: Reading[float] = Reading(
        value=None, up=False, reason=Reason.LOST, errors=(ReadError("nvmlDeviceGetPowerUsage", "15"),)
    )
    toy = Toy("GPU-a", lambda now_s: lost if now_s >= 1010 else 42.0)
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 10)
    page = lines_of(office)
    assert page[UP % "GPU-a"] == 0
    assert page['knotwatch_gpu_down_reason{reason="lost",uuid="GPU-a"}'] == 1
    assert HEAT % "GPU-a" not in page


def test_subjects_come_and_go_with_their_list(time: VirtualTime) -> None:
    present = [Toy("GPU-a"), Toy("GPU-b")]
    notes = Notes()
    office = time.office({"toys": lambda: list(present)}, [notes])
    time.run(office, 1)
    present[:] = [present[1], Toy("GPU-c")]
    time.run(office, 6)
    page = lines_of(office)
    assert UP % "GPU-a" not in page
    assert page[UP % "GPU-b"] == page[UP % "GPU-c"] == 1
    assert notes.forgotten == ["GPU-a"]
    assert [hand.closed for hand in time.hands if hand.name == "gpu GPU-a"] == [True]


def test_one_that_leaves_while_it_is_read_and_returns_is_not_read_twice(time: VirtualTime) -> None:
    toy = Toy("GPU-a", takes_s=lambda now_s: 50.0 if now_s == 1000 else 0.0)
    present = [toy]
    office = time.office({"toys": lambda: list(present)})
    time.run(office, 1)
    present.clear()
    time.run(office, 10)
    assert UP % "GPU-a" not in lines_of(office)
    present.append(Toy("GPU-a"))
    time.run(office, 10)
    assert lines_of(office)[UP % "GPU-a"] == 0, "it is here, and a call to it has not returned"
    time.run(office, 40)
    assert lines_of(office)[UP % "GPU-a"] == 1
    assert sum(hand.name == "gpu GPU-a" for hand in time.hands) == 1


def test_subjects_that_leave_stuck_under_ever_other_names_do_not_fill_the_process_with_threads(
    time: VirtualTime,
) -> None:
    names = iter(range(10_000))
    office = time.office(
        {"toys": lambda: [Toy(f"GPU-{next(names)}", takes_s=lambda _now_s: math.inf)]},
        settings=Settings(limit=Limit(subjects_max=4)),
    )
    time.run(office, 1000)
    assert len(time.hands) <= 8
    assert lines_of(office)["knotwatch_exporter_subjects_refused"] == 1


def test_too_many_subjects_are_left_out_and_counted(time: VirtualTime) -> None:
    office = time.office(
        {"toys": lambda: [Toy(f"GPU-{n}") for n in (3, 1, 2)]}, settings=Settings(limit=Limit(subjects_max=2))
    )
    time.run(office, 1)
    page = lines_of(office)
    assert [n for n in (1, 2, 3) if UP % f"GPU-{n}" in page] == [1, 2]
    assert page["knotwatch_exporter_subjects_refused"] == 1


def test_a_list_that_breaks_or_hangs_leaves_its_subjects_as_they_were(time: VirtualTime) -> None:
    toys = [Toy("GPU-a")]

    def listed() -> list[Toy]:
        if time.now_s > 1002:
            raise OSError
        return toys

    office = time.office({"toys": listed, "others": lambda: [Toy("mlx5_0", kind="rdma")]})
    time.run(office, 60)
    page = lines_of(office)
    assert page[UP % "GPU-a"] == 1
    assert page['knotwatch_rdma_up{device="mlx5_0"}'] == 1
    assert page['knotwatch_exporter_subject_up{kind="roster",name="toys"}'] == 0
    assert page['knotwatch_exporter_subject_up{kind="roster",name="others"}'] == 1


def test_a_machine_that_slept_does_not_make_up_for_the_turns_it_missed(time: VirtualTime) -> None:
    toy = Toy("GPU-a", interval_s=1.0)
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 3)
    time.now_s += 3600
    time.run(office, 2)
    assert len(toy.reads_s) == 4 + 3


def test_a_wall_clock_that_jumps_changes_no_age(time: VirtualTime) -> None:
    office = time.office({"toys": lambda: [Toy("GPU-a")]})
    time.run(office, 15)
    time.wall_ahead_s -= 7 * 86400
    time.run(office, 1)
    assert lines_of(office)[HEAT % "GPU-a"] == 42


def test_a_follower_that_breaks_costs_itself_and_is_counted(time: VirtualTime) -> None:
    class Broken(Notes):
        def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
            raise KeyError(key, reading, at)

        def samples(self, now: Moment) -> tuple[()]:
            raise RuntimeError(now)

    notes = Notes()
    office = time.office({"toys": lambda: [Toy("GPU-a")]}, [Broken(), notes])
    time.run(office, 1)
    page = lines_of(office)
    assert page[UP % "GPU-a"] == 1
    assert len(notes.noted) == 1
    assert page['knotwatch_exporter_broken_total{part="Broken"}'] >= 2


def test_what_followers_see_does_not_depend_on_the_order_of_threads(time: VirtualTime) -> None:
    toys = [Toy(f"GPU-{n}", takes_s=lambda _now_s: 0.5) for n in (2, 0, 1)]
    notes = Notes()
    time.run(time.office({"toys": lambda: toys}, [notes]), 1)
    assert [name for name, _, _ in notes.noted] == ["GPU-0", "GPU-1", "GPU-2"]


def test_codes_that_come_from_outside_do_not_make_series_without_end(time: VirtualTime) -> None:
    toy = Toy("GPU-a", lambda now_s: Reading(value=1.0, errors=(ReadError("c", str(now_s)),)), interval_s=1.0)
    office = time.office({"toys": lambda: [toy]})
    time.run(office, 1000)
    page = lines_of(office)
    assert sum(series.startswith("knotwatch_exporter_read_errors_total") for series in page) == 257
    assert page['knotwatch_exporter_read_errors_total{call="other",code="other"}'] == 1001 - 256
