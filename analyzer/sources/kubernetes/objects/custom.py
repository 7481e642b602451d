"""Objects of kinds that have no struct of their own here."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from analyzer.sources.kubernetes.objects.metadata import NOTHING, Metadata


class Custom(Struct, frozen=True, kw_only=True, rename="camel"):
    """An object whose spec and status are kept as they came: pod groups, queues, operators' jobs, device claims."""

    api_version: str = ""
    kind: str = ""
    metadata: Metadata = Metadata()
    spec: Mapping[str, Any] = NOTHING
    status: Mapping[str, Any] = NOTHING

    @property
    def group(self) -> str:
        """The API group: `kueue.x-k8s.io` of `kueue.x-k8s.io/v1beta1`, empty for the core."""
        return self.api_version.rpartition("/")[0]


class Other(Struct, frozen=True, kw_only=True, rename="camel"):
    """An object of a kind that decides nothing here: only its name is kept, never its content (secrets!)."""

    api_version: str = ""
    kind: str = ""
    metadata: Metadata = Metadata()
