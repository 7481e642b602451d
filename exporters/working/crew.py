"""Who is read when: workers come and go with their subjects, and none is asked twice at the same time.

All decisions are made in `step`, by one thread, from the moment it is given and from the looks that have come back.
So the same looks at the same moments give the same board, and tests run in a time of their own.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

from exporters.catalog.family import Sample
from exporters.subject import Follower, Key, Moment, Reading, Source, Subject
from exporters.working.accounts import Accounts
from exporters.working.board import Board, Entry
from exporters.working.worker import Hand, Hire, Look

ROSTER = "roster"
"""The kind of the subjects that list subjects."""

ROSTER_INTERVAL_S = 5.0
ROSTER_DEADLINE_S = 10.0
LEFT_BEHIND_RATIO_MAX = 2
"""Workers there are at most, as a multiple of the subjects: those included that never came back from one now gone."""

IDLE_S = 60.0
"""How long the crew rests at most when it has nothing to do."""


class Roster:
    """A source as a subject: that which lists subjects may hang like any other."""

    interval_s = ROSTER_INTERVAL_S
    deadline_s = ROSTER_DEADLINE_S

    def __init__(self, name: str, source: Source, subjects_max: int) -> None:
        self.key = Key(ROSTER, name)
        self._source = source
        self._subjects_max = subjects_max

    def read(self, now: Moment) -> Reading[tuple[Subject[Any], ...]]:  # noqa: ARG002  the protocol gives the time
        return Reading(value=tuple(islice(self._source(), self._subjects_max + 1)))

    def samples(self, value: tuple[Subject[Any], ...]) -> Iterable[Sample]:  # noqa: ARG002  a list is no measurement
        return ()


class Work:
    """One subject's turns. `began`: the open read, if one is. `next_s`: when its next turn is (monotonic)."""

    def __init__(self, subject: Subject[Any], hand: Hand, next_s: float) -> None:
        self.subject = subject
        self.hand = hand
        self.next_s = next_s
        self.began: Moment | None = None
        self.stuck = False
        self.present = True


