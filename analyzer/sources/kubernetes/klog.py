"""klog text: one statement a line, stamped with month, day and time, but neither year nor zone.

    I1130 13:03:09.156492    7259 schedule_one.go:1239] "Unable to schedule pod; no fit; waiting" pod="a/b" err="..."

The place in the code differs by version for the same message, so only the message counts. Lines of the old style
(without quotes), continuation lines and messages that decide nothing are counted, not complained about.
"""

import calendar
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime

from msgspec import Struct

from analyzer.sources.kubernetes.decoding import Buffer
from analyzer.sources.kubernetes.times import SECOND_NS

DAY_NS = 86_400 * SECOND_NS

_BEFORE = rb"(?:[^\n\"]{1,160}? )?"  # what `kubectl logs --timestamps`, a container runtime or journald writes first
_COLOUR = rb"(?:\x1b\[[0-9;]*m)*"
_STAMP = rb"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})\s+\d+ "
STAMPED = re.compile(rb"^" + _BEFORE + _COLOUR + _STAMP + rb"[^\s\]]+:\d+\] ", re.MULTILINE)
_BARE_STAMP = re.compile(rb"^" + _COLOUR + _STAMP, re.MULTILINE)
_CONTAINER_STAMP = re.compile(rb"^\d{4}-[^ \n]+ (?:stdout|stderr) F " + _COLOUR + _STAMP, re.MULTILINE)
_ANY_STAMP = re.compile(rb"^" + _BEFORE + _COLOUR + _STAMP, re.MULTILINE)
_PEEK_BYTES = 1 << 16
_QUICK_STAMPS = (_BARE_STAMP, _CONTAINER_STAMP)
_ESCAPES = re.compile(rb"\x1b\[[0-9;]*m")
_PAIR = re.compile(r'([A-Za-z_][\w./-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*)?)')
_UNQUOTE = re.compile(r"\\(.)")
_FULL_DATE = re.compile(rb"\b(20\d\d)-(\d\d)-(\d\d)[T ]\d\d:\d\d:\d\d")
_PLAIN_LETTERS = {"n": "\n", "t": "\t"}


class Stamp(Struct, frozen=True, order=True):
    """Month, day, nanoseconds of the day; `turn` counts the New Years since the first line."""

    turn: int
    month: int
    day: int
    of_day_ns: int


class KlogLine(Struct, frozen=True):
    """A line that matters: its record (the line from 0), its stamp, its message, its key and value pairs."""

    record: int
    stamp: Stamp
    message: str
    values: dict[str, str]


class Klog(Struct, frozen=True, kw_only=True):
    """A whole log: stamps of its first and last line, the lines that matter, and the year if a line names it.

    `zone_s`: seconds east of UTC of its stamps, where a second clock in the lines tells; then so is `year`.
    """

    lines: list[KlogLine]
    first: Stamp | None
    last: Stamp | None
    records: int
    year: int | None
    zone_s: int | None = None


def read_klog(content: Buffer, messages: Iterable[str]) -> Klog:
    """Read the lines with one of these messages. One pass of a regular expression, however long the log is."""
    view = memoryview(content)
    # Looking for something before the stamp costs as much again, so only where lines do not begin with it.
    stamp_form = next((one for one in _QUICK_STAMPS if one.search(view, 0, _PEEK_BYTES) is not None), _ANY_STAMP)
    wanted = re.compile(
        stamp_form.pattern
        + rb'[^\n]*?\] "('
        + b"|".join(re.escape(message.encode()) for message in sorted(messages, key=lambda text: (-len(text), text)))
        + rb')"([^\r\n]*)',
        re.MULTILINE,
    )
    turns = _Turns(view, stamp_form)
    lines: list[KlogLine] = []
    values_of: dict[bytes, dict[str, str]] = {}  # a scheduler says the same of the same pod again and again
    record, counted_to = 0, 0
    for found in wanted.finditer(view):
        record += bytes(view[counted_to : found.start()]).count(b"\n")
        counted_to = found.start()
        rest = found[8]
        values = values_of.get(rest)
        if values is None:
            values = values_of[rest] = dict(value_pairs(_ESCAPES.sub(b"", rest).decode("utf-8", "replace")))
        lines.append(KlogLine(record, turns.stamp(found), sys.intern(found[7].decode()), values))
    record += bytes(view[counted_to:]).count(b"\n")
    ends_with_newline = len(view) == 0 or view[len(view) - 1] == ord("\n")
    return Klog(
        lines=lines,
        first=turns.first,
        last=turns.last,
        records=record + (0 if ends_with_newline else 1),
        year=_named_year(view, stamp_form),
    )


