"""The latest word on every subject, with the times it is of; and when a word is too old to be repeated."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from exporters.subject import Key, Moment, ReadError, Reading, Reason, Subject
from exporters.working.worker import Look

FAILURES_UNTIL_DOWN = 3
"""One failed read happens; three in a row are a state."""

AGE_INTERVALS_MAX = 3
"""A value that was not read anew for so many intervals is withdrawn: rather none than one that looks fresh."""


AGE_S_MIN = 10.0
"""But it may always be so old: who is read each second must not come and go with the load of the node."""


class Entry(Struct, frozen=True, kw_only=True):
    """What is known of one subject.

    `reading` began at `began`, which is the time its values are of, and was noted at `noted`. `failures`: reads in a
    row that gave nothing. `up_at`: when a read last said that the subject is up. `stuck_since`: when the read that has
    not returned in time began.
    """

    key: Key
    subject: Subject[Any]
    reading: Reading[Any]
    began: Moment
    noted: Moment
    duration_s: float = 0.0
    failures: int = 0
    up_at: Moment | None = None
    stuck_since: Moment | None = None

    def value(self, now: Moment) -> Any | None:
        """The reading's value while it may be published: the subject is up, and the value not too old."""
        age_s = now.mono_s - self.began.mono_s
        age_s_max = max(AGE_INTERVALS_MAX * self.subject.interval_s, AGE_S_MIN)
        return self.reading.value if self.reading.up and age_s <= age_s_max else None


class Board:
    """Entries by key. Written and read by the crew's thread alone."""

    def __init__(self) -> None:
        self.turns = 0
        """How often a subject went down, came back, or is down for another reason than before."""
        self._entries: dict[Key, Entry] = {}

    def note(self, look: Look, at: Moment) -> Entry:
        """A read has come back. O(1)."""
        old = self._entries.get(look.key)
        reading, failures = judged(look, old)
        entry = Entry(
            key=look.key,
            subject=look.subject,
            reading=reading,
            began=look.began,
            noted=at,
            duration_s=max(look.ended.mono_s - look.began.mono_s, 0.0),
            failures=failures,
            up_at=at if reading.up and not failures else old.up_at if old else None,
        )
        return self._kept(entry)

    def note_stuck(self, subject: Subject[Any], since: Moment, at: Moment) -> Entry:
        """A read has not come back in time. O(1)."""
        old = self._entries.get(subject.key)
        entry = Entry(
            key=subject.key,
            subject=subject,
            reading=Reading(value=None, up=False, reason=Reason.TIMEOUT),
            began=since,
            noted=at,
            duration_s=at.mono_s - since.mono_s,
            up_at=old.up_at if old else None,
            stuck_since=since,
        )
        return self._kept(entry)

    def _kept(self, entry: Entry) -> Entry:
        old = self._entries.get(entry.key)
        now, before = entry.reading, old.reading if old else None
        self.turns += before is None or (now.up, now.reason) != (before.up, before.reason)
        self._entries[entry.key] = entry
        return entry

    def forget(self, key: Key) -> None:
        """The subject is no more."""
        self._entries.pop(key, None)

    def entries(self) -> list[Entry]:
        """All, sorted by key."""
        return [self._entries[key] for key in sorted(self._entries)]


def judged(look: Look, old: Entry | None) -> tuple[Reading[Any], int]:
    """The reading as it counts, and how many in a row gave nothing.

    A read that raised, or gave errors and no value, is one failure. The subject stays up over the first two if it was
    up before; one that has never been read is down from the first.
    """
    reading = look.reading
    if reading is None:
        reading = Reading(value=None, errors=(ReadError("read", look.raised),))
    elif not reading.up or reading.value is not None or not reading.errors:
        return reading, 0
    failures = (old.failures if old else 0) + 1
    was_up = old is not None and old.reading.up
    if was_up and failures < FAILURES_UNTIL_DOWN:
        return reading, failures
    return replace(reading, up=False, reason=Reason.ERRORS), failures
