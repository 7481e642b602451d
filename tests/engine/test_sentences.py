"""Words, requests in words, prices: what a tired person reads."""

import pytest

from analyzer.explain import words
from analyzer.explain.needs import each_pod, needs
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import SECOND_NS
from analyzer.model.requests import Arrivals, KOutOfN, Pods, Units, all_of
from tests.scenarios.requests import parse_request

A, B, C = ActorId("gang/x/a"), ActorId("gang/x/b"), ActorId("pod/y/c")


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("units slot/all 43", "43 of slot/all"),
        ("units memory/n1 8589934592", "8 GiB memory on n1"),
        ("units millicpu/n1 250", "0.25 cpu on n1"),
        ("units pods/n1 1", "1 pod on n1"),
        ("units quota/red/q/requests.cpu 2500", "2.5 cores of quota/red/q/requests.cpu"),
        ("units quota/red/q/limits.cpu 1000", "1 core of quota/red/q/limits.cpu"),
        ("units quota/red/q/requests.memory 68719476736", "64 GiB of quota/red/q/requests.memory"),
        ("units quota/red/q/requests.nvidia.com/gpu 8", "8 of quota/red/q/requests.nvidia.com/gpu"),
        ("units quota/red/pods 3", "3 of quota/red/pods"),
        ("units nvidia.com/gpu/n1 4", "4 nvidia.com/gpu on n1"),
        ("pods 2 of nvidia.com/gpu 8 on n1 n2 n3 n4", "2 pods of 8 nvidia.com/gpu each on 4 nodes"),
        ("pods 1 of nvidia.com/gpu 8 on n1 n2 n3 n4", "1 pod of 8 nvidia.com/gpu on one of 4 nodes"),
        ("pods 1 of gpu 1 on n1", "1 pod of 1 gpu on n1"),
        ("pods 2 of cpu 2, gpu 1 on n1 n2 max 1", "2 pods of 1 gpu and 2 cpu each on 2 nodes, at most 1 on each"),
        ("pods 1 of gpu 1 on nothing", "1 pod of 1 gpu"),
        ("done pod/x/y", "the end of pod/x/y"),
        ("ready 2 of a b c", "2 of a, b or c to be ready"),
        ("ready 2 of a b", "a and b to be ready"),
        ("never its node is gone", "an end that never comes (its node is gone)"),
        ("all(units q 1; done d)", "1 of q and the end of d"),
        ("any(units q 1; all(done d; done e))", "either 1 of q or (the end of d and the end of e)"),
        ("at least 2(done a; done b; done c)", "2 of these: the end of a, the end of b and the end of c"),
    ],
)
def test_requests_in_words(request_text: str, told: str) -> None:
    assert needs(parse_request(request_text)) == told


def test_strange_requests_still_have_words() -> None:
    assert needs(KOutOfN(0, ())) == "nothing"
    assert needs(KOutOfN(1, ())) == "1 of only 0 possibilities"
    assert needs(Arrivals((), 1)) == "1 of nobody to be ready"
    assert needs(Pods(1, (), ("n1",))) == "1 pod of no counted resource on n1"
    assert each_pod((("pods", 1), ("gpu", 2))) == "2 gpu"


def test_long_lists_become_numbers() -> None:
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b"], last="or") == "a or b"
    assert words.listed(list("abcde")) == "a, b, c, d and e"
    assert words.listed(list("abcdefg")) == "a, b, c, d and 3 more"


def test_names_lose_their_kind_where_all_share_it() -> None:
    assert words.short_names([A, B])(A) == "x/a"
    assert words.short_names([A, C])(A) == "gang/x/a"
    assert words.short_names([ActorId("gang/a"), ActorId("gang/b")])(ActorId("gang/a")) == "gang/a"
    assert words.group([A, B]) == "two gangs"
    assert words.group([A, C]) == "two actors"
    assert words.group([ActorId("slurm-job/c/7")] * 13) == "13 Slurm jobs"


def test_holds_are_summed_over_places_cards_first() -> None:
    holds = [("cpu/n1", 4), ("gpu/n1", 8), ("gpu/n2", 8)]
    named = [(ResourceId(one), count) for one, count in holds]
    assert words.held(named) == "16 gpu on n1 and n2"
    assert words.held(named, {"cpu"}) == "16 gpu on n1 and n2 and 4 cpu on n1"
    assert words.held(named[:1]) == "4 cpu on n1"
    assert words.held([(ResourceId("lock/a"), 1), (ResourceId("lock/b"), 1)]) == "1 of lock/a and 1 of lock/b"
    assert words.units_of(8000, ResourceId("millicpu/n1")) == "8 cpu on n1"
    assert words.held([]) == "nothing"


@pytest.mark.parametrize(
    ("seconds", "told"), [(-5, "0 s"), (45, "45 s"), (720, "12 min"), (12_600, "3.5 h"), (181_440, "2.1 days")]
)
def test_spans_of_time(seconds: int, told: str) -> None:
    assert words.span(seconds * SECOND_NS) == told


def test_what_a_slurm_job_needs_is_told_in_nodes() -> None:
    job, nodes = ActorId("slurm-job/lab/7"), ("n1", "n2", "n3")
    eight = (("cpu", 1), ("gpu", 8))
    told = {
        needs(Pods(1, eight, nodes), job): "1 node (of 3) with 8 gpu and 1 cpu",
        needs(Pods(2, eight, nodes, 1), job): "2 nodes (of 3) with 8 gpu and 1 cpu each",
        needs(Pods(1, eight, ("n1",)), job): "8 gpu and 1 cpu on n1",
        needs(Pods(16, (("gpu", 1),), nodes), job): "16 gpu on any of 3 nodes",
        needs(Pods(2, (("plan", 1),), nodes), job): "2 further nodes in its plan",
        needs(all_of((Pods(1, eight, nodes), Units(ResourceId("license/mesh"), 2))), job): (
            "1 node (of 3) with 8 gpu and 1 cpu and 2 of license/mesh"
        ),
    }
    assert list(told) == list(told.values())
    assert needs(Pods(2, eight, nodes)) == "2 pods of 8 gpu and 1 cpu each on 3 nodes"
