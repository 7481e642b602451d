"""What the files say, one statement at a time: objects as they were seen, and what the scheduler's log tells.

`at_ns` is event time in nanoseconds since 1970 UTC. Pods in log statements are named `namespace/name`.
"""

from collections.abc import Sequence

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.objects import KubeObject, Pod


class Seen(Struct, frozen=True):
    """The whole object as it was at that time. `gone`: it was removed, and this is how it was last.

    Of an object in a list only the end of the recording is known as its time; of an event, when it was last said.
    """

    at_ns: int
    object: KubeObject
    gone: bool
    citation: Citation


class Listed(Struct, frozen=True):
    """Pods of one list, told at once: each as `Seen` would tell it. `records` are theirs in the document."""

    at_ns: int
    pods: Sequence[Pod]
    document: int
    records: Sequence[int]


class PodUnschedulable(Struct, frozen=True):
    """The scheduler tried and found no place; `message` is its reason (`0/4 nodes are available: ...`)."""

    at_ns: int
    pod: str
    message: str
    citation: Citation


class PodReserved(Struct, frozen=True):
    """The scheduler keeps a place for the pod in its own memory and waits for the rest of its gang (Permit).

    It does so until the next statement of another kind about the pod: bound, released, or tried anew.
    `node` is empty where the line does not name it; `timeout_ns` is how long it will wait, None if not said.
    """

    at_ns: int
    pod: str
    node: str
    timeout_ns: int | None
    citation: Citation


class PodReleased(Struct, frozen=True):
    """The scheduler gave up the place that it had kept; `message` says why."""

    at_ns: int
    pod: str
    message: str
    citation: Citation


class PodBound(Struct, frozen=True):
    """The pod was given its node for good."""

    at_ns: int
    pod: str
    node: str
    citation: Citation


class PodNominated(Struct, frozen=True):
    """Preemption makes room for the pod on this node."""

    at_ns: int
    pod: str
    node: str
    citation: Citation


class PodPreempted(Struct, frozen=True):
    """`pod` was evicted so that `preemptor` gets its place."""

    at_ns: int
    pod: str
    preemptor: str
    node: str
    citation: Citation


class SchedulerAttempt(Struct, frozen=True):
    """The scheduler begins to look at the pod; it has done so that many times since this was last said."""

    at_ns: int
    pod: str
    times: int
    citation: Citation


LogStatement = PodUnschedulable | PodReserved | PodReleased | PodBound | PodNominated | PodPreempted | SchedulerAttempt
Observation = Seen | LogStatement
