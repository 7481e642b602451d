"""Pods that must be near to others, apart from them, or evenly spread: whom terms mean, and that nothing goes stale."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.events import ExcuseKind
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods
from analyzer.sources.kubernetes.company import company_of, crowd_has, terms_of
from analyzer.sources.kubernetes.likeness import Likeness
from analyzer.sources.kubernetes.objects import KubeObject, Pod
from analyzer.sources.kubernetes.objects.pod import PodAffinityTerm, TopologySpread
from analyzer.sources.kubernetes.observations import Listed, Observation, Seen
from analyzer.sources.kubernetes.records import Records
from analyzer.sources.kubernetes.store import Store
from tests.kubernetes.translating.making import START_NS, World, excuse_of, known_in_the_end, node, pod, read, world
from tests.kubernetes.translating.test_incremental import COMPANY, SHUNNED, beside

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SHUT = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."


def term(**fields: Any) -> PodAffinityTerm:
    made = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "a"}}, **fields}
    return msgspec.convert(made, PodAffinityTerm)


NAMESPACES = {"team": {"env": "x"}, "bare": {}}
SCOPES: list[tuple[str, dict[str, Any], str, bool]] = [
    ("its own namespace", {}, "team", True),
    ("no other", {}, "bare", False),
    ("a named one", {"namespaces": ["bare"]}, "bare", True),
    ("and then not its own", {"namespaces": ["bare"]}, "team", False),
    ("all, by an empty selector", {"namespaceSelector": {}}, "anywhere", True),
    ("by labels", {"namespaceSelector": {"matchLabels": {"env": "x"}}}, "team", True),
    ("labels that are not there", {"namespaceSelector": {"matchLabels": {"env": "x"}}}, "bare", False),
    ("a namespace that was not handed over", {"namespaceSelector": {"matchLabels": {"env": "x"}}}, "anywhere", False),
    (
        "every namespace has its name as a label",
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "anywhere"}}},
        "anywhere",
        True,
    ),
    ("named or by labels", {"namespaces": ["bare"], "namespaceSelector": {"matchLabels": {"env": "x"}}}, "team", True),
]


@pytest.mark.parametrize(("case", "said", "namespace", "expected"), SCOPES, ids=[case for case, *_ in SCOPES])
def test_namespaces(case: str, said: dict[str, Any], namespace: str, *, expected: bool) -> None:
    (found,) = terms_of([term(**said)], "team", {})
    assert crowd_has(found.crowd, namespace, {"app": "a"}, NAMESPACES) is expected, case


def test_where_nobody_knows_whoever_it_must_be_near_to_may_be_there() -> None:
    said = [term(namespaceSelector={"matchLabels": {"env": "x"}})]
    (near,) = terms_of(said, "team", {}, unseen=True)
    assert crowd_has(near.crowd, "anywhere", {"app": "a"}, NAMESPACES)


SELECTORS: list[tuple[str, dict[str, Any] | None, dict[str, str], bool]] = [
    ("In", {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, {"app": "b"}, True),
    ("NotIn without the label", {"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["1"]}]}, {}, True),
    ("Exists", {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, {}, False),
    ("DoesNotExist", {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, {}, True),
    ("all must hold", {"matchLabels": {"app": "a", "tier": "x"}}, {"app": "a"}, False),
    ("an empty one means everybody", {}, {}, True),
]


@pytest.mark.parametrize(("case", "selector", "labels", "expected"), SELECTORS, ids=[case for case, *_ in SELECTORS])
def test_selectors(case: str, selector: dict[str, Any], labels: dict[str, str], *, expected: bool) -> None:
    (found,) = terms_of([term(labelSelector=selector)], "team", {})
    assert crowd_has(found.crowd, "team", labels, NAMESPACES) is expected, case


def test_a_term_without_a_selector_means_nobody() -> None:
    assert terms_of([term(labelSelector=None)], "team", {}) == ()


def test_keys_of_its_own_labels_narrow_it_down() -> None:
    labels = {"app": "a", "rev": "1"}
    (same,) = terms_of([term(matchLabelKeys=["rev", "absent"])], "team", labels)
    (other,) = terms_of([term(mismatchLabelKeys=["rev"])], "team", labels)
    for crowd, rev, expected in ((same.crowd, "1", True), (same.crowd, "2", False), (other.crowd, "1", False)):
        assert crowd_has(crowd, "team", {"app": "a", "rev": rev}, {}) is expected
    # As newer servers write it into the selector themselves, saying it twice is saying it once.
    written = {"key": "rev", "operator": "In", "values": ["1"]}
    merged = term(matchLabelKeys=["rev"], labelSelector={"matchLabels": {"app": "a"}, "matchExpressions": [written]})
    assert terms_of([merged], "team", labels) == (terms_of([term(matchLabelKeys=["rev"])], "team", labels))


def test_pods_of_a_job_share_their_company() -> None:
    spread = msgspec.convert(
        {"topologyKey": ZONE, "maxSkew": 1, "labelSelector": {"matchLabels": {"app": "a"}}}, TopologySpread
    )
    one, two = (company_of(((term(),), (), (spread,)), "team", {"app": "a", "index": n}, {}, ()) for n in ("1", "2"))
    assert one == two
    assert one is not None
    assert one.siblings == (HOST,)
    assert one.spread[0].counts


def test_pods_without_terms_have_none() -> None:
    assert company_of(((), (), ()), "team", {"app": "a"}, {}, ()) is None


# --- requests ---------------------------------------------------------------------------------------------------------


def service(name: str, on: str = "", **more: Any) -> KubeObject:
    """A pod of a StatefulSet: it never ends."""
    return pod(name, on=on, gpu=0, owner="StatefulSet/db", restart="Always", labels={"app": "a"}, **more)


NODES = (node("n-0", labels={HOST: "n-0", ZONE: "a"}), node("n-1", labels={HOST: "n-1", ZONE: "b"}))
DB = {"metadata": {"name": "db", "namespace": "team", "uid": "StatefulSet/db"}, "spec": {"replicas": 3}}
SETS = (read("StatefulSet", DB),)


def asked(told: World, actor: str = "pod/team/w") -> Any:
    wait = told.actors[actor].wait
    assert wait is not None
    return wait.request


def test_a_node_with_an_endless_neighbour_is_out_and_one_with_a_finite_one_is_not() -> None:
    waiter = pod("w", gpu=0, says=SHUT, labels={"app": "a"}, spec=beside("podAntiAffinity", "a"))
    told = world(*NODES, *SETS, service("s", on="n-0"), pod("b", on="n-1", gpu=0, labels={"app": "a"}), waiter)
    request = asked(told)
    assert isinstance(request, Pods)
    assert request.among == ("n-1",)


def test_a_neighbour_in_a_gang_must_see_its_gang_end() -> None:
    gang: dict[str, Any] = {
        "annotations": {"knotwatch.dev/min-available": "2"},
        "labels": {"knotwatch.dev/gang": "g", "app": "a"},
    }
    waiter = pod("w", gpu=0, says=SHUT, spec=beside("podAntiAffinity", "a"))
    told = world(*NODES, *SETS, service("s", on="n-0"), pod("g-0", on="n-1", gpu=0, **gang), waiter)
    request = asked(told)
    assert isinstance(request, KOutOfN)
    assert [type(part) for part in request.parts] == [Pods, Done]


def test_all_nodes_out_says_why() -> None:
    waiter = pod("w", gpu=0, says=SHUT, spec=beside("podAntiAffinity", "a"))
    request = asked(world(*NODES, *SETS, service("s", on="n-0"), service("t", on="n-1"), waiter))
    assert isinstance(request, KOutOfN)
    assert request.k == 1
    place, why = request.parts
    assert isinstance(place, Pods)
    assert place.among == ()
    assert isinstance(why, Never)
    assert why.why == "no node is open to it: on 2 nodes pods that it must not be beside (app=a) run for good"


def test_who_preempts_need_not_shun_the_less_important() -> None:
    spec = {**beside("podAntiAffinity", "a"), "priority": 9}
    said = SHUT + " preemption: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
    services = (service("s", on="n-0"), service("t", on="n-1"))
    request = asked(world(*NODES, *SETS, *services, pod("w", gpu=0, says=said, spec=spec)))
    assert isinstance(request, Pods)
    assert request.among == ("n-0", "n-1")


def test_somebody_to_be_near_to_who_waits() -> None:
    waiter = pod("w", gpu=0, says=SHUT, spec=beside("podAffinity", "a"))
    request = asked(world(*NODES, waiter, pod("x", says=SHUNNED, labels={"app": "a"})))
    assert isinstance(request, KOutOfN)
    assert Arrivals((ActorId("pod/team/x"),), 1) in request.parts


def test_nobody_to_be_near_to_is_a_blind_spot() -> None:
    told = world(*NODES, pod("w", gpu=0, says=SHUT, spec=beside("podAffinity", "a")))
    assert excuse_of(told, "pod/team/w") is ExcuseKind.BLIND


def test_a_running_pod_with_terms_is_still_plain() -> None:
    """The fast lane takes pods whose terms are those of the pod before."""
    store = Store()
    made = [service(f"s-{n}", on="n-0", spec=beside("podAntiAffinity", "a")) for n in range(3)]
    pods = [one for one in made if isinstance(one, Pod)]
    records = Records()
    likeness = Likeness(records.shapes)
    likeness.learn(records.of(pods[0], (0, 0)))
    assert [likeness.record(one, (0, 0)) == records.of(one, (0, 0)) for one in pods] == [True] * 3
    store.take(Listed(START_NS, pods, 0, range(3)))
    assert store.index.apart == {"team/s-0", "team/s-1", "team/s-2"}


# --- over time --------------------------------------------------------------------------------------------------------


@st.composite
def changes(draw: st.DrawFn) -> Observation:
    """Pods that come, move, change and go, on nodes whose labels change."""
    if draw(st.integers(0, 9)) == 0:
        labels = {HOST: "n-1", **draw(st.sampled_from(({}, {"pool": "x"}, {"pool": "y"})))}
        return Seen(START_NS, node("n-1", labels=labels), gone=False, citation=(1, 0))
    name = draw(st.sampled_from(("p-0", "p-1", "p-2", "w-0", "w-1")))
    waits = name.startswith("w") and draw(st.booleans())
    made = pod(
        name,
        on="" if waits else draw(st.sampled_from(("n-0", "n-1"))),
        gpu=0,
        says=SHUNNED if waits else "",
        owner=draw(st.sampled_from(("StatefulSet/db", "", "Job/j"))),
        labels={"app": draw(st.sampled_from(("a", "b")))},
        spec=draw(st.sampled_from(({}, *COMPANY))),
        annotations=draw(st.sampled_from(({}, {}, {"knotwatch.dev/min-available": "2", "knotwatch.dev/gang": "g"}))),
    )
    return Seen(START_NS, made, gone=draw(st.integers(0, 5)) == 0, citation=(1, draw(st.integers(0, 9))))


@given(parts=st.lists(st.lists(changes(), max_size=4), min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_piecewise_and_at_once_say_the_same_of_neighbours(parts: list[list[Observation]]) -> None:
    before: list[Observation] = [
        Seen(START_NS, node("n-0", labels={HOST: "n-0", "pool": "x"}), gone=False, citation=(0, 0))
    ]
    before += [Seen(START_NS, one, gone=False, citation=(0, 1)) for one in SETS]
    cuts = [before, *parts]
    assert known_in_the_end(cuts, 61) == known_in_the_end([[one for part in cuts for one in part]], 61)
