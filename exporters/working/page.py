"""The page that scrapes are answered from: made anew in the background, in the forms that were asked for lately."""

import gzip
import time
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from threading import Lock

from msgspec import Struct
from prometheus_client import ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector as Registry

from exporters.catalog.family import Sample
from exporters.subject import Follower, Key, Moment, Reading
from exporters.working.accounts import Accounts
from exporters.working.board import Board, Entry
from exporters.working.itself import own_samples
from exporters.working.sheet import Part, Sheet, laid_out, part_of

ASKED_LATELY_S = 600.0
"""A form that nobody has asked for so long is printed again only when somebody asks."""

NEWS_AFTER_S = 0.5
"""A subject that goes down or comes back is on a page so soon after the page before, and does not wait for its turn."""

GZIP_LEVEL = 1
"""The page is sent over a local network once: little work counts for more than the last byte."""


class Form(StrEnum):
    """How a page is printed: its content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    TEXTFILE = "textfile"  # for node_exporter, which publishes process_* of its own


class Print(Struct, frozen=True):
    """What is asked for: the form, and whether compressed."""

    form: Form
    zipped: bool = False


class Printed(Struct, frozen=True, kw_only=True):
    """One making of the page: when, from what, and what has been printed of it so far."""

    at: Moment
    metrics: tuple[Metric, ...]
    process: tuple[Metric, ...]
    copies: dict[Print, bytes]


class Page:
    """What scrapes get. `refresh` is called by the crew's thread, `copy` by any."""

    def __init__(
        self,
        board: Board,
        followers: Sequence[Follower],
        accounts: Accounts,
        *,
        version: str,
        interval_s: float = 5.0,
        series_max: int = 10_000,
        label_max: int = 256,
    ) -> None:
        self._board = board
        self._followers = followers
        self._accounts = accounts
        self._version = version
        self.interval_s = interval_s
        self._series_max = series_max
        self._label_max = label_max
        self._page_s = 0.0
        self._next_s = float("-inf")
        self._news_from_s = float("-inf")
        self._turns = 0
        self._parts: dict[Key, tuple[Reading[object], Part]] = {}
        self._asked: dict[Print, float] = {}
        self._printed: Printed | None = None
        self._printing = Lock()
        self._process = ProcessCollector(registry=None)

    @property
    def made(self) -> Moment | None:
        """When the present page was made; None before the first."""
        return self._printed.at if self._printed else None

    def refresh(self, now: Moment) -> float:
        """Make the page anew if it is time, or if there is news. Returns when it is next (monotonic). O(series)."""
        news = self._turns != self._board.turns
        if now.mono_s >= (min(self._next_s, self._news_from_s) if news else self._next_s):
            self._next_s = now.mono_s + self.interval_s
            self._news_from_s = now.mono_s + NEWS_AFTER_S
            self._turns, news = self._board.turns, False
            self.make(now)
        return min(self._next_s, self._news_from_s) if news else self._next_s

    def make(self, now: Moment) -> None:
        """Make the page from what is known now, and print it in the forms that were asked for lately."""
        began_s = time.perf_counter()
        sheet = self._sheet(now)
        lately = [each for each, asked_s in list(self._asked.items()) if now.mono_s - asked_s <= ASKED_LATELY_S]
        printed = Printed(at=now, metrics=sheet.metrics, process=tuple(self._process.collect()), copies={})
        for each in sorted(lately, key=lambda it: (it.form, it.zipped)):
            _print(printed, each)
        self._printed = printed
        self._account_for(sheet)
        self._page_s = time.perf_counter() - began_s

    def copy(self, what: Print, now: Moment) -> bytes | None:
        """The present page in this form; None before the first. Costs nothing if the form was asked for lately."""
        self._asked[what] = now.mono_s
        printed = self._printed
        if printed is None:
            return None
        if (found := printed.copies.get(what)) is not None:
            return found
        with self._printing:
            return _print(printed, what)

    def _sheet(self, now: Moment) -> Sheet:
        entries = self._board.entries()
        parts = [part for entry in entries if (part := self._part(entry, now)) is not None]
        parts += [part for follower in self._followers if (part := self._heard(follower, now)) is not None]
        own = own_samples(entries, self._accounts, self._page_s, self._version, now)
        known = {entry.key for entry in entries}
        self._parts = {key: kept for key, kept in self._parts.items() if key in known}
        return laid_out([part_of(own, self._label_max, self._series_max), *parts], self._series_max)

    def _part(self, entry: Entry, now: Moment) -> Part | None:
        """What the subject's value says: worked out once for each reading."""
        if (value := entry.value(now)) is None:
            return None
        kept = self._parts.get(entry.key)
        if kept is None or kept[0] is not entry.reading:
            part = self._taken(lambda: entry.subject.samples(value), entry.key.kind)
            kept = self._parts[entry.key] = (entry.reading, part)
        return kept[1]

    def _heard(self, follower: Follower, now: Moment) -> Part:
        return self._taken(lambda: follower.samples(now), type(follower).__name__)

    def _taken(self, samples: Callable[[], Iterable[Sample]], who: str) -> Part:
        """The samples of one part; none of them if it breaks, which is counted."""
        try:
            return part_of(samples(), self._label_max, self._series_max)
        except Exception:  # noqa: BLE001  a part that breaks costs itself, whatever it raises
            self._accounts.broken[who] += 1
            return Part(lines=(), rejected=0)

    def _account_for(self, sheet: Sheet) -> None:
        self._accounts.duplicates += sheet.duplicates
        self._accounts.rejected += sheet.rejected
        for group, series in sheet.left_out.items():
            self._accounts.left_out[group.value] += series


class _Known(Registry):
    """Families that are there already, as prometheus_client wants them."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _print(printed: Printed, what: Print) -> bytes:
    """The page in this form; printed once, then kept."""
    if (found := printed.copies.get(what)) is not None:
        return found
    if what.zipped:
        copy = gzip.compress(_print(printed, Print(what.form)), compresslevel=GZIP_LEVEL)
    else:
        process = () if what.form is Form.TEXTFILE else printed.process
        generate = generate_openmetrics if what.form is Form.OPENMETRICS else generate_latest
        copy = generate(_Known([*printed.metrics, *process]))
    return printed.copies.setdefault(what, copy)


def negotiated(accept: str, accept_encoding: str) -> Print:
    """The form that a request's headers ask for: Prometheus text unless OpenMetrics is asked for."""
    try:
        kind = choose_encoder(accept)[1]
    except (TypeError, ValueError):  # a version that is none
        kind = Form.TEXT
    zipped = any(
        each.partition(";")[0].strip().lower() == "gzip" and "q=0" not in each.replace(" ", "").split(";")[1:]
        for each in accept_encoding.split(",")
    )
    return Print(Form.OPENMETRICS if kind.startswith("application/openmetrics-text") else Form.TEXT, zipped)
