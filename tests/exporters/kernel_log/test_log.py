"""Reading the log: from where the exporter began, over gaps, without permission; and each error counted once."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from exporters.catalog import kernel_log as catalog
from exporters.catalog import xid as xids
from exporters.collectors.kernel_log import (
    RECORDS_MAX,
    REOPEN_S,
    KernelLog,
    LogReading,
    kernel_log_source,
    open_log,
    unescaped,
)
from exporters.config import Paths, Settings
from exporters.followers.kernel_log import SXIDS_MAX, KernelLogCounts
from exporters.followers.xid_counts import XidCounts
from exporters.nvml.reading import GpuIdentity, NodeReading, XidReading, XidSeen
from exporters.subject import Key, Moment, ReadError, Reading, Reason
from tests.exporters.kernel_log.device import Device, Listener

FALLEN = "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
ADDRESS = "0000:b3:00.0"
PAGE_FAULT = "NVRM: Xid (PCI:0000:b3:00): 31, pid=1, Ch 1"
SWITCH = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {code}, Non-fatal, Link 46"


def test_what_was_said_before_is_not_counted() -> None:
    device = Device()
    device.say(FALLEN)
    listener = Listener(device)
    assert listener.look().xids == ()
    assert listener.hears([FALLEN]) == [(ADDRESS, 79)]
    assert listener.look().xids == (), "nor anything twice"


def test_records_that_were_overwritten_are_counted_and_the_rest_is_read() -> None:
    """EPIPE is no end: the next read goes on behind the gap."""
    device = Device(room=10)
    listener = Listener(device)
    device.say("first")
    listener.look()
    device.say(*(f"noise {n}" for n in range(25)), FALLEN)
    heard = listener.look()
    assert [one.xid for one in heard.xids] == [79]
    assert heard.lost == 16
    assert listener.look().lost == 0


def test_a_flood_is_read_in_turns() -> None:
    listener = Listener(Device(room=10 * RECORDS_MAX))
    listener.device.say(*["noise"] * (2 * RECORDS_MAX), FALLEN, after_s=0.0)
    assert [len(listener.look().xids) for _ in range(3)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("refused", "errors"),
    [(errno.ENOENT, ()), (errno.EPERM, ("EPERM",)), (errno.EACCES, ("EACCES",)), (errno.EMFILE, ("EMFILE",))],
)
def test_a_log_that_may_not_be_read_is_said_and_tried_again_now_and_then(refused: int, errors: tuple[str, ...]) -> None:
    """NVIDIA/dcgm-exporter#646: an image without the right to it, in which errors were silently missing."""
    device = Device()
    device.refused = refused
    subject = KernelLog(device.open)
    readings = [subject.read(Moment(0.0, float(second))) for second in range(61)]
    assert device.opened == 3
    assert all(reading.up and reading.value == LogReading(available=False) for reading in readings)
    assert readings[0].errors == tuple(ReadError("kmsg", code) for code in errors)
    assert readings[1].errors == (), "one refusal is one error"
    device.refused = 0
    assert subject.read(Moment(0.0, 100.0)).value == LogReading()


def test_a_log_that_breaks_is_opened_again_and_goes_on_behind_what_was_read() -> None:
    listener = Listener()
    assert listener.hears([PAGE_FAULT]) == [(ADDRESS, 31)]
    listener.device.broken = errno.EIO
    assert listener.read().errors == (ReadError("kmsg", "EIO"),)
    listener.device.say(FALLEN)
    listener.device.broken = 0
    assert listener.look().available is False
    heard = listener.look(after_s=REOPEN_S)
    assert [one.xid for one in heard.xids] == [79], "what was said meanwhile, and nothing twice"


def test_bytes_that_cannot_be_printed_are_given_back() -> None:
    assert unescaped(rb"a\x0ab\xff\x5cx") == "a\nb\N{REPLACEMENT CHARACTER}\\x"


