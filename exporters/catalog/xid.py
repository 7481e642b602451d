"""Errors that the driver reports as they happen, and the watcher that hears them."""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU

XID_ERRORS = Family(
    name="knotwatch_gpu_xid_errors_total",
    kind=Kind.COUNTER,
    group=Group.XID,
    text="XID errors since this exporter began. Codes that matter most start at 0, others show up with their first.",
    source="events of NVML and lines of /dev/kmsg, each error once",
    labels=(*GPU, "xid"),
)
XID_LAST = Family(
    name="knotwatch_gpu_xid_last_timestamp_seconds",
    kind=Kind.GAUGE,
    group=Group.XID,
    text="When the XID was last seen, in seconds since 1970.",
    source="the clock of this exporter when the event came",
    labels=(*GPU, "xid"),
)
XIDS_DROPPED = Family(
    name="knotwatch_gpu_xid_codes_dropped_total",
    kind=Kind.COUNTER,
    group=Group.XID,
    text="Errors that were not counted by code since a GPU had shown too many different ones.",
    source="this exporter",
)
EVENTS = Family(
    name="knotwatch_gpu_events_total",
    kind=Kind.COUNTER,
    group=Group.XID,
    text="Other events of the driver by kind.",
    source="nvmlEventSetWait_v2 eventType",
    labels=(*GPU, "event"),
)
WATCHER_UP = Family(
    name="knotwatch_gpu_xid_watcher_up",
    kind=Kind.GAUGE,
    group=Group.XID,
    text="Whether events of the driver are heard (1) or not (0).",
    source="nvmlEventSetCreate, nvmlDeviceRegisterEvents, nvmlEventSetWait_v2",
)
WATCHED = Family(
    name="knotwatch_gpu_xid_watched_devices",
    kind=Kind.GAUGE,
    group=Group.XID,
    text="GPUs whose events are heard.",
    source="nvmlDeviceRegisterEvents",
)
