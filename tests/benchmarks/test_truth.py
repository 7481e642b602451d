"""Wrong answers are failures: a check that cannot fail proves nothing."""

import pytest
from msgspec.structs import replace

from benchmarks.plan import Plan, make_plan
from benchmarks.truth import Found, WrongAnswerError, check, expected


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(1000)


def test_the_planted_answer_is_right(plan: Plan) -> None:
    assert len(expected(plan)) == len(plan.knots) + len(plan.misfits)
    check(plan, reversed(expected(plan)), plan.queueing)


def test_a_missing_finding_is_wrong(plan: Plan) -> None:
    with pytest.raises(WrongAnswerError, match="not found"):
        check(plan, expected(plan)[1:], plan.queueing)


def test_a_further_finding_is_wrong(plan: Plan) -> None:
    with pytest.raises(WrongAnswerError, match="besides"):
        check(plan, [*expected(plan), Found("DEADLOCK", ("gang/a/b", "gang/a/c"), 0)], plan.queueing)


def test_a_bystander_among_the_members_is_wrong(plan: Plan) -> None:
    first, *rest = expected(plan)
    with pytest.raises(WrongAnswerError):
        check(plan, [Found(first.verdict, (*first.heart, "pod/team-00/bystander"), first.behind), *rest], plan.queueing)


def test_somebody_lost_from_the_queue_is_wrong(plan: Plan) -> None:
    with pytest.raises(WrongAnswerError, match="queue"):
        check(plan, expected(plan), plan.queueing - 1)
    with pytest.raises(WrongAnswerError):
        check(replace(plan, knots=plan.knots[:-1]), expected(plan), plan.queueing)
