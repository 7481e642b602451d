"""XID errors counted, each once though NVML and the kernel's log may both tell of it.

Pairing: what one source tells, the other may tell within `SAME_WITHIN_S` on the same GPU with the same number. Each
report waits that long for its twin of the other source, and is its twin's for good; so two errors of one kind that both
sources see are two. The counts outlive the watcher, the GPU and the driver; they end with the exporter.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from exporters.catalog import xid as catalog
from exporters.catalog.family import Sample
from exporters.nvml.plausible import pci_address
from exporters.nvml.quarantine import FATAL_XIDS
from exporters.nvml.reading import NodeReading, XidReading, XidSeen
from exporters.subject import Key, Moment, Reading

FROM_ZERO: tuple[int, ...] = (48, 62, 63, 64, 74, 79, 94, 95, 119, 120, 140, 145)
"""Codes whose zero is published from the start, so that a rate sees the first; a short list, since each costs a series
for every GPU."""

SAME_WITHIN_S = 10.0
CODES_MAX = 64
"""Different codes of one GPU that are counted apart."""

WAITING_MAX = 256


class XidCounts:
    """Counts by GPU and code. `fatal`: told of each fatal one by UUID, whichever source it came from."""

    def __init__(self, fatal: Callable[[str, float], None] = lambda _uuid, _mono_s: None) -> None:
        self._fatal = fatal
        self._indices: dict[str, int] = {}
        self._addresses: dict[str, str] = {}
        self._counts: Counter[tuple[str, int]] = Counter()
        self._last_s: dict[tuple[str, int], float] = {}
        self._events: Counter[tuple[str, str]] = Counter()
        self._unpaired: deque[XidSeen] = deque(maxlen=WAITING_MAX)
        self._dropped = 0
        self._watcher: tuple[bool, int] | None = None

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        value = reading.value
        if isinstance(value, NodeReading):
            for one in value.gpus:
                self._indices[one.uuid] = one.index
                self._addresses[one.pci_address] = one.uuid
        elif key.kind == "xid":
            self._watcher = (reading.up, value.watched if isinstance(value, XidReading) else 0)
        if isinstance(value, XidReading):
            for event in value.events:
                if event.uuid:
                    self._events[event.uuid, event.event] += 1
        for seen in getattr(value, "xids", ()):
            self._count(seen, at)

    def _count(self, seen: XidSeen, at: Moment) -> None:
        uuid = seen.device if seen.device in self._indices else self._addresses.get(pci_address(seen.device), "")
        place = (uuid, seen.xid)
        if not uuid:
            self._dropped += 1
            return
        self._last_s[place] = max(seen.wall_s, self._last_s.get(place, seen.wall_s))
        if seen.xid in FATAL_XIDS and seen.source != "nvml":
            self._fatal(uuid, at.mono_s)
        twin = next((one for one in self._unpaired if self._same(one, seen, uuid)), None)
        if twin is not None:
            self._unpaired.remove(twin)
            return
        self._unpaired.append(
            XidSeen(device=uuid, xid=seen.xid, source=seen.source, wall_s=seen.wall_s, gpu_instance=seen.gpu_instance)
        )
        known = place in self._counts or seen.xid in FROM_ZERO
        if known or sum(1 for one, _ in self._counts if one == uuid) < CODES_MAX:
            self._counts[place] += 1
        else:
            self._dropped += 1
            self._last_s.pop(place, None)

    @staticmethod
    def _same(one: XidSeen, seen: XidSeen, uuid: str) -> bool:
        other_source = one.source != seen.source and one.device == uuid and one.xid == seen.xid
        return other_source and abs(one.wall_s - seen.wall_s) <= SAME_WITHIN_S

    def forget(self, key: Key) -> None:
        """What was counted stays counted."""

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  counts have no age
        if self._watcher is not None:
            yield Sample(catalog.WATCHER_UP, (), float(self._watcher[0]))
            yield Sample(catalog.WATCHED, (), float(self._watcher[1]))
        if not self._indices:
            return
        yield Sample(catalog.XIDS_DROPPED, (), float(self._dropped))
        for uuid, index in sorted(self._indices.items()):
            own = {code for one, code in self._counts if one == uuid}
            for code in sorted(own.union(FROM_ZERO)):
                labels = (uuid, str(index), str(code))
                yield Sample(catalog.XID_ERRORS, labels, float(self._counts[uuid, code]))
                if (uuid, code) in self._last_s:
                    yield Sample(catalog.XID_LAST, labels, self._last_s[uuid, code])
        for (uuid, event), count in sorted(self._events.items()):
            yield Sample(catalog.EVENTS, (uuid, str(self._indices.get(uuid, "")), event), float(count))
