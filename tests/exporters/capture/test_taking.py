"""Taking a capture ends, whatever hangs, and says what is not in it."""

import threading
from pathlib import Path

import pytest

from exporters import rooted
from exporters.capture.form import Answer, Exchange
from exporters.capture.recording import Recorder
from exporters.capture.taking import Wishes, taken
from exporters.config import Paths
from tests.exporters.capture.test_recording import Toy
from tests.exporters.trees import Trees

WISHES = Wishes(key=b"a key", files_within_s=0.3)


def paths_of(trees: Trees) -> Paths:
    return Paths(rootfs="/", sysfs=str(trees.sysfs), procfs=str(trees.procfs))


def test_a_file_that_hangs_costs_the_files_and_not_the_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = Trees(tmp_path)
    trees.write_proc("meminfo", "MemTotal: 1 kB")
    trees.gpu("pci0000:15/0000:16:00.0")
    release = threading.Event()

    def hanging(path: str, at_most: int) -> bytes:
        if path.endswith("/vendor"):
            release.wait()
        return rooted.read_bytes(path, at_most)

    monkeypatch.setattr(rooted.WAY, "read", hanging)
    found = taken(Recorder(Toy()), paths_of(trees), WISHES, 1.0)
    release.set()
    assert found.left_out == ("files that were not read within 0.3 s",)
    assert found.procfs.files == {"meminfo": "MemTotal: 1 kB"}


def test_processes_that_the_driver_lists_are_taken_along(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    for pid in (77, 78):
        trees.write_proc(f"{pid}/stat", f"{pid} (python3) S 1")
    recorder = Recorder(Toy(nvmlDeviceGetComputeRunningProcesses=((77, 10, 0, 0),)))
    recorder.ask("nvmlDeviceGetComputeRunningProcesses", "gpu")
    found = taken(recorder, paths_of(trees), WISHES, 1.0)
    assert sorted(found.procfs.files) == ["77/stat"]
    assert "python3" not in found.procfs.files["77/stat"]
    assert found.nvml == (
        Exchange(call="nvmlDeviceGetComputeRunningProcesses", device="d0", answers=(Answer(value=((77, 10, 0, 0),)),)),
    )


def test_what_is_too_much_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = Trees(tmp_path)
    for name in ("meminfo", "loadavg", "uptime"):
        trees.write_proc(name, "1")
    monkeypatch.setattr("exporters.capture.files.FILES_MAX", 1)
    recorder = Recorder(Toy())
    recorder.left_out = 5
    assert taken(recorder, paths_of(trees), WISHES, 1.0).left_out == (
        "5 answers of the driver library, beyond what a capture holds",
        "2 files, beyond what a capture holds",
    )
