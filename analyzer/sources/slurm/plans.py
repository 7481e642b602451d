"""Nodes that Slurm sets aside, on paper, for heterogeneous jobs: a soft hold.

They start through backfill alone, and one that can never start (more components than its QOS lets run) is given whole
nodes "now" in every cycle all the same. Heterogeneous jobs behind it then find too few nodes, for ever. So the plan of
a pending heterogeneous job is a unit on each node, and another one needs as many as it has nodes. It counts only where
Slurm tells its plan (SchedNodeList, SCHEDNODES), and it holds nobody up behind a job that can start.
"""

from collections.abc import Sequence

from analyzer.model.events import Holds
from analyzer.model.ids import ResourceId, resource_on
from analyzer.model.requests import Pods, Request
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.room import Room

PLAN = "plan"


class Plans:
    """Plans of all pending heterogeneous jobs; each node is in one plan, that of the first job."""

    def __init__(self, picture: Picture, room: Room) -> None:
        self._room = room
        self._owner: dict[str, int] = {}
        for job in sorted(picture.jobs.values(), key=lambda one: one.order):
            if job.pending and job.said.het_id is not None:
                for node in job.said.planned_nodes or ():
                    if node in picture.nodes:
                        self._owner.setdefault(node, job.said.het_id)
        several = len(set(self._owner.values())) > 1
        self.capacity: dict[ResourceId, int] = {resource_on(PLAN, node): 1 for node in picture.nodes} if several else {}

    def holds(self, group: Sequence[Job]) -> Holds:
        """The nodes in the plan of this job."""
        if not self.capacity:
            return ()
        return tuple((resource_on(PLAN, node), 1) for node in self._planned(group))

    def needs(self, group: Sequence[Job]) -> list[Request]:
        """Further nodes in its plan, of those that come into question for any of its components."""
        if not self.capacity or group[0].said.het_id is None:
            return []
        mine = self._planned(group)
        lacking = sum(max(job.said.node_count or 1, 1) for job in group) - len(mine)
        nodes = sorted({node for job in group for node in self._room.open_nodes(job)} - set(mine))
        if lacking <= 0 or not mine or len(nodes) < lacking:
            return []
        return [Pods(lacking, ((PLAN, 1),), tuple(nodes))]

    def _planned(self, group: Sequence[Job]) -> list[str]:
        het = group[0].said.het_id
        return sorted(node for node, owner in self._owner.items() if owner == het) if het is not None else []
