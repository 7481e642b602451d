"""XID errors: counted once, from zero, by code; and the fatal ones heeded."""

from collections.abc import Callable
from random import Random

import pytest

from exporters.followers.xid_counts import CODES_MAX, FROM_ZERO
from exporters.nvml.reading import XidSeen
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import ANY, NONE
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

MakeRig = Callable[..., Rig]
UUID = hopper.uuid(0)
XID = 0x8


def seen(rig: Rig, xid: int, device: str = "0000:1b:00") -> XidSeen:
    """An error as the kernel's log tells it now."""
    return XidSeen(device=device, xid=xid, source="kmsg", wall_s=rig.time.moment().wall_s)


def count(rig: Rig, xid: int, uuid: str = UUID) -> float | None:
    return rig.value("gpu_xid_errors_total", uuid, xid=str(xid))


def test_zeros_are_there_before_the_first(make_rig: MakeRig) -> None:
    """increase() misses a first event whose zero was never seen; and 170 zeros for each GPU are too many."""
    rig = make_rig(2)
    rig.run(5)
    for number in range(2):
        found = rig.values("gpu_xid_errors_total", uuid=hopper.uuid(number))
        assert len(found) == len(FROM_ZERO)
        assert set(found.values()) == {0}
    assert not rig.values("gpu_xid_last_timestamp_seconds")


