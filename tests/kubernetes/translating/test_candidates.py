"""Which nodes come into question for a pod."""

from typing import Any

import msgspec
import pytest

from analyzer.sources.kubernetes.candidates import Candidates, constraints_of, node_facts
from analyzer.sources.kubernetes.objects import Node, PodSpec
from tests.kubernetes.translating.making import START_NS, node

NODES = {
    "plain": node("plain", labels={"zone": "a", "generation": "3"}),
    "tainted": node("tainted", labels={"zone": "b"}, taints=[{"key": "team", "value": "red", "effect": "NoSchedule"}]),
    "evicting": node("evicting", labels={"zone": "b"}, taints=[{"key": "bad", "effect": "NoExecute"}]),
    "softly": node("softly", labels={"zone": "c"}, taints=[{"key": "x", "effect": "PreferNoSchedule"}]),
    "cordoned": node("cordoned", labels={"zone": "c"}, unschedulable=True),
}
READY = ("plain", "softly")


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def needs(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


CASES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("nothing said", {}, READY),
    ("selector", {"nodeSelector": {"zone": "a"}}, ("plain",)),
    ("selector that nobody matches", {"nodeSelector": {"zone": "z"}}, ()),
    ("In", affinity(needs("zone", "In", "a", "b")), ("plain",)),
    ("NotIn holds where the label is missing", affinity(needs("other", "NotIn", "x")), READY),
    ("Exists", affinity(needs("generation", "Exists")), ("plain",)),
    ("DoesNotExist", affinity(needs("generation", "DoesNotExist")), ("softly",)),
    ("Gt", affinity(needs("generation", "Gt", "2")), ("plain",)),
    ("Lt", affinity(needs("generation", "Lt", "3")), ()),
    ("Gt of what is no number", affinity(needs("zone", "Gt", "2")), ()),
    ("one of the terms", affinity(needs("zone", "In", "a"), needs("zone", "In", "c")), READY),
    ("an empty term matches nothing", affinity({}), ()),
    (
        "a node by name",
        affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["softly"]}]}),
        ("softly",),
    ),
    ("an operator of the future is no obstacle", affinity(needs("zone", "Like", "a")), READY),
    ("tolerated by value", {"tolerations": [{"key": "team", "value": "red"}]}, ("plain", "softly", "tainted")),
    ("not by another value", {"tolerations": [{"key": "team", "value": "blue"}]}, READY),
    ("not by another effect", {"tolerations": [{"key": "team", "operator": "Exists", "effect": "NoExecute"}]}, READY),
    (
        "everything is tolerated, the cordon too",
        {"tolerations": [{"operator": "Exists"}]},
        ("cordoned", "evicting", "plain", "softly", "tainted"),
    ),
]


@pytest.mark.parametrize(("_story", "spec", "among"), CASES, ids=[case[0] for case in CASES])
def test_choice(_story: str, spec: dict[str, Any], among: tuple[str, ...]) -> None:
    candidates = Candidates()
    for thing in NODES.values():
        assert isinstance(thing, Node)
        candidates.put(node_facts(thing))
    assert candidates.choose(constraints_of(msgspec.convert(spec, PodSpec))).among == among


def test_equal_constraints_share_one_tuple() -> None:
    candidates = Candidates()
    for name in ("n-1", "n-0"):
        thing = node(name)
        assert isinstance(thing, Node)
        candidates.put(node_facts(thing))
    one = candidates.choose(constraints_of(PodSpec()))
    other = candidates.choose(
        constraints_of(msgspec.convert({"tolerations": [{"key": "x", "operator": "Exists"}]}, PodSpec))
    )
    assert one.among == ("n-0", "n-1")
    assert one.among is other.among


def test_a_node_that_is_not_ready_is_away_since_its_condition_says() -> None:
    away = msgspec.convert(
        {
            "kind": "Node",
            "metadata": {"name": "n", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]},
            "status": {
                "conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-02T03:00:00Z"}]
            },
        },
        Node,
    )
    candidates = Candidates()
    candidates.put(node_facts(away))
    choice = candidates.choose(constraints_of(PodSpec()))
    assert choice.among == ()
    assert choice.away == (("n", START_NS),)
