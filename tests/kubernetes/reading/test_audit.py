"""Audit logs: objects with the server's own clock, deletions, refusals, and levels that hold no objects."""

from typing import Any

import pytest

from analyzer.sources.kubernetes.objects import Event, Pod
from analyzer.sources.kubernetes.observations import PodBound, Seen
from analyzer.sources.kubernetes.times import parse_ns
from tests.kubernetes.reading.written import Json, alive, compact, complaints, incident, observed, pod, pretty


def entry(verb: str, answer: Json | None, *, at: str, code: int = 200, **more: Any) -> Json:
    out: Json = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse" if answer is not None else "Metadata",
        "stage": more.get("stage", "ResponseComplete"),
        "verb": verb,
        "objectRef": {"resource": "pods", "namespace": "team-red", "name": "a-0", "apiVersion": "v1"}
        | more.get("ref", {}),
        "responseStatus": {"code": code},
        "stageTimestamp": at,
    }
    if answer is not None:
        out["responseObject"] = answer
    if "request" in more:
        out["requestObject"] = more["request"]
    return out


def lines(*entries: Json) -> bytes:
    return b"".join(compact(one) + b"\n" for one in entries)


BOUND = pod("a-0", version=12, node="node-1")


def test_an_object_is_seen_when_the_server_answered() -> None:
    log = lines(
        entry("create", pod("a-0", version=10), at="2026-01-02T03:00:00.250000Z", code=201),
        entry("patch", BOUND, at="2026-01-02T03:00:01.750000Z", ref={"subresource": "status"}),
    )
    seen = [one for one in observed(log) if isinstance(one, Seen)]
    assert [one.at_ns for one in seen] == [parse_ns("2026-01-02T03:00:00.25Z"), parse_ns("2026-01-02T03:00:01.75Z")]
    assert [one.citation for one in seen] == [(0, 0), (0, 1)]
    assert alive(seen) == {"a-0": "node-1"}


def test_a_binding_is_a_statement() -> None:
    request = {"kind": "Binding", "target": {"kind": "Node", "name": "node-1"}}
    status = {"kind": "Status", "status": "Success"}
    log = lines(
        entry("create", status, at="2026-01-02T03:00:00Z", code=201, ref={"subresource": "binding"}, request=request)
    )
    assert observed(log) == [PodBound(parse_ns("2026-01-02T03:00:00Z") or 0, "team-red/a-0", "node-1", (0, 0))]


@pytest.mark.parametrize(
    ("answer", "gone"),
    [
        ({"deletionTimestamp": "2026-01-02T03:01:30Z", "deletionGracePeriodSeconds": 30}, False),
        ({"deletionTimestamp": "2026-01-02T03:01:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["x/y"]}, False),
        ({"deletionTimestamp": "2026-01-02T03:01:00Z", "deletionGracePeriodSeconds": 0}, True),
    ],
)
def test_a_pod_is_gone_when_nothing_holds_it_up_any_more(answer: Json, *, gone: bool) -> None:
    deleted = pod("a-0", version=13, node="node-1", metadata=answer)
    log = lines(
        entry("patch", BOUND, at="2026-01-02T03:00:00Z"),
        entry("delete", deleted, at="2026-01-02T03:01:00Z"),
    )
    assert alive(observed(log)) == ({} if gone else {"a-0": "node-1"})


def test_a_deletion_that_answers_only_with_success_is_one() -> None:
    log = lines(
        entry("patch", BOUND, at="2026-01-02T03:00:00Z"),
        entry("delete", {"kind": "Status", "status": "Success"}, at="2026-01-02T03:01:00Z"),
    )
    assert alive(observed(log)) == {}


def test_refused_requests_and_early_stages_change_nothing() -> None:
    log = lines(
        entry("patch", BOUND, at="2026-01-02T03:00:00Z", code=409),
        entry("create", BOUND, at="2026-01-02T03:00:00Z", stage="RequestReceived"),
        entry("list", {"kind": "PodList", "items": []}, at="2026-01-02T03:00:00Z"),
        entry("create", None, at="2026-01-02T03:00:05Z"),
    )
    assert observed(log) == []
    note = incident(log).notes[0]
    assert (note.kind, note.records, note.skipped) == ("kubernetes audit log", 4, 0)
    assert note.last_ns == incident(log).as_of_ns == parse_ns("2026-01-02T03:00:05Z")


def test_a_list_of_entries_is_read_as_well() -> None:
    one = entry("patch", BOUND, at="2026-01-02T03:00:00Z")
    events = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": [one]}
    assert alive(observed(pretty(events))) == {"a-0": "node-1"}
    assert alive(observed(compact(events))) == {"a-0": "node-1"}


def test_secrets_are_never_kept() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"token": "aHVzaA=="}}
    log = lines(entry("create", secret, at="2026-01-02T03:00:00Z", request=secret))
    assert "aHVzaA" not in repr(observed(log))


