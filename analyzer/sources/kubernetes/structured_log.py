"""Logs whose lines are records: klog as JSON, zap as JSON or on a console, logrus; and bare lines with a time before.

    {"ts":1580306777047.28,"v":3,"msg":"Successfully bound pod to node","pod":{"name":"a","namespace":"b"},...}
    2026-11-30T12:49:47.454Z	INFO	scheduler	file.go:1	Successfully bound pod to node	{"pod":"b/a",...}
    time="2026-11-30T12:49:47Z" level=info msg="Successfully bound pod to node" pod=b/a
    2026-11-30T12:49:47Z "Successfully bound pod to node" pod="b/a"

Only lines with a wanted message are taken apart. Their times carry a zone, so the stamps that come out are in UTC.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from analyzer.sources.kubernetes.decoding import REFUSED
from analyzer.sources.kubernetes.klog import DAY_NS, NO_RUNS, Klog, value_pairs
from analyzer.sources.kubernetes.log_lines import LogLines, Saying, Stamp
from analyzer.sources.kubernetes.log_text import LogText
from analyzer.sources.kubernetes.message_places import MessagePlaces, lines_at
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

_RFC3339 = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
TIME = re.compile(_RFC3339)
_TIME_FIELD = re.compile(
    rb'"(?:ts|time|timestamp|@timestamp)"\s*:\s*"?(' + _RFC3339 + rb"|\d+(?:\.\d+)?(?:[eE][+]?\d+)?)"
)
RECORD = re.compile(
    rb"^(?:[^\n{]{1,160} )?\{(?=[^\n]*\"(?:msg|message)\"\s*:)[^\n]*?\"(?:level|ts|severity|time|v|logger)\"\s*:"
    rb"|^[^\n\t]{0,160}" + _RFC3339 + rb"\t[A-Za-z]+(?:\(-?\d+\))?\t[^\n]*"
    rb"|^[^\n]{0,160}\btime=\"?" + _RFC3339 + rb"\"? level=[a-z]+ msg=",
    re.MULTILINE,
)
"""The beginning of a line of one of the forms."""

_MESSAGE_KEYS = ("msg", "message")
_TIME_KEYS = ("ts", "time", "timestamp", "@timestamp")
_EDGE_BYTES = 1 << 16
_MILLISECONDS_FROM = 1e11
_TIME_MAX_S = 9_000_000_000  # the year 2255: what fits into 64 bits of nanoseconds


def read_structured(log: LogText, messages: Iterable[str], repeated: Mapping[str, str] = NO_RUNS) -> Klog:
    """The lines with one of these messages; a line without a time has that of what wraps it, if anything does.

    Of messages in `repeated` runs are cut short (`LogLines`).
    """
    known = frozenset(messages)
    wanted = MessagePlaces(known)
    years: list[int] = []

    def stamp(at_ns: int) -> Stamp:
        moment = datetime.fromtimestamp(at_ns // SECOND_NS, UTC)
        if not years:
            years.append(moment.year)
        return Stamp(moment.year - years[0], moment.month, moment.day, at_ns % DAY_NS)

    ends = log.end(_EDGE_BYTES)
    first_ns = _edge_ns(log.head.text[:_EDGE_BYTES].split(b"\n")) or _first_known(log.head.times_ns)
    first = None if first_ns is None else stamp(first_ns)
    lines = LogLines(repeated, stamp)
    for block in log.blocks():
        text, records, times_ns = block.text, block.records, block.times_ns
        for number, start, end in lines_at(text, wanted.of(text)):
            said = _said(text[start:end].rstrip(b"\r"), known, lines)
            if said is None:
                continue
            at_ns = said[1]
            if at_ns is None and times_ns:
                at_ns = times_ns[number]
            if at_ns is not None:
                lines.take(said[0], records[number], at_ns)
    kept = lines.all()
    last_ns = _edge_ns(ends.text[-_EDGE_BYTES:].split(b"\n")[::-1]) or _first_known(ends.times_ns[::-1])
    last = stamp(last_ns) if last_ns is not None else None
    if kept and (last is None or last < kept[-1].stamp):
        last = kept[-1].stamp
    return Klog(
        lines=kept,
        first=first if first is not None else (kept[0].stamp if kept else None),
        last=last,
        records=log.records,
        matching=lines.taken,
        year=years[0] if years else None,
        zone_s=0 if years else None,
    )


def _said(line: bytes, known: frozenset[str], lines: LogLines) -> tuple[Saying, int | None] | None:
    """What the line says, and its time if it has one; None if its message is another.

    Lines that differ in nothing but the time say the same, so most are only looked up.
    """
    timed = _TIME_FIELD.search(line) or TIME.search(line)
    if timed is None:
        rest, at_ns = line, None
    else:
        start, end = timed.span(timed.re.groups)
        rest, at_ns = b"%b\n%b" % (line[:start], line[end:]), _time_of(line[start:end])
    saying = lines.known(rest)
    if saying is not None:
        return saying, at_ns
    parsed = _parsed(line, known)
    if parsed is None:
        return None
    own_ns, message, values = parsed
    if own_ns == at_ns:
        return lines.learn(rest, sys.intern(message), values), at_ns
    return lines.learn(line, sys.intern(message), values), own_ns


def _time_of(text: bytes) -> int | None:
    return _time_ns(text.decode()) if b":" in text else _number_ns(float(text))


def _first_known(times_ns: Iterable[int | None]) -> int | None:
    return next((one for one in times_ns if one is not None), None)


_Parsed = tuple[int | None, str, dict[str, str]]


def _parsed(line: bytes, known: frozenset[str]) -> _Parsed | None:
    """(time if it says one, message, values) of one line; None if its message is another."""
    for parse in (_of_json, _of_console, _of_pairs, _of_bare):
        found = parse(line)
        if found is not None and found[1] in known:
            return found
    return None


def _of_json(line: bytes) -> _Parsed | None:
    start = line.find(b"{")
    fields = _object(line[start:]) if start >= 0 else None
    if fields is None:
        return None
    message = next((text for key in _MESSAGE_KEYS if isinstance(text := fields.get(key), str)), None)
    at = next((fields[key] for key in _TIME_KEYS if key in fields), None)
    at_ns = _time_ns(at)
    return None if message is None else (at_ns if at_ns is not None else _leading_ns(line), message, _texts(fields))


def _of_console(line: bytes) -> _Parsed | None:
    parts = line.split(b"\t")
    if len(parts) < 3:
        return None
    fields = _object(parts[-1])
    message = parts[-1] if fields is None else parts[-2]
    return _last_ns(parts[0]), message.decode("utf-8", "replace").strip(), _texts(fields or {})


def _of_pairs(line: bytes) -> _Parsed | None:
    pairs = dict(value_pairs(line.decode("utf-8", "replace")))
    message = pairs.pop("msg", None)
    return None if message is None else (parse_ns(pairs.get("time")) or _leading_ns(line), message.strip(), pairs)


def _of_bare(line: bytes) -> _Parsed | None:
    """A message in quotes, and pairs, as klog writes them without its header."""
    start = line.find(b'"')
    end = line.find(b'"', start + 1)
    if start < 0 or end < 0:
        return None
    rest = line[end + 1 :].decode("utf-8", "replace")
    return _leading_ns(line[:start]), line[start + 1 : end].decode("utf-8", "replace"), dict(value_pairs(rest))


def _object(text: bytes) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(text.strip(), type=dict[str, object])
    except REFUSED:
        return None


def _texts(fields: dict[str, object]) -> dict[str, str]:
    """Values as klog's text has them; an object reference becomes `namespace/name`."""
    out: dict[str, str] = {}
    for key, value in fields.items():
        if isinstance(value, str):
            out[key] = value
        elif isinstance(value, dict) and isinstance(value.get("name"), str):
            namespace = value.get("namespace")
            out[key] = f"{namespace}/{value['name']}" if isinstance(namespace, str) and namespace else value["name"]
        elif isinstance(value, int | float):
            out[key] = str(value)
    if "err" not in out and "error" in out:
        out["err"] = out["error"]
    return out


def _time_ns(value: object) -> int | None:
    """A text, or a number."""
    if isinstance(value, str):
        return parse_ns(value.replace(",", "."))
    return _number_ns(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number_ns(value: float) -> int | None:
    """Milliseconds since 1970 as klog writes them, or seconds as zap does."""
    if not 0 < value < _TIME_MAX_S * 1000:
        return None
    seconds = value / 1000 if value > _MILLISECONDS_FROM else value
    return round(seconds * 1_000_000) * 1000 if seconds < _TIME_MAX_S else None


def _leading_ns(line: bytes) -> int | None:
    found = TIME.search(line)
    return None if found is None else parse_ns(found[0].decode().replace(",", "."))


def _last_ns(before: bytes) -> int | None:
    """The time nearest to what follows: the one of the log itself, whatever wrote another before it."""
    times = TIME.findall(before)
    return parse_ns(times[-1].decode().replace(",", ".")) if times else None


def _edge_ns(lines: Iterable[bytes]) -> int | None:
    """The time of the first of these lines that has one."""
    for line in lines:
        found = _TIME_FIELD.search(line)
        at_ns = _time_of(found[1]) if found is not None else _leading_ns(line)
        if at_ns is not None:
            return at_ns
    return None
