"""Who must finish first."""

from analyzer.model.events import ExcuseKind
from analyzer.model.findings import Waiting
from tests.engine.play import played

NODES = "0s capacity gpu/n1 8\n0s capacity gpu/n2 8\n"


def rows(story: str) -> dict[str, Waiting]:
    return {row.actor: row for row in played(story).waiting()}


def firsts(story: str) -> dict[str, tuple[str, ...]]:
    return {actor: row.first_to_finish for actor, row in rows(story).items()}


def test_nobody_where_it_could_start_now() -> None:
    assert firsts(f"{NODES}1s wait job/a pods 2 of gpu 8 on n1 n2") == {"job/a": ()}


def test_those_that_suffice_alone_come_first_then_by_deadline() -> None:
    story = """
        0s capacity slot/x 10
        1s hold job/big slot/x 5
        1s hold job/small slot/x 2
        1s hold job/soon slot/x 3
        1s set job/soon until=1100s
        2s wait job/w units slot/x 3
    """
    assert firsts(story) == {"job/w": ("job/soon", "job/big", "job/small")}


def test_endless_holders_are_not_waited_for() -> None:
    story = f"""{NODES}
        1s hold serving/s gpu/n1 8
        1s set serving/s endless
        1s hold job/b gpu/n2 8
        2s wait job/w pods 1 of gpu 8 on n1 n2
    """
    assert firsts(story) == {"job/w": ("job/b",)}


def test_nodes_that_need_the_least_come_first() -> None:
    story = f"""{NODES}
        1s hold job/a gpu/n1 8
        1s hold job/b gpu/n2 1
        2s wait job/w pods 1 of gpu 8 on n1 n2
    """
    assert firsts(story) == {"job/w": ("job/b", "job/a")}


def test_a_queue_names_those_ahead_only() -> None:
    story = """
        0s capacity slot/x 2
        1s hold job/r slot/x 1
        2s hold job/a slot/x 1
        2s wait job/a units slot/x 1
        3s wait job/b units slot/x 2
    """
    assert firsts(story) == {"job/a": ("job/r",), "job/b": ("job/r", "job/a")}


def test_victims_of_preemption_are_waited_for() -> None:
    story = """
        0s capacity slot/x 2
        1s hold serving/low slot/x 2
        1s set serving/low endless preemptible priority=1
        2s wait job/high units slot/x 2
        2s set job/high preempts priority=9
    """
    assert firsts(story) == {"job/high": ("serving/low",)}
    assert rows(story)["job/high"].note == "goes on by preempting serving/low"


def test_a_stuck_alternative_is_not_named() -> None:
    story = """
        0s capacity slot/x 1
        1s wait task/a done task/b
        1s wait task/b done task/a
        1s hold job/r slot/x 1
        2s wait task/c any(done task/a; units slot/x 1)
    """
    assert firsts(story) == {"task/c": ("job/r",)}


def test_peers_that_have_not_arrived() -> None:
    story = """
        0s capacity slot/x 1
        1s hold job/r slot/x 1
        1s run rank/0
        2s wait rank/1 units slot/x 1
        3s wait rank/2 ready 2 of rank/0 rank/1
    """
    assert firsts(story)["rank/2"] == ("rank/1",)


def test_parts_that_fit_one_by_one_but_not_together() -> None:
    story = f"""{NODES}
        1s hold job/r gpu/n1 4
        2s wait job/w all(units gpu/n1 3; units gpu/n1 3)
    """
    assert firsts(story) == {"job/w": ("job/r",)}


def test_the_excuse_is_the_note() -> None:
    story = """
        0s capacity slot/x 1
        1s wait job/w units slot/x 5
        1s excuse job/w autoscaling nodes are being added
    """
    assert rows(story)["job/w"].note == "nodes are being added"
    assert rows(story)["job/w"].excuse is ExcuseKind.AUTOSCALING


def test_an_unknown_lifetime_is_said() -> None:
    story = """
        0s capacity slot/x 1
        1s hold pod/x/y slot/x 1
        1s set pod/x/y unknown
        2s wait job/w units slot/x 1
    """
    assert rows(story)["job/w"].note == "waits as long as pod/x/y lives: how long that is, is not known"


def test_a_row_names_at_most_so_many() -> None:
    holders = "\n".join(f"1s hold job/{number:02} slot/x 1" for number in range(50))
    found = firsts(f"0s capacity slot/x 50\n{holders}\n2s wait job/w units slot/x 50")
    assert found["job/w"] == tuple(f"job/{number:02}" for number in range(20))