class Counting:
    """Both followers, told of a node with one GPU and of what the log says."""

    def __init__(self) -> None:
        self.listener = Listener()
        self.fatal: list[str] = []
        self.errors = XidCounts(lambda uuid, _mono_s: self.fatal.append(uuid))
        self.rest = KernelLogCounts()
        gpu = GpuIdentity(uuid="GPU-a", index=0, minor=0, name="", pci_address=ADDRESS, serial="", vbios="", driver="")
        node = NodeReading(gpus=(gpu,), counted=1, visible=(), expected=1, on_pci=1, up=True, starts=1, failures=0)
        self.note(Key("nvml"), Reading(value=node))

    def note(self, key: Key, reading: Reading[Any]) -> None:
        for follower in (self.errors, self.rest):
            follower.note(key, reading, self.now)

    @property
    def now(self) -> Moment:
        return Moment(1_800_000_000.0 + self.listener.second, self.listener.second)

    def say(self, *lines: str) -> None:
        """The kernel says it, and it is read."""
        self.listener.device.say(*lines)
        self.note(Key("kernel_log"), self.listener.read())

    def driver_says(self, xid: int) -> None:
        """The driver's events tell of it."""
        seen = XidSeen(device="GPU-a", xid=xid, source="nvml", wall_s=self.now.wall_s)
        self.note(Key("xid"), Reading(value=XidReading(xids=(seen,), watched=1)))

    def count(self, xid: int) -> float:
        found = {s.labels[2]: s.value for s in self.errors.samples(self.now) if s.family is xids.XID_ERRORS}
        return found.get(str(xid), 0.0)

    def rest_of(self, family: object) -> dict[tuple[str, ...], float]:
        return {each.labels: each.value for each in self.rest.samples(self.now) if each.family is family}


def test_an_error_of_which_driver_and_log_tell_is_one() -> None:
    for first in (True, False):
        node = Counting()
        if first:
            node.driver_says(79)
        node.say(FALLEN, f"NVRM: GPU {ADDRESS}: GPU has fallen off the bus.")
        if not first:
            node.driver_says(79)
        assert node.count(79) == 1
        assert node.fatal == ["GPU-a"], "that GPU is not called any more"


def test_two_errors_of_which_both_tell_are_two() -> None:
    node = Counting()
    for _ in range(2):
        node.driver_says(31)
        node.say(PAGE_FAULT)
    assert node.count(31) == 2


def test_a_fall_without_a_code_stops_calls_to_the_gpu() -> None:
    node = Counting()
    node.say(f"NVRM: The NVIDIA GPU {ADDRESS} (PCI ID: 10de:2330)\nNVRM: installed in this system has")
    node.say("NVRM: fallen off the bus and is not responding to commands.")
    assert node.count(79) == 1
    assert node.fatal == ["GPU-a"]


def test_both_sources_say_whether_they_are_there() -> None:
    node = Counting()
    assert node.rest_of(catalog.SOURCE_AVAILABLE) == {}, "not asked yet"
    node.say("hello")
    node.note(Key("xid"), Reading(value=None, up=False, reason=Reason.LIBRARY))
    assert node.rest_of(catalog.SOURCE_AVAILABLE) == {("kmsg",): 1, ("nvml",): 0}
    node.note(Key("kernel_log"), Reading(value=LogReading(available=False)))
    assert node.rest_of(catalog.SOURCE_AVAILABLE)["kmsg",] == 0


def test_errors_of_switches_are_counted_and_bounded() -> None:
    node = Counting()
    node.say(SWITCH.format(code=28006), SWITCH.format(code=28006))
    labels = ("3", "0000:c1:00.0", "28006", "non_fatal")
    assert node.rest_of(catalog.SXID_ERRORS) == {labels: 2}
    node.listener.device.broken = errno.EIO
    node.note(Key("kernel_log"), node.listener.read())
    assert node.rest_of(catalog.SXID_ERRORS) == {labels: 2}, "counts outlive the log"
    node.listener.device.broken = 0
    node.listener.second += REOPEN_S
    node.say(*(SWITCH.format(code=code) for code in range(10_000, 10_000 + SXIDS_MAX)))
    assert len(node.rest_of(catalog.SXID_ERRORS)) == SXIDS_MAX
    assert node.rest_of(catalog.SXIDS_DROPPED) == {(): 1}


def test_no_log_is_no_error(tmp_path: Path) -> None:
    (subject,) = kernel_log_source(Settings(path=Paths(rootfs=str(tmp_path))))()
    assert subject.read(Moment(0.0, 0.0)) == Reading(value=LogReading(available=False))


@pytest.mark.skipif(not os.access("/dev/kmsg", os.R_OK), reason="/dev/kmsg may not be read here")
def test_the_real_log_is_read() -> None:
    """All that it holds: records are understood, its end is an end, and nothing is read twice."""
    subject = KernelLog(lambda _at_end: open_log("/dev/kmsg", at_end=False))
    first = subject.read(Moment(0.0, 0.0))
    assert first.errors == ()
    assert first.value is not None
    assert first.value.available
    assert subject._sequence is not None
    log = open_log("/dev/kmsg", at_end=True)
    log.close()
