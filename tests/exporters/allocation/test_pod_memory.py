"""Memory by pod and by job: a sum of what is known, and nothing where one thing is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.collectors.cgroup_paths import Owner
from exporters.collectors.pod_uids import Named, UidReading
from exporters.collectors.process_owners import ProcessReading
from exporters.nvml.reading import GpuProcess, MigInstance
from tests.exporters.allocation.readings import GIB, A, B, alive, gpu, memory, process, processes
from tests.exporters.allocation.rig import UIDS, Rig

ONE, TWO = Owner(pod_uid=UIDS[0], container_id="a" * 64), Owner(pod_uid=UIDS[1])


def sums(rig: Rig, at_s: float = 0) -> dict[tuple[str, ...], float]:
    return {
        (labels[0], labels[2], labels[5]): value
        for labels, value in rig.page(at_s).get("gpu_pod_memory_bytes", {}).items()
    }


def on(rig: Rig, *those: GpuProcess, used: int = 10 * GIB) -> None:
    rig.tell("gpu", A, gpu(A, used=used, processes=those), 0)


def known(rig: Rig, reading: ProcessReading | None = None) -> None:
    rig.tell("processes", "", reading or processes(alive(1, ONE), alive(2, TWO), alive(3)), 0)


def test_each_pod_has_what_its_processes_hold(rig: Rig) -> None:
    on(rig, process(1, 2 * GIB), process(2, 3 * GIB), process(3, GIB))
    known(rig)
    assert sums(rig) == {(A, "", UIDS[0]): 2 * GIB, (A, "", UIDS[1]): 3 * GIB}


def test_names_stand_beside_the_uid_while_they_are_known(rig: Rig) -> None:
    on(rig, process(1, GIB))
    known(rig)
    rig.tell("kubelet", "pod_uids", UidReading(noted=None, named=(Named("team", "one", UIDS[0]),)), 0)
    assert list(rig.page()["gpu_pod_memory_bytes"]) == [(A, "0", "", "team", "one", UIDS[0])]


def test_a_process_in_several_lists_counts_once(rig: Rig) -> None:
    on(rig, process(1, 2 * GIB), process(1, 2 * GIB, kind="graphics"), process(1, None, kind="mps"))
    known(rig)
    assert sums(rig) == {(A, "", UIDS[0]): 2 * GIB}


@pytest.mark.parametrize(
    ("those", "used", "reading"),
    [
        ((process(1, GIB), process(9, GIB)), 10 * GIB, None),
        ((process(1, GIB), process(2, None)), 10 * GIB, None),
        ((process(1, 6 * GIB), process(2, 6 * GIB)), 10 * GIB, None),
        ((process(1, GIB),), 10 * GIB, processes(alive(1, Owner(pod_uid=UIDS[0])), of_host=False)),
    ],
    ids=["a process is not known", "a size is not known", "more than is in use", "not the host's numbers"],
)
def test_none_where_one_thing_is_not_known(
    rig: Rig, those: tuple[GpuProcess, ...], used: int, reading: ProcessReading | None
) -> None:
    on(rig, *those, used=used)
    known(rig, reading)
    assert sums(rig) == {}


def test_a_process_with_an_unknown_owner_hides_the_sums_of_that_gpu_alone(rig: Rig) -> None:
    unknown = alive(3)
    rig.tell("gpu", B, gpu(B, used=9 * GIB, processes=(process(2, GIB),), minor=1), 0)
    on(rig, process(1, GIB), process(3, GIB))
    fields = {name: getattr(unknown, name) for name in unknown.__struct_fields__}
    known(rig, processes(alive(1, ONE), alive(2, TWO), type(unknown)(**{**fields, "owner": None})))
    assert sums(rig) == {(B, "", UIDS[1]): GIB}


def test_instances_are_summed_each_for_itself(rig: Rig) -> None:
    those = (process(1, GIB, 1), process(2, 2 * GIB, 2), process(1, GIB, 2))
    parts = tuple(MigInstance(gpu_instance=each, memory=memory(4 * GIB), activity={}) for each in (1, 2))
    rig.tell("gpu", A, gpu(A, used=9 * GIB, processes=those, instances=parts), 0)
    known(rig)
    assert sums(rig) == {
        (A, "1", UIDS[0]): GIB,
        (A, "2", UIDS[0]): GIB,
        (A, "2", UIDS[1]): 2 * GIB,
    }


def test_old_lists_say_nothing(rig: Rig) -> None:
    on(rig, process(1, GIB))
    known(rig)
    assert sums(rig, 59) != {}
    assert sums(rig, 61) == {}


def test_jobs_have_sums_as_pods_do(rig: Rig) -> None:
    on(rig, process(1, GIB))
    known(rig, processes(alive(1, Owner(slurm_job="42"))))
    assert rig.page()["gpu_job_memory_bytes"] == {(A, "0", "", "42"): GIB}


@given(
    sizes=st.lists(
        st.tuples(st.integers(1, 4), st.one_of(st.none(), st.integers(0, 100 * GIB))), max_size=8, unique=True
    ),
    used=st.integers(0, 80 * GIB),
)
def test_sums_over_pods_are_never_above_the_device(sizes: list[tuple[int, int | None]], used: int) -> None:
    """NVIDIA/dcgm-exporter#307, #340, #582: shares of one GPU added up to three of it."""
    rig = Rig()
    on(rig, *(process(pid, size) for pid, size in sizes), used=used)
    known(rig)
    assert sum(sums(rig).values()) <= used
