"""The contract between what is read and who reads it.

A *subject* is what can fail alone: one GPU, one RDMA device, the kubelet, the node. Each is read by a worker of its
own, so a call that never returns costs that subject and nothing else. Reading is impure and may block; what it means
is a pure function of the reading. A *follower* sees all readings in the order in which they came and knows what only
time or several subjects together can tell: counters of our own, seconds idle, whose memory it is.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from exporters.catalog.family import Sample

R = TypeVar("R")


class Reason(StrEnum):
    """Why a subject is not up: a small fixed set, since it becomes a label."""

    NONE = "none"
    LOST = "lost"  # fell off the bus (15, 28)
    RESET_REQUIRED = "reset_required"
    NOT_FOUND = "not_found"  # it was here and is no longer
    FATAL_XID = "fatal_xid"  # the driver has said that further calls may hang
    TIMEOUT = "timeout"  # a call has not returned in time
    DRIVER = "driver"  # not loaded, or of another version than the library
    LIBRARY = "library"  # not installed, or lacks what is needed
    PERMISSION = "permission"
    ERRORS = "errors"  # any other error, three times in a row
    UNREACHABLE = "unreachable"  # nobody answers on the socket


class Key(Struct, frozen=True, order=True):
    """Which subject: its kind (`gpu`, `rdma`, `node`, `kubelet`, `slurm`), and its own lasting name (a GPU's UUID)."""

    kind: str
    name: str = ""


class ReadError(Struct, frozen=True, order=True):
    """One call that failed: its name, and its code as text (`15`, `EINVAL`). Both from bounded sets."""

    call: str
    code: str


class Reading(Struct, Generic[R], frozen=True, kw_only=True):
    """What one look at a subject gave. `value` None: nothing of it can be said. What could not be read is absent in it.

    `up` False: the subject itself is in trouble, for `reason`; its values are not published.
    """

    value: R | None
    up: bool = True
    reason: Reason = Reason.NONE
    errors: tuple[ReadError, ...] = ()


class Moment(Struct, frozen=True):
    """A time on two clocks: `wall_s` since 1970 UTC, for people; `mono_s` for spans, since the other jumps."""

    wall_s: float
    mono_s: float


class Subject(Protocol[R]):
    """Something that is read by a worker of its own.

    `interval_s`: how often it is looked at. `deadline_s`: when a look that has not returned counts as stuck: the
    subject is down for TIMEOUT then, and is not looked at again before it returns.
    """

    @property
    def key(self) -> Key: ...

    @property
    def interval_s(self) -> float: ...

    @property
    def deadline_s(self) -> float: ...

    def read(self, now: Moment) -> Reading[R]:
        """Look. May block for ever; raises nothing that it can name (what it raises counts as ERRORS)."""
        ...

    def samples(self, value: R) -> Iterable[Sample]:
        """What a reading's value says, as samples. Pure; called while the subject is up and the value not too old."""
        ...


Source = Callable[[], Iterable[Subject[Any]]]
"""Gives the subjects that there are at present; called every few seconds by a worker of its own, so it may block.

A subject is told by its key: the same key again means the same subject (the object given last is asked next time), a
key that is no longer given means that the subject is gone. One that is lost but expected is still given. What raises
changes nothing.
"""


class Follower(Protocol):
    """Sees all readings and publishes what it makes of them. Called by one thread alone, never blocks."""

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        """A subject was read, or (TIMEOUT) was not. O(the reading)."""
        ...

    def forget(self, key: Key) -> None:
        """The subject is no more."""
        ...

    def samples(self, now: Moment) -> Iterable[Sample]:
        """All that it has to say now."""
        ...
