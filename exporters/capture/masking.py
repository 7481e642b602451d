"""What is disguised before a capture leaves the node, each thing in the same way wherever it stands.

A word becomes another of the same shape (digits stay digits, hexadecimal stays hexadecimal), made from it with a key
that is thrown away: two captures of one node cannot be matched, a short serial number cannot be found by trying all of
them, and what belonged together still does. What no pattern knows stays: so a capture is text, to be read before it is
sent.
"""

import re
from collections.abc import Callable
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

from exporters.capture.form import Answer, Exchange, Tree
from exporters.capture.recording import GIVES_HANDLE

MASKED = ("hardware addresses", "GUIDs", "IP addresses", "UIDs", "container ids", "host names", "serial numbers",
          "command names", "kernel addresses")  # fmt: skip
UUIDS = "UUIDs of GPUs"

_HEX = "0123456789abcdef"
_EDGE, _END = r"(?<![0-9A-Za-z.:])", r"(?![0-9A-Za-z:])"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
GPU_UUID = re.compile(r"(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
PATTERNS: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"[0-9a-f]{8}(?P<between>[-_])[0-9a-f]{4}(?P=between)[0-9a-f]{4}(?P=between)[0-9a-f]{4}(?P=between)[0-9a-f]{12}",
        re.IGNORECASE,
    ),  # UUIDs, also as systemd writes them, whatever stands before them: `pod6c5f...` does
    re.compile(
        r"(?:(?<![0-9a-f])|(?<=pod))(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-f])", re.IGNORECASE
    ),  # ids of containers, and of pods that the kubelet made up
    re.compile(rf"{_EDGE}[0-9a-f]{{4}}(?::[0-9a-f]{{4}}){{7}}{_END}", re.IGNORECASE),  # GIDs
    re.compile(rf"{_EDGE}[0-9a-f]{{4}}(?::[0-9a-f]{{4}}){{3}}{_END}", re.IGNORECASE),  # GUIDs
    re.compile(rf"{_EDGE}[0-9a-f]{{2}}(?::[0-9a-f]{{2}}){{5,19}}{_END}", re.IGNORECASE),  # hardware addresses
    re.compile(r"(?<=\benx)[0-9a-f]{12}\b"),  # the same, in the name of an interface
    re.compile(rf"(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?![\w.])"),
)
_KERNEL_ADDRESS = re.compile(r"0x[0-9a-f]{9,16}\b", re.IGNORECASE)
_SOMEBODY = re.compile(r"[^\s()@]+@[^\s()@]+")
_COMMAND = re.compile(r"\((?P<command>.*)\)", re.DOTALL)
_OURS = re.compile(r"kthreadd|nvidia.*")
"""Commands whose names tell of no user, and that say what a process is."""
_STATUS_LINES = ("Name", "State", "Uid", "Threads", "PPid", "NSpid", "voluntary_ctxt_switches",
                 "nonvoluntary_ctxt_switches")  # fmt: skip
SECRET_LENGTH_MIN = 3
SERIAL = "nvmlDeviceGetSerial"


class Mask:
    """Disguises with one key. `keep_uuids`: names of GPUs and MIG devices stay as they are."""

    def __init__(self, key: bytes, *, keep_uuids: bool = False) -> None:
        self._key = key[:64]
        self._keep_uuids = keep_uuids
        self._secrets: dict[str, str] = {}
        self._known: re.Pattern[str] | None = None

    def secret(self, word: str, disguise: str = "") -> None:
        """A word that is disguised wherever it stands by itself."""
        if len(word) >= SECRET_LENGTH_MIN and any(letter not in "0.-: " for letter in word):
            self._secrets.setdefault(word, disguise or self.disguised(word))
            longest_first = sorted(self._secrets, key=lambda each: (-len(each), each))
            self._known = re.compile(rf"(?<![0-9A-Za-z])(?:{'|'.join(map(re.escape, longest_first))})(?![0-9A-Za-z])")

    def host(self, name: str) -> None:
        """The node's name, with and without its domain."""
        short = name.partition(".")[0]
        disguise = f"node-{self._digest(short.lower()).hex()[:6]}"
        self.secret(name, disguise if name == short else f"{disguise}.invalid")
        self.secret(short, disguise)

    def text(self, text: str) -> str:
        """The text without what is to be disguised. O(its length)."""
        if self._known is not None:
            text = self._known.sub(lambda found: self._secrets[found[0]], text)
        kept = {found.span() for found in GPU_UUID.finditer(text)} if self._keep_uuids else set()
        for pattern in PATTERNS[:1]:
            text = pattern.sub(
                lambda found: found[0] if _within(found.span(), kept) else self.disguised(found[0]), text
            )
        for pattern in PATTERNS[1:]:
            text = pattern.sub(lambda found: self.disguised(found[0]), text)
        return _KERNEL_ADDRESS.sub("0x0", text)

    def disguised(self, word: str) -> str:
        """A word of the same shape. Case and signs between letters do not matter; what is all zeros says nothing."""
        core = "".join(letter for letter in word.lower() if letter.isalnum())
        if not core.strip("0"):
            return word
        digest = self._digest(core)
        hexadecimal = all(letter in _HEX for letter in core) and not core.isdecimal()
        capital = word != word.lower()
        found, place = [], 0
        for letter in word:
            if letter.isalnum():
                found.append(_like(letter, digest[place % len(digest)], hexadecimal=hexadecimal, capital=capital))
                place += 1
            else:
                found.append(letter)
        return "".join(found)

    def command(self, name: str) -> str:
        """A program's name; those of the kernel and the driver stay."""
        return name if _OURS.fullmatch(name) else f"name-{self._digest(name).hex()[:6]}"

    def _digest(self, word: str) -> bytes:
        return blake2b(word.encode("utf-8", "replace"), key=self._key).digest()


