"""Actors that wait for each other, or for what they hold themselves, and cannot go on whatever anybody else does.

Detects: a core, that is the members of one component of the wait-for graph that stay stuck even if everyone outside
it could go on. One member alone blocks itself: it takes a lock twice, its own helpers ate its quota. A cycle alone is
not enough: where units are interchangeable, a third holder may return what is lacking. Covers rings over units, over
the end of other actors and over their arrival, all, any or k of n of these, nested.

Why it matters: nothing inside frees itself. The members and everyone behind them hold GPUs that compute nothing,
until a timeout or a person stops one of them.

Assumes: whoever can go on will at some time give back what it holds, unless it is declared endless (a service, a
notebook, a daemon). An endless one that is stuck itself does not work yet and can be stopped: it is a member. A
holder of unknown lifetime counts as ending, and the text names it. Actors that the input does not know count as ended
or arrived.

Not reported: queueing for units that a running job will return; a ring with a way out through another node, holder or
alternative; waits that somebody is already acting upon (preemption, autoscaling, a drain); rings younger than the
hold time. Those who merely wait behind the ring are listed apart and are no members.

Remedy: stop one member. The actions say whose eviction frees what and who then runs, cheapest first. An evicted one
is not ready: in a ring of mere readiness the order of the start must change. Where a member ends at a deadline, the
ring is soft and dissolves by then. A ring that only the order of a queue closes is soft too: let one go before
the other.

Reference: graph reduction for multi-unit resources, see analyzer/graph/README.md; hard and soft edges after
PostgreSQL's lock manager.
"""

from collections.abc import Iterator

from analyzer.detectors.evidence import about_waits
from analyzer.model.findings import Finding, Rule, Severity, Verdict
from analyzer.state.view import View

RULE = Rule(
    id="deadlock",
    verdict=Verdict.DEADLOCK,
    severity=Severity.CRITICAL,
    summary="Actors wait for each other and stay stuck whatever everyone else does.",
)


def detect(view: View) -> Iterator[Finding]:
    """One finding per core, in the order of the diagnosis."""
    for core in view.diagnosis.cores:
        yield about_waits(RULE, view, core, view.diagnosis.behind.get(core[0], ()), root=None)
