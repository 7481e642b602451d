"""Tables of `kubectl get`: weak evidence, which never makes anybody louder."""

import pytest

from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.objects import Event, Pod
from tests.kubernetes.reading.written import compact, complaints, incident, listed, node, objects, pod

PODS = b"""\
NAMESPACE   NAME      READY   STATUS             RESTARTS     AGE   IP         NODE     NOMINATED NODE   READINESS GATES
ml          train-0   1/1     Running            2 (3m ago)   9m    10.0.0.1   gpu-1    <none>           <none>
ml          train-1   0/1     Pending            0            9m    <none>     <none>   gpu-2            <none>
ml          gated-0   0/1     SchedulingGated    0            9m    <none>     <none>   <none>           <none>
web         front-0   0/1     Completed          0            9m    <none>     <none>   <none>           <none>
"""
EVENTS = b"""\
NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT        MESSAGE
ml          30s         Warning   FailedScheduling   pod/train-1   0/1 nodes:  1 Insufficient nvidia.com/gpu.
ml          2m          Warning   FailedCreate       job/b         Error creating: pods "b-0" is forbidden
ml          <unknown>   Normal    Pulled             nonsense      x
"""
NODES = b"NAME    STATUS   ROLES    AGE   VERSION\ngpu-1   Ready    <none>   9d    v1.34.0\n"
CLOCK = compact(listed([pod("x", namespace="other", at="2026-01-02T03:00:00Z")]))


def test_pods_without_a_node_are_waiting_pods_of_which_little_is_known() -> None:
    found = {one.metadata.name: one for one in objects(PODS, CLOCK) if isinstance(one, Pod)}
    assert sorted(found) == ["front-0", "gated-0", "train-1", "x"]
    waiting = found["train-1"]
    assert (waiting.status.phase, waiting.status.nominated_node_name, waiting.spec.containers) == (
        "Pending",
        "gpu-2",
        (),
    )
    assert waiting.metadata.creation_timestamp == "2026-01-02T02:51:00Z"
    assert found["gated-0"].spec.scheduling_gates != ()
    assert found["front-0"].status.phase == "Succeeded"


def test_beside_nodes_they_would_seem_to_leave_all_room_free_and_are_left_out() -> None:
    assert [one.metadata.name for one in objects(PODS, CLOCK, compact(node("gpu-1"))) if isinstance(one, Pod)] == ["x"]


def test_beside_refusals_by_quota_they_would_seem_to_book_nothing_and_are_left_out() -> None:
    refusals = EVENTS.replace(b"is forbidden", b"is forbidden: exceeded quota: q")
    assert [one.metadata.namespace for one in objects(PODS, refusals) if isinstance(one, Pod)] == ["web"]


def test_events_say_what_and_how_long_ago() -> None:
    events = [one for one in objects(EVENTS, CLOCK) if isinstance(one, Event)]
    assert [(one.reason, one.regarding.kind, one.regarding.name, one.last_time) for one in events] == [
        ("FailedCreate", "Job", "b", "2026-01-02T02:58:00Z"),
        ("FailedScheduling", "Pod", "train-1", "2026-01-02T02:59:30Z"),
    ]
    assert events[1].message == "0/1 nodes:  1 Insufficient nvidia.com/gpu."


def test_events_that_were_handed_over_as_objects_are_believed() -> None:
    strong = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "ml"}, "reason": "Scheduled"}
    assert [one.reason for one in objects(EVENTS, CLOCK, compact(strong)) if isinstance(one, Event)] == ["Scheduled"]


def test_a_table_of_nodes_is_known_and_not_used() -> None:
    assert form_of(NODES) is Form.TABLE
    assert objects(NODES) == []
    (note,) = incident(NODES).notes
    assert (note.kind, note.records, note.skipped) == ("kubernetes table of nodes", 0, 1)


@pytest.mark.parametrize("text", [PODS, EVENTS, PODS + b"\n" + EVENTS, b"$ kubectl get pods -A -o wide\n" + PODS])
def test_a_table_is_a_table_wherever_it_stands(text: bytes) -> None:
    assert form_of(text) is Form.TABLE
    assert form_of(text.replace(b"\n", b"\r\n")) is Form.TABLE
    assert complaints(text) == []
    assert len(objects(text, CLOCK)) > 1


def test_without_any_time_nothing_is_dated() -> None:
    assert all(one.last_time is None for one in objects(EVENTS) if isinstance(one, Event))
