"""One facts document to statements: which form it has, what its top level says, and what of it was not understood."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from functools import partial

from analyzer.model.ids import ActorId, ResourceId
from analyzer.sources.facts.fields import Fault, Place, known_moment, mapping, moment, nearest, sequence, shown
from analyzer.sources.facts.statements import Entries, Statement
from analyzer.sources.facts.texts import Parsed, Unparseable, json_value, parse_json, parse_yaml
from analyzer.sources.recording import Complaint, Document

SCHEMA = "knotwatch.facts/v1"

_TOP_KEYS = ("schema", "as_of", "resources", "actors", "history")
_HEAD_BYTES = 1 << 16
_TAIL_BYTES = 1 << 12
_YAML_SCHEMA = re.compile(rb"""^(?:\{\s*)?["']?schema["']?\s*:\s*["']?knotwatch\.facts/""", re.MULTILINE)
_JSON_SCHEMA = re.compile(rb'"schema"\s*:\s*"knotwatch\.facts/')
_YAML_OWN_KEY = re.compile(rb"""^["']?actors["']?\s*:""", re.MULTILINE)
_YAML_SHARED_KEY = re.compile(rb"""^["']?(?:as_of|resources|history)["']?\s*:""", re.MULTILINE)
_JSON_OWN_KEY = re.compile(rb'\{\s*"(?:actors|as_of)"\s*:')
_CHANGE_KEYS = ("actor", "resource", "actors", "resources")


def looks_like_facts(content: bytes | memoryview) -> bool:
    """Whether the text declares our schema at its top level, or is a history whose first line is an entry.

    The schema need not come first (sorted keys put it last). A text that begins with one of our own keys and names no
    schema is ours as well, so that the sentence about it says what is missing.
    """
    head = bytes(content[:_HEAD_BYTES]).lstrip()
    if not head.startswith(b"{"):
        if _YAML_SCHEMA.search(head) or _YAML_OWN_KEY.search(head):
            return True
        return _YAML_SHARED_KEY.search(head) is not None and _YAML_SCHEMA.search(content) is not None
    if b'"apiVersion"' in head[:_TAIL_BYTES]:
        return False
    ends = (head, bytes(content[-_TAIL_BYTES:]))
    if _JSON_OWN_KEY.match(head) or _YAML_SCHEMA.match(head) or any(_JSON_SCHEMA.search(end) for end in ends):
        return True
    first = _first_object(head.split(b"\n", 1)[0].decode("utf-8", "replace"))
    return first is not None and "at" in first and any(key in first for key in _CHANGE_KEYS)


class Reading:
    """The statements of one document, what was wrong in it, and the lines of its entries."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.statements: list[Statement] = []
        self.complaints: list[Complaint] = []
        self.as_of_ns: int | None = None
        self.last_entry_ns = 0  # the latest `at`
        self.latest_ns = 0  # the latest past moment that any entry mentions
        self.has_history = False
        self.skipped = 0
        self._parts: list[tuple[int, Callable[[Place], int]]] = []  # first record of each part, and its line finder
        self._lines = array("L")  # of JSON lines: the line of each record
        self._entries = Entries(document.index, self._complain)
        self._locate: Callable[[Place], int] = lambda _place: 1
        self._read()

    def line_of(self, record: int) -> int | None:
        """The line in which the record begins, None if there is no such record."""
        if not 0 <= record < len(self._entries.places):
            return None
        if self._lines:
            return self._lines[record]
        part = bisect_right(self._parts, record, key=lambda one: one[0]) - 1
        return self._parts[part][1](self._entries.places[record])

    @property
    def unsure_actors(self) -> Collection[ActorId]:
        """Actors of whom an entry has no place in time."""
        return self._entries.unsure_actors

    @property
    def unsure_resources(self) -> Collection[ResourceId]:
        """Resources of which an entry was not understood."""
        return self._entries.unsure_resources

    def doubt(self, statement: Statement, text: str) -> None:
        """Count one statement as not wholly understood after all, with the reason."""
        self._lose(self.line_of(statement.citation[1]) or 0, text)

    def _read(self) -> None:
        try:
            text = str(self.document.content, "utf-8")
        except UnicodeDecodeError as error:
            line = bytes(self.document.content[: error.start]).count(b"\n") + 1
            self._lose(line, "is not UTF-8: save the file as UTF-8.")
            return
        try:
            if not text.lstrip().startswith("{"):
                self._read_parts(parse_yaml(text))
            elif _is_lines(text):
                self._read_lines(text)
            elif re.match(r'\s*\{\s*["}]', text):
                self._read_parts(iter((parse_json(text),)))
            else:
                self._read_parts(parse_yaml(text))  # a flow mapping without quotes is YAML
        except Unparseable as error:
            self._lose(error.line, error.text)

    def _read_parts(self, parts: Iterator[Parsed]) -> None:
        for parsed in parts:
            self._locate = parsed.locate
            self._parts.append((len(self._entries.places), parsed.locate))
            self._read_statement(parsed.value, headless=False)

    def _read_lines(self, text: str) -> None:
        self.has_history = True
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                value = json_value(line, number)
            except Unparseable as error:
                self._lose(error.line, f"this line {error.text}")
                continue
            self._locate = partial(_same_line, number)
            self._read_statement(value, headless=True)
            self._lines.extend([number] * (len(self._entries.places) - len(self._lines)))

    def _read_statement(self, value: object, *, headless: bool) -> None:
        """One document or one line: an entry of a history if it has a time or a subject of its own, else a state."""
        try:
            stated = mapping(value, ())
            schema = stated.get("schema")
            if schema not in (SCHEMA, None):
                raise Fault(("schema",), f'this reads "schema: {SCHEMA}", not {shown(schema)}: it is left out.')
            if "at" in stated or (headless and _SUBJECTS & stated.keys()):
                self.has_history = True
                self._note_header(stated)
                self._keep(self._entries.change(stated, ()))
            elif schema is None and not headless:
                raise Fault((), f'"schema: {SCHEMA}" is missing: the document is left out until it says so.')
            else:
                self._read_state(stated)
        except Fault as fault:
            self._complain(fault)

    def _read_state(self, stated: dict[str, object]) -> None:
        """A document's top level. A fault in one key leaves the others."""
        for key in stated:
            if key not in _TOP_KEYS:
                self._complain(Fault((key,), f'the key "{key}" is not known here{nearest(key, _TOP_KEYS)}'))
        self._note_header(stated)
        self._keep(self._entries.section(stated, (), None, 0))
        if stated.get("history") is not None:
            self.has_history = True
            for at, change in enumerate(sequence(stated["history"], ("history",))):
                self._keep(self._entries.change(change, ("history", at)))
                self._note_time(change)

    def _note_header(self, stated: dict[str, object]) -> None:
        self._note_time(stated)
        if "as_of" in stated:
            try:
                self.as_of_ns = max(moment(stated["as_of"], ("as_of",)), self.as_of_ns or 0)
            except Fault as fault:
                self._complain(fault)

    def _note_time(self, stated: object) -> None:
        """The time of an entry, even of one that changes nothing or is not understood: the recording went on."""
        stated_at = stated.get("at") if isinstance(stated, dict) else None
        at_ns = known_moment(stated_at) if isinstance(stated_at, str) else None
        if at_ns is not None and at_ns > self.last_entry_ns:
            self.last_entry_ns = at_ns

    def _keep(self, statements: Iterator[Statement]) -> None:
        for statement in statements:
            self.statements.append(statement)
            self.latest_ns = max(self.latest_ns, statement.latest_ns)

    def _complain(self, fault: Fault) -> None:
        self._lose(self._locate(fault.place), fault.text)

    def _lose(self, line: int, text: str) -> None:
        self.skipped += 1
        self.complaints.append(Complaint(line, text))


_SUBJECTS = frozenset(("actor", "resource"))


def _same_line(number: int, _place: Place) -> int:
    return number


def _is_lines(text: str) -> bool:
    """One object on each line: the first line is a whole object, and more follows or it is itself an entry."""
    first, _, rest = text.lstrip().partition("\n")
    value = _first_object(first)
    return value is not None and (bool(rest.strip()) or "at" in value)


def _first_object(line: str) -> dict[str, object] | None:
    try:
        value = json_value(line)
    except Unparseable:
        return None
    return value if isinstance(value, dict) else None