def test_errors_are_counted_by_code_and_gpu(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(5)
    for xid in (48, 48, 31):
        rig.fake.event(1, XID, xid)
    rig.run(5)
    other = hopper.uuid(1)
    assert (count(rig, 48, other), count(rig, 31, other), count(rig, 48)) == (2, 1, 0)
    last = rig.value("gpu_xid_last_timestamp_seconds", other, xid="48")
    assert last == pytest.approx(rig.time.moment().wall_s, abs=6)


def test_a_subcode_is_no_code_of_its_own(rig: Rig) -> None:
    """NVIDIA/NVSentinel#1357: XIDs 144 to 150 carry sub-codes; the code is the label, and no more."""
    rig.run(5)
    rig.kmsg.ahead = [seen(rig, 145)]
    rig.run(5)
    assert count(rig, 145) == 1


def test_counts_outlive_the_gpu(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(5)
    rig.fake.event(0, XID, 31)
    rig.run(5)
    rig.fake.lose(0)
    rig.fake.fail(ANY, "nvmlEventSetWait_v2", 15)
    rig.run(60)
    assert count(rig, 31) == 1


def test_both_sources_telling_of_one_error_is_one_error(rig: Rig) -> None:
    rig.run(5)
    rig.fake.event(0, XID, 31)
    rig.run(3)
    rig.kmsg.ahead = [seen(rig, 31)]
    rig.run(3)
    assert count(rig, 31) == 1


def test_two_errors_told_twice_each_are_two(rig: Rig) -> None:
    rig.run(5)
    rig.kmsg.ahead = [seen(rig, 31), seen(rig, 31)]
    rig.fake.event(0, XID, 31)
    rig.fake.event(0, XID, 31)
    rig.run(5)
    assert count(rig, 31) == 2


def test_a_report_has_one_twin(rig: Rig) -> None:
    rig.run(5)
    rig.fake.event(0, XID, 31)
    for _ in range(2):
        rig.run(2)
        rig.kmsg.ahead = [seen(rig, 31)]
    rig.run(3)
    assert count(rig, 31) == 2, "the second line of the kernel is another error"


def test_twins_are_not_sought_far_in_time_nor_on_another_gpu(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(5)
    rig.fake.event(0, XID, 31)
    rig.run(2)
    rig.kmsg.ahead = [seen(rig, 31, device="00000000:1C:00.0")]
    rig.run(60)
    rig.kmsg.ahead = [seen(rig, 31)]
    rig.run(5)
    assert (count(rig, 31), count(rig, 31, hopper.uuid(1))) == (2, 1)


def test_the_kernel_s_log_alone_counts_too(rig: Rig) -> None:
    rig.fake.set(0, "nvmlDeviceGetSupportedEventTypes", 0)
    rig.run(5)
    rig.kmsg.ahead = [seen(rig, 79)]
    rig.run(5)
    assert count(rig, 79) == 1
    rig.run(20)
    assert rig.value("gpu_up", UUID) == 0, "a fatal one is heeded whoever tells of it"


def test_different_codes_of_one_gpu_are_bounded(rig: Rig) -> None:
    rig.run(5)
    codes = Random(1).sample(range(200, 1000), CODES_MAX + 20)  # noqa: S311  numbers for a test
    for code in codes:
        rig.fake.event(0, XID, code)
        rig.run(1)
    assert len(rig.values("gpu_xid_errors_total", uuid=UUID)) <= CODES_MAX + len(FROM_ZERO)
    assert rig.value("gpu_xid_codes_dropped_total") == 20


@pytest.mark.parametrize("code", [15, 999])
def test_a_watcher_that_fails_rests_and_comes_back(rig: Rig, code: int) -> None:
    """NVML's wait for events returns at once, for ever, on some lost devices: a loop of its own at full speed."""
    rig.run(5)
    rig.fake.fail(ANY, "nvmlEventSetWait_v2", code)
    before = rig.fake.calls("nvmlEventSetWait_v2")
    rig.run(600)
    assert rig.fake.calls("nvmlEventSetWait_v2") - before < 30
    assert rig.value("gpu_xid_watcher_up") == 0
    assert rig.fake.calls("nvmlEventSetCreate") - rig.fake.calls("nvmlEventSetFree") <= 1
    rig.fake.withdraw(ANY, "nvmlEventSetWait_v2")
    rig.run(70)
    rig.fake.event(0, XID, 31)
    rig.run(3)
    assert rig.value("gpu_xid_watcher_up") == 1
    assert count(rig, 31) == 1


def test_only_events_that_a_gpu_supports_are_asked_for(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.fake.set(0, "nvmlDeviceGetSupportedEventTypes", XID)
    rig.fake.set(1, "nvmlDeviceGetSupportedEventTypes", 0)
    rig.run(5)
    rig.fake.event(0, XID, 31)
    rig.run(5)
    assert count(rig, 31) == 1
    assert rig.value("gpu_xid_watched_devices") == 1


def test_a_gpu_that_refuses_is_registered_later(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.fake.fail(1, "nvmlDeviceRegisterEvents", 999, times=3)
    rig.run(2)
    assert rig.value("gpu_xid_watched_devices") == 1
    rig.run(10)
    assert rig.value("gpu_xid_watched_devices") == 2


@pytest.mark.parametrize("xid", [79, 119, 120])
def test_after_a_fatal_one_the_gpu_is_asked_once_a_minute_at_most(make_rig: MakeRig, xid: int) -> None:
    """DCGM's own rule: after 79, 119 and 120 further calls may hang."""
    rig = make_rig(4)
    rig.run(20)
    rig.fake.field(2, 230, 1)
    rig.fake.event(2, XID, xid)
    rig.run(2)
    before, others = rig.fake.calls("*", 2), rig.fake.calls("*", 1)
    rig.run(600)
    assert rig.fake.calls("*", 2) - before <= 10
    assert rig.fake.calls("*", 1) - others > 1000
    assert rig.values("gpu_down_reason", uuid=hopper.uuid(2)) == {"reason=fatal_xid": 1}
    assert rig.value("gpus_visible") == 3
    assert rig.value("nvml_starts_total") == 1, "a new start would touch it"


def test_no_new_start_for_a_lost_gpu_while_another_may_hang(make_rig: MakeRig) -> None:
    rig = make_rig(3)
    rig.run(20)
    rig.fake.field(2, 230, 1)
    rig.fake.event(2, XID, 79)
    rig.run(2)
    rig.fake.lose(1)
    before = rig.fake.calls("*", 2)
    rig.run(600)
    assert rig.value("nvml_starts_total") == 1
    assert rig.fake.calls("*", 2) - before <= 10


def test_a_gpu_whose_driver_wants_nothing_more_is_let_out(rig: Rig) -> None:
    rig.run(20)
    rig.fake.field(0, 230, 1)
    rig.fake.event(0, XID, 79)
    rig.run(130)
    assert rig.value("gpu_up", UUID) == 0
    rig.fake.field(0, 230, 0)
    rig.run(80)
    assert rig.value("gpu_up", UUID) == 1
    assert rig.value("gpu_power_watts", UUID) == 627.4


def test_an_old_driver_never_lets_it_out(rig: Rig) -> None:
    rig.run(20)
    rig.fake.field_fails(0, 230, 3)
    rig.fake.event(0, XID, 79)
    rig.run(600)
    assert rig.value("gpu_up", UUID) == 0


@pytest.mark.parametrize("xid", [31, 43, 94])
def test_another_xid_stops_nothing(rig: Rig, xid: int) -> None:
    rig.run(20)
    rig.fake.event(0, XID, xid)
    rig.run(30)
    assert rig.value("gpu_up", UUID) == 1


def test_other_events_are_counted_by_kind(rig: Rig) -> None:
    rig.run(5)
    for kind in (0x1, 0x1, 0x8000, 0x100):
        rig.fake.event(0, kind, 0, NONE, NONE)
    rig.run(5)
    found = {name.partition("event=")[2].partition(",")[0]: v for name, v in rig.values("gpu_events_total").items()}
    assert found == {"single_bit_ecc": 2, "recovery_action": 1, "mig_configuration": 1}
