"""Memory that nobody holds, in virtual time: each loud case with the quiet one that differs in one thing."""

from collections.abc import Callable

import pytest

from exporters.collectors.cgroup_paths import Owner
from exporters.collectors.process_owners import Process, ProcessReading, Stuck
from exporters.followers.memory_owners import MemoryOwners, unattributed_bytes
from exporters.nvml.reading import GpuProcess, GpuReading
from exporters.subject import Key, Reason
from tests.exporters.allocation.readings import GIB, A, alive, gpu, moment, note, on_page, part, process, processes

MIB = 1024**2
Page = dict[str, dict[tuple[str, ...], float]]
Look = Callable[[float], tuple[GpuReading | None, ProcessReading | None]]


def owners(**more: int) -> MemoryOwners:
    return MemoryOwners(threshold_bytes=256 * MIB, baseline_max_bytes=GIB, **more)


def run(look: Look, seconds: int = 90, follower: MemoryOwners | None = None) -> Page:
    """The page after so many seconds of a look each 10 s at the GPU, and each 15 s at processes."""
    follower = follower or owners()
    for second in range(0, seconds + 1, 5):
        found, alive_now = look(second)
        if second % 10 == 0:
            if found is None:
                note(follower, "gpu", A, None, moment(second), up=False, reason=Reason.LOST)
            else:
                note(follower, "gpu", A, found, moment(second))
        if second % 15 == 0 and alive_now is not None:
            note(follower, "processes", "", alive_now, moment(second))
    return on_page(follower.samples(moment(seconds)))


def steady(found: GpuReading, alive_now: ProcessReading) -> Look:
    return lambda _second: (found, alive_now)


def troubles(page: Page) -> set[str]:
    return {
        labels[-1]
        for name in ("gpu_memory_orphaned_seconds", "gpu_memory_stuck_owner_seconds")
        for labels in page.get(name, {})
    }


HOLDS = (process(70, 8 * GIB),)
IDLE = processes(alive(70, minors=(0,), computes=True))


class TestAGhost:
    """Memory in use after a run was killed, and nobody in the list (pytorch/pytorch#4031, apache/mxnet#17837)."""

    def test_loud(self) -> None:
        page = run(steady(gpu(used=10 * GIB), processes()))
        assert page["gpu_memory_orphaned_seconds"] == {(A, "0", "no_process"): 90}
        assert page["gpu_memory_orphaned_bytes"] == {(A, "0", "no_process"): 9 * GIB}
        assert page["gpu_memory_unattributed_bytes"] == {(A, "0"): 10 * GIB}

    def test_quiet_before_a_minute_is_over(self) -> None:
        assert troubles(run(steady(gpu(used=10 * GIB), processes()), 55)) == set()

    def test_quiet_if_it_is_let_go_of(self) -> None:
        assert troubles(run(lambda second: (gpu(used=0 if second > 80 else 10 * GIB), processes()))) == set()

    def test_quiet_if_the_list_could_not_be_read(self) -> None:
        assert troubles(run(steady(gpu(used=10 * GIB, processes=None), processes()))) == set()

    def test_quiet_below_the_threshold(self) -> None:
        assert troubles(run(steady(gpu(used=GIB + 200 * MIB), processes()))) == set()

    def test_quiet_if_a_process_holds_it(self) -> None:
        assert troubles(run(steady(gpu(used=10 * GIB, processes=HOLDS), IDLE))) == set()

    def test_quiet_while_the_gpu_does_not_answer(self) -> None:
        def look(second: float) -> tuple[GpuReading | None, ProcessReading]:
            return (None if second == 50 else gpu(used=10 * GIB)), processes()

        assert troubles(run(look)) == set()

    def test_the_least_that_was_ever_in_use_is_the_baseline(self) -> None:
        """Persistence, a display, confidential computing: hundreds of megabytes with nobody there."""
        follower = owners()
        page = run(steady(gpu(used=600 * MIB), processes()), follower=follower)
        assert page["gpu_memory_baseline_bytes"] == {(A, "0"): 600 * MIB}
        assert troubles(page) == set()
        page = run(steady(gpu(used=900 * MIB), processes()), follower=follower)
        assert page["gpu_memory_orphaned_bytes"] == {(A, "0", "no_process"): 300 * MIB}

    def test_a_leak_from_before_us_is_no_baseline(self) -> None:
        assert "gpu_memory_baseline_bytes" not in run(steady(gpu(used=10 * GIB), processes()))

    def test_what_is_in_use_while_somebody_computes_is_no_baseline(self) -> None:
        page = run(steady(gpu(used=900 * MIB), IDLE))
        assert "gpu_memory_baseline_bytes" not in page


