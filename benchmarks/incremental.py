"""Row 4: an evaluation after one event, against the evaluation from scratch. Each kind of event has its own figure.

The engine knows the cluster and has looked. Then one thing happens (an event, or the few that belong to it) and it
looks again; both are timed. What happened is undone, untimed, before the next round, so that every round sees the same
cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from analyzer.engine import Engine
from analyzer.model.events import ActorGone, ActorObserved, Event, ResourceObserved, Tick
from analyzer.model.ids import ActorId, resource_on
from analyzer.model.limits import SECOND_NS
from benchmarks.engine import knowing
from benchmarks.evaluation import first_look
from benchmarks.journal import UNITS_OF_NODE, Writer, running_pods
from benchmarks.plan import AS_OF_NS, Gang, Group, Owner, Plan, gpu_shape, make_plan
from benchmarks.ratio import ratio_of, seconds
from benchmarks.rows import Figure, Row, Scale, figure, pods_text

BAR = 0.05
ROUNDS_PER_RUN = 4


class Happening(Struct, frozen=True):
    """One thing that happens: what to call it, its events, and those that undo it."""

    name: str
    events: tuple[Event, ...]
    undo: tuple[Event, ...]


Make = Callable[[Plan, Writer, int], Happening]


def pod_ends(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A pod of a finite job is done: its units were never counted on by anyone but those who queue."""
    pod = _nth_pod(plan, writer, Owner.JOB, turn)
    return Happening("a running pod ends", (_gone(pod),), (pod,))


def pod_starts(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A new pod is bound."""
    pod = _nth_pod(plan, writer, Owner.JOB, turn)
    fresh = replace(pod, actor=ActorId(f"{pod.actor}-next"))
    return Happening("a pod starts", (fresh,), (_gone(fresh),))


def pod_restated(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A resync says again what is known."""
    pod = _nth_pod(plan, writer, Owner.JOB, turn)
    return Happening("a running pod is restated", (pod,), ())


def pod_pends(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A further pod joins the queue for the batch pool."""
    waiting = ActorObserved(
        at_ns=AS_OF_NS,
        actor=ActorId(f"pod/team-00/late-{turn}"),
        wait=writer.wait(_first_of(plan, "batch", pending=False), 1),
        preemptible=True,
    )
    return Happening("a new pod pends", (waiting,), (_gone(waiting),))


def pod_placed(plan: Plan, writer: Writer, turn: int) -> Happening:
    """One of those who queue gets its node."""
    group = _first_of(plan, "batch", pending=True, turn=turn)
    before = next(writer.actors(group))
    holds = writer.holds(plan.pools["batch"][turn], group.shape)
    return Happening("a pending pod is placed", (replace(before, holds=holds, wait=None),), (before,))


def service_ends(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A pod of a Deployment goes: units come free that nobody had counted on."""
    pod = _nth_pod(plan, writer, Owner.DEPLOYMENT, turn)
    return Happening("a service's pod ends", (_gone(pod),), (pod,))


def node_arrives(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A node that nobody asks for by name."""
    del plan, writer
    units = [(resource_on(kind, f"gpu-new-{turn}"), count) for kind, count in UNITS_OF_NODE]
    there = tuple(ResourceObserved(at_ns=AS_OF_NS, resource=resource, units=count) for resource, count in units)
    return Happening("a node arrives", there, tuple(replace(event, units=0) for event in there))


def knot_gains(plan: Plan, writer: Writer, turn: int) -> Happening:
    """A gang behind a knot is taken away: the knot stays, fewer are blocked behind it."""
    knot = plan.knots[turn % len(plan.knots)]
    group = _first_of(plan, knot.pool, pending=True, empty=True)
    before = next(writer.actors(group))
    return Happening("somebody behind a knot gives up", (_gone(before),), (before,))


def knot_cured(plan: Plan, writer: Writer, turn: int) -> Happening:
    """The one member whose end lets the others go on is evicted; everybody behind gets a view again."""
    knot = plan.knots[turn % len(plan.knots)]
    victim = next(group for group in plan.groups if group.gang_name == knot.members[0])
    before = next(writer.actors(victim))
    return Happening("a knot is cured", (_gone(before),), (before,))


HAPPENINGS: tuple[Make, ...] = (
    pod_ends,
    pod_starts,
    pod_restated,
    pod_pends,
    pod_placed,
    service_ends,
    node_arrives,
    knot_gains,
    knot_cured,
)


def measure(scale: Scale) -> Sequence[Figure]:
    """Each kind of event, each against evaluations from scratch taken just before."""
    plan = make_plan(scale.largest, seed=scale.seed)
    writer = Writer(plan)
    scratch = [seconds(first_look(plan)) for _ in range(scale.runs)]
    engine = knowing(plan, looked=True)
    clock = iter(range(1, 1_000_000))
    figures = []
    for make in HAPPENINGS:
        pairs = []
        name = ""
        for run in range(scale.runs):
            happenings = [make(plan, writer, run * ROUNDS_PER_RUN + turn) for turn in range(ROUNDS_PER_RUN)]
            name = happenings[0].name
            middle = median(taken(engine, happening, clock) for happening in happenings)
            pairs.append((middle, scratch[run]))
        figures.append(figure(f"{pods_text(plan.pods)}: {name}", ratio_of(pairs), BAR))
    return figures


def taken(engine: Engine, happening: Happening, clock: Iterator[int]) -> float:
    """Seconds for the events and the look that follows. Undone, and looked at again, outside the time."""
    at_ns = AS_OF_NS + SECOND_NS * next(clock)
    events = [replace(event, at_ns=at_ns) for event in happening.events]

    def work() -> None:
        for event in events:
            engine.step(event)
        engine.step(Tick(at_ns=at_ns))

    spent = seconds(work)
    at_ns = AS_OF_NS + SECOND_NS * next(clock)
    for event in happening.undo:
        engine.step(replace(event, at_ns=at_ns))
    engine.step(Tick(at_ns=at_ns))
    return spent


def _gone(actor: ActorObserved) -> ActorGone:
    return ActorGone(at_ns=actor.at_ns, actor=actor.actor)


def _nth_pod(plan: Plan, writer: Writer, owner: Owner, turn: int) -> ActorObserved:
    for index, (group, pod) in enumerate(running_pods(plan, owner)):
        if index == 37 * turn:
            return writer.single(group, pod)
    raise ValueError(turn)


def _first_of(plan: Plan, pool: str, *, pending: bool, turn: int = 0, empty: bool = False) -> Group:
    """The `turn`-th group of single pods in the pool that has (or lacks) pending ones. `empty`: none is placed."""
    fitting = [
        group
        for group in plan.groups
        if group.pool == pool
        and group.gang is Gang.NONE
        and group.shape in map(gpu_shape, (1, 2, 4, 8))
        and bool(group.pending) is pending
        and not (empty and group.nodes)
        and group.owner is Owner.JOB
    ]
    return fitting[turn % len(fitting)]


ROW = Row(
    command="incremental",
    what="incremental evaluation after one event, same size",
    yardstick="the evaluation from scratch",
    bar="0.05x",
    measure=measure,
)
