"""An actor that holds units and has no step left: dead, evicted, without its owner.

Detects: a stuck actor that holds something and whose request can never be met by anything that happens in the cluster
(a source states it as such: a lock whose owner died, a pod that is being deleted on a node that is gone, quota booked
for pods that do not exist). It is the root; those who wait for its units are blocked behind it.

Why it matters: there is no ring and nobody to preempt, so no scheduler ends it. What it holds is lost until a person
or a controller removes the record.

Assumes: the source saw that nobody will finish the job. Deletions within their grace period, finalizers that are
served as a routine and drains under way are no such thing.

Not reported: an actor without a step that holds nothing (it is reported as unplaceable); a slow but living holder.

Remedy: remove the holder's record: force the deletion, take away the finalizer, release the lock, correct the
booking. The actions say who then runs.

Reference: orphaned locks; invariants between bookings and living pods.
"""

from collections.abc import Iterator

from analyzer.detectors import dead_end
from analyzer.model.findings import Finding, Rule, Severity, Verdict
from analyzer.state.view import View

RULE = Rule(
    id="orphaned-hold",
    verdict=Verdict.ORPHANED_HOLD,
    severity=Severity.CRITICAL,
    summary="An actor holds units and has no step left; they never come back by themselves.",
)


def detect(view: View) -> Iterator[Finding]:
    """One finding per root, or per owner whose roots lack the same, by name."""
    yield from dead_end.findings(RULE, view, orphaned=True)
