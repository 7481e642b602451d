"""Small situations that a person can check by hand, each for one sentence of the README."""

from msgspec.structs import replace

from analyzer.graph.cores import Diagnosis, WaitFor, diagnose
from analyzer.graph.liveness import liveness
from analyzer.graph.paths import witness_cycle
from analyzer.graph.victims import releases
from analyzer.model.events import ActorObserved, Excuse, ExcuseKind, Lifetime, ResourceObserved, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units, all_of, any_of
from analyzer.state.allocation import State

CPU = ResourceId("cpu/all")
GPU = ResourceId("gpu/all")


def system(units: dict[str, int], *actors: ActorObserved) -> State:
    state = State()
    for name in units:
        state.apply(ResourceObserved(at_ns=0, resource=ResourceId(name), units=units[name]))
    for actor in actors:
        state.apply(actor)
    return state


def actor(
    name: str,
    needs: Request | None = None,
    *,
    endless: bool = False,
    excuse: Excuse | None = None,
    priority: int = 0,
    preempts: bool = False,
    preemptible: bool = False,
    **holds: int,
) -> ActorObserved:
    wait = None if needs is None else Wait(request=needs, since_ns=0, excuse=excuse, preempts=preempts)
    return ActorObserved(
        at_ns=0,
        actor=ActorId(name),
        holds=tuple(sorted((ResourceId(key.replace("__", "/")), count) for key, count in holds.items())),
        wait=wait,
        lifetime=Lifetime.ENDLESS if endless else Lifetime.FINITE,
        priority=priority,
        preemptible=preemptible,
    )


def named(names: str) -> list[ActorId]:
    """Actors by their names, one each between blanks."""
    return [ActorId(name) for name in names.split()]


def diagnosed(state: State) -> Diagnosis:
    return diagnose(state, Limits())


def test_a_driver_that_waits_for_an_executor_it_leaves_no_room_for() -> None:
    found = diagnosed(
        system({"cpu/all": 2}, actor("driver", Done(ActorId("exec")), cpu__all=1), actor("exec", Units(CPU, 2)))
    )
    assert found.cores == (("driver", "exec"),)
    assert found.edges == (
        WaitFor(ActorId("driver"), ActorId("exec"), None, 0),
        WaitFor(ActorId("exec"), ActorId("driver"), CPU, 1),
    )


def test_a_lock_taken_twice_is_a_core_of_one() -> None:
    lock = ResourceId("lock/a")
    for endless in (False, True):
        nested = actor("nested", Units(lock, 1), lock__a=1, endless=endless)
        state = system({"lock/a": 1}, nested, actor("other", Units(lock, 1)))
        found = diagnosed(state)
        assert (found.unsatisfiable, found.cores, found.behind) == ((), (("nested",),), {"nested": ("other",)})
        assert witness_cycle(found.edges, named("nested")) == ("nested",)
        assert found.edges[0] == WaitFor(ActorId("nested"), ActorId("nested"), lock, 1)
        cures = releases(state, Limits(), named("nested"), among_stuck=found.stuck)
        assert [(cure.actor, cure.then_runs) for cure in cures] == [("nested", ("other",))]
    alone = system({"lock/a": 1}, nested)
    assert releases(alone, Limits(), named("nested"), among_stuck=named("nested")) == ()


def test_a_gang_larger_than_the_cluster_is_unsatisfiable_though_it_holds_most_of_it() -> None:
    nodes = ("n1", "n2", "n3", "n4")
    more = Pods(2, (("gpu", 8),), nodes)
    units = {**{f"gpu/{node}": 8 for node in nodes}, "lock/a": 1}
    huge = actor("huge", more, gpu__n1=8, gpu__n2=8, gpu__n3=8)
    assert diagnosed(system(units, huge)).unsatisfiable == ("huge",)
    both = all_of([more, Units(ResourceId("lock/a"), 1)])
    huge = actor("huge", both, gpu__n1=8, gpu__n2=8, gpu__n3=8, lock__a=1)
    assert diagnosed(system(units, huge)).unsatisfiable == ("huge",)


