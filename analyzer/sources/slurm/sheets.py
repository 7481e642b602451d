"""Which table is which, by its headings, and the rows of sinfo."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.digits import is_whole
from analyzer.sources.slurm import job_texts, limit_texts
from analyzer.sources.slurm.hostlists import expand
from analyzer.sources.slurm.records import NodeRecord, PartitionRecord, Reading
from analyzer.sources.slurm.states import given, node_states
from analyzer.sources.slurm.tables import Row
from analyzer.sources.slurm.tres import gres, memory_bytes

NODES, PARTITIONS = "sinfo nodes", "sinfo"
_LABELS_OF_NODES = ("NODELIST", "HOSTNAMES", "NODE")


class Sheet(Struct, frozen=True):
    """A kind of table: headings of which all must be there, and of which one must be; where its records go."""

    kind: str
    needed: frozenset[str]
    one_of: frozenset[str]
    never: frozenset[str]
    where: str
    read: Callable[[Row, Citation], object]

    def fits(self, names: Sequence[str]) -> bool:
        """Whether these headings are this table's."""
        said = set(names)
        return (
            len(names) > 1
            and self.needed <= said
            and (not self.one_of or bool(self.one_of & said))
            and not self.never & said
        )


def _nothing(_row: Row, _citation: Citation) -> object:
    return None


def _sheet(
    kind: str,
    needed: str,
    one_of: str,
    where: str,
    read: Callable[[Row, Citation], object],
    never: str = "",
) -> Sheet:
    return Sheet(kind, frozenset(needed.split()), frozenset(one_of.split()), frozenset(never.split()), where, read)


SHEETS: tuple[Sheet, ...] = (
    _sheet("squeue steps", "STEPID", "NODELIST NAME USER", "", _nothing, "JOBID"),
    _sheet("sacct", "JOBID STATE", "EXITCODE ALLOCCPUS JOBIDRAW REQTRES ALLOCTRES SUBMIT JOBNAME ELAPSED NNODES",
           "jobs", job_texts.from_sacct, "REASON NODELIST(REASON) USER_ID"),
    _sheet("sacct", "JOBIDRAW STATE", "", "jobs", job_texts.from_sacct),
    _sheet("squeue", "JOBID", "NODELIST(REASON) ST STATE REASON", "jobs", job_texts.from_squeue, "STEPID"),
    _sheet("sacctmgr show qos", "NAME PRIORITY", "GRPTRES GRACETIME MAXTRES MAXTRESPU", "limits", limit_texts.qos_row),
    _sheet("sacctmgr show qos", "NAME", "GRPTRES MAXTRESPU MAXJOBSPU MAXTRESPERUSER", "limits", limit_texts.qos_row),
    _sheet("sacctmgr show assoc", "ACCOUNT", "GRPTRES GRPJOBS MAXJOBS", "limits", limit_texts.association_row, "JOBID"),
    _sheet(NODES, "", "NODELIST HOSTNAMES", "", _nothing, "JOBID STEPID RESV_NAME"),
)  # fmt: skip


def node_row(reading: Reading, row: Row, citation: Citation) -> str | None:
    """Nodes, and the partition, of a row of sinfo; in words what is wrong with it."""
    cells = row.cells
    listed = next((cells[label] for label in _LABELS_OF_NODES if cells.get(label)), "")
    names = expand(listed)
    states = node_states(cells.get("STATE") or cells.get("STATECOMPACT") or "")
    partition = given((cells.get("PARTITION") or "").rstrip("*"))
    if not names:
        return None if listed or partition else "this row of sinfo names no node: it is left out."
    for name in names:
        reading.nodes.append(
            NodeRecord(
                name=name,
                citation=citation,
                states=states or None,
                cpus=_cpus(cells),
                memory_bytes=memory_bytes(cells["MEMORY"]) if is_whole(cells.get("MEMORY", "")) else None,
                gres=gres(cells["GRES"]) if "GRES" in cells else None,
                partitions=(partition,) if partition else None,
                features=_features(cells),
                reason=given(cells.get("REASON")),
            )
        )
    if partition:
        available = cells.get("AVAIL")
        reading.partitions.append(
            PartitionRecord(
                name=partition, citation=citation, nodes=names, up=available.lower() == "up" if available else None
            )
        )
    return None


def _cpus(cells: dict[str, str]) -> int | None:
    """Of one node: `CPUS`, or the total of `CPUS(A/I/O/T)` where the row is a single node."""
    text = cells.get("CPUS", "").rstrip("+")
    return int(text) if is_whole(text) and len(text) < 9 else None


def _features(cells: dict[str, str]) -> frozenset[str] | None:
    for label in ("ACTIVE_FEATURES", "AVAIL_FEATURES"):
        if label in cells:
            return frozenset((given(cells[label]) or "").split(",")) - {""}
    return None
