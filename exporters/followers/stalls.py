"""GPUs that look busy and do nothing: the ingredients, how long all have been there, and what excuses them.

The idea, its assumptions and what it does not find are in exporters/followers/README.md.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from exporters.catalog import gpm, gpu
from exporters.catalog import idleness as catalog
from exporters.catalog.family import Sample
from exporters.collectors.gpu_holders import Holders, Names, holders_of
from exporters.collectors.link_rates import LinkLook, LinkRates
from exporters.config import Settings, Stall
from exporters.nvml.reading import GpuReading
from exporters.subject import Key, Moment, Reading

GAP_INTERVALS = 3
INGREDIENTS = ("kernel_resident", "sm_low", "tensor_low", "memory_low", "links_quiet", "power_low")
COMPUTE = "compute"
"""Of processes on a GPU; displays and servers stay while jobs come and go."""

Pids = frozenset[int]


class Look(Struct, frozen=True, kw_only=True):
    """One look at a GPU. `ingredients`: whether each is there, None if not known.

    `works`: whether anything shows that work is done. `rests`: whether no kernel is resident most of the time; None:
    not known. `talked`: whether its links were busy within the hour. `listed`: processes that compute on it, empty
    if none is listed, None if the list could not be read.
    """

    ingredients: Mapping[str, bool | None]
    works: bool
    rests: bool | None
    talked: bool | None
    listed: Pids | None
    holders: Names | None
    share: float | None

    @property
    def signature(self) -> bool | None:
        """Whether all ingredients are there; None if none is known to be missing, and one is not known."""
        values = self.ingredients.values()
        return False if False in values else None if None in values else True


class Spell:
    """The machine of one GPU. Times are monotonic seconds."""

    def __init__(self, gap_s: float) -> None:
        self.index = 0
        self.look: Look | None = None
        self.looked_s = 0.0
        self._gap_s = gap_s
        self._since_s: float | None = None
        self._last_s = 0.0
        self._rests_since_s: float | None = None
        self._owners: Pids = frozenset()
        self._holders: Names = frozenset()

    def note(self, look: Look, at_s: float) -> None:
        """One look more. O(1)."""
        gap = self.look is None or at_s - self.looked_s > self._gap_s
        match look.signature:
            case True:
                if self._since_s is None or at_s - self._last_s > self._gap_s:
                    self._since_s = at_s
                self._last_s = at_s
            case False:
                self._since_s = None
            case None:
                pass
        if not look.rests:
            self._rests_since_s = None
        elif self._rests_since_s is None or gap:
            self._rests_since_s = at_s
        self.look, self.looked_s = look, at_s

    def lose(self) -> None:
        """The GPU does not answer: nothing is known of it now."""
        self.look = self._since_s = self._rests_since_s = None

    def shows(self, at_s: float) -> bool:
        """Whether the signature showed at the last look, and that was not long ago: the hour stands still."""
        return self._since_s is not None and at_s - self._last_s <= self._gap_s

    def fresh(self, now_s: float) -> Look | None:
        """The last look, unless it is too old."""
        return self.look if now_s - self.looked_s <= self._gap_s else None

    def signature_s(self, now_s: float) -> float | None:
        """From the first to the last look of the spell; None while it is not known."""
        look = self.fresh(now_s)
        if look is None or look.signature is None:
            return None
        return self._last_s - self._since_s if self._since_s is not None else 0.0

    def rests_s(self) -> float:
        """For how long it has rested."""
        return self.looked_s - self._rests_since_s if self._rests_since_s is not None else 0.0

    def another_job(self, listed: Pids | None, holders: Names | None, *, empty: bool) -> bool:
        """Whether none of those whom the hour of the links belongs to is left. Remembers who is there now.

        `empty`: no kernel is resident.
        """
        if listed:
            changed = bool(self._owners) and self._owners.isdisjoint(listed)
            self._owners = listed
        elif self._owners:
            # They were listed before, so an empty list is believed; whoever comes next is compared with them.
            return False
        elif holders:
            changed = bool(self._holders) and self._holders.isdisjoint(holders)
        else:
            changed = empty
        self._holders = holders or self._holders
        return changed


class Stalls:
    """All GPUs. `gap_s`: what is longer between two looks is not covered by the second."""

    def __init__(self, holders: Holders, links: LinkRates, wanted: Stall, *, gap_s: float) -> None:
        self._holders = holders
        self._links = links
        self._wanted = wanted
        self._gap_s = gap_s
        self._spells: dict[str, Spell] = {}

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        self._holders.note(key, reading, at)
        self._links.note(key, reading, at.mono_s)
        if isinstance(reading.value, GpuReading):
            self._look(reading.value, at)
        elif key.kind == "gpu" and not reading.up and key.name in self._spells:
            self._spells[key.name].lose()

    def _look(self, value: GpuReading, at: Moment) -> None:
        spell = self._spells.setdefault(value.uuid, Spell(self._gap_s))
        listed = (
            None if value.processes is None else frozenset(each.pid for each in value.processes if each.kind == COMPUTE)
        )
        holders = self._holders.of(value.uuid, at)
        empty = value.number(gpu.KERNEL_RESIDENT) == 0.0
        if spell.another_job(listed, holders, empty=empty):
            self._links.begin_anew(value.uuid, at.mono_s)
        links = self._links.look(value.uuid, at.mono_s, still=spell.shows(at.mono_s))
        spell.index = value.index
        spell.note(look_of(value, links, self._wanted, listed=listed, holders=holders), at.mono_s)

    def forget(self, key: Key) -> None:
        self._holders.forget(key)
        self._links.forget(key)
        if key.kind == "gpu":
            self._spells.pop(key.name, None)

    def samples(self, now: Moment) -> Iterable[Sample]:
        for uuid, spell in sorted(self._spells.items()):
            labels = (uuid, str(spell.index))
            look = spell.fresh(now.mono_s)
            if look is None:
                continue
            yield Sample(catalog.STALL_SUPPORTED, labels, float(None not in look.ingredients.values()))
            for name in INGREDIENTS:
                if (there := look.ingredients[name]) is not None:
                    yield Sample(catalog.INGREDIENT, (*labels, name), float(there))
            if look.share is not None:
                yield Sample(catalog.LINK_SHARE, labels, look.share)
            signature_s = spell.signature_s(now.mono_s)
            if signature_s is not None:
                counts = signature_s >= self._wanted.hold_s and not self._excused(uuid, look, now.mono_s)
                yield Sample(catalog.STALL_SIGNATURE, labels, signature_s)
                yield Sample(catalog.STALLED, labels, signature_s if counts else 0.0)

    def _excused(self, uuid: str, look: Look, now_s: float) -> bool:
        """Whether a GPU of the same job works, or may do what others rightly wait for. O(GPUs)."""
        for name, spell in sorted(self._spells.items()):
            peer = spell.fresh(now_s)
            if name == uuid or peer is None or not same_job(look, peer):
                continue
            # A list that is empty is believed where that of the waiting GPU is not.
            dead = peer.listed == frozenset() and bool(look.listed)
            if peer.works or (peer.rests and not dead and spell.rests_s() < self._wanted.rest_s):
                return True
        return False


def same_job(look: Look, peer: Look) -> bool:
    """Whether two GPUs may belong to one job: by who holds them, else whether the other has talked lately. Pure."""
    if look.holders is not None and peer.holders is not None and (look.holders or peer.holders):
        return not look.holders.isdisjoint(peer.holders)
    return bool(peer.talked)


def look_of(value: GpuReading, links: LinkLook, wanted: Stall, *, listed: Pids | None, holders: Names | None) -> Look:
    """What a reading shows. Pure."""
    resident, sm = value.number(gpu.KERNEL_RESIDENT), value.number(gpm.SM_ACTIVE)
    tensor, dram = value.number(gpm.TENSOR_ACTIVE), value.number(gpm.DRAM_ACTIVE)
    power, limit = value.number(gpu.POWER), value.number(gpu.POWER_LIMIT)
    talks = links.share is not None and links.share >= wanted.link_ratio
    lows = {
        "sm_low": below(sm, wanted.sm_ratio),
        "tensor_low": below(tensor, wanted.tensor_ratio),
        "memory_low": below(dram, wanted.memory_ratio),
    }
    return Look(
        ingredients={
            "kernel_resident": None if resident is None else resident >= wanted.resident_ratio,
            **lows,
            "links_quiet": _quiet(links, wanted),
            "power_low": None if not limit else below(power, wanted.power_ratio * limit),
        },
        works=talks or False in lows.values(),
        rests=None if resident is None else resident < wanted.resident_ratio,
        talked=links.talked,
        listed=listed,
        holders=holders,
        share=links.share,
    )


def below(value: float | None, bound: float) -> bool | None:
    """Whether it is; None if the value is not known."""
    return None if value is None else value < bound


def _quiet(links: LinkLook, wanted: Stall) -> bool | None:
    """Whether links that were busy are not any more. Of one who was never seen to talk it is not so."""
    if links.share is not None and links.share >= wanted.link_ratio:
        return False
    if links.unsure or not links.known:
        return None
    return links.talked


def stalls(settings: Settings) -> Stalls:
    """The follower, as the settings want it."""
    interval_s = settings.collect.interval_s
    return Stalls(
        holders_of(settings),
        LinkRates(interval_s, settings.stall.link_floor_bytes),
        settings.stall,
        gap_s=GAP_INTERVALS * interval_s,
    )
