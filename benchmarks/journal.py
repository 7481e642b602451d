"""The same plan as engine events: what a perfect source would say of the cluster, and what may happen to it next.

Resources are named as the Kubernetes source names them. Tuples that many actors share (holds of one shape on one node,
the candidates of a pool) are one object, as a source makes them.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

import msgspec
from msgspec.structs import replace

from analyzer.model.events import ActorGone, ActorObserved, Citation, Event, Holds, Lifetime, ResourceObserved, Wait
from analyzer.model.ids import ActorId, ResourceId, resource_on
from analyzer.model.limits import SECOND_NS
from analyzer.model.requests import Pods
from benchmarks.objects import GPU
from benchmarks.plan import (
    AS_OF_NS,
    GPUS_PER_NODE,
    NODE_CPU_MILLI,
    NODE_MEMORY_MI,
    NODE_PODS,
    Group,
    Owner,
    Plan,
    Shape,
)
from benchmarks.pods import Phase, Pod, pods_of

UNITS_OF_NODE = (("cpu", NODE_CPU_MILLI), ("memory", NODE_MEMORY_MI), (GPU, GPUS_PER_NODE), ("pods", NODE_PODS))
CITATIONS_MAX = 20


class Writer:
    """Turns groups into actors; remembers shared tuples."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._holds: dict[tuple[str, Shape], Holds] = {}
        self._records = 0

    def events(self) -> Iterator[Event]:
        """The whole cluster once: its nodes, then its actors."""
        for index, (node, _) in enumerate(self.plan.nodes):
            for kind, units in UNITS_OF_NODE:
                yield ResourceObserved(
                    at_ns=AS_OF_NS, resource=resource_on(kind, node), units=units, citations=((0, index),)
                )
        for group in self.plan.groups:
            yield from self.actors(group)

    def actors(self, group: Group) -> Iterator[ActorObserved]:
        """A gang is one actor, else each pod is one. A finished pod is none."""
        members = [pod for pod in pods_of(group) if pod.phase is not Phase.SUCCEEDED]
        if not group.gang:
            yield from (self.single(group, pod) for pod in members)
        elif members:
            yield self.gang(group, [pod.node for pod in members if pod.node], group.pending)

    def single(self, group: Group, pod: Pod) -> ActorObserved:
        """One pod that stands for itself."""
        endless = group.owner is not Owner.JOB
        return ActorObserved(
            at_ns=AS_OF_NS,
            actor=ActorId(f"pod/{group.namespace}/{pod.name}"),
            holds=self.holds(pod.node, group.shape) if pod.node else (),
            wait=None if pod.node else self.wait(group, 1),
            lifetime=Lifetime.ENDLESS if endless else Lifetime.FINITE,
            gpus=group.shape.gpus if pod.node else 0,
            preemptible=True,
            recreated=endless,
            running_since_ns=group.created_ns if pod.node else None,
            citations=self._citations(1),
        )

    def gang(self, group: Group, nodes: Sequence[str], pending: int) -> ActorObserved:
        """All pods of a gang as one: the sum of what they hold, and one request for those that are missing."""
        total: dict[ResourceId, int] = {}
        for node in nodes:
            for resource, units in self.holds(node, group.shape):
                total[resource] = total.get(resource, 0) + units
        return ActorObserved(
            at_ns=AS_OF_NS,
            actor=ActorId(group.gang_name),
            holds=tuple(sorted(total.items())),
            wait=self.wait(group, pending) if pending else None,
            gpus=group.shape.gpus * len(nodes),
            preemptible=True,
            running_since_ns=group.created_ns if nodes else None,
            citations=self._citations(min(group.size, CITATIONS_MAX)),
        )

    def wait(self, group: Group, pending: int) -> Wait:
        """So many further pods of the group's shape on nodes of its pool."""
        among = self.plan.pools[group.pool] if group.pool else tuple(node for node, _ in self.plan.nodes)
        return Wait(request=Pods(pending, _units(group.shape), among), since_ns=group.created_ns)

    def holds(self, node: str, shape: Shape) -> Holds:
        """What a pod of this shape holds on the node: one tuple for all of them."""
        key = (node, shape)
        if key not in self._holds:
            self._holds[key] = tuple(sorted((resource_on(kind, node), units) for kind, units in _units(shape)))
        return self._holds[key]

    def _citations(self, count: int) -> tuple[Citation, ...]:
        self._records += count
        return tuple((1, self._records - count + index) for index in range(count))


def _units(shape: Shape) -> tuple[tuple[str, int], ...]:
    units = [("cpu", shape.cpu_milli), ("memory", shape.memory_mi), (GPU, shape.gpus), ("pods", 1)]
    return tuple(sorted((kind, count) for kind, count in units if count))


def churn(plan: Plan, count: int, *, seed: int = 7, per_second: int = 2000) -> Iterator[Event]:
    """What an ordinary day says once the cluster is known: `count` events about single pods of finite jobs.

    In turn: a pod ends, another starts in its place, a third is restated unchanged. Event time moves on by a second
    every `per_second` events. The truth about knots does not change.
    """
    writer, random = Writer(plan), Random(seed)
    slots = list(running_pods(plan, Owner.JOB))
    current = [writer.single(group, pod) for group, pod in slots]
    slot = 0
    for number in range(count):
        at_ns = AS_OF_NS + SECOND_NS * (1 + number // per_second)
        if number % 3 == 0:
            slot = random.randrange(len(slots))
            yield ActorGone(at_ns=at_ns, actor=current[slot].actor, citations=((1, number),))
            continue
        if number % 3 == 1:
            name = ActorId(f"pod/{slots[slot][0].namespace}/{slots[slot][1].name}-{number}")
        else:
            slot = random.randrange(len(slots))
            name = current[slot].actor
        current[slot] = replace(current[slot], at_ns=at_ns, actor=name, citations=((1, number),))
        yield current[slot]


def running_pods(plan: Plan, owner: Owner) -> Iterator[tuple[Group, Pod]]:
    """Bound pods that each stand for themselves."""
    for group in plan.groups:
        if group.owner is owner and not group.gang:
            yield from ((group, pod) for pod in pods_of(group) if pod.phase is Phase.RUNNING)


def lines(events: Iterable[Event]) -> list[bytes]:
    """Journal lines: each event as JSON, to be decoded again as the yardstick of the engine."""
    encode = msgspec.json.Encoder().encode
    return [encode(event) for event in events]
