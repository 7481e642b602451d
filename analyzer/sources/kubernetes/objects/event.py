"""Events: what components said about an object, in both API forms."""

from msgspec import Struct, field

from analyzer.sources.kubernetes.objects.metadata import LocalReference, Metadata


class EventSource(Struct, frozen=True, rename="camel", gc=False):
    """Who said it, in the older form."""

    component: str = ""
    host: str = ""


class EventSeries(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """How often it was said, and when last."""

    count: int = 0
    last_observed_time: str | None = None


class Event(Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="Event"):
    """One event of core/v1 or events.k8s.io; the properties speak for both forms."""

    api_version: str = "v1"
    metadata: Metadata = Metadata()
    type: str = ""
    reason: str = ""
    action: str = ""
    core_message: str = field(default="", name="message")
    core_regarding: LocalReference | None = field(default=None, name="involvedObject")
    core_count: int = field(default=0, name="count")
    core_source: EventSource | None = field(default=None, name="source")
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    note: str = ""
    new_regarding: LocalReference | None = field(default=None, name="regarding")
    related: LocalReference | None = None
    event_time: str | None = None
    series: EventSeries | None = None
    reporting_component: str = ""
    reporting_controller: str = ""
    deprecated_count: int = 0
    deprecated_source: EventSource | None = None
    deprecated_first_timestamp: str | None = None
    deprecated_last_timestamp: str | None = None

    @property
    def message(self) -> str:
        """What was said."""
        return self.core_message or self.note

    @property
    def regarding(self) -> LocalReference:
        """What it is about; an empty reference if it does not say."""
        return self.core_regarding or self.new_regarding or LocalReference()

    @property
    def namespace(self) -> str:
        """The namespace of what it is about."""
        return self.regarding.namespace or self.metadata.namespace or "default"

    @property
    def count(self) -> int:
        """How often it was said, at least once."""
        series = self.series.count if self.series is not None else 0
        return max(series, self.core_count, self.deprecated_count, 1)

    @property
    def component(self) -> str:
        """Who said it."""
        source = self.core_source or self.deprecated_source
        return self.reporting_component or self.reporting_controller or (source.component if source else "")

    @property
    def first_time(self) -> str | None:
        """When it was first said."""
        return (
            self.first_timestamp
            or self.deprecated_first_timestamp
            or self.event_time
            or self.last_time
            or self.metadata.creation_timestamp
        )

    @property
    def last_time(self) -> str | None:
        """When it was last said."""
        return (
            (self.series.last_observed_time if self.series is not None else None)
            or self.last_timestamp
            or self.deprecated_last_timestamp
            or self.event_time
            or self.first_timestamp
            or self.deprecated_first_timestamp
            or self.metadata.creation_timestamp
        )
