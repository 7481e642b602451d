"""What the kernel's log tells beside XIDs: errors of NVSwitches, lost records, and whether there is a log at all."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from exporters.catalog import kernel_log as catalog
from exporters.catalog.family import Sample
from exporters.collectors.kernel_lines import SxidLine
from exporters.collectors.kernel_log import KIND, SOURCE, LogReading
from exporters.subject import Key, Moment, Reading

SOURCES = {KIND: SOURCE, "xid": "nvml"}
"""Kinds of subjects that tell of XID errors, and what each source is called."""

SXIDS_MAX = 256
"""Switches and codes that are counted apart."""


class KernelLogCounts:
    """Counts that outlive the log: they end with the exporter."""

    def __init__(self) -> None:
        self._up: dict[str, bool] = {}
        self._counts: Counter[SxidLine] = Counter()
        self._last_s: dict[SxidLine, float] = {}
        self._dropped = 0
        self._lost = 0

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        if key.kind in SOURCES:
            told = reading.value.available if isinstance(reading.value, LogReading) else True
            self._up[key.kind] = reading.up and told
        if not isinstance(reading.value, LogReading):
            return
        self._lost += reading.value.lost
        for sxid in reading.value.sxids:
            if sxid in self._counts or len(self._counts) < SXIDS_MAX:
                self._counts[sxid] += 1
                self._last_s[sxid] = at.wall_s
            else:
                self._dropped += 1

    def forget(self, key: Key) -> None:
        self._up.pop(key.kind, None)

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  counts have no age
        for kind, up in sorted(self._up.items()):
            yield Sample(catalog.SOURCE_AVAILABLE, (SOURCES[kind],), float(up))
        if KIND not in self._up:
            return
        yield Sample(catalog.RECORDS_LOST, (), float(self._lost))
        yield Sample(catalog.SXIDS_DROPPED, (), float(self._dropped))
        for sxid in sorted(self._counts, key=_order):
            labels = (sxid.switch, sxid.address, str(sxid.sxid), sxid.severity)
            yield Sample(catalog.SXID_ERRORS, labels, float(self._counts[sxid]))
            yield Sample(catalog.SXID_LAST, labels, self._last_s[sxid])


def _order(sxid: SxidLine) -> tuple[str, int, str]:
    return sxid.address, sxid.sxid, sxid.severity
