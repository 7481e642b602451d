"""Processes read from a /proc of our own making, and from the real one."""

import os
from pathlib import Path

import pytest

from exporters.collectors.cgroup_paths import NOBODY, Owner
from exporters.collectors.cgroup_tree import paths_by_process
from exporters.collectors.process_owners import FILES_TURNS, ProcessOwners, ProcessReading, Stuck, stat_in
from exporters.rooted import tree_at
from exporters.subject import Reason
from tests.exporters.allocation.readings import moment
from tests.exporters.processes.procfs import Procfs, stat
from tests.exporters.processes.test_cgroup_paths import ID, UID

POD = f"0::/kubepods/burstable/pod{UID}/{ID}\n"
DEVICES = ("/dev/null", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia0", "/dev/nvidia7", "pipe:[1]")


@pytest.fixture
def procfs(tmp_path: Path) -> Procfs:
    return Procfs(tmp_path / "proc")


def subject(procfs: Procfs, sysfs: Path | None = None) -> ProcessOwners:
    return ProcessOwners(tree_at(procfs.root), None if sysfs is None else tree_at(sysfs), interval_s=15, deadline_s=15)


def look(owners: ProcessOwners) -> ProcessReading:
    found = owners.read(moment(0))
    assert found.up
    assert found.value is not None
    return found.value


def test_a_process_with_devices(procfs: Procfs) -> None:
    procfs.process(70, opens=DEVICES, threads=3, user=1234)
    found = look(subject(procfs)).find(70)
    assert found is not None
    assert (found.minors, found.computes, found.threads, found.user_id) == ((0, 7), True, 3, "1234")
    assert found.owner == NOBODY


def test_a_pod_s_process_is_looked_at_before_it_opens_anything(procfs: Procfs) -> None:
    procfs.process(70, cgroup=POD)
    found = look(subject(procfs)).find(70)
    assert found is not None
    assert found.owner == Owner(pod_uid=UID, container_id=ID)


def test_what_has_nothing_to_do_with_gpus_is_a_number_only(procfs: Procfs) -> None:
    procfs.process(70)
    found = look(subject(procfs))
    assert 70 in found.alive
    assert found.find(70) is None


def test_devices_that_are_opened_late_are_seen(procfs: Procfs) -> None:
    owners = subject(procfs)
    procfs.process(70)
    assert look(owners).find(70) is None
    procfs.process(70, opens=("/dev/nvidia1",))
    assert any(look(owners).find(70) for _ in range(FILES_TURNS))


def test_a_process_that_is_moved_into_its_job_is_seen_there(procfs: Procfs) -> None:
    owners = subject(procfs)
    procfs.process(70, cgroup="0::/system.slice/slurmd.service\n")
    look(owners)
    procfs.process(70, cgroup="0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n")
    found = look(owners).find(70)
    assert found is not None
    assert found.owner == Owner(slurm_job="7", slurm_step="0")


def test_a_number_that_is_used_again_is_another_process(procfs: Procfs) -> None:
    owners = subject(procfs)
    procfs.process(70, cgroup=POD, began=100)
    look(owners)
    procfs.process(70, cgroup="0::/system.slice/x.service\n", opens=("/dev/nvidia0",), began=200)
    found = look(owners).find(70)
    assert found is not None
    assert (found.owner, found.minors) == (NOBODY, (0,))


def test_one_that_has_ended_is_forgotten(procfs: Procfs) -> None:
    owners = subject(procfs)
    procfs.process(70, opens=DEVICES)
    look(owners)
    procfs.end(70)
    found = look(owners)
    assert 70 not in found.alive
    assert found.find(70) is None
    assert 70 not in owners._known


def test_files_that_vanish_while_we_look_cost_nothing(procfs: Procfs) -> None:
    (procfs.root / "71").mkdir()  # ended between the list and the look
    (procfs.root / "self").mkdir()
    (procfs.process(70, opens=DEVICES) / "cgroup").unlink()
    found = look(subject(procfs))
    process = found.find(70)
    assert process is not None
    assert process.owner is None


def test_a_name_with_blanks_and_parentheses_is_a_name() -> None:
    found = stat_in(stat(7, "a) S 9 (b", "R", 3, 5, 77))
    assert found is not None
    assert (found.command, found.state, found.parent, found.threads, found.began) == ("a) S 9 (b", "R", 3, 5, 77)


@pytest.mark.parametrize("text", ["", "7", "7 (a", "7 (a) S", "7 (a) S x " + "0 " * 40, "\0" * 200])
def test_what_is_no_stat_is_none(text: str) -> None:
    assert stat_in(text) is None


def test_threads_that_sleep_in_the_kernel_are_told_with_their_count(procfs: Procfs) -> None:
    procfs.process(70, opens=DEVICES)
    procfs.thread(70, 70, state="S")
    procfs.thread(70, 71, sleeps=40)
    found = look(subject(procfs)).find(70)
    assert found is not None
    assert found.stuck == (Stuck(71, 41),)


class TestWhoseNumbersTheyAre:
    def test_the_host_s(self, procfs: Procfs) -> None:
        assert look(subject(procfs)).of_host

    def test_not_those_of_a_container(self, tmp_path: Path) -> None:
        procfs = Procfs(tmp_path / "proc", host=False)
        procfs.process(2, command="python", parent=1)
        assert not look(subject(procfs)).of_host

    def test_a_process_of_that_name_is_not_enough(self, tmp_path: Path) -> None:
        procfs = Procfs(tmp_path / "proc", host=False)
        procfs.process(2, command="kthreadd", parent=1)
        assert not look(subject(procfs)).of_host


def test_without_the_right_to_look_into_files_it_is_said(procfs: Procfs, monkeypatch: pytest.MonkeyPatch) -> None:
    procfs.process(70, opens=DEVICES)
    real = os.readlink
    monkeypatch.setattr(os, "readlink", lambda path, **more: refuse() if "/fd/" in str(path) else real(path, **more))
    found = look(subject(procfs))
    assert not found.files_seen
    process = found.find(70)
    assert process is not None
    assert process.minors is None


def refuse() -> str:
    raise PermissionError(13, "told so by the test")


def test_no_proc_is_told(tmp_path: Path) -> None:
    found = ProcessOwners(tree_at(tmp_path / "none"), interval_s=15, deadline_s=15).read(moment(0))
    assert (found.up, found.reason) == (False, Reason.NOT_FOUND)


class TestACgroupNamespaceOfOurOwn:
    path = f"kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{ID}.scope"

    def sysfs(self, root: Path, *pids: int) -> Path:
        folder = root / "sys/fs/cgroup" / self.path
        folder.mkdir(parents=True)
        (folder / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids))
        (root / "sys/fs/cgroup/memory.stat").write_text("")
        (root / "sys/fs/cgroup/user.slice").mkdir()
        return root / "sys"

    def test_the_tree_has_the_whole_path(self, tmp_path: Path) -> None:
        sysfs = self.sysfs(tmp_path, 70, 71)
        assert paths_by_process(tree_at(sysfs)) == {70: f"/{self.path}", 71: f"/{self.path}"}

    def test_a_way_up_and_down_is_looked_up_in_the_tree(self, procfs: Procfs, tmp_path: Path) -> None:
        procfs.process(70, cgroup=f"0::/../../{self.path}\n")
        found = look(subject(procfs, self.sysfs(tmp_path, 70))).find(70)
        assert found is not None
        assert found.owner is not None
        assert found.owner.pod_uid == UID

    def test_without_the_tree_it_is_unknown(self, procfs: Procfs, tmp_path: Path) -> None:
        procfs.process(70, cgroup=f"0::/../../{self.path}\n")
        for sysfs in (None, tmp_path / "nothing", self.sysfs(tmp_path, 71)):
            found = look(subject(procfs, sysfs)).find(70)
            assert found is not None
            assert found.owner is None


def test_the_real_proc_is_read() -> None:
    found = look(ProcessOwners(tree_at("/proc"), tree_at("/sys"), interval_s=15, deadline_s=15))
    assert os.getpid() in found.alive
