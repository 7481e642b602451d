"""Who holds which GPU now: the words of kubelet, Slurm and the process list, joined. State, fed with readings.

Every word has an age. What the kubelet said last stands for a while when it falls silent (it restarts, and gives
nothing away while it is gone), and is dropped after that: no name is better than one that is no longer true. Names are
resolved anew each time, since a MIG instance made anew may get the number of an old one.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from exporters.collectors.device_names import DeviceName, device_name
from exporters.collectors.gpu_names import GpuNames, Numbers, Place, Unmapped
from exporters.collectors.pod_uids import UidReading
from exporters.collectors.process_owners import ProcessReading
from exporters.collectors.slurm_jobs import JobHeld, JobReading, Way
from exporters.config import Settings
from exporters.kubelet.holding import Claimed, Held, PodReading
from exporters.nvml.reading import GpuReading
from exporters.subject import Key, Moment, Reading

JOB_AGE_MAX_S = 120.0
PROCESS_AGE_MAX_S = 60.0
NVIDIA_DRIVER = "gpu.nvidia.com"
AMD = "amd.com/"
NUMBER_DIGITS_MAX = 4
PLAIN_NUMBERS = r"nvidia\.com/gpu(?:\.shared)?"
"""Resources whose bare numbers are indices; of others (passed-through devices) they may be anything."""


class PodHolder(Struct, frozen=True, order=True, kw_only=True):
    """A container and the GPU, or the part of one, that it holds. `replicas`: how many of its shares."""

    place: Place
    namespace: str
    pod: str
    container: str
    resource: str
    replicas: int
    shared: bool


class JobHolder(Struct, frozen=True, order=True, kw_only=True):
    """A job and the GPU, or the part of one, that it holds."""

    place: Place
    job: str
    user_id: str
    way: Way
    key: str


class Word(Struct, frozen=True):
    """What a subject said last, and when."""

    value: Any
    at: Moment


class Allocations:
    """All that is known of holders. One thread feeds and asks it."""

    def __init__(
        self, *, mapping_age_max_s: float = 180.0, numbers: Numbers = Numbers.EITHER, resources: str = ""
    ) -> None:
        """`numbers`: what bare numbers in names of job files are. `resources`: more whose numbers are indices."""
        self.names = GpuNames()
        self.pod_word: Word | None = None
        self.pods_answer: bool | None = None
        self.uid_word: Word | None = None
        self.process_word: Word | None = None
        self.job_words: dict[Key, Word] = {}
        self.gpu_words: dict[str, Word] = {}
        self._mapping_age_max_s = mapping_age_max_s
        self._numbers = numbers
        self._plain = tuple(re.compile(each) for each in (PLAIN_NUMBERS, resources) if each)

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        """Take a reading; one without a value leaves the last word as it was. O(the reading)."""
        if key.kind == "kubelet" and key.name == "podresources":
            self.pods_answer = reading.up and reading.value is not None
        self.names.note(reading.value)
        match reading.value:
            case GpuReading(uuid=uuid):
                self.gpu_words[uuid] = Word(reading.value, at)
            case PodReading():
                self.pod_word = Word(reading.value, at)
            case UidReading():
                self.uid_word = Word(reading.value, at)
            case ProcessReading():
                self.process_word = Word(reading.value, at)
            case JobReading():
                self.job_words[key] = Word(reading.value, at)
            case _:
                if key.kind == "gpu" and not reading.up:
                    self.gpu_words.pop(key.name, None)

    def forget(self, key: Key) -> None:
        """The subject is no more."""
        self.job_words.pop(key, None)
        if key.kind == "gpu":
            self.gpu_words.pop(key.name, None)
            self.names.forget(key.name)
        if key.kind == "kubelet" and key.name == "podresources":
            self.pod_word, self.pods_answer = None, None

    def pods(self, now: Moment) -> tuple[tuple[PodHolder, ...], Counter[Unmapped]]:
        """Holders among pods, sorted, and what leads to no GPU. O(device ids)."""
        reading = self._fresh(self.pod_word, now, self._mapping_age_max_s)
        unmapped: Counter[Unmapped] = Counter()
        if not isinstance(reading, PodReading):
            return (), unmapped
        found: dict[tuple[Place, str, str, str, str], list[bool]] = {}
        for held in reading.held:
            for spelled in held.ids:
                place, replica = self._of_id(held, spelled)
                self._gather(found, unmapped, place, held, held.resource, shared=replica)
        for claimed in reading.claimed:
            if claimed.driver == NVIDIA_DRIVER:
                self._gather(
                    found, unmapped, self._of_claim(claimed), claimed, claimed.driver, shared=bool(claimed.share)
                )
        pods: dict[Place, set[tuple[str, str]]] = {}
        for place, namespace, pod, _, _ in found:
            pods.setdefault(place, set()).add((namespace, pod))
        return tuple(
            PodHolder(
                place=place,
                namespace=namespace,
                pod=pod,
                container=container,
                resource=resource,
                replicas=len(shares),
                shared=any(shares) or len(pods[place]) > 1,
            )
            for (place, namespace, pod, container, resource), shares in sorted(found.items())
        ), unmapped

    @staticmethod
    def _gather(
        found: dict[tuple[Place, str, str, str, str], list[bool]],
        unmapped: Counter[Unmapped],
        place: Place | Unmapped,
        who: Held | Claimed,
        resource: str,
        *,
        shared: bool,
    ) -> None:
        if isinstance(place, Unmapped):
            unmapped[place] += 1
        else:
            found.setdefault((place, who.namespace, who.pod, who.container, resource), []).append(shared)

    def _of_id(self, held: Held, spelled: str) -> tuple[Place | Unmapped, bool]:
        if held.resource.startswith(AMD):
            return Unmapped.VENDOR, False
        name = device_name(spelled)
        if name is None or (spelled[:1].isdigit() and not self._may_be_plain(held.resource, name)):
            return Unmapped.SPELLING, False
        return self.names.place(name), name.replica

    def _may_be_plain(self, resource: str, name: DeviceName) -> bool:
        return len(name.name) > NUMBER_DIGITS_MAX or (
            name.gpu_instance is None and any(each.fullmatch(resource) for each in self._plain)
        )

    def _of_claim(self, claimed: Claimed) -> Place | Unmapped:
        """The GPU of a claimed device: by a UUID in a CDI name, else by the minor number in the driver's own name."""
        for cdi in claimed.cdi:
            name = device_name(cdi.rpartition("=")[2])
            if name is not None and not name.name.isdigit():
                return self.names.place(name)
        number = claimed.device.removeprefix("gpu-")
        if number == claimed.device or not (number.isascii() and number.isdigit()):
            return Unmapped.CLAIM
        name = device_name(f"nvidia{number}")
        return self.names.place(name) if name is not None else Unmapped.CLAIM

    def jobs(self, now: Moment) -> tuple[tuple[JobHolder, ...], Counter[Unmapped]]:
        """Jobs that hold GPUs, sorted, each GPU and job once, and what leads to no GPU. O(holdings)."""
        best: dict[tuple[Place, str], JobHolder] = {}
        unmapped: Counter[Unmapped] = Counter()
        ways = list(Way)
        for key in sorted(self.job_words):
            reading = self._fresh(self.job_words[key], now, JOB_AGE_MAX_S)
            for held in reading.held if isinstance(reading, JobReading) else ():
                place = Unmapped.SPELLING if held.device is None else self.names.place(held.device, self._numbers)
                if isinstance(place, Unmapped):
                    unmapped[place] += 1
                else:
                    _keep_best(best, ways, _job_holder(place, held))
        for place, job, user_id in self._jobs_of_processes(now):
            _keep_best(best, ways, JobHolder(place=place, job=job, user_id=user_id, way=Way.PROCESS, key="pid"))
        return tuple(best[key] for key in sorted(best)), unmapped

    def _jobs_of_processes(self, now: Moment) -> Iterator[tuple[Place, str, str]]:
        processes = self.processes(now)
        if processes is None or not processes.of_host:
            return
        for uuid in sorted(self.gpu_words):
            gpu = self.gpu(uuid, now)
            for one in (gpu.processes or ()) if gpu is not None else ():
                process = processes.find(one.pid)
                if process is not None and process.owner is not None and process.owner.slurm_job:
                    place = Place(
                        uuid=uuid,
                        gpu_instance=-1 if one.gpu_instance is None else one.gpu_instance,
                        compute_instance=-1 if one.compute_instance is None else one.compute_instance,
                    )
                    yield place, process.owner.slurm_job, process.owner.slurm_user or process.user_id

    def jobs_complete(self, now: Moment) -> bool | None:
        """Whether a source shows every GPU that jobs hold. None: there is no sign of Slurm."""
        words = [self._fresh(word, now, JOB_AGE_MAX_S) for _, word in sorted(self.job_words.items())]
        if any(isinstance(each, JobReading) and each.complete for each in words):
            return True
        processes = self.processes(now)
        seen = processes is not None and any(
            one.owner is not None and one.owner.slurm_job for one in processes.processes.values()
        )
        return False if words or seen else None

    def allocated(self, now: Moment) -> dict[str, bool]:
        """By UUID whether a pod or a job holds the GPU or a part of it; absent where that is not known.

        That nobody holds a GPU is known only where somebody keeps the books (a kubelet, or Slurm by a source that is
        complete), and no name in them is without a GPU.
        """
        pods, unmapped_pods = self.pods(now)
        jobs, unmapped_jobs = self.jobs(now)
        held = {each.place.uuid for each in pods} | {each.place.uuid for each in jobs}
        kubelet = self._fresh(self.pod_word, now, self._mapping_age_max_s) is not None
        complete = self.jobs_complete(now)
        known = (kubelet or complete is True) and complete is not False and (kubelet or self.pods_answer is None)
        clear = known and not unmapped_pods and not unmapped_jobs
        return {uuid: uuid in held for uuid in self.names.uuids if uuid in held or clear}

    def gpu(self, uuid: str, now: Moment) -> GpuReading | None:
        """The latest reading of a GPU, unless it is too old."""
        found = self._fresh(self.gpu_words.get(uuid), now, PROCESS_AGE_MAX_S)
        return found if isinstance(found, GpuReading) else None

    def processes(self, now: Moment) -> ProcessReading | None:
        """The latest reading of the node's processes, unless it is too old."""
        found = self._fresh(self.process_word, now, PROCESS_AGE_MAX_S)
        return found if isinstance(found, ProcessReading) else None

    def claims(self, now: Moment) -> tuple[Claimed, ...]:
        """Every claimed device, of all drivers."""
        reading = self._fresh(self.pod_word, now, self._mapping_age_max_s)
        return reading.claimed if isinstance(reading, PodReading) else ()

    def held_by_kubelet(self, now: Moment) -> tuple[Held, ...]:
        """The kubelet's own words, while they count."""
        reading = self._fresh(self.pod_word, now, self._mapping_age_max_s)
        return reading.held if isinstance(reading, PodReading) else ()

    def uids(self, now: Moment) -> UidReading | None:
        """Hints of pods' UIDs, while they count."""
        found = self._fresh(self.uid_word, now, self._mapping_age_max_s)
        return found if isinstance(found, UidReading) else None

    @staticmethod
    def _fresh(word: Word | None, now: Moment, age_max_s: float) -> Any:
        return word.value if word is not None and now.mono_s - word.at.mono_s <= age_max_s else None


def _job_holder(place: Place, held: JobHeld) -> JobHolder:
    key = held.device.by.value if held.device is not None else ""
    return JobHolder(place=place, job=held.job, user_id=held.user_id, way=held.way, key=key)


def _keep_best(best: dict[tuple[Place, str], JobHolder], ways: list[Way], holder: JobHolder) -> None:
    """Of several sources of one fact the most direct one stays."""
    key = holder.place, holder.job
    old = best.get(key)
    if old is None or (ways.index(holder.way), holder) < (ways.index(old.way), old):
        best[key] = holder


def allocations_of(settings: Settings) -> Allocations:
    """Books of one's own, kept as the settings want them read."""
    wanted = settings.allocation
    return Allocations(
        mapping_age_max_s=wanted.mapping_age_max_s,
        numbers=Numbers(wanted.job_numbers),
        resources=wanted.resources,
    )
