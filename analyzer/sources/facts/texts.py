"""Text of a facts file to plain values, with the line of every place found on demand.

Values are what JSON knows: mappings with text keys, lists, text, whole numbers, fractions, true, false, nothing.
A value that cannot be taken as it stands becomes `Rejected`, so that only the entry around it is lost.

JSON is read by msgspec where it is sure that no key stands twice, else by the standard library, which can show them;
YAML by libyaml's composer, never by a constructor, so no tag can make anything.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.sources.facts.fields import Place, Rejected

if TYPE_CHECKING:
    import yaml

YAML_BYTES_MAX = 64 << 20
"""YAML larger than this is refused (JSON lines have no bound): its parser needs about fifty times the size."""

_YAML_VALUES_MAX = 2_000_000
"""Values after aliases are written out. A "billion laughs" file stops here."""

_NESTING_MAX = 64
_DIGITS_MAX = 40

_JSON_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+')
_KEY_APART = re.compile(r'"\s+:')
_decode = msgspec.json.Decoder().decode
_WHOLE = re.compile(r"[+-]?\d[\d_]*")
_LARGE_CHARS = 4 << 20
_LARGE_DEPTH_MAX = 3


class Parsed(Struct, frozen=True):
    """One document: its value, and the line (from 1) of any place in it; of the nearest place above if unknown."""

    value: object
    locate: Callable[[Place], int]


class Unparseable(Exception):  # noqa: N818  a state of the input, not an error of ours
    """The text breaks the rules of its format in this line; nothing after it can be trusted."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line
        self.text = text


def parse_json(text: str, first_line: int = 1) -> Parsed:
    """The one value of a JSON text, and its places."""
    value = json_value(text, first_line)
    found: dict[Place, int] = {}

    def locate(place: Place) -> int:
        if not found:
            found[()] = first_line
            found.update(_json_places(text, first_line))
        return _nearest_line(found, place)

    return Parsed(value, locate)


def json_value(text: str, first_line: int = 1) -> object:
    """The one value of a JSON text. A number that JSON does not know (NaN) stays a float and fails later."""
    try:
        value = _decode(text)
        # Every key that stands in the text has its own quote and colon, so as many as there are keys: none twice.
        if text.count('":') == _keys_in(value) and _KEY_APART.search(text) is None:
            return value
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass  # the slower way has the better words
    try:
        checked: object = json.loads(text, object_pairs_hook=_mapping_of)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip())
        reason = "breaks off here: is the file complete?" if cut else f"is not valid JSON: {_lowered(error.msg)}."
        raise Unparseable(first_line + error.lineno - 1, reason) from None
    except RecursionError:
        raise Unparseable(first_line, "is nested too deeply.") from None
    except ValueError:
        raise Unparseable(first_line, "holds a number with too many digits.") from None
    return checked


def _keys_in(value: object) -> int:
    """How many keys there are in it, at any depth."""
    count = 0
    inner: Iterable[object] = ()
    if isinstance(value, dict):
        count, inner = len(value), value.values()
    elif isinstance(value, list):
        inner = value
    for item in inner:
        if item.__class__ is dict or item.__class__ is list:
            count += _keys_in(item)
    return count


def parse_yaml(text: str) -> Iterator[Parsed]:
    """Each document of a YAML stream that is not empty, in order; raises Unparseable where it breaks."""
    import yaml  # only where there is YAML

    if len(text) > YAML_BYTES_MAX:
        raise Unparseable(1, f"is YAML of more than {YAML_BYTES_MAX >> 20} MiB: hand it over as JSON or JSON lines.")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for node in yaml.compose_all(text, Loader=loader):
            if node is not None and not (isinstance(node, yaml.ScalarNode) and not node.value):
                yield Parsed(_Composed(yaml).value(node, 0), _YamlPlaces(yaml, node).line)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise Unparseable(mark.line + 1 if mark else 1, f"is not valid YAML: {problem}.") from None
    except yaml.YAMLError as error:
        raise Unparseable(_line_in(error, text), "holds a character that YAML does not allow.") from None
    except RecursionError:
        raise Unparseable(1, "is nested too deeply.") from None


