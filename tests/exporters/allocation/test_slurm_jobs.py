"""Jobs by files of a prolog and by device cgroups, in every shape that was ever written."""

from pathlib import Path

import pytest

from exporters.collectors.device_names import By, DeviceName
from exporters.collectors.slurm_jobs import (
    JobCgroups,
    JobFiles,
    JobReading,
    capabilities_in,
    devices_in,
    jobs_in,
    slurm_source,
)
from exporters.config import Paths, Settings
from exporters.rooted import tree_at
from exporters.subject import Reading, Reason
from tests.exporters.allocation.readings import moment

FOLDER = "/run/gpustat"


def files(root: Path, **texts: str) -> Path:
    folder = root / FOLDER.strip("/")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def look(root: Path) -> Reading[JobReading]:
    return JobFiles(tree_at(root), FOLDER, interval_s=10, deadline_s=5).read(moment(0))


def held(root: Path) -> list[tuple[str, str, str]]:
    found = look(root)
    assert found.value is not None
    return [(each.spelled, each.job, each.user_id) for each in found.value.held]


@pytest.mark.parametrize(
    ("text", "jobs"),
    [
        ("4242 1000\n", [("4242", "1000")]),
        ("4242", [("4242", "")]),
        ("123\n\n123\n456\n", [("123", ""), ("456", "")]),
        ("  123  1000  \n\t\n", [("123", "1000")]),
        ("4242_7 1000", [("4242_7", "1000")]),
        ("4242+1", [("4242+1", "")]),
        ("", []),
        ("\n \n", []),
        ("0 0\n", []),
        ("\0\0\0", []),
        ('{"job": 3}', []),
        ("4242 root", [("4242", "")]),
        ("../../etc 3", []),
    ],
)
def test_each_line_is_a_job_once(text: str, jobs: list[tuple[str, str]]) -> None:
    """A blank line is no job, and a job that is listed twice is one: NVIDIA/dcgm-exporter#369, #602."""
    assert [(each.job, each.user_id) for each in jobs_in("0", text)] == jobs


def test_the_name_of_a_file_says_which_gpu(tmp_path: Path) -> None:
    files(tmp_path, **{"0": "1", "GPU-a": "2", "MIG-b": "3", "0__2": "4", "nvidia3": "5", "README": "6", "7": ""})
    found = look(tmp_path)
    assert found.value is not None
    keys = {each.spelled: each.device and (each.device.by, each.device.gpu_instance) for each in found.value.held}
    assert keys == {
        "0": (By.NUMBER, None),
        "0.2": (By.NUMBER, 2),
        "GPU-a": (By.UUID, None),
        "MIG-b": (By.MIG_UUID, None),
        "README": None,
        "nvidia3": (By.MINOR, None),
    }


def test_a_file_that_is_taken_away_while_we_look_is_a_job_that_ended(tmp_path: Path) -> None:
    folder = files(tmp_path, **{"0": "1"})
    (folder / "1").symlink_to(folder / "gone")
    found = look(tmp_path)
    assert found.errors == ()
    assert held(tmp_path) == [("0", "1", "")]


def test_a_file_that_is_none_costs_only_itself(tmp_path: Path) -> None:
    folder = files(tmp_path, **{"0": "1", "2": "9" * 70_000})
    (folder / "1").mkdir()
    found = look(tmp_path)
    assert found.value is not None
    assert held(tmp_path) == [("0", "1", "")]
    assert {(error.call, error.code) for error in found.errors} == {("job_file", "EFBIG"), ("job_file", "EISDIR")}
    assert not found.value.complete


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert (found.up, found.reason) == (False, Reason.NOT_FOUND)


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    folder = files(tmp_path / "root")
    (tmp_path / "outside").write_text("31337")
    (folder / "0").symlink_to(tmp_path / "outside")
    assert held(tmp_path / "root") == []


CAPABILITIES = {
    511 << 20 | 12: DeviceName(by=By.MINOR, name="0", gpu_instance=1),
    511 << 20 | 13: DeviceName(by=By.MINOR, name="0", gpu_instance=1, compute_instance=0),
}


