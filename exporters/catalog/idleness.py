"""How long GPUs have been idle, how much they did, and whether they only look busy.

The definitions, and why they are right, are in exporters/followers/README.md.
"""

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU

LOOKS = "looks at the GPU, joined over time by this exporter"


def _family(kind: Kind, name: str, text: str, *labels: str, source: str = LOOKS) -> Family:
    return Family(
        name=f"knotwatch_gpu_{name}", kind=kind, group=Group.GPM, text=text, source=source, labels=(*GPU, *labels)
    )


IDLE = _family(
    Kind.GAUGE,
    "idle_seconds",
    "Time for which neither SM activity nor the share of time with a kernel resident was above the floor; absent while "
    "that is not known.",
)
ALLOCATED_IDLE = _family(
    Kind.GAUGE,
    "allocated_idle_seconds",
    "The same, only while the same pod or job holds the GPU; 0 while nobody does, absent while that is not known.",
)
BUSY = _family(
    Kind.COUNTER,
    "busy_seconds_total",
    "Integral of SM activity over the time observed. Its rate divided by that of observed_seconds_total is the mean "
    "activity over any window. Absent without performance counters.",
)
OBSERVED = _family(Kind.COUNTER, "observed_seconds_total", "Time that busy_seconds_total is known for.")

MIG_IDLE = _family(Kind.GAUGE, "mig_idle_seconds", "As idle_seconds, of one GPU instance.", "gpu_instance")
MIG_ALLOCATED_IDLE = _family(
    Kind.GAUGE, "mig_allocated_idle_seconds", "As allocated_idle_seconds, of one GPU instance.", "gpu_instance"
)
MIG_BUSY = _family(
    Kind.COUNTER,
    "mig_busy_seconds_total",
    "As busy_seconds_total, of one GPU instance and relative to it alone.",
    "gpu_instance",
)
MIG_OBSERVED = _family(
    Kind.COUNTER, "mig_observed_seconds_total", "Time that mig_busy_seconds_total is known for.", "gpu_instance"
)

STALLED = _family(
    Kind.GAUGE,
    "stalled_seconds",
    "Time for which the GPU has looked busy and done nothing, as in a collective that lacks a rank; 0 below the "
    "setting stall.hold_s and while it has an excuse, absent while it is not known.",
)
STALL_SIGNATURE = _family(
    Kind.GAUGE,
    "stall_signature_seconds",
    "Time for which all ingredients of a stall have been there, however short, excuse or not; absent while not known.",
)
STALL_SUPPORTED = _family(
    Kind.GAUGE,
    "stall_detection_supported",
    "Whether all ingredients of a stall can be read (1) or not (0): without performance counters they cannot.",
)
INGREDIENT = _family(
    Kind.GAUGE,
    "stall_ingredient",
    "Whether an ingredient is there (1) or not (0); absent if not known: kernel_resident, sm_low, tensor_low, "
    "memory_low, links_quiet, power_low.",
    "ingredient",
)
LINK_SHARE = _family(
    Kind.GAUGE,
    "links_of_peak_ratio",
    "Rate of the GPU's NVLinks, or of an RDMA device nearest to it, as share of its own highest in the last hour; of "
    "all these the largest. Absent where none was ever busy.",
    source="byte counters of NVLink and RDMA, joined over time by this exporter",
)
