"""What is wrong with a page, seen by one who knows the truth."""

import math
from collections import defaultdict
from collections.abc import Iterator

from exporters.catalog import catalogued, gpm, gpu, nvlink
from tests.exporters.faults.truth import Page, place
from tests.exporters.faults.world import UP, World

OLD_S = 45.0
"""Three intervals, and what a page and a step of the world add to them."""
OLD_INDEX_S = 300.0 + OLD_S
"""An index that changed with no other sign of it is seen at the next full look."""
OLD_HOLDER_S = 180.0 + OLD_S
"""How long the kubelet's last word stands."""
NEVER = frozenset(f"knotwatch_exporter_{name}_total" for name in ("broken", "rejected_samples", "duplicate_samples"))
"""What counts our own mistakes."""
BLANKS = frozenset({0xFFFFFFFF, 2.0**64, 2.0**63, 2.0**63 - 1024, float(0x7FFFFFFFFFFFFFF0), float(0x7FFFFFFF), -1.0})
OF_A_CARD = frozenset(
    family.name
    for family in catalogued((gpu, gpm, nvlink))
    if family.labels[:2] == ("uuid", "gpu") and family is not gpu.IDENTITY
)
"""What a card says of itself, and nobody else of it."""


def wrong(world: World) -> list[str]:
    """Everything that is wrong with the present page, as sentences."""
    page = world.page()
    return [
        *world.counters.fallen(page, world.time.now_s, OLD_S),
        *_values(world, page),
        *_standing(world, page),
        *_owners(world, page),
        *_errors(world, page),
        *_threads(world),
    ]


def _values(world: World, page: Page) -> Iterator[str]:
    now_s = world.time.now_s
    families = world.truth.families
    for (family, labels), value in page.items():
        if not math.isfinite(value):
            yield f"{family}: {value} is no number"
        if family.endswith("_ratio") and not 0 <= value <= 1:
            yield f"{family}: {value} is no share"
        if value in BLANKS:
            yield f"{family} {sorted(labels)}: {value} means that there is none"
        if family in NEVER and value:
            yield f"{family} {sorted(labels)}: {value}"
        named = dict(labels)
        index = named.pop("gpu", None)
        if family in families and not world.truth.was((family, frozenset(named.items())), value, now_s - OLD_S):
            yield f"{family} {named}: {value} was not so"
        if index is not None and family in OF_A_CARD:
            where = place("index", uuid=named["uuid"], gpu=index)
            if not world.indices.was(where, 1.0, now_s - OLD_INDEX_S):
                yield f"{family} {named}: it is not at index {index}"


def _standing(world: World, page: Page) -> Iterator[str]:
    reasons = defaultdict(list)
    for family, labels in page:
        if family == "knotwatch_gpu_down_reason":
            reasons[dict(labels)["uuid"]].append(dict(labels)["reason"])
    ups = {dict(labels)["uuid"]: value for (family, labels), value in page.items() if family == UP}
    for uuid, up in ups.items():
        if len(reasons[uuid]) != (0 if up else 1):
            yield f"{uuid}: up {up}, for {reasons[uuid]}"
    for family, labels in page:
        if family in OF_A_CARD and ups.get(dict(labels)["uuid"]) == 0:
            yield f"{family} {sorted(labels)}: a value of what is down"
    cards = {card.uuid for card in world.cards}
    yield from (f"{uuid}: no such card" for uuid in ups.keys() - cards)


def _owners(world: World, page: Page) -> Iterator[str]:
    now_s = world.time.now_s
    shares: dict[str, float] = defaultdict(float)
    used: dict[str, float] = {}
    for (family, labels), value in page.items():
        named = dict(labels)
        match family:
            case "knotwatch_gpu_allocation_info":
                where = place("holder", uuid=named["uuid"], pod=named["pod"])
                if not world.holders.was(where, 1.0, now_s - OLD_HOLDER_S):
                    yield f"{named['pod']} never had {named['uuid']} then"
            case "knotwatch_gpu_pod_memory_bytes":
                shares[named["uuid"]] += value
            case "knotwatch_gpu_memory_used_bytes":
                used[named["uuid"]] = value
            case "knotwatch_gpu_mig_info":
                where = place(
                    "part", uuid=named["uuid"], mig_uuid=named["mig_uuid"], gpu_instance=named["gpu_instance"]
                )
                if not world.parts.was(where, 1.0, now_s - OLD_S):
                    yield f"{named}: no such part"
            case _:
                pass
    for uuid, share in shares.items():
        if share > used.get(uuid, 0.0):
            yield f"{uuid}: pods have {share} of {used.get(uuid)}"


def _errors(world: World, page: Page) -> Iterator[str]:
    for (family, labels), value in page.items():
        if family == "knotwatch_gpu_xid_errors_total":
            place_ = dict(labels)["uuid"], int(dict(labels)["xid"])
            if value > world.xids.get(place_, 0):
                yield f"{place_}: {value} errors of {world.xids.get(place_, 0)}"


def _threads(world: World) -> Iterator[str]:
    subjects = len({hand.name for hand in world.time.hands})
    if world.time.threads > subjects:
        yield f"{world.time.threads} threads for {subjects} subjects"
