"""Whether an answer is right: a fast wrong one is a failure, not a figure."""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.model.findings import Finding
from benchmarks.plan import Plan


class WrongAnswerError(Exception):
    """What was found is not what was planted."""


class Found(Struct, frozen=True):
    """What counts of a finding: its verdict, who is at its heart, and how many are blocked behind."""

    verdict: str
    heart: tuple[str, ...]
    behind: int


def found(findings: Iterable[Finding]) -> list[Found]:
    """Findings of the engine, cut to what is compared."""
    return [
        Found(one.verdict.value, tuple(map(str, one.members or (one.root or "",))), len(one.blocked_behind))
        for one in findings
    ]


def expected(plan: Plan) -> list[Found]:
    """What a right answer says about the plan."""
    knots = [Found("DEADLOCK", knot.members, knot.behind) for knot in plan.knots]
    return knots + [Found("UNPLACEABLE", (misfit,), 0) for misfit in plan.misfits]


def check(plan: Plan, answer: Iterable[Found], waiting: int) -> None:
    """Raises WrongAnswerError unless exactly what was planted was found, and `waiting` rows name all who queue."""
    want, got = set(map(_key, expected(plan))), set(map(_key, answer))
    if want != got:
        missing, extra = sorted(want - got)[:3], sorted(got - want)[:3]
        msg = f"wrong answer at {plan.pods:,} pods: not found {missing}, found besides {extra}"
        raise WrongAnswerError(msg)
    if waiting != plan.queueing:
        msg = f"wrong answer at {plan.pods:,} pods: {waiting} actors queue, {plan.queueing} were planted"
        raise WrongAnswerError(msg)


def _key(one: Found) -> tuple[str, tuple[str, ...], int]:
    return (one.verdict, one.heart, one.behind)
