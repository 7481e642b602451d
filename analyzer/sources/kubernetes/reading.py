"""What one document held: lists, changes in time, log statements, and what was wrong with it."""

from collections.abc import Sequence

from msgspec import Struct, field

from analyzer.sources.document import line_at
from analyzer.sources.kubernetes.klog import Klog
from analyzer.sources.kubernetes.objects import KubeObject
from analyzer.sources.mapped import Buffer
from analyzer.sources.recording import Complaint

OBJECTS, WATCH = "kubernetes objects", "kubernetes watch"

COMPLAINTS_MAX = 20
"""Complaints that are kept for one document; the rest is a number. A thousand equal sentences help nobody."""


class Listing(Struct, frozen=True, kw_only=True):
    """Objects that were read at one unknown time: a list, or single objects. `records` runs beside `objects`.

    `whole`: it is a list, and says of nothing that it was left out; so what it lacks was not there.
    `resource_version`: the list's own, None if it does not say.
    """

    objects: Sequence[KubeObject]
    records: Sequence[int]
    whole: bool
    resource_version: int | None = None


class Change(Struct, frozen=True):
    """One version of an object. `at_ns` None: only the object's own times tell when."""

    object: KubeObject
    gone: bool
    record: int
    at_ns: int | None = None


class Binding(Struct, frozen=True):
    """An API request gave the pod (`namespace/name`) its node."""

    at_ns: int
    pod: str
    node: str
    record: int


class Reading(Struct, kw_only=True):
    """All that one document told; grows while it is read. `records` counts all, `skipped` what was of no use."""

    document: int
    kind: str
    listings: list[Listing] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    klog: Klog | None = None
    records: int = 0
    skipped: int = 0
    complaints: list[Complaint] = field(default_factory=list)
    complaints_left_out: int = 0
    times: list[int] = field(default_factory=list)
    """Times that belong to the document but to no object (of audit entries)."""

    def complain(self, line: int, text: str) -> None:
        """Keep the complaint, or count it if there are too many."""
        if len(self.complaints) < COMPLAINTS_MAX:
            self.complaints.append(Complaint(line, text))
        else:
            self.complaints_left_out += 1

    def complain_at(self, content: Buffer, offset: int, text: str) -> None:
        """The same about an offset; its line is looked for only if the complaint is kept, since that takes time."""
        kept = len(self.complaints) < COMPLAINTS_MAX
        self.complain(line_at(content, offset) if kept else 0, text)
