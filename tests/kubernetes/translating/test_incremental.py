"""However the same observations are cut into restatements, the reader ends up knowing the same."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.events import ActorGone, ActorObserved, Event
from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.objects import KubeObject
from analyzer.sources.kubernetes.observations import (
    Observation,
    PodBound,
    PodReleased,
    PodReserved,
    PodUnschedulable,
    Seen,
)
from tests.kubernetes.translating.making import NO_ROOM, START_NS, known_in_the_end, meta, node, pod, read, time

NODES = ("n-0", "n-1")
NAMES = ("a-0", "a-1", "b-0", "b-1", "c")
OWNERS = ("", "Job/a", "ReplicaSet/web-1", "ReplicaSet/web-2", "StatefulSet/db", "Pod/c")
PEOPLE = (ActorObserved, ActorGone)
NOTHING_SAID: dict[str, Any] = {}
MARKS: tuple[dict[str, Any], ...] = (
    {},
    {"annotations": {"knotwatch.dev/min-available": "2"}, "labels": {"knotwatch.dev/gang": "g"}},
    {"labels": {"scheduling.x-k8s.io/pod-group": "pg"}},
    {"labels": {"spark-role": "driver", "spark-app-selector": "s"}},
    {"labels": {"spark-role": "executor", "spark-app-selector": "s"}},
    {"labels": {"app": "a"}},
    {"labels": {"app": "b"}},
)


def beside(word: str, app: str, key: str = "kubernetes.io/hostname", **more: Any) -> dict[str, Any]:
    """A required term over pods with this label."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}
    return {"affinity": {word: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


EVENLY = {"maxSkew": 1, "topologyKey": "pool", "whenUnsatisfiable": "DoNotSchedule"}
COMPANY: tuple[dict[str, Any], ...] = (
    beside("podAntiAffinity", "a"),
    beside("podAntiAffinity", "b", "pool"),
    beside("podAntiAffinity", "a", namespaceSelector={"matchLabels": {"env": "x"}}),
    beside("podAffinity", "b"),
    beside("podAffinity", "a", "pool"),
    {"topologySpreadConstraints": [{**EVENLY, "labelSelector": {"matchLabels": {"app": "a"}}}]},
)
SHUNNED = NO_ROOM.replace("2 Insufficient nvidia.com/gpu", "2 node(s) didn't match pod anti-affinity rules")


@st.composite
def pods(draw: st.DrawFn) -> KubeObject:
    on = draw(st.sampled_from(("", "", *NODES)))
    going = draw(st.sampled_from((None, None, None, time(0), time(500))))
    marks = draw(st.sampled_from(MARKS))
    return pod(
        draw(st.sampled_from(NAMES)),
        on=on,
        gpu=draw(st.sampled_from((2, 8))),
        says="" if on else draw(st.sampled_from(("", NO_ROOM, NO_ROOM, SHUNNED))),
        phase=draw(st.sampled_from(("", "", "", "Succeeded", "Failed"))) if on else "",
        ready=draw(st.booleans()),
        claims=draw(st.sampled_from(((), (), ("data",)))),
        owner=draw(st.sampled_from(OWNERS)),
        spec=draw(
            st.sampled_from(
                (
                    NOTHING_SAID,
                    {"nodeSelector": {"pool": "x"}},
                    {"priority": 5},
                    {"schedulingGates": [{"name": "gate"}]},
                    {"activeDeadlineSeconds": 60},
                    *COMPANY,
                )
            )
        ),
        deletionTimestamp=going,
        finalizers=draw(st.sampled_from(((), ("example.com/keep",)))) if going else (),
        **marks,
    )


TEMPLATE = {"spec": {"containers": [{"name": "m", "resources": {"requests": {"nvidia.com/gpu": "8"}}}]}}
REFUSED = (
    'pods "x" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=8, '
    "used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8"
)


@st.composite
def controllers(draw: st.DrawFn) -> KubeObject:
    replicas = draw(st.integers(0, 3))
    revision = {"deployment.kubernetes.io/revision": "2"}
    pods_of = {"replicas": replicas, "template": TEMPLATE}
    web = meta("web-2", uid="ReplicaSet/web-2", owner="Deployment/web", annotations=revision)
    kind, fields = draw(
        st.sampled_from(
            (
                ("Job", {"metadata": meta("a", uid="Job/a"), "spec": {"parallelism": replicas, "template": TEMPLATE}}),
                (
                    "ReplicaSet",
                    {"metadata": meta("web-1", uid="ReplicaSet/web-1", owner="Deployment/web"), "spec": pods_of},
                ),
                ("ReplicaSet", {"metadata": web, "spec": pods_of}),
                (
                    "Deployment",
                    {
                        "metadata": meta("web", uid="Deployment/web"),
                        "spec": {"replicas": replicas, "paused": draw(st.booleans())},
                    },
                ),
                ("StatefulSet", {"metadata": meta("db", uid="StatefulSet/db"), "spec": pods_of}),
                (
                    "PodGroup",
                    {
                        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
                        "metadata": meta("pg", uid="pg"),
                        "spec": {"minMember": replicas},
                    },
                ),
            )
        )
    )
    return read(kind, fields)


LABELS: tuple[dict[str, str], ...] = tuple(
    {"kubernetes.io/hostname": "n-1", **more} for more in ({}, {"pool": "x"}, {"pool": "y"})
)


@st.composite
def things(draw: st.DrawFn) -> KubeObject:
    mode = draw(st.sampled_from(("ReadWriteOnce", "ReadWriteOncePod")))
    hard = {"requests.nvidia.com/gpu": draw(st.sampled_from(("0", "8", "24")))}
    used = {"requests.nvidia.com/gpu": "16"}
    return draw(
        st.sampled_from(
            (
                node("n-0", gpu=draw(st.sampled_from((0, 8, 16))), labels=draw(st.sampled_from(LABELS))),
                node("n-1", unschedulable=draw(st.booleans())),
                node("n-1", labels=draw(st.sampled_from(LABELS))),
                read("Namespace", {"metadata": {"name": "team", "labels": draw(st.sampled_from(({}, {"env": "x"})))}}),
                read(
                    "PersistentVolumeClaim",
                    {"metadata": meta("data"), "spec": {"accessModes": [mode], "volumeName": "pv"}},
                ),
                read("ResourceQuota", {"metadata": meta("q"), "spec": {"hard": hard}, "status": {"used": used}}),
            )
        )
    )


@st.composite
def events(draw: st.DrawFn) -> KubeObject:
    reason, kind, names, message = draw(
        st.sampled_from(
            (
                ("FailedCreate", "Job", ("a",), REFUSED),
                ("FailedCreate", "ReplicaSet", ("web-2",), REFUSED),
                ("SuccessfulCreate", "Job", ("a",), "made"),
                ("TriggeredScaleUp", "Pod", NAMES, "more"),
                ("NotTriggerScaleUp", "Pod", NAMES, "no more"),
                ("FailedScheduling", "Pod", NAMES, NO_ROOM),
                ("FailedAttachVolume", "Pod", NAMES, 'Multi-Attach error for volume "pv" Volume is already used'),
            )
        )
    )
    about = {"kind": kind, "name": draw(st.sampled_from(names)), "namespace": "team"}
    last = time(draw(st.integers(0, 500)))
    return read(
        "Event",
        {
            "metadata": meta("e"),
            "reason": reason,
            "message": message,
            "involvedObject": about,
            "firstTimestamp": time(0),
            "lastTimestamp": last,
        },
    )


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    kind = draw(st.integers(0, 9))
    name = f"team/{draw(st.sampled_from(NAMES))}"
    place = draw(st.sampled_from(NODES))
    citation = (1, draw(st.integers(0, 99)))
    match kind:
        case 0:
            return PodReserved(START_NS, name, place, 10**9 if name.endswith("0") else 10**12, citation)
        case 1:
            return PodUnschedulable(START_NS, name, NO_ROOM, citation)
        case 2:
            if draw(st.booleans()):
                return PodReleased(START_NS, name, "rejected", citation)
            return PodBound(START_NS, name, place, citation)
        case 3 | 4 | 5:
            return Seen(
                START_NS, draw(st.one_of(controllers(), things(), events())), draw(st.integers(0, 5)) == 0, citation
            )
        case _:
            return Seen(START_NS, draw(pods()), draw(st.integers(0, 5)) == 0, citation)


@given(
    parts=st.lists(st.lists(observations(), max_size=6), min_size=1, max_size=6),
    step_s=st.sampled_from((1, 61, 200, 301)),
)
@settings(max_examples=300, deadline=None)
def test_piecewise_and_at_once_say_the_same(parts: list[list[Observation]], step_s: int) -> None:
    at_once = [[one for part in parts for one in part]]
    assert known_in_the_end(parts, step_s) == known_in_the_end(at_once, step_s)


@given(parts=st.lists(observations(), max_size=12))
@settings(max_examples=100, deadline=None)
def test_a_restatement_without_news_says_nothing(parts: list[Observation]) -> None:
    cluster = Cluster()
    for observation in parts:
        cluster.apply(observation)
    cluster.restate(START_NS)
    assert cluster.restate(START_NS) == []
    for observation in parts:
        if isinstance(observation, Seen) and not observation.gone:
            cluster.apply(observation)


def test_what_a_dispute_tells_follows_the_room() -> None:
    """The scheduler sees no room, the objects do: how much, and on which node, is told as it is now."""

    def told(*things: KubeObject, gone: bool = False) -> list[Observation]:
        return [Seen(START_NS, thing, gone, (1, 0)) for thing in things]

    nodes = told(node("n-0"), node("n-1"))
    for left, refused in (("on n-1", {}), ("on n-0", {}), ("of a gang", MARKS[1])):
        place = "n-1" if left == "on n-1" else "n-0"
        before = told(
            pod("full", on="n-0", gpu=6),
            pod("b", on=place, gpu=2),
            *(pod(name, gpu=4, says=NO_ROOM, **refused) for name in ("a-0", "a-1")),
        )
        news = told(pod("b"), *([] if left == "on n-1" else [pod("full")]), gone=True)
        piecewise = known_in_the_end([[*nodes, *before], news], 61)
        assert piecewise == known_in_the_end([[*nodes, *before, *news]], 61), left
        assert "DISPUTED" in repr(piecewise)


def test_a_pod_that_is_made_anew_ends_and_is_told_of_again() -> None:
    """Under its old name, on its old node, with nobody having seen its end: two lives, and the second can end, too."""
    cluster = Cluster()

    def told(at_s: int, uid: str, *, gone: bool = False) -> list[type[Event]]:
        one = pod("web-0", on="n-0", owner="StatefulSet/web", uid=uid)
        cluster.apply(Seen(START_NS, one, gone=gone, citation=(0, 0)))
        return [type(event) for event in cluster.restate(START_NS + at_s) if isinstance(event, PEOPLE)]

    assert told(0, "first") == [ActorObserved]
    assert told(1, "second") == [ActorGone, ActorObserved]
    assert told(2, "second") == []
    assert told(3, "second", gone=True) == [ActorGone]


def test_of_two_pods_of_one_name_none_ends_that_was_not_told_of() -> None:
    cluster = Cluster()
    for uid in ("first", "second"):
        one = pod("web-0", on="n-0", owner="StatefulSet/web", uid=uid)
        cluster.apply(Seen(START_NS, one, gone=False, citation=(0, 0)))
    assert [type(event) for event in cluster.restate(START_NS) if isinstance(event, PEOPLE)] == [ActorObserved]
