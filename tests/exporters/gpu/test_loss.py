"""GPUs that go and come back, drivers that do not answer, and what is said of them meanwhile."""

from collections.abc import Callable

import pytest

from exporters.subject import Reason
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import ANY
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

MakeRig = Callable[..., Rig]
UUID = hopper.uuid(0)
IDENTITY = {"gpu_up", "gpu_down_reason", "gpu_info", "gpu_last_success_timestamp_seconds"}
COUNTED = {"gpu_xid_errors_total"}


def reason(rig: Rig, uuid: str) -> str:
    """Why a GPU is down, as the page says it."""
    found = [
        dict(labels)["reason"]
        for (name, labels) in rig.page()
        if name == "knotwatch_gpu_down_reason" and ("uuid", uuid) in labels
    ]
    return ",".join(found)


@pytest.mark.parametrize(("code", "why"), [(15, Reason.LOST), (16, Reason.RESET_REQUIRED), (28, Reason.NOT_FOUND)])
def test_a_lost_gpu_is_down_and_named_and_alone(make_rig: MakeRig, code: int, why: Reason) -> None:
    """NVIDIA/gpu-monitoring-tools#46, NVIDIA/dcgm-exporter#348, #96: a GPU off the bus took all with it, or none."""
    rig = make_rig(8)
    rig.run(20)
    rig.fake.lose(5, code)
    rig.run(15)
    lost = hopper.uuid(5)
    assert rig.value("gpu_up", lost) == 0
    assert reason(rig, lost) == why
    assert rig.names(lost) - COUNTED == IDENTITY, "no value, but who it is"
    assert sum(rig.values("gpu_up").values()) == 7
    assert len(rig.values("gpu_power_watts")) == 7
    assert (rig.value("gpus_expected"), rig.value("gpus_visible")) == (8, 7)


