"""The invented clusters: exactly as large as asked, the same for the same seed, and consistent in themselves."""

from collections import Counter

import pytest

from benchmarks.plan import GPUS_PER_NODE, NODE_CPU_MILLI, NODE_PODS, Owner, Plan, make_plan
from benchmarks.pods import Phase, pods_of


@pytest.fixture(scope="module", params=[(200, 0.4), (300, 1.0), (2000, 0.4), (5000, 1.0)], ids=str)
def plan(request: pytest.FixtureRequest) -> Plan:
    pods, stuck_share = request.param
    return make_plan(pods, stuck_share=stuck_share)


def test_a_plan_has_as_many_pods_nodes_and_waiting_actors_as_asked(plan: Plan) -> None:
    assert sum(group.size for group in plan.groups) == plan.pods
    assert sum(1 for _ in plan.nodes) == plan.pods // 10
    assert plan.waiting == plan.pods // 20


def test_the_waiting_actors_are_those_of_knots_those_behind_misfits_and_those_who_queue(plan: Plan) -> None:
    stuck = sum(len(knot.members) + knot.behind for knot in plan.knots) + len(plan.misfits)
    assert plan.waiting == stuck + plan.queueing


def test_names_of_actors_and_pods_are_used_once(plan: Plan) -> None:
    names = [(group.namespace, pod.name) for group in plan.groups for pod in pods_of(group)]
    assert len(set(names)) == plan.pods


def test_no_node_is_overbooked_and_every_gpu_outside_of_serving_is_taken(plan: Plan) -> None:
    gpus: Counter[str] = Counter()
    cpus: Counter[str] = Counter()
    pods: Counter[str] = Counter()
    for group in plan.groups:
        for pod in pods_of(group):
            if pod.phase is Phase.RUNNING:
                gpus[pod.node] += group.shape.gpus
                cpus[pod.node] += group.shape.cpu_milli
                pods[pod.node] += 1
    assert max(cpus.values()) <= NODE_CPU_MILLI
    assert max(pods.values()) <= NODE_PODS
    assert {gpus[node] for node, _ in plan.nodes} == {GPUS_PER_NODE}


def test_a_knot_is_one_no_member_has_its_nodes_and_together_they_have_all(plan: Plan) -> None:
    by_name = {group.gang_name: group for group in plan.groups if group.gang}
    for knot in plan.knots:
        members = [by_name[name] for name in knot.members]
        assert sum(len(member.nodes) for member in members) == len(plan.pools[knot.pool])
        assert all(0 < member.pending == len(plan.pools[knot.pool]) - len(member.nodes) for member in members)


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    assert make_plan(600, seed=3) == make_plan(600, seed=3)
    assert make_plan(600, seed=3).groups != make_plan(600, seed=4).groups


def test_daemon_sets_are_on_every_node(plan: Plan) -> None:
    daemons = [group for group in plan.groups if group.owner is Owner.DAEMON_SET]
    assert all(set(group.nodes) == {node for node, _ in plan.nodes} for group in daemons)


def test_a_cluster_too_small_for_its_knots_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 200 pods"):
        make_plan(100)
