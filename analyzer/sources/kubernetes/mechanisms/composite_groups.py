"""Gangs of gangs (mechanism A3): complete inner gangs that wait for others of their outer group.

| outer group | its inner gangs | how many of them |
|---|---|---|
| CompositePodGroup (scheduling.k8s.io) | PodGroups and composites that name it as parent | `gang.minGroupCount` |
| Koordinator, annotation `gang.scheduling.koordinator.sh/groups` | the gangs that it lists | all |

An inner gang that has what it needs itself holds it in vain until enough of the others have. So its pods carry a wait
for so many of those that lack something: an inner gang counts as soon as it is complete, an outer one as soon as
enough of its own are. A gang that is not in the input counts as complete.
"""

import json
from collections.abc import Mapping

from msgspec import Struct

from analyzer.model.events import Citation, Wait
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, KOutOfN, Request, all_of
from analyzer.sources.kubernetes.actors import cited
from analyzer.sources.kubernetes.custom_fields import at, count, text
from analyzer.sources.kubernetes.gangs import Gang, member_of, terms_of
from analyzer.sources.kubernetes.mechanism import NOTHING, Burden, Look
from analyzer.sources.kubernetes.names import gang_actor
from analyzer.sources.kubernetes.objects import Custom, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import BOUND, SUCCEEDED, PodRecord
from analyzer.sources.kubernetes.store import Store

COMPOSITE, GROUP = "CompositePodGroup.scheduling.k8s.io", "PodGroup.scheduling.k8s.io"
KOORDINATOR = "gang.scheduling.koordinator.sh"
_PARENT = "parentCompositePodGroupName"


class Outer(Struct, frozen=True):
    """An outer group: its inner gangs and outer groups by key (`namespace/name`), and how many of them it needs."""

    gangs: tuple[str, ...]
    outers: tuple[str, ...]
    needs: int
    citation: Citation


class CompositeGroups:
    """Groups that have a parent, groups of groups, and what Koordinator's pods say."""

    kinds = frozenset({COMPOSITE, GROUP})

    def __init__(self) -> None:
        self._parent_of_gang: dict[str, str] = {}
        self._parent_of_outer: dict[str, str] = {}
        self._needs: dict[str, tuple[int, Citation]] = {}
        self._listed: dict[str, tuple[tuple[str, ...], Citation]] = {}

    @property
    def awake(self) -> bool:
        return bool(self._needs or self._listed)

    def take(self, seen: Seen) -> None:
        thing = seen.object
        if not isinstance(thing, Custom):
            return
        namespace = thing.metadata.namespace or "default"
        key, parent = f"{namespace}/{thing.metadata.name}", text(thing.spec, _PARENT)
        parents = self._parent_of_outer if thing.kind == "CompositePodGroup" else self._parent_of_gang
        if parent and not seen.gone:
            parents[key] = f"{namespace}/{parent}"
        else:
            parents.pop(key, None)
        if thing.kind == "CompositePodGroup":
            needs = count(thing.spec, "schedulingPolicy", "gang", "minGroupCount")
            if needs is None or seen.gone or at(thing.spec, "schedulingPolicy", "gang") is None:
                self._needs.pop(key, None)
            else:
                self._needs[key] = (needs, seen.citation)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        written = pod.metadata.annotations.get(f"{KOORDINATOR}/groups")
        name = pod.metadata.annotations.get(f"{KOORDINATOR}/name", "").rpartition("/")[2]
        if written and name and not gone:
            self._listed[f"{record.namespace}/{name}"] = (_listed(written, record.namespace), record.citation)

    def hear(self, said: LogStatement) -> None:
        """The scheduler's log says nothing about groups of groups that the objects do not."""

    def look(self, store: Store, now_ns: int) -> Look:  # noqa: ARG002  the contract's signature
        if not self.awake:
            return NOTHING
        burdens: dict[str, Burden] = {}
        complete = _Complete(store)
        outers = self._outers()
        for gang in sorted({*self._parent_of_gang, *self._listed} & store.by_gang.keys()):
            if not complete.gang(gang):
                continue
            wanted = [_lacking(self._parent_of_gang.get(gang, ""), outers, self._parent_of_outer, complete)]
            citations: list[Citation] = []
            others, citation = self._listed.get(gang, ((), None))
            lacking = tuple(gang_actor(one) for one in others if one != gang and not complete.gang(one))
            wanted.append(Arrivals(lacking, len(lacking)) if lacking else None)
            citations.extend(filter(None, (citation,)))
            request = [one for one in wanted if one is not None]
            if not request:
                continue
            outer = outers.get(self._parent_of_gang.get(gang, ""))
            citations.extend(() if outer is None else (outer.citation,))
            members = [store.pods[key] for key in sorted(store.by_gang[gang])]
            since_ns = max(record.started_ns or record.created_ns for record in members)
            wait = Wait(request=all_of(request), since_ns=since_ns)
            burden = Burden(wait=wait, citations=cited(citations))
            burdens.update({record.key: burden for record in members if record.stage <= BOUND})
        return Look(burdens=burdens) if burdens else NOTHING

    def _outers(self) -> Mapping[str, Outer]:
        gangs: dict[str, list[str]] = {}
        outers: dict[str, list[str]] = {}
        for found, parents in ((gangs, self._parent_of_gang), (outers, self._parent_of_outer)):
            for child in sorted(parents):
                found.setdefault(parents[child], []).append(child)
        return {
            key: Outer(tuple(gangs.get(key, ())), tuple(outers.get(key, ())), needs, citation)
            for key, (needs, citation) in self._needs.items()
        }