def test_a_lost_gpu_that_answers_again_is_back_at_once(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(20)
    rig.fake.lose(1)
    rig.run(20)
    rig.fake.withdraw(1, "*")
    rig.run(15)
    assert rig.value("gpu_power_watts", hopper.uuid(1)) == 627.4
    assert rig.value("gpus_visible") == 2
    assert rig.value("nvml_starts_total") == 1


def test_a_gpu_that_stays_lost_is_looked_for_by_a_new_start_now_and_then(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(20)
    rig.fake.lose(1)
    rig.run(90)
    assert rig.value("nvml_starts_total") == 2
    rig.run(1000)
    assert 4 <= (rig.value("nvml_starts_total") or 0) <= 6, "after 1, 2, 4, 8 minutes"
    assert rig.fake.calls("nvmlInitWithFlags") - rig.fake.calls("nvmlShutdown") == 1
    assert rig.value("gpu_power_watts", UUID) == 627.4


def test_identity_follows_the_uuid_when_indices_shift(make_rig: MakeRig) -> None:
    rig = make_rig(8)
    rig.run(20)
    for number in range(8):
        rig.fake.set(number, "nvmlDeviceGetPowerUsage", 100_000 + number)
    rig.fake.show(0, 1, 2, 3, 4, 6, 7)
    rig.run(20)
    gone = hopper.uuid(5)
    assert rig.values("gpu_power_watts", uuid=hopper.uuid(6)) == {"gpu=5": 100.006}
    assert rig.value("gpu_up", gone) == 0
    assert reason(rig, gone) == Reason.NOT_FOUND
    assert rig.value("gpu_info", gone, name="NVIDIA H200") == 1
    assert (rig.value("gpus_expected"), rig.value("gpus_visible")) == (8, 7)


def test_the_minor_number_is_not_the_index(make_rig: MakeRig) -> None:
    """PrincetonUniversity/jobstats#34: /dev/nvidia<minor> was taken for the index."""
    rig = make_rig(3)
    for number, minor in enumerate((2, 0, 1)):
        rig.fake.set(number, "nvmlDeviceGetMinorNumber", minor)
    rig.run()
    for number, minor in enumerate((2, 0, 1)):
        assert rig.value("gpu_info", hopper.uuid(number), gpu=str(number), minor=str(minor)) == 1
        assert (value := rig.reading(hopper.uuid(number)).value)
        assert (value.index, value.minor) == (number, minor)


def test_series_of_a_node_are_few(make_rig: MakeRig) -> None:
    """mlmon/nvgpu-exporter: 2,500 series and more for four GPUs."""
    rig = make_rig(8)
    rig.run(20)
    assert len(rig.page()) < 1200, "links are summed, and codes of XID are few"


def test_gpus_that_only_the_kernel_sees_are_missed(make_rig: MakeRig) -> None:
    """NVIDIA/NVSentinel#684, #833: GPUs disappeared without a word; only PCI told."""
    rig = make_rig(7)
    rig.on_pci = 8
    rig.run()
    assert (rig.value("gpus_on_pci"), rig.value("gpus_visible"), rig.value("gpus_expected")) == (8, 7, 8)


def test_what_is_expected_can_be_said(make_rig: MakeRig) -> None:
    rig = make_rig(7, expected=8)
    rig.run()
    assert (rig.value("gpus_expected"), rig.value("gpus_visible")) == (8, 7)
    assert "knotwatch_gpus_on_pci" not in {name for name, _ in rig.page()}, "the kernel was not asked"


def test_a_gpu_that_was_lost_before_we_began_is_missed(make_rig: MakeRig) -> None:
    rig = make_rig(8)
    rig.fake.lose(3)
    rig.run(20)
    assert (rig.value("gpus_expected"), rig.value("gpus_visible")) == (8, 7)
    assert len(rig.values("gpu_power_watts")) == 7


def test_a_driver_that_is_late_is_waited_for(make_rig: MakeRig) -> None:
    """utkuozdemir/nvidia_gpu_exporter#65: not ready at boot, it never recovered."""
    rig = make_rig(2)
    rig.fake.fail(ANY, "nvmlInitWithFlags", 12)
    rig.run(4)
    assert rig.value("nvml_up") == 0
    assert rig.value("nvml_init_failures_total") == 1
    assert not rig.values("gpu_up"), "who they are is not known yet"
    for code, tries in ((12, 2), (9, 3)):
        rig.fake.fail(ANY, "nvmlInitWithFlags", code)
        while rig.fake.calls("nvmlInitWithFlags") < tries:
            rig.run(1)
    rig.fake.withdraw(ANY, "nvmlInitWithFlags")
    rig.run(30)
    assert rig.value("nvml_init_failures_total") == 3
    assert rig.value("nvml_up") == 1
    assert len(rig.values("gpu_power_watts")) == 2


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (1, "driver"),
        (9, "driver"),
        (12, "library"),
        (15, "lost"),
        (16, "reset_required"),
        (18, "driver"),
        (999, "errors"),
    ],
)
def test_trying_to_start_grows_patient_and_never_ends(rig: Rig, code: int, why: str) -> None:
    rig.fake.fail(ANY, "nvmlInitWithFlags", code)
    rig.run(600)
    tries = rig.fake.calls("nvmlInitWithFlags")
    assert 10 <= tries <= 20, "1, 2, 4 ... 60 seconds apart"
    assert rig.value("exporter_subject_down_reason", kind="nvml", name="", reason=why) == 1
    rig.fake.withdraw(ANY, "nvmlInitWithFlags")
    rig.run(80)
    assert rig.value("gpu_up", UUID) == 1


@pytest.mark.parametrize("code", [1, 9, 18, 999])
def test_a_driver_that_stops_answering_takes_all_down_and_is_started_anew(make_rig: MakeRig, code: int) -> None:
    rig = make_rig(2)
    rig.run(20)
    rig.fake.fail(ANY, "nvmlDeviceGetCount_v2", code)
    rig.fake.fail(ANY, "nvmlInitWithFlags", 9)
    rig.run(20)
    assert rig.value("nvml_up") == 0
    assert list(rig.values("gpu_up").values()) == [0, 0]
    assert len(rig.values("gpu_info")) == 2
    rig.fake.withdraw(ANY, "nvmlDeviceGetCount_v2")
    rig.fake.withdraw(ANY, "nvmlInitWithFlags")
    rig.run(80)
    assert list(rig.values("gpu_up").values()) == [1, 1]
    assert rig.value("gpus_visible") == 2


