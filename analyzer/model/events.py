"""What sources tell the engine: facts at a time, each restating the whole state of one actor or resource.

Level-triggered on purpose: a duplicate changes nothing, a gap heals with the next restatement. `at_ns` is event
time in nanoseconds since 1970 UTC. A citation is (source, record): the index of the source in the run's list of
sources and the record's index in it; the rim turns it into a file and a line only where a report needs it.
"""

from enum import StrEnum

from msgspec import Struct

from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Request

Citation = tuple[int, int]
Holds = tuple[tuple[ResourceId, int], ...]


class Lifetime(StrEnum):
    """Whether a holder gives its units back by itself."""

    FINITE = "finite"
    ENDLESS = "endless"
    UNKNOWN = "unknown"  # counts as finite for a verdict, and is named in the text
    DATED = "dated"  # ends at until_ns at the latest; a wait inside it is soft


class Certainty(StrEnum):
    """Proven only while all that it rests on was read from a declaration, fresh."""

    PROVEN = "proven"
    SUSPECTED = "suspected"


class ExcuseKind(StrEnum):
    """Why an unmet request is no ground for a verdict just now."""

    AUTOSCALING = "autoscaling"
    PREEMPTING = "preempting"
    DRAINING = "draining"
    STARTING = "starting"
    GATED = "gated"
    DISPUTED = "disputed"  # the model and the scheduler's own words disagree
    BLIND = "blind"  # what is needed to judge was not in the input


class Excuse(Struct, frozen=True):
    """Somebody is acting, or we cannot know: the actor counts as able to go on, and the report says why."""

    kind: ExcuseKind
    text: str


class Wait(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An unmet request since a moment. `said` keeps the scheduler's own words.

    `preempts`: units of preemptible holders of lower priority count as obtainable. `minor`: so young that it is no
    matter by itself (a controller may be at work on it); it is told only where somebody is stuck behind it.
    """

    request: Request
    since_ns: int
    preempts: bool = False
    minor: bool = False
    excuse: Excuse | None = None
    said: str = ""


class Losses(Struct, frozen=True):
    """Rounds that the actor's own record counts: how often it lost what it held and had to begin anew.

    Of the first and the last of them the times are known, and which units they were about. `by`: for whom it lost
    them, in words ("": not known). A count of 0 takes back what was told before: the rounds are over.
    """

    count: int
    first_ns: int
    last_ns: int
    resources: tuple[ResourceId, ...]
    by: str = ""


class ActorObserved(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="actor", tag_field="is"):
    """The whole state of one actor: what it holds, what it waits for (None: it runs), how long it lives.

    `gpus` counts the cards it holds (for idle figures), `running_since_ns` when it took its first hold (None:
    unknown), `checkpoint_ns` its last checkpoint, `progress` any counter that grows as it gets on (None: not
    known), `recreated`: a controller makes it anew on the spot when it is evicted. `holds` is sorted by resource
    and names each resource once. `lineage` is what comes back under other names (the owner of a pod that is made anew):
    where it is given, losses are counted by it and not by the actor's name. `working`: it does its work while it waits
    (an old pod of a roll-out serves until the new one is ready), so its cards are not idle. `owner` is whom a person
    asks about it ("Job team-red/pretrain"): roots of one owner that lack the same thing make one finding, not many.
    `losses`: rounds that nobody need have watched, since its own status counts them (None: it does not).
    """

    at_ns: int
    actor: ActorId
    holds: Holds = ()
    wait: Wait | None = None
    lifetime: Lifetime = Lifetime.FINITE
    until_ns: int | None = None
    gpus: int = 0
    priority: int = 0
    preemptible: bool = False
    recreated: bool = False
    certainty: Certainty = Certainty.PROVEN
    running_since_ns: int | None = None
    checkpoint_ns: int | None = None
    progress: int | None = None
    lineage: str = ""
    owner: str = ""
    working: bool = False
    losses: Losses | None = None
    citations: tuple[Citation, ...] = ()


class ActorGone(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="actor_gone", tag_field="is"):
    """The actor ended or was removed: it holds nothing and waits for nothing.

    `evicted`: it had not done what it was there for (preempted, deleted while it ran), as opposed to an ordinary end.
    Of one moment, ends are told before the actors that take their place.
    """

    at_ns: int
    actor: ActorId
    evicted: bool = False
    citations: tuple[Citation, ...] = ()


class ResourceObserved(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="resource", tag_field="is"):
    """How many units of the resource exist. 0: it is gone."""

    at_ns: int
    resource: ResourceId
    units: int
    citations: tuple[Citation, ...] = ()


class RemarkKind(StrEnum):
    """What a source wants said in the report beside findings."""

    DISAGREEMENT = "disagreement"  # model and scheduler say different things: no verdict
    BLIND_SPOT = "blind_spot"  # something needed was not there, or not understood
    INCONSISTENCY = "inconsistency"  # the input contradicts itself
    ASSUMPTION = "assumption"  # what was taken for granted, and where
    NOTICE = "notice"  # worth knowing, and stuck is nobody by it


class Remarked(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="remark", tag_field="is"):
    """A sentence about a subject; a later one of the same kind and subject replaces it, an empty text withdraws it."""

    at_ns: int
    kind: RemarkKind
    subject: str
    text: str
    citations: tuple[Citation, ...] = ()


class Tick(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="tick", tag_field="is"):
    """Time has passed: look now.

    `open_ended`: the input ends here and carries no clock of its own, so the state may have lasted for any time
    longer; a finding that is true now then needs no hold time (`analyzer/tracker.py`).
    """

    at_ns: int
    open_ended: bool = False


Event = ActorObserved | ActorGone | ResourceObserved | Remarked | Tick
