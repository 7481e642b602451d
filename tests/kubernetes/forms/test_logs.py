"""One scheduler log in every form in which it reaches people: the statements are the same from each."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import Struct

from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.observations import Observation, Seen
from analyzer.sources.options import ReadOptions
from tests.kubernetes.reading.written import compact, complaints, incident, listed, observed, pod

START = datetime(2026, 12, 31, 23, 59, 58, 123456, UTC)


class Line(Struct, frozen=True):
    """What the scheduler says: seconds after the start, message, values; `place` is in its code."""

    after_s: int
    message: str
    values: dict[str, str]

    @property
    def at(self) -> datetime:
        return START + timedelta(seconds=self.after_s)


LINES = (
    Line(0, "Starting informers", {"count": "3"}),
    Line(0, "Attempting to schedule pod", {"pod": "red/a"}),
    Line(1, "Unable to schedule pod; no fit; waiting", {"pod": "red/a", "err": '0/2 nodes: 2 "x" \\ y.'}),
    Line(2, "Pod is waiting to be scheduled to node", {"pod": "red/b", "nodeName": "node-1"}),
    Line(3, "Pod rejected while waiting on permit", {"pod": "red/b", "status": "timeout"}),
    Line(4, "Preemptor Pod preempted victim Pod", {"preemptor": "red/a", "victim": "blue/v", "node": "node-1"}),
    Line(5, "Successfully bound pod to node", {"pod": "red/a", "node": "node-1"}),
    Line(6, "Shutting down", {}),
)


def pairs(values: dict[str, str], join: str = "=") -> str:
    return " ".join(f"{key}{join}{json.dumps(value)}" for key, value in values.items())


def klog_line(line: Line, hours: int = 0) -> str:
    at = line.at + timedelta(hours=hours)
    return f'I{at:%m%d %H:%M:%S.%f}       1 schedule_one.go:9] "{line.message}" {pairs(line.values)}'.rstrip()


def klog(hours: int = 0) -> list[str]:
    return [klog_line(line, hours) for line in LINES]


def text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def references(values: dict[str, str]) -> dict[str, object]:
    """Pods as klog's JSON refers to them."""
    out: dict[str, object] = {}
    for key, value in values.items():
        namespace, sign, name = value.partition("/")
        out[key] = {"name": name, "namespace": namespace} if sign and key in ("pod", "victim", "preemptor") else value
    return out


def klog_json(line: Line) -> str:
    return json.dumps({"ts": line.at.timestamp() * 1000, "v": 3, "msg": line.message, **references(line.values)})


def zap_json(line: Line) -> str:
    fields = {"level": "Level(-2)", "ts": line.at.isoformat(), "logger": "s", "caller": "a.go:1", "msg": line.message}
    return json.dumps(fields | references(line.values))


def zap_seconds(line: Line) -> str:
    return json.dumps({"level": "info", "ts": line.at.timestamp(), "msg": line.message} | references(line.values))


def zap_console(line: Line) -> str:
    values = json.dumps(references(line.values))
    doubled = values.replace('{"', '{"pod":"not/this","', 1) if "pod" in line.values else values
    return f"{line.at:%Y-%m-%dT%H:%M:%S.%f}Z\tLEVEL(-2)\tscheduler\ta/b.go:1\t{line.message}\t{doubled}"


def logrus(line: Line) -> str:
    return f'time="{line.at.isoformat()}" level=info msg="{line.message} " {pairs(line.values)}'


def container(lines: Sequence[str], hours: int = 0) -> list[str]:
    zone = "Z" if not hours else f"{hours:+03d}:00"
    times = [f"{line.at + timedelta(hours=hours, microseconds=70):%Y-%m-%dT%H:%M:%S.%f}123{zone}" for line in LINES]
    return [f"{at} stderr F {line}" for at, line in zip(times, lines, strict=True)]


def in_pieces(lines: Sequence[str], size: int) -> list[str]:
    out = []
    for number, line in enumerate(container(lines)):
        at, stream, _, rest = line.split(" ", 3)
        parts = [rest[start : start + size] for start in range(0, len(rest), size)]
        out += [f"{at} {stream} P {part}" for part in parts[:-1]]
        out.append(f"{at} stdout F {number} from elsewhere")  # the other stream comes in between
        out.append(f"{at} {stream} F {parts[-1]}")
    return out


