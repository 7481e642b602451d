"""NVLink: bytes as counters, whatever the card and the driver have to count them by."""

from collections.abc import Callable

import pytest

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import NONE
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

MakeRig = Callable[..., Rig]
UUID = hopper.uuid(0)
SENT, RECEIVED = "gpu_nvlink_transmit_bytes_total", "gpu_nvlink_receive_bytes_total"
KIB = 1024


def per_link(rig: Rig, field: int, start: int, *, kind: int = 3) -> None:
    """Counters of each link, and none of all links together."""
    rig.fake.field_fails(0, field, 3, scope=NONE)
    for link in range(hopper.LINKS):
        rig.fake.field(0, field, start + link, scope=link, kind=kind)


def test_bytes_of_all_links_are_one_counter_in_bytes(rig: Rig) -> None:
    """NVIDIA/dcgm-exporter#195, #472, NVIDIA/DCGM#221: a "total" that was a rate, in units of its own."""
    rig.fake.field(0, 138, 7_000_000, scope=NONE)
    rig.fake.field(0, 139, 9_000_000, scope=NONE)
    rig.run()
    assert (rig.value(SENT, UUID), rig.value(RECEIVED, UUID)) == (7_000_000 * KIB, 9_000_000 * KIB)
    rig.fake.field(0, 138, 7_500_000, scope=NONE)
    rig.run()
    assert rig.value(SENT, UUID) == 7_500_000 * KIB


def test_bytes_are_summed_where_the_card_counts_links_only(rig: Rig) -> None:
    per_link(rig, 138, 1000)
    rig.run()
    assert rig.value(SENT, UUID) == sum(1000 + link for link in range(18)) * KIB


def test_a_reset_passes_through(rig: Rig) -> None:
    rig.run()
    rig.fake.field(0, 138, 5, scope=NONE)
    rig.run()
    assert rig.value(SENT, UUID) == 5 * KIB


def test_one_direction_that_cannot_be_read_leaves_the_other(rig: Rig) -> None:
    for scope in (NONE, *range(18)):
        rig.fake.field_fails(0, 139, 3, scope=scope)
    rig.run()
    assert rig.value(SENT, UUID) is not None
    assert rig.value(RECEIVED, UUID) is None


def test_a_newer_card_counts_in_bytes(rig: Rig) -> None:
    for field in (138, 139):
        for scope in (NONE, *range(18)):
            rig.fake.field_fails(0, field, 3, scope=scope)
    rig.fake.field(0, 202, 123, scope=NONE)
    rig.fake.field(0, 204, 456, scope=NONE)
    rig.run()
    assert (rig.value(SENT, UUID), rig.value(RECEIVED, UUID)) == (123, 456)


def test_a_passing_failure_does_not_choose_another_count(rig: Rig) -> None:
    rig.fake.field_fails(0, 138, 999, scope=NONE)
    rig.fake.field(0, 202, 1, scope=NONE)
    rig.run()
    assert rig.value(SENT, UUID) is None
    rig.fake.field(0, 138, 70, scope=NONE)
    rig.run()
    assert rig.value(SENT, UUID) == 70 * KIB


def test_a_sum_that_lacks_a_link_is_no_sum(rig: Rig) -> None:
    per_link(rig, 138, 1000)
    rig.run()
    rig.fake.field_fails(0, 138, 999, scope=3)
    rig.run()
    assert rig.value(SENT, UUID) is None, "a smaller sum would look like a reset"
    rig.fake.field(0, 138, 1003, scope=3)
    rig.run()
    assert rig.value(SENT, UUID) is not None


def test_links_one_by_one_where_asked_for(make_rig: MakeRig) -> None:
    rig = make_rig(1, each_link=True)
    rig.run()
    found = rig.values("gpu_nvlink_link_transmit_bytes_total", uuid=UUID)
    sent = {name.partition("link=")[2]: value for name, value in found.items()}
    assert sent == {str(link): (1000 + link) * KIB for link in range(18)}
    assert set(rig.values("gpu_nvlink_link_up").values()) == {1}


def test_links_are_not_told_one_by_one_by_default(rig: Rig) -> None:
    rig.run()
    assert not {name for name in rig.names(UUID) if "nvlink_link_" in name}


def test_a_link_that_is_down_is_counted_out(rig: Rig) -> None:
    rig.fake.field(0, 165, 0, scope=4, kind=1)
    rig.run()
    assert (rig.value("gpu_nvlink_links", UUID), rig.value("gpu_nvlink_links_up", UUID)) == (18, 17)
    assert rig.value("gpu_nvlink_speed_bytes_per_second", UUID) == 17 * 26_562e6


def test_a_card_without_links_says_nothing_of_them(rig: Rig) -> None:
    rig.fake.field_fails(0, 91, 3)
    rig.run()
    assert not {name for name in rig.names(UUID) if "nvlink" in name}


def test_errors_are_summed_over_the_links_that_count_them(rig: Rig) -> None:
    """NVIDIA/nvidia-resiliency-ext#302: some links answer, others do not support the field."""
    for link in range(18):
        if link % 2:
            rig.fake.field_fails(0, 161, 3, scope=link)
        else:
            rig.fake.field(0, 161, 2, scope=link)
    rig.run()
    assert rig.value("gpu_nvlink_errors_total", UUID, kind="replay") == 18


def test_recovery_falls_back_to_the_newer_count(rig: Rig) -> None:
    for link in range(18):
        rig.fake.field_fails(0, 162, 3, scope=link)
        rig.fake.field(0, 215, 1, scope=link)
        rig.fake.field(0, 221, 10, scope=link)
    rig.run()
    assert rig.value("gpu_nvlink_errors_total", UUID, kind="recovery") == 18
    assert rig.value("gpu_nvlink_errors_total", UUID, kind="symbol") == 180


def test_counters_of_an_older_kind_are_absent_not_huge(rig: Rig) -> None:
    """NVIDIA/DCGM#231, #516, #149: 9223372036854775794 on dashboards of Hopper cards."""
    for scope in range(18):
        rig.fake.field(0, 163, 0x7FFFFFFFFFFFFFF2, scope=scope)
    rig.run()
    assert rig.value("gpu_nvlink_errors_total", UUID, kind="crc") is None


def test_probing_is_done_once(rig: Rig) -> None:
    rig.run(20)
    calls = rig.fake.calls("nvmlDeviceGetFieldValues")
    rig.run(100)
    assert (rig.fake.calls("nvmlDeviceGetFieldValues") - calls) / 10 <= 6
