"""Documents of different times make one order: by resource version, by own times, and as of the end."""

import itertools
from typing import Any

import pytest

from analyzer.sources.kubernetes.observations import Seen
from analyzer.sources.kubernetes.times import parse_ns
from tests.kubernetes.reading.test_klog import log
from tests.kubernetes.reading.written import (
    Json,
    alive,
    compact,
    complaints,
    incident,
    listed,
    node,
    objects,
    observed,
    pod,
    pretty,
    scheduled,
    typed_list,
    watch,
)


def ns(text: str) -> int:
    moment = parse_ns(text)
    assert moment is not None
    return moment


def event(name: str, at: str, *, regarding: str = "a-0", version: int = 1, **more: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "team-red", "uid": f"uid-{name}", "resourceVersion": str(version)},
        "reason": "FailedScheduling",
        "message": "0/1 nodes are available",
        "involvedObject": {"kind": "Pod", "namespace": "team-red", "name": regarding},
        "firstTimestamp": at,
        "lastTimestamp": at,
    } | more


PENDING = pod("a-0", version=10, at="2026-01-02T03:00:00Z")
REFUSED = pod(
    "a-0", version=11, at="2026-01-02T03:00:00Z", status={"conditions": [scheduled("False", "2026-01-02T03:00:01Z")]}
)
PLACED = pod(
    "a-0",
    version=15,
    at="2026-01-02T03:00:00Z",
    node="node-1",
    status={"conditions": [scheduled("True", "2026-01-02T03:05:00Z")]},
)


def test_a_dump_is_one_moment_at_the_latest_time() -> None:
    (moment,) = incident(compact(listed([PLACED])), compact(listed([event("e", "2026-01-02T03:09:00Z")]))).moments()
    at_ns, observations = moment
    assert at_ns == ns("2026-01-02T03:09:00Z")
    assert [(one.at_ns, type(one).__name__) for one in observations] == [(at_ns, "Seen"), (at_ns, "Seen")]


def test_a_watch_has_a_moment_for_every_second_with_a_change() -> None:
    entries = watch(("ADDED", PENDING), ("MODIFIED", REFUSED), ("MODIFIED", PLACED))
    assert [at_ns for at_ns, _ in incident(entries).moments()] == [
        ns("2026-01-02T03:00:00Z"),
        ns("2026-01-02T03:00:01Z"),
        ns("2026-01-02T03:05:00Z"),
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_resource_versions_order_what_came_in_any_order(order: tuple[int, ...]) -> None:
    versions = [PENDING, REFUSED, PLACED]
    entries = watch(*(("MODIFIED", versions[index]) for index in order))
    seen = [one for one in observed(entries) if isinstance(one, Seen)]
    assert [one.object.metadata.resource_version for one in seen] == ["10", "11", "15"]
    assert [one.at_ns for one in seen] == sorted(one.at_ns for one in seen)


def test_a_change_without_a_time_of_its_own_takes_that_of_the_version_before() -> None:
    labelled = pod("b-0", version=16, at="2026-01-02T02:00:00Z", metadata={"labels": {"x": "y"}})
    seen = observed(watch(("MODIFIED", PLACED), ("MODIFIED", labelled)))
    assert [one.at_ns for one in seen] == [ns("2026-01-02T03:05:00Z")] * 2


def test_the_same_version_twice_is_one() -> None:
    entries = watch(("ADDED", PENDING), ("MODIFIED", PLACED))
    once = observed(entries)
    assert observed(entries, entries) == once
    assert len(observed(entries, compact(listed([PLACED])))) == len(once)


def test_a_watch_without_entries_is_a_watch() -> None:
    seen = observed(pretty(PENDING) + pretty(REFUSED) + pretty(PLACED))
    assert len(seen) == 3
    assert alive(seen) == {"a-0": "node-1"}


def test_a_later_dump_beats_the_stream_and_an_older_one_does_not() -> None:
    entries = watch(("ADDED", PENDING), ("MODIFIED", REFUSED))
    assert alive(observed(entries, compact(listed([PLACED])))) == {"a-0": "node-1"}
    assert alive(observed(watch(("ADDED", PLACED)), compact(listed([REFUSED])))) == {"a-0": "node-1"}
    deleted = watch(("ADDED", PENDING), ("DELETED", pod("a-0", version=20)))
    assert alive(observed(deleted, compact(listed([PLACED])))) == {}


def test_what_a_later_list_lacks_is_gone_at_the_end() -> None:
    entries = watch(("ADDED", PENDING), ("ADDED", pod("b-0", version=12, at="2026-01-02T03:00:02Z")))
    later = pod("b-0", version=30, node="node-1", at="2026-01-02T03:00:02Z")
    assert alive(observed(entries, compact(listed([later])))) == {"b-0": "node-1"}
    assert alive(observed(entries, typed_list([pod("b-0", version=12, at="2026-01-02T03:00:02Z")]))) == {"b-0": ""}


@pytest.mark.parametrize(
    "partial",
    [
        compact(pod("b-0", version=30, node="node-1")),
        compact(listed([pod("b-0", version=30, node="node-1")], metadata={"continue": "more"})),
        compact(listed([pod("b-0", version=30, node="node-1", namespace="team-blue")])),
    ],
)
def test_a_part_shows_nothing_to_be_gone(partial: bytes) -> None:
    assert "a-0" in alive(observed(watch(("ADDED", PENDING)), partial))


def again(name: str, uid: str, version: int, at: str) -> Json:
    """A node of this name, made anew under another uid."""
    made = node(name, version=version, at=at)
    return {**made, "metadata": {**made["metadata"], "uid": uid}}


def test_a_node_made_anew_under_its_name_is_not_taken_for_the_one_that_went() -> None:
    # The stream began when the first was there and ended before it went; nobody saw it go.
    first, second = again("n-1", "one", 5, "2026-01-02T02:00:00Z"), again("n-1", "two", 30, "2026-01-02T03:10:00Z")
    for contents in (
        (watch(("ADDED", PENDING), ("ADDED", first)), compact(listed([second])), typed_list([PLACED])),
        (watch(("ADDED", first)), compact(listed([second])), typed_list([PLACED])),
    ):
        for order in itertools.permutations(contents):
            told = [one for one in observed(*order) if isinstance(one, Seen) and one.object.metadata.name == "n-1"]
            assert told[-1].object.metadata.uid == "two"
            assert not told[-1].gone


def test_of_two_dumps_the_later_one_shows_what_has_gone() -> None:
    before = compact(listed([PLACED, pod("b-0", version=12)]))
    after = compact(listed([PLACED, pod("c-0", version=40)]))
    for documents in ((before, after), (after, before)):
        assert alive(observed(*documents)) == {"a-0": "node-1", "c-0": ""}


def test_two_dumps_that_share_nothing_are_two_parts() -> None:
    parts = compact(listed([PLACED])), compact(listed([pod("c-0", version=40)]))
    assert alive(observed(*parts)) == {"a-0": "node-1", "c-0": ""}


def test_objects_of_dumps_stand_in_the_history_from_their_own_time_on() -> None:
    seen = observed(watch(("ADDED", PENDING), ("MODIFIED", PLACED)), compact(listed([node("node-1")])))
    assert next((type(one.object).__name__, one.at_ns) for one in seen if isinstance(one, Seen)) == (
        "Node",
        ns("2026-01-02T02:00:00Z"),
    )


def test_events_have_their_own_times_in_both_api_forms() -> None:
    core = event("e-1", "2026-01-02T03:01:00Z", count=3)
    other = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e-2", "namespace": "team-red", "uid": "uid-e-2"},
        "reason": "FailedScheduling",
        "note": "0/1 nodes are available",
        "regarding": {"kind": "Pod", "namespace": "team-red", "name": "a-0"},
        "eventTime": "2026-01-02T03:02:00.123456Z",
        "series": {"count": 3, "lastObservedTime": "2026-01-02T03:03:00.500000Z"},
        "deprecatedCount": None,
    }
    seen = observed(compact(listed([core, other, PLACED])))
    said = [one.object for one in seen[1:] if isinstance(one, Seen)]
    assert [one.at_ns for one in seen[1:]] == [ns("2026-01-02T03:01:00Z"), ns("2026-01-02T03:03:00.5Z")]
    assert [(one.message, one.regarding.name, one.count) for one in said] == [("0/1 nodes are available", "a-0", 3)] * 2  # type: ignore[union-attr]  # both are events