class TestADeadOwner:
    """The list has a process that does not exist any more (VisEdit#5: 10151 MiB, and the process gone)."""

    listed = gpu(used=10_151 * MIB, processes=(process(70, 10_151 * MIB),))

    def test_loud(self) -> None:
        page = run(steady(self.listed, processes(alive(1))))
        assert page["gpu_memory_orphaned_seconds"] == {(A, "0", "pid_gone"): 90}
        assert page["gpu_memory_orphaned_bytes"] == {(A, "0", "pid_gone"): 10_151 * MIB}

    def test_quiet_if_it_lives(self) -> None:
        assert troubles(run(steady(self.listed, IDLE))) == set()

    def test_quiet_in_another_pid_namespace(self) -> None:
        """There every process of the list is unseen, and that means nothing: the detector is off, and says so."""
        page = run(steady(self.listed, processes(alive(1), of_host=False)))
        assert page == {"gpu_leak_detection_supported": {(): 0}}

    def test_quiet_while_processes_come_and_go(self) -> None:
        """Each look finds one that has just ended; none of them is the same."""

        def look(second: float) -> tuple[GpuReading, ProcessReading]:
            return gpu(used=9 * GIB, processes=(process(1000 + int(second), GIB),)), processes()

        assert troubles(run(look)) == set()

    def test_quiet_if_the_gpu_was_not_read_again(self) -> None:
        follower = owners(age_max_s=1000)
        note(follower, "gpu", A, self.listed, moment(0))
        for second in (10, 25, 40, 55, 70, 85):
            note(follower, "processes", "", processes(), moment(second))
        assert troubles(on_page(follower.samples(moment(90)))) == set()

    def test_quiet_if_it_holds_nothing(self) -> None:
        found = gpu(used=0, processes=(process(70, 0),))
        assert troubles(run(steady(found, processes()))) == set()

    def test_only_its_own_bytes_are_orphaned(self) -> None:
        found = gpu(used=9 * GIB, processes=(process(70, 5 * GIB), process(71, 4 * GIB)))
        page = run(steady(found, processes(alive(71))))
        assert page["gpu_memory_orphaned_bytes"] == {(A, "0", "pid_gone"): 5 * GIB}

    def test_bytes_that_are_not_told_are_absent(self) -> None:
        page = run(steady(gpu(used=9 * GIB, processes=(process(70, None),)), processes()))
        assert troubles(page) == {"pid_gone"}
        assert "gpu_memory_orphaned_bytes" not in page


class TestAZombie:
    listed = gpu(used=8 * GIB, processes=HOLDS)

    @pytest.mark.parametrize("state", ["Z", "X"])
    def test_loud(self, state: str) -> None:
        assert troubles(run(steady(self.listed, processes(alive(70, state=state, threads=1))))) == {"zombie"}

    def test_quiet_while_threads_of_it_live(self) -> None:
        """The first thread has ended, others still compute: that is a process like any other."""
        assert troubles(run(steady(self.listed, processes(alive(70, state="Z", threads=9))))) == set()


