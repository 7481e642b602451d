"""Row 3: one evaluation of a large cluster from scratch, at the engine's door.

An engine knows all 100,000 pods and has never looked; its first tick asks who can go on, runs the detectors and
writes the sentences of every finding. The yardstick builds a networkx graph from a prepared list of random edges and
condenses it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import networkx

from analyzer.engine import Engine
from analyzer.graph.cores import diagnose
from analyzer.model.events import ActorObserved, Event, ResourceObserved, Tick, Wait
from analyzer.model.ids import ActorId, resource_on
from analyzer.model.limits import Limits
from analyzer.model.requests import Pods
from analyzer.state.allocation import State
from benchmarks import truth
from benchmarks.engine import knowing
from benchmarks.journal import Writer
from benchmarks.objects import GPU
from benchmarks.plan import AS_OF_NS, GPUS_PER_NODE, HOUR_NS, NODE_CPU_MILLI, Plan, make_plan
from benchmarks.ratio import Work, compare
from benchmarks.rows import Figure, Row, Scale, figure, pods_text

EDGES_PER_POD = 5
BAR = 0.5
LOOK = Tick(at_ns=AS_OF_NS, open_ended=True)


def random_edges(pods: int, seed: int) -> list[tuple[int, int]]:
    """A random directed graph with as many nodes as there are pods and five times as many edges."""
    random = Random(seed)
    return [(random.randrange(pods), random.randrange(pods)) for _ in range(EDGES_PER_POD * pods)]


def condensing(pods: int, edges: list[tuple[int, int]]) -> Work:
    """The yardstick: build the graph, contract its strongly connected components."""

    def work() -> object:
        graph: networkx.DiGraph = networkx.DiGraph()
        graph.add_nodes_from(range(pods))
        graph.add_edges_from(edges)
        return networkx.condensation(graph)

    return work


def first_look(plan: Plan) -> Work:
    """The subject: the first tick of an engine that knows the plan. The engine outlives the time that is taken."""
    engine = knowing(plan, looked=False)

    def work() -> Engine:
        engine.step(LOOK)
        return engine

    return work


def measure(scale: Scale) -> Sequence[Figure]:
    """A mixed queue, one in which every waiting actor is stuck, and one great knot; also the diagnosis alone."""
    pods = scale.largest
    edges = random_edges(pods, scale.seed)
    figures = []
    for share, words in ((0.4, "2 of 5 waiting actors stuck"), (1.0, "all waiting actors stuck")):
        plan = make_plan(pods, seed=scale.seed, stuck_share=share)
        _prove(plan)
        case = f"{pods_text(pods)}, {plan.waiting:,} blocked, {words}"
        looked = compare(partial(first_look, plan), partial(condensing, pods, edges), scale.runs)
        figures.append(figure(case, looked, BAR))
        diagnosed = compare(partial(_diagnosing, plan), partial(condensing, pods, edges), scale.runs)
        figures.append(figure(f"{case}: diagnosis alone", diagnosed, None))
    _first_look_at_one_knot(pods, prove=True)
    knotted = compare(partial(_first_look_at_one_knot, pods), partial(condensing, pods, edges), scale.runs)
    case = f"{pods // 10:,} nodes, one knot of {pods // 80:,} gangs, {pods // 20 - pods // 80:,} behind it"
    return [*figures, figure(case, knotted, BAR)]


def one_knot(pods: int) -> Iterator[Event]:
    """The hardest shape: a tenth as many nodes as `pods` in one pool, all held by gangs that each want 8 further ones.

    A quarter of the waiting actors (a twentieth of `pods`) are members, the others wait for one node each.
    """
    nodes = tuple(f"gpu-{index:05d}" for index in range(pods // 10))
    each = (("cpu", 64_000), (GPU, GPUS_PER_NODE))
    yield from (
        ResourceObserved(at_ns=AS_OF_NS, resource=resource_on(kind, node), units=units)
        for node in nodes
        for kind, units in (("cpu", NODE_CPU_MILLI), (GPU, GPUS_PER_NODE))
    )
    since_ns = AS_OF_NS - HOUR_NS
    for first in range(0, len(nodes), 8):
        mine = nodes[first : first + 8]
        holds = tuple(sorted((resource_on(kind, node), units) for node in mine for kind, units in each))
        wait = Wait(request=Pods(8, each, nodes), since_ns=since_ns)
        name = ActorId(f"gang/team-00/part-{first:05d}")
        yield ActorObserved(at_ns=AS_OF_NS, actor=name, holds=holds, wait=wait, gpus=8 * len(mine))
    for index in range(pods // 20 - pods // 80):
        wait = Wait(request=Pods(1, each, nodes), since_ns=since_ns)
        yield ActorObserved(at_ns=AS_OF_NS, actor=ActorId(f"pod/team-01/behind-{index:05d}"), wait=wait)


def _first_look_at_one_knot(pods: int, *, prove: bool = False) -> Work:
    engine = Engine()
    for event in one_knot(pods):
        engine.step(event)
    if prove:
        engine.step(LOOK)
        [one] = engine.findings()
        if (len(one.finding.members), len(one.finding.blocked_behind)) != (pods // 80, pods // 20 - pods // 80):
            raise truth.WrongAnswerError(f"wrong answer about one great knot: {one.finding.summary}")
    return lambda: engine.step(LOOK)


def _prove(plan: Plan) -> None:
    """The first look of a fresh engine is right."""
    engine = knowing(plan, looked=False)
    engine.step(LOOK)
    truth.check(plan, truth.found(one.finding for one in engine.findings()), len(engine.waiting()))


def _diagnosing(plan: Plan) -> Work:
    state = State()
    for event in Writer(plan).events():
        state.apply(event)
    return lambda: diagnose(state, Limits())


ROW = Row(
    command="evaluation",
    what="one evaluation from scratch at 10,000 nodes, 100,000 pods, 5,000 blocked actors",
    yardstick="networkx building and condensing a random graph of 100,000 nodes, 500,000 edges",
    bar="0.5x",
    measure=measure,
)