def test_more_units_than_exist_are_unsatisfiable_whatever_one_holds() -> None:
    assert diagnosed(system({"gpu/all": 8}, actor("gang", Units(GPU, 9), gpu__all=4))).unsatisfiable == ("gang",)
    assert diagnosed(system({"gpu/all": 8}, actor("gang", Units(GPU, 8), gpu__all=4))).cores == (("gang",),)


def test_own_units_serve_units_before_pods_and_never_pods() -> None:
    def both(units: int) -> Request:
        return all_of([Units(ResourceId("gpu/n1"), units), Pods(1, (("gpu", 4),), ("n1",))])

    assert diagnosed(system({"gpu/n1": 8}, actor("a", both(4), gpu__n1=4))).cores == (("a",),)
    assert diagnosed(system({"gpu/n1": 8}, actor("a", both(5), gpu__n1=4))).unsatisfiable == ("a",)


def test_nobody_blocks_itself_whom_others_can_give_enough() -> None:
    found = diagnosed(
        system(
            {"gpu/all": 8, "lock/a": 1},
            actor("a", all_of([Units(GPU, 4), Units(ResourceId("lock/a"), 1)]), gpu__all=4),
            actor("b", Units(GPU, 8), lock__a=1, gpu__all=1),
            actor("c", Never("gone"), gpu__all=3),
        )
    )
    assert found.unsatisfiable == ("c",)
    assert not any(edge.waiter == edge.holder == "a" for edge in found.edges)
    assert any(edge.waiter == edge.holder == "b" for edge in found.edges)


def test_a_service_that_waits_is_part_of_the_knot_and_one_that_runs_is_not() -> None:
    slot = ResourceId("slot/a")
    ready = Arrivals((ActorId("db"),), 1)
    state = system({"slot/a": 1}, actor("svc", ready, endless=True, slot__a=1), actor("db", Units(slot, 1)))
    assert diagnosed(state).cores == (("db", "svc"),)
    cures = releases(state, Limits(), named("db svc"), among_stuck=named("db svc"))
    assert [(cure.actor, cure.then_runs) for cure in cures] == [("svc", ("db",))]
    running = system({"slot/a": 1}, actor("svc", endless=True, slot__a=1), actor("db", Units(slot, 1)))
    assert diagnosed(running).unsatisfiable == ("db",)
    excuse = Excuse(ExcuseKind.STARTING, "it starts")
    live = actor("svc", ready, endless=True, slot__a=1, excuse=excuse)
    assert diagnosed(system({"slot/a": 1}, live, actor("db", Units(slot, 1)))).unsatisfiable == ("db",)


def test_half_placed_services_are_a_core_and_one_of_them_can_be_stopped() -> None:
    halves = [actor(name, Units(GPU, 4), gpu__all=4, endless=True) for name in "ab"]
    state = system({"gpu/all": 8}, *halves)
    assert diagnosed(state).cores == (("a", "b"),)
    cures = releases(state, Limits(), named("a b"), among_stuck=named("a b"))
    assert [(cure.actor, cure.then_runs) for cure in cures] == [("a", ("b",)), ("b", ("a",))]


def test_whoever_needs_a_service_behind_a_root_is_behind_that_root() -> None:
    found = diagnosed(
        system(
            {"slot/a": 1, "lock/a": 1},
            actor("dead", Never("its node is gone"), lock__a=1),
            actor("svc", Units(ResourceId("lock/a"), 1), endless=True, slot__a=1),
            actor("job", Units(ResourceId("slot/a"), 1)),
        )
    )
    assert (found.unsatisfiable, found.behind) == (("dead",), {"dead": ("job", "svc")})


