"""The wire format: times, event lines, and the report against its published schema."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.codec.events import decode_event, encode_event
from analyzer.codec.report import Report, decode_report, encode_report
from analyzer.codec.schema import schema_text
from analyzer.codec.times import format_time, parse_time
from analyzer.model.events import (
    ActorGone,
    ActorObserved,
    Event,
    Excuse,
    ExcuseKind,
    Lifetime,
    Remarked,
    RemarkKind,
    ResourceObserved,
    Tick,
    Wait,
)
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Units

A = ActorId("a")
GPU = ResourceId("gpu/n1")
REQUEST = KOutOfN(2, (Units(GPU, 4), Pods(3, (("gpu", 4),), ("n1",), 2), Done(A), Arrivals((A,), 1), Never("why")))


@given(st.integers(0, 2**63 - 1))
def test_a_time_comes_back_as_it_went(at_ns: int) -> None:
    assert parse_time(format_time(at_ns)) == at_ns


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2026-01-14T09:00:00Z", "2026-01-14T09:00:00Z"),
        ("2026-01-14t09:00:00z", "2026-01-14T09:00:00Z"),
        ("2026-01-14 09:00:00", "2026-01-14T09:00:00Z"),
        ("2026-01-14T10:00:00.500+01:00", "2026-01-14T09:00:00.5Z"),
        ("2026-01-14T03:30:00-0530", "2026-01-14T09:00:00Z"),
        ("2026-01-14T09:00:00.123456789999Z", "2026-01-14T09:00:00.123456789Z"),
    ],
)
def test_times_are_understood(text: str, normal: str) -> None:
    at_ns = parse_time(text)
    assert at_ns is not None
    assert format_time(at_ns) == normal


@pytest.mark.parametrize(
    "text",
    ["", "noon", "2026-01-14", "2026-13-14T09:00:00Z", "2026-01-14T25:00:00Z", "1767776400", "0001-01-01T00:00:00Z",
     "2026-01-14T09:00:00+99:00", "9999-12-31T23:59:59Z", "\uff12026-01-14T09:00:00Z"],
)  # fmt: skip
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text) is None


@pytest.mark.parametrize(
    "event",
    [
        ActorObserved(at_ns=1, actor=A),
        ActorObserved(
            at_ns=2**62,
            actor=A,
            holds=((GPU, 4),),
            wait=Wait(request=REQUEST, since_ns=1, excuse=Excuse(ExcuseKind.GATED, "gate"), said="x\ny", preempts=True),
            lifetime=Lifetime.DATED,
            until_ns=5,
            citations=((0, 1), (2, 3)),
        ),
        ActorGone(at_ns=1, actor=A),
        ResourceObserved(at_ns=1, resource=GPU, units=8),
        Remarked(at_ns=1, kind=RemarkKind.BLIND_SPOT, subject="x", text="ü"),
        Tick(at_ns=1, open_ended=True),
    ],
)
def test_an_event_line_reads_back_to_the_event(event: Event) -> None:
    line = encode_event(event)
    assert b"\n" not in line
    assert decode_event(line) == event
    assert encode_event(decode_event(line)) == line


def test_the_schema_is_checked_in_as_the_types_make_it(root: Path) -> None:
    checked_in = (root / "docs" / "report.schema.json").read_text()
    assert checked_in == schema_text(), "run python -m analyzer.codec.schema > docs/report.schema.json"
    jsonschema.Draft202012Validator.check_schema(json.loads(checked_in))


def test_the_schema_refuses_what_is_no_report() -> None:
    good: dict[str, Any] = json.loads(encode_report(empty()))
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "schema": "knotwatch.report/v2"})
    assert not validator.is_valid({**good, "findings": [{"id": "k-1"}]})
    assert not validator.is_valid({key: item for key, item in good.items() if key != "waiting"})


def test_a_report_reads_back_and_ends_with_one_line_end() -> None:
    content = encode_report(empty())
    assert decode_report(content) == empty()
    assert content.endswith(b"}\n")
    assert list(json.loads(content)) == [
        "schema",
        "as_of",
        "sources",
        "findings",
        "waiting",
        "history",
        "remarks",
        "window",
    ]


def empty() -> Report:
    return Report(as_of=None, sources=(), findings=(), waiting=(), history=(), remarks=())
