"""A log of whatever form, to the statements of the lines that matter: what wraps it, and how its lines are written."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from analyzer.sources.kubernetes.journald import is_wrapped, unwrapped
from analyzer.sources.kubernetes.klog import NO_RUNS, STAMPED, Klog, read_klog, stamp_in, stamp_ns
from analyzer.sources.kubernetes.log_text import Block, PlainLog
from analyzer.sources.kubernetes.structured_log import RECORD, TIME, read_structured
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.mapped import Buffer

_HEAD_LINES = 40
_DUMPED = re.compile(rb"\s*==== START logs for container ")
_COMPONENT = re.compile(rb"\b(kube-scheduler|kube-controller-manager|kueue|volcano|yunikorn|koord-scheduler|argo)\b")
_QUARTER_S = 900
_NEAR_S = 90
_FARTHEST_S = 14 * 3600
_CONTAINER_LOG = "container log"


def is_log(head: bytes) -> bool:
    """Whether these first bytes of a document are a log of a form that can be read, or logs of a cluster dump."""
    if is_wrapped(head) or _DUMPED.match(head) is not None:
        return True
    lines = b"\n".join(head.split(b"\n", _HEAD_LINES)[:_HEAD_LINES])
    return STAMPED.search(lines) is not None or RECORD.search(lines) is not None


def read_log(content: Buffer, messages: Iterable[str], repeated: Mapping[str, str] = NO_RUNS) -> tuple[Klog, str]:
    """(the log, what to call it). Records are lines of the document, also where it had to be unwrapped.

    Of the messages in `repeated` only the beginnings and ends of runs are kept (`LogLines`).
    """
    messages = frozenset(messages)
    text = unwrapped(content, messages) or PlainLog(content)
    head = text.head.text
    stamped, structured = STAMPED.search(head), RECORD.search(head)
    if stamped is not None and (structured is None or stamped.start() <= structured.start()):
        log = _with_clock(read_klog(text, messages, repeated), text.head)
        kind = "klog text"
    elif structured is not None or text.head.times_ns or _DUMPED.match(head) is None:
        log = read_structured(text, messages, repeated)
        kind = "log"
    else:
        return Klog(lines=[], first=None, last=None, records=0, matching=0, year=None), _CONTAINER_LOG
    name = _COMPONENT.search(head)
    if name is not None:
        kind = f"{name[1].decode()} log"
    return log, "kube-scheduler log" if log.lines else kind


def _with_clock(log: Klog, head: Block) -> Klog:
    """With year and zone, if the lines have a second clock before klog's own: it names both."""
    found = STAMPED.search(head.text)
    if found is None:
        return log
    number = head.text.count(b"\n", 0, found.start())
    outer_ns = head.times_ns[number] if number < len(head.times_ns) else None
    time = TIME.match(found[0])
    if time is not None:
        outer_ns = parse_ns(time[0].decode().replace(",", "."))
    if outer_ns is None:
        return log
    inner = stamp_in(found)
    years = range(_year_of(outer_ns) - 1, _year_of(outer_ns) + 2)
    year = min(years, key=lambda one: abs(stamp_ns(inner, one, 0) - outer_ns))
    apart_s = (stamp_ns(inner, year, 0) - outer_ns) / SECOND_NS
    zone_s = round(apart_s / _QUARTER_S) * _QUARTER_S
    if abs(apart_s - zone_s) > _NEAR_S or abs(zone_s) > _FARTHEST_S:
        return log
    return msgspec.structs.replace(log, year=year, zone_s=zone_s)


def _year_of(at_ns: int) -> int:
    return 1970 + at_ns // (SECOND_NS * 31_556_952)
