"""Dashboards and alerts written for DCGM's exporter find what they ask for: names, units, types and labels."""

from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from exporters.working.page import Form, Print
from tests.exporters.allocation.rig import given_to
from tests.exporters.dcgm.conftest import Compatible
from tests.exporters.fake_nvml import hopper
from tests.exporters.gpu.test_mig import GIB, divide

pytestmark = pytest.mark.needs("c-compiler")

Make = Callable[..., Compatible]
MIB = 2**20

TABLE = {
    "DEV_SM_CLOCK": 1980,
    "DEV_MEM_CLOCK": 3201,
    "DEV_GPU_TEMP": 61,
    "DEV_MEMORY_TEMP": 70,
    "DEV_POWER_USAGE": 627.4,
    "DEV_TOTAL_ENERGY_CONSUMPTION": 123_456_789,
    "DEV_GPU_UTIL": 57,
    "DEV_MEM_COPY_UTIL": 7,
    "DEV_ENC_UTIL": 0,
    "DEV_DEC_UTIL": 12,
    "DEV_FB_USED": hopper.USED_BYTES // MIB,
    "DEV_FB_FREE": (hopper.TOTAL_BYTES - hopper.USED_BYTES - hopper.RESERVED_BYTES) // MIB,
    "DEV_FB_RESERVED": hopper.RESERVED_BYTES // MIB,
    "DEV_XID_ERRORS": 0,
    "DEV_PCIE_REPLAY_COUNTER": 3,
    "DEV_UNCORRECTABLE_REMAPPED_ROWS": 2,
    "DEV_CORRECTABLE_REMAPPED_ROWS": 5,
    "DEV_ROW_REMAP_FAILURE": 1,
    "PROF_GR_ENGINE_ACTIVE": 0.97,
    "PROF_SM_ACTIVE": 0.85,
    "PROF_SM_OCCUPANCY": 0.43,
    "PROF_PIPE_TENSOR_ACTIVE": 0.55,
    "PROF_DRAM_ACTIVE": 0.38,
    "PROF_PIPE_FP64_ACTIVE": 0.01,
    "PROF_PIPE_FP32_ACTIVE": 0.12,
    "PROF_PIPE_FP16_ACTIVE": 0.04,
    "PROF_PCIE_TX_BYTES": 100 * MIB,
    "PROF_PCIE_RX_BYTES": 200 * MIB,
    "PROF_NVLINK_RX_BYTES": 300 * MIB,
    "PROF_NVLINK_TX_BYTES": 400 * MIB,
    "DEV_NVLINK_BANDWIDTH_TOTAL": (7000 + 3000) / 10 / 1000,
}
"""Each name of the table, and what it has to say of the card below."""

UNTYPED = {
    "DEV_TOTAL_ENERGY_CONSUMPTION",
    "DEV_PCIE_REPLAY_COUNTER",
    "DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DEV_CORRECTABLE_REMAPPED_ROWS",
}


@pytest.fixture
def card(make: Make) -> Compatible:
    """One card, all of whose values differ from each other; looked at twice, with links moving in between."""
    node = make(1)
    fake = node.fake
    fake.set(0, "nvmlDeviceGetUtilizationRates", bytes([57, 0, 0, 0, 7, 0, 0, 0]))
    fake.set(0, "nvmlDeviceGetRemappedRows", (5, 2, 0, 1))
    fake.gpm(0, 11, 1.0)
    for metric, mebibytes in ((20, 100.0), (21, 200.0), (60, 300.0), (61, 400.0)):
        fake.gpm(0, metric, mebibytes)
    node.run(15)
    for field, kibibytes in ((138, 7000), (139, 3000)):
        before = sum(1000 + link for link in range(hopper.LINKS))
        fake.field(0, field, before + kibibytes, scope=0xFFFFFFFF)
    node.run(10)
    return node


def test_every_name_has_the_value_that_it_has_in_dcgm(card: Compatible) -> None:
    assert {name: card.value(name) for name in TABLE} == pytest.approx(TABLE)
    assert card.present() == TABLE.keys()


