"""The fast lanes say what the slow roads say: of records, of actors, and of whole recordings."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.events import ActorObserved
from analyzer.sources.kubernetes.actors import HoldsCache
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.likeness import Likeness
from analyzer.sources.kubernetes.lone_needs import LoneNeeds
from analyzer.sources.kubernetes.names import pod_actor
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.observations import Listed, Observation, Seen
from analyzer.sources.kubernetes.plain_pods import PlainPods
from analyzer.sources.kubernetes.records import Records
from analyzer.sources.kubernetes.singles import Context, build_bound
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import need_of
from tests.kubernetes.translating.making import NO_ROOM, START, START_NS, World, node, pod, time
from tests.kubernetes.translating.test_incremental import MARKS, NODES, observations

OWNERS = ("ReplicaSet/web-1", "ReplicaSet/web-1", "Job/a", "StatefulSet/db", "Pod/c", "PyTorchJob/t", "")
RESOURCES: tuple[dict[str, Any], ...] = (
    {"requests": {"nvidia.com/gpu": "8"}},
    {"requests": {"cpu": "4", "nvidia.com/gpu": "2"}},
    {"requests": {"cpu": "4"}, "limits": {"cpu": "4"}},
)


def usually(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """The first value most of the time, else one of the others."""
    return st.integers(0, 9).flatmap(lambda n: st.sampled_from(others) if n == 0 else st.just(usual))


@st.composite
def likely_pods(draw: st.DrawFn) -> Pod:
    """Pods of a few controllers, most of them alike; any of what decides may be different."""
    container: dict[str, Any] = {"resources": draw(st.sampled_from(RESOURCES))}
    container |= draw(usually({}, {"ports": [{"hostPort": 80}]}, {"command": ["torchrun"]}))
    made = pod(
        f"p-{draw(st.integers(0, 30))}",
        on=draw(usually("n-0", "n-1", "")),
        ready=draw(st.booleans()),
        phase=draw(usually("", "Pending", "Succeeded", "Failed")),
        restart=draw(usually("Always", "Never")),
        claims=draw(usually((), ("data",))),
        owner=draw(st.sampled_from(OWNERS)),
        namespace=draw(usually("team", "other", "")),
        spec={
            "containers": [container] * draw(usually(1, 2)),
            "initContainers": draw(usually([], [container])),
            "priority": draw(st.sampled_from((None, 0, 7))),
            "priorityClassName": draw(usually("", "high")),
            "activeDeadlineSeconds": draw(usually(None, 60)),
            "schedulingGroup": draw(usually(None, {"podGroupName": "pg"})),
        },
        status={"startTime": draw(usually(START, time(7), None))},
        deletionTimestamp=draw(usually(None, time(60))),
        **draw(usually(MARKS[0], *MARKS[1:])),
    )
    assert isinstance(made, Pod)
    return made


@given(pods=st.lists(likely_pods(), max_size=40))
@settings(max_examples=200, deadline=None)
def test_a_record_by_likeness_is_the_record(pods: list[Pod]) -> None:
    records = Records()
    likeness = Likeness(records.shapes)
    for number, one in enumerate(pods):
        fast, slow = likeness.record(one, (0, number)), records.of(one, (0, number))
        assert fast is None or (fast == slow and slow.plain)
        likeness.learn(slow)


def test_all_but_the_first_of_a_controller_go_by_the_fast_lane() -> None:
    pods = [pod(f"p-{n}", on=f"n-{n}", owner="ReplicaSet/web") for n in range(9)]
    records = Records()
    likeness = Likeness(records.shapes)
    taken = 0
    for one in pods:
        assert isinstance(one, Pod)
        taken += likeness.record(one, (0, 0)) is not None
        likeness.learn(records.of(one, (0, 0)))
    assert taken == 8
    likeness.forget("ReplicaSet/web")
    assert isinstance(pods[0], Pod)
    assert likeness.record(pods[0], (0, 0)) is None


def filled(parts: Sequence[Observation], pods: Sequence[Pod]) -> Store:
    store = Store()
    for name in NODES:
        store.apply(Seen(START_NS, node(name), gone=False, citation=(1, 0)))
    store.take(Listed(START_NS, pods, 0, range(len(pods))))
    for one in parts:
        store.apply(one)
    return store


def context_of(store: Store) -> Context:
    now_ns = START_NS + 600 * 10**9
    return Context(store, now_ns, LoneNeeds(store, now_ns), HoldsCache(), {}, {}, {})


@given(parts=st.lists(observations(), max_size=12), pods=st.lists(likely_pods(), max_size=20))
@settings(max_examples=200, deadline=None)
def test_a_plain_pod_is_built_as_any_bound_pod(parts: list[Observation], pods: list[Pod]) -> None:
    store = filled(parts, pods)
    context = context_of(store)
    plain = [store.pods[key] for key in sorted(store.pods)]
    plain = [record for record in plain if record.plain and record.key not in store.preempted]
    lane = PlainPods(context.holds)
    for record in plain:
        if record.key not in store.by_parent:
            expected = build_bound(context, record, pod_actor(record.key)).actor
            assert lane.build_one(context, record) == expected
    silent = [record for record in plain if not store.activity.speaks_of(record.key)]
    assert lane.build(context, silent) == [lane.build_one(context, record) for record in silent]


@given(parts=st.lists(observations(), max_size=12), said=st.lists(st.sampled_from((NO_ROOM, "x")), max_size=6))
@settings(max_examples=100, deadline=None)
def test_pods_that_are_alike_need_the_same(parts: list[Observation], said: list[str]) -> None:
    pending = [pod(f"w-{n}", says=words, gpu=8 - n % 2 * 6) for n, words in enumerate(said)]
    store = filled(parts, [one for one in pending if isinstance(one, Pod)])
    context = context_of(store)
    for key in sorted(store.pods):
        record = store.pods[key]
        if record.pending is not None:
            assert context.needs.of(record) == need_of(store, (record,), 1, context.now_ns)


@given(
    looks=st.lists(st.tuples(st.lists(likely_pods(), max_size=12), st.lists(observations(), max_size=4)), max_size=4)
)
@settings(max_examples=200, deadline=None)
def test_told_at_once_or_one_by_one_is_the_same(looks: list[tuple[list[Pod], list[Observation]]]) -> None:
    at_once, one_by_one, reader = Cluster(), Cluster(), World()
    for number, (pods, others) in enumerate(looks):
        at_ns = START_NS + number * 61 * 10**9
        at_once.take(Listed(at_ns, pods, 0, range(len(pods))))
        for record, one in enumerate(pods):
            one_by_one.apply(Seen(at_ns, one, gone=False, citation=(0, record)))
        for observation in others:
            at_once.apply(observation)
            one_by_one.apply(observation)
        told = at_once.restate(at_ns)
        assert told == one_by_one.restate(at_ns)
        reader.take(told)


def test_actors_come_in_the_order_of_their_names() -> None:
    cluster = Cluster()
    pods = [pod(f"p-{n}", on="n-0", owner=OWNERS[n % 4]) for n in (5, 3, 8, 1, 2)]
    cluster.take(Listed(START_NS, [one for one in pods if isinstance(one, Pod)], 0, range(5)))
    told = [event.actor for event in cluster.restate(START_NS) if isinstance(event, ActorObserved)]
    assert told == sorted(told)
    assert len(told) == 5
