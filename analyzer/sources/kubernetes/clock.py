"""The latest time in the documents, and one clock that is plainly wrong.

A node or a person with a clock in the future must not move the end of the recording: everything would look overdue.
So a time more than a day beyond all others counts only if more than one object testifies to it, or if the API server
itself does: it stamps the creation, and its resource versions grow.
"""

from collections.abc import Hashable

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.times import SECOND_NS

JUMP_NS = 86_400 * SECOND_NS


class Testimony(Struct, frozen=True):
    """A time, who testifies to it, and where that stands.

    Of an object also what to call it, its resource version (0: it has none), and when the API server created it.
    """

    at_ns: int
    who: Hashable
    citation: Citation
    called: str = "this entry"
    version: int = 0
    created_ns: int | None = None


class Clock:
    """Hears every time, and knows the latest two of different witnesses."""

    def __init__(self) -> None:
        self.best: Testimony | None = None
        self.second_ns: int | None = None

    def worth_hearing(self, at_ns: int) -> bool:
        """Whether a testimony of this time would change anything: most would not, and need not be made."""
        return self.second_ns is None or at_ns > self.second_ns

    def hear(self, said: Testimony) -> None:
        """Take one testimony into account."""
        best = self.best
        if best is None:
            self.best = said
        elif said.at_ns > best.at_ns:
            if said.who != best.who:
                self.second_ns = best.at_ns
            self.best = said
        elif said.who != best.who and (self.second_ns is None or said.at_ns > self.second_ns):
            self.second_ns = said.at_ns

    @property
    def lone_jump(self) -> Testimony | None:
        """The testimony that no other comes near to; it needs somebody who vouches for it."""
        if self.best is None or self.second_ns is None or self.best.at_ns - self.second_ns <= JUMP_NS:
            return None
        return self.best
