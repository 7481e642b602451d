"""Which pods somebody must be near to or apart from, kept up only for those terms that a pending pod asks about.

Labels of ordinary pods are kept as they came and looked at when a term is asked about for the first time; from then
on only pods that come, go or change are. Where no pod has such terms, nothing of this costs anything.
"""

from collections.abc import Iterable, Mapping

from analyzer.sources.kubernetes.company import Company, Crowd, Labels, Term, company_of, crowd_has, terms_of
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.objects import Namespace
from analyzer.sources.kubernetes.pod_index import Index, PodIndex, add, discard
from analyzer.sources.kubernetes.records import BOUND, PENDING, PodRecord


class Members:
    """Pods (keys) that somebody asks about: those with a node by node, and those without."""

    def __init__(self) -> None:
        self.by_node: Index = {}
        self.waiting: set[str] = set()
        self._node_of: dict[str, str] = {}

    def put(self, key: str, record: PodRecord | None) -> bool:
        """The pod as it is now, None if it is no member (any more); whether it was or is one."""
        node = self._node_of.pop(key, None)
        was = node is not None or key in self.waiting
        if node is not None:
            discard(self.by_node, node, key)
        self.waiting.discard(key)
        if record is not None and record.stage is BOUND:
            self._node_of[key] = record.node
            add(self.by_node, record.node, key)
        elif record is not None and record.stage is PENDING:
            self.waiting.add(key)
        return was or record is not None


class Neighbours:
    """Members of crowds, carriers of terms, and the company of pending pods.

    `restless`: pods (by key) that do not just run until their controller's work is done; kept up by others.
    """

    def __init__(self, index: PodIndex) -> None:
        self.namespaces: dict[str, Labels] = {}
        self.restless: tuple[Mapping[str, object], ...] = ()
        self._index = index
        self._pods = index.pods
        self._crowds: dict[Crowd, Members] = {}
        self._carriers: dict[Term, Members] = {}
        self._carried: dict[str, tuple[Term, ...]] = {}
        self._companies: dict[str, tuple[PodRecord, Company | None]] = {}

    # --- what is asked ----------------------------------------------------------------------------------------------

    def company_of(self, record: PodRecord) -> Company | None:
        """What of this pending pod depends on other pods; None for nearly all. O(terms that others carry), once."""
        pending = record.pending
        if pending is None or not (record.apart or pending.near or pending.spread or self._carriers):
            return None
        known = self._companies.get(record.key)
        if known is not None and known[0] is record:
            return known[1]
        namespace, labels = record.namespace, record.labels
        repels = (term for term in self._carriers if crowd_has(term.crowd, namespace, labels, self.namespaces))
        said = (record.apart, pending.near, pending.spread)
        found = company_of(said, namespace, labels, self.namespaces, repels)
        self._companies[record.key] = (record, found)
        return found

    def members(self, crowd: Crowd) -> Members:
        """The pods of the crowd. O(pods) when it is asked about for the first time."""
        found = self._crowds.get(crowd)
        if found is None:
            found = self._crowds[crowd] = Members()
            answers: dict[tuple[str, int], bool] = {}  # pods of one controller share their labels
            for key, record in self._pods.items():
                asked = (record.namespace, id(record.labels))
                is_in = answers.get(asked)
                if is_in is None:
                    is_in = answers[asked] = self._is_in(crowd, record)
                if is_in:
                    found.put(key, record)
        return found

    def carriers(self, term: Term) -> Members:
        """The pods that must not be beside those whom the term means."""
        return self._carriers.get(term) or Members()

    def _is_in(self, crowd: Crowd, record: PodRecord) -> bool:
        return crowd_has(crowd, record.namespace, record.labels, self.namespaces)

    # --- what changes -----------------------------------------------------------------------------------------------

    def put_namespace(self, thing: Namespace, *, gone: bool) -> bool:
        """Take the namespace as it is now; whether somebody may be meant by it who was not before."""
        name, now = thing.metadata.name, thing.metadata.labels
        before = self.namespaces.get(name)
        if gone:
            self.namespaces.pop(name, None)
        else:
            self.namespaces[name] = now
        if before == (None if gone else now):
            return False
        self._crowds.clear()
        self._companies.clear()
        return True

    def see(self, dirty: Dirty) -> None:
        """Take in carriers that came and went; those who wait fare differently if a term came or went with them."""
        touched = self._index.apart_touched
        if not touched:
            return
        for key in touched:
            for term in self._carried.pop(key, ()):
                members = self._carriers[term]
                members.put(key, None)
            record = self._pods.get(key)
            if record is None or record.stage is not BOUND or not record.apart:
                continue
            terms = self._carried[key] = terms_of(record.apart, record.namespace, record.labels)
            for term in terms:
                if term not in self._carriers:
                    self._carriers[term] = Members()
                    self._forget_companies(dirty)
                self._carriers[term].put(key, record)
        for term in [term for term, members in self._carriers.items() if not members.by_node]:
            del self._carriers[term]
            self._forget_companies(dirty)

    def _forget_companies(self, dirty: Dirty) -> None:
        self._companies.clear()
        dirty.waiting = True

    def touched(self, dirty: Dirty, asked: Iterable[Company]) -> set[Company]:
        """The companies for which something may be different now. O(pods that changed x crowds asked about)."""
        carried, self._index.apart_touched = self._index.apart_touched, set()
        if self._companies:
            for key in dirty.pods:
                if key not in self._pods:
                    self._companies.pop(key, None)
        if not (self._crowds or carried):
            return set()
        asked = set(asked)
        wanted = {crowd for company in asked for crowd in crowds_of(company)}
        self._crowds = {crowd: members for crowd, members in self._crowds.items() if crowd in wanted}
        changed: set[Crowd] = set()
        records = self._changed(dirty)
        for key, record in records.items():
            for crowd, members in self._crowds.items():
                is_in = record is not None and self._is_in(crowd, record)
                if members.put(key, record if is_in else None):
                    changed.add(crowd)
        if not asked:
            return asked
        restless = {term for key in records.keys() | carried for term in self._carried.get(key, ())}
        gone = any(key not in self._carried for key in carried)
        return {
            company
            for company in asked
            if any(crowd in changed for crowd in crowds_of(company))
            or (company.spread and dirty.owners)  # they may have others to make
            or (company.repels and (gone or any(term in restless for term in company.repels)))
        }

    def _changed(self, dirty: Dirty) -> Mapping[str, PodRecord | None]:
        found: dict[str, PodRecord | None] = {}
        if self._crowds:
            found.update({record.key: record for records in dirty.arrived.values() for record in records})
        # Whoever is named has changed since it arrived, or has gone.
        found.update({key: self._pods.get(key) for key in dirty.pods})
        return found


def crowds_of(company: Company) -> tuple[Crowd, ...]:
    """The crowds whose members the company depends on; carriers of terms aside."""
    return tuple(one.crowd for part in (company.apart, company.near, company.spread) for one in part)
