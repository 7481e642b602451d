"""What the way out says of itself: requests by status, and whether the web configuration is that of the file."""

from collections.abc import Iterator
from typing import Any

from exporters.catalog.family import Sample
from exporters.catalog.itself import HTTP_REQUESTS, WEB_CONFIG_CURRENT
from exporters.serving.http import Listener
from exporters.subject import Key, Moment, Reading


class Reception:
    """A follower that follows nothing: the listener's counts, for the page."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        """Nothing to note."""

    def forget(self, key: Key) -> None:
        """Nothing to forget."""

    def samples(self, now: Moment) -> Iterator[Sample]:  # noqa: ARG002  counts have no age
        for status, count in sorted(self._listener.requests.copy().items()):
            yield Sample(HTTP_REQUESTS, (str(int(status)),), count)
        yield Sample(WEB_CONFIG_CURRENT, (), not self._listener.keeper.complaint)