def short(lines: Sequence[str]) -> list[str]:
    times = [f"{line.at:%b %d %H:%M:%S}" for line in LINES]
    return [f"{at} master-0 kube-scheduler[77]: {line}" for at, line in zip(times, lines, strict=True)]


def short_iso(lines: Sequence[str]) -> list[str]:
    times = [f"{line.at + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}+0100" for line in LINES]
    return [f"{at} master-0 kube-scheduler[77]: {line}" for at, line in zip(times, lines, strict=True)]


def microseconds(line: Line) -> str:
    return str(round(line.at.timestamp() * 1e6) + 70)


def journal_json(lines: Sequence[str], *, as_bytes: bool = False) -> list[str]:
    return [
        json.dumps(
            {
                "__CURSOR": "s=1",
                "MESSAGE": list(inner.encode()) if as_bytes else inner,
                "PRIORITY": "6",
                "__REALTIME_TIMESTAMP": microseconds(line),
            }
        )
        for line, inner in zip(LINES, lines, strict=True)
    ]


def journal_export(lines: Sequence[str], *, binary: bool = False) -> bytes:
    out = b""
    for line, inner in zip(LINES, lines, strict=True):
        content = inner.encode()
        message = b"MESSAGE=" + content
        if binary:
            message = b"MESSAGE\n" + len(content).to_bytes(8, "little") + content
        out += b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=" + microseconds(line).encode() + b"\nPRIORITY=6\n" + message
        out += b"\n_PID=1\n\n"
    return out


def bare() -> list[str]:
    return [f'"{line.message}" {pairs(line.values)}'.rstrip() for line in LINES]


FORMS: dict[str, Callable[[], bytes]] = {
    "klog": lambda: text(klog()),
    "klog with Windows line ends": lambda: text(klog()).replace(b"\n", b"\r\n"),
    "klog as JSON": lambda: text([klog_json(line) for line in LINES]),
    "zap as JSON": lambda: text([zap_json(line) for line in LINES]),
    "zap as JSON with seconds": lambda: text([zap_seconds(line) for line in LINES]),
    "zap on a console": lambda: text([zap_console(line) for line in LINES]),
    "logrus": lambda: text([logrus(line) for line in LINES]),
    "a container's lines": lambda: text(container(klog())),
    "a container's lines of another zone": lambda: text(container(klog(), hours=8)),
    "a container's lines, klog in another zone": lambda: text(container(klog(hours=-5))),
    "a container's lines of klog as JSON": lambda: text(container([klog_json(line) for line in LINES])),
    "a container's lines of zap": lambda: text(container([zap_console(line) for line in LINES])),
    "a container's lines in pieces": lambda: text(in_pieces(klog(), 40)),
    "a container's lines in small pieces": lambda: text(in_pieces(klog(), 7)),
    "kubectl logs --timestamps": lambda: text(container(klog())).replace(b" stderr F ", b" "),
    "journald short": lambda: text(short(klog())),
    "journald short-iso": lambda: text(short_iso(klog())),
    "journald short-iso, klog in another zone": lambda: text(short_iso(klog(hours=9))),
    "journald JSON": lambda: text(journal_json(klog())),
    "journald JSON, klog in another zone": lambda: text(journal_json(klog(hours=-8))),
    "journald JSON of bytes": lambda: text(journal_json(klog(), as_bytes=True)),
    "journald JSON of klog as JSON": lambda: text(journal_json([klog_json(line) for line in LINES])),
    "journald export": lambda: journal_export(klog()),
    "journald export of bytes": lambda: journal_export(klog(), binary=True),
}
ROUGH: dict[str, Callable[[], bytes]] = {
    "bare in a container's lines": lambda: text(container(bare())),
    "bare in journald short-iso": lambda: text(short_iso(bare())),
    "bare in journald JSON": lambda: text(journal_json(bare())),
}
"""Only the wrapper has a clock, and it is a little late or without fractions."""

NEIGHBOUR = compact(listed([pod("x", at="2027-01-01T00:00:30Z")]))


def said(*contents: bytes, options: ReadOptions | None = None) -> list[Observation]:
    return [one for one in observed(*contents, options=options) if not isinstance(one, Seen)]


def plain(statements: Sequence[Observation]) -> list[tuple[object, ...]]:
    """Without the citations: lines have other numbers in other forms."""
    return [(type(one), *(getattr(one, name) for name in one.__struct_fields__[:-1])) for one in statements]


EXPECTED = plain(said(FORMS["klog"](), NEIGHBOUR, options=ReadOptions(tz_offset_s=0)))