def test_who_is_evicted_has_ended_but_is_not_ready() -> None:
    ring = [actor("a", Arrivals((ActorId("b"),), 1)), actor("b", Arrivals((ActorId("a"),), 1))]
    assert releases(system({}, *ring), Limits(), named("a b"), among_stuck=named("a b")) == ()
    either = actor("c", Arrivals((ActorId("a"), ActorId("x")), 1))
    assert releases(system({}, *ring, either), Limits(), named("a b"), among_stuck=named("a b c")) == ()
    ends = [actor("a", Done(ActorId("b"))), actor("b", Done(ActorId("a")))]
    cures = releases(system({}, *ends), Limits(), named("a b"), among_stuck=named("a b"))
    assert [(cure.actor, cure.then_runs) for cure in cures] == [("a", ("b",)), ("b", ("a",))]


def test_an_unsatisfiable_holder_can_be_evicted_for_those_behind_it() -> None:
    greedy = actor("greedy", Units(GPU, 9), gpu__all=4)
    state = system({"gpu/all": 8}, greedy, actor("next", Units(GPU, 8)))
    found = diagnosed(state)
    assert (found.unsatisfiable, found.behind) == (("greedy",), {"greedy": ("next",)})
    cures = releases(state, Limits(), named("greedy"), among_stuck=found.stuck)
    assert [(cure.actor, cure.then_runs) for cure in cures] == [("greedy", ("next",))]


def test_bystanders_are_behind_and_change_nothing_about_the_core() -> None:
    found = diagnosed(
        system(
            {"gpu/all": 8},
            actor("a", Units(GPU, 4), gpu__all=4),
            actor("b", Units(GPU, 4), gpu__all=4),
            actor("c", Units(GPU, 1)),
        )
    )
    assert found.cores == (("a", "b"),)
    assert found.behind == {"a": ("c",)}


def test_an_upstream_ring_is_a_core_of_its_own() -> None:
    locks = {f"lock/{name}": 1 for name in "abcd"}
    found = diagnosed(
        system(
            locks,
            actor("a", all_of([Units(ResourceId("lock/b"), 1), Units(ResourceId("lock/c"), 1)]), lock__a=1),
            actor("b", Units(ResourceId("lock/a"), 1), lock__b=1),
            actor("c", Units(ResourceId("lock/d"), 1), lock__c=1),
            actor("d", Units(ResourceId("lock/c"), 1), lock__d=1),
        )
    )
    assert found.cores == (("a", "b"), ("c", "d"))


def test_a_knot_needs_every_alternative_to_lead_back() -> None:
    ring = [
        actor("a", any_of([Units(ResourceId("lock/b"), 1), Units(ResourceId("lock/c"), 1)]), lock__a=1),
        actor("b", Units(ResourceId("lock/a"), 1), lock__b=1),
    ]
    locks = {f"lock/{name}": 1 for name in "abc"}
    assert diagnosed(system(locks, *ring, actor("c", lock__c=1))).stuck == ()
    found = diagnosed(system(locks, *ring, actor("c", Units(ResourceId("lock/b"), 1), lock__c=1)))
    assert found.cores == (("a", "b", "c"),)


def test_a_ring_of_readiness_holds_nothing() -> None:
    found = diagnosed(
        system(
            {},
            actor("a", Arrivals((ActorId("b"),), 1), endless=True),
            actor("b", Arrivals((ActorId("a"),), 1), endless=True),
        )
    )
    assert found.cores == (("a", "b"),)


def test_gangs_of_gangs_need_enough_groups_of_enough_pods() -> None:
    each = (("gpu", 8),)
    group = KOutOfN(2, tuple(Pods(1, each, (f"n{number}",)) for number in range(3)))
    nodes = {f"gpu/n{number}": 8 for number in range(3)}
    assert diagnosed(system(nodes, actor("inner", group))).stuck == ()
    assert diagnosed(system(nodes, actor("outer", KOutOfN(2, (group, group))))).unsatisfiable == ("outer",)


