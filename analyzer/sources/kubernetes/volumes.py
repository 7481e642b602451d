"""Volumes that one pod, or one node, may have at a time, and volumes that can only be had on some nodes."""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.candidates import Terms
from analyzer.sources.kubernetes.objects import PersistentVolume, PersistentVolumeClaim, Requirement, StorageClass
from analyzer.sources.kubernetes.objects.pod import NodeSelectorTerm
from analyzer.sources.kubernetes.objects.storage import TopologyTerm
from analyzer.sources.kubernetes.pod_index import add, discard

NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes are made by hand, as local disks are."""

_ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)


def _term_of(topology: TopologyTerm) -> NodeSelectorTerm:
    wanted = topology.match_label_expressions
    return NodeSelectorTerm(
        match_expressions=tuple(Requirement(key=one.key, operator="In", values=one.values) for one in wanted)
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
        self._classes: dict[str, StorageClass] = {}
        self._of_class: dict[str, set[str]] = {}
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
                before = self._volumes.pop(name, None)
                if before is not None:
                    discard(self._of_class, before.spec.storage_class_name, name)
                if not gone:
                    self._volumes[name] = thing
                    add(self._of_class, thing.spec.storage_class_name, name)
                claim = thing.spec.claim_ref
                return f"{claim.namespace}/{claim.name}" if claim is not None else ""
            case StorageClass():
                if gone:
                    self._classes.pop(thing.metadata.name, None)
                else:
                    self._classes[thing.metadata.name] = thing
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
            waits_for_pod=self._waits_for_pod(thing),
        )

    def _waits_for_pod(self, thing: PersistentVolumeClaim) -> bool:
        found = self._classes.get(thing.spec.storage_class_name or "")
        return found is not None and found.volume_binding_mode == "WaitForFirstConsumer"

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
        """The node terms of the volumes behind these claims: of the bound ones, and where others can be made at all."""
        found = []
        for claim in self.claims(namespace, names):
            if claim.bound:
                terms = self._terms(claim.volume)
            else:
                terms = self._makeable(claim) if claim.waits_for_pod and not claim.volume else None
            if terms is not None:
                found.append(terms)
        return tuple(found)

    def _makeable(self, claim: ClaimFacts) -> Terms | None:
        """From where a volume can be reached that is made, or chosen, once the pod has a place; None: anywhere."""
        thing = self._claims[claim.key]
        of = self._classes[thing.spec.storage_class_name or ""]
        if of.provisioner != NO_PROVISIONER:
            return tuple(map(_term_of, of.allowed_topologies)) or None
        # Nobody makes one: it is one of those that there are, be it free or freed by somebody.
        made = [self._terms(name) for name in sorted(self._of_class.get(of.metadata.name, ()))]
        if not made or None in made:
            return None
        return tuple(term for terms in made if terms is not None for term in terms)

    def driver(self, claim: ClaimFacts) -> str:
        """The CSI driver that attaches, or will make and attach, the volume; "" if it is not known or no such."""
        thing = self._volumes.get(claim.volume) if claim.bound else None
        if thing is not None:
            return thing.spec.csi.driver if thing.spec.csi is not None else ""
        of = self._classes.get(self._claims[claim.key].spec.storage_class_name or "")
        return of.provisioner if of is not None and claim.waits_for_pod else ""

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
