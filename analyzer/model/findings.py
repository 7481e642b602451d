"""What detectors state and what becomes of it over time."""

from enum import StrEnum

from msgspec import Struct

from analyzer.model.events import Certainty, Citation, ExcuseKind
from analyzer.model.ids import ActorId, ResourceId


class Verdict(StrEnum):
    """The closed set of verdicts; `docs/glossary.md` defines each."""

    DEADLOCK = "DEADLOCK"
    ORPHANED_HOLD = "ORPHANED_HOLD"
    UNPLACEABLE = "UNPLACEABLE"
    LIVELOCK = "LIVELOCK"
    HANG = "HANG"
    MISMATCH = "MISMATCH"


class Severity(StrEnum):
    """How soon a person should look: critical while nothing frees itself and GPUs stand idle, else warning."""

    CRITICAL = "critical"
    WARNING = "warning"


class Rule(Struct, frozen=True, kw_only=True):
    """The identity of a detector and its one sentence. `id` is kebab-case and names the bad state, not the cure."""

    id: str
    verdict: Verdict
    severity: Severity
    summary: str


class Hardness(StrEnum):
    """Hard: somebody holds it. Soft: somebody is merely ahead in a queue, or a timeout will dissolve it."""

    HARD = "hard"
    SOFT = "soft"


class Edge(Struct, frozen=True, kw_only=True):
    """Waiter waits for holder, over a resource (None: for the holder itself to end or to arrive).

    `amount` is what the holder has of it; `assumption` names what was taken for granted ("" if nothing).
    """

    waiter: ActorId
    holder: ActorId
    resource: ResourceId | None
    amount: int
    hardness: Hardness
    since_ns: int
    assumption: str = ""


class ActionKind(StrEnum):
    """What a person may do. Nothing here is ever done by us."""

    EVICT = "evict"


class Price(Struct, frozen=True, kw_only=True):
    """What an action costs: GPU-hours of work lost (since the checkpoint, else since the start), and the rest.

    `gpu_hours_lost` is None where the start is not known. `useless`: a controller would make the victim anew on
    the spot.
    """

    gpu_hours_lost: float | None
    gpus: int
    priority: int
    useless: bool


class Action(Struct, frozen=True, kw_only=True):
    """A proposal with its price, never an act: evict `actor`, which frees units, and then these go on.

    `together_with`: it helps only if these are evicted as well; `then_runs` is what all of them start.
    """

    kind: ActionKind
    actor: ActorId
    frees: tuple[tuple[ResourceId, int], ...]
    then_runs: tuple[ActorId, ...]
    cost: Price
    together_with: tuple[ActorId, ...] = ()


class Finding(Struct, frozen=True, kw_only=True):
    """One statement of one detector about one evaluation. All tuples are sorted, `cycle` and `actions` by meaning.

    `id` is a digest of rule and members (and root), so the same knot has the same id after a restart and in replay,
    and keeps it while bystanders pile up behind; with a root that has an owner, of rule, owner and what is lacking.
    `root` is the first of the members where each is a dead end of its own. `since_ns` is when its last edge closed.
    `cycle` is the witness, its first actor not repeated at the end. `method` says how placement was decided ("exact",
    "necessary").
    """

    id: str
    rule: str
    verdict: Verdict
    strength: Hardness
    certainty: Certainty
    since_ns: int
    members: tuple[ActorId, ...]
    blocked_behind: tuple[ActorId, ...]
    cleared: tuple[ActorId, ...]
    root: ActorId | None
    edges: tuple[Edge, ...]
    cycle: tuple[ActorId, ...]
    idle_gpus: int
    summary: str
    actions: tuple[Action, ...]
    citations: tuple[Citation, ...]
    dissolves_ns: int | None = None
    layers: tuple[str, ...] = ("scheduler",)
    method: str = "exact"
    details: tuple[str, ...] = ()


class ChangeKind(StrEnum):
    """What happened to a finding since the last evaluation."""

    OPENED = "opened"
    UPDATED = "updated"
    RESOLVED = "resolved"


class FindingChange(Struct, frozen=True, kw_only=True):
    """What sinks receive: the finding as it is now (for a resolved one: as it was last)."""

    kind: ChangeKind
    at_ns: int
    finding: Finding
    opened_ns: int


class OpenFinding(Struct, frozen=True, kw_only=True):
    """A finding that is open just now, with sentences and prices as of the last evaluation."""

    finding: Finding
    opened_ns: int


class Waiting(Struct, frozen=True, kw_only=True):
    """An actor that waits and will go on: never an alarm. `first_to_finish` is empty where it could start now.

    `excuse`: that it goes on is not proven; somebody is acting, or we cannot know (`note` says why).
    """

    actor: ActorId
    since_ns: int
    needs: str
    first_to_finish: tuple[ActorId, ...]
    note: str = ""
    excuse: ExcuseKind | None = None
