"""Damage to files, at random and from a seed: what disks, terminals, editors and hasty people do to a recording."""

import random
from collections.abc import Callable, Sequence

_TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b":", b",", b"\n", b"\r", b"\t", b" ", b"=", b"-", b"/", b"|", b"\0"),
    *(b"null", b"true", b"NaN", b"Infinity", b"1e999", b"-1", b"9" * 40, b"9" * 400, b"9" * 5000, b"0x1", b"<none>"),
    *(b"'", b"&a *a", b"!!python/x", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"PK\x03\x04", b"%1", b"[0-99999]"),
    *("²".encode(), "٣".encode(), "\u2028".encode(), b"\xed\xa0\x80", b"\\ud800", b"[" * 3000, b'{"a":' * 3000),
    *(b"9999-99-99T99:99:99Z", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-23:59", b"I0231 25:61:61.1 1 a:1] "),
    *(b"365-23:59:59", b"UNLIMITED", b"(null)", b"gpu-[0-4294967295]", b"gres/gpu:x:99999999999"),
)
Change = Callable[[random.Random, bytes], bytes]


def _flipped(chance: random.Random, text: bytes) -> bytes:
    at = chance.randrange(len(text))
    return text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]


def _cut_out(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text))
    return text[:start] + text[start + chance.randrange(1, 200) :]


def _doubled(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text))
    end = start + chance.randrange(1, 400)
    return text[:end] + text[start:end] + text[end:]


def _inserted(chance: random.Random, text: bytes) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_TOKENS) + text[at:]


def _replaced(chance: random.Random, text: bytes) -> bytes:
    """A word or number is another: what parsers of values meet."""
    at = chance.randrange(len(text))
    end = at
    while end < len(text) and chr(text[end]).isalnum():
        end += 1
    return text[:at] + chance.choice(_TOKENS) + text[end:]


def _cut_off(chance: random.Random, text: bytes) -> bytes:
    return text[: chance.randrange(1, len(text) + 1)]


def _shuffled(chance: random.Random, text: bytes) -> bytes:
    parts = text.split(b"\n")
    one, other = chance.randrange(len(parts)), chance.randrange(len(parts))
    parts[one], parts[other] = parts[other], parts[one]
    return b"\n".join(parts)


def _encoded_otherwise(chance: random.Random, text: bytes) -> bytes:
    words = text.decode("utf-8", "replace")
    return words.encode(chance.choice(("utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32")), "replace")


def _as_on_windows(_: random.Random, text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


_CHANGES: tuple[Change, ...] = (
    *(_flipped, _cut_out, _doubled, _inserted, _replaced, _replaced, _replaced, _cut_off, _shuffled),
)
_RARE: tuple[Change, ...] = (_encoded_otherwise, _as_on_windows)
_RARELY = 12


def damaged(chance: random.Random, text: bytes, others: Sequence[bytes]) -> bytes:
    """With one to four changes; one of them may be that another file goes on in the middle of this one."""
    for _ in range(chance.randint(1, 4)):
        if not text:
            break
        if chance.randrange(_RARELY) == 0:
            other = chance.choice(others)
            text = text[: chance.randrange(len(text) + 1)] + other[chance.randrange(len(other)) :]
        else:
            text = chance.choice(_RARE if chance.randrange(_RARELY) == 0 else _CHANGES)(chance, text)
    return text
