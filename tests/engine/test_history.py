"""Rounds of losing and waiting anew, and what counts as one."""

from msgspec.structs import replace

from analyzer.model.events import ActorGone, ActorObserved, Excuse, ExcuseKind, Losses, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import SECOND_NS, Limits
from analyzer.model.requests import Units
from analyzer.state.history import History

GPU = ResourceId("gpu/n1")
NAME = ActorId("job/a")


def seen(at_s: int, held: int, *, waits: bool = False, progress: int | None = None, name: str = NAME) -> ActorObserved:
    at_ns = at_s * SECOND_NS
    return ActorObserved(
        at_ns=at_ns,
        actor=ActorId(name),
        holds=((GPU, held),) if held else (),
        wait=Wait(request=Units(GPU, 8 - held), since_ns=at_ns) if waits else None,
        progress=progress,
    )


def history(*states: ActorObserved, limits: Limits | None = None) -> History:
    told = History(limits or Limits())
    before: dict[ActorId, ActorObserved] = {}
    for state in states:
        told.observe(before.get(state.actor), state)
        before[state.actor] = state
    return told


def count(told: History) -> int:
    return told.rounds[NAME].count if NAME in told.rounds else 0


def test_a_loss_and_a_wait_are_a_round() -> None:
    assert count(history(seen(0, 8), seen(1, 0, waits=True))) == 1


def test_the_wait_may_come_in_a_later_restatement() -> None:
    assert count(history(seen(0, 8), seen(1, 0), seen(2, 0, waits=True))) == 1


def test_a_waiting_gang_that_loses_a_part_has_a_round() -> None:
    assert count(history(seen(0, 4, waits=True), seen(1, 2, waits=True))) == 1


def test_a_wait_with_an_excuse_is_no_round_until_the_excuse_is_over() -> None:
    waits = seen(1, 0, waits=True)
    assert waits.wait is not None
    excused = replace(waits, wait=replace(waits.wait, excuse=Excuse(ExcuseKind.STARTING, "not tried yet")))
    assert count(history(seen(0, 8), excused, seen(2, 8))) == 0
    assert count(history(seen(0, 8), excused, seen(2, 0, waits=True))) == 1


def test_restating_the_same_is_no_round() -> None:
    assert count(history(seen(0, 8), seen(1, 0, waits=True), seen(2, 0, waits=True), seen(2, 0, waits=True))) == 1


def test_waiting_from_the_start_is_no_round() -> None:
    assert count(history(seen(0, 0, waits=True), seen(1, 0, waits=True))) == 0


def test_moving_without_waiting_is_no_round() -> None:
    assert count(history(seen(0, 8), seen(1, 0), seen(2, 8), seen(3, 8, waits=True))) == 0


def test_progress_ends_the_count() -> None:
    rounds = [seen(0, 8, progress=1), seen(1, 0, waits=True, progress=1), seen(2, 8, progress=2)]
    assert count(history(*rounds)) == 0
    assert count(history(*rounds, seen(3, 0, waits=True, progress=2))) == 1


def test_the_end_of_an_actor_ends_its_history() -> None:
    told = history(seen(0, 8), seen(1, 0, waits=True))
    told.forget(seen(1, 0, waits=True), ActorGone(at_ns=2 * SECOND_NS, actor=NAME))
    assert count(told) == 0


def test_evicted_pods_of_one_lineage_add_up_and_an_ordinary_end_clears_them() -> None:
    told = History(Limits())
    for number in range(3):
        pod = replace(seen(number * 10, 8, name=f"pod/{number}"), lineage="job/x")
        told.observe(None, pod)
        told.forget(pod, ActorGone(at_ns=(number * 10 + 5) * SECOND_NS, actor=pod.actor, evicted=True))
        told.observe(None, replace(seen(number * 10 + 6, 0, waits=True, name=f"pod/{number + 1}"), lineage="job/x"))
    assert {key: rounds.count for key, rounds in told.rounds.items()} == {"job/x": 3}
    assert told.rounds["job/x"].actor == "pod/3"
    done = replace(seen(40, 8, name="pod/3"), lineage="job/x")
    told.forget(done, ActorGone(at_ns=50 * SECOND_NS, actor=done.actor))
    assert not told.rounds


