"""Services, and who answers for them."""

from collections.abc import Mapping

from msgspec import Struct, field

from analyzer.sources.kubernetes.objects.metadata import NOTHING, LocalReference, Metadata


class ServiceSpec(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whose pods answer; no selector: somebody else names them. `cluster_ip` is the text `None` without an address."""

    selector: Mapping[str, str] = NOTHING
    type: str = ""
    cluster_ip: str = field(default="", name="clusterIP")
    publish_not_ready_addresses: bool = False


class Service(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Service"):
    """A name for pods that serve."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    spec: ServiceSpec = ServiceSpec()


class EndpointConditions(Struct, frozen=True, kw_only=True, gc=False):
    """Whether the endpoint answers; `ready` absent counts as true."""

    ready: bool = True


class Endpoint(Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod that may answer."""

    conditions: EndpointConditions = EndpointConditions()
    target_ref: LocalReference | None = None


class EndpointSlice(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="EndpointSlice"):
    """Some of the endpoints of a Service, which its label names."""

    api_version: str = "discovery.k8s.io/v1"
    metadata: Metadata = Metadata()
    endpoints: tuple[Endpoint, ...] = ()


__all__ = ["EndpointSlice", "Service"]