@pytest.mark.parametrize(
    ("text", "minors"),
    [
        ("c 195:0 rwm\nc 195:3 rw\nc 195:255 rwm\nc 1:3 rwm\n", ["0", "3"]),
        ("c 136:* rwm\nb *:* m\n", []),
        ("", []),
        ("rubbish\nc 195 rwm\nc x:y r\n", []),
    ],
)
def test_a_list_of_what_is_allowed_names_minors(text: str, minors: list[str]) -> None:
    assert [each.name for each in devices_in(text, {}) or ()] == minors


@pytest.mark.parametrize("text", ["a *:* rwm\n", "c 195:* rwm\n"])
def test_a_list_that_allows_everything_says_nothing(text: str) -> None:
    """What slurmd denies on top of it is not in the file: the kernel shows exceptions of a closed list alone."""
    assert devices_in(text, {}) is None


def test_a_part_in_the_list_stands_for_its_gpu() -> None:
    found = devices_in("c 195:0 rwm\nc 195:1 rwm\nc 511:12 r\nc 511:13 r\n", CAPABILITIES)
    assert found == (
        DeviceName(by=By.MINOR, name="0", gpu_instance=1, compute_instance=0),
        DeviceName(by=By.MINOR, name="1"),
    )


def cgroup_tree(root: Path, **lists: str) -> None:
    for job, text in lists.items():
        folder = root / "sys/fs/cgroup/devices/slurm_node01/uid_1000" / job
        folder.mkdir(parents=True)
        (folder / "devices.list").write_text(text)


def cgroups(root: Path) -> JobReading:
    (root / "proc").mkdir(exist_ok=True)
    subject = JobCgroups(tree_at(root / "sys"), tree_at(root / "proc"), interval_s=10, deadline_s=5)
    found = subject.read(moment(0)).value
    assert found is not None
    return found


def test_jobs_are_read_with_what_their_cgroups_allow(tmp_path: Path) -> None:
    cgroup_tree(tmp_path, job_4242="c 195:0 rwm\nc 195:1 rwm\n", job_7="c 195:2 rwm\n", step_1="c 195:3 rwm\n")
    found = cgroups(tmp_path)
    assert [(each.job, each.user_id, each.spelled) for each in found.held] == [
        ("4242", "1000", "nvidia0"),
        ("4242", "1000", "nvidia1"),
        ("7", "1000", "nvidia2"),
    ]
    assert found.complete


def test_one_job_that_may_use_everything_makes_the_books_incomplete(tmp_path: Path) -> None:
    cgroup_tree(tmp_path, job_4242="c 195:0 rwm\n", job_7="a *:* rwm\n")
    found = cgroups(tmp_path)
    assert [each.job for each in found.held] == ["4242"]
    assert not found.complete


def test_parts_are_known_by_the_driver_s_own_table(tmp_path: Path) -> None:
    caps = tmp_path / "driver/nvidia-caps"
    caps.mkdir(parents=True)
    (tmp_path / "devices").write_text("Character devices:\n195 nvidia\n511 nvidia-caps\n\nBlock devices:\n  8 sd\n")
    (caps / "mig-minors").write_text("config 1\nmonitor 2\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\n")
    assert capabilities_in(tree_at(tmp_path)) == CAPABILITIES


def test_a_node_without_slurm_has_no_such_subject(tmp_path: Path) -> None:
    paths = Paths(rootfs=str(tmp_path), sysfs=str(tmp_path / "sys"), procfs=str(tmp_path / "proc"))
    source = slurm_source(Settings(path=paths))
    assert tuple(source()) == ()
    folder = files(tmp_path)
    assert [subject.key.name for subject in source()] == [FOLDER]
    folder.rmdir()
    assert [subject.key.name for subject in source()] == [FOLDER]
    cgroup_tree(tmp_path, job_1="")
    assert [subject.key.name for subject in source()] == [FOLDER, "cgroup"]
