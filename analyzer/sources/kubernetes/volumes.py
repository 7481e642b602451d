"""Volumes that one pod, or one node, may have at a time, and volumes that can only be reached from some nodes."""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.candidates import Terms
from analyzer.sources.kubernetes.objects import PersistentVolume, PersistentVolumeClaim, Requirement, StorageClass
from analyzer.sources.kubernetes.objects.pod import NodeSelectorTerm

_ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)


class ClaimFacts(Struct, frozen=True, kw_only=True):
    """One claim. `alone`: one pod at a time (ReadWriteOncePod). `one_node`: one node at a time (ReadWriteOnce)."""

    namespace: str
    name: str
    alone: bool
    one_node: bool
    volume: str
    bound: bool
    waits_for_pod: bool

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def resource(self) -> ResourceId:
        return ResourceId(f"volume/{self.namespace}/{self.name}")


class Volumes:
    """Claims, volumes and classes."""

    def __init__(self) -> None:
        self._claims: dict[str, PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._lazy_classes: set[str] = set()
        self._pinned: dict[str, Terms | None] = {}

    def put(self, thing: PersistentVolumeClaim | PersistentVolume | StorageClass, *, gone: bool) -> str:
        """Take it as it is now; the claim (`namespace/name`) whose pods may fare differently, "" for all or none."""
        match thing:
            case PersistentVolumeClaim():
                key = f"{thing.metadata.namespace or 'default'}/{thing.metadata.name}"
                if gone:
                    self._claims.pop(key, None)
                else:
                    self._claims[key] = thing
                return key
            case PersistentVolume():
                name = thing.metadata.name
                self._pinned.pop(name, None)
                if gone:
                    self._volumes.pop(name, None)
                else:
                    self._volumes[name] = thing
                claim = thing.spec.claim_ref
                return f"{claim.namespace}/{claim.name}" if claim is not None else ""
            case StorageClass():
                if thing.volume_binding_mode == "WaitForFirstConsumer" and not gone:
                    self._lazy_classes.add(thing.metadata.name)
                else:
                    self._lazy_classes.discard(thing.metadata.name)
                return ""

    def claim(self, namespace: str, name: str) -> ClaimFacts | None:
        """The claim, None if it is not in the input."""
        thing = self._claims.get(f"{namespace}/{name}")
        if thing is None:
            return None
        modes = set(thing.spec.access_modes or thing.status.access_modes)
        return ClaimFacts(
            namespace=namespace,
            name=name,
            alone=modes == {"ReadWriteOncePod"},
            one_node=modes == {"ReadWriteOnce"},
            volume=thing.spec.volume_name,
            bound=bool(thing.spec.volume_name) and thing.status.phase != "Lost",
            waits_for_pod=(thing.spec.storage_class_name or "") in self._lazy_classes,
        )

    def claims(self, namespace: str, names: Iterable[str]) -> tuple[ClaimFacts, ...]:
        """Those of the claims that are known."""
        found = (self.claim(namespace, name) for name in names)
        return tuple(claim for claim in found if claim is not None)

    def missing(self, namespace: str, names: Iterable[str]) -> tuple[str, ...]:
        """Claims that a pod names and nobody has made; none if no claim of the namespace was handed over at all."""
        prefix = f"{namespace}/"
        if not any(key.startswith(prefix) for key in self._claims):
            return ()
        return tuple(sorted(name for name in names if prefix + name not in self._claims))

    def pinned(self, namespace: str, names: Iterable[str]) -> tuple[Terms, ...]:
        """The node terms of the bound volumes behind these claims."""
        found = []
        for claim in self.claims(namespace, names):
            terms = self._terms(claim.volume) if claim.bound else None
            if terms is not None:
                found.append(terms)
        return tuple(found)

    def _terms(self, volume: str) -> Terms | None:
        if volume not in self._pinned:
            self._pinned[volume] = self._read_terms(volume)
        return self._pinned[volume]

    def _read_terms(self, volume: str) -> Terms | None:
        thing = self._volumes.get(volume)
        if thing is None:
            return None
        affinity = thing.spec.node_affinity
        if affinity is not None and affinity.required is not None and affinity.required.node_selector_terms:
            return affinity.required.node_selector_terms
        # Older volumes carry their zone as a label; several zones are joined by two underscores.
        zones = tuple(
            Requirement(key=key, operator="In", values=tuple(thing.metadata.labels[key].split("__")))
            for key in _ZONE_LABELS
            if key in thing.metadata.labels
        )
        return (NodeSelectorTerm(match_expressions=zones),) if zones else None
