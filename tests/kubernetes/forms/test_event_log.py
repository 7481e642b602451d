"""Kueue's own log: the lines that repeat its events, in each form that they come in, and what follows of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.sources.kubernetes.event_log import read_events
from analyzer.sources.kubernetes.objects import Event
from tests.kubernetes.scenarios.incident import Incident
from tests.replay.reports import report_of

NAME = "job-train-936c8"
Line = tuple[str, str, str, str]
"""(minute and second, kind/name, reason, message)."""


def line_of(said: Line, **more: Any) -> dict[str, Any]:
    at, about, reason, message = said
    kind, _, name = about.partition("/")
    reference = {
        "kind": kind,
        "namespace": "team-red",
        "name": name,
        "uid": "u",
        "apiVersion": "kueue.x-k8s.io/v1beta2",
    }
    return {
        "level": "debug",
        "ts": f"2026-03-02T10:{at}.552163078Z",
        "logger": "events",
        "caller": "recorder/recorder.go:116",
        "msg": message,
        "type": "Normal",
        "object": reference,
        "reason": reason,
        **more,
    }


HEAD = (
    '{"level":"info","ts":"2026-03-02T10:00:00.1Z","logger":"setup","caller":"kueue/main.go:629","msg":"Successfully '
    'loaded configuration","config":"apiVersion: config.kueue.x-k8s.io/v1beta2\\nnamespace: kueue-system\\n"}\n'
    'I0302 10:00:00.677020   31981 leaderelection.go:258] "Attempting to acquire leader lease..."\n'
    '{"level":"info","ts":"2026-03-02T10:00:01Z","logger":"scheduler","caller":"scheduler/scheduler.go:251","msg":'
    '"Workload successfully admitted and assigned flavors","replica-role":"follower","schedulingCycle":1,"workload":'
    '{"name":"job-train-936c8","namespace":"team-red"},"clusterQueue":{"name":"shared"}}\n'
    '{"level":"error","ts":"2026-03-02T10:00:02Z","logger":"events","caller":"x.go:1","msg":"Reconciler error",'
    '"namespace":"team-red","name":"train","error":"restore info: Job.batch is invalid: field is immutable"}\n'
)
CREATED: Line = ("00:05", "Job/train", "CreatedWorkload", f"Created Workload: team-red/{NAME}")
_CONSIDERED = "Flavors considered: main: a100(NoFit;insufficient unused quota for x, 16 more needed)"
_QUOTA = f"Quota reserved in ClusterQueue shared, wait time since queued was 1s; {_CONSIDERED}"
_ADMISSION = "Admitted by ClusterQueue shared, wait time since reservation was 0s"
_SHORT = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, "
    "16 more needed"
)
RESERVED: Line = ("00:06", f"Workload/{NAME}", "QuotaReserved", _QUOTA)
ADMITTED: Line = ("00:06", f"Workload/{NAME}", "Admitted", _ADMISSION)
SHORT: Line = ("00:30", f"Workload/{NAME}", "Pending", _SHORT)


def evicted(at: str) -> Line:
    return (at, f"Workload/{NAME}", "EvictedDueToPodsReadyTimeout", f"Exceeded the PodsReady timeout team-red/{NAME}")


def again(at: str) -> tuple[Line, Line]:
    return (at, *RESERVED[1:]), (at, *ADMITTED[1:])


def as_json(*said: Line) -> str:
    return HEAD + "".join(json.dumps(line_of(one), separators=(",", ":")) + "\n" for one in said)


def as_console(*said: Line) -> str:
    lines = ["2026-03-02T10:00:00.100Z\tINFO\tsetup\tkueue/main.go:172\tInitializing\t{}"]
    for one in said:
        line = line_of(one)
        tail = json.dumps({key: line[key] for key in ("type", "object", "reason")})
        lines.append(f"{line['ts']}\tDEBUG\tevents\trecorder/recorder.go:116\t{one[3]}\t{tail}")
    return "".join(f"{line}\n" for line in lines)


def as_seconds(*said: Line) -> str:
    """As zap writes times by default: seconds since 1970."""
    lines = [line_of(one, ts=1772445600 + int(one[0][:2]) * 60 + int(one[0][3:]) + 0.25) for one in said]
    return HEAD + "".join(json.dumps(line) + "\n" for line in lines)


def as_container(*said: Line) -> str:
    return "".join(f"2026-03-02T10:59:59.1Z stderr F {line}\n" for line in as_json(*said).splitlines())


def as_partial(*said: Line) -> str:
    head = "2026-03-02T10:59:59.1Z stderr"
    return "".join(f"{head} P {line[:90]}\n{head} F {line[90:]}\n" for line in as_json(*said).splitlines())


def as_journal(*said: Line) -> str:
    lines = as_json(*said).splitlines()
    return "".join(json.dumps({"__REALTIME_TIMESTAMP": "1772445600000000", "MESSAGE": one}) + "\n" for one in lines)


FORMS = [as_json, as_console, as_seconds, as_container, as_partial, as_journal]


@pytest.mark.parametrize("form", FORMS)
def test_events_of_every_form_are_the_same(form: Any) -> None:
    said = (CREATED, RESERVED, ADMITTED, evicted("05:06"), SHORT)
    found = [change.object for change in read_events(3, form(*said).encode())]
    assert all(isinstance(one, Event) for one in found)
    events = [one for one in found if isinstance(one, Event)]
    assert [(one.reason, one.message) for one in events] == [(one[2], one[3]) for one in said]
    assert [(one.last_time or "")[:19] for one in events] == [f"2026-03-02T10:{one[0]}" for one in said]
    assert {one.regarding.namespace for one in events} == {"team-red"}
    assert len({one.metadata.uid for one in events}) == len(said)


@pytest.mark.parametrize("form", FORMS)
def test_records_are_lines_of_the_document(form: Any) -> None:
    text = form(CREATED, SHORT)
    lines = text.splitlines()
    for change in read_events(0, text.encode()):
        place = next(at for at in range(change.record, len(lines)) if change.object.core_message[:20] in lines[at])  # type: ignore[union-attr]  # events, as above
        assert place - change.record in (0, 1)  # a partial line begins one before


def test_logs_of_others_are_not_gone_through() -> None:
    assert read_events(0, as_console(SHORT).replace("kueue", "other").encode()) == []


BROKEN = (
    '{"logger":"events"',
    '{"logger":"events"}',
    '{"logger":"events","object":1}',
    '{"logger":"events","object":null}',
    '{"logger":"events","object":{"kind":"Workload"},"ts":true}',
    '{"logger":"events","object":{"kind":"Workload","name":"w"},"ts":"yesterday","msg":"m","reason":"Pending"}',
    "\tevents\t",
    "x\ty\tevents\tz\t{}",
    "\x00\tevents\t{\xff",
)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_line_costs_itself_alone(broken: str) -> None:
    text = HEAD + broken + "\n" + as_json(SHORT)
    assert [change.object.core_message for change in read_events(0, text.encode("latin-1"))] == [SHORT[3]]  # type: ignore[union-attr]  # events, as above


# --- what follows -----------------------------------------------------------------------------------------------------


def replayed(folder: Path, log: str) -> dict[str, Any]:
    (folder / "kueue.log").write_text(log)
    report: dict[str, Any] = report_of([folder])
    return report


ROUNDS = tuple(
    line for minute in (1, 2, 3) for line in (*again(f"0{minute}:00"), evicted(f"0{minute}:30"))
)  # admitted and evicted three times


@pytest.mark.parametrize("form", FORMS)
def test_rounds_in_a_log_alone_are_suspected(form: Any, tmp_path: Path) -> None:
    [finding] = replayed(tmp_path, form(CREATED, *ROUNDS))["findings"]
    assert (finding["verdict"], finding["certainty"], finding["members"]) == (
        "LIVELOCK",
        "suspected",
        ["workload/team-red/train"],
    )
    assert all(citation["path"].endswith("kueue.log") for citation in finding["citations"])


def test_the_same_log_is_quiet_once_it_was_admitted_and_stays_so(tmp_path: Path) -> None:
    assert replayed(tmp_path, as_json(CREATED, *ROUNDS, *again("04:00")))["findings"] == []


def test_two_rounds_are_no_loop(tmp_path: Path) -> None:
    assert replayed(tmp_path, as_json(CREATED, *ROUNDS[3:]))["findings"] == []


def test_who_waits_is_named_and_not_judged(tmp_path: Path) -> None:
    report = replayed(tmp_path, as_json(CREATED, SHORT))
    assert report["findings"] == []
    assert [row["actor"] for row in report["waiting"]] == ["workload/team-red/train"]
    assert [row["kind"] for row in report["remarks"]] == ["blind_spot"]
    [source] = report["sources"]
    assert (source["kind"], source["records"], source["skipped"]) == ("kueue log", 2, 4)


def test_what_an_admitted_one_was_not_given_is_no_wait(tmp_path: Path) -> None:
    assert replayed(tmp_path, as_json(CREATED, RESERVED, ADMITTED))["waiting"] == []


OBJECTS = """
node gpu-[0-3] gpu=8
clusterqueue shared quota:h100=32 in=team-red
10s job team-red/train pods=2 gpu=8 suspended
10s workload team-red/job-train-936c8 of=Job/train pods=2 gpu=8 evicted=PodsReadyTimeout since=3m first=1m retry=9m
end 4m
"""


def test_beside_objects_the_log_tells_of_the_rounds_that_the_status_forgot(tmp_path: Path) -> None:
    folder = Incident(OBJECTS).write(tmp_path / "incident")
    assert report_of([folder])["findings"] == []
    (folder / "kueue.log").write_text(as_json(CREATED, *ROUNDS))
    [finding] = report_of([folder])["findings"]
    assert (finding["verdict"], finding["certainty"]) == ("LIVELOCK", "suspected")
    assert finding["members"] == ["workload/team-red/train"]


def test_beside_objects_the_log_speaks_of_nobody_who_is_gone(tmp_path: Path) -> None:
    folder = Incident(OBJECTS.replace("936c8", "00000").replace("train", "other")).write(tmp_path / "incident")
    (folder / "kueue.log").write_text(as_json(CREATED, *ROUNDS))
    assert report_of([folder])["findings"] == []


def test_merged_events_are_as_many_rounds_as_they_count(tmp_path: Path) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "team-red"},
        "involvedObject": {"kind": "Workload", "namespace": "team-red", "name": NAME},
        "reason": "EvictedDueToPodsReadyTimeout",
        "message": f"(combined from similar events): Exceeded the PodsReady timeout team-red/{NAME}",
        "count": 5,
        "firstTimestamp": "2026-03-02T10:01:00Z",
        "lastTimestamp": "2026-03-02T10:09:00Z",
    }
    (tmp_path / "events.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [event]}))
    [finding] = report_of([tmp_path])["findings"]
    assert finding["verdict"] == "LIVELOCK"
    assert "5 times" in finding["summary"]
    event["count"] = 2
    (tmp_path / "events.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [event]}))
    assert report_of([tmp_path])["findings"] == []


def test_events_and_the_log_that_repeats_them_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "kueue.log").write_text(as_json(CREATED, *ROUNDS[3:]))
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "team-red"},
        "involvedObject": {"kind": "Workload", "namespace": "team-red", "name": NAME},
        "reason": "EvictedDueToPodsReadyTimeout",
        "message": "Exceeded the PodsReady timeout",
        "count": 2,
        "firstTimestamp": "2026-03-02T10:02:30Z",
        "lastTimestamp": "2026-03-02T10:03:30Z",
    }
    (tmp_path / "events.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [event]}))
    assert report_of([tmp_path])["findings"] == []