def test_the_plain_log_says_what_the_scheduler_did() -> None:
    assert len(EXPECTED) == 6
    assert [row[1] for row in EXPECTED] == [
        round(line.at.timestamp()) // 1 * 10**9 + 123_456_000 for line in LINES[1:-1]
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str) -> None:
    content = FORMS[form]()
    assert form_of(content) is Form.KLOG
    assert plain(said(content, NEIGHBOUR)) == EXPECTED
    assert complaints(content, NEIGHBOUR) == []


DATED = [name for name in FORMS if name not in ("klog", "klog with Windows line ends", "journald short")]


@pytest.mark.parametrize("form", DATED)
def test_a_second_clock_makes_the_year_known(form: str) -> None:
    assert plain(said(FORMS[form]())) == EXPECTED
    assert complaints(FORMS[form]()) == []


@pytest.mark.parametrize("form", ROUGH)
def test_bare_lines_take_the_time_of_what_wraps_them(form: str) -> None:
    found = plain(said(ROUGH[form]()))
    assert [(row[0], *row[2:]) for row in found] == [(row[0], *row[2:]) for row in EXPECTED]
    assert all(abs(int(str(a[1])) - int(str(b[1]))) < 10**9 for a, b in zip(found, EXPECTED, strict=True))


def test_bare_lines_without_any_clock_say_nothing() -> None:
    assert said(text(bare()), NEIGHBOUR) == []


@pytest.mark.parametrize("form", FORMS)
def test_citations_name_the_line_in_the_document(form: str) -> None:
    content = FORMS[form]()
    lines = content.split(b"\n")
    bound = said(content, NEIGHBOUR)[-1]
    start = lines[bound.citation[1]] if "pieces" not in form and "export" not in form else b""
    if "of bytes" not in form and start:
        assert b"Successfully bound pod to node" in start
    if form == "journald export":
        assert lines[bound.citation[1]].startswith(b"MESSAGE=")
    if "pieces" in form:
        assert b" P I" in lines[bound.citation[1]]


@pytest.mark.parametrize("form", FORMS)
def test_a_log_may_be_cut_anywhere(form: str) -> None:
    content = FORMS[form]()
    for keep in range(0, len(content), 101):
        cut = said(content[:keep], NEIGHBOUR) if form_of(content[:keep]) else []
        assert len(cut) <= len(EXPECTED)


def test_a_kind_is_what_the_log_is_of() -> None:
    kueue = b'{"level":"info","ts":"2026-11-30T12:49:47.45Z","logger":"setup","caller":"kueue/main.go:629","msg":"x"}\n'
    notes = incident(FORMS["klog as JSON"](), kueue).notes
    assert [(note.kind, note.records, note.skipped) for note in notes] == [
        ("kube-scheduler log", 6, 2),
        ("kueue log", 0, 1),
    ]


def test_words_before_a_containers_lines_are_passed_over() -> None:
    content = b"Defaulted container main\n" + FORMS["a container's lines in pieces"]()
    assert form_of(content) is Form.KLOG
    statements = [row for row in plain(said(content, NEIGHBOUR)) if row[1]]
    assert statements == EXPECTED


@pytest.mark.parametrize("wrap", [container, journal_json, short_iso])
def test_the_same_wrappers_around_slurm_are_left_to_others(wrap: Callable[[Sequence[str]], list[str]]) -> None:
    inner = ["[2026-12-31T23:59:58.000] slurmctld version 25.05.1 started on cluster c"] * len(LINES)
    content = text(wrap(inner)).replace(b"kube-scheduler", b"slurmctld")
    assert form_of(content) is None


DUMPED = b"==== START logs for container main of pod ns/%s ====\n%s==== END logs for container main of pod ns/%s ====\n"


@pytest.mark.parametrize("inside", [b"", b"epoch 3 loss 0.1\n", b"Request log error: an error on the server\n"])
def test_logs_of_a_cluster_dump_are_known_for_what_they_are(inside: bytes) -> None:
    (note,) = incident(DUMPED % (b"a", inside, b"a")).notes
    assert (note.kind, note.records, note.skipped, note.complaints) == ("container log", 0, 0, ())


def test_a_scheduler_in_a_cluster_dump_is_heard() -> None:
    content = DUMPED % (b"kube-scheduler-0", FORMS["klog"](), b"kube-scheduler-0")
    assert plain(said(content, NEIGHBOUR, options=ReadOptions(tz_offset_s=0))) == EXPECTED
