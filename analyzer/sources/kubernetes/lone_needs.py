"""What pods that wait alone need, found once for all that are alike.

A thousand pods of one Job ask for the same place, and the scheduler says the same words about them.
"""

from analyzer.sources.kubernetes.candidates import Constraints
from analyzer.sources.kubernetes.company import Company
from analyzer.sources.kubernetes.pod_requests import Shape
from analyzer.sources.kubernetes.records import PodRecord, Try
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.waits import Need, need_of

_Likeness = tuple[Shape, Constraints, Company | None, str, int, bool]
"""Shape, constraints, company, the scheduler's words, priority, and whether it never preempts."""


class LoneNeeds:
    """Valid for one look at the cluster: what a pod may get depends on everything else."""

    def __init__(self, store: Store, now_ns: int) -> None:
        self._store = store
        self._now_ns = now_ns
        self._known: dict[_Likeness, Need] = {}

    def of(self, record: PodRecord) -> Need:
        """The same as `need_of` for this pod alone."""
        store, pending = self._store, record.pending
        if (
            pending is None
            or pending.tried is not Try.REFUSED
            or record.claims
            or pending.nominated
            or record.key in store.nominated
            or record.key in store.devices.doubts
            or store.activity.speaks_of(record.key)
        ):
            return need_of(store, (record,), 1, self._now_ns)
        company = store.neighbours.company_of(record)
        key = (record.shape, pending.constraints, company, pending.said, record.priority, pending.never_preempts)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = need_of(store, (record,), 1, self._now_ns)
            return found
        return Need(
            request=found.request,
            since_ns=pending.since_ns,
            said=found.said,
            preempts=found.preempts,
            excuse=found.excuse,
            recheck_ns=found.recheck_ns,
            classes=found.classes,
            citations=(record.citation,),
        )
