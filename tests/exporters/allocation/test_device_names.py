"""Every spelling of a device that plugins and prologs are known to use, and what it leads to."""

import pytest

from exporters.collectors.device_names import By, device_name
from exporters.collectors.gpu_names import GpuNames, Numbers, Place, Unmapped
from tests.exporters.allocation.readings import A, B, C, gpu, node, part

UUID = "12aa7c89-bb90-59b7-ac2c-2e9cf0298925"


@pytest.fixture
def names() -> GpuNames:
    """Two GPUs; the second is divided, and its first instance has two compute instances."""
    found = GpuNames()
    found.note(node())
    found.note(gpu(A))
    found.note(gpu(B, mig=(part(f"MIG-{UUID}", 1), part("MIG-two", 1, 1), part("MIG-three", 2))))
    return found


@pytest.mark.parametrize(
    ("spelled", "place"),
    [
        (A, Place(uuid=A)),
        (f"{A}::3", Place(uuid=A)),
        ("0", Place(uuid=A)),
        ("1::0", Place(uuid=B)),
        (f"MIG-{UUID}", Place(uuid=B, gpu_instance=1, compute_instance=0)),
        (f"MIG-{UUID}::7", Place(uuid=B, gpu_instance=1, compute_instance=0)),
        (UUID, Place(uuid=B, gpu_instance=1, compute_instance=0)),
        (f"MIG-{B}/1/1", Place(uuid=B, gpu_instance=1, compute_instance=1)),
        (f"MIG-{B}/2/0", Place(uuid=B, gpu_instance=2, compute_instance=0)),
        ("nvidia0", Place(uuid=A)),
        ("nvidia1/gi2", Place(uuid=B, gpu_instance=2, compute_instance=0)),
        ("nvidia1/gi1", Place(uuid=B, gpu_instance=1)),
        ("nvidia0/vgpu2", Place(uuid=A)),
        ("nvidia1/gi2/vgpu1", Place(uuid=B, gpu_instance=2, compute_instance=0)),
        ("1.2", Place(uuid=B, gpu_instance=2, compute_instance=0)),
        ("1-2", Place(uuid=B, gpu_instance=2, compute_instance=0)),
        ("nvidia7", Unmapped.GPU),
        ("7", Unmapped.GPU),
        ("GPU-elsewhere", Unmapped.GPU),
        ("MIG-gone", Unmapped.INSTANCE),
        (f"MIG-{B}/5/0", Unmapped.INSTANCE),
        (f"MIG-{B}/1/7", Unmapped.INSTANCE),
        ("nvidia1/gi9", Unmapped.INSTANCE),
        ("tegra", Unmapped.AMBIGUOUS),
    ],
)
def test_every_spelling_leads_where_it_should(names: GpuNames, spelled: str, place: Place | Unmapped) -> None:
    name = device_name(spelled)
    assert name is not None
    assert names.place(name) == place


@pytest.mark.parametrize(
    "spelled",
    ["", " ", "GPU-", "gpu-0", "nvidia", "nvidiactl", "0000:17:00.0", "0:1", "-1", "GPU-x::", "٣", "1e3", "x" * 9999],
)
def test_what_nobody_has_taught_us_is_no_device(spelled: str) -> None:
    assert device_name(spelled) is None


@pytest.mark.parametrize(
    ("spelled", "shared"),
    [(A, False), (f"{A}::0", True), ("nvidia0/gi3/vgpu1", True), ("nvidia0/gi3", False), ("0::2", True)],
)
def test_a_replica_says_that_there_may_be_others(spelled: str, *, shared: bool) -> None:
    name = device_name(spelled)
    assert name is not None
    assert name.replica == shared


def test_the_only_gpu_of_a_jetson_is_known_without_a_name() -> None:
    names = GpuNames()
    names.note(node((A,)))
    tegra = device_name("tegra")
    assert tegra is not None
    assert names.place(tegra) == Place(uuid=A)


def test_an_index_is_not_taken_for_a_minor_number() -> None:
    """Minors may be in another order than indices: PrincetonUniversity/jobstats#34."""
    names = GpuNames()
    names.note(node((A, B, C), minors=(2, 0, 1)))
    zero, explicit = device_name("0"), device_name("nvidia0")
    assert zero is not None
    assert explicit is not None
    assert (zero.by, explicit.by) == (By.NUMBER, By.MINOR)
    assert names.place(zero, Numbers.INDEX) == Place(uuid=A)
    assert names.place(zero, Numbers.MINOR) == Place(uuid=B)
    assert names.place(zero, Numbers.EITHER) is Unmapped.AMBIGUOUS
    assert names.place(explicit) == Place(uuid=B)


def test_a_number_that_is_both_counts() -> None:
    names = GpuNames()
    names.note(node((A, B, C), minors=(0, 1, 2)))
    one = device_name("1")
    assert one is not None
    assert names.place(one, Numbers.EITHER) == Place(uuid=B)


def test_indices_that_have_moved_lead_nowhere() -> None:
    """A GPU fell off the bus, and those behind it moved up: whoever wrote 1 down still means the one that is lost."""
    names = GpuNames()
    names.note(node((A, B, C)))
    names.note(node((A, C), minors=(0, 2), expected=3))
    one, minor, whole = device_name("1"), device_name("nvidia2"), device_name(C)
    assert one is not None
    assert minor is not None
    assert whole is not None
    assert names.place(one) is Unmapped.AMBIGUOUS
    assert names.place(minor) == Place(uuid=C)
    assert names.place(whole) == Place(uuid=C)


def test_a_mig_number_given_anew_is_another_device() -> None:
    """Ids are used again after a new division, so names are resolved anew: NVIDIA/dcgm-exporter#577."""
    names = GpuNames()
    names.note(node((B,)))
    names.note(gpu(B, mig=(part("MIG-old", 1),)))
    names.note(gpu(B, mig=(part("MIG-young", 1),)))
    old, young = device_name("MIG-old"), device_name("MIG-young")
    assert old is not None
    assert young is not None
    assert names.place(old) is Unmapped.INSTANCE
    assert names.place(young) == Place(uuid=B, gpu_instance=1, compute_instance=0)
