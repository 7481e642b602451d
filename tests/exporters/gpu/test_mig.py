"""Divided GPUs: each instance for itself, by UUID, and the whole for what only the whole has."""

from collections.abc import Callable

import pynvml  # type: ignore[import-untyped]  # the package brings no types
import pytest

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import NONE, FakeNvml
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

MakeRig = Callable[..., Rig]
UUID = hopper.uuid(0)
GIB = 2**30


def divide(fake: FakeNvml, slot: int, *parts: tuple[str, int, int]) -> list[int]:
    """Divide a GPU into UUID, GPU instance, compute instance. What the whole can no longer say, it refuses."""
    fake.set(slot, "nvmlDeviceGetMigMode", (1, 1))
    fake.fail(slot, "nvmlDeviceGetUtilizationRates", 3)
    fake.fail(slot, "nvmlDeviceGetRemappedRows", 3)
    made = []
    for index, (uuid, gpu_instance, compute_instance) in enumerate(parts):
        child = fake.add_mig(slot, uuid, gpu_instance, compute_instance, index=index)
        fake.set(child, "nvmlDeviceGetName", f"NVIDIA H200 MIG {gpu_instance}g.18gb")
        fake.set(child, "nvmlDeviceGetMemoryInfo_v2", hopper.memory(18 * GIB, gpu_instance * GIB, GIB // 8))
        fake.fail(child, "nvmlDeviceGetMemoryInfo", 3)
        fake.fail(child, "nvmlDeviceGetUtilizationRates", 3)
        fake.gpm(slot, 2, 10.0 * gpu_instance, gpu_instance=gpu_instance)
        fake.gpm(slot, 10, 5.0 * gpu_instance, gpu_instance=gpu_instance)
        made.append(child)
    return made


def by_instance(rig: Rig, name: str) -> dict[str, float]:
    return {key.partition("gpu_instance=")[2]: value for key, value in rig.values(name, uuid=UUID).items()}


@pytest.fixture
def divided(rig: Rig) -> Rig:
    """Two GPU instances, the second of which has two compute instances."""
    divide(rig.fake, 0, ("MIG-a", 1, 0), ("MIG-b", 2, 0), ("MIG-c", 2, 1))
    rig.run(20)
    return rig


def test_a_uuid_leads_to_its_instances_and_profile(divided: Rig) -> None:
    """NVIDIA/dcgm-exporter#577, #272, #544: labels of another slice."""
    found = {
        dict(labels)["mig_uuid"]: (
            dict(labels)["gpu_instance"],
            dict(labels)["compute_instance"],
            dict(labels)["profile"],
        )
        for name, labels in divided.page()
        if name == "knotwatch_gpu_mig_info"
    }
    assert found == {
        "MIG-a": ("1", "0", "1g.18gb"),
        "MIG-b": ("2", "0", "2g.18gb"),
        "MIG-c": ("2", "1", "2g.18gb"),
    }


def test_memory_is_of_the_instance_once(divided: Rig) -> None:
    """NVIDIA/dcgm-exporter#380, #512: no memory on divided H100; and two compute instances share one memory."""
    assert by_instance(divided, "gpu_mig_memory_used_bytes") == {"1": GIB, "2": 2 * GIB}
    assert by_instance(divided, "gpu_mig_memory_reserved_bytes") == {"1": GIB / 8, "2": GIB / 8}


def test_an_instance_is_read_once_whatever_it_is_divided_into(rig: Rig) -> None:
    children = divide(rig.fake, 0, ("MIG-b", 2, 0), ("MIG-c", 2, 1))
    rig.fake.fail(children[1], "nvmlDeviceGetMemoryInfo_v2", 999)
    rig.run(20)
    assert by_instance(rig, "gpu_mig_memory_used_bytes") == {"2": 2 * GIB}
    assert rig.fake.calls("nvmlDeviceGetMemoryInfo_v2", children[1]) == 0


def test_activity_is_of_the_instance(divided: Rig) -> None:
    """NVIDIA/DCGM#138, #68, #88, #195: relative to the instance, mean of the last window only."""
    assert by_instance(divided, "gpu_mig_sm_active_ratio") == {"1": 0.1, "2": 0.2}
    assert by_instance(divided, "gpu_mig_dram_active_ratio") == {"1": 0.05, "2": 0.1}
    divided.fake.gpm(0, 2, 90.0, gpu_instance=1)
    divided.run(10)
    assert by_instance(divided, "gpu_mig_sm_active_ratio") == {"1": 0.9, "2": 0.2}


def test_a_look_within_a_second_tells_the_same_window_of_an_instance(divided: Rig) -> None:
    """NVIDIA/DCGM#138: a value must be of the last two samples, not of all time, nor of too short a time."""
    divided.run(0.5)
    divided.fake.gpm(0, 2, 99.0, gpu_instance=1)
    taken = divided.fake.calls("nvmlGpmMigSampleGet")
    value = divided.reading(UUID).value
    assert value is not None
    assert [instance.activity[2] for instance in value.instances] == [0.1, 0.2]
    assert divided.fake.calls("nvmlGpmMigSampleGet") == taken


def test_the_whole_keeps_what_only_the_whole_has(divided: Rig) -> None:
    """NVIDIA/dcgm-exporter#561: in MIG mode the metrics of the whole GPU vanished."""
    names = divided.names(UUID)
    kept = {"gpu_power_watts", "gpu_temperature_celsius", "gpu_energy_joules_total", "gpu_memory_used_bytes"}
    assert kept | {"gpu_ecc_errors_total", "gpu_xid_errors_total", "gpu_up"} <= names
    assert not {"gpu_kernel_resident_ratio", "gpu_memory_busy_ratio", "gpu_remapped_rows_total"} & names
    assert divided.value("gpu_mig_enabled", UUID) == 1


def test_a_whole_whose_counters_refuse_leaves_those_of_instances(rig: Rig) -> None:
    divide(rig.fake, 0, ("MIG-a", 1, 0))
    rig.fake.fail(0, "nvmlGpmSampleGet", 3)
    rig.run(20)
    assert rig.value("gpu_sm_active_ratio", UUID) is None
    assert by_instance(rig, "gpu_mig_sm_active_ratio") == {"1": 0.1}


def test_no_instance_is_no_label(rig: Rig) -> None:
    """NVML writes 0xFFFFFFFF for no instance: it became the label 4294967295."""
    divide(rig.fake, 0, ("MIG-a", 1, 0), ("MIG-odd", NONE, NONE))
    rig.run(20)
    assert "4294967295" not in {value for _name, labels in rig.page() for _label, value in labels}
    assert by_instance(rig, "gpu_mig_memory_used_bytes") == {"1": GIB}


def test_dividing_anew_is_seen_at_the_next_look(divided: Rig) -> None:
    fake = divided.fake
    for slot in (1, 2, 3):
        fake.remove(slot)
    divide(fake, 0, ("MIG-new", 1, 0))
    fake.gpm(0, 2, 77.0, gpu_instance=1)
    fake.event(0, 0x100, 0)
    divided.run(10)
    assert list(by_instance(divided, "gpu_mig_memory_used_bytes")) == ["1"]
    assert by_instance(divided, "gpu_mig_sm_active_ratio") == {}, "another instance: its window begins anew"
    divided.run(10)
    assert by_instance(divided, "gpu_mig_sm_active_ratio") == {"1": 0.77}
    assert divided.value("gpu_events_total", UUID, event="mig_configuration") == 1
    held = fake.samples_held()
    assert held == 4, "the whole and one instance"


def test_a_gpu_that_is_whole_again_says_what_it_could_not(divided: Rig) -> None:
    fake = divided.fake
    for slot in (1, 2, 3):
        fake.remove(slot)
    fake.set(0, "nvmlDeviceGetMigMode", (0, 0))
    fake.set(0, "nvmlDeviceGetUtilizationRates", pynvml.c_nvmlUtilization_t(50, 5))
    divided.run(20)
    assert divided.value("gpu_kernel_resident_ratio", UUID) == 0.5
    assert not {name for name in divided.names(UUID) if name.startswith("gpu_mig_m")}


def test_a_gpu_that_was_divided_into_nothing_is_whole_again_too(rig: Rig) -> None:
    divide(rig.fake, 0)
    rig.run(20)
    assert rig.value("gpu_mig_enabled", UUID) == 1
    rig.fake.set(0, "nvmlDeviceGetMigMode", (0, 0))
    rig.fake.set(0, "nvmlDeviceGetUtilizationRates", pynvml.c_nvmlUtilization_t(50, 5))
    rig.run(30)
    assert rig.value("gpu_kernel_resident_ratio", UUID) == 0.5


def test_a_part_that_fails_costs_itself(rig: Rig) -> None:
    children = divide(rig.fake, 0, ("MIG-a", 1, 0), ("MIG-b", 2, 0))
    rig.fake.fail(children[0], "nvmlDeviceGetMemoryInfo_v2", 999)
    rig.run(20)
    assert by_instance(rig, "gpu_mig_memory_used_bytes") == {"2": 2 * GIB}
    assert by_instance(rig, "gpu_mig_sm_active_ratio") == {"1": 0.1, "2": 0.2}


def test_a_process_names_its_instance(rig: Rig) -> None:
    divide(rig.fake, 0, ("MIG-a", 1, 0))
    rig.fake.processes(0, "nvmlDeviceGetComputeRunningProcesses_v3", [(77, GIB, 1, 0), (78, GIB, NONE, NONE)])
    rig.run()
    assert rig.value("gpu_process_memory_bytes", UUID, pid="77", gpu_instance="1") == GIB
    assert rig.value("gpu_process_memory_bytes", UUID, pid="78", gpu_instance="") == GIB


def test_eight_gpus_with_seven_instances_each_are_read(make_rig: MakeRig) -> None:
    """NVIDIA/dcgm-exporter#607, #619, #625: dense nodes passed the limit of a scrape."""
    rig = make_rig(8)
    for slot in range(8):
        divide(rig.fake, slot, *((f"MIG-{slot}-{part}", part, 0) for part in range(1, 8)))
    rig.run(20)
    assert len(rig.values("gpu_mig_sm_active_ratio")) == 56
    assert rig.value("exporter_series") is not None
