"""docs/metrics.md, printed from the catalogue."""

from collections.abc import Iterator

from exporters.catalog import FAMILIES
from exporters.catalog.family import Family, Group

HEADINGS: dict[Group, str] = {
    Group.GPU: "GPUs",
    Group.GPM: "What GPUs work on, by their performance monitors",
    Group.NVLINK: "NVLink",
    Group.XID: "Errors that the driver reports (XID)",
    Group.PROCESSES: "Processes on GPUs, and memory that nobody holds",
    Group.RDMA: "RDMA devices",
    Group.ETHTOOL: "The Ethernet side of RDMA devices",
    Group.NODE: "The node",
    Group.ALLOCATION: "Whose GPUs are",
    Group.EXPORTER: "The exporter itself",
    Group.DCGM: "The names of DCGM, with `--dcgm-compat`",
}


def metrics_page() -> str:
    """The whole page: a table for each group."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield (
        "<!-- Generated from exporters/catalog/ by `make docs`. -->\n\n# Metrics of knotwatch-exporter\n\n"
        "Counters are as the hardware has them: one that starts anew after a reset is published as it is. What cannot\n"
        "be read is absent. `up` and `down_reason` say so, and `read_errors_total` says which call failed.\n"
        "Device series carry the lasting name of the device and, for GPUs, its index at present (`gpu`); who it is\n"
        "stands in the `_info` families. Beside these, `process_*` are those that every Prometheus client has.\n"
    )
    for group in Group:
        families = [family for family in FAMILIES if family.group is group]
        if families:
            yield f"## {HEADINGS[group]}\n"
            yield "| name | type | labels | what it says | read from |\n|---|---|---|---|---|"
            yield "\n".join(_row(family) for family in families) + "\n"


def _row(family: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in family.labels)
    stable = "" if family.stable else " *(may change)*"
    return (
        "| "
        + " | ".join((f"`{family.name}`", family.kind.value, labels, _cell(family.text) + stable, _cell(family.source)))
        + " |"
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("_", "\\_")