class TestAHiddenOwner:
    """A forked loader has the device open, and the driver does not list it (PaddlePaddle/PaddleOCR#2074)."""

    def by(self, *those: Process, **more: bool) -> set[str]:
        return troubles(run(steady(gpu(used=8 * GIB), processes(*those, **more))))

    def test_loud_and_no_leak(self) -> None:
        page = run(steady(gpu(used=8 * GIB), processes(alive(70, minors=(0,), computes=True))))
        assert page["gpu_memory_stuck_owner_seconds"] == {(A, "0", "unlisted_owner"): 90}
        assert page["gpu_device_open_processes"] == {(A, "0"): 1}
        assert "gpu_memory_orphaned_seconds" not in page

    @pytest.mark.parametrize("command", ["nvidia-persiste", "nv-hostengine", "nvidia-smi"])
    def test_who_only_watches_owns_nothing(self, command: str) -> None:
        assert self.by(alive(70, minors=(0,), command=command)) == {"no_process"}

    def test_a_watcher_that_computes_does(self) -> None:
        assert self.by(alive(70, minors=(0,), command="nvidia-smi", computes=True)) == {"unlisted_owner"}

    def test_we_are_no_owner(self) -> None:
        page = run(steady(gpu(used=8 * GIB), processes(alive(70, minors=(0,)))), follower=owners(own_pid=70))
        assert troubles(page) == {"no_process"}

    def test_another_gpu_s_owner_is_not_this_one_s(self) -> None:
        assert self.by(alive(70, minors=(1,), computes=True)) == {"no_process"}

    def test_without_the_right_to_look_it_may_be_either(self) -> None:
        page = run(steady(gpu(used=8 * GIB), processes(alive(70, minors=None), files_seen=False)))
        assert troubles(page) == {"unseen"}
        assert "gpu_device_open_processes" not in page

    def test_of_a_divided_gpu_nothing_is_said_then(self) -> None:
        """NVML gives the list of all its parts to those alone who have the right to it."""
        found = gpu(used=8 * GIB, mig=(part("MIG-a", 1),))
        assert troubles(run(steady(found, processes(files_seen=False)))) == set()
        assert troubles(run(steady(found, processes()))) == {"no_process"}


class TestAThreadThatSleepsInTheKernel:
    listed = gpu(used=8 * GIB, processes=HOLDS)

    def test_loud(self) -> None:
        page = run(steady(self.listed, processes(alive(70, stuck=(Stuck(71, 40),)))))
        assert page["gpu_memory_stuck_owner_seconds"] == {(A, "0", "uninterruptible"): 90}

    def test_quiet_if_it_wakes_in_between(self) -> None:
        """A thread that reads a slow disk sleeps like that at every look, and each time anew."""

        def look(second: float) -> tuple[GpuReading, ProcessReading]:
            return self.listed, processes(alive(70, stuck=(Stuck(71, int(second)),)))

        assert troubles(run(look)) == set()

    def test_quiet_if_sleeps_are_not_told(self) -> None:
        assert troubles(run(steady(self.listed, processes(alive(70, stuck=(Stuck(71, -1),)))))) == set()


def test_an_idle_holder_is_no_leak() -> None:
    """Five finished inference workers filled a card (NVIDIA/gpu-operator#2880): idle, and not orphaned."""
    page = run(steady(gpu(used=8 * GIB, processes=HOLDS), IDLE), 3600)
    assert troubles(page) == set()
    assert page["gpu_memory_unattributed_bytes"] == {(A, "0"): 0}


def test_whose_a_process_is_stands_in_an_info_series() -> None:
    owner = Owner(pod_uid="u", container_id="c", runtime="containerd")
    page = run(steady(gpu(used=8 * GIB, processes=HOLDS), processes(alive(70, owner, minors=(0,)))), 15)
    assert list(page["gpu_process_info"]) == [(A, "0", "70", "python", "1000", "u", "c", "containerd", "", "", "1")]


@pytest.mark.parametrize(
    ("listed", "unattributed"),
    [
        ((), 8 * GIB),
        ((process(1, 3 * GIB), process(2, GIB)), 4 * GIB),
        ((process(1, 3 * GIB), process(1, 3 * GIB, kind="graphics")), 5 * GIB),
        ((process(1, 9 * GIB),), 0),
        ((process(1, None),), None),
        (None, None),
    ],
)
def test_what_no_process_accounts_for(listed: tuple[GpuProcess, ...] | None, unattributed: int | None) -> None:
    """Never below zero: Project-HAMi/HAMi#1181."""
    assert unattributed_bytes(gpu(used=8 * GIB, processes=listed)) == unattributed


def test_a_gpu_that_is_no_more_is_forgotten() -> None:
    follower = owners()
    run(steady(gpu(used=10 * GIB), processes()), follower=follower)
    follower.forget(Key("gpu", A))
    assert set(on_page(follower.samples(moment(90)))) == {"gpu_leak_detection_supported"}


def test_what_is_old_says_nothing() -> None:
    follower = owners()
    run(steady(gpu(used=10 * GIB), processes()), follower=follower)
    assert on_page(follower.samples(moment(400))) == {"gpu_leak_detection_supported": {(): 0}}
