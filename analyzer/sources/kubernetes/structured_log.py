"""Logs whose lines are records: klog as JSON, zap as JSON or on a console, logrus; and bare lines with a time before.

    {"ts":1580306777047.28,"v":3,"msg":"Successfully bound pod to node","pod":{"name":"a","namespace":"b"},...}
    2026-11-30T12:49:47.454Z	INFO	scheduler	file.go:1	Successfully bound pod to node	{"pod":"b/a",...}
    time="2026-11-30T12:49:47Z" level=info msg="Successfully bound pod to node" pod=b/a
    2026-11-30T12:49:47Z "Successfully bound pod to node" pod="b/a"

Only lines with a wanted message are taken apart. Their times carry a zone, so the stamps that come out are in UTC.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from analyzer.sources.kubernetes.decoding import REFUSED, Buffer
from analyzer.sources.kubernetes.klog import DAY_NS, Klog, KlogLine, Stamp, value_pairs
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


def read_structured(content: Buffer, messages: Iterable[str], times_ns: Sequence[int | None] = ()) -> Klog:
    """The lines with one of these messages. `times_ns`: by line, what a wrapper said, for lines without a time."""
    text = bytes(content)
    ordered = sorted(messages, key=lambda one: (-len(one), one))
    wanted = re.compile(b"|".join(re.escape(one.encode()) for one in ordered))
    known = frozenset(ordered)
    lines: list[KlogLine] = []
    first_year: int | None = None
    record, counted_to, done = 0, 0, 0

    def stamp(at_ns: int) -> Stamp:
        nonlocal first_year
        made, year = _stamp(at_ns)
        first_year = year if first_year is None else first_year
        return Stamp(year - first_year, made.month, made.day, made.of_day_ns)

    outer = [at_ns for at_ns in (next((one for one in times_ns if one is not None), None),) if at_ns is not None]
    first_ns = _edge_ns(text, first=True) or (outer[0] if outer else None)
    first = None if first_ns is None else stamp(first_ns)
    for found in wanted.finditer(text):
        if found.start() < done:
            continue
        start = text.rfind(b"\n", 0, found.start()) + 1
        end = text.find(b"\n", found.end())
        done = end = len(text) if end < 0 else end
        record += text.count(b"\n", counted_to, start)
        counted_to = start
        parsed = _parsed(text[start:end].rstrip(b"\r"), known)
        if parsed is None:
            continue
        at_ns, message, values = parsed
        if at_ns is None and record < len(times_ns):
            at_ns = times_ns[record]
        if at_ns is not None:
            lines.append(KlogLine(record, stamp(at_ns), message, values))
    last_ns = _edge_ns(text, first=False) or next((one for one in reversed(times_ns) if one is not None), None)
    last = stamp(last_ns) if last_ns is not None else None
    if lines and (last is None or last < lines[-1].stamp):
        last = lines[-1].stamp
    return Klog(
        lines=lines,
        first=first if first is not None else (lines[0].stamp if lines else None),
        last=last,
        records=text.count(b"\n") + (0 if not text or text.endswith(b"\n") else 1),
        year=first_year,
        zone_s=0 if first_year is not None else None,
    )


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
    """A text, or a number: milliseconds since 1970 as klog writes them, or seconds as zap does."""
    if isinstance(value, str):
        return parse_ns(value.replace(",", "."))
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < _TIME_MAX_S * 1000:
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


def _edge_ns(text: bytes, *, first: bool) -> int | None:
    """The time of the first or last line that has one, looked for near that end of the text."""
    near = text[:_EDGE_BYTES].split(b"\n") if first else text[-_EDGE_BYTES:].split(b"\n")[::-1]
    for line in near:
        found = _TIME_FIELD.search(line)
        if found is not None:
            at = found[1].decode()
            at_ns = _time_ns(at) if ":" in at else _time_ns(float(at))
        else:
            at_ns = _leading_ns(line)
        if at_ns is not None:
            return at_ns
    return None


def _stamp(at_ns: int) -> tuple[Stamp, int]:
    moment = datetime.fromtimestamp(at_ns // SECOND_NS, UTC)
    return Stamp(0, moment.month, moment.day, at_ns % DAY_NS), moment.year