def _mapping_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                made[key] = Rejected("a key that stands twice (keep one of them)")
            seen.add(key)
    return made


def _json_places(text: str, first_line: int) -> Iterator[tuple[Place, int]]:
    """Every place of a valid JSON text with its line; a key's own line counts for its value."""
    depth_max = _LARGE_DEPTH_MAX if len(text) > _LARGE_CHARS else _NESTING_MAX
    line = first_line
    place: list[str | int] = []
    keyed: list[bool] = []  # for each open bracket: a mapping, not a list
    expects_key = False
    for match in _JSON_MARK.finditer(text):
        mark = match[0]
        if mark == "\n":
            line += 1
        elif mark in "{[":
            if keyed and not keyed[-1] and len(place) <= depth_max:
                yield tuple(place), line
            keyed.append(mark == "{")
            place.append("" if mark == "{" else 0)
            expects_key = mark == "{"
        elif mark in "}]":
            keyed.pop()
            place.pop()
            expects_key = False
        elif mark == ",":
            expects_key = keyed[-1]
            last = place[-1]
            if isinstance(last, int):
                place[-1] = last + 1
        elif mark == ":":
            expects_key = False
        elif expects_key:
            place[-1] = json.loads(mark)
            if len(place) <= depth_max:
                yield tuple(place), line
        elif keyed and not keyed[-1] and len(place) <= depth_max:
            yield tuple(place), line


def _nearest_line(found: dict[Place, int], place: Place) -> int:
    while place not in found and place:
        place = place[:-1]
    return found[place]


class _Composed:
    """Turns composed YAML nodes into plain values, counting them."""

    def __init__(self, yaml: Any) -> None:
        self._yaml = yaml
        self._left = _YAML_VALUES_MAX

    def value(self, node: "yaml.Node", depth: int) -> object:
        self._left -= 1
        if self._left < 0:
            raise Unparseable(node.start_mark.line + 1, "grows beyond all bounds where its aliases are written out.")
        if depth > _NESTING_MAX:
            return Rejected(f"something nested more than {_NESTING_MAX} levels deep")
        if isinstance(node, self._yaml.MappingNode):
            return _mapping_of([(self._key(key), self.value(item, depth + 1)) for key, item in node.value])
        if isinstance(node, self._yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        return self._scalar(node)

    def _key(self, node: "yaml.Node") -> str:
        return node.value if isinstance(node, self._yaml.ScalarNode) else "(a key that is not text)"

    def _scalar(self, node: "yaml.Node") -> object:
        text: str = node.value
        match node.tag.removeprefix("tag:yaml.org,2002:"):
            case "str" | "timestamp":
                return text
            case "int":
                # Not 0x, 0o or 1:30 (sixty-based): whoever wrote a time or an address did not mean a count.
                return int(text.replace("_", "")) if _WHOLE.fullmatch(text) and len(text) < _DIGITS_MAX else text
            case "bool":
                return text.lower() in ("yes", "true", "on")
            case "null":
                return None
            case "float":
                return _fraction(text)
            case tag:
                return Rejected(f"a value with the tag {tag}, which is not read")


class _YamlPlaces:
    """Finds lines in a composed tree, with an index for each mapping that was asked about."""

    def __init__(self, yaml: Any, root: "yaml.Node") -> None:
        self._yaml = yaml
        self._root = root
        self._indices: dict[int, dict[str, tuple[int, yaml.Node]]] = {}

    def line(self, place: Place) -> int:
        node, line = self._root, self._root.start_mark.line
        for step in place:
            if isinstance(node, self._yaml.MappingNode):
                index = self._indices.get(id(node))
                if index is None:
                    index = {key.value: (key.start_mark.line, item) for key, item in node.value if _is_text(key)}
                    self._indices[id(node)] = index
                if str(step) not in index:
                    break
                line, node = index[str(step)]
            elif isinstance(node, self._yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line
            else:
                break
        return line + 1


def _is_text(key: "yaml.Node") -> bool:
    return isinstance(key.value, str)


def _fraction(text: str) -> object:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return text


def _line_in(error: Exception, text: str) -> int:
    position = getattr(error, "position", None)
    return text.count("\n", 0, position) + 1 if isinstance(position, int) else 1


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
