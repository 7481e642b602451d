"""Takes a capture: the GPUs' collector asks a driver that writes down, then files are read, then all is masked."""

import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from types import MappingProxyType

from msgspec import Struct

from exporters.capture.files import PROCFS, SYSFS, Gathering
from exporters.capture.form import SCHEMA, Capture, Exchange
from exporters.capture.masking import MASKED, UUIDS, Mask, masked_exchanges, masked_tree
from exporters.capture.recording import Recorder
from exporters.config import Paths
from exporters.rooted import tree_at

HOST_NAME = "sys/kernel/hostname"
PROCESS_LISTS: Mapping[str, int] = MappingProxyType(
    {f"nvmlDeviceGet{kind}RunningProcesses": 0 for kind in ("Compute", "Graphics", "MPSCompute")}
)
"""Calls that list processes, and where in a row the number stands."""


class Wishes(Struct, frozen=True, kw_only=True):
    """How it is to be taken. `key`: what disguises are made with, to be forgotten. `files_within_s`: for the files."""

    key: bytes
    keep_uuids: bool = False
    files_within_s: float = 30.0


def taken(recorder: Recorder, paths: Paths, wishes: Wishes, wall_s: float) -> Capture:
    """The capture, once the collectors have asked `recorder` all that they ask."""
    exchanges = recorder.exchanges()
    sysfs, procfs = Gathering(tree_at(paths.sysfs)), Gathering(tree_at(paths.procfs))

    def gather() -> None:
        procfs.take(PROCFS)
        procfs.take_processes(sorted(set(_pids(exchanges))))
        sysfs.take(SYSFS)

    left_out = []
    if not _ended(gather, wishes.files_within_s):
        left_out.append(f"files that were not read within {wishes.files_within_s:g} s")
    if recorder.left_out:
        left_out.append(f"{recorder.left_out} answers of the driver library, beyond what a capture holds")
    if files := sysfs.left_out + procfs.left_out:
        left_out.append(f"{files} files, beyond what a capture holds")
    mask = Mask(wishes.key, keep_uuids=wishes.keep_uuids)
    mask.host(procfs.tree().files.get(HOST_NAME, ""))
    masked = masked_exchanges(mask, exchanges)
    return Capture(
        schema=SCHEMA,
        made_by=f"knotwatch {version('knotwatch')}",
        taken_at_s=round(wall_s, 3),
        masked=(*MASKED, *(() if wishes.keep_uuids else (UUIDS,))),
        nvml=masked,
        sysfs=masked_tree(mask, sysfs.tree()),
        procfs=masked_tree(mask, procfs.tree(), of_processes=True),
        left_out=tuple(left_out),
    )


def _pids(exchanges: tuple[Exchange, ...]) -> Iterator[int]:
    """The processes that the driver lists."""
    for each in exchanges:
        if (place := PROCESS_LISTS.get(each.call)) is not None:
            for answer in each.answers:
                yield from (row[place] for row in answer.value or () if isinstance(row[place], int))


def _ended(what: Callable[[], None], within_s: float) -> bool:
    """Whether it came back in time; a file that hangs its reader keeps a thread, not the capture."""
    thread = threading.Thread(target=what, name="files", daemon=True)
    thread.start()
    thread.join(within_s)
    return not thread.is_alive()
