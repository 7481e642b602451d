"""Whose each GPU is, and how much memory each pod and each job has on it: info series, and sums of what is known.

Memory by pod is a sum over processes, so it is right only if every one of them is known: its owner, and its size. Where
one is not, or where the sum is more than the device has in use (the two were not read at the same instant), the pods of
that device have none in that round.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from exporters.catalog import allocation as catalog
from exporters.catalog.family import Family, Sample
from exporters.collectors.allocations import Allocations, JobHolder, PodHolder, allocations_of
from exporters.collectors.cgroup_paths import Owner
from exporters.collectors.gpu_names import Place, Unmapped
from exporters.collectors.process_owners import ProcessReading
from exporters.config import Settings
from exporters.kubelet.holding import Noted
from exporters.nvml.reading import GpuReading
from exporters.subject import Key, Moment, Reading

SERIES_MAX = 4096
"""Of allocations, of claims and of jobs, each."""

PodName = tuple[str, str]
"""Namespace and name."""


class Allocation:
    """Publishes what `Allocations` knows."""

    def __init__(self, allocations: Allocations) -> None:
        self._known = allocations
        self._answered_at: Moment | None = None

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        self._known.note(key, reading, at)
        if self._known.pod_word is not None and self._known.pod_word.at == at:
            self._answered_at = at

    def forget(self, key: Key) -> None:
        self._known.forget(key)

    def samples(self, now: Moment) -> Iterable[Sample]:
        pods, unmapped_pods = self._known.pods(now)
        jobs, unmapped_jobs = self._known.jobs(now)
        uids = self._uids(now)
        claims = sorted({self._claim_labels(each) for each in self._known.claims(now)})
        yield from self._mapping(unmapped_pods, unmapped_jobs, now)
        yield from (self._pod(holder, uids) for holder in pods[:SERIES_MAX])
        yield from (self._job(holder) for holder in jobs[:SERIES_MAX])
        yield from (Sample(catalog.CLAIM, labels, 1) for labels in claims[:SERIES_MAX])
        left_out = sum(max(len(found) - SERIES_MAX, 0) for found in (pods, jobs, claims))
        if self._known.pod_word is not None:
            left_out += self._known.pod_word.value.left_out
        yield Sample(catalog.LEFT_OUT, (), left_out)
        yield from self._held(pods, jobs, now)
        yield from self._memory({uid: name for name, uid in uids.items()}, now)

    def _mapping(self, pods: Counter[Unmapped], jobs: Counter[Unmapped], now: Moment) -> Iterator[Sample]:
        """How the sources are; every reason starts at 0, so that its first is seen."""
        known = self._known
        if known.pods_answer is not None:
            yield Sample(catalog.POD_MAPPING_UP, (), known.pods_answer)
            if self._answered_at is not None:
                yield Sample(catalog.POD_MAPPING_SUCCESS, (), self._answered_at.wall_s)
            for reason in Unmapped:
                yield Sample(catalog.POD_UNMAPPED, (reason.value,), pods[reason])
        complete = known.jobs_complete(now)
        if complete is not None:
            yield Sample(catalog.JOB_MAPPING_COMPLETE, (), complete)
            for reason in (Unmapped.SPELLING, Unmapped.GPU, Unmapped.INSTANCE, Unmapped.AMBIGUOUS):
                yield Sample(catalog.JOB_UNMAPPED, (reason.value,), jobs[reason])

    def _part(self, place: Place) -> tuple[str, str, str, str]:
        return (
            place.uuid,
            self._known.names.index_of(place.uuid),
            "" if place.gpu_instance < 0 else str(place.gpu_instance),
            "" if place.compute_instance < 0 else str(place.compute_instance),
        )

    def _pod(self, holder: PodHolder, uids: dict[PodName, str]) -> Sample:
        whole = holder.place.gpu_instance < 0
        sharing = ("shared" if holder.shared else "exclusive") if whole else "mig_shared" if holder.shared else "mig"
        labels = (
            *self._part(holder.place),
            holder.namespace,
            holder.pod,
            uids.get((holder.namespace, holder.pod), ""),
            holder.container,
            holder.resource,
            sharing,
            str(holder.replicas),
        )
        return Sample(catalog.ALLOCATION, labels, 1)

    def _job(self, holder: JobHolder) -> Sample:
        labels = (*self._part(holder.place), holder.job, holder.user_id, holder.way.value, holder.key)
        return Sample(catalog.JOB, labels, 1)

    @staticmethod
    def _claim_labels(claimed: Any) -> tuple[str, ...]:
        return tuple(getattr(claimed, name) for name in catalog.CLAIM.labels)

    def _held(self, pods: tuple[PodHolder, ...], jobs: tuple[JobHolder, ...], now: Moment) -> Iterator[Sample]:
        holders = {(each.place.uuid, "pod", each.namespace, each.pod) for each in pods}
        holders |= {(each.place.uuid, "job", "", each.job) for each in jobs}
        counts = Counter(each[0] for each in holders)
        for uuid, allocated in sorted(self._known.allocated(now).items()):
            labels = (uuid, self._known.names.index_of(uuid))
            yield Sample(catalog.HOLDERS, labels, counts[uuid])
            gpu = self._known.gpu(uuid, now)
            if not allocated and gpu is not None and gpu.memory is not None and gpu.memory.used_bytes is not None:
                yield Sample(catalog.UNALLOCATED_MEMORY, labels, gpu.memory.used_bytes)

    def _uids(self, now: Moment) -> dict[PodName, str]:
        """UIDs of pods by name, where the hints do not contradict each other."""
        hints = self._known.uids(now)
        if hints is None:
            return {}
        found: dict[PodName, set[str]] = {}
        for named in hints.named:
            found.setdefault((named.namespace, named.pod), set()).add(named.uid)
        by_ids = _by_ids(hints.noted or ())
        checked: dict[PodName, set[str]] = {}
        for held in self._known.held_by_kubelet(now):
            uids = by_ids.get((held.container, held.resource, held.ids), set())
            if len(uids) == 1:
                checked.setdefault((held.namespace, held.pod), set()).update(uids)
        # Logs of a pod that is gone stay for a while, so a name may have several folders; devices tell which is on.
        for name, uids in checked.items():
            found[name] = uids & found[name] if name in found else uids
        return {name: next(iter(uids)) for name, uids in found.items() if len(uids) == 1}

    def _memory(self, names: dict[str, PodName], now: Moment) -> Iterator[Sample]:
        processes = self._known.processes(now)
        if processes is None or not processes.of_host:
            return
        for uuid in self._known.names.uuids:
            gpu = self._known.gpu(uuid, now)
            if gpu is not None and gpu.processes is not None:
                yield from _memory_of(gpu, processes, names)


def _by_ids(noted: Iterable[Noted]) -> dict[tuple[str, str, tuple[str, ...]], set[str]]:
    found: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for each in noted:
        found.setdefault((each.container, each.resource, each.ids), set()).add(each.pod_uid)
    return found


def _memory_of(gpu: GpuReading, processes: ProcessReading, names: dict[str, PodName]) -> Iterator[Sample]:
    """Memory of pods and jobs on one GPU, each instance for itself; none where something is not known."""
    used: dict[int | None, int | None] = {
        one.gpu_instance: one.memory.used_bytes for one in gpu.instances if one.memory is not None
    }
    used[None] = gpu.memory.used_bytes if gpu.memory is not None else None
    for instance, sizes in sorted(sizes_by_instance(gpu).items(), key=lambda item: -1 if item[0] is None else item[0]):
        in_use = used.get(instance)
        owned = _owned(sizes, processes)
        if in_use is None or owned is None or sum(owned.values()) > in_use:
            continue
        labels = (gpu.uuid, str(gpu.index), "" if instance is None else str(instance))
        for family, sums in ((catalog.POD_MEMORY, _by_pod(owned, names)), (catalog.JOB_MEMORY, _by_job(owned))):
            yield from _sums(family, labels, sums)


def sizes_by_instance(gpu: GpuReading) -> dict[int | None, dict[int, int | None]]:
    """By GPU instance and process its bytes; a process that is in several lists counts once, by its largest."""
    found: dict[int | None, dict[int, int | None]] = {}
    for one in gpu.processes or ():
        sizes = found.setdefault(one.gpu_instance, {})
        old = sizes.get(one.pid)
        sizes[one.pid] = old if one.used_bytes is None else max(one.used_bytes, old or 0)
    return found


def _owned(sizes: dict[int, int | None], processes: ProcessReading) -> dict[Owner, int] | None:
    """Bytes by owner; None if one process is not known, or its size is not."""
    found: dict[Owner, int] = {}
    for pid, size in sizes.items():
        process = processes.find(pid)
        if size is None or process is None or process.owner is None:
            return None
        found[process.owner] = found.get(process.owner, 0) + size
    return found


def _by_pod(owned: dict[Owner, int], names: dict[str, PodName]) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for owner, size in owned.items():
        if owner.pod_uid:
            labels = (*names.get(owner.pod_uid, ("", "")), owner.pod_uid)
            found[labels] = found.get(labels, 0) + size
    return found


def _by_job(owned: dict[Owner, int]) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for owner, size in owned.items():
        if owner.slurm_job:
            found[owner.slurm_job,] = found.get((owner.slurm_job,), 0) + size
    return found


def _sums(family: Family, labels: tuple[str, ...], sums: dict[tuple[str, ...], int]) -> Iterator[Sample]:
    for more, size in sorted(sums.items()):
        yield Sample(family, (*labels, *more), size)


def allocation(settings: Settings) -> Allocation:
    """The follower, as the settings want it."""
    return Allocation(allocations_of(settings))
