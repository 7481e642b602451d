"""Who holds a GPU, by the books of kubelet and Slurm: names that can be compared, nobody, or not known."""

import pytest

from exporters.collectors.device_names import device_name
from exporters.collectors.gpu_holders import GpuHolders, holders_of
from exporters.collectors.slurm_jobs import JobHeld, JobReading, Way
from exporters.config import Settings
from exporters.kubelet.holding import Held, PodReading
from exporters.nvml.reading import MigInstance
from exporters.subject import Key, Reading
from tests.exporters.allocation.readings import A, B, gpu, moment, node, part

KUBELET = Key("kubelet", "podresources")
SLURM = Key("slurm", "/run/gpustat")


@pytest.fixture
def books() -> GpuHolders:
    """Of a node of two GPUs of which nothing has been told yet."""
    found = holders_of(Settings())
    found.note(Key("nvml"), Reading(value=node()), moment(0))
    for uuid in (A, B):
        found.note(Key("gpu", uuid), Reading(value=gpu(uuid)), moment(0))
    return found


def pods(**ids: str) -> Reading[PodReading]:
    """What the kubelet lists: the device of each pod."""
    held = (
        Held(namespace="red", pod=pod, container="main", resource="nvidia.com/gpu", ids=(spelled,))
        for pod, spelled in ids.items()
    )
    return Reading(value=PodReading(held=tuple(held)))


def test_without_books_nothing_is_known(books: GpuHolders) -> None:
    assert books.of(A, moment(1)) is None


def test_a_pod_holds_one_and_nobody_the_other(books: GpuHolders) -> None:
    books.note(KUBELET, pods(train=A), moment(1))
    assert books.of(A, moment(1)) == frozenset({"pod/red/train"})
    assert books.of(B, moment(1)) == frozenset()


def test_what_was_said_goes_stale(books: GpuHolders) -> None:
    books.note(KUBELET, pods(train=A), moment(1))
    late = 1 + Settings().allocation.mapping_age_max_s
    assert books.of(A, moment(late)) == frozenset({"pod/red/train"})
    assert books.of(A, moment(late + 1)) is None


def test_all_who_share_a_gpu_hold_it(books: GpuHolders) -> None:
    books.note(KUBELET, pods(one=f"{A}::0", other=f"{A}::1"), moment(1))
    assert books.of(A, moment(1)) == frozenset({"pod/red/one", "pod/red/other"})


def test_a_job_holds_it_with_no_process_on_it(books: GpuHolders) -> None:
    held = JobHeld(job="4242", user_id="1000", spelled=A, device=device_name(A), way=Way.PROLOG)
    books.note(SLURM, Reading(value=JobReading(held=(held,), complete=True)), moment(1))
    assert books.of(A, moment(1)) == frozenset({"slurm-job/4242"})
    assert books.of(B, moment(1)) == frozenset()


def test_an_instance_has_its_own_holders(books: GpuHolders) -> None:
    mig = (part("MIG-aaaa1111-0000-0000-0000-000000000001", 1), part("MIG-aaaa1111-0000-0000-0000-000000000002", 2))
    instances = tuple(MigInstance(gpu_instance=each.gpu_instance, memory=None, activity={}) for each in mig)
    books.note(Key("gpu", A), Reading(value=gpu(A, mig=mig, instances=instances)), moment(1))
    books.note(KUBELET, pods(train=mig[0].uuid), moment(1))
    assert books.of(A, moment(1), 1) == frozenset({"pod/red/train"})
    assert books.of(A, moment(1), 2) == frozenset()
    assert books.of(A, moment(1)) == frozenset({"pod/red/train"})
