"""One fault that stays: what the page says of it, how soon, and that nothing else is touched by it."""

from collections.abc import Callable

import pytest
from msgspec import Struct

from exporters.subject import Reason
from tests.exporters.fake_nvml.fake import ANY
from tests.exporters.faults.chaos import PASSING, heal
from tests.exporters.faults.verdict import OF_A_CARD, wrong
from tests.exporters.faults.world import World

pytestmark = pytest.mark.needs("c-compiler")

MakeWorld = Callable[..., World]
LOST_WITHIN_S = 15.0
"""One interval, and a page."""
HUNG_WITHIN_S = 20.0
"""One interval, the deadline, and a page."""
FAILED_WITHIN_S = 35.0
"""Three intervals, and a page."""
BACK_WITHIN_S = 20.0


class Fault(Struct, frozen=True, kw_only=True):
    """What befalls the GPU in the second slot, why it is down then, and by when that is said."""

    befalls: Callable[[World], None]
    reason: Reason
    within_s: float
    back_within_s: float = BACK_WITHIN_S


def whole_card(code: int) -> Callable[[World], None]:
    return lambda world: world.fake.lose(1, code)


def blocked(call: str) -> Callable[[World], None]:
    return lambda world: world.fake.block(1, call)


FAULTS = {
    "lost": Fault(befalls=whole_card(15), reason=Reason.LOST, within_s=LOST_WITHIN_S),
    "reset required": Fault(befalls=whole_card(16), reason=Reason.RESET_REQUIRED, within_s=LOST_WITHIN_S),
    "not found": Fault(befalls=whole_card(28), reason=Reason.NOT_FOUND, within_s=LOST_WITHIN_S),
    "one call says lost": Fault(
        befalls=lambda world: world.fake.fail(1, "nvmlDeviceGetPerformanceState", 15),
        reason=Reason.LOST,
        within_s=LOST_WITHIN_S,
    ),
    "every call fails": Fault(befalls=whole_card(999), reason=Reason.ERRORS, within_s=FAILED_WITHIN_S),
    "no longer shown": Fault(
        befalls=lambda world: world.show([world.cards[0], world.cards[2]]),
        reason=Reason.NOT_FOUND,
        within_s=LOST_WITHIN_S,
    ),
    "a call blocks": Fault(
        befalls=blocked("nvmlDeviceGetUtilizationRates"), reason=Reason.TIMEOUT, within_s=HUNG_WITHIN_S
    ),
    "field values block": Fault(
        befalls=blocked("nvmlDeviceGetFieldValues"), reason=Reason.TIMEOUT, within_s=HUNG_WITHIN_S
    ),
    "a sample blocks": Fault(befalls=blocked("nvmlGpmSampleGet"), reason=Reason.TIMEOUT, within_s=HUNG_WITHIN_S),
    "a fatal error": Fault(
        befalls=lambda world: world.xid(world.cards[1], 79),
        reason=Reason.FATAL_XID,
        within_s=LOST_WITHIN_S,
        back_within_s=90.0,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_one_is_down_for_its_reason_in_time_and_the_others_are_served(make_world: MakeWorld, name: str) -> None:
    """NVIDIA/dcgm-exporter lost the whole page; gpu-monitoring-tools#46, nvidia_gpu_exporter#405, gpud#117."""
    fault, world = FAULTS[name], make_world()
    world.run(33)  # amidst an interval, so that nothing is read by chance just now
    threads = world.time.threads
    fault.befalls(world)
    world.time.run(world.office, fault.within_s)
    hurt = world.cards[1].uuid
    assert world.reasons() == {hurt: fault.reason}
    assert world.ups() == {card.uuid: float(card.uuid != hurt) for card in world.cards}
    served = {
        (family, dict(labels)["uuid"])
        for family, labels in world.page()
        if family in OF_A_CARD and dict(labels)["uuid"] != hurt
    }
    assert {uuid for _, uuid in served} == {world.cards[0].uuid, world.cards[2].uuid}
    world.run(60)
    assert wrong(world) == []
    assert world.time.threads <= threads, "no thread more"
    heal(world)
    world.time.run(world.office, fault.back_within_s)
    assert world.reasons() == {}
    world.run(30)
    assert wrong(world) == []


@pytest.mark.parametrize("code", PASSING)
def test_one_failure_of_one_call_costs_one_value_once(make_world: MakeWorld, code: int) -> None:
    world = make_world()
    world.run(33)
    world.fake.fail(1, "nvmlDeviceGetPowerUsage", code, times=1)
    world.time.run(world.office, 10)
    powers = {dict(labels)["uuid"] for family, labels in world.page() if family == "knotwatch_gpu_power_watts"}
    assert powers == {world.cards[0].uuid, world.cards[2].uuid}
    assert set(world.ups().values()) == {1}
    world.run(10)
    powers = {dict(labels)["uuid"] for family, labels in world.page() if family == "knotwatch_gpu_power_watts"}
    assert len(powers) == 3
    assert wrong(world) == []


@pytest.mark.parametrize(("code", "reason"), [(9, Reason.DRIVER), (18, Reason.DRIVER), (999, Reason.ERRORS)])
def test_a_driver_that_is_gone_is_told_of_every_card_and_of_nothing_else(
    make_world: MakeWorld, code: int, reason: Reason
) -> None:
    """A driver that is unloaded, or updated under the exporter: cards keep their names, RDMA and pods are served."""
    world = make_world()
    world.run(33)
    names = {labels for family, labels in world.page() if family == "knotwatch_gpu_info"}
    world.fake.fail(ANY, "nvmlDeviceGetCount_v2", code)
    world.fake.fail(ANY, "nvmlInitWithFlags", code)
    world.time.run(world.office, LOST_WITHIN_S)
    assert world.reasons() == dict.fromkeys((card.uuid for card in world.cards), reason)
    page = world.page()
    assert {labels for family, labels in page if family == "knotwatch_gpu_info"} == names
    assert not any(family in OF_A_CARD for family, _ in page)
    assert any(family == "knotwatch_rdma_port_transmit_bytes_total" for family, _ in page)
    heal(world)
    world.run(80)  # the patience with a driver that does not start grows to a minute
    assert world.reasons() == {}
    assert wrong(world) == []


def test_a_list_of_cards_that_hangs_leaves_their_values(make_world: MakeWorld) -> None:
    world = make_world()
    world.run(33)
    world.fake.block(ANY, "nvmlDeviceGetCount_v2")
    world.run(60)
    assert set(world.ups().values()) == {1}
    assert wrong(world) == []
    page = world.page()
    assert [
        dict(labels)["reason"]
        for family, labels in page
        if family == "knotwatch_exporter_subject_down_reason" and dict(labels)["kind"] == "nvml"
    ] == ["timeout"]


def test_clocks_that_jump_change_no_age(make_world: MakeWorld) -> None:
    world = make_world()
    world.run(33)
    before = world.page().keys()
    for jump_s in (-1e8, 2e8, -5e7):
        world.time.wall_ahead_s += jump_s
        world.time.run(world.office, 10)
        assert before <= world.page().keys()
        assert set(world.ups().values()) == {1}
        assert wrong(world) == []


@pytest.mark.parametrize("rubbish", [b"\xff\xfe", b"GPU-\x80", b"GPU 1", b""])
def test_a_uuid_that_is_rubbish_is_no_other_gpu(make_world: MakeWorld, rubbish: bytes) -> None:
    """Getters of pynvml decode what the driver wrote, whatever it is; here it would be a GPU that nobody has."""
    world = make_world()
    world.run(33)
    world.fake.set(1, "nvmlDeviceGetUUID", rubbish)
    world.show([world.cards[0], world.cards[1]])  # so that all are asked for their names
    world.run(20)
    assert world.ups().keys() == {card.uuid for card in world.cards}
    assert wrong(world) == []