def test_parts_are_met_jointly_or_not_at_all() -> None:
    each = (("gpu", 4),)
    both = all_of([Pods(1, each, ("n1",)), Units(ResourceId("gpu/n1"), 6)])
    assert diagnosed(system({"gpu/n1": 9}, actor("a", both))).unsatisfiable == ("a",)
    assert diagnosed(system({"gpu/n1": 10}, actor("a", both))).stuck == ()


def test_what_waits_for_the_end_of_a_service_waits_for_ever() -> None:
    found = diagnosed(system({}, actor("task", Done(ActorId("service"))), actor("service", endless=True)))
    assert found.unsatisfiable == ("task",)


def test_whom_nobody_has_heard_of_counts_as_ended() -> None:
    assert diagnosed(system({}, actor("task", Done(ActorId("pod/x/unknown"))))).stuck == ()


def test_an_excuse_lets_an_actor_count_as_live() -> None:
    excuse = Excuse(ExcuseKind.AUTOSCALING, "a node is on its way")
    state = system(
        {"gpu/all": 8}, actor("a", Units(GPU, 4), gpu__all=4, excuse=excuse), actor("b", Units(GPU, 4), gpu__all=4)
    )
    assert liveness(state, Limits()).order == ("a", "b")


def test_a_dead_holder_is_the_root_of_those_behind_it() -> None:
    found = diagnosed(
        system(
            {"lock/a": 1},
            actor("dead", Never("its node is gone"), lock__a=1),
            actor("next", Units(ResourceId("lock/a"), 1)),
        )
    )
    assert (found.unsatisfiable, found.behind) == (("dead",), {"dead": ("next",)})


def test_preemption_reaches_only_less_important_preemptible_holders() -> None:
    for priority, preemptible, live in ((1, True, False), (0, True, True), (0, False, False)):
        holder = actor("svc", gpu__all=8, endless=True, priority=priority, preemptible=preemptible)
        state = system({"gpu/all": 8}, holder, actor("train", Units(GPU, 8), priority=1, preempts=True))
        assert bool(liveness(state, Limits()).live) is live


def test_releases_fall_back_to_pairs() -> None:
    three = [actor(name, Units(GPU, 8), gpu__all=4) for name in "abc"]
    state = system({"gpu/all": 12}, *three)
    names = [ActorId(name) for name in "abc"]
    found = releases(state, Limits(), names, among_stuck=names)
    assert [(one.actor, one.together_with, one.then_runs) for one in found] == [
        ("a", ("b",), ("c",)),
        ("b", ("a",), ("c",)),
    ]


def test_a_shortest_ring_is_shown_from_its_smallest_member() -> None:
    steps = [("d", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("c", "b")]
    edges = [WaitFor(ActorId(one), ActorId(other), GPU, 1) for one, other in steps]
    assert witness_cycle(edges, [ActorId(name) for name in "abcd"]) == ("b", "c")
    assert witness_cycle(edges[:2], [ActorId(name) for name in "abcd"]) == ()


def test_a_long_chain_and_a_long_ring_need_no_recursion() -> None:
    count = 3000
    units = {f"lock/{number:04}": 1 for number in range(count)}
    ring = [
        replace(
            actor(f"a/{number:04}", Units(ResourceId(f"lock/{(number + 1) % count:04}"), 1)),
            holds=((ResourceId(f"lock/{number:04}"), 1),),
        )
        for number in range(count)
    ]
    assert [len(core) for core in diagnosed(system(units, *ring)).cores] == [count]
    order = liveness(system({**units, "lock/0000": 2}, *ring), Limits()).order
    assert (len(order), order[0]) == (count, f"a/{count - 1:04}")


def test_a_crowded_core_lists_few_edges_and_keeps_its_ring() -> None:
    members = [actor(f"gang/{number:03}", Units(GPU, 3), gpu__all=2) for number in range(200)]
    found = diagnosed(system({"gpu/all": 401}, *members))
    assert [len(core) for core in found.cores] == [200]
    assert len(found.edges) == 200 * Limits().edges_per_waiter_max
    assert len(witness_cycle(found.edges, found.cores[0])) == 2