class _Complete:
    """Which gangs have what they need by themselves, found once a look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, bool] = {}

    def gang(self, key: str) -> bool:
        """Whether as many members as declared have a place, or have done their work. Unknown gangs are complete."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._is_complete(key)
        return known

    def _is_complete(self, key: str) -> bool:
        store = self._store
        gang: Gang | None = store.gang_by_key.get(key)
        records = [store.pods[one] for one in sorted(store.by_gang.get(key, ()))]
        if gang is None or not records:
            return True
        terms = terms_of(gang, [member_of(record, store.owners) for record in records], store.groups, store.owners)
        have = sum(
            record.stage in {BOUND, SUCCEEDED} or store.reservations.get(record.key) is not None for record in records
        )
        return terms.minimum is None or have >= terms.minimum


def _lacking(key: str, outers: Mapping[str, Outer], parents: Mapping[str, str], complete: _Complete) -> Request | None:
    """What this outer group, or the next one around it that lacks something, still needs; None if nothing."""
    passed: set[str] = set()
    while key in outers and key not in passed:
        passed.add(key)
        found = _needed(key, outers, complete, frozenset())
        if found is not None:
            return found
        key = parents.get(key, "")
    return None


def _needed(key: str, outers: Mapping[str, Outer], complete: _Complete, within: frozenset[str]) -> Request | None:
    """So many of its incomplete parts as it lacks; None if it lacks none, or names itself as a part."""
    outer = outers.get(key)
    if outer is None or key in within:
        return None
    parts: list[Request] = []
    for gang in outer.gangs:
        if not complete.gang(gang):
            actor: ActorId = gang_actor(gang)
            parts.append(Arrivals((actor,), 1))
    inner = [_needed(child, outers, complete, within | {key}) for child in outer.outers]
    parts.extend(one for one in inner if one is not None)
    lacks = outer.needs - (len(outer.gangs) + len(outer.outers) - len(parts))
    if lacks <= 0 or not parts:
        return None
    return KOutOfN(min(lacks, len(parts)), tuple(parts)) if lacks < len(parts) else all_of(parts)


def _listed(written: str, namespace: str) -> tuple[str, ...]:
    """The gangs in Koordinator's annotation, a JSON list of names with or without a namespace."""
    try:
        names = json.loads(written)
    except ValueError:
        return ()
    names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return tuple(sorted(name if "/" in name else f"{namespace}/{name}" for name in names))
