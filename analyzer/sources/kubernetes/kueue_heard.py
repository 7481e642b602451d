"""What events say of Workloads, be it in a list of events or in Kueue's own log.

Beside objects they tell how often a Workload was evicted, and when: the status forgets. Alone they tell that it waits
and in whose words, and nothing of the quota; so who waits is named and gets no verdict.
"""

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.kueue_workloads import Rounds
from analyzer.sources.kubernetes.objects import Event
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

_EVICTED = "EvictedDueTo"
_IN_VAIN = "EvictedDueToPodsReadyTimeout"
"""Of these rounds alone it is certain that nothing was done in them: whoever is preempted may have got on before."""

_CREATED = "Created Workload: "
_RESERVED = "Quota reserved in ClusterQueue "
EVICTIONS_MAX = 256
"""Times of evictions that are kept of one Workload: enough for any window in which rounds count."""


class Latest(Struct, frozen=True):
    """The last that was said of a Workload: `waits` (Pending), `holds` quota, or was `evicted`; where it is written."""

    waits: bool
    evicted: bool
    at_ns: int
    message: str
    citation: Citation


class Heard:
    """By Workload (`namespace/name`), what was said last, when it was evicted, its queue, and whose it is."""

    def __init__(self) -> None:
        self.latest: dict[str, Latest] = {}
        self.owners: dict[str, str] = {}
        self.queues: dict[str, str] = {}
        self._evictions: dict[str, dict[int, None]] = {}
        self._merged: dict[str, Rounds] = {}

    def take(self, event: Event, citation: Citation) -> str:
        """Take an event; the Workload that fares differently now, "" if none. O(1)."""
        about = event.regarding
        namespace = event.namespace
        if event.reason == "CreatedWorkload" and event.message.startswith(_CREATED):
            key = event.message.removeprefix(_CREATED).strip()
            self.owners[key] = about.name
            return key
        if about.kind != "Workload":
            return ""
        key, at_ns = f"{namespace}/{about.name}", parse_ns(event.last_time) or 0
        evicted = event.reason.startswith(_EVICTED)
        if event.reason == _IN_VAIN:
            self._evicted(key, at_ns, event)
        elif event.reason == "QuotaReserved":
            self.queues[key] = event.message.removeprefix(_RESERVED).partition(",")[0]
        elif event.reason not in {"Pending", "Admitted"} and not evicted:
            return ""
        known = self.latest.get(key)
        if known is None or (known.at_ns, known.citation) <= (at_ns, citation):
            self.latest[key] = Latest(event.reason == "Pending", evicted, at_ns, event.message, citation)
        return key

    def forget(self, key: str) -> None:
        """The Workload is gone: one that comes by its name is another one."""
        for known in (self.latest, self.owners, self.queues, self._evictions, self._merged):
            known.pop(key, None)

    def _evicted(self, key: str, at_ns: int, event: Event) -> None:
        """Events are merged, so one that was said often tells of its first and its last time."""
        times = self._evictions.setdefault(key, {})
        times[at_ns // SECOND_NS] = None
        if len(times) > EVICTIONS_MAX:
            del times[min(times)]
        if event.count > 1:
            first_ns = parse_ns(event.first_time) or at_ns
            known = self._merged.get(key)
            if known is None or known.count < event.count:
                self._merged[key] = Rounds(event.count, first_ns, at_ns)

    def rounds(self, key: str) -> Rounds | None:
        """How often the Workload was evicted because its pods did not get ready, as far as was heard."""
        times, merged = self._evictions.get(key), self._merged.get(key)
        if not times:
            return None
        heard = Rounds(len(times), min(times) * SECOND_NS, max(times) * SECOND_NS)
        if merged is None or merged.count <= heard.count:
            return heard
        return Rounds(merged.count, min(merged.first_ns, heard.first_ns), max(merged.last_ns, heard.last_ns))
