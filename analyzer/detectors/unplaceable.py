"""An actor that asks for more, or for another shape, than can ever be free.

Detects: a stuck actor that stays stuck even if every other stuck actor had ended and given back what it holds, be it
finite or a service that has not started; endless holders that run keep theirs. Typical: enough GPUs in total but not
in one place, a gang larger than the cluster, quota that admits what no node can take, a volume that lives on a node
without room, a step after a service that never ends.

Of one owner (a Job, say) those that lack the same thing make one finding, not one for each of its pods.

Why it matters: waiting does not help, and whoever is queued behind its quota or its place waits in vain as well.

Assumes: services, notebooks and daemons stay; capacity stays as it is (no autoscaler has said that it is acting).

Not reported: a request that fits once finite holders end; units that the actor holds itself and asks for once more
(a lock taken twice: it is deadlocked with itself); a request that preemption can serve; anything where the
input lacks nodes that the scheduler counts, or where the scheduler's own words contradict what we see.

Remedy: ask for a smaller or another shape, move or shrink an endless holder, add capacity; the text gives the
numbers. Where others wait behind it, stopping it lets them run.

Reference: fragmentation and the gap between quota and placement; analyzer/graph/README.md on unsatisfiable requests.
"""

from collections.abc import Iterator

from analyzer.detectors import dead_end
from analyzer.model.findings import Finding, Rule, Severity, Verdict
from analyzer.state.view import View

RULE = Rule(
    id="unplaceable",
    verdict=Verdict.UNPLACEABLE,
    severity=Severity.WARNING,
    summary="An actor asks for more, or for another shape, than can ever be free.",
)


def detect(view: View) -> Iterator[Finding]:
    """One finding per root, or per owner whose roots lack the same, by name."""
    yield from dead_end.findings(RULE, view, orphaned=False)
