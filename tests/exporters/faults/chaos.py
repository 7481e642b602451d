"""What can go wrong on a node: one table of deeds, each done at random and healed in the end."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import grpc

from exporters.nvml.library import UNSUPPORTED
from tests.exporters.fake_nvml.fake import ANY, NONE
from tests.exporters.faults.world import COMPUTE, HCAS, World

CODES = (1, 2, 3, 4, 6, 7, 9, 10, 13, 15, 16, 17, 18, 20, 21, 25, 26, 27, 28, 999, 4242)
PASSING = (2, 6, 7, 10, 17, 20, 21, 27, 999, 4242)
"""Codes that say nothing of the GPU as a whole, nor that a call will never be there."""
OF_THE_NODE = (
    "nvmlInitWithFlags",
    "nvmlShutdown",
    "nvmlDeviceGetCount_v2",
    "nvmlEventSetWait_v2",
    "nvmlEventSetCreate",
    "nvmlGpmSampleAlloc",
    "nvmlSystemGetDriverVersion",
)
OF_A_CARD = (
    "*",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetTotalEnergyConsumption",
    "nvmlDeviceGetUtilizationRates",
    COMPUTE,
    "nvmlDeviceGetRemappedRows",
    "nvmlGpmQueryDeviceSupport",
    "nvmlGpmSampleGet",
    "nvmlGpmMetricsGet",
    "nvmlDeviceRegisterEvents",
)
BLOCKING = (
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetFieldValues",
    "nvmlGpmSampleGet",
    "nvmlDeviceGetPerformanceState",
    "nvmlDeviceGetRemappedRows",
)
WITHOUT_VALUE = (
    "*",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetFieldValues",
    "nvmlGpmSampleGet",
    "nvmlGpmMetricsGet",
    "nvmlDeviceRegisterEvents",
)
"""Calls that are well when nothing is written for them; others would then be refused for good."""
ONES, MORE_ONES = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
RUBBISH: tuple[tuple[str, tuple[int, ...], object], ...] = (
    ("nvmlDeviceGetPowerUsage", (), ONES),
    ("nvmlDeviceGetTotalEnergyConsumption", (), MORE_ONES),
    ("nvmlDeviceGetTotalEnergyConsumption", (), 0x7FFFFFFFFFFFFFF0),
    ("nvmlDeviceGetPcieReplayCounter", (), ONES),
    ("nvmlDeviceGetClockInfo", (1,), ONES),
    ("nvmlDeviceGetRemappedRows", (), (ONES, ONES, ONES, ONES)),
    ("nvmlDeviceGetTotalEccErrors", (0, 0), MORE_ONES),
    ("nvmlDeviceGetUtilizationRates", (), b"\xff" * 8),
    ("nvmlDeviceGetEncoderUtilization", (), (ONES, 0)),
    ("nvmlDeviceGetName", (), b"\xff\xfe\x80rubbish"),
    ("nvmlDeviceGetSerial", (), b"\xc3\x28"),
    ("nvmlDeviceGetUUID", (), b"\xff\xfe"),
    ("nvmlDeviceGetGpuInstanceId", (), ONES),
)
"""What drivers write where they have no value."""
FIELDS = (74, 82, 91, 94, 138, 139, 161, 164, 165, 197, 198, 230)
SCOPES = (ANY, 0, 3, NONE)
TEXTS = ("", "N/A (no PMA)", "-1", "18446744073709551616", "nan", "1e9", "0x10", "\x00\x01\x02", "9" * 5000, "7 7")


def call_fails(world: World) -> None:
    world.fake.fail(ANY, world.chance.choice(OF_THE_NODE), world.chance.choice(CODES), times=world.chance.randint(1, 4))


def call_on_a_card_fails(world: World) -> None:
    card, code = world.chance.choice(world.cards), world.chance.choice(CODES)
    if str(code) in UNSUPPORTED:
        world.refused_for_good.add(card.uuid)
    world.fake.fail(card.slot, world.chance.choice(OF_A_CARD), code, times=world.chance.randint(1, 9))


def field_fails(world: World) -> None:
    scope = world.chance.choice(SCOPES)
    world.fake.field_fails(_slot(world), world.chance.choice(FIELDS[:-1]), world.chance.choice(PASSING), scope=scope)


def rubbish_is_answered(world: World) -> None:
    call, keys, value = world.chance.choice(RUBBISH)
    world.fake.set(_slot(world), call, value, keys, times=world.chance.randint(1, 5))


def rubbish_in_a_field(world: World) -> None:
    value, kind = world.chance.choice(
        ((float("nan"), 0), (float("inf"), 0), (-1.0, 0), (2**63 - 16, 3), (2**64 - 1, 3), (-1, 4), (ONES, 1))
    )
    world.fake.field(_slot(world), world.chance.choice((74, 82, 139, 197, 198)), value, scope=ANY, kind=kind)


def rubbish_of_samples(world: World) -> None:
    value = world.chance.choice((-1.0, float("nan"), float("inf"), 2.0**63, 1e300, 300.0))
    world.fake.gpm(_slot(world), world.chance.choice((1, 5, 10)), value)


def call_blocks(world: World) -> None:
    world.fake.block(_slot(world), world.chance.choice(BLOCKING))


def call_of_the_node_blocks(world: World) -> None:
    if world.chance.random() < 0.3:
        world.fake.block(ANY, world.chance.choice(("nvmlDeviceGetCount_v2", "nvmlEventSetWait_v2")))


def card_is_lost(world: World) -> None:
    world.fake.lose(_slot(world), world.chance.choice((15, 16, 28, 999)))


def card_is_reset(world: World) -> None:
    world.reset(world.chance.choice(world.cards))


def cards_are_shown(world: World) -> None:
    world.show(world.chance.sample(world.cards, world.chance.randint(0, len(world.cards))))


def card_is_divided(world: World) -> None:
    world.divide(world.chance.choice(world.cards))


def error_is_told(world: World) -> None:
    world.xid(world.chance.choice(world.cards), world.chance.choice((13, 31, 43, 79, 119)))


def process_starts(world: World) -> None:
    card = world.chance.choice(world.cards)
    if len(card.held) < 2:
        world.start_process(card)


def processes_end(world: World) -> None:
    world.end_processes(world.chance.choice(world.cards))


def file_is_spoiled(world: World) -> None:
    name = world.chance.choice(HCAS)
    folder = world.trees.sysfs / "class/infiniband" / name / "ports/1"
    if not world.is_plugged(name):
        return
    path = folder / world.chance.choice(
        ("state", "rate", "counters/symbol_error", "hw_counters/out_of_sequence", "counters/link_downed")
    )
    if path.is_file():
        path.unlink()
        if world.chance.random() < 0.7:
            path.write_bytes(world.chance.choice(TEXTS).encode() + b"\n")
        elif world.chance.random() < 0.5:
            path.mkdir()


def device_is_unplugged(world: World) -> None:
    name = world.chance.choice(HCAS)
    if world.is_plugged(name):
        world.trees.remove(f"class/infiniband/{name}/ports")


def device_is_plugged(world: World) -> None:
    name = world.chance.choice(HCAS)
    if not world.is_plugged(name):
        world.plug(name)


def kubelet_ends(world: World) -> None:
    world.kubelet.stop()


def kubelet_starts(world: World) -> None:
    world.kubelet.stop()
    world.kubelet.refuses = None
    world.kubelet.start()


def kubelet_refuses(world: World) -> None:
    world.kubelet.refuses = world.chance.choice((grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED))


def clock_jumps(world: World) -> None:
    world.time.wall_ahead_s += world.chance.uniform(-1e6, 1e6)


Deed = Callable[[World], None]

DEEDS: Mapping[str, Deed] = MappingProxyType(
    {
        deed.__name__: deed
        for deed in (
            call_fails,
            call_on_a_card_fails,
            field_fails,
            rubbish_is_answered,
            rubbish_in_a_field,
            rubbish_of_samples,
            call_blocks,
            call_of_the_node_blocks,
            card_is_lost,
            card_is_reset,
            cards_are_shown,
            card_is_divided,
            error_is_told,
            process_starts,
            processes_end,
            file_is_spoiled,
            device_is_unplugged,
            device_is_plugged,
            kubelet_ends,
            kubelet_starts,
            kubelet_refuses,
            clock_jumps,
        )
    }
)
"""All of it, by name, so that a failing run can say what was done."""


def heal(world: World) -> None:
    """Nothing is wrong any more: every call answers, every file is there, all cards are shown."""
    for call in OF_THE_NODE:
        world.fake.withdraw(ANY, call)
    for card in world.cards:
        for field in FIELDS:
            for scope in SCOPES:
                world.fake.withdraw(card.slot, "field", (field, scope))
        world.healthy(card)
        for call in WITHOUT_VALUE:
            world.fake.withdraw(card.slot, call)
    world.time.settle(none=True)
    world.show(world.cards)
    for name in HCAS:
        if world.is_plugged(name):
            world.trees.remove(f"class/infiniband/{name}/ports")
        world.plug(name)
    kubelet_starts(world)
    world.live()


def _slot(world: World) -> int:
    return world.chance.choice(world.cards).slot
