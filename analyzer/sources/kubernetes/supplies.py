"""How many units there are of all that nodes, quotas, volumes and host ports offer: said anew where it is different."""

import itertools
from collections.abc import Mapping

from analyzer.model.events import Citation, Event
from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.actors import HoldsCache
from analyzer.sources.kubernetes.dirty import Dirty
from analyzer.sources.kubernetes.stating import Statements
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.unseen_nodes import NODES, blind_to_nodes
from analyzer.sources.kubernetes.waits import constraints_for

Units = Mapping[ResourceId, tuple[int, tuple[Citation, ...]]]
"""How many exist of each resource, and where that is written."""


class Supplies:
    """What was stated of each node and each quota, so that it can be taken back. Nothing is kept of what is gone."""

    def __init__(self, store: Store, holds: HoldsCache) -> None:
        self._store = store
        self._holds = holds
        self._unknown: set[str] = set()
        self._on_node: dict[str, tuple[ResourceId, ...]] = {}
        self._ports_on: dict[str, dict[ResourceId, None]] = {}
        self._of_quota: dict[tuple[str, str], tuple[ResourceId, ...]] = {}

    def restate(
        self,
        dirty: Dirty,
        contested: Mapping[str, tuple[str, ...]],
        others: Units,
        said: Statements,
        at_ns: int,
        events: list[Event],
    ) -> None:
        """All that has changed. `contested`: who has the volumes that somebody cannot attach. `others`: of others.

        Costs the nodes, quotas, claims and pods with host ports that are `dirty`.
        """
        store = self._store
        self._restate_nodes(dirty, said, at_ns, events)
        wanted: dict[ResourceId, tuple[int, tuple[Citation, ...]]] = {}
        for namespace, name in sorted(dirty.quotas):
            quota = store.quotas.find(namespace, name)
            wanted.update(dict.fromkeys(self._of_quota.pop((namespace, name), ()), (0, ())))
            if quota is not None:
                hard = {quota.resource(counted): (units, (quota.citation,)) for counted, units in quota.hard}
                self._of_quota[namespace, name] = tuple(hard)
                wanted.update(hard)
        for key in sorted(dirty.claims):
            namespace, _, name = key.partition("/")
            claim = store.volumes.claim(namespace, name)
            units = 0 if claim is None else 1 if claim.alone else len(contested.get(key, ()))
            wanted[ResourceId(f"volume/{key}")] = (units, ())
        for node, ports in sorted(self._ports(dirty).items()):
            self._ports_on.setdefault(node, {}).update(ports)
            wanted.update(dict.fromkeys(ports, (1, ())))
        wanted.update(others)
        for resource, (amount, citations) in wanted.items():
            said.units(resource, amount, citations, at_ns, events)
        said.remark(NODES, blind_to_nodes(self._unknown, at_ns), at_ns, events)

    def _restate_nodes(self, dirty: Dirty, said: Statements, at_ns: int, events: list[Event]) -> None:
        store, names_of = self._store, self._holds.names_of
        for name in sorted(dirty.nodes | dirty.unknown_nodes):
            facts = store.candidates.nodes.get(name)
            # Of a node that is not in the input, only what pods have on it is known to exist.
            known = facts.units if facts is not None else tuple(sorted(store.rooms.used(name).items()))
            cited = (store.node_citations[name],) if facts is not None or name in dirty.nodes else ()
            now = tuple([names_of(kind)[name] for kind, _ in known])
            for resource in self._on_node.get(name, ()):
                if resource not in now:
                    said.units(resource, 0, cited, at_ns, events)
            for resource, (_, amount) in zip(now, known, strict=True):
                said.units(resource, amount, cited, at_ns, events)
            if now or facts is not None:
                self._on_node[name] = now
            else:
                for port in self._ports_on.pop(name, ()):
                    said.units(port, 0, cited, at_ns, events)
                self._forget(name)
            (self._unknown.discard if facts is not None or not now else self._unknown.add)(name)

    def _forget(self, node: str) -> None:
        """The node is not there, and nobody is on it."""
        self._on_node.pop(node, None)
        self._holds.forget(node)
        self._store.node_citations.pop(node, None)

    def _ports(self, dirty: Dirty) -> dict[str, dict[ResourceId, None]]:
        """By node, the host ports that pods have there or ask for, of the pods that are to be looked at."""
        store = self._store
        found: dict[str, dict[ResourceId, None]] = {}
        if not store.ported:
            return found
        keys = set(itertools.chain(dirty.pods, *(store.by_gang.get(gang, ()) for gang in dirty.gangs)))
        for key in sorted(store.ported.intersection(keys)):
            record = store.pods[key]
            nodes: tuple[str, ...] = (record.node,) if record.node else ()
            if record.pending is not None:
                nodes = store.candidates.choose(constraints_for(store, record, record.pending)).among
            for node in nodes:
                ports = found.setdefault(node, {})
                ports.update(dict.fromkeys(ResourceId(f"{port}/{node}") for port in sorted(record.shape.ports)))
        return found
