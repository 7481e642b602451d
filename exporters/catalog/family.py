"""One metric family: its name, type, labels and what it says, declared once and used everywhere.

A collector can only publish what is declared here, docs/metrics.md is printed from it, and alerts and dashboards are
checked against it.
"""

import re
from enum import StrEnum

from msgspec import Struct

PREFIX = "knotwatch_"

UNITS = ("bytes", "seconds", "joules", "watts", "hertz", "celsius", "ratio")
"""Base units; what counts events, packets or devices has none."""

_NAME = re.compile(r"knotwatch_[a-z][a-z0-9_]*[a-z0-9]")
_LABEL = re.compile(r"[a-z][a-z0-9_]*")
_FORBIDDEN_LABELS = frozenset({"instance", "job", "hostname", "host", "cluster", "le", "quantile", "direction"})
"""Labels that belong to the target, or whose sum by accident is wrong."""


class Kind(StrEnum):
    """What a value means over time."""

    GAUGE = "gauge"
    COUNTER = "counter"
    IDENTITY = "info"  # always 1: its labels are what it says
    UNTYPED = "unknown"  # names of others that count and do not say so


class Group(StrEnum):
    """What the family is about: the heading under which docs/metrics.md lists it, and what `--collect` turns on."""

    GPU = "gpu"
    GPM = "gpm"
    NVLINK = "nvlink"
    XID = "xid"
    PROCESSES = "processes"
    RDMA = "rdma"
    ETHTOOL = "ethtool"
    NODE = "node"
    ALLOCATION = "allocation"
    EXPORTER = "exporter"
    DCGM = "dcgm"


class Family(Struct, frozen=True, kw_only=True):
    """One family. `source`: the call, field or file that it is read from, with the conversion. `labels`: in order.

    Raises ValueError for a name or label that breaks the rules of Prometheus' naming page
    (https://prometheus.io/docs/practices/naming/) or ours.
    """

    name: str
    kind: Kind
    group: Group
    text: str
    source: str
    labels: tuple[str, ...] = ()
    stable: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name}: a metric is named {PREFIX}lower_case")
        if (self.kind is Kind.COUNTER) is not self.name.endswith("_total"):
            raise ValueError(f"{self.name}: counters, and they alone, end in _total")
        if (self.kind is Kind.IDENTITY) is not self.name.endswith("_info"):
            raise ValueError(f"{self.name}: info families, and they alone, end in _info")
        for label in self.labels:
            if not _LABEL.fullmatch(label) or label in _FORBIDDEN_LABELS:
                raise ValueError(f"{self.name}: {label} is no label for it")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError(f"{self.name}: a label twice")


class Sample(Struct, frozen=True):
    """One value of a family. `labels`: the values of the family's labels, in their order; `value` is finite."""

    family: Family
    labels: tuple[str, ...]
    value: float