def test_a_line_that_is_cut_off_costs_itself() -> None:
    log = lines(entry("patch", BOUND, at="2026-01-02T03:00:00Z"))
    cut = log + log[:200] + b"\n" + log
    assert [line for line, _ in complaints(cut)] == [2]
    assert [type(one.object) for one in observed(cut) if isinstance(one, Seen)] == [Pod]


@pytest.mark.parametrize("controls", [True, False])
def test_a_pod_refused_by_a_quota_is_what_its_controller_would_have_said(*, controls: bool) -> None:
    text = 'pods "a-0" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=1, limited: cpu=1'
    request = pod(
        "a-0", metadata={"ownerReferences": [{"kind": "Job", "name": "a", "uid": "1", "controller": controls}]}
    )
    refused = entry("create", {"kind": "Status"}, at="2026-01-02T03:00:00Z", code=403, request=request)
    refused["responseStatus"]["message"] = text
    said = [one.object for one in observed(lines(refused)) if isinstance(one, Seen)]
    expected = [("FailedCreate", "Error creating: " + text, "Job", "team-red", "a")] if controls else []
    assert [
        (one.reason, one.message, one.regarding.kind, one.regarding.namespace, one.regarding.name)
        for one in said
        if isinstance(one, Event)
    ] == expected
    assert len(said) == len(expected)


def eviction(code: int, message: str, **more: Any) -> Json:
    refused = entry("create", None, at="2026-01-02T03:00:00Z", code=code, ref={"subresource": "eviction"})
    refused["responseStatus"] |= {"message": message, **more}
    return refused


def test_an_eviction_that_a_budget_refuses_is_told_as_an_event_of_the_pod() -> None:
    cause = {
        "reason": "DisruptionBudget",
        "message": "The disruption budget llm needs 2 healthy pods and has 2 currently",
    }
    words = "Cannot evict pod as it would violate the pod's disruption budget."
    [seen] = observed(lines(eviction(429, words, details={"causes": [cause]})))
    assert isinstance(seen, Seen)
    event = seen.object
    assert isinstance(event, Event)
    assert (event.regarding.kind, event.regarding.namespace, event.regarding.name) == ("Pod", "team-red", "a-0")
    assert event.message == f"{words} {cause['message']}"
    assert event.last_time == "2026-01-02T03:00:00Z"


@pytest.mark.parametrize("code", [201, 404, 500])
def test_other_answers_to_an_eviction_say_nothing_about_budgets(code: int) -> None:
    assert observed(lines(eviction(code, "whatever"))) == []


def test_a_pod_that_a_webhook_keeps_from_being_made_is_its_controllers_matter() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "hook-7c9d", "uid": "u", "controller": True}
    request = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "hook-7c9d-x", "ownerReferences": [owner]}}
    refused = entry("create", None, at="2026-01-02T03:00:00Z", code=500, request=request)
    refused["responseStatus"]["message"] = 'Internal error occurred: failed calling webhook "policy.example.com": no'
    [seen] = observed(lines(refused))
    assert isinstance(seen, Seen)
    assert isinstance(seen.object, Event)
    assert (seen.object.reason, seen.object.regarding.kind, seen.object.regarding.name) == (
        "FailedCreate",
        "ReplicaSet",
        "hook-7c9d",
    )
