"""A node is shut by spread for good only if nobody is left who could even it out, made already or not."""

from typing import Any

import pytest

from analyzer.model.requests import Pods
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.objects import KubeObject
from tests.kubernetes.translating.making import MINUTE_NS, START_NS, World, meta, node, pod, read, seen, world

HOST = "kubernetes.io/hostname"
EVENLY = {
    "maxSkew": 1,
    "topologyKey": HOST,
    "whenUnsatisfiable": "DoNotSchedule",
    "nodeAffinityPolicy": "Ignore",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
UNEVEN = (
    "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
    "1 node(s) didn't match pod topology spread constraints."
)


def things(app: str, replicas: int) -> tuple[KubeObject, ...]:
    """A pod that may only go where its like is already, and a controller that is to make so many more."""
    template = {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "m"}]}}
    more = {"metadata": meta("more", uid="ReplicaSet/more"), "spec": {"replicas": replicas, "template": template}}
    two = {"metadata": meta("web", uid="ReplicaSet/web"), "spec": {"replicas": 2, "template": template}}
    here = {"nodeSelector": {HOST: "n-0"}, "topologySpreadConstraints": [EVENLY]}
    there: dict[str, Any] = {"owner": "ReplicaSet/web", "restart": "Always", "gpu": 0, "labels": {"app": "web"}}
    return (
        *(node(name, labels={HOST: name}) for name in ("n-0", "n-1")),
        read("ReplicaSet", more),
        read("ReplicaSet", two),
        pod("web-0", on="n-0", **there),
        pod("web-1", says=UNEVEN, spec=here, **there),
    )


def is_shut(told: World) -> bool:
    wait = told.actors["pod/team/web-1"].wait
    assert wait is not None
    return not isinstance(wait.request, Pods)


@pytest.mark.parametrize(
    ("app", "replicas", "shut"),
    [("web", 0, True), ("web", 1, False), ("other", 1, True)],
    ids=["nobody is to come", "one more is to be made", "one is to be made that does not count"],
)
def test_pods_that_are_still_to_be_made_may_even_it_out(app: str, replicas: int, *, shut: bool) -> None:
    told = world(*things(app, replicas))
    assert is_shut(told) is shut


def test_it_is_looked_at_again_when_a_controller_is_to_make_more() -> None:
    cluster, reader = Cluster(), World()
    for observation in seen(things("web", 0)):
        cluster.apply(observation)
    assert is_shut(reader.take(cluster.restate(START_NS + 9 * MINUTE_NS)))
    for replicas in (1, 0):
        _, _, more, *_ = things("web", replicas)
        for observation in seen((more,)):
            cluster.apply(observation)
        assert is_shut(reader.take(cluster.restate(START_NS + 10 * MINUTE_NS))) is (replicas == 0)
