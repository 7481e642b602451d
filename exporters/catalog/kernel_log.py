"""What the kernel's log tells of GPUs and NVSwitches beside XIDs, and whether it can be read."""

from exporters.catalog.family import Family, Group, Kind

SOURCE_AVAILABLE = Family(
    name="knotwatch_xid_source_available",
    kind=Kind.GAUGE,
    group=Group.XID,
    text="Whether a source of XID errors can be read (1) or not (0): kmsg is the kernel's log, nvml events.",
    source="whether /dev/kmsg opens; whether the watcher of events is up",
    labels=("source",),
)
SXID_ERRORS = Family(
    name="knotwatch_nvswitch_sxid_errors_total",
    kind=Kind.COUNTER,
    group=Group.XID,
    text="Errors of NVSwitches since this exporter began, by code and severity (fatal, non_fatal, unknown).",
    source="lines SXid of /dev/kmsg",
    labels=("nvswitch", "pci_address", "sxid", "severity"),
)
SXID_LAST = Family(
    name="knotwatch_nvswitch_sxid_last_timestamp_seconds",
    kind=Kind.GAUGE,
    group=Group.XID,
    text="When the error was last seen, in seconds since 1970.",
    source="the clock of this exporter when the line was read",
    labels=SXID_ERRORS.labels,
)
SXIDS_DROPPED = Family(
    name="knotwatch_nvswitch_sxids_dropped_total",
    kind=Kind.COUNTER,
    group=Group.XID,
    text="Errors of NVSwitches that were not counted by code since there were too many different ones.",
    source="this exporter",
)
RECORDS_LOST = Family(
    name="knotwatch_kernel_log_records_lost_total",
    kind=Kind.COUNTER,
    group=Group.XID,
    text="Records of the kernel's log that were overwritten before they could be read.",
    source="gaps in the sequence numbers of /dev/kmsg",
)
