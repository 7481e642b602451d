"""Crew, board and page put together, and the rounds that one thread makes with them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from threading import Event

from exporters.config import Settings
from exporters.subject import Follower, Source
from exporters.working.accounts import Accounts
from exporters.working.board import Board
from exporters.working.crew import Crew
from exporters.working.page import Page
from exporters.working.worker import Clock, Hire, Worker, system_clock

REST_S_MAX = 60.0
"""A wait that is longer than any rhythm only wakes to rest again."""


class Office:
    """All that reads, for one life. Nothing is touched before the first round."""

    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, Source],
        followers: Sequence[Follower],
        *,
        clock: Clock = system_clock,
        hire: Hire | None = None,
    ) -> None:
        self.clock = clock
        self.board = Board()
        self.followers = list(followers)
        self.accounts = Accounts()
        self.crew = Crew(
            sources,
            self.followers,
            self.board,
            self.accounts,
            hire or partial(Worker, clock=clock),
            settings.limit.subjects_max,
        )
        self.page = Page(
            self.board,
            self.followers,
            self.accounts,
            version=version("knotwatch"),
            interval_s=settings.web.page_interval_s,
            series_max=settings.limit.series_max,
            label_max=settings.limit.label_max,
        )

    def rounds(self, stop: Event, page_made: Callable[[Page], None] = lambda _page: None) -> None:
        """Read and make pages until told to stop (then ring `crew.bell`), each new page being handed on.

        The first page waits until there is word of every subject, or as long as one page lasts.
        """
        first_by_s = self.clock().mono_s + self.page.interval_s
        made = None
        while not stop.is_set():
            self.crew.bell.clear()
            now = self.clock()
            next_s = self.crew.step(now)
            if made is not None or self.crew.heard_all() or now.mono_s >= first_by_s:
                next_s = min(next_s, self.page.refresh(now))
            else:
                next_s = min(next_s, first_by_s)
            if self.page.made is not made:
                made = self.page.made
                page_made(self.page)
            self.crew.bell.wait(min(max(next_s - self.clock().mono_s, 0.0), REST_S_MAX))
        self.crew.close()

    def once(self, within_s: float, over_s: float = 0.0) -> bool:
        """Read every subject, again after `over_s` if that is not 0, and make one page.

        The second look is for what only a span can tell. Returns whether all had been heard of in time.
        """
        until_s = self.clock().mono_s + within_s
        heard = self._all_heard(float("-inf"), until_s)
        if heard and over_s:
            self.crew.bell.clear()
            self._rest(min(self.clock().mono_s + over_s, until_s))
            self.crew.hurry(self.clock())
            heard = self._all_heard(self.clock().mono_s, until_s)
        self.page.make(self.clock())
        self.crew.close()
        return heard

    def _all_heard(self, since_s: float, until_s: float) -> bool:
        """Step until there is word of all, or no more time."""
        while True:
            self.crew.bell.clear()
            now = self.clock()
            next_s = self.crew.step(now)
            if self.crew.heard_all(since_s) or now.mono_s >= until_s:
                return self.crew.heard_all(since_s)
            self.crew.bell.wait(max(min(next_s, until_s) - self.clock().mono_s, 0.0))

    def _rest(self, until_s: float) -> None:
        """Wait, whoever rings."""
        while (left_s := until_s - self.clock().mono_s) > 0:
            self.crew.bell.wait(left_s)
            self.crew.bell.clear()