def year_of(log: Klog, near_ns: int, offset_s: int) -> int:
    """The year of the log's first line that puts its last line nearest to a moment known from elsewhere."""
    around = datetime.fromtimestamp(near_ns // SECOND_NS, UTC).year
    if log.last is None:
        return around
    last = log.last
    candidates = [around + shift - last.turn for shift in (-1, 0, 1)]
    return min(candidates, key=lambda year: (abs(stamp_ns(last, year, offset_s) - near_ns), year))


def stamp_ns(stamp: Stamp, first_year: int, offset_s: int) -> int:
    """Nanoseconds since 1970 UTC. A 29 February in a year without one is taken as 1 March: the year is wrong anyway."""
    year = first_year + stamp.turn
    day = min(stamp.day, calendar.monthrange(year, stamp.month)[1])
    days = date(year, stamp.month, day).toordinal() - date(1970, 1, 1).toordinal() + (stamp.day - day)
    return days * DAY_NS + stamp.of_day_ns - offset_s * SECOND_NS


def stamp_in(found: re.Match[bytes]) -> Stamp:
    """The stamp of this line, taken by itself."""
    return _made(0, *_month_and_day(found), found)


def _month_and_day(found: re.Match[bytes]) -> tuple[int, int]:
    month, day = int(found[1]), int(found[2])
    return (month if 1 <= month <= 12 else 1), (day if 1 <= day <= 31 else 1)


def _made(turn: int, month: int, day: int, found: re.Match[bytes]) -> Stamp:
    seconds = int(found[3]) * 3600 + int(found[4]) * 60 + int(found[5])
    return Stamp(turn, month, day, seconds * SECOND_NS + int((found[6] + b"000000000")[:9]))


class _Turns:
    """Stamps in the order of lines: a December before, a January after is a New Year; a little disorder is not."""

    def __init__(self, view: memoryview, stamp_form: re.Pattern[bytes]) -> None:
        self._turn = 0
        self._month = 0
        self._stamp_form = stamp_form
        first = next(stamp_form.finditer(view), None)
        self.first = self.stamp(first) if first is not None else None
        self._view = view

    def stamp(self, found: re.Match[bytes]) -> Stamp:
        """The stamp of this line; lines must come in order."""
        month, day = _month_and_day(found)
        if self._month - month >= _HALF_YEAR:
            self._turn += 1
        elif month - self._month >= _HALF_YEAR and self._turn > 0:
            return _made(self._turn - 1, month, day, found)  # a late line of the old year
        self._month = month
        return _made(self._turn, month, day, found)

    @property
    def last(self) -> Stamp | None:
        """The stamp of the last stamped line."""
        end = len(self._view)
        size = 1 << 16
        while True:
            start = max(0, end - size)
            tail = list(self._stamp_form.finditer(self._view, start))
            if start > 0:
                tail = tail[1:]  # the first may begin in the middle of a line
            if tail or start == 0:
                return self.stamp(tail[-1]) if tail else None
            size *= 4


_HALF_YEAR = 6


def value_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values of `key="value" key=value`, unquoted."""
    for key, quoted, bare in _PAIR.findall(text):
        yield key, _UNQUOTE.sub(lambda found: _PLAIN_LETTERS.get(found[1], found[1]), quoted) if quoted else bare


def _named_year(view: memoryview, stamp_form: re.Pattern[bytes]) -> int | None:
    """The year in a date that a line names and that is the line's own day, give or take one."""
    for found in _FULL_DATE.finditer(view, 0, min(len(view), 1 << 22)):
        line_start = bytes(view[max(0, found.start() - 4096) : found.start()]).rfind(b"\n")
        begin = max(0, found.start() - 4096) + line_start + 1
        stamp = stamp_form.match(view, begin)
        if stamp is None:
            continue
        try:
            named = date(int(found[1]), int(found[2]), int(found[3]))
            own = date(named.year, int(stamp[1]), int(stamp[2]))
        except ValueError:
            continue
        if abs((named - own).days) <= 1:
            return named.year
    return None
