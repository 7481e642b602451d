"""Facts as a hypothesis: actors that would come, resources that would be there.

The same entries as in a facts file, but `since` may be left out (the wait begins with the hypothesis), and a resource
or a node counts as declared if the real input has it. Any fault refuses the file.
"""

from collections.abc import Iterable, Set

from analyzer.model.events import ActorObserved, Event, ResourceObserved
from analyzer.model.ids import ResourceId, place_of
from analyzer.sources.facts.fields import Fault, mapping, nearest
from analyzer.sources.facts.needs import nodes_named, resources_named
from analyzer.sources.facts.reading import SCHEMA
from analyzer.sources.facts.statements import Entries, Statement
from analyzer.sources.facts.texts import Parsed, Unparseable, parse_json, parse_yaml
from analyzer.sources.recording import Document
from analyzer.sources.submission import Submission, refused

_TOP_KEYS = ("schema", "as_of", "resources", "actors")


def submitted_facts(document: Document, known: Iterable[ResourceId], now_ns: int) -> Submission:
    """The actors and resources of one facts document. Raises UnreadableError at the first fault, with its line."""
    existing = set(known)
    events: list[ActorObserved | ResourceObserved] = []
    try:
        for parsed in _parsed(document):
            try:
                statements = _statements(document.index, parsed, now_ns)
                declared = {one.event.resource for one in statements if isinstance(one.event, ResourceObserved)}
                events.extend(_checked(one.event, one, existing | declared) for one in statements)
            except Fault as fault:
                raise refused(document.path, parsed.locate(fault.place), fault.text) from None
    except Unparseable as error:
        raise refused(document.path, error.line, error.text) from None
    return Submission(
        events=tuple(events), actors=tuple(event.actor for event in events if isinstance(event, ActorObserved))
    )


def submitted_nodes(document: Document, now_ns: int) -> Submission:
    """New nodes: the resources of one facts document, by their places. Raises UnreadableError as above."""
    found = submitted_facts(document, (), now_ns)
    if found.actors:
        raise refused(document.path, 0, f"a node is only resources, but {found.actors[0]} is an actor: use --submit.")
    places = [place_of(event.resource) for event in found.events if isinstance(event, ResourceObserved)]
    if not places:
        raise refused(document.path, 0, 'no node is in it: say "resources: {gpu/NODE: 8, ...}".')
    return Submission(events=found.events, nodes=tuple(sorted(set(places))))


def _parsed(document: Document) -> list[Parsed]:
    try:
        text = str(document.content, "utf-8")
    except UnicodeDecodeError:
        raise refused(document.path, 0, "is not UTF-8: save the file as UTF-8.") from None
    return [parse_json(text)] if text.lstrip().startswith(('{"', '{ "', "{\n")) else list(parse_yaml(text))


def _statements(index: int, parsed: Parsed, now_ns: int) -> list[Statement]:
    stated = mapping(parsed.value, ())
    if stated.get("schema") != SCHEMA:
        raise Fault((), f'"schema: {SCHEMA}" is missing.')
    for key in stated:
        if key == "history" or key == "at":
            raise Fault((key,), "a hypothesis is one state, not a history.")
        if key not in _TOP_KEYS:
            raise Fault((key,), f'the key "{key}" is not known here{nearest(key, _TOP_KEYS)}')
    return list(Entries(index, _refuse).section(stated, (), now_ns, 0))


def _refuse(fault: Fault) -> None:
    raise fault


def _checked(event: Event, one: Statement, declared: Set[ResourceId]) -> ActorObserved | ResourceObserved:
    """The event, if all that it names is there."""
    if isinstance(event, ResourceObserved):
        return event
    if not isinstance(event, ActorObserved):
        raise Fault(one.place, "an actor that has ended cannot be submitted.")
    named = [resource for resource, _ in event.holds]
    if event.wait is not None:
        named += resources_named(event.wait.request)
    for resource in named:
        if resource not in declared:
            raise Fault(one.place, f"{event.actor}: there is no resource {resource}: add it under resources.")
    places = {place_of(resource) for resource in declared}
    for node in () if event.wait is None else nodes_named(event.wait.request):
        if node not in places:
            raise Fault(one.place, f"{event.actor}: there is no node {node}: add what it offers under resources.")
    return event
