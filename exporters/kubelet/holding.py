"""What containers hold, as the kubelet tells it: texts of its own, bounded, not yet understood."""

from msgspec import Struct


class Held(Struct, frozen=True, order=True, kw_only=True):
    """Devices of one resource that one container was given. `ids`: as the device plugin spells them."""

    namespace: str
    pod: str
    container: str
    resource: str
    ids: tuple[str, ...]


class Claimed(Struct, frozen=True, order=True, kw_only=True):
    """One device that a container has through a resource claim. `share`: which share of it, where it is shared."""

    namespace: str
    pod: str
    container: str
    claim_namespace: str
    claim: str
    driver: str
    pool: str
    device: str
    cdi: tuple[str, ...] = ()
    share: str = ""


class PodReading(Struct, frozen=True, kw_only=True):
    """All that the kubelet lists now. `left_out`: what was more than is kept."""

    held: tuple[Held, ...]
    claimed: tuple[Claimed, ...] = ()
    left_out: int = 0


class Noted(Struct, frozen=True, order=True, kw_only=True):
    """An entry of the kubelet's checkpoint: it has the UID of the pod, and not its name."""

    pod_uid: str
    container: str
    resource: str
    ids: tuple[str, ...]