def test_types_are_those_of_dcgm_or_none_where_a_counter_could_not_be_printed(card: Compatible) -> None:
    for form in (Form.TEXT, Form.OPENMETRICS):
        page = card.rig.office.page.copy(Print(form), card.rig.time.moment())
        assert page is not None
        kinds = dict(line.split()[2:4] for line in page.decode().splitlines() if line.startswith("# TYPE DCGM_"))
        unknown = "untyped" if form is Form.TEXT else "unknown"
        assert kinds == {f"DCGM_FI_{name}": unknown if name in UNTYPED else "gauge" for name in TABLE}
        if form is Form.TEXT:
            assert len(list(text_string_to_metric_families(page.decode()))) > len(TABLE)


def test_labels_are_those_that_boards_and_alerts_ask_for_in_both_spellings(card: Compatible) -> None:
    labels, _ = card.series("DEV_GPU_TEMP")["0", ""]
    assert labels == {
        "gpu": "0",
        "UUID": hopper.uuid(0),
        "pci_bus_id": "00000000:1B:00.0",
        "device": "nvidia0",
        "modelName": "NVIDIA H200",
        "Hostname": "node-a",
        "hostname": "node-a",
        "DCGM_FI_DRIVER_VERSION": "570.133.20",
        **dict.fromkeys(("GPU_I_ID", "GPU_I_PROFILE", "pod", "namespace", "container"), ""),
    }


def test_the_board_of_many_clusters_finds_all_its_panels(make: Make) -> None:
    """Grafana 12239: filtered by gpu, legend `GPU {{gpu}}`."""
    node = make(8)
    node.run()
    for name in ("GPU_TEMP", "POWER_USAGE", "SM_CLOCK", "GPU_UTIL", "FB_USED"):
        assert sorted(node.series(f"DEV_{name}")) == [(str(gpu), "") for gpu in range(8)]
    assert len(node.series("PROF_PIPE_TENSOR_ACTIVE")) == 8


def test_without_being_asked_for_there_is_none_of_it(make: Make) -> None:
    node = make(1)
    node.rig.office.followers.remove(node.names)
    node.run()
    assert node.present() == set()


@pytest.mark.parametrize(
    ("names", "older", "newer"), [("old", True, False), ("new", False, True), ("both", True, True)]
)
def test_newer_names_where_the_unit_stayed(make: Make, names: str, *, older: bool, newer: bool) -> None:
    node = make(1, names)
    node.run()
    assert (node.value("PROF_SM_ACTIVE"), node.value("PROF_SM_UTIL_RATIO")) == (
        0.85 if older else None,
        0.85 if newer else None,
    )
    assert (node.value("DEV_POWER_USAGE") is not None, node.value("DEV_BOARD_POWER_WATTS") is not None) == (
        older,
        newer,
    )
    assert (node.value("DEV_XID_ERRORS") is not None, node.value("DEV_XID_ERROR") is not None) == (older, newer)
    assert node.value("DEV_GPU_UTIL") == 100, "a percentage has no newer name that is one"


class TestWhatIsAbsent:
    def test_what_is_not_supported_is_absent(self, make: Make) -> None:
        node = make(1)
        node.fake.fail(0, "nvmlDeviceGetUtilizationRates", 3)
        node.fake.field_fails(0, 82, 3)
        node.run()
        assert node.value("DEV_GPU_UTIL") is None
        assert node.value("DEV_MEMORY_TEMP") is None
        assert node.value("DEV_GPU_TEMP") == 61

    def test_reserved_is_absent_where_the_driver_cannot_tell_it_from_used(self, make: Make) -> None:
        node = make(1)
        node.fake.fail(0, "nvmlDeviceGetMemoryInfo_v2", 13)
        node.run()
        assert node.value("DEV_FB_RESERVED") is None
        assert node.value("DEV_FB_USED") == (hopper.USED_BYTES + hopper.RESERVED_BYTES) // MIB

    def test_the_link_rate_is_absent_at_first_and_after_a_reset(self, make: Make) -> None:
        """NVIDIA/dcgm-exporter: a counter in name that is a rate; never from one look, never below zero."""
        node = make(1)
        node.run(2)
        assert node.value("DEV_NVLINK_BANDWIDTH_TOTAL") is None
        node.run(10)
        assert node.value("DEV_NVLINK_BANDWIDTH_TOTAL") == 0
        node.fake.field(0, 138, 5, scope=0xFFFFFFFF)
        node.run(10)
        assert node.value("DEV_NVLINK_BANDWIDTH_TOTAL") is None
        node.run(10)
        assert node.value("DEV_NVLINK_BANDWIDTH_TOTAL") == 0

    def test_a_lost_gpu_has_its_last_xid_and_nothing_else(self, make: Make) -> None:
        node = make(2)
        node.run()
        node.fake.event(1, 8, 79)
        node.fake.lose(1)
        node.run(30)
        assert node.value("DEV_GPU_TEMP", 1) is None
        labels, code = node.series("DEV_XID_ERRORS")["1", ""]
        assert (code, labels["err_code"], labels["err_msg"]) == (79, "79", "GPU has fallen off the bus")
        assert node.value("DEV_GPU_TEMP", 0) == 61
        assert node.value("DEV_XID_ERRORS", 0) == 0

    def test_what_is_not_read_any_more_is_withdrawn(self, make: Make) -> None:
        node = make(1)
        node.run()
        seen = len(list(node.names.samples(node.rig.time.moment())))
        later = node.rig.time.moment(node.rig.time.now_s + 100)
        assert seen > 25
        assert [each.family.name for each in node.names.samples(later)] == ["DCGM_FI_DEV_XID_ERRORS"]


