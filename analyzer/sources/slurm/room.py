"""What nodes have, what jobs hold on them, and what a pending job needs of them.

How a job's amounts lie on its nodes is not always told. Then an even split is taken where it comes out even, else the
least that must be there. Needs are the least as well: the processors of a job of several nodes may lie unevenly, so
only the minimum of each node counts. Both make nodes look freer than they are, and us more silent.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from analyzer.model.events import Excuse, ExcuseKind
from analyzer.model.ids import ResourceId, resource_on
from analyzer.model.requests import Never, Pods, Request
from analyzer.sources.slurm.features import fulfils
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.records import NodeRecord
from analyzer.sources.slurm.states import MADE_ANEW, PASSING, UNAVAILABLE
from analyzer.sources.slurm.tres import MEM, gres_of

CPU, MEMORY, GPU = "cpu", "memory", "gpu"
_NAMED_MAX = 4

Each = tuple[tuple[str, int], ...]


class Need(Struct, frozen=True):
    """So many placements of this size on distinct nodes (`spread`) or anywhere among these."""

    count: int
    each: Each
    among: tuple[str, ...]
    spread: bool


class Placement(Struct, frozen=True):
    """What a pending job needs of nodes; `excuse` where that is not to be believed."""

    parts: tuple[Request, ...]
    excuse: Excuse | None = None


class Room:
    """Nodes of the picture as resources."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._with_memory = any(MEM in (job.said.allocated or {}) for job in picture.jobs.values() if job.running)
        self._whole_nodes = "linear" in picture.select_type
        self._held: dict[ResourceId, int] | None = None
        self._placements: dict[tuple[object, ...], Placement] = {}
        self._incomplete = {
            node
            for job in picture.jobs.values()
            if job.running
            for node in job.said.nodes or ()
            if node not in picture.nodes
        }

    def capacity(self) -> dict[ResourceId, int]:
        """Every unit of every node."""
        units: dict[ResourceId, int] = {}
        for name, node in sorted(self._picture.nodes.items()):
            for kind, count in _capacity(node).items():
                if kind != MEMORY or self._with_memory:
                    units[resource_on(kind, name)] = count
        return units

    def holds(self, job: Job) -> dict[ResourceId, int]:
        """What a running job holds on nodes that are known."""
        held: dict[ResourceId, int] = {}
        nodes = job.said.nodes or ()
        for node in nodes:
            known = self._picture.nodes.get(node)
            if known is None:
                continue
            capacity = _capacity(known)
            for kind, count in self._held_on(job, node, len(nodes)).items():
                if count > 0 and kind in capacity and (kind != MEMORY or self._with_memory):
                    held[resource_on(kind, node)] = count
        return held

    def gpus(self, job: Job) -> int:
        """Cards that a running job holds."""
        said = job.said
        nodes = said.nodes or ()
        return sum(self._held_on(job, node, len(nodes)).get(GPU, 0) for node in nodes)

    def _held_on(self, job: Job, node: str, nodes: int) -> dict[str, int]:
        said = job.said
        told = dict((said.each_node or {}).get(node, {}))
        amounts = said.allocated or {}
        if CPU not in told:
            cpus = amounts.get(CPU) or said.cpus or 1
            told[CPU] = _share(cpus, nodes) or 1
        if MEMORY not in told and MEM in amounts:
            told[MEMORY] = _share(amounts[MEM], nodes)
        if not any(kind not in (CPU, MEMORY) for kind in told):
            generic = gres_of(amounts)
            if generic:
                told.update({kind: _share(count, nodes) for kind, count in generic.items()})
            else:
                told.update(said.gres_each_node or {})
        return told

    def has_room(self, job: Job, given_back: Mapping[ResourceId, int]) -> bool:
        """Whether each of the job's needs would fit on nodes in service with these units given back.

        A necessary condition: needs are looked at one by one. False where it is not known what the job needs.
        """
        choice = self._choice(job)
        if choice is None:
            return False
        among = choice[0]
        needs = self._needs(job, among)
        taken = self._taken()
        for need in needs:
            rooms = 0
            for name in need.among:
                capacity = _capacity(self._picture.nodes[name])
                free = {
                    kind: units - taken.get(resource_on(kind, name), 0) + given_back.get(resource_on(kind, name), 0)
                    for kind, units in capacity.items()
                }
                times = min((max(free.get(kind, 0), 0) // units for kind, units in need.each), default=1)
                rooms += min(times, 1) if need.spread else times
            if rooms < need.count:
                return False
        return bool(needs)

    def _taken(self) -> dict[ResourceId, int]:
        """What all running jobs hold together."""
        if self._held is None:
            self._held = {}
            for job in self._picture.jobs.values():
                for resource, units in self.holds(job).items() if job.running else ():
                    self._held[resource] = self._held.get(resource, 0) + units
        return self._held

    def placement(self, job: Job) -> Placement:
        """What a pending job needs of nodes. Jobs that ask for the same share one answer."""
        said = job.said
        generic = (said.gres_each_node, said.gres_in_all, said.gres_each_task, said.requested)
        shape = (
            *(said.partition, said.reservation, said.features, said.excluded_nodes, said.required_nodes),
            *(said.node_count, said.cpus, said.cpus_each_node, said.memory_each_node, said.memory_each_cpu),
            *(said.task_count, said.exclusive, "--gres" in (said.submit_line or "")),
            *(tuple(sorted(amounts.items())) if amounts is not None else None for amounts in generic),
        )
        known = self._placements.get(shape)
        if known is None:
            known = self._placements[shape] = self._placed(job)
        return known

    def open_nodes(self, job: Job) -> tuple[str, ...]:
        """Nodes that come into question for the job and are in service; () where it is not known which there are."""
        choice = self._choice(job)
        return () if choice is None else choice[0]

    def _placed(self, job: Job) -> Placement:
        choice = self._choice(job)
        if choice is None:
            return Placement(())
        among, passing, lost = choice
        needs = self._needs(job, (*among, *passing, *lost))
        if not needs:
            return Placement(())
        if not self._fits(needs, {*among, *passing, *lost}):
            text = "Slurm took the job, and none of the nodes of its partition look large enough: not judged"
            return Placement((), Excuse(ExcuseKind.DISPUTED, text))
        required = job.said.required_nodes or ()
        if not self._fits(needs, set(among)) or any(node in lost or node in passing for node in required):
            back = {*among, *passing}
            if self._fits(needs, back) and not any(node in lost for node in required):
                text = f"{_names(passing)} may be back by itself"
                return Placement((), Excuse(ExcuseKind.STARTING, text))
            return Placement((Never(self._lost_words(lost)),))
        inside = set(among)
        parts = []
        for need in needs:
            where = tuple(node for node in need.among if node in inside)
            parts.append(Pods(need.count, need.each, where, 1 if need.spread and need.count > 1 else None))
        return Placement(tuple(parts))

    def _choice(self, job: Job) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None:
        """Nodes that come into question: open, back soon, out of service. None: it is not known which there are."""
        said = job.said
        names = self._nodes_of(job)
        if names is None:
            return None
        excluded = frozenset(said.excluded_nodes or ())
        among, passing, lost = [], [], []
        for name in sorted(set(names)):
            node = self._picture.nodes[name]
            if name in excluded or not fulfils(said.features or "", node.features):
                continue
            states = node.states or frozenset()
            out = bool(states & UNAVAILABLE)
            marks = states & PASSING
            if (marks and not (out and marks == {"NOT_RESPONDING"})) or (out and states & MADE_ANEW):
                passing.append(name)
            elif out:
                lost.append(name)
            else:
                among.append(name)
        return tuple(among), tuple(passing), tuple(lost)

    def _nodes_of(self, job: Job) -> tuple[str, ...] | None:
        """All nodes of its partitions or its reservation; None if any of them is not known."""
        picture, said = self._picture, job.said
        if not picture.nodes:
            return None
        if said.reservation:
            reservation = picture.reservations.get(said.reservation)
            if reservation is None or not reservation.nodes or not set(reservation.nodes) <= picture.nodes.keys():
                return None
            return reservation.nodes
        found: list[str] = []
        for partition in (said.partition or "").split(","):
            record = picture.partitions.get(partition)
            if record is not None and record.nodes is not None:
                if not set(record.nodes) <= picture.nodes.keys():
                    return None
                found += record.nodes
                continue
            told = [name for name, node in picture.nodes.items() if partition in (node.partitions or ())]
            if not told or self._incomplete:
                return None
            found += told
        return tuple(found)

    def _needs(self, job: Job, nodes: Sequence[str]) -> list[Need]:
        """The job's wishes: one size for each of its nodes, and what it wants in all."""
        said = job.said
        count = max(said.node_count or 1, 1)
        each, in_all = self._sizes(job, count, nodes)
        required = tuple(node for node in said.required_nodes or ())
        needs: list[Need] = []
        if required and set(required) <= set(nodes):
            needs += [Need(1, each, (node,), spread=False) for node in required]
            rest = count - len(required)
            if rest > 0:
                others = tuple(node for node in nodes if node not in required)
                needs.append(Need(rest, each, others, spread=True))
        elif each:
            needs.append(Need(count, each, tuple(nodes), spread=True))
        needs += [Need(total, ((kind, 1),), tuple(nodes), spread=False) for kind, total in in_all if total > 0]
        return needs

    def _sizes(self, job: Job, count: int, nodes: Sequence[str]) -> tuple[Each, list[tuple[str, int]]]:
        said = job.said
        whole = bool(said.exclusive) or self._whole_nodes or self._gives_whole_nodes(job)
        cpus = max(said.cpus_each_node or 1, (said.cpus or 1) if count == 1 else 1)
        each: dict[str, int] = {CPU: cpus}
        if whole:
            each[CPU] = max(min((self._picture.nodes[node].cpus or 1 for node in nodes), default=1), 1)
        if self._with_memory:
            memory = said.memory_each_node or (said.memory_each_cpu or 0) * cpus
            if memory:
                each[MEMORY] = memory
        in_all: dict[str, int] = {}
        requested = gres_of(said.requested or {})
        if said.gres_each_node:
            each.update(said.gres_each_node)
        elif said.gres_in_all:
            in_all.update(said.gres_in_all)
        elif said.gres_each_task and not requested:
            in_all.update({kind: units * (said.task_count or 1) for kind, units in said.gres_each_task.items()})
        elif "--gres" in (said.submit_line or "") and all(units % count == 0 for units in requested.values()):
            each.update({kind: units // count for kind, units in requested.items()})
        else:
            in_all.update(requested)
        known = [_capacity(self._picture.nodes[node]) for node in nodes]
        told = {kind for kind in (*each, *in_all) if all(kind in one or _says_gres(one) for one in known)}
        sizes = tuple(sorted((kind, units) for kind, units in each.items() if kind in told and units > 0))
        return sizes, sorted((kind, units) for kind, units in in_all.items() if kind in told)

    def _gives_whole_nodes(self, job: Job) -> bool:
        names = (job.said.partition or "").split(",")
        return all(name in self._picture.partitions and self._picture.partitions[name].exclusive for name in names)

    def _fits(self, needs: Iterable[Need], nodes: set[str]) -> bool:
        """Whether every single need could be met if these nodes were empty (a necessary condition)."""
        for need in needs:
            rooms = 0
            for name in need.among:
                if name in nodes:
                    capacity = _capacity(self._picture.nodes[name])
                    times = min((capacity.get(kind, 0) // units for kind, units in need.each), default=1)
                    rooms += min(times, 1) if need.spread else times
            if rooms < need.count:
                return False
        return True

    def _lost_words(self, lost: Sequence[str]) -> str:
        """Which nodes are out of service and why."""
        reasons = sorted({node.reason for name in lost if (node := self._picture.nodes[name]).reason})
        because = f" ({'; '.join(reasons[:2])})" if reasons else ""
        verb = "is" if len(lost) == 1 else "are"
        return f"{_names(lost)} {verb} drained or down{because}, and without it the rest is not enough"


def _capacity(node: NodeRecord) -> dict[str, int]:
    units: dict[str, int] = {}
    if node.cpus:
        units[CPU] = node.cpus
    if node.memory_bytes:
        units[MEMORY] = node.memory_bytes
    units.update(node.gres or {})
    return units


def _says_gres(capacity: dict[str, int]) -> bool:
    """Whether what the node has of generic resources is known, so that what is not in it is not there."""
    return any(kind not in (CPU, MEMORY) for kind in capacity)


def _share(total: int, nodes: int) -> int:
    return total // nodes if nodes and total % nodes == 0 else 0


def _names(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + rest
