"""Whether each subject is up and since when, and what the exporter says about itself."""

from msgspec import Struct

from exporters.catalog.family import Family, Group, Kind

FRAME = "the exporter's own"


class Standing(Struct, frozen=True, kw_only=True):
    """The four families that say how subjects of one kind are."""

    up: Family
    down_reason: Family
    last_success: Family
    stuck: Family

    @property
    def families(self) -> tuple[Family, ...]:
        """All four."""
        return self.up, self.down_reason, self.last_success, self.stuck


def _standing(prefix: str, group: Group, labels: tuple[str, ...], what: str) -> Standing:
    def family(name: str, text: str, source: str, more: tuple[str, ...] = ()) -> Family:
        return Family(
            name=f"{prefix}_{name}", kind=Kind.GAUGE, group=group, labels=(*labels, *more), text=text, source=source
        )

    return Standing(
        up=family(
            "up",
            f"Whether {what} answers: 1, or 0 when it is lost, stuck or failing; its values are absent then.",
            "the latest read; 0 after three failed ones in a row",
        ),
        down_reason=family(
            "down_reason",
            f"Why {what} is not up: 1 for the reason, and absent while it is up.",
            "the latest read: lost, reset_required, not_found, fatal_xid, timeout, driver, library, permission, "
            "errors, unreachable",
            ("reason",),
        ),
        last_success=family(
            "last_success_timestamp_seconds",
            f"When {what} last answered.",
            "the wall clock when the latest read that gave something came back",
        ),
        stuck=family(
            "stuck_seconds",
            f"How long the present call to {what} has not returned; absent when none is overdue.",
            "the monotonic clock since the call began",
        ),
    )


STANDINGS: dict[str, Standing] = {
    "gpu": _standing("knotwatch_gpu", Group.GPU, ("uuid",), "the GPU"),
    "rdma": _standing("knotwatch_rdma", Group.RDMA, ("device",), "the RDMA device"),
}
"""By kind of subject: those that alerts name by themselves."""

OTHER_STANDING = _standing("knotwatch_exporter_subject", Group.EXPORTER, ("kind", "name"), "what is read")
"""For every other kind, and for what a kind has beside its devices, the kind being a label."""


def _own(name: str, kind: Kind, text: str, source: str, *labels: str) -> Family:
    return Family(
        name=f"knotwatch_exporter_{name}", kind=kind, group=Group.EXPORTER, text=text, source=source, labels=labels
    )


BUILD_INFO = _own("build_info", Kind.IDENTITY, "The exporter's version.", "the installed package", "version")
COLLECT_DURATION = _own(
    "collect_duration_seconds",
    Kind.GAUGE,
    "How long the latest read took; of several subjects the longest, open calls included once they are overdue.",
    "the monotonic clock around each read",
    "collector",
)
COLLECTOR_SUCCESS = _own(
    "collector_success",
    Kind.GAUGE,
    "1 if the latest read of every subject of this kind succeeded, 0 if one did not.",
    "the latest read of each subject",
    "collector",
)
COLLECT_SKIPPED = _own(
    "collect_skipped_total",
    Kind.COUNTER,
    "Turns at which a subject was not read, because the read before had not returned.",
    FRAME,
    "collector",
)
READ_ERRORS = _own(
    "read_errors_total",
    Kind.COUNTER,
    "Calls that failed, by call and code. Each costs what it would have read, and nothing else.",
    "the errors of all reads",
    "call",
    "code",
)
BROKEN = _own(
    "broken_total",
    Kind.COUNTER,
    "Times that a part of the exporter failed to say what it had read: a fault of ours, please report it.",
    "exceptions of collectors (by kind) and followers (by name)",
    "part",
)
SERIES = _own("series", Kind.GAUGE, "Series on the page, process_* not counted.", FRAME)
SERIES_DROPPED = _own(
    "series_dropped_total",
    Kind.COUNTER,
    "Series left out since there were too many, added up over all pages: while it rises, families are missing.",
    "the bound limit.series_max",
    "group",
)
DUPLICATES = _own(
    "duplicate_samples_total",
    Kind.COUNTER,
    "Samples left out because the page had one of the same name and labels: a fault of ours, please report it.",
    FRAME,
)
REJECTED = _own(
    "rejected_samples_total",
    Kind.COUNTER,
    "Samples left out for want of a finite value or the declared labels: a fault of ours, please report it.",
    FRAME,
)
SUBJECTS = _own("subjects", Kind.GAUGE, "Subjects that are read, by kind.", FRAME, "kind")
SUBJECTS_REFUSED = _own(
    "subjects_refused",
    Kind.GAUGE,
    "Subjects that are not read since there are too many.",
    "the bound limit.subjects_max",
)
PAGE_TIMESTAMP = _own("page_timestamp_seconds", Kind.GAUGE, "When the page was made.", "the wall clock")
PAGE_DURATION = _own(
    "page_duration_seconds", Kind.GAUGE, "How long it took to make the page before this one.", "the monotonic clock"
)
HTTP_REQUESTS = _own("http_requests_total", Kind.COUNTER, "Requests answered, by HTTP status.", FRAME, "code")
WEB_CONFIG_CURRENT = _own(
    "web_config_current",
    Kind.GAUGE,
    "1 if the web configuration in force is that of the file; 0 if the file has changed and cannot be used.",
    "the file given as web.config_file",
)

FAMILIES: tuple[Family, ...] = (
    *(family for kind in sorted(STANDINGS) for family in STANDINGS[kind].families),
    *OTHER_STANDING.families,
    BUILD_INFO,
    COLLECT_DURATION,
    COLLECTOR_SUCCESS,
    COLLECT_SKIPPED,
    READ_ERRORS,
    BROKEN,
    SERIES,
    SERIES_DROPPED,
    DUPLICATES,
    REJECTED,
    SUBJECTS,
    SUBJECTS_REFUSED,
    PAGE_TIMESTAMP,
    PAGE_DURATION,
    HTTP_REQUESTS,
    WEB_CONFIG_CURRENT,
)
