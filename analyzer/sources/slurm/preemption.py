"""Whether Slurm may take units from jobs that run, to start one that waits.

Whom it takes is Slurm's own choice. So this asks less: with everything that it may take given back, would the job's
nodes have room? If so, its need of nodes counts as met. Licences, limits and other jobs' ends are not to be had that
way, and stay in its request.

| PreemptType | may take from |
|---|---|
| preempt/partition_prio | jobs of partitions with a lower PriorityTier whose PreemptMode is not OFF |
| preempt/qos | jobs of a QOS that the job's own names in Preempt (a PreemptMode of its own cannot be OFF) |
| preempt/none | nobody |
| not in the input | either of both: the more silent |

A partition whose PreemptMode is not told counts as one from which Slurm may take.
"""

from collections.abc import Callable

from analyzer.model.ids import ResourceId
from analyzer.sources.slurm.jobs import Job
from analyzer.sources.slurm.picture import Picture
from analyzer.sources.slurm.room import Room


class Preemption:
    """What may be taken from whom, for one picture."""

    def __init__(self, picture: Picture, room: Room) -> None:
        self._picture = picture
        self._room = room
        by_type: dict[str, tuple[Callable[[Job, Job], str | None], ...]] = {
            "preempt/none": (),
            "preempt/qos": (self._by_qos,),
            "preempt/partition_prio": (self._by_partition,),
        }
        self._ways = by_type.get(picture.preempt_type, (self._by_qos, self._by_partition))
        self._running = [job for job in picture.jobs.values() if job.running and not job.completing]
        self._victims: dict[tuple[str | None, str | None], tuple[str, dict[ResourceId, int]]] = {}

    def makes_room(self, job: Job) -> str | None:
        """In words from whom Slurm may take enough; None if nobody is preemptible, or all of them are too little."""
        if not self._ways or not self._running:
            return None
        key = (job.said.partition, job.said.qos)
        if key not in self._victims:
            self._victims[key] = self._to_be_taken(job)
        words, units = self._victims[key]
        return words if units and self._room.has_room(job, units) else None

    def _to_be_taken(self, job: Job) -> tuple[str, dict[ResourceId, int]]:
        units: dict[ResourceId, int] = {}
        words = ""
        for victim in sorted(self._running, key=lambda one: one.order):
            why = next((why for way in self._ways if (why := way(job, victim)) is not None), None)
            if why is None:
                continue
            words = words or why
            for resource, count in self._room.holds(victim).items():
                units[resource] = units.get(resource, 0) + count
        return words, units

    def _by_qos(self, job: Job, victim: Job) -> str | None:
        mine = self._picture.limits.get(("", "", job.said.qos or ""))
        if mine is None or victim.said.qos not in mine.preempts:
            return None
        return f"QOS {job.said.qos} may preempt jobs of QOS {victim.said.qos}"

    def _by_partition(self, job: Job, victim: Job) -> str | None:
        other = self._picture.partitions.get(victim.said.partition or "")
        if other is None or other.preempts is False or other.tier is None:
            return None
        for name in (job.said.partition or "").split(","):
            mine = self._picture.partitions.get(name)
            if mine is not None and mine.tier is not None and mine.tier > other.tier:
                return f"partition {mine.name} may preempt jobs of {other.name}"
        return None
