"""Amounts as Slurm writes them. Memory is in bytes.

Trackable resources are `cpu=8,mem=4G,gres/gpu=2`, generic ones `gpu:a100:4(S:0-1)`, licences `solver:2,mesh`.
"""

import re

from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.hostlists import split_outside

_NONE = frozenset(("", "(null)", "null", "none", "n/a"))
_NUMBER = re.compile(r"(\d{1,18})(?:\.\d+)?([KMGTP]?)", re.IGNORECASE)
_GRES = re.compile(r"(?:gres[:/])?([A-Za-z_][\w.\-]*)(?:[:/=]([A-Za-z_][\w.\-]*))?(?:[:=]([0-9]{1,9}[KMGT]?))?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_MIB = 1 << 20
MEM = "mem"


def memory_bytes(text: str) -> int | None:
    """`1000M`, `4G`, `200000` (Slurm means MiB without a letter); None if it is no amount."""
    found = _NUMBER.match(text.strip())
    if found is None:
        return None
    power = _POWERS[found[2].upper()] if found[2] else 2
    return int(found[1]) << (10 * power)


def tres(text: str) -> dict[str, int]:
    """`cpu=1,mem=1000M,node=1,gres/gpu:a100=2`: counts by name."""
    amounts: dict[str, int] = {}
    for part in split_outside(text):
        name, equals, value = part.strip().rpartition("=")
        found = _NUMBER.match(value)
        if not equals or found is None:
            continue
        if name == MEM or name == "vmem":
            amounts[name] = memory_bytes(value) or 0
        else:
            thousand = 1000 ** _POWERS[found[2].upper()] if found[2] else 1
            amounts[name] = int(found[1]) * thousand
    return amounts


def gres(text: str) -> dict[str, int]:
    """Generic resources by kind, and by kind and type: `gpu:a100:4` counts as 4 of `gpu` and 4 of `gpu:a100`."""
    amounts: dict[str, int] = {}
    if text.strip().lower() in _NONE:
        return amounts
    for part in split_outside(text):
        bare = re.sub(r"\([^)]*\)", "", part).strip().replace(":no_consume", "")
        found = _GRES.fullmatch(bare)
        if found is None or bare.lower() in _NONE:
            continue
        kind, model, count = found.groups()
        if kind in ("cpu", "mem", "node", "billing", "license"):
            continue
        units = 1 if count is None else _plain(count)
        amounts[kind] = amounts.get(kind, 0) + units
        if model is not None:
            amounts[f"{kind}:{model}"] = amounts.get(f"{kind}:{model}", 0) + units
    return amounts


def gres_of(amounts: dict[str, int]) -> dict[str, int]:
    """The generic resources among these, without their prefix: `gres/gpu` is `gpu`."""
    return {name.removeprefix("gres/"): count for name, count in amounts.items() if name.startswith("gres/") and count}


def licences(text: str) -> tuple[dict[str, int], bool]:
    """What of each licence, and whether any one of them is enough (`a:1|b:1`)."""
    if text.strip().lower() in _NONE:
        return {}, False
    either = "|" in text
    amounts: dict[str, int] = {}
    for part in re.split(r"[|,;]", text):
        name, colon, count = part.strip().partition(":")
        if not colon:
            name, _, count = part.strip().partition("=")
        if name:
            amounts[name] = amounts.get(name, 0) + (int(count) if is_whole(count) and len(count) < 10 else 1)
    return amounts, either


def _plain(count: str) -> int:
    return int(count) if is_whole(count) else int(count[:-1]) << (10 * _POWERS[count[-1].upper()])
