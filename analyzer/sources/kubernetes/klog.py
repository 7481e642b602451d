"""klog text: one statement a line, stamped with month, day and time, but neither year nor zone.

    I1130 13:03:09.156492    7259 schedule_one.go:1239] "Unable to schedule pod; no fit; waiting" pod="a/b" err="..."

The place in the code differs by version for the same message, so only the message counts. Lines of the old style
(without quotes), continuation lines and messages that decide nothing are counted, not complained about.
"""

import calendar
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from analyzer.sources.kubernetes.log_lines import KlogLine, LogLines, Stamp
from analyzer.sources.kubernetes.log_text import LogText
from analyzer.sources.kubernetes.message_places import one_of
from analyzer.sources.kubernetes.times import SECOND_NS
from analyzer.sources.mapped import line_ends

DAY_NS = 86_400 * SECOND_NS

_BEFORE = rb"(?:[^\n\"]{1,160}? )?"  # what `kubectl logs --timestamps`, a container runtime or journald writes first
_COLOUR = rb"(?:\x1b\[[0-9;]*m)*"
_STAMP = rb"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})\s+\d+ "
STAMPED = re.compile(rb"^" + _BEFORE + _COLOUR + _STAMP + rb"[^\s\]]+:\d+\] ", re.MULTILINE)
_BARE_STAMP = re.compile(rb"^" + _COLOUR + _STAMP, re.MULTILINE)
_CONTAINER_STAMP = re.compile(rb"^\d{4}-[^ \n]+ (?:stdout|stderr) F " + _COLOUR + _STAMP, re.MULTILINE)
_ANY_STAMP = re.compile(rb"^" + _BEFORE + _COLOUR + _STAMP, re.MULTILINE)
_DATES_BYTES = 1 << 22
_END_MAX_BYTES = 1 << 26
_HALF_YEAR = 6
_QUICK_STAMPS = (_BARE_STAMP, _CONTAINER_STAMP)
_ESCAPES = re.compile(rb"\x1b\[[0-9;]*m")
_PAIR = re.compile(r'([A-Za-z_][\w./-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*)?)')
_UNQUOTE = re.compile(r"\\(.)")
_FULL_DATE = re.compile(rb"\b(20\d\d)-(\d\d)-(\d\d)[T ]\d\d:\d\d:\d\d")
_PLAIN_LETTERS = {"n": "\n", "t": "\t"}
NO_RUNS: Final[Mapping[str, str]] = MappingProxyType({})
"""Every line is kept."""


class Klog(Struct, frozen=True, kw_only=True):
    """A whole log: stamps of its first and last line, the lines that matter, and the year if a line names it.

    `records` counts the lines of the document, `matching` those that matter; `lines` may stand for several of them.
    `zone_s`: seconds east of UTC of its stamps, where a second clock in the lines tells; then so is `year`.
    """

    lines: list[KlogLine]
    first: Stamp | None
    last: Stamp | None
    records: int
    matching: int
    year: int | None
    zone_s: int | None = None


def read_klog(log: LogText, messages: Iterable[str], repeated: Mapping[str, str] = NO_RUNS) -> Klog:
    """Read the lines with one of these messages; of those in `repeated` runs are cut short (`LogLines`).

    One pass of a regular expression that begins with plain letters, however long the log is.
    """
    # Looking for something before the stamp costs as much again, so only where lines do not begin with it.
    stamp_form = next((one for one in _QUICK_STAMPS if one.search(log.head.text) is not None), _ANY_STAMP)
    wanted = re.compile(rb'\] "(' + one_of(messages) + rb')"([^\r\n]*)')
    turns = _Turns()
    first = stamp_form.search(log.head.text)
    lines = LogLines(repeated, _stamp_of)
    first_stamp = None if first is None else _stamp_of((turns.turn(first[1]), _text_of(first)))
    known, take, turn = lines.known, lines.take, turns.turn
    for block in log.blocks():
        text, records = block.text, block.records
        number = counted_to = 0
        for found in wanted.finditer(text):
            start = text.rfind(b"\n", counted_to, found.start()) + 1 or counted_to
            stamped = stamp_form.match(text, start)
            if stamped is None or stamped.end() > found.start():
                continue
            number += line_ends(text[counted_to:start])
            counted_to = start
            saying = known(found[0])
            if saying is None:
                values = dict(value_pairs(_ESCAPES.sub(b"", found[2]).decode("utf-8", "replace")))
                saying = lines.learn(found[0], sys.intern(found[1].decode()), values)
            take(saying, records[number], (turn(stamped[1]), text[stamped.start(1) : stamped.end(6)]))
    last = _last(log, stamp_form)
    return Klog(
        lines=lines.all(),
        first=first_stamp,
        last=None if last is None else _stamp_of((turns.turn(last[1]), _text_of(last))),
        records=log.records,
        matching=lines.taken,
        year=_named_year(log.start(_DATES_BYTES), stamp_form),
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
    return _stamp_of((0, _text_of(found)))


def _text_of(found: re.Match[bytes]) -> bytes:
    """`1130 13:03:09.156492` of a stamped line. Of two of one year the later is the greater."""
    return found.string[found.start(1) : found.end(6)]


def _stamp_of(moment: tuple[int, bytes]) -> Stamp:
    turn, text = moment
    month, day = int(text[:2]), int(text[2:4])
    seconds = int(text[5:7]) * 3600 + int(text[8:10]) * 60 + int(text[11:13])
    fraction_ns = int((text[14:] + b"000000000")[:9])
    return Stamp(
        turn,
        month if 1 <= month <= 12 else 1,
        day if 1 <= day <= 31 else 1,
        seconds * SECOND_NS + fraction_ns,
    )


class _Turns:
    """Counts New Years: a December before, a January after is one; a little disorder of lines is not."""

    def __init__(self) -> None:
        self._turn = 0
        self._month = 0
        self._text = b""

    def turn(self, text: bytes) -> int:
        """Of a line of this month (two digits); lines must come in order."""
        if text == self._text:
            return self._turn
        month = int(text)
        month = month if 1 <= month <= 12 else 1
        if self._month - month >= _HALF_YEAR:
            self._turn += 1
        elif month - self._month >= _HALF_YEAR and self._turn > 0:
            return self._turn - 1  # a late line of the old year
        self._month, self._text = month, text
        return self._turn


def _last(log: LogText, stamp_form: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """The last stamped line; None if a whole stretch at the end has none."""
    size = 1 << 16
    while True:
        found = list(stamp_form.finditer(log.end(size).text))
        if size < log.size_bytes:
            found = found[1:]  # the first may begin in the middle of a line
        if found:
            return found[-1]
        if size >= min(log.size_bytes, _END_MAX_BYTES):
            return None
        size *= 4


def value_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values of `key="value" key=value`, unquoted."""
    for key, quoted, bare in _PAIR.findall(text):
        yield key, _UNQUOTE.sub(lambda found: _PLAIN_LETTERS.get(found[1], found[1]), quoted) if quoted else bare


def _named_year(text: bytes, stamp_form: re.Pattern[bytes]) -> int | None:
    """The year in a date that a line names and that is the line's own day, give or take one."""
    for found in _FULL_DATE.finditer(text):
        stamp = stamp_form.match(text, text.rfind(b"\n", 0, found.start()) + 1)
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