def test_rounds_that_left_the_window_are_dropped() -> None:
    told = history(seen(0, 8), seen(1, 0, waits=True))
    told.prune(3600 * SECOND_NS)
    assert count(told) == 1
    told.prune(3602 * SECOND_NS)
    assert count(told) == 0


def test_memory_is_bounded_by_rounds_and_actors() -> None:
    limits = Limits(history_rounds_max=4, history_actors_max=2)
    many = [seen(at, 0 if at % 2 else 8, waits=bool(at % 2)) for at in range(100)]
    told = history(*many, limits=limits)
    assert (len(told.rounds[NAME].kept), told.rounds[NAME].count) == (4, 50)
    assert told.rounds[NAME].begun_ns == SECOND_NS
    others = [
        state for at in range(5) for state in (seen(at, 8, name=f"x{at}"), seen(at + 1, 0, waits=True, name=f"x{at}"))
    ]
    told = history(*others, limits=limits)
    told.prune(10 * SECOND_NS)
    assert sorted(told.rounds) == ["x3", "x4"]


def test_a_change_of_holds_or_request_while_waiting_is_noted() -> None:
    assert history(seen(0, 2, waits=True)).changed_ns(NAME) is None
    assert history(seen(0, 2, waits=True), seen(5, 2, waits=True)).changed_ns(NAME) is None
    assert history(seen(0, 2, waits=True), seen(5, 4, waits=True)).changed_ns(NAME) == 5 * SECOND_NS
    assert history(seen(0, 2, waits=True), seen(5, 4, waits=True), seen(6, 8)).changed_ns(NAME) is None


def told_of(count: int, at_s: int = 700, *, first_s: int = 0) -> ActorObserved:
    losses = Losses(count, first_s * SECOND_NS, at_s * SECOND_NS, (GPU,))
    return replace(seen(at_s, 0, waits=True), losses=losses)


def test_a_count_of_its_own_is_believed_where_it_goes_beyond_what_was_seen() -> None:
    rounds = history(told_of(8)).rounds[NAME]
    assert (rounds.count, rounds.begun_ns) == (8, 0)
    assert [one.at_ns // SECOND_NS for one in rounds.kept] == [0, 100, 200, 300, 400, 500, 600, 700]


def test_what_was_seen_counts_once_though_it_is_told_as_well() -> None:
    first, second = seen(0, 8), replace(told_of(1, 10), losses=Losses(1, 0, 10 * SECOND_NS, (GPU,)))
    again, third = seen(20, 8), told_of(2, 30)
    told = history(first, second, again, third)
    assert count(told) == 2
    assert [one.at_ns // SECOND_NS for one in told.rounds[NAME].kept] == [10, 30]


def test_a_long_count_keeps_the_newest_rounds() -> None:
    rounds = history(told_of(100, 990), limits=Limits(history_rounds_max=4)).rounds[NAME]
    assert [one.at_ns // SECOND_NS for one in rounds.kept] == [960, 970, 980, 990]


def test_a_count_of_none_takes_back_what_was_told() -> None:
    over = replace(seen(800, 0, waits=True), losses=Losses(0, 0, 0, ()))
    assert NAME not in history(told_of(8), over).rounds
    assert history(told_of(8), over, told_of(3, 900)).rounds[NAME].count == 3


def test_for_whom_units_were_lost_is_remembered() -> None:
    said = replace(seen(700, 0, waits=True), losses=Losses(8, 0, 700 * SECOND_NS, (GPU,), "Job team-red/urgent"))
    assert history(said).rounds[NAME].by == "Job team-red/urgent"
    assert history(said, told_of(9, 800)).rounds[NAME].by == ""
    assert history(said, told_of(8, 800)).rounds[NAME].by == "Job team-red/urgent"