def test_a_count_that_fails_for_ever_does_not_start_the_library_for_ever(rig: Rig) -> None:
    """lablup/all-smi#118, netdata/netdata#21061: a start every three seconds used up all file descriptors."""
    rig.run(20)
    rig.fake.fail(ANY, "nvmlDeviceGetCount_v2", 999)
    rig.run(600)
    assert rig.fake.calls("nvmlInitWithFlags") <= 20


def test_a_healthy_life_starts_the_library_once_and_holds_two_samples(make_rig: MakeRig) -> None:
    """lablup/all-smi#119: 1,000 rounds, one start, and no handle more than at the beginning."""
    rig = make_rig(2)
    rig.run(20)
    for _ in range(1000):
        rig.time.now_s += 10
        for subject in rig.listed():
            assert subject.read(rig.time.moment()).up
    rig.run(20)
    assert rig.fake.calls("nvmlInitWithFlags") == 1
    assert rig.fake.calls("nvmlShutdown") == 0
    assert rig.fake.samples_held() == 4
    assert rig.fake.calls("nvmlEventSetCreate") == 1
    assert rig.value("nvml_starts_total") == 1


def test_everything_is_given_back_before_the_library_stops(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(30)
    rig.fake.fail(ANY, "nvmlDeviceGetCount_v2", 999, times=1)
    rig.run(60)
    assert rig.fake.calls("nvmlShutdown") == 1
    assert rig.fake.samples_held() == 4
    assert rig.fake.calls("nvmlEventSetCreate") - rig.fake.calls("nvmlEventSetFree") == 1
    assert rig.value("gpu_sm_active_ratio", UUID) == 0.85, "with windows of the new start"


def test_values_that_are_not_read_anew_are_withdrawn(make_rig: MakeRig) -> None:
    """NVIDIA/dcgm-exporter#164, #190, #500, #502: the last values stayed for ever while health said fine."""
    rig = make_rig(2)
    rig.run(20)
    rig.fake.fail(0, "*", 999)
    rig.run(40)
    assert "gpu_temperature_celsius" not in rig.names(UUID)
    assert rig.value("gpu_up", UUID) == 0
    assert reason(rig, UUID) == Reason.ERRORS
    assert rig.value("gpu_up", hopper.uuid(1)) == 1


def test_two_bad_looks_are_no_trouble_yet(rig: Rig) -> None:
    rig.run(20)
    rig.fake.fail(0, "*", 999)
    rig.run(15)
    assert rig.value("gpu_up", UUID) == 1
    assert "gpu_temperature_celsius" not in rig.names(UUID)


@pytest.mark.parametrize("names", [("nvmlDeviceGetName", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetMinorNumber")])
def test_a_gpu_whose_name_cannot_be_read_is_a_gpu(rig: Rig, names: tuple[str, ...]) -> None:
    for name in names:
        rig.fake.fail(0, name, 999)
    rig.run()
    assert rig.value("gpu_info", UUID, name="", pci_address="", minor="") == 1
    assert rig.value("gpu_power_watts", UUID) == 627.4


def test_no_library_at_all_is_a_sentence_not_a_crash(rig: Rig) -> None:
    rig.fake.fail(ANY, "nvmlInitWithFlags", 12)
    rig.run(30)
    assert rig.value("nvml_up") == 0
    assert rig.value("exporter_subject_up", kind="nvml", name="") == 0


def test_a_node_without_gpus_has_none(make_rig: MakeRig) -> None:
    rig = make_rig(0)
    rig.run(20)
    assert (rig.value("nvml_up"), rig.value("gpus_visible"), rig.value("gpus_expected")) == (1, 0, 0)
