"""One line of a scenario: a moment, a kind, a name, options.

    10m  pod team-red/a-1  gpu=8 on=node-1 label:app=a terminating

The moment (default: the start) is when the object was made or the thing was said. `key=value` and `key:sub=value` are
options, a bare word is a flag. Quotes as in a shell. A name with `[0-3]` stands for four objects.
"""

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

START = datetime(2026, 3, 2, 10, 0, 0, tzinfo=UTC)
_MOMENT = re.compile(r"(\d+)([smh])")
_RANGE = re.compile(r"\[(\d+)-(\d+)\]")
_UNIT_S = {"s": 1, "m": 60, "h": 3600}


class Line(Struct, frozen=True):
    """A parsed line. `words` are flags and quoted texts, `options` have each key once, `maps` are `key:sub=value`."""

    at_s: int
    kind: str
    name: str
    words: tuple[str, ...]
    options: dict[str, str]
    maps: dict[str, dict[str, str]]

    @property
    def namespace(self) -> str:
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        return self.name.rpartition("/")[2]

    def map(self, key: str) -> dict[str, str]:
        return self.maps.get(key, {})

    def number(self, key: str, default: int = 0) -> int:
        return int(self.options.get(key, default))

    def several(self, key: str) -> list[str]:
        return [part for part in self.options.get(key, "").split(",") if part]

    def moment_s(self, key: str, default: int) -> int:
        return seconds(self.options[key]) if key in self.options else default


def seconds(moment: str) -> int:
    """`90s`, `15m`, `2h` after the start."""
    match = _MOMENT.fullmatch(moment)
    if match is None:
        raise ValueError(f"not a moment: {moment!r}")
    return int(match[1]) * _UNIT_S[match[2]]


def stamp(at_s: float) -> str:
    """RFC 3339 in whole seconds, as the API prints it."""
    return (START + timedelta(seconds=at_s)).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(at_s: float) -> str:
    """RFC 3339 with microseconds, as `eventTime` has it."""
    return (START + timedelta(seconds=at_s)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def klog_stamp(at_s: float) -> str:
    """The month, day and time of klog: neither year nor zone."""
    return (START + timedelta(seconds=at_s)).strftime("%m%d %H:%M:%S.%f")


def parse(text: str) -> Iterator[Line]:
    """All lines but comments and empty ones, ranges spelt out."""
    for raw in text.splitlines():
        tokens = shlex.split(raw, comments=True)
        if not tokens:
            continue
        at_s = seconds(tokens.pop(0)) if _MOMENT.fullmatch(tokens[0]) else 0
        kind, name, *rest = tokens
        words: list[str] = []
        options: dict[str, str] = {}
        maps: dict[str, dict[str, str]] = {}
        for token in rest:
            key, equals, value = token.partition("=")
            if not equals or " " in key:
                words.append(token)
            elif ":" in key:
                head, _, sub = key.partition(":")
                maps.setdefault(head, {})[sub] = value
            else:
                options[key] = value
        for single in _spelt_out(name):
            yield Line(at_s, kind, single, tuple(words), options, maps)


def _spelt_out(name: str) -> list[str]:
    match = _RANGE.search(name)
    if match is None:
        return [name]
    return [name[: match.start()] + str(n) + name[match.end() :] for n in range(int(match[1]), int(match[2]) + 1)]