class TestWhose:
    def test_the_only_holder_of_a_whole_gpu_is_named(self, make: Make) -> None:
        node = make(2)
        node.run()
        node.held(given_to("trainer", hopper.uuid(0)))
        node.run(10)
        labels, _ = node.series("DEV_GPU_UTIL")["0", ""]
        assert (labels["pod"], labels["container"]) == ("trainer", "main")
        assert labels["namespace"]
        assert node.series("DEV_GPU_UTIL")["1", ""][0]["pod"] == ""

    def test_of_those_who_share_one_none_is_named_and_values_are_there_once(self, make: Make) -> None:
        """NVIDIA/dcgm-exporter#151, #201, #587: values of a shared GPU given to one pod, or to each."""
        node = make(1)
        node.run()
        node.held(given_to("one", f"{hopper.uuid(0)}::0"), given_to("two", f"{hopper.uuid(0)}::1"))
        node.run(10)
        assert [labels["pod"] for labels, _ in node.series("DEV_FB_USED").values()] == [""]
        node.held(given_to("one", f"{hopper.uuid(0)}::0"))
        node.run(10)
        assert [labels["pod"] for labels, _ in node.series("DEV_FB_USED").values()] == [""]


class TestDivided:
    @pytest.fixture
    def divided(self, make: Make) -> Compatible:
        node = make(1)
        divide(node.fake, 0, ("MIG-a", 1, 0), ("MIG-b", 2, 0))
        node.run(30)
        return node

    def test_memory_and_activity_are_those_of_instances_and_counted_once(self, divided: Compatible) -> None:
        assert {key: value for key, (_, value) in divided.series("DEV_FB_USED").items()} == {
            ("0", "1"): GIB // MIB,
            ("0", "2"): 2 * GIB // MIB,
        }
        active = {key: value for key, (_, value) in divided.series("PROF_SM_ACTIVE").items()}
        assert active == pytest.approx({("0", "1"): 0.1, ("0", "2"): 0.2})
        labels, _ = divided.series("DEV_FB_USED")["0", "2"]
        assert (labels["GPU_I_ID"], labels["GPU_I_PROFILE"]) == ("2", "2g.18gb")

    def test_what_only_the_board_has_stays_with_the_board(self, divided: Compatible) -> None:
        assert list(divided.series("DEV_POWER_USAGE")) == [("0", "")]
        assert list(divided.series("DEV_GPU_TEMP")) == [("0", "")]
        assert divided.series("DEV_GPU_UTIL") == {}

    def test_an_instance_has_its_own_pod(self, divided: Compatible) -> None:
        """NVIDIA/dcgm-exporter#577, #272, #544: the pod of another slice."""
        divided.held(given_to("small", "MIG-a", resource="nvidia.com/mig-1g.18gb"))
        divided.run(10)
        pods = {key: labels["pod"] for key, (labels, _) in divided.series("PROF_SM_ACTIVE").items()}
        assert pods == {("0", "1"): "small", ("0", "2"): ""}
        assert divided.series("DEV_POWER_USAGE")["0", ""][0]["pod"] == ""
