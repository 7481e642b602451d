"""Values of Slurm's JSON, whose shapes changed from version to version.

Up to 22.05 a number is plain, and unset is null or 0. Later it is `{"set": true, "infinite": false, "number": 5}`. A
state was one word and became a list of words. Here both are read alike.
"""

from collections.abc import Mapping

from analyzer.sources.digits import is_whole
from analyzer.sources.slurm.times import UNLIMITED_S

INFINITE = UNLIMITED_S


def child(value: object, *keys: str) -> object:
    """What stands under these keys, one below the other; None where there is nothing."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def first(value: object, *keys: str) -> object:
    """What stands under the first of these keys that is there and not null."""
    return next((found for key in keys if (found := child(value, key)) is not None), None)


def whole(value: object) -> int | None:
    """A whole number, INFINITE, or None for what is unset or no number."""
    if isinstance(value, Mapping):
        if value.get("infinite") is True:
            return INFINITE
        if value.get("set") is False:
            return None
        value = value.get("number")
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if is_whole(value) else None
    if isinstance(value, float):
        return int(value) if abs(value) < 1e18 else None
    return value if isinstance(value, int) else None


def positive(value: object) -> int | None:
    """A number above zero; None else. Slurm writes 0 for many things that are not set."""
    number = whole(value)
    return number if number is not None and number > 0 else None


def text(value: object) -> str:
    """A text; of a list its words with commas between; nothing for what is not there."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join(each for each in value if isinstance(each, str))
    return ""


def words(value: object) -> tuple[str, ...]:
    """A list of texts; a single text is a list of one, and commas divide it."""
    return tuple(part.strip() for part in text(value).split(",") if part.strip())


def amounts(value: object) -> dict[str, int]:
    """`[{"type": "gres", "name": "gpu", "count": 8}]` as `{"gres/gpu": 8}`; memory is in MiB there, in bytes here."""
    found: dict[str, int] = {}
    for each in value if isinstance(value, list) else ():
        kind, name, count = text(child(each, "type")), text(child(each, "name")), whole(child(each, "count"))
        if kind and count is not None and count >= 0:
            label = f"{kind}/{name}" if name else kind
            found[label] = count << 20 if kind == "mem" else count
    return found
