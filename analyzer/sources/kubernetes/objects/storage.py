"""Volumes, claims and their classes."""

from msgspec import Struct

from analyzer.sources.kubernetes.objects.metadata import Condition, LocalReference, Metadata
from analyzer.sources.kubernetes.objects.pod import NodeSelector


class ClaimSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the claim asks for; `volume_name` is set once it is bound. `storage_class_name` None: the default."""

    access_modes: tuple[str, ...] = ()
    volume_name: str = ""
    storage_class_name: str | None = None


class ClaimStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """Pending, Bound or Lost."""

    phase: str = ""
    access_modes: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


class PersistentVolumeClaim(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="PersistentVolumeClaim"
):
    """A claim for a volume."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class VolumeNodeAffinity(Struct, frozen=True, kw_only=True):
    """Nodes from which the volume can be reached."""

    required: NodeSelector | None = None


class CsiSource(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Which driver attaches the volume, and its name there."""

    driver: str = ""
    volume_handle: str = ""


class VolumeSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which claim has the volume, from where it can be reached, and by which driver."""

    access_modes: tuple[str, ...] = ()
    claim_ref: LocalReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""
    csi: CsiSource | None = None


class VolumeStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """Available, Bound, Released or Failed."""

    phase: str = ""


class PersistentVolume(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="PersistentVolume"):
    """A volume."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class TopologyRequirement(Struct, frozen=True, kw_only=True, gc=False):
    """Values of a node label where volumes may be made."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(Struct, frozen=True, kw_only=True, rename="camel"):
    """All requirements must hold of a node."""

    match_label_expressions: tuple[TopologyRequirement, ...] = ()


class StorageClass(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="StorageClass"):
    """How volumes are made, whether only once a pod is placed, and where (one term must hold; none: anywhere)."""

    api_version: str = "storage.k8s.io/v1"
    metadata: Metadata = Metadata()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologyTerm, ...] = ()
