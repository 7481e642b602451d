"""The chain of reasons for one actor."""

from analyzer import explain
from analyzer.explain.why import Progress, Reason, Why
from analyzer.hypothesis import smallest_change
from analyzer.model.ids import ActorId
from tests.engine.play import played


def why(story: str, actor: str) -> Why:
    return explain.why(played(story).view(), ActorId(actor))


def change(story: str, actor: str) -> str:
    found = smallest_change(played(story).view(), ActorId(actor))
    return "" if found is None else found.text


def chain(reasons: tuple[Reason, ...], depth: int = 0) -> list[str]:
    return [line for one in reasons for line in ("  " * depth + one.text, *chain(one.because, depth + 1))]


RING = """
    0s capacity slot/x 4
    1s hold gang/a slot/x 2
    1s hold gang/b slot/x 2
    2s wait gang/a units slot/x 2
    2s wait gang/b units slot/x 2
    3s wait gang/c units slot/x 1
    4s run job/free
"""


def test_behind_a_ring_down_to_where_it_closes() -> None:
    answer = why(RING, "gang/c")
    assert answer.progress is Progress.STUCK
    assert answer.answer.endswith("for 1 of slot/x, and can never go on: it is blocked behind gang/a.")
    assert chain(answer.reasons) == [
        "it waits for slot/x, of which gang/a holds 2; gang/a waits for 2 of slot/x",
        "  it waits for slot/x, of which gang/b holds 2; gang/b waits for 2 of slot/x",
        "    it waits for slot/x, of which gang/a holds 2: here the circle closes",
        "it waits for slot/x, of which gang/b holds 2 (see above)",
    ]
    assert change(RING, "gang/c") == "Evict gang/a (holds 2 of slot/x)."


def test_who_runs_and_who_is_unknown() -> None:
    assert why(RING, "job/free").progress is Progress.RUNS
    assert why(RING, "job/nobody").answer == "job/nobody is not in this input."


def test_what_is_missing_is_proven_by_adding_it() -> None:
    story = "0s capacity slot/x 8\n1s wait gang/t units slot/x 10"
    assert change(story, "gang/t") == "Add 2 of slot/x."


def test_room_for_pods_is_proven_too() -> None:
    story = "0s capacity gpu/n1 8\n1s wait gang/t pods 2 of gpu 8 on n1 n2"
    assert change(story, "gang/t") == "Add room for 1 further pod of 8 gpu."


def test_an_endless_holder_that_would_have_to_leave() -> None:
    story = "0s capacity slot/x 8\n1s hold svc/s slot/x 1\n1s set svc/s endless\n2s wait gang/t units slot/x 8"
    assert change(story, "gang/t") == "Stop or move svc/s, which holds 1 of slot/x."


def test_no_change_is_promised_where_none_helps() -> None:
    assert change("1s wait gang/t never it asks for what is not there", "gang/t") == ""


def test_a_queue_down_to_who_runs() -> None:
    story = """
        0s capacity slot/x 1
        1s hold job/r slot/x 1
        2s wait job/a units slot/x 1
        3s wait job/b done job/a
    """
    answer = why(story, "job/b")
    assert answer.progress is Progress.WAITS
    assert chain(answer.reasons) == [
        "job/a must finish first; job/a waits for 1 of slot/x",
        "  job/r must finish first; it runs and will end",
    ]


def test_a_long_chain_is_cut() -> None:
    tasks = "\n".join(f"1s wait task/{number:02} done task/{number + 1:02}" for number in range(50))
    answer = why(f"{tasks}\n1s run task/50", "task/00")
    assert len(chain(answer.reasons)) == 12
    assert chain(answer.reasons)[-1].endswith("it waits itself")


def test_others_of_the_same_knot_share_a_line_once_the_circle_is_closed() -> None:
    lines = ["0s capacity slot/x 3"]
    for number in range(3):
        lines += [f"1s hold driver/{number} slot/x 1", f"1s wait driver/{number} ready 1 of exec/{number}"]
        lines += [f"1s wait exec/{number} units slot/x 1"]
    assert chain(why("\n".join(lines), "driver/0").reasons) == [
        "it waits for exec/0 to be ready; exec/0 waits for 1 of slot/x",
        "  it waits for slot/x, of which driver/0 holds 1: here the circle closes",
        "  it waits for driver/1 and driver/2, too, none of which can go on",
    ]
