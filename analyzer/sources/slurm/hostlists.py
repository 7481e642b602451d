"""Slurm's short form for many names: `gpu-[0-3,7],login1`."""

import re

from analyzer.sources.digits import is_whole

NAMES_MAX = 200_000
"""Names that one list may stand for; a longer one is damaged input, and read as nothing."""

_NONE = frozenset(("", "(null)", "null", "none", "none assigned", "n/a", "unknown"))
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")


def expand(text: str) -> tuple[str, ...]:
    """All names, in the order in which they are written; () for the many ways to say none."""
    if text.strip().lower() in _NONE:
        return ()
    names: list[str] = []
    for part in split_outside(text.strip()):
        expanded = _expand_one(part.strip())
        if len(names) + len(expanded) > NAMES_MAX:
            return ()
        names += expanded
    return tuple(dict.fromkeys(name for name in names if name))


def split_outside(text: str, marks: str = "[]()") -> list[str]:
    """The parts between commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    opening, closing = marks[::2], marks[1::2]
    for at, letter in enumerate(text):
        if letter in opening:
            depth += 1
        elif letter in closing:
            depth -= 1
        elif letter == "," and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def numbers(text: str) -> tuple[int, ...]:
    """`10-15%2` and `1,4-6` as numbers; a step (`0-30:10`) is honoured; () if it is no such list."""
    found: list[int] = []
    for part in text.partition("%")[0].strip("[]").split(","):
        span, _, step = part.strip().partition(":")
        bounds = _RANGE.fullmatch(span)
        if bounds is not None and (not step or is_whole(step)):
            first, last = int(bounds[1]), int(bounds[2])
            if last - first > NAMES_MAX or len(found) > NAMES_MAX:
                return ()
            found += range(first, last + 1, int(step or 1) or 1)
        elif is_whole(span) and len(span) < 10:
            found.append(int(span))
        else:
            return ()
    return tuple(found)


def _expand_one(part: str) -> list[str]:
    bracket = _BRACKETS.search(part)
    if bracket is None:
        return [part]
    before, after = part[: bracket.start()], part[bracket.end() :]
    tails = _expand_one(after)
    middles = [name for piece in bracket[1].split(",") for name in _numbered(piece.strip())]
    if len(middles) * len(tails) > NAMES_MAX:
        return []
    return [before + middle + tail for middle in middles for tail in tails]


def _numbered(piece: str) -> list[str]:
    bounds = _RANGE.fullmatch(piece)
    if bounds is None:
        return [piece]
    first, last, width = int(bounds[1]), int(bounds[2]), len(bounds[1])
    return [] if last - first > NAMES_MAX else [str(number).zfill(width) for number in range(first, last + 1)]