class Crew:
    """Reads all subjects of all sources, each in its rhythm, and tells the board and the followers.

    `step` is called by one thread alone; hands report from theirs, and ring the bell.
    """

    def __init__(
        self,
        sources: Mapping[str, Source],
        followers: Sequence[Follower],
        board: Board,
        accounts: Accounts,
        hire: Hire,
        subjects_max: int = 512,
    ) -> None:
        self.bell = Event()
        self._followers = followers
        self._board = board
        self._accounts = accounts
        self._hire = hire
        self._subjects_max = subjects_max
        self._returned: SimpleQueue[Look] = SimpleQueue()
        self._listed: dict[Key, tuple[Subject[Any], ...]] = {}
        self._works: dict[Key, Work] = {}
        for name in sorted(sources):
            self._employ(Roster(name, sources[name], subjects_max), next_s=float("-inf"))

    def step(self, now: Moment) -> float:
        """Do all that is due. Returns when there is more to do (monotonic), unless the bell rings before.

        O(subjects), and what followers make of the looks.
        """
        self._take_returned(now)
        for key in sorted(self._works):
            self._turn(self._works[key], now)
        return min((self._due_s(work) for work in self._works.values()), default=now.mono_s + IDLE_S)

    def heard_all(self, since_s: float = float("-inf")) -> bool:
        """Whether there is word of every subject that is known, and of every list of them, since then (monotonic)."""
        noted = {entry.key for entry in self._board.entries() if entry.noted.mono_s >= since_s or entry.stuck_since}
        return all(key in noted for key, work in self._works.items() if work.present)

    def hurry(self, now: Moment) -> None:
        """Let it be everybody's turn now."""
        for work in self._works.values():
            work.next_s = now.mono_s

    def close(self) -> None:
        """Send everybody home. Whoever does not come back from a read is left behind."""
        for work in self._works.values():
            work.hand.close()

    def _tell(self, look: Look) -> None:
        """Called by hands, from their threads."""
        self._returned.put(look)
        self.bell.set()

    def _take_returned(self, now: Moment) -> None:
        looks = []
        while True:
            try:
                looks.append(self._returned.get_nowait())
            except Empty:
                break
        # In order of time, not of the threads' luck.
        for look in sorted(looks, key=lambda each: (each.ended.mono_s, each.key)):
            self._take(look, now)

    def _take(self, look: Look, now: Moment) -> None:
        work = self._works[look.key]
        work.began, work.stuck = None, False
        if not work.present:
            self._dismiss(look.key)
            return
        entry = self._board.note(look, now)
        self._tell_followers(entry, now)
        if look.key.kind == ROSTER and entry.reading.value is not None:
            self._listed[look.key] = entry.reading.value
            self._reconcile(now)

    def _tell_followers(self, entry: Entry, now: Moment) -> None:
        for error in entry.reading.errors:
            self._accounts.count_error(error)
        if entry.key.kind == ROSTER:
            return
        for follower in self._followers:
            try:
                follower.note(entry.key, entry.reading, now)
            except Exception:  # noqa: BLE001  a follower that breaks costs itself, whatever it raises
                self._accounts.broken[type(follower).__name__] += 1

    def _reconcile(self, now: Moment) -> None:
        """Bring the works in line with what all sources list. Of subjects with equal keys the first source's counts."""
        listed: dict[Key, Subject[Any]] = {}
        for roster in sorted(self._listed):
            for subject in self._listed[roster]:
                listed.setdefault(subject.key, subject)
        wanted = {key: listed[key] for key in sorted(listed)[: self._subjects_max]}
        for key in sorted(self._works):
            if key.kind != ROSTER and key not in wanted:
                self._let_go(key)
        refused = len(listed) - len(wanted)
        for key, subject in wanted.items():
            if work := self._works.get(key):
                work.subject = subject
                if not work.present:
                    work.present, work.stuck = True, False
            elif len(self._works) < LEFT_BEHIND_RATIO_MAX * self._subjects_max:
                self._employ(subject, next_s=now.mono_s)
            else:
                refused += 1
        self._accounts.subjects_refused = refused

    def _employ(self, subject: Subject[Any], next_s: float) -> None:
        hand = self._hire(f"{subject.key.kind} {subject.key.name}"[:64], self._tell)
        self._works[subject.key] = Work(subject, hand, next_s)

    def _let_go(self, key: Key) -> None:
        """The subject is gone. Its worker, if it is in a read, is kept on, so that nobody is hired beside it."""
        work = self._works[key]
        if work.present:
            work.present = False
            self._board.forget(key)
            for follower in self._followers:
                try:
                    follower.forget(key)
                except Exception:  # noqa: BLE001  as in note
                    self._accounts.broken[type(follower).__name__] += 1
        if work.began is None:
            self._dismiss(key)

    def _dismiss(self, key: Key) -> None:
        self._works.pop(key).hand.close()

    def _turn(self, work: Work, now: Moment) -> None:
        """What is due for one subject: to be read, to be called stuck, or to be passed over."""
        if not work.present:
            return
        if work.began is not None:
            if not work.stuck and now.mono_s - work.began.mono_s >= work.subject.deadline_s:
                work.stuck = True
                self._tell_followers(self._board.note_stuck(work.subject, work.began, now), now)
            if (missed := _turns_until(work, now)) > 0:
                self._accounts.skipped[work.subject.key.kind] += missed
                work.next_s += missed * work.subject.interval_s
        elif now.mono_s >= work.next_s:
            work.began = now
            # The rhythm is kept; but turns that nobody could take (the machine slept) are not made up for.
            late = now.mono_s - work.next_s >= work.subject.interval_s
            work.next_s = (now.mono_s if late else work.next_s) + work.subject.interval_s
            work.hand.begin(work.subject)

    def _due_s(self, work: Work) -> float:
        if not work.present:
            return float("inf")
        if work.began is None or work.stuck:
            return work.next_s
        return min(work.next_s, work.began.mono_s + work.subject.deadline_s)


def _turns_until(work: Work, now: Moment) -> int:
    """How many of a subject's turns have passed while it was read."""
    passed_s = now.mono_s - work.next_s
    return int(passed_s // work.subject.interval_s) + 1 if passed_s >= 0 else 0
