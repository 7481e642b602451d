"""Single values of a facts file: checked, with the place and the cure in the fault's text."""

from functools import lru_cache

from msgspec import Struct

from analyzer.codec.times import parse_time

Place = tuple[str | int, ...]
"""Where a value stands in its document: keys and list positions from the top."""

UNITS_MAX = 2**53
"""No count beyond this: the largest whole number that every JSON reader keeps exactly."""

_NAME_CHARS_MAX = 512
_SHOWN_CHARS_MAX = 40
_LISTED_MAX = 24


class Rejected(Struct, frozen=True):
    """Stands where a value could not be taken as it is (a key that stands twice, a tag that is not read)."""

    text: str


class Fault(Exception):  # noqa: N818  a fault in the input, not an error of ours
    """One sentence about one place; whoever reads the entry turns it into a complaint and drops that entry."""

    def __init__(self, place: Place, text: str) -> None:
        super().__init__(text)
        self.place = place
        self.text = text


def mapping(value: object, place: Place, known: tuple[str, ...] | None = None) -> dict[str, object]:
    """A mapping with text keys; with `known`, any other key is a fault that names the nearest known one."""
    if not isinstance(value, dict):
        raise Fault(place, f"{title(place)} must be a mapping of keys to values, not {shown(value)}.")
    if known is not None:
        for key in value:
            if key not in known:
                raise Fault((*place, key), f'the key "{key}" is not known here{nearest(key, known)}')
    return value


def sequence(value: object, place: Place) -> list[object]:
    """A list."""
    if not isinstance(value, list):
        raise Fault(place, f"{title(place)} must be a list, not {shown(value)}.")
    return value


def whole(value: object, place: Place, *, least: int = 0) -> int:
    """A whole number from `least` to UNITS_MAX. Text, fractions, true and NaN are faults, not guesses."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Fault(place, f"{title(place)} must be a whole number without quotes, not {shown(value)}.")
    if value < least:
        raise Fault(place, f"{title(place)} must be {least} or more, not {value}.")
    if value > UNITS_MAX:
        raise Fault(place, f"{title(place)} is larger than {UNITS_MAX}, the most that is counted.")
    return value


def name(value: object, place: Place) -> str:
    """A name of an actor, a resource or a node: text without line breaks."""
    if not isinstance(value, str):
        raise Fault(place, f"{title(place)} must be a name (put it in quotes), not {shown(value)}.")
    if not _can_be_a_name(value):
        raise Fault(place, f"{title(place)} must be a name of 1 to {_NAME_CHARS_MAX} printable characters.")
    return value


@lru_cache(maxsize=65536)
def _can_be_a_name(text: str) -> bool:
    """The same names come back in every entry of a history."""
    return bool(text.strip()) and len(text) <= _NAME_CHARS_MAX and text.isprintable()


def words(value: object, place: Place) -> str:
    """Free text for people; line breaks become blanks."""
    if not isinstance(value, str):
        raise Fault(place, f"{title(place)} must be text, not {shown(value)}.")
    return " ".join(value.split())


def flag(value: object, place: Place) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Fault(place, f"{title(place)} must be true or false, not {shown(value)}.")
    return value


def moment(value: object, place: Place) -> int:
    """A time, as nanoseconds since 1970 UTC."""
    at_ns = known_moment(value) if isinstance(value, str) else None
    if at_ns is None:
        raise Fault(place, f"{title(place)} must be a time such as 2026-01-14T09:00:00Z, not {shown(value)}.")
    return at_ns


known_moment = lru_cache(maxsize=4096)(parse_time)
"""A time, None if the text is none. Many entries of a history carry the same time."""


def title(place: Place) -> str:
    """The place's last key as the subject of a sentence."""
    if not place:
        return "the document"
    return f"entry {place[-1] + 1} of the list" if isinstance(place[-1], int) else f'"{place[-1]}"'


def shown(value: object) -> str:
    """What stands there, short."""
    match value:
        case Rejected():
            return value.text
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value}"
        case str():
            return f'the text "{value if len(value) <= _SHOWN_CHARS_MAX else value[:_SHOWN_CHARS_MAX] + "..."}"'
        case list():
            return "a list"
        case _:
            return "a mapping"


def nearest(key: str, known: tuple[str, ...], likeness: float = 0.6) -> str:
    """The end of a sentence: was a similar known key meant? Else the list of the known ones if it is short."""
    import difflib  # only once something is wrong

    close = difflib.get_close_matches(key, known, n=1, cutoff=likeness)
    if close:
        return f'; did you mean "{close[0]}"?'
    return f"; known are {', '.join(known)}." if known and len(known) <= _LISTED_MAX else "."