def test_an_event_in_list_and_stream_is_told_once() -> None:
    entries = watch(("ADDED", PENDING), ("ADDED", event("e", "2026-01-02T03:01:00Z", version=12)))
    told = objects(entries, compact(listed([event("e", "2026-01-02T03:01:00Z", version=12)])))
    assert [one.metadata.name for one in told] == ["a-0", "e"]


def test_one_clock_far_in_the_future_does_not_move_the_end() -> None:
    jumped = pod("b-0", version=9, status={"conditions": [scheduled("False", "2031-01-02T03:00:00Z")]})
    documents = compact(listed([PLACED, jumped])), compact(listed([event("e", "2026-01-02T03:09:00Z")]))
    assert incident(*documents).as_of_ns == ns("2026-01-02T03:09:00Z")
    ((_, sentence),) = complaints(*documents)
    assert sentence.startswith("the clock of Pod b-0 is 1825 days ahead of all others")
    assert all(one.at_ns <= ns("2026-01-02T03:09:00Z") for one in observed(*documents))


def test_a_quiet_cluster_with_one_late_object_is_no_jump() -> None:
    late = pod("b-0", version=90, at="2026-01-09T03:00:00Z")
    assert incident(compact(listed([PLACED, late]))).as_of_ns == ns("2026-01-09T03:00:00Z")


def test_the_end_is_no_later_for_a_deletion_that_is_only_asked_for() -> None:
    ending = pod(
        "a-0",
        version=12,
        metadata={"deletionTimestamp": "2026-01-02T03:30:00Z", "deletionGracePeriodSeconds": 1200},
    )
    assert incident(compact(listed([ending]))).as_of_ns == ns("2026-01-02T03:10:00Z")


def test_the_end_of_a_log_is_the_end() -> None:
    text = log("0102 03:20:00.000001 a.go:1] nothing of note")
    found = incident(compact(listed([PLACED])), text)
    assert found.as_of_ns == ns("2026-01-02T03:20:00.000001Z")


def test_without_any_time_there_is_one_moment() -> None:
    bare = compact(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 4}}}
    )
    found = incident(bare)
    assert found.as_of_ns is None
    assert [at_ns for at_ns, _ in found.moments()] == [0]
