"""Unsatisfiable actors: those that have no step left, those that ask for too much, and which of them are one matter."""

from collections.abc import Iterator

from msgspec import Struct

from analyzer.detectors.evidence import about_waits
from analyzer.model.events import ActorObserved
from analyzer.model.findings import Finding, Rule
from analyzer.model.ids import ActorId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from analyzer.state.view import View


class Lack(Struct, frozen=True):
    """What somebody will never have, as far as it makes one matter of several: how many of it does not count.

    `told` is the same in every run and for any set of nodes, so an id made of it lasts; `nodes` are the candidates.
    """

    told: str
    nodes: tuple[int, ...]


def findings(rule: Rule, view: View, *, orphaned: bool) -> Iterator[Finding]:
    """One finding per root, by name; the roots of one owner that lack the same make one. O(roots and their leaves)."""
    matters: dict[tuple[str, Lack] | ActorId, list[ActorId]] = {}
    lacks = _Lacks()
    for root in view.diagnosis.unsatisfiable:
        actor = view.system.actors[root]
        if is_orphaned_hold(actor) is orphaned:
            about = (actor.owner, lacks.of(actor)) if actor.owner else root
            matters.setdefault(about, []).append(root)
    taken: set[str] = set()
    for about, roots in matters.items():
        behind = view.diagnosis.behind.get(roots[0], ())
        if len(roots) > 1:
            behind = tuple(sorted({name for root in roots for name in view.diagnosis.behind.get(root, ())}))
        if not behind and all(_is_minor(view.system.actors[root]) for root in roots):
            continue
        identity = ""
        if isinstance(about, tuple):
            identity = f"{about[0]}\n{about[1].told}"
            if identity in taken:  # the same but for the nodes: apart, though it costs the id its steadiness
                identity = f"{identity}\n{roots[0]}"
            taken.add(identity)
        yield about_waits(rule, view, tuple(roots), behind, root=roots[0], identity=identity)


def is_orphaned_hold(actor: ActorObserved) -> bool:
    """It holds something, and nothing that happens in the cluster lets it go on: its owner died, or nobody ends it."""
    return bool(actor.holds) and actor.wait is not None and needs_never(actor.wait.request)


def _is_minor(actor: ActorObserved) -> bool:
    return actor.wait is not None and actor.wait.minor


def needs_never(request: Request) -> bool:
    """Whether the request stays unmet even if everything in it were met but what never happens."""
    match request:
        case Never():
            return True
        case KOutOfN():
            return sum(not needs_never(part) for part in request.parts) < request.k
        case Units() | Pods() | Done() | Arrivals():
            return False


class _Lacks:
    """Lacks of many actors. Long tuples of nodes stand as numbers: sources share them, so each is read once."""

    def __init__(self) -> None:
        self._by_identity: dict[int, int] = {}
        self._numbers: dict[tuple[str, ...], int] = {}

    def of(self, actor: ActorObserved) -> Lack:
        if actor.wait is None:
            return Lack("", ())
        nodes: list[int] = []
        never = needs_never(actor.wait.request)
        return Lack(self._told(actor.wait.request, nodes, only_never=never), tuple(nodes))

    def _told(self, request: Request, nodes: list[int], *, only_never: bool) -> str:
        match request:
            case Never():
                return f"never {request.why}"
            case KOutOfN():
                parts = (self._told(part, nodes, only_never=only_never) for part in request.parts)
                return f"{request.k} of ({', '.join(part for part in parts if part)})"
            case Units() | Pods() | Done() | Arrivals() if only_never:
                return ""
            case Units():
                return f"units {request.resource}"
            case Pods():
                nodes.append(self._number(request.among))
                each = " ".join(f"{count} {kind}" for kind, count in request.each)
                return f"pods {each} at most {request.per_node_max}"
            case Done():
                return f"end {request.actor}"
            case Arrivals():
                return f"{request.quorum} ready of {' '.join(request.peers)}"

    def _number(self, among: tuple[str, ...]) -> int:
        number = self._by_identity.get(id(among))
        if number is None:
            number = self._by_identity[id(among)] = self._numbers.setdefault(among, len(self._numbers))
        return number