def _within(span: tuple[int, int], kept: set[tuple[int, int]]) -> bool:
    return any(first <= span[0] and span[1] <= last for first, last in kept)


def _like(letter: str, byte: int, *, hexadecimal: bool, capital: bool) -> str:
    """Another letter of that kind. `capital`: the word has capital letters, so digits become such, too."""
    if hexadecimal:
        other = _HEX[byte % 16]
        return other.upper() if letter.isupper() or (capital and letter.isdecimal()) else other
    if letter.isdecimal():
        return str(byte % 10)
    return chr(ord("A" if letter.isupper() else "a") + byte % 26)


def _stat(mask: Mask, text: str) -> str:
    return _COMMAND.sub(lambda found: f"({mask.command(found['command'])})", text, count=1)


def _status(mask: Mask, text: str) -> str:
    lines = []
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in _STATUS_LINES:
            lines.append(f"Name:\t{mask.command(value.strip())}" if name == "Name" else line)
    return "\n".join(lines)


def _route(mask: Mask, text: str) -> str:
    """Addresses by column: destination and gateway of version 4; destination, source and next hop of version 6."""
    lines = []
    for line in text.splitlines():
        cells = re.split(r"(\s+)", line.strip())
        for place, cell in enumerate(cells):
            if len(cell) in {8, 32} and all(letter in _HEX for letter in cell.lower()) and place < 10:
                cells[place] = mask.disguised(cell)
        lines.append("".join(cells))
    return "\n".join(lines)


_BY_NAME: MappingProxyType[str, Callable[[Mask, str], str]] = MappingProxyType(
    {
        "stat": _stat,
        "status": _status,
        "route": _route,
        "ipv6_route": _route,
        "version": lambda _mask, text: _SOMEBODY.sub("somebody@somewhere", text),
    }
)
"""Files of procfs that need more than patterns, by their names."""


def masked_tree(mask: Mask, tree: Tree, *, of_processes: bool = False) -> Tree:
    """The tree with paths, texts and links disguised. `of_processes`: it is procfs."""

    def text(path: str, found: str) -> str:
        change = _BY_NAME.get(path.rpartition("/")[2]) if of_processes and "/" in path else None
        return mask.text(change(mask, found) if change else found)

    return Tree(
        files={mask.text(path): text(path, found) for path, found in sorted(tree.files.items())},
        refused={mask.text(path): code for path, code in sorted(tree.refused.items())},
        links={mask.text(path): mask.text(target) for path, target in sorted(tree.links.items())},
        folders=tuple(mask.text(path) for path in tree.folders),
    )


def masked_exchanges(mask: Mask, exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """The answers of the driver library, disguised; serial numbers are taken as secrets first."""
    for each in exchanges:
        if each.call == SERIAL:
            for answer in each.answers:
                if isinstance(answer.value, str):
                    mask.secret(answer.value)
    return tuple(
        Exchange(
            call=each.call,
            device=each.device,
            keys=tuple(mask.text(key) if isinstance(key, str) else key for key in each.keys),
            answers=each.answers if each.call in GIVES_HANDLE else tuple(_answer(mask, one) for one in each.answers),
        )
        for each in exchanges
    )


def _answer(mask: Mask, answer: Answer) -> Answer:
    return Answer(value=_value(mask, answer.value), code=answer.code, blocks=answer.blocks, times=answer.times)


def _value(mask: Mask, value: Any) -> Any:
    match value:
        case str():
            return mask.text(value)
        case list() | tuple():
            return tuple(_value(mask, each) for each in value)
        case _:
            return value
