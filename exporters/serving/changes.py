"""What changed, for whoever reads the log: a subject that went down or came back, one line each, not too many."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from exporters.catalog.family import Sample
from exporters.subject import Key, Moment, Reading, Reason

SILENCE_S = 60.0
"""A subject that comes and goes is told of once in so long."""

WORDS: Mapping[Reason, str] = {
    Reason.NONE: "for no reason that it names",
    Reason.LOST: "it fell off the bus",
    Reason.RESET_REQUIRED: "it has to be reset",
    Reason.NOT_FOUND: "it was here and is no longer",
    Reason.FATAL_XID: "the driver reported an error after which calls may hang",
    Reason.TIMEOUT: "a call has not returned in time",
    Reason.DRIVER: "the driver is not loaded, or is of another version than its library",
    Reason.LIBRARY: "its library is not installed, or lacks what is needed",
    Reason.PERMISSION: "this user may not read it",
    Reason.ERRORS: "every call fails",
    Reason.UNREACHABLE: "nobody answers on its socket",
}
"""What each reason means, after `is down: `."""

KNOWN: Mapping[tuple[str, Reason], str] = {
    ("nvml", Reason.LIBRARY): "no NVIDIA library here: RDMA and node metrics are served, and GPUs are not.",
    ("nvml", Reason.DRIVER): "the NVIDIA driver is not loaded, or is of another version than its library: GPUs are not "
    "served until it is, which needs no restart here.",
    ("xid", Reason.LIBRARY): "",
    ("xid", Reason.DRIVER): "",
}
"""What is said instead, by kind and reason; nothing where another subject says it."""


def told(key: Key, reading: Reading[Any]) -> str:
    """How a subject is, as a sentence; empty if there is nothing to say."""
    name = f"{key.kind} {key.name}".rstrip()
    if reading.up:
        return f"{name} is up again."
    return KNOWN.get((key.kind, reading.reason), f"{name} is down: {WORDS[reading.reason]}.")


class Changes:
    """A follower that publishes nothing, and says what went up or down."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._told: dict[Key, tuple[Reason, bool, float]] = {}

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        reason, up, since_s = self._told.get(key, (Reason.NONE, True, float("-inf")))
        if (reading.reason, reading.up) == (reason, up) or at.mono_s - since_s < SILENCE_S:
            return
        self._told[key] = (reading.reason, reading.up, at.mono_s)
        if sentence := told(key, reading):
            self._say(sentence)

    def forget(self, key: Key) -> None:
        if key in self._told:
            del self._told[key]

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  the board publishes who is up
        return ()
