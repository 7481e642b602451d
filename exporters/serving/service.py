"""The exporter as a service: reads in the background, answers scrapes, writes the textfile, stops when told to."""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType

from exporters.config import Settings
from exporters.serving.http import Listener
from exporters.serving.reception import Reception
from exporters.serving.textfile import remove_page, write_page
from exporters.serving.web_config import Keeper
from exporters.subject import Follower, Source
from exporters.working.office import Office
from exporters.working.page import Form, Page, Print

Say = Callable[[str], None]

STOPS = (signal.SIGTERM, signal.SIGINT)


class Service:
    """One life of the exporter. Raises ConfigError for settings that cannot be meant, before anything is read."""

    def __init__(
        self, settings: Settings, sources: Mapping[str, Source], followers: Sequence[Follower], say: Say
    ) -> None:
        self._say = say
        self._textfile = Path(settings.textfile.path) if settings.textfile.path else None
        self._complaint = ""
        self.stop = Event()
        self.office = Office(settings, sources, followers)
        keeper = Keeper(Path(settings.web.config_file) if settings.web.config_file else None)
        self._keeper = keeper
        self.listener = Listener(
            settings.web.listen, self.office.page, keeper, concurrent_max=settings.web.concurrent_max
        )
        self.office.followers.append(Reception(self.listener))

    def run(self) -> None:
        """Serve until `end` is called."""
        self.listener.start()
        try:
            self.office.rounds(self.stop, self._page_made)
        finally:
            self.listener.stop()
            if self._textfile:
                remove_page(self._textfile)

    def end(self) -> None:
        """Stop, soon and in order. May be called by a signal."""
        self.stop.set()
        self.office.crew.bell.set()

    def _page_made(self, page: Page) -> None:
        if self._textfile:
            try:
                write_page(self._textfile, page.copy(Print(Form.TEXTFILE), self.office.clock()) or b"")
            except OSError as error:
                self._complain(f"{self._textfile} cannot be written: {(error.strerror or str(error)).lower()}.")
                return
        self._complain(self._keeper.complaint)

    def _complain(self, sentence: str) -> None:
        """Say it once, not at every page."""
        if sentence and sentence != self._complaint:
            self._say(sentence)
        self._complaint = sentence


@contextmanager
def stopped_by_signals(service: Service) -> Iterator[None]:
    """The first SIGTERM or SIGINT ends the service in order; the second one, the process."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature is the standard library's
        for each in STOPS:
            signal.signal(each, signal.SIG_DFL)
        service.end()

    before = {each: signal.signal(each, end) for each in STOPS}
    try:
        yield
    finally:
        for each, action in before.items():
            signal.signal(each, action)
