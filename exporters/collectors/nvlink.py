"""A GPU's NVLinks: bytes as counters, state, speed, errors. Sums over links, and per link where asked for.

Whether a card counts its bytes under the scope of all links together, and by which fields, is found out at the first
look and kept: two counts that mean nearly the same are never published in turn. A sum over links is published only
while each of its links could be read, since a sum that lacks one would look like a reset.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from exporters.catalog import nvlink
from exporters.catalog.family import Family
from exporters.nvml.asking import Asking
from exporters.nvml.plausible import number
from exporters.nvml.reading import Point

ALL_LINKS = 0xFFFFFFFF
LINKS_MAX = 72
COUNT, SPEED, STATE = 91, 164, 165
_KIBIBYTE = 1024
_MEGABYTE = 1_000_000

BYTES: tuple[tuple[Family, Family, tuple[tuple[int, int], ...]], ...] = (
    (nvlink.TRANSMIT, nvlink.LINK_TRANSMIT, ((138, _KIBIBYTE), (202, 1))),
    (nvlink.RECEIVE, nvlink.LINK_RECEIVE, ((139, _KIBIBYTE), (204, 1))),
)
"""Its sum, its family per link, and the fields that count it with their unit in bytes: the first that the card has."""

ERRORS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "crc": (163,),
        "replay": (161,),
        "recovery": (162, 215),
        "recovery_failed": (214,),
        "symbol": (221,),
        "effective": (219,),
        "receive": (208,),
        "buffer_overrun": (207,),
        "transmit_discard": (212,),
        "integrity": (211,),
    }
)
"""By kind, the fields that count it per link: the first that the card has on any link."""


class Choice(Struct, frozen=True):
    """Which field counts something, its unit, and which scopes it is summed over."""

    field: int
    unit: int
    scopes: tuple[int, ...]


class Links:
    """The links of one GPU. `each`: also publish them one by one."""

    def __init__(self, *, each: bool) -> None:
        self._each = each
        self._choices: dict[str, Choice] = {}
        self._start = -1

    def points(self, asking: Asking) -> Iterator[Point]:
        """All that can be said of the links now. Raises Gone."""
        if asking.library.start != self._start:
            self._choices, self._start = {}, asking.library.start
        count = number(asking.fields([(COUNT, 0)]).get((COUNT, 0)), 0, LINKS_MAX)
        if count is None:
            return
        yield Point(nvlink.LINKS, count)
        links = tuple(range(int(count)))
        if links:
            yield from self._states(asking, links)
            for total, per_link, fields in BYTES:
                yield from self._bytes(asking, links, total, per_link, fields)
            yield from self._errors(asking, links)

    def _states(self, asking: Asking, links: tuple[int, ...]) -> Iterator[Point]:
        found = asking.fields((field, link) for field in (STATE, SPEED) for link in links)
        states = {link: number(found.get((STATE, link)), 0, 16) for link in links}
        known = {link: state for link, state in states.items() if state is not None}
        if known:
            yield Point(nvlink.LINKS_UP, float(sum(state == 1 for state in known.values())))
        if self._each:
            yield from (Point(nvlink.LINK_UP, float(state == 1), (str(link),)) for link, state in known.items())
        speed = _sum(number(found.get((SPEED, link)), 0, 1e8) for link in links if states[link] == 1)
        if speed is not None:
            yield Point(nvlink.SPEED, speed * _MEGABYTE)

    def _bytes(
        self,
        asking: Asking,
        links: tuple[int, ...],
        total: Family,
        per_link: Family,
        fields: tuple[tuple[int, int], ...],
    ) -> Iterator[Point]:
        options = [(field, unit, scopes) for field, unit in fields for scopes in ((ALL_LINKS,), links)]
        choice = self._choice(asking, total.name, options)
        if choice is None:
            return
        scopes = dict.fromkeys((*choice.scopes, *(links if self._each else ())))
        found = asking.fields((choice.field, scope) for scope in scopes)
        whole = _sum(number(found.get((choice.field, scope))) for scope in choice.scopes)
        if whole is not None:
            yield Point(total, whole * choice.unit)
        for link in links if self._each else ():
            part = number(found.get((choice.field, link)))
            if part is not None:
                yield Point(per_link, part * choice.unit, (str(link),))

    def _errors(self, asking: Asking, links: tuple[int, ...]) -> Iterator[Point]:
        chosen: dict[str, Choice] = {}
        for kind, fields in ERRORS.items():
            choice = self._choice(asking, kind, [(field, 1, links) for field in fields])
            if choice is not None:
                chosen[kind] = choice
        found = asking.fields((choice.field, link) for choice in chosen.values() for link in choice.scopes)
        for kind, choice in chosen.items():
            parts = {link: number(found.get((choice.field, link))) for link in choice.scopes}
            whole = _sum(parts.values())
            if whole is not None:
                yield Point(nvlink.ERRORS, whole, (kind,))
            for link, part in parts.items() if self._each else ():
                if part is not None:
                    yield Point(nvlink.LINK_ERRORS, part, (str(link), kind))

    def _choice(self, asking: Asking, name: str, options: Iterable[tuple[int, int, tuple[int, ...]]]) -> Choice | None:
        """The first option of which the card has something. Undecided, and so None, while a call fails that may not."""
        if name in self._choices:
            return self._choices[name]
        for field, unit, scopes in options:
            found = asking.fields((field, scope) for scope in scopes)
            has = tuple(scope for scope in scopes if (field, scope) in found)
            if any(scope not in has and asking.supports("field", field, scope) for scope in scopes):
                return None
            if has:
                self._choices[name] = Choice(field, unit, has)
                return self._choices[name]
        return None


def _sum(parts: Iterable[float | None]) -> float | None:
    """The sum, if there is something to sum and nothing of it is missing."""
    known = list(parts)
    return sum(part for part in known if part is not None) if known and None not in known else None
