"""The contract of mechanisms: what they are shown, and what becomes of what they say."""

from collections.abc import Mapping

import pytest

from analyzer.model.events import (
    ActorGone,
    ActorObserved,
    Certainty,
    Citation,
    Excuse,
    ExcuseKind,
    ResourceObserved,
    Wait,
)
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import KOutOfN, Never, Units, all_of
from analyzer.sources.kubernetes import cluster as clusters
from analyzer.sources.kubernetes.actors import Built
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.gang_burdens import burdened_wait
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look, Mechanism
from analyzer.sources.kubernetes.objects import KubeObject, Pod
from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.store import Store
from tests.kubernetes.translating.making import NO_ROOM, START_NS, meta, node, pod, read

LOCK = ResourceId("lock/team/one")
STUCK = Wait(request=Units(LOCK, 1), since_ns=START_NS, said="locked")


class Locks(Mechanism):
    """A toy: a `Lock.example.org` named like a pod keeps that pod from starting."""

    kinds = frozenset({"Lock.example.org"})

    def __init__(self) -> None:
        self.locked: dict[str, Citation] = {}
        self.shown: list[tuple[str, bool]] = []

    @property
    def awake(self) -> bool:
        return bool(self.locked)

    def take(self, seen: Seen) -> None:
        key = f"team/{seen.object.metadata.name}"
        if seen.gone:
            self.locked.pop(key, None)
        else:
            self.locked[key] = seen.citation

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        assert pod.metadata.name == record.name
        self.shown.append((record.name, gone))

    def look(self, store: Store, now_ns: int) -> Look:
        if not self.locked:
            return NOTHING
        assert self.locked.keys() <= store.pods.keys()
        burdens: Mapping[str, Burden] = {
            key: Burden(wait=STUCK, needs=STUCK.request, certainty=Certainty.SUSPECTED, citations=(citation,))
            for key, citation in self.locked.items()
        }
        holder = ActorObserved(at_ns=now_ns, actor=ActorId("lock/team/one"), holds=((LOCK, 1),))
        return Look(actors=(Built(actor=holder),), burdens=burdens, units={LOCK: (1, ())})


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Locks:
    made = Locks()
    monkeypatch.setattr(clusters, "MECHANISMS", (lambda: made,))
    return made


def lock(name: str) -> KubeObject:
    return read("Lock", {"apiVersion": "example.org/v1", "metadata": meta(name)})


def tell(cluster: Cluster, *objects: KubeObject, gone: bool = False) -> None:
    for number, thing in enumerate(objects):
        cluster.apply(Seen(START_NS, thing, gone, (7, number)))


def actors(cluster: Cluster) -> dict[str, ActorObserved]:
    return {one.actor: one for one in cluster.restate(START_NS + 1) if isinstance(one, ActorObserved)}


def test_a_burden_makes_a_running_pod_wait_and_its_end_lets_it_go(locks: Locks) -> None:
    cluster = Cluster()
    tell(cluster, node("n-0"), pod("a", on="n-0"), lock("a"))
    told = actors(cluster)
    assert told["pod/team/a"].wait == STUCK
    assert told["pod/team/a"].certainty is Certainty.SUSPECTED
    assert (7, 2) in told["pod/team/a"].citations
    assert told["lock/team/one"].holds == ((LOCK, 1),)
    tell(cluster, lock("a"), gone=True)
    events = cluster.restate(START_NS + 2)
    assert [one.wait for one in events if isinstance(one, ActorObserved)] == [None]
    assert [one.actor for one in events if isinstance(one, ActorGone)] == ["lock/team/one"]
    assert [(one.resource, one.units) for one in events if isinstance(one, ResourceObserved)] == [(LOCK, 0)]
    assert locks.locked == {}


def test_a_pending_pod_needs_both_its_place_and_what_the_burden_names(locks: Locks) -> None:
    cluster = Cluster()
    tell(cluster, node("n-0"), pod("a", says=NO_ROOM), lock("a"))
    wait = actors(cluster)["pod/team/a"].wait
    assert wait is not None
    assert isinstance(wait.request, KOutOfN)
    assert wait.request.parts[-1] == Units(LOCK, 1)
    assert wait.request.k == len(wait.request.parts)
    assert locks.awake


def test_what_is_unchanged_is_not_said_again(locks: Locks) -> None:
    cluster = Cluster()
    tell(cluster, node("n-0"), pod("a", on="n-0"), lock("a"))
    cluster.restate(START_NS + 1)
    assert cluster.restate(START_NS + 2) == []
    assert locks.awake


def test_only_pods_out_of_the_ordinary_are_shown_and_once_more_when_that_is_over(locks: Locks) -> None:
    cluster = Cluster()
    tell(cluster, pod("plain", on="n-0"), pod("a", on="n-0", ready=False))
    tell(cluster, pod("a", on="n-0"), pod("a", on="n-0"), pod("plain", on="n-0"))
    assert locks.shown == [("a", False), ("a", False)]
    tell(cluster, pod("a", on="n-0", ready=False), pod("plain", on="n-0"))
    tell(cluster, pod("a", on="n-0"), gone=True)
    assert locks.shown[2:] == [("a", False), ("a", True)]


@pytest.mark.parametrize(("spare", "expected"), [(2, 0), (1, 1), (0, 2), (-1, 2)])
def test_a_gang_can_do_without_as_many_burdened_members_as_it_has_to_spare(spare: int, expected: int) -> None:
    wait = burdened_wait(None, (Burden(wait=STUCK), Burden(wait=STUCK)), (), spare)
    parts = (STUCK.request, STUCK.request)
    expectations = {0: None, 1: KOutOfN(1, parts), 2: all_of(parts)}
    assert (None if wait is None else wait.request) == expectations[expected]


def test_a_gang_is_excused_if_enough_of_its_burdened_members_are() -> None:
    excused = Burden(wait=Wait(request=Never("x"), since_ns=5, excuse=Excuse(ExcuseKind.STARTING, "it starts")))
    wait = burdened_wait(None, (excused, Burden(wait=STUCK)), (), 1)
    assert wait is not None
    assert (wait.excuse, wait.since_ns) == (None, 5)
    wait = burdened_wait(None, (excused, Burden(wait=STUCK)), (), 0)
    assert wait is not None
    assert wait.excuse == Excuse(ExcuseKind.STARTING, "it starts")
